//! Single events: the cases that the recordings do not cover.

use std::path::{Path, PathBuf};

use handover_hosts::{Checkpoint, HookCall, HookEvent, Registry, StartReason};
use handover_model::Host;
use serde_json::{Value, json};

fn read(host: Host, name: &str, fields: Value) -> HookCall {
    let mut event = json!({"hook_event_name": name, "session_id": "c1", "cwd": "/project"});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Registry::built_in().read(host, &event.to_string()).unwrap()
}

fn event(host: Host, name: &str, fields: Value) -> HookEvent {
    read(host, name, fields).event
}

#[test]
fn every_call_says_where_it_comes_from() {
    let fields = json!({
        "transcript_path": "/t/c1.jsonl", "agent_id": "a1", "agent_type": "qa-expert", "model": "m",
    });
    for (host, model) in [(Host::CLAUDE, None), (Host::CODEX, Some("m"))] {
        let call = read(host, "SubagentStart", fields.clone());
        assert_eq!(call.host, host);
        assert_eq!(call.conversation.unwrap().as_str(), "c1");
        assert_eq!(call.folder.as_deref(), Some(Path::new("/project")));
        assert_eq!(call.transcript.as_deref(), Some(Path::new("/t/c1.jsonl")));
        let agent = call.agent.unwrap();
        assert_eq!((agent.id.as_str(), agent.kind.as_str()), ("a1", "qa-expert"));
        assert_eq!(call.model.as_deref(), model, "{host}");
        assert_eq!(call.event, HookEvent::SubagentStarted);
    }
}

#[test]
fn ids_that_cannot_be_stored_are_none() {
    for id in [json!("../../etc"), json!(""), json!("x".repeat(300)), Value::Null] {
        let call = read(Host::CLAUDE, "SubagentStart", json!({"session_id": id, "agent_id": id}));
        assert_eq!((call.conversation, call.agent), (None, None), "{id}");
    }
}

#[test]
fn starts_have_a_reason() {
    for host in [Host::CLAUDE, Host::CODEX] {
        for (source, reason) in [
            (json!("startup"), StartReason::Startup),
            (json!("resume"), StartReason::Resume),
            (json!("clear"), StartReason::Clear),
            (json!("compact"), StartReason::Compact),
            (json!("tomorrow"), StartReason::Other),
            (Value::Null, StartReason::Startup),
        ] {
            let started = event(host, "SessionStart", json!({"source": source}));
            assert_eq!(started, HookEvent::SessionStarted(reason), "{source}");
        }
    }
}

#[test]
fn only_tools_that_spawn_are_spawns() {
    let spawn = |host, tool: &str, input: Value| {
        let event = event(host, "PreToolUse", json!({"tool_name": tool, "tool_input": input}));
        let HookEvent::SubagentSpawn(spawn) = event else { return None };
        Some((spawn.kind, spawn.prompt, spawn.model))
    };
    let claude = json!({"prompt": "do it", "subagent_type": "Explore", "model": "opus"});
    let expected = ("Explore".to_owned(), "do it".to_owned(), Some("opus".to_owned()));
    for tool in ["Agent", "Task"] {
        assert_eq!(spawn(Host::CLAUDE, tool, claude.clone()), Some(expected.clone()));
    }
    assert_eq!(spawn(Host::CLAUDE, "Bash", claude.clone()), None);
    assert_eq!(spawn(Host::CODEX, "Agent", claude), None);
    let codex = json!({"message": "do it", "agent_type": ""});
    let expected = ("default".to_owned(), "do it".to_owned(), None);
    for tool in ["spawn_agent", "multi_agent_v1.spawn_agent", "multi_agent_v1spawn_agent"] {
        assert_eq!(spawn(Host::CODEX, tool, codex.clone()), Some(expected.clone()), "{tool}");
    }
    assert_eq!(spawn(Host::CODEX, "spawn_agents", codex), None);
    assert_eq!(spawn(Host::CODEX, "spawn_agent", json!({"items": []})), None);
}

#[test]
fn tools_of_claude_read_change_and_run() {
    let used = |tool: &str, input: Value| {
        event(Host::CLAUDE, "PostToolUse", json!({"tool_name": tool, "tool_input": input}))
    };
    let path = || PathBuf::from("/project/a");
    assert_eq!(used("Read", json!({"file_path": "/project/a"})), HookEvent::FileRead(path()));
    for tool in ["Edit", "MultiEdit", "Write"] {
        assert_eq!(used(tool, json!({"file_path": "/project/a"})), HookEvent::FileChanged(path()));
    }
    let notebook = used("NotebookEdit", json!({"notebook_path": "/project/a"}));
    assert_eq!(notebook, HookEvent::FileChanged(path()));
    let ran = used("Bash", json!({"command": "make"}));
    assert_eq!(ran, HookEvent::CommandPassed("make".to_owned()));
    assert_eq!(used("Bash", json!({})), HookEvent::Other);
    assert_eq!(used("Read", json!({"pattern": "*"})), HookEvent::Other);
}

#[test]
fn failures_of_claude_count_for_commands_only() {
    let failed = |tool: &str, fields: Value| {
        let mut all = json!({
            "tool_name": tool, "tool_input": {"command": "make", "file_path": "/project/a"},
        });
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        event(Host::CLAUDE, "PostToolUseFailure", all)
    };
    let command = "make".to_owned();
    let error = "no rule".to_owned();
    let expected = HookEvent::CommandFailed { command: command.clone(), error };
    assert_eq!(failed("Bash", json!({"error": "no rule"})), expected);
    let silent = HookEvent::CommandFailed { command, error: String::new() };
    assert_eq!(failed("Bash", json!({})), silent);
    assert_eq!(failed("Bash", json!({"is_interrupt": true})), HookEvent::Other);
    assert_eq!(failed("Read", json!({})), HookEvent::Other);
    assert_eq!(failed("Write", json!({})), HookEvent::Other);
}

#[test]
fn checkpoints_have_a_cause() {
    for host in [Host::CLAUDE, Host::CODEX] {
        for (name, fields, at, cause) in [
            ("PreCompact", json!({"trigger": "auto"}), Checkpoint::PreCompact, Some("auto")),
            ("Stop", json!({}), Checkpoint::Stop, None),
            ("SessionEnd", json!({"reason": "logout"}), Checkpoint::SessionEnd, Some("logout")),
        ] {
            let cause = cause.map(ToOwned::to_owned);
            assert_eq!(event(host, name, fields), HookEvent::Checkpoint { at, cause }, "{name}");
        }
    }
}

#[test]
fn stops_carry_what_the_host_knows() {
    for host in [Host::CLAUDE, Host::CODEX] {
        let fields = json!({
            "agent_transcript_path": "/t/a.jsonl", "last_assistant_message": "bye",
            "stop_hook_active": true,
        });
        let HookEvent::SubagentStopping(stop) = event(host, "SubagentStop", fields) else {
            panic!("{host}: not a stop");
        };
        assert_eq!(stop.transcript.as_deref(), Some(Path::new("/t/a.jsonl")));
        assert_eq!((stop.last_message.as_deref(), stop.held_before), (Some("bye"), true));
        let HookEvent::SubagentStopping(stop) = event(host, "SubagentStop", json!({})) else {
            panic!("{host}: not a stop");
        };
        assert_eq!((stop.transcript, stop.last_message, stop.held_before), (None, None, false));
    }
}

#[test]
fn unused_events_are_ignored() {
    for host in [Host::CLAUDE, Host::CODEX] {
        for name in ["Notification", "UserPromptSubmit", "PostCompact", "", "stop"] {
            assert_eq!(event(host, name, json!({"prompt": [1]})), HookEvent::Other, "{name}");
        }
    }
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    assert_eq!(event(Host::CODEX, "PostToolUse", tool), HookEvent::Other, "no exit code");
}

#[test]
fn hosts_without_hooks_are_refused() {
    for host in [Host::from_static("unknown"), Host::COMMAND] {
        let error = Registry::built_in().read(host, "{}").unwrap_err().to_string();
        assert_eq!(error, format!("`{host}` is not a host with hooks"));
    }
}
