//! Events as programs sent them, read and answered. `*-other.jsonl` holds events in the form of older
//! versions and their documentation.

use handover_hosts::protocol::output::Output;
use handover_hosts::{Action, Answer, HookCall, HookEvent, ReadError, Registry};
use handover_model::Host;
use serde_json::Value;

/// What each event of a recording means, in a few words.
fn meanings(host: Host, recording: &str) -> Vec<String> {
    let path = format!("{}/tests/recordings/{recording}", env!("CARGO_MANIFEST_DIR"));
    fs_err::read_to_string(path).unwrap().lines().map(|line| meaning(host, line)).collect()
}

fn read(host: Host, line: &str) -> Result<HookCall, ReadError> {
    Registry::built_in().read(host, line)
}

fn write(host: Host, event: &HookEvent, answer: &Answer) -> Option<String> {
    Registry::built_in().find(host).unwrap().write(event, answer)
}

fn meaning(host: Host, line: &str) -> String {
    let call = read(host, line).unwrap();
    let what = match call.event {
        HookEvent::SessionStarted(reason) => format!("started {reason:?}"),
        HookEvent::SubagentSpawn(spawn) => {
            let fields: Vec<&str> = spawn.input.keys().map(String::as_str).collect();
            format!("spawn {} {:?} of {}", spawn.kind, spawn.prompt, fields.join(","))
        }
        HookEvent::SubagentStarted => "starts".to_owned(),
        HookEvent::SubagentStopping(stop) => format!(
            "stops {:?} transcript={} held={}",
            stop.last_message.unwrap_or_default(),
            stop.transcript.is_some(),
            stop.held_before
        ),
        HookEvent::FileRead(path) => format!("read {}", path.display()),
        HookEvent::FileChanged(path) => format!("changed {}", path.display()),
        HookEvent::CommandPassed(command) => format!("passed {command}"),
        HookEvent::CommandFailed { command, error } => {
            format!("failed {command}: {}", error.lines().next().unwrap_or_default())
        }
        HookEvent::Checkpoint { at, cause } => {
            format!("checkpoint {} {}", at.as_str(), cause.unwrap_or_default())
        }
        HookEvent::Other => return "-".to_owned(),
    };
    match call.agent {
        Some(agent) => format!("[{}] {what}", agent.kind),
        None => what,
    }
}

#[test]
fn claude_2_1_197() {
    let fields = "description,prompt,subagent_type";
    assert_eq!(
        meanings(Host::CLAUDE, "claude-2.1.197.jsonl"),
        [
            "started Startup",
            "-",
            "failed ls /nonexistent-x: Exit code 2",
            "-",
            "passed echo hi",
            &format!("spawn general-purpose \"CHILD look around\" of {fields}"),
            "[general-purpose] starts",
            "-",
            "[general-purpose] read /project/notes.md",
            &format!("[general-purpose] spawn general-purpose \"NESTED do it\" of {fields}"),
            "[general-purpose] starts",
            "[general-purpose] stops \"done\" transcript=true held=false",
            "-",
            "[general-purpose] stops \"done\" transcript=true held=false",
            "-",
            "checkpoint Stop ",
            "checkpoint SessionEnd other",
        ]
    );
}

#[test]
fn other_versions_of_claude() {
    assert_eq!(
        meanings(Host::CLAUDE, "claude-other.jsonl"),
        [
            "started Compact",
            "spawn qa-expert \"Look around.\" of description,prompt,subagent_type",
            "spawn general-purpose \"Look around.\" of description,prompt,isolation,run_in_background,model",
            "-",
            "-",
            "stops \"\" transcript=false held=true",
            "[general-purpose] checkpoint PreCompact auto",
            "-",
            "[] started Compact",
        ]
    );
}

#[test]
fn codex_0_166_0() {
    assert_eq!(
        meanings(Host::CODEX, "codex-0.166.0.jsonl"),
        [
            "started Startup",
            "-",
            "-",
            "-",
            "-",
            "-",
            "spawn worker \"CHILD look around\" of message,agent_type",
            "-",
            "[worker] starts",
            "-",
            "-",
            "[worker] stops \"child done\" transcript=true held=false",
            "-",
            "checkpoint Stop ",
            "checkpoint SessionEnd other",
        ]
    );
}

#[test]
fn recognizes_events_of_codex_in_a_plugin_of_claude() {
    let direct = meanings(Host::CODEX, "codex-0.166.0.jsonl");
    assert_eq!(meanings(Host::CLAUDE, "codex-0.166.0.jsonl"), direct);
}

#[test]
fn other_versions_of_codex() {
    assert_eq!(
        meanings(Host::CODEX, "codex-other.jsonl"),
        ["started Resume", "spawn default \"Look around.\" of message", "-", "checkpoint Stop "]
    );
}

#[test]
fn rejects_invalid_events() {
    for text in ["", "[]", "{}", "{\"hook_event_name\": 3}", "{\"hook_event_name\""] {
        for host in [Host::CLAUDE, Host::CODEX] {
            let error = read(host, text).unwrap_err().to_string();
            assert!(error.contains(host.as_str()), "{error}");
        }
    }
}

/// Codex rejects unknown keys.
#[test]
fn answers_in_the_hosts_format() {
    let spawn = |host| {
        let recording =
            if host == Host::CLAUDE { "claude-other.jsonl" } else { "codex-other.jsonl" };
        let path = format!("{}/tests/recordings/{recording}", env!("CARGO_MANIFEST_DIR"));
        let text = fs_err::read_to_string(path).unwrap();
        read(host, text.lines().nth(1).unwrap()).unwrap().event
    };
    let answer = |host, event: &HookEvent, action: Action| -> Value {
        let text = write(host, event, &Answer::from(action)).unwrap();
        if host == Host::CODEX {
            serde_json::from_str::<Output>(&text).unwrap();
        }
        serde_json::from_str(&text).unwrap()
    };
    for host in [Host::CLAUDE, Host::CODEX] {
        let spawn = spawn(host);
        let rewritten = answer(host, &spawn, Action::Rewrite(serde_json::json!({"a": 1})));
        assert_eq!(
            rewritten,
            serde_json::json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"a": 1},
            }})
        );
        let refused = answer(host, &spawn, Action::Refuse("no".to_owned()));
        assert_eq!(refused["hookSpecificOutput"]["permissionDecision"], "deny");
        assert_eq!(refused["hookSpecificOutput"]["permissionDecisionReason"], "no");
        let injected = answer(host, &HookEvent::SubagentStarted, Action::Inject("this".to_owned()));
        assert_eq!(
            injected,
            serde_json::json!({"hookSpecificOutput": {
                "hookEventName": "SubagentStart", "additionalContext": "this",
            }})
        );
        // A starting subagent cannot be held back, so nothing is written.
        let wrong = Answer::from(Action::HoldBack("x".to_owned()));
        assert_eq!(write(host, &HookEvent::SubagentStarted, &wrong), None);
        let noted = Answer { action: Action::Proceed, notice: Some("a line".to_owned()) };
        let noted = write(host, &HookEvent::Other, &noted).unwrap();
        assert_eq!(noted, "{\"systemMessage\":\"a line\"}");
        assert_eq!(write(host, &HookEvent::Other, &Answer::default()), None);
    }
}
