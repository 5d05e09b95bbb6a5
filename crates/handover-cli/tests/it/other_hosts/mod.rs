//! The real Copilot CLI, Gemini CLI, opencode and Qwen Code with a scripted model: what its subagents actually receive.

mod copilot;
mod events;
mod exempt;
mod gemini;
mod matrix;
mod opencode;
mod programs;
mod qwen;
mod returns;

use std::process::Output;

use handover_testkit::{Answer, ModelRequest, ModelServer, RealHost, Script, TestEnv};
use serde_json::Value;

use crate::project;

const DEBRIEF: &str = "Done.\n\n```handover\nverdict: complete\nsummary: Tokens rotate.\nreasoning:\n  decisions: one lock per family\n  completion: refresh is safe\n```\n";
const BARE: &str = "I am done and say no more.";

/// Only the lead's conversation contains this word.
const LEAD: &str = "LEAD-TASK";

fn is_lead(request: &ModelRequest) -> bool {
    request.conversation_contains(LEAD)
}

/// A request of the subagent with this task.
fn of(task: &'static str) -> impl Fn(&ModelRequest) -> bool + Send + Sync + 'static {
    move |request| !is_lead(request) && request.conversation_contains(task)
}

/// The lead's answers, one per turn, and then its end.
fn lead(mut script: Script, turns: Vec<Answer>) -> Script {
    for (turn, answer) in turns.into_iter().enumerate() {
        script = script.when(move |r| is_lead(r) && r.turns() == turn, answer);
    }
    script.when(is_lead, Answer::text("All done."))
}

/// An agent program in a project with one package, and its scripted model.
struct Real {
    env: TestEnv,
    server: ModelServer,
    host: RealHost,
}

impl Real {
    fn new(
        hosts: &[&str],
        program: fn(&TestEnv, &ModelServer) -> RealHost,
        script: Script,
    ) -> Self {
        let env = project();
        env.write(
            "docs/oauth.md",
            "# OAuth\n## Summary\nRefresh tokens rotate after a grace period.\n",
        );
        let package =
            ["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"];
        env.run(package).ok();
        for host in hosts {
            env.run(["host", "install", host]).ok();
        }
        let server = ModelServer::start(script);
        let host = program(&env, &server);
        Self { env, server, host }
    }

    fn start(&self) -> Output {
        let output = self.host.command().arg(format!("Do the {LEAD}.")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn requests_of(&self, task: &'static str) -> Vec<ModelRequest> {
        self.server.requests().into_iter().filter(of(task)).collect()
    }

    /// The receipts with role, state and id, oldest first.
    fn receipts(&self) -> Vec<[String; 3]> {
        let list = self.env.run(["receipt", "list", "--json"]).ok().json();
        let text = |r: &Value, key: &str| r[key].as_str().unwrap().to_owned();
        let receipts = list["receipts"].as_array().unwrap().iter();
        receipts.rev().map(|r| ["role", "state", "id"].map(|key| text(r, key))).collect()
    }

    fn states(&self) -> Vec<(String, String)> {
        self.receipts().into_iter().map(|[role, state, _]| (role, state)).collect()
    }

    /// Every subagent has its brief by what the program keeps, and it is known what became of each item.
    fn is_covered_and_used(&self, host: &str) {
        self.is_covered(host);
        for [_, _, id] in self.receipts() {
            let receipt = self.env.run(["receipt", "show", &id, "--json"]).ok().json();
            for item in receipt["receipt"]["items"].as_array().unwrap() {
                assert!(item["use"].is_string(), "{item}");
            }
        }
    }

    /// Every subagent has its brief by what the program keeps.
    fn is_covered(&self, host: &str) {
        let receipts = self.receipts();
        let found = self.env.run(["coverage", "--host", host, "--json"]).ok().json();
        assert_eq!(found["counts"]["briefed"], receipts.len(), "{found}");
        let mut seen: Vec<&str> = found["spawns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|spawn| spawn["receipt"].as_str().unwrap())
            .collect();
        let mut all: Vec<&str> = receipts.iter().map(|[_, _, id]| id.as_str()).collect();
        seen.sort_unstable();
        all.sort_unstable();
        assert_eq!(seen, all, "{found}");
    }

    fn events(&self, kind: &str) -> Vec<Value> {
        let list = self.env.run(["event", "list", "--type", kind, "--json"]).ok().json();
        list["events"].as_array().unwrap().iter().map(|e| e["payload"].clone()).collect()
    }
}

/// The receipts whose markers a request contains.
fn markers(request: &ModelRequest) -> Vec<String> {
    let text = request.body.to_string();
    let ids = text.split("<!-- handover:receipt ").skip(1);
    ids.map(|rest| rest.split(' ').next().unwrap().to_owned()).collect()
}

fn both(states: &[(&str, &str)]) -> Vec<(String, String)> {
    states.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}
