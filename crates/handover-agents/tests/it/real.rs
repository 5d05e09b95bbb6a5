//! The real `claude` and `codex`, with a scripted model.

use std::time::Duration;

use handover_agents::{AgentEvent, CancelToken, Ended, Environment, Outcome, ask_server};
use handover_model::{FailureClass, Host, Profile};
use handover_testkit::{
    Answer, ModelRequest, ModelServer, RealHost, Script, TestEnv, processes_with,
};
use serde_json::json;

use crate::recordings::record;
use crate::setup::{Agent, prompt};

pub(crate) const COPILOT: Host = Host::from_static("copilot");
pub(crate) const OPENCODE: Host = Host::from_static("opencode");

/// A program, its model, and its project.
pub(crate) struct Real {
    pub(crate) agent: Agent,
    pub(crate) server: ModelServer,
    pub(crate) env: TestEnv,
}

/// Which of the two installed versions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Version {
    Pinned,
    Other,
}

impl Real {
    pub(crate) fn new(host: Host, script: Script) -> Self {
        Self::of(Version::Pinned, host, script)
    }

    pub(crate) fn of(version: Version, host: Host, script: Script) -> Self {
        let env = TestEnv::empty("none");
        env.write("notes.txt", "forty-two\n");
        let server = ModelServer::start(script);
        let program = match host {
            Host::CLAUDE => RealHost::claude(&env, &server),
            Host::CODEX => RealHost::codex(&env, &server),
            COPILOT => RealHost::copilot(&env, &server),
            OPENCODE => RealHost::opencode(&env, &server),
            Host::GEMINI => RealHost::gemini(&env, &server),
            _ => unreachable!("{host} is not installed"),
        };
        let program = if version == Version::Other { program.other() } else { program };
        let mut agent = Agent::new(host);
        agent.invocation.program = program.program;
        agent.invocation.folder = env.path("");
        let vars = program.vars.into_iter().map(|(name, value)| (name.into(), value.into()));
        agent.invocation.environment = Environment::scrubbed(vars, host, &[]);
        agent.invocation.environment.set("CLAUDE_CODE_MAX_RETRIES", "1");
        agent.invocation.prompt = Some(prompt("Say the MARKER."));
        Self { agent, server, env }
    }

    pub(crate) fn run(&mut self) -> Outcome {
        self.agent.run()
    }

    /// Runs it and, when recordings are being renewed, saves what it printed.
    pub(crate) fn recorded(&mut self, name: &str) -> Outcome {
        let outcome = self.run();
        record(self.agent.invocation.host, name, &outcome, self.env.folder());
        outcome
    }
}

pub(crate) fn class(outcome: &Outcome) -> Option<FailureClass> {
    outcome.failure.as_ref().map(|failure| failure.class)
}

#[test]
fn claude_answers() {
    let mut real = Real::new(Host::CLAUDE, Script::new().always(Answer::text("Here it is.")));
    real.agent.invocation.model = Some("claude-sonnet-4-5".to_owned());
    let outcome = real.recorded("answer");
    assert_eq!((outcome.ended, class(&outcome)), (Ended::Exited(0), None));
    assert_eq!(outcome.final_text, "Here it is.");
    let report = &outcome.report;
    assert_eq!((report.usage.input, report.usage.output, report.turns), (11, 7, Some(1)));
    assert!(report.cost_usd.is_some_and(|cost| cost > 0.0));
    assert_eq!(report.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(report.host_session.as_ref().map(String::len), Some(36));
    assert_eq!(report.unknown_lines, 0);
    let requests = real.server.requests();
    assert!(requests[0].conversation_contains("Say the MARKER."));
    assert_eq!(requests[0].body["model"], "claude-sonnet-4-5");
    assert_eq!(requests[0].tools(), ["Glob", "Grep", "Read"]);
}

#[test]
fn codex_answers() {
    let mut real = Real::new(Host::CODEX, Script::new().always(Answer::text("Here it is.")));
    real.agent.invocation.model = Some("gpt-5.1-codex".to_owned());
    let outcome = real.recorded("answer");
    assert_eq!((outcome.ended, class(&outcome)), (Ended::Exited(0), None));
    assert_eq!(outcome.final_text, "Here it is.");
    let usage = outcome.report.usage;
    assert_eq!((usage.input, usage.cached_input, usage.output), (11, 3, 7));
    assert_eq!((outcome.report.turns, outcome.report.cost_usd), (Some(1), None));
    assert!(outcome.report.host_session.is_some());
    let requests = real.server.requests();
    assert!(requests[0].conversation_contains("Say the MARKER."));
    assert_eq!(requests[0].body["model"], "gpt-5.1-codex");
}

#[test]
fn claude_uses_only_permitted_tools() {
    let script = || {
        Script::new()
            .then(Answer::Tools(
                "First I look.".to_owned(),
                vec![("Read".to_owned(), json!({"file_path": "notes.txt"}))],
            ))
            .then(Answer::tool("Write", json!({"file_path": "new.txt", "content": "x"})))
            .always(Answer::text("Done."))
    };
    for (profile, may_write) in
        [(Profile::ReadOnly, false), (Profile::Edit, true), (Profile::Full, true)]
    {
        let mut real = Real::new(Host::CLAUDE, script());
        real.agent.invocation.profile = profile;
        let outcome = real.recorded(&format!("tools-{profile}"));
        assert_eq!((outcome.final_text.as_str(), class(&outcome)), ("Done.", None), "{profile}");
        assert_eq!(real.env.path("new.txt").exists(), may_write, "{profile}");
        let events = &real.agent.events;
        assert!(events.contains(&AgentEvent::Text("First I look.".to_owned())));
        let uses: Vec<&str> = events
            .iter()
            .filter_map(|event| {
                let AgentEvent::ToolStarted(tool) = event else { return None };
                Some(tool.about.as_str())
            })
            .collect();
        assert_eq!(uses, ["notes.txt", "new.txt"]);
        let ends: Vec<bool> = events
            .iter()
            .filter_map(|event| {
                let AgentEvent::ToolEnded { failed, .. } = event else { return None };
                Some(*failed)
            })
            .collect();
        assert_eq!(ends, [false, !may_write], "{profile}");
        assert!(real.server.requests()[1].conversation_contains("forty-two"));
    }
}

#[test]
fn codex_uses_only_permitted_tools() {
    for (profile, may_write) in
        [(Profile::ReadOnly, false), (Profile::Edit, true), (Profile::Full, true)]
    {
        let script = Script::new()
            .then(Answer::tool("exec_command", json!({"cmd": "cat notes.txt"})))
            .then(Answer::tool("exec_command", json!({"cmd": "echo x > new.txt"})))
            .always(Answer::text("Done."));
        let mut real = Real::new(Host::CODEX, script);
        real.agent.invocation.profile = profile;
        let outcome = real.recorded(&format!("tools-{profile}"));
        assert_eq!((outcome.final_text.as_str(), class(&outcome)), ("Done.", None), "{profile}");
        assert_eq!(real.env.path("new.txt").exists(), may_write, "{profile}");
        assert!(real.agent.events.iter().any(|event| matches!(
            event,
            AgentEvent::ToolStarted(tool) if tool.name == "shell" && tool.about.contains("notes.txt")
        )));
    }
}

#[test]
fn copilot_answers_and_uses_only_permitted_tools() {
    for (profile, name, written) in
        [(Profile::ReadOnly, "read-only", false), (Profile::Edit, "edit", true)]
    {
        let path = |env: &TestEnv, name: &str| env.path(name).display().to_string();
        let mut real = Real::new(COPILOT, Script::new());
        let file = path(&real.env, "new.txt");
        let script = Script::new()
            .then(Answer::tool("create", json!({"path": file, "file_text": "43\n"})))
            .then(Answer::tool("bash", json!({"command": "rm notes.txt", "description": "x"})))
            .then(Answer::tool("view", json!({"path": path(&real.env, "notes.txt")})))
            .always(Answer::text("Here it is."));
        real.server.restart(script);
        real.agent.invocation.profile = profile;
        let outcome = real.recorded(name);
        assert_eq!(class(&outcome), None, "{:?}", outcome.failure);
        assert_eq!(outcome.final_text, "Here it is.");
        assert_eq!(outcome.report.model.as_deref(), Some("scripted"));
        assert_eq!(outcome.report.turns, Some(4));
        assert_eq!(real.env.path("new.txt").exists(), written, "{profile}");
        assert!(real.env.path("notes.txt").exists(), "{profile}");
        assert_eq!(outcome.report.denials, if written { 1 } else { 2 }, "{profile}");
        let last = real.server.requests().pop().unwrap();
        assert!(last.conversation_contains("forty-two"), "{profile}");
    }
}

#[test]
fn opencode_answers_and_uses_only_permitted_tools() {
    let mut real = Real::new(OPENCODE, Script::new());
    let file = |name: &str| real.env.path(name).display().to_string();
    let turn = |turn: usize| {
        move |request: &ModelRequest| {
            request.conversation_contains("MARKER") && request.turns() == turn
        }
    };
    let script = Script::new()
        .when(turn(0), Answer::tool("write", json!({"filePath": file("new.txt"), "content": "43"})))
        .when(turn(1), Answer::tool("read", json!({"filePath": file("notes.txt")})))
        .always(Answer::text("Here it is."));
    real.server.restart(script);
    let outcome = real.recorded("read-only");
    assert_eq!(class(&outcome), None, "{:?}", outcome.failure);
    assert_eq!(outcome.final_text, "Here it is.");
    assert_eq!(outcome.report.turns, Some(3));
    assert!(!real.env.path("new.txt").exists());
    let last = real.server.requests().pop().unwrap();
    assert!(last.conversation_contains("forty-two"));
    // The same conversation, with a model that refuses.
    real.agent.invocation.resume = outcome.report.host_session.clone();
    real.agent.invocation.prompt = Some(prompt("And the verdict?"));
    real.server.restart(Script::new().always(Answer::status(401)));
    let refused = real.recorded("status-401");
    assert_eq!(class(&refused), Some(FailureClass::Auth), "{:?}", refused.failure);
    assert_eq!(refused.report.host_session, outcome.report.host_session);
    assert!(real.server.requests().iter().any(|r| {
        r.conversation_contains("Here it is.") && r.conversation_contains("And the verdict?")
    }));
}

#[test]
fn gemini_answers_in_a_folder_where_it_was_never_started() {
    let mut real = Real::new(Host::GEMINI, Script::new().always(Answer::text("Here it is.")));
    real.agent.invocation.environment.set("GEMINI_CLI_TRUST_WORKSPACE", "");
    real.agent.invocation.model = Some("gemini-2.5-pro".to_owned());
    let outcome = real.recorded("real-answer");
    assert_eq!(class(&outcome), None, "{:?}", outcome.failure);
    assert_eq!(outcome.final_text, "Here it is.");
    assert_eq!((outcome.report.usage.input, outcome.report.usage.output), (11, 7));
}

#[test]
fn copilot_errors_are_classified() {
    let mut real = Real::new(COPILOT, Script::new().always(Answer::status(401)));
    let outcome = real.recorded("status-401");
    assert_eq!(class(&outcome), Some(FailureClass::Auth), "{:?}", outcome.failure);
    assert_eq!((outcome.exit_code(), outcome.final_text.as_str()), (Some(1), ""));
}

#[test]
fn claude_with_a_subagent() {
    let child = |request: &handover_testkit::ModelRequest| !request.conversation_contains("MARKER");
    let script = Script::new()
        .when(child, Answer::text("The child is done."))
        .then(Answer::tool(
            "Agent",
            json!({"description": "look", "prompt": "Look around.", "subagent_type": "general-purpose"}),
        ))
        .always(Answer::text("All done."));
    let mut real = Real::new(Host::CLAUDE, script);
    real.agent.invocation.profile = Profile::Edit;
    let outcome = real.recorded("subagent");
    assert_eq!(outcome.final_text, "All done.");
    // Two turns of the lead and one of the subagent.
    let charged = real.server.charged();
    let usage = outcome.report.usage;
    assert_eq!((usage.input, usage.output), (charged.input, charged.output));
    let requests = real.server.requests();
    let childs: Vec<_> = requests.iter().filter(|request| child(request)).collect();
    assert_eq!(childs.len(), 1);
    assert!(childs[0].conversation_contains("Look around."));
}

#[test]
fn a_conversation_can_be_resumed() {
    for host in [Host::CLAUDE, Host::CODEX, COPILOT] {
        let script = Script::new().then(Answer::text("First.")).always(Answer::text("Second."));
        let mut real = Real::new(host, script);
        let first = real.run();
        real.agent.invocation.resume = first.report.host_session.clone();
        real.agent.invocation.prompt = Some(prompt("And the verdict?"));
        let second = real.run();
        assert_eq!((second.final_text.as_str(), class(&second)), ("Second.", None), "{host}");
        assert_eq!(second.report.host_session, first.report.host_session, "{host}");
        let request = &real.server.requests()[1];
        for text in ["Say the MARKER.", "First.", "And the verdict?"] {
            assert!(request.conversation_contains(text), "{host}: {text}");
        }
    }
}

#[test]
fn a_session_that_does_not_exist() {
    for host in [Host::CLAUDE, Host::CODEX, COPILOT] {
        let mut real = Real::new(host, Script::new());
        real.agent.invocation.resume = Some("01234567-89ab-4def-8123-456789abcdef".to_owned());
        let outcome = real.run();
        assert!(outcome.failure.is_some_and(|failure| !failure.message.is_empty()), "{host}");
        assert_eq!(real.server.requests().len(), 0, "{host}");
    }
}

#[test]
fn model_errors_are_classified() {
    use FailureClass::{Auth, Network, Overloaded, RateLimit, Server};
    for (host, status, expected) in [
        (Host::CLAUDE, 529, Overloaded),
        (Host::CLAUDE, 429, RateLimit),
        (Host::CLAUDE, 401, Auth),
        (Host::CLAUDE, 500, Server),
        (Host::CODEX, 529, Overloaded),
        (Host::CODEX, 429, RateLimit),
        (Host::CODEX, 401, Auth),
        // Claude Code's wording is "high demand".
        (Host::CODEX, 500, Overloaded),
    ] {
        let mut real = Real::new(host, Script::new().always(Answer::status(status)));
        let outcome = real.recorded(&format!("status-{status}"));
        assert_eq!(class(&outcome), Some(expected), "{host} {status}: {:?}", outcome.failure);
        assert_eq!(outcome.exit_code(), Some(1), "{host} {status}");
        assert_eq!(outcome.final_text, "", "{host} {status}");
    }
    for host in [Host::CLAUDE, Host::CODEX] {
        let script = Script::new().always(Answer::BreakOff("Half an".to_owned()));
        let outcome = Real::new(host, script).recorded("break-off");
        assert_eq!(class(&outcome), Some(Network), "{host}: {:?}", outcome.failure);
    }
}

#[test]
fn claude_respects_its_limits() {
    let tool = || Answer::tool("Read", json!({"file_path": "notes.txt"}));
    let mut real = Real::new(Host::CLAUDE, Script::new().always(tool()));
    real.agent.invocation.limits.turns = Some(2);
    let outcome = real.recorded("max-turns");
    assert_eq!(class(&outcome), Some(FailureClass::MaxTurns));

    let mut real = Real::new(Host::CLAUDE, Script::new().always(tool()));
    real.agent.invocation.limits.cost_usd = Some(0.0003);
    let outcome = real.recorded("max-budget");
    assert_eq!(class(&outcome), Some(FailureClass::MaxBudget));
    assert!(outcome.report.cost_usd.is_some_and(|cost| cost > 0.0003));
}

#[test]
fn claude_with_a_model_that_does_not_answer() {
    does_not_answer(Host::CLAUDE);
}

#[test]
fn codex_with_a_model_that_does_not_answer() {
    does_not_answer(Host::CODEX);
}

/// The idle time starts at the program's first line, so a slow start does not matter.
fn does_not_answer(host: Host) {
    let mut real = Real::new(host, Script::new().always(Answer::Silence));
    real.agent.invocation.limits.idle = Some(Duration::from_secs(6));
    let outcome = real.run();
    assert_eq!(
        (outcome.ended, class(&outcome)),
        (Ended::IdleTimeout, Some(FailureClass::IdleTimeout))
    );
    assert_eq!(real.server.requests().len(), 1);
    assert!(outcome.report.host_session.is_some());
}

#[test]
fn a_slow_model_is_not_a_failure() {
    for host in [Host::CLAUDE, Host::CODEX] {
        let answer = Answer::text("Late.").after(Duration::from_millis(700));
        let outcome = Real::new(host, Script::new().always(answer)).run();
        assert_eq!(outcome.final_text, "Late.", "{host}");
    }
}

/// Both programs start commands in separate sessions, which outlive them unless they are killed.
#[test]
fn canceling_an_agent_kills_its_commands() {
    let command = "echo $$ > pid; exec sleep 300";
    for (host, tool) in [
        (Host::CLAUDE, Answer::tool("Bash", json!({"command": command, "description": "waits"}))),
        (
            Host::CODEX,
            Answer::tool("exec_command", json!({"cmd": command, "yield_time_ms": 60_000})),
        ),
    ] {
        let mut real = Real::new(host, Script::new().always(tool));
        real.agent.invocation.profile = Profile::Full;
        let (pid, cancel) = (real.env.path("pid"), real.agent.cancel.clone());
        let mark = real.agent.invocation.spawn.to_string();
        let outcome = std::thread::scope(|scope| {
            scope.spawn(move || {
                while !pid.exists() {
                    std::thread::sleep(Duration::from_millis(10));
                }
                assert!(processes_with("HANDOVER_SPAWN", &mark).len() > 1);
                cancel.cancel();
            });
            real.run()
        });
        assert_eq!(outcome.ended, Ended::Cancelled, "{host}");
        let pid = fs_err::read_to_string(real.env.path("pid")).unwrap();
        assert!(fs_err::metadata(format!("/proc/{}", pid.trim())).is_err(), "{host}");
    }
}

#[test]
fn usage_errors_are_reported_as_such() {
    let mut real = Real::new(Host::CLAUDE, Script::new());
    real.agent.invocation.args = vec!["--no-such-flag".into()];
    let outcome = real.run();
    assert_eq!(class(&outcome), Some(FailureClass::Usage), "{:?}", outcome.failure);
    let mut real = Real::new(Host::CODEX, Script::new());
    real.agent.invocation.args = vec!["--no-such-flag".into()];
    let outcome = real.run();
    assert_eq!(class(&outcome), Some(FailureClass::Usage), "{:?}", outcome.failure);
}

/// What `handover doctor` asks: the hooks that Codex knows, and whether it trusts them.
#[test]
fn codex_says_which_hooks_it_trusts() {
    for version in [Version::Pinned, Version::Other] {
        let mut real = Real::of(version, Host::CODEX, Script::new());
        let hook = json!({"type": "command", "command": "true", "timeout": 3});
        let hooks = json!({"hooks": {"SessionEnd": [{"hooks": [hook]}]}});
        let folder = real.env.folder().join("home/.codex");
        fs_err::write(folder.join("hooks.json"), hooks.to_string()).unwrap();
        real.agent.invocation.args = vec!["app-server".into()];
        let question = [
            json!({"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}}),
            json!({"method": "initialized"}),
            json!({"id": 2, "method": "hooks/list", "params": {"cwds": [real.env.path("")]}}),
        ];
        let question: String = question.iter().map(|line| format!("{line}\n")).collect();
        let mut answer = serde_json::Value::Null;
        let mut is_answer = |line: &str| {
            answer = serde_json::from_str(line).unwrap_or_default();
            answer["id"] == 2
        };
        let outcome = ask_server(
            &real.agent.invocation,
            question.as_bytes(),
            &mut is_answer,
            &CancelToken::default(),
        );
        assert_eq!(outcome.unwrap().ended, Ended::Exited(0), "{version:?}");
        let hook = &answer["result"]["data"][0]["hooks"][0];
        assert_eq!(hook["command"], "true", "{version:?}: {answer}");
        assert_eq!((&hook["trustStatus"], &hook["timeoutSec"]), (&json!("untrusted"), &json!(3)));
        let source = hook["sourcePath"].as_str().unwrap();
        assert!(source.ends_with(".codex/hooks.json"), "{source}");
        real.agent.nothing_left();
    }
}
