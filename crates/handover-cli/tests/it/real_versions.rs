//! The core of a handoff in every program and in both versions that are tested: a subagent has its brief, its receipt is
//! confirmed, its debrief is kept, the next one reads it, and `coverage` misses nobody. The nightly runs repeat it in
//! whatever is newest.

use handover_testkit::{Answer, ModelRequest, ModelServer, RealHost, Script, TestEnv};
use serde_json::{Value, json};

use crate::project;
use crate::real_hosts::{DEBRIEF, LEAD, is_lead, of};

/// The two versions of each program that `scripts/hosts` installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Pinned,
    Other,
}

impl Version {
    pub(crate) const BOTH: [Self; 2] = [Self::Pinned, Self::Other];

    pub(crate) fn of(self, host: RealHost) -> RealHost {
        match self {
            Self::Pinned => host,
            Self::Other => host.other(),
        }
    }
}

/// What differs between programs.
struct Program {
    name: &'static str,
    scope: &'static str,
    host: fn(&TestEnv, &ModelServer) -> RealHost,
    /// Spawns a subagent with a task.
    spawn: fn(&str) -> Answer,
    /// What a subagent ends with.
    end: fn(&str) -> Answer,
    /// What the lead does while it waits, and how often.
    wait: Option<(fn() -> Answer, usize)>,
}

fn claude(env: &TestEnv, server: &ModelServer) -> RealHost {
    let mut host = RealHost::claude(env, server);
    host.args.push("--dangerously-skip-permissions".to_owned());
    host
}

pub(crate) fn codex(env: &TestEnv, server: &ModelServer) -> RealHost {
    let mut host = RealHost::codex(env, server);
    let flags = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"];
    host.args.splice(1..1, flags.map(ToOwned::to_owned));
    host.args.pop();
    host
}

const CLAUDE: Program = Program {
    name: "claude",
    scope: "project",
    host: claude,
    spawn: |task| {
        let input = json!({"description": "work", "prompt": task, "subagent_type": "general-purpose",
            "run_in_background": false});
        Answer::tool("Agent", input)
    },
    end: Answer::text,
    wait: None,
};

const CODEX: Program = Program {
    name: "codex",
    scope: "user",
    host: codex,
    spawn: |task| {
        let input = json!({"message": task, "agent_type": "worker"});
        Answer::tool("multi_agent_v1.spawn_agent", input)
    },
    end: Answer::text,
    // A second each.
    wait: Some((|| Answer::tool("exec_command", json!({"cmd": "sleep 1"})), 8)),
};

const CODEX_WITH_NAMES: Program = Program {
    host: |env, server| codex(env, server).with_named_agents(),
    spawn: |task| {
        let name = task.split(':').next().unwrap().to_lowercase().replace('-', "_");
        let input = json!({"message": task, "task_name": name, "fork_turns": "none"});
        Answer::tool("collaboration.spawn_agent", input)
    },
    // Until an agent has ended.
    wait: Some((|| Answer::tool("collaboration.wait_agent", json!({"timeout_ms": 60_000})), 1)),
    ..CODEX
};

const COPILOT: Program = Program {
    name: "copilot",
    // Not every version runs those of a project without a terminal.
    scope: "user",
    host: RealHost::copilot,
    spawn: |task| {
        let input = json!({"description": "work", "prompt": task, "agent_type": "general-purpose",
            "name": "worker", "mode": "sync"});
        Answer::tool("task", input)
    },
    end: Answer::text,
    wait: None,
};

const GEMINI: Program = Program {
    name: "gemini",
    scope: "project",
    host: RealHost::gemini,
    spawn: |task| Answer::tool("invoke_agent", json!({"agent_name": "generalist", "prompt": task})),
    end: |text| Answer::tool("complete_task", json!({"result": {"response": text}})),
    wait: None,
};

const OPENCODE: Program = Program {
    name: "opencode",
    scope: "project",
    host: RealHost::opencode,
    spawn: |task| {
        let input = json!({"description": "work", "prompt": task, "subagent_type": "general"});
        Answer::tool("task", input)
    },
    end: Answer::text,
    wait: None,
};

const QWEN: Program = Program {
    name: "qwen",
    scope: "project",
    host: RealHost::qwen,
    spawn: |task| {
        let input = json!({"description": "work", "prompt": task, "run_in_background": false,
            "subagent_type": "general-purpose"});
        Answer::tool("agent", input)
    },
    end: Answer::text,
    wait: None,
};

/// The lead spawns one subagent after the other, and waits in between where it must.
fn script(program: &Program) -> Script {
    let mut script = Script::new()
        .when(of("CHILD-ONE"), (program.end)(DEBRIEF))
        .when(of("CHILD-TWO"), (program.end)(DEBRIEF));
    let mut turns = Vec::new();
    for task in ["CHILD-ONE: refresh tokens in parallel", "CHILD-TWO: test the refresh"] {
        turns.push((program.spawn)(task));
        turns.extend(program.wait.iter().flat_map(|(wait, times)| (0..*times).map(|_| wait())));
    }
    for (turn, answer) in turns.into_iter().enumerate() {
        script = script.when(move |r: &ModelRequest| is_lead(r) && r.turns() == turn, answer);
    }
    script.when(is_lead, Answer::text("All done."))
}

fn works(program: &Program) {
    for version in Version::BOTH {
        let name = program.name;
        let env = project();
        env.write("docs/oauth.md", "# OAuth\n## Summary\nRefresh tokens rotate.\n");
        env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"])
            .ok();
        env.run(["host", "install", name, "--scope", program.scope]).ok();
        let server = ModelServer::start(script(program));
        let host = version.of((program.host)(&env, &server));
        let output = host.command().arg(format!("Do the {LEAD}.")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} {version:?}: {said}\n{stderr}");
        let last = |task| server.requests().into_iter().rfind(of(task)).unwrap();
        let (first, second) = (last("CHILD-ONE"), last("CHILD-TWO"));
        assert!(first.contains("docs/oauth.md"), "{name} {version:?}: {}", first.body);
        assert!(second.contains("one lock per family"), "{name} {version:?}: {}", second.body);
        let list = env.run(["receipt", "list", "--json"]).ok().json();
        let states: Vec<&Value> =
            list["receipts"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
        assert_eq!(states, ["confirmed"; 2], "{name} {version:?}: {list}");
        let debriefs = env.run(["event", "list", "--type", "debrief", "--json"]).ok().json();
        let verdict = &debriefs["events"][0]["payload"]["verdict"];
        assert_eq!(*verdict, "complete", "{name} {version:?}: {debriefs}");
        let coverage = env.run(["coverage", "--host", name, "--json"]).ok().json();
        let counts = json!({"briefed": 2, "exempt": 0, "refused": 0, "missed": 0});
        assert_eq!(coverage["counts"], counts, "{name} {version:?}: {coverage}");
    }
}

#[test]
fn claude_works_in_both_versions() {
    works(&CLAUDE);
}

#[test]
fn codex_works_in_both_versions() {
    works(&CODEX);
}

#[test]
fn codex_works_with_named_agents_in_both_versions() {
    works(&CODEX_WITH_NAMES);
}

#[test]
fn copilot_works_in_both_versions() {
    works(&COPILOT);
}

#[test]
fn gemini_works_in_both_versions() {
    works(&GEMINI);
}

#[test]
fn opencode_works_in_both_versions() {
    works(&OPENCODE);
}

#[test]
fn qwen_works_in_both_versions() {
    works(&QWEN);
}
