//! Events as programs sent them, read and answered. `*-other.jsonl` holds events in the forms that
//! older versions and their documentation have.

use handover_hosts::{Act, Answer, Event, read, write};
use handover_model::Host;
use serde_json::Value;

/// What each event of a recording means, in a few words.
fn meanings(host: Host, recording: &str) -> Vec<String> {
    let path = format!("{}/tests/recordings/{recording}", env!("CARGO_MANIFEST_DIR"));
    fs_err::read_to_string(path).unwrap().lines().map(|line| meaning(host, line)).collect()
}

fn meaning(host: Host, line: &str) -> String {
    let call = read(host, line).unwrap();
    let what = match call.event {
        Event::Opened(source) => format!("opened {source:?}"),
        Event::Spawn(spawn) => {
            let fields: Vec<&str> = spawn.input.keys().map(String::as_str).collect();
            format!("spawn {} {:?} of {}", spawn.kind, spawn.prompt, fields.join(","))
        }
        Event::ChildStarts => "starts".to_owned(),
        Event::ChildStops(stop) => format!(
            "stops {:?} transcript={} held={}",
            stop.last_message.unwrap_or_default(),
            stop.transcript.is_some(),
            stop.held_before
        ),
        Event::FileRead(path) => format!("read {}", path.display()),
        Event::FileChanged(path) => format!("changed {}", path.display()),
        Event::CommandPassed(command) => format!("passed {command}"),
        Event::CommandFailed { command, error } => {
            format!("failed {command}: {}", error.lines().next().unwrap_or_default())
        }
        Event::Checkpoint { moment, cause } => {
            format!("checkpoint {} {}", moment.as_str(), cause.unwrap_or_default())
        }
        Event::Other => return "-".to_owned(),
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
        meanings(Host::Claude, "claude-2.1.197.jsonl"),
        [
            "opened Startup",
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
        meanings(Host::Claude, "claude-other.jsonl"),
        [
            "opened Compact",
            "spawn qa-expert \"Look around.\" of description,prompt,subagent_type",
            "spawn general-purpose \"Look around.\" of description,prompt,isolation,run_in_background,model",
            "-",
            "-",
            "stops \"\" transcript=false held=true",
            "[general-purpose] checkpoint PreCompact auto",
            "-",
            "[] opened Compact",
        ]
    );
}

#[test]
fn codex_0_166_0() {
    assert_eq!(
        meanings(Host::Codex, "codex-0.166.0.jsonl"),
        [
            "opened Startup",
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

/// A plugin of Claude Code in Codex.
#[test]
fn events_of_codex_are_known_by_themselves() {
    let direct = meanings(Host::Codex, "codex-0.166.0.jsonl");
    assert_eq!(meanings(Host::Claude, "codex-0.166.0.jsonl"), direct);
}

#[test]
fn other_versions_of_codex() {
    assert_eq!(
        meanings(Host::Codex, "codex-other.jsonl"),
        ["opened Resume", "spawn default \"Look around.\" of message", "-", "checkpoint Stop "]
    );
}

#[test]
fn what_is_no_event_is_told() {
    for text in ["", "[]", "{}", "{\"hook_event_name\": 3}", "{\"hook_event_name\""] {
        for host in [Host::Claude, Host::Codex] {
            let error = read(host, text).unwrap_err().to_string();
            assert!(error.contains(host.as_str()), "{error}");
        }
    }
}

/// Every answer in the form that the host takes; Codex takes no other key.
#[test]
fn answers() {
    let spawn = |host| {
        let recording =
            if host == Host::Claude { "claude-other.jsonl" } else { "codex-other.jsonl" };
        let path = format!("{}/tests/recordings/{recording}", env!("CARGO_MANIFEST_DIR"));
        let text = fs_err::read_to_string(path).unwrap();
        read(host, text.lines().nth(1).unwrap()).unwrap().event
    };
    let answer = |host, event: &Event, act: Act| -> Value {
        let text = write(host, event, &Answer::from(act)).unwrap();
        if host == Host::Codex {
            serde_json::from_str::<handover_hosts::output::Output>(&text).unwrap();
        }
        serde_json::from_str(&text).unwrap()
    };
    for host in [Host::Claude, Host::Codex] {
        let spawn = spawn(host);
        let rewritten = answer(host, &spawn, Act::Rewrite(serde_json::json!({"a": 1})));
        assert_eq!(
            rewritten,
            serde_json::json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"a": 1},
            }})
        );
        let refused = answer(host, &spawn, Act::Refuse("no".to_owned()));
        assert_eq!(refused["hookSpecificOutput"]["permissionDecision"], "deny");
        assert_eq!(refused["hookSpecificOutput"]["permissionDecisionReason"], "no");
        let told = answer(host, &Event::ChildStarts, Act::Tell("this".to_owned()));
        assert_eq!(
            told,
            serde_json::json!({"hookSpecificOutput": {
                "hookEventName": "SubagentStart", "additionalContext": "this",
            }})
        );
        // A child that starts cannot be held back, and nothing is said about it.
        let wrong = Answer::from(Act::Hold("x".to_owned()));
        assert_eq!(write(host, &Event::ChildStarts, &wrong), None);
        let noted = Answer { act: Act::Nothing, notice: Some("a line".to_owned()) };
        let noted = write(host, &Event::Other, &noted).unwrap();
        assert_eq!(noted, "{\"systemMessage\":\"a line\"}");
        assert_eq!(write(host, &Event::Other, &Answer::default()), None);
    }
}
