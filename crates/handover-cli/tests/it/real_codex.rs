//! The real Codex with a model of its own catalogue. Its agents have names, their tasks are sealed, and what their lead said
//! is copied into their conversations.

use handover_testkit::{Answer, Lock, ModelRequest, ModelServer, Script, TestEnv};
use serde_json::{Value, json};

use crate::project;
use crate::real_hosts::{DEBRIEF, Real, both, briefs, codex_that, turns_of};
use crate::real_matrix::{DENIES, REWRITES};
use crate::real_versions::{Version, codex};

/// A request of the agent with this name. It may hold everything that its lead said.
fn agent(name: &'static str) -> impl Fn(&ModelRequest) -> bool + Send + Sync + 'static {
    move |request| recipients(request).any(|recipient| recipient == format!("/root/{name}"))
}

fn is_root(request: &ModelRequest) -> bool {
    recipients(request).all(|recipient| recipient == "/root")
}

/// To whom the messages between agents in a request are.
fn recipients(request: &ModelRequest) -> impl Iterator<Item = &str> {
    let items = request.body["input"].as_array().into_iter().flatten();
    items.filter_map(|item| item["recipient"].as_str())
}

/// The lead does this, one thing after the other.
fn lead(script: Script, turns: Vec<Answer>) -> Script {
    let mut script = script;
    for (turn, answer) in turns.into_iter().enumerate() {
        script = script.when(move |r| is_root(r) && turns_of(r) == turn, answer);
    }
    script.when(is_root, Answer::text("All done."))
}

fn spawns(name: &str, message: &str, turns: &str) -> Answer {
    let input = json!({"task_name": name, "message": message, "fork_turns": turns});
    Answer::tool("collaboration.spawn_agent", input)
}

fn waits() -> Answer {
    Answer::tool("collaboration.wait_agent", json!({"timeout_ms": 60_000}))
}

fn start(env: TestEnv, version: Version, script: Script) -> Real {
    env.write(
        "docs/oauth.md",
        "# OAuth\n## Summary\nRefresh tokens rotate after a grace period.\n",
    );
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"]).ok();
    env.run(["host", "install", "codex", "--scope", "user"]).ok();
    let server = ModelServer::start(script);
    let host = version.of(codex(&env, &server).with_named_agents());
    let real = Real { env, server, host };
    real.start();
    real
}

fn last(real: &Real, name: &'static str) -> ModelRequest {
    real.server.requests().into_iter().rfind(agent(name)).unwrap_or_else(|| panic!("no {name}"))
}

fn coverage(real: &Real) -> Value {
    let found = real.env.run(["coverage", "--host", "codex", "--json"]).ok().json();
    found["counts"].clone()
}

/// Two at once, one of which continues the conversation of its lead.
#[test]
fn named_agents_get_their_briefs_when_they_start() {
    const ONE: &str = "Rotate refresh tokens in src/auth.rs";
    const TWO: &str = "Test the tokens";
    for version in Version::BOTH {
        let script = Script::new()
            .when(agent("rotate"), Answer::text(DEBRIEF).after(std::time::Duration::from_secs(4)))
            .when(agent("tests"), Answer::text(DEBRIEF));
        let turns =
            vec![spawns("rotate", ONE, "none"), spawns("tests", TWO, "all"), waits(), waits()];
        let real = start(project(), version, lead(script, turns));
        for (name, task) in [("rotate", ONE), ("tests", TWO)] {
            let request = last(&real, name);
            assert!(request.contains("docs/oauth.md"), "{version:?} {name}: {}", request.body);
            assert_eq!(briefs(&request).len(), 1, "{version:?} {name}: {}", request.body);
            let sealed = request.body["input"].as_array().unwrap().iter().find_map(|item| {
                let content = item["content"].as_array()?.iter();
                content.filter_map(|part| part["encrypted_content"].as_str()).next()
            });
            assert_eq!(sealed, Some(task), "{version:?}: the sealed message is as it was");
        }
        // Whether the first has started by then is a matter of time.
        let second = last(&real, "tests");
        let beside =
            ["at work", "about to start"].map(|state| format!("developer, {state}: {ONE}"));
        let told = beside.iter().any(|line| second.contains(line));
        assert!(told, "{version:?}: {}", second.body);
        let confirmed = ("developer", "confirmed");
        assert_eq!(real.states(), both(&[confirmed, confirmed]), "{version:?}");
        assert_eq!(real.events("debrief").len(), 2, "{version:?}");
        let counts = json!({"briefed": 2, "exempt": 0, "refused": 0, "missed": 0});
        assert_eq!(coverage(&real), counts, "{version:?}");
    }
}

/// The brief is behind a megabyte of what the lead said, and before as much of its own.
#[test]
fn a_long_copy_of_the_lead_does_not_hide_the_brief() {
    let long = || {
        Answer::Tools(
            "word ".repeat(60_000),
            vec![("collaboration.list_agents".to_owned(), json!({}))],
        )
    };
    let own = |turn: usize| move |r: &ModelRequest| agent("tests")(r) && said(r) == turn;
    /// How often an agent has spoken at length.
    fn said(request: &ModelRequest) -> usize {
        let items = request.body["input"].as_array().unwrap();
        let at = items.iter().position(|item| item["recipient"] == "/root/tests").unwrap();
        items[at..].iter().filter(|item| item["type"] == "function_call").count()
    }
    let mut script = Script::new();
    for turn in 0..5 {
        script = script.when(own(turn), long());
    }
    let script = script.when(agent("tests"), Answer::text(DEBRIEF));
    let mut turns: Vec<Answer> = (0..5).map(|_| long()).collect();
    turns.extend([spawns("tests", "Test the tokens", "all"), waits()]);
    let root = lead_by_calls(script, turns);
    let real = start(project(), Version::Pinned, root);
    let request = last(&real, "tests");
    assert_eq!(briefs(&request).len(), 1, "briefed once");
    assert_eq!(real.states(), both(&[("developer", "confirmed")]));
    assert_eq!(coverage(&real), json!({"briefed": 1, "exempt": 0, "refused": 0, "missed": 0}));
}

/// The lead, whose turns are counted by its calls: it also speaks.
fn lead_by_calls(script: Script, turns: Vec<Answer>) -> Script {
    let calls = |request: &ModelRequest| {
        let items = request.body["input"].as_array().unwrap();
        items.iter().filter(|item| item["type"] == "function_call").count()
    };
    let mut script = script;
    for (turn, answer) in turns.into_iter().enumerate() {
        script = script.when(move |r| is_root(r) && calls(r) == turn, answer);
    }
    script.when(is_root, Answer::text("All done."))
}

#[test]
fn a_named_agent_that_may_not_start_is_refused() {
    let env = project();
    env.run(["session", "new", "over"]).ok();
    env.run(["session", "close", "over"]).ok();
    env.run(["host", "install", "codex", "--scope", "user"]).ok();
    let script = lead(Script::new(), vec![spawns("tests", "Test the tokens", "none")]);
    let server = ModelServer::start(script);
    let mut host = codex(&env, &server).with_named_agents();
    host.vars.push(("HANDOVER_SESSION".to_owned(), "over".to_owned()));
    let real = Real { env, server, host };
    real.start();
    assert!(!real.server.requests().iter().any(agent("tests")), "it did not start");
    let requests = real.server.requests();
    assert!(
        requests.last().unwrap().contains("session `over` is completed"),
        "{}",
        requests.last().unwrap().body
    );
}

/// Codex with the first version of its tools, and a subagent whose task is not sealed.
fn unsealed() -> Real {
    let env = project();
    env.run(["host", "install", "codex", "--scope", "user"]).ok();
    let real = codex_that(env, Answer::text(DEBRIEF), Answer::text(DEBRIEF));
    let package = ["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"];
    real.env.run(package).ok();
    real
}

/// Registers a hook of somebody else for the tool that spawns agents.
fn add_hook(real: &Real, script: &str) {
    let file = real.env.path("other.py");
    // Codex calls the task a message.
    fs_err::write(&file, script.replace("'prompt'", "'message'")).unwrap();
    let path = real.host.config.join("hooks.json");
    let mut settings: Value =
        serde_json::from_str(&fs_err::read_to_string(&path).unwrap()).unwrap();
    let groups = settings["hooks"]["PreToolUse"].as_array_mut().unwrap();
    let ours = |group: &Value| group["matcher"].as_str().is_some_and(|it| it.contains("spawn"));
    let matcher = groups.iter().find(|group| ours(group)).unwrap()["matcher"].clone();
    let hook = json!({"type": "command", "command": format!("python3 {}", file.display())});
    groups.push(json!({"matcher": matcher, "hooks": [hook]}));
    fs_err::write(&path, settings.to_string()).unwrap();
}

fn works(real: &Real) {
    let output = real.host.command().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_agent_whose_brief_another_hook_removed_gets_it_late() {
    let real = unsealed();
    add_hook(&real, REWRITES);
    works(&real);
    let all = real.requests_of("CHILD-ONE");
    assert!(all[0].contains("OTHER HOOK. ") && briefs(&all[0]).is_empty(), "the last word");
    // What a hook says is escaped there.
    let marker = format!("handover:receipt {}", real.receipts()[0].2);
    assert!(all[all.len() - 1].contains(&marker), "{}", all[all.len() - 1].body);
    assert_eq!(real.states(), both(&[("developer", "confirmed")]));
    assert_eq!(coverage(&real), json!({"briefed": 1, "exempt": 0, "refused": 0, "missed": 0}));
}

#[test]
fn an_agent_that_another_hook_denies_delivers_nothing() {
    let real = unsealed();
    add_hook(&real, DENIES);
    works(&real);
    assert!(real.requests_of("CHILD-ONE").is_empty(), "it did not start");
    assert_eq!(coverage(&real), json!({"briefed": 0, "exempt": 0, "refused": 1, "missed": 0}));
    let states = real.states();
    let undelivered = |state: &str| matches!(state, "assembled" | "failed");
    assert!(states.iter().all(|(_, state)| undelivered(state)), "{states:?}");
}

#[test]
fn an_agent_that_works_while_the_store_is_locked_has_its_brief() {
    let real = unsealed();
    let lock = Lock::take(&real.env);
    works(&real);
    lock.release();
    let child = real.last_of("CHILD-ONE");
    // What had to wait is taken in by the next conversation.
    works(&real);
    let receipts = real.receipts();
    let own = receipts.iter().find(|receipt| briefs(&child) == [receipt.2.clone()]);
    let state = own.map_or("no receipt", |own| own.1.as_str());
    assert!(matches!(state, "delivered" | "confirmed"), "{state}: {receipts:?}");
    let briefed = receipts.len();
    assert_eq!(briefed, 2, "one for each conversation: {receipts:?}");
    assert_eq!(coverage(&real)["briefed"], briefed);
    assert_eq!(coverage(&real)["missed"], 0);
}
