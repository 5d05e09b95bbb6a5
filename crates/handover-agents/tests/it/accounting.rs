//! What real programs say that they used, compared with the model's own count.

use std::time::Duration;

use handover_agents::{Ended, Outcome, Total, Usage};
use handover_model::{Host, Profile};
use handover_testkit::{Answer, ModelRequest, Script, Tokens};
use serde_json::json;

use crate::real::{COPILOT, OPENCODE, Real, Version, class};
use crate::setup::prompt;

const VERSIONS: [Version; 2] = [Version::Pinned, Version::Other];

fn counted(usage: Usage) -> Tokens {
    Tokens { input: usage.input, cached: usage.cached_input, output: usage.output }
}

/// Asks the same agent once more.
fn follow_up(real: &mut Real, first: &Outcome, text: &str) -> Outcome {
    let again = real.agent.invocation.follow_up(first, prompt(text)).unwrap();
    let invocation = std::mem::replace(&mut real.agent.invocation, again);
    let outcome = real.run();
    real.agent.invocation = invocation;
    outcome
}

fn every_turn_is_counted_once(
    version: Version,
    host: Host,
    tool: (&str, serde_json::Value),
    calls: usize,
) {
    let script = Script::new().then(Answer::tool(tool.0, tool.1)).always(Answer::text("Done."));
    let mut real = Real::of(version, host, script);
    if host == Host::CLAUDE {
        real.agent.invocation.model = Some("claude-sonnet-4-5".to_owned());
    }
    let mut first = real.run();
    assert_eq!(class(&first), None, "{host} {version:?}: {:?}", first.failure);
    let mut before = real.server.charged();
    assert_eq!(counted(first.report.usage), before, "{host} {version:?}, the first call");
    let mut last = first.clone();
    for number in 2..=calls {
        let next = follow_up(&mut real, &last, "And the MARKER again?");
        let charged = real.server.charged();
        let step = Tokens {
            input: charged.input - before.input,
            cached: charged.cached - before.cached,
            output: charged.output - before.output,
        };
        assert_eq!(counted(next.report.usage), step, "{host} {version:?}, call {number}");
        first.add(&next);
        (before, last) = (charged, next);
    }
    assert_eq!(counted(first.report.usage), real.server.charged(), "{host} {version:?}");
    if host == Host::CLAUDE {
        // Dollars per million: input, cached input, output.
        let Tokens { input, cached, output } = real.server.charged();
        let price = (input - cached) as f64 * 3.0 + cached as f64 * 0.3 + output as f64 * 15.0;
        let cost = first.report.cost_usd.unwrap();
        assert!((cost - price / 1e6).abs() < 1e-9, "{version:?}: {cost}, expected {}", price / 1e6);
    }
}

#[test]
fn claude_counts_every_turn_once() {
    for version in VERSIONS {
        let tool = ("Read", json!({"file_path": "notes.txt"}));
        every_turn_is_counted_once(version, Host::CLAUDE, tool, 3);
    }
}

#[test]
fn codex_counts_every_turn_once() {
    for version in VERSIONS {
        let tool = ("exec_command", json!({"cmd": "cat notes.txt"}));
        every_turn_is_counted_once(version, Host::CODEX, tool, 3);
    }
}

#[test]
fn copilot_counts_every_turn_once() {
    for version in VERSIONS {
        let tool = ("glob", json!({"pattern": "*.txt"}));
        every_turn_is_counted_once(version, COPILOT, tool, 3);
    }
}

#[test]
fn opencode_counts_every_turn_once() {
    // It takes long to start.
    for (version, calls) in [(Version::Pinned, 2), (Version::Other, 1)] {
        let tool = ("read", json!({"filePath": "notes.txt"}));
        every_turn_is_counted_once(version, OPENCODE, tool, calls);
    }
}

#[test]
fn gemini_counts_every_turn_once() {
    for version in VERSIONS {
        let script = Script::new()
            .then(Answer::tool("list_directory", json!({"dir_path": "."})))
            .always(Answer::text("Done."));
        let mut real = Real::of(version, Host::GEMINI, script);
        real.agent.invocation.model = Some("gemini-2.5-pro".to_owned());
        let outcome = real.run();
        assert_eq!(class(&outcome), None, "{version:?}: {:?}", outcome.failure);
        assert_eq!(counted(outcome.report.usage), real.server.charged(), "{version:?}");
        assert_eq!(real.server.requests().len(), 2);
    }
}

/// An agent of Codex is a conversation of its own; its program only counts that of the lead.
fn codex_counts_its_agents(version: Version, model: Option<&str>, turns: [Answer; 2]) {
    let is_lead = |request: &ModelRequest| {
        let asked = request.body["input"].as_array().into_iter().flatten();
        let texts = asked.filter(|item| item["role"] == "user").map(ToString::to_string);
        texts.into_iter().any(|text| text.contains("MARKER"))
    };
    let [spawn, wait] = turns;
    let script = Script::new()
        .when(move |request| !is_lead(request), Answer::text("The child is done."))
        .then(spawn)
        .then(wait)
        .always(Answer::text("Done."));
    let mut real = Real::of(version, Host::CODEX, script);
    real.agent.invocation.model = model.map(ToOwned::to_owned);
    let first = real.run();
    assert_eq!(class(&first), None, "{version:?}: {:?}", first.failure);
    let before = real.server.charged();
    assert_eq!(real.server.requests().len(), 4, "{version:?}: one of them is the child's");
    assert_eq!(counted(first.report.usage), before, "{version:?} {model:?}");
    let next = follow_up(&mut real, &first, "And the MARKER again?");
    let charged = real.server.charged();
    let step = (charged.input - before.input, charged.output - before.output);
    assert_eq!((next.report.usage.input, next.report.usage.output), step, "{version:?} {model:?}");
}

#[test]
fn codex_counts_what_its_agents_use() {
    fn waits(request: &ModelRequest) -> Answer {
        let text = request.body.to_string().replace('\\', "");
        let id = text.split("\"agent_id\":\"").nth(1).unwrap_or_else(|| panic!("{text}"));
        let id: String = id.chars().take_while(|c| *c != '"').collect();
        Answer::tool("multi_agent_v1.wait_agent", json!({"targets": [id], "timeout_ms": 60_000}))
    }
    for version in VERSIONS {
        let spawn = json!({"message": "Look around.", "agent_type": "worker"});
        let spawn = Answer::tool("multi_agent_v1.spawn_agent", spawn);
        codex_counts_its_agents(version, None, [spawn, Answer::Computed(waits)]);
        let spawn = json!({"message": "Look around.", "task_name": "look", "fork_turns": "none"});
        let spawn = Answer::tool("collaboration.spawn_agent", spawn);
        let wait = Answer::tool("collaboration.wait_agent", json!({"timeout_ms": 60_000}));
        codex_counts_its_agents(version, Some("gpt-5.6-sol"), [spawn, wait]);
    }
}

#[test]
fn copilot_counts_what_its_agents_use() {
    for version in VERSIONS {
        let is_child = |request: &ModelRequest| !request.conversation_contains("MARKER");
        let input = json!({
            "description": "look", "prompt": "Look around.", "agent_type": "general-purpose",
            "name": "look", "mode": "sync",
        });
        let script = Script::new()
            .when(is_child, Answer::text("The child is done."))
            .then(Answer::tool("task", input.clone()))
            .then(Answer::text("Done."))
            .then(Answer::tool("task", input))
            .always(Answer::text("Done again."));
        let mut real = Real::of(version, COPILOT, script);
        real.agent.invocation.profile = Profile::Full;
        let first = real.run();
        assert_eq!(class(&first), None, "{version:?}: {:?}", first.failure);
        assert_eq!(real.server.requests().len(), 3, "{version:?}: one of them is the child's");
        let before = real.server.charged();
        assert_eq!(counted(first.report.usage), before, "{version:?}");
        let next = follow_up(&mut real, &first, "And the MARKER again?");
        assert_eq!(real.server.requests().len(), 6, "{version:?}: again, one is a child's");
        let charged = real.server.charged();
        let step = (charged.input - before.input, charged.output - before.output);
        assert_eq!((next.report.usage.input, next.report.usage.output), step, "{version:?}");
    }
}

#[test]
fn gemini_counts_what_its_agents_use() {
    for version in VERSIONS {
        let is_child = |request: &ModelRequest| !request.conversation_contains("MARKER");
        let done = json!({"result": {"response": "The child is done."}});
        let script = Script::new()
            .when(is_child, Answer::tool("complete_task", done))
            .then(Answer::tool(
                "invoke_agent",
                json!({"agent_name": "generalist", "prompt": "Look around."}),
            ))
            .always(Answer::text("Done."));
        let mut real = Real::of(version, Host::GEMINI, script);
        real.agent.invocation.profile = Profile::Full;
        real.agent.invocation.model = Some("gemini-2.5-pro".to_owned());
        let outcome = real.run();
        assert_eq!(class(&outcome), None, "{version:?}: {:?}", outcome.failure);
        assert_eq!(real.server.requests().len(), 3, "{version:?}: one of them is the child's");
        assert_eq!(counted(outcome.report.usage), real.server.charged(), "{version:?}");
    }
}

/// The lead answers, waits for its child, and answers again.
#[test]
fn claude_with_a_child_in_the_background() {
    for (version, name) in [(Version::Pinned, "background"), (Version::Other, "background-newer")] {
        let is_child = |request: &ModelRequest| !request.conversation_contains("MARKER");
        let slow = Answer::text("The child is done.").after(Duration::from_millis(1_500));
        let input = json!({
            "description": "look", "prompt": "Look around.", "subagent_type": "general-purpose",
            "run_in_background": true,
        });
        let script = Script::new()
            .when(is_child, slow)
            .then(Answer::tool("Agent", input))
            .then(Answer::text("My debrief."))
            .always(Answer::text("The child has ended."));
        let mut real = Real::of(version, Host::CLAUDE, script);
        real.agent.invocation.profile = Profile::Edit;
        let outcome = real.recorded(name);
        assert_eq!(class(&outcome), None, "{version:?}: {:?}", outcome.failure);
        let answers: Vec<&str> = outcome.answers().collect();
        assert_eq!(answers, ["The child has ended.", "My debrief."], "{version:?}");
        assert_eq!(counted(outcome.report.usage), real.server.charged(), "{version:?}");
        assert_eq!(outcome.report.turns, Some(3), "{version:?}");
    }
}

/// Without a result there are only the messages: their input is exact.
#[test]
fn claude_is_killed_while_it_waits() {
    for version in VERSIONS {
        let script = Script::new()
            .then(Answer::tool("Read", json!({"file_path": "notes.txt"})))
            .always(Answer::Silence);
        let mut real = Real::of(version, Host::CLAUDE, script);
        real.agent.invocation.limits.idle = Some(Duration::from_secs(5));
        let outcome = real.run();
        assert_eq!(outcome.ended, Ended::IdleTimeout);
        assert_eq!(outcome.report.usage.input, real.server.charged().input, "{version:?}");
        let Total { usage, .. } = outcome.report.total;
        assert_eq!(usage, outcome.report.usage);
    }
}

/// Its output counts nothing until it ends; its files do.
#[test]
fn codex_is_killed_while_it_waits() {
    for version in VERSIONS {
        let script = Script::new()
            .then(Answer::tool("exec_command", json!({"cmd": "cat notes.txt"})))
            .always(Answer::Silence);
        let mut real = Real::of(version, Host::CODEX, script);
        real.agent.invocation.limits.idle = Some(Duration::from_secs(5));
        let outcome = real.run();
        assert_eq!(outcome.ended, Ended::IdleTimeout);
        assert!(real.server.charged().input > 0);
        assert_eq!(counted(outcome.report.usage), real.server.charged(), "{version:?}");
    }
}
