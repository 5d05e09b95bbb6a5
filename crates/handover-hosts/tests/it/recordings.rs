//! Events as programs sent them, read and answered. `*-other.jsonl` holds events in the form of older
//! versions and their documentation.

use handover_hosts::protocol::output::Output;
use handover_hosts::{Action, Answer, HookCall, HookEvent, ReadError, Registry};
use handover_model::Host;
use serde_json::Value;

const COPILOT: Host = Host::from_static("copilot");
const OPENCODE: Host = Host::from_static("opencode");
const QWEN: Host = Host::from_static("qwen");

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
            let mut fields: Vec<&str> = spawn.input.keys().map(String::as_str).collect();
            // Their order depends on what the build enables in serde_json.
            fields.sort_unstable();
            format!("spawn {} {:?} of {}", spawn.kind, spawn.prompt, fields.join(","))
        }
        HookEvent::SubagentSpawned { agent, ended, returned } => {
            let text = returned.map(|returned| format!(" returned={:?}", returned.text));
            format!("spawned agent={} ended={ended}{}", agent.is_some(), text.unwrap_or_default())
        }
        HookEvent::SpawnFailed(error) => format!("not spawned: {error}"),
        HookEvent::SubagentStarted => "starts".to_owned(),
        HookEvent::SubagentPrompted { prompt } => format!("told {prompt:?}"),
        HookEvent::SubagentStopping(stop) => format!(
            "stops {:?} transcript={} held={}",
            stop.last_message.unwrap_or_default(),
            stop.transcript.is_some(),
            stop.held_before
        ),
        HookEvent::SubagentEnding { last_message } => format!("ends {last_message:?}"),
        HookEvent::SubagentFinished(end) => {
            format!("finished {} {:?}: {:?}", end.kind, end.prompt, end.last_message)
        }
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
            "[general-purpose] spawned agent=true ended=true returned=\"done\"",
            "[general-purpose] stops \"done\" transcript=true held=false",
            "spawned agent=true ended=true returned=\"done\"",
            "checkpoint Stop ",
            "checkpoint SessionEnd other",
        ]
    );
}

/// Subagents run in the background, and not every one is announced.
#[test]
fn claude_2_1_325() {
    assert_eq!(
        meanings(Host::CLAUDE, "claude-2.1.325.jsonl"),
        [
            "started Startup",
            "spawn general-purpose \"CHILD-ONE: do\" of description,prompt,subagent_type",
            "[general-purpose] starts",
            "spawned agent=true ended=false",
            "[general-purpose] stops \"child done\" transcript=true held=false",
            "spawn fork \"CHILD-FORK: do\" of description,prompt,subagent_type",
            "spawned agent=true ended=false",
            "[fork] starts",
            "spawn Plan \"do\" of description,prompt,subagent_type",
            "[fork] stops \"child done\" transcript=true held=false",
            "not spawned: Agent type 'Plan' has been denied by permission rule 'Agent(Plan)' from projectSettings.",
            "-",
            "-",
            "[workflow-subagent] starts",
            "-",
            "[workflow-subagent] stops \"child done\" transcript=true held=false",
            "[general-purpose] starts",
            "[general-purpose] stops \"child done\" transcript=true held=false",
            "-",
            "checkpoint Stop ",
            "checkpoint SessionEnd other",
        ]
    );
}

#[test]
fn claude_2_1_328() {
    const NOTE: &str = "<tools-used-before-summary>Read</tools-used-before-summary>";
    let fields = "description,prompt,run_in_background,subagent_type";
    assert_eq!(
        ours(Host::CLAUDE, "claude-2.1.328.jsonl"),
        [
            "started Startup",
            "failed ls /nonexistent-x: Exit code 2",
            "passed echo hi",
            "changed /project/new.md",
            &format!("spawn general-purpose \"CHILD look around\" of {fields}"),
            "[general-purpose] starts",
            "[general-purpose] read /project/notes.md",
            "[general-purpose] stops \"child done\" transcript=true held=false",
            // A note of its own comes first.
            &format!("spawned agent=true ended=true returned=\"{NOTE}\\n\\nchild done\""),
            "checkpoint Stop ",
            "checkpoint SessionEnd other",
        ]
    );
}

/// A call is known by its id from the spawn to its result, and what still runs is listed.
#[test]
fn events_say_which_call_they_are_about() {
    let path = format!("{}/tests/recordings/claude-2.1.325.jsonl", env!("CARGO_MANIFEST_DIR"));
    let calls: Vec<HookCall> = fs_err::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| read(Host::CLAUDE, line).unwrap())
        .filter(|call| call.event != HookEvent::Other)
        .collect();
    let ids: Vec<&str> =
        calls.iter().filter_map(|call| Some(call.tool_use.as_ref()?.as_str())).collect();
    assert_eq!(ids, ["toolu_1", "toolu_1", "toolu_4", "toolu_4", "toolu_6", "toolu_6"]);
    let running: Vec<usize> =
        calls.iter().filter_map(|call| Some(call.running.as_ref()?.len())).collect();
    assert_eq!(running.last(), Some(&0), "at the end");
    assert!(running.contains(&1), "{running:?}");
}

#[test]
fn other_versions_of_claude() {
    assert_eq!(
        meanings(Host::CLAUDE, "claude-other.jsonl"),
        [
            "started Compact",
            "spawn qa-expert \"Look around.\" of description,prompt,subagent_type",
            "spawn general-purpose \"Look around.\" of description,isolation,model,prompt,run_in_background",
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
            "spawn worker \"CHILD look around\" of agent_type,message",
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

fn ours(host: Host, recording: &str) -> Vec<String> {
    meanings(host, recording).into_iter().filter(|what| what != "-").collect()
}

/// Agents with names, by a model of its own catalogue. The second message is no text, as with the real service.
const NAMED: [&str; 2] = [
    "spawn default \"CHILD look around\\n\\nlook around\" of fork_turns,message,task_name",
    "spawn default \"test tokens\" of message,task_name",
];

#[test]
fn named_agents_of_codex_0_166_0() {
    let debrief =
        "\"Done.\\n\\n```handover\\nverdict: complete\\nsummary: Tokens rotate.\\n```\\n\"";
    let stops = format!("[default] stops {debrief} transcript=true held=false");
    assert_eq!(
        ours(Host::CODEX, "codex-0.166.0-named.jsonl"),
        [
            "started Startup",
            NAMED[0],
            NAMED[1],
            "[default] starts",
            &stops,
            "[default] starts",
            &stops,
            "checkpoint Stop ",
            "checkpoint SessionEnd other",
        ]
    );
}

/// Both versions of its tools for agents.
#[test]
fn codex_0_169_0() {
    let stops = |kind: &str| format!("[{kind}] stops \"child done\" transcript=true held=false");
    assert_eq!(
        ours(Host::CODEX, "codex-0.169.0.jsonl"),
        [
            "started Startup",
            "spawn worker \"CHILD look around\" of agent_type,message",
            "[worker] starts",
            &stops("worker"),
            "checkpoint Stop ",
            "checkpoint SessionEnd other",
            "started Startup",
            "spawn default \"CHILD look around\\n\\nlook\" of fork_turns,message,task_name",
            "[default] starts",
            &stops("default"),
            "checkpoint Stop ",
            "checkpoint SessionEnd other",
        ]
    );
}

#[test]
fn codex_0_150_0() {
    let debrief =
        "\"Done.\\n\\n```handover\\nverdict: complete\\nsummary: Tokens rotate.\\n```\\n\"";
    let stops = |kind: &str| format!("[{kind}] stops {debrief} transcript=true held=false");
    assert_eq!(
        ours(Host::CODEX, "codex-0.150.0.jsonl"),
        [
            "started Startup",
            "spawn worker \"CHILD look around\" of agent_type,message",
            "[worker] starts",
            &stops("worker"),
            "checkpoint Stop ",
            "checkpoint SessionEnd other",
            "started Startup",
            NAMED[0],
            "[default] starts",
            NAMED[1],
            &stops("default"),
            "[default] starts",
            &stops("default"),
            "checkpoint Stop ",
            "checkpoint SessionEnd other",
        ]
    );
}

#[test]
fn recognizes_events_of_codex_in_a_plugin_of_claude() {
    for recording in ["codex-0.169.0.jsonl", "codex-0.166.0.jsonl", "codex-0.150.0.jsonl"] {
        let direct = meanings(Host::CODEX, recording);
        assert_eq!(meanings(Host::CLAUDE, recording), direct);
    }
}

#[test]
fn other_versions_of_codex() {
    assert_eq!(
        meanings(Host::CODEX, "codex-other.jsonl"),
        ["started Resume", "spawn default \"Look around.\" of message", "-", "checkpoint Stop "]
    );
}

/// It names neither the subagent that starts nor the parent of one that stops.
#[test]
fn copilot_1_0_92() {
    let recording = "copilot-1.0.92.jsonl";
    assert_eq!(
        meanings(COPILOT, recording),
        [
            "-",
            "started Startup",
            "spawn general-purpose \"CHILD: look\" of agent_type,description,mode,name,prompt",
            "starts",
            "-",
            "checkpoint Stop ",
            "[general-purpose] stops \"A report of the child\" transcript=false held=false",
            "spawned agent=false ended=true returned=\"A report of the child\"",
            "checkpoint Stop ",
            "checkpoint SessionEnd complete",
        ]
    );
    let path = format!("{}/tests/recordings/{recording}", env!("CARGO_MANIFEST_DIR"));
    let text = fs_err::read_to_string(path).unwrap();
    let stop = read(COPILOT, text.lines().nth(6).unwrap()).unwrap();
    let spawn = read(COPILOT, text.lines().nth(2).unwrap()).unwrap();
    assert_eq!(stop.conversation, spawn.conversation);
}

#[test]
fn copilot_1_0_102() {
    let fields = "agent_type,description,name,prompt";
    assert_eq!(
        meanings(COPILOT, "copilot-1.0.102.jsonl"),
        [
            "started Startup",
            "-",
            "-",
            "failed ls /nonexistent-x: ls: cannot access '/nonexistent-x': No such file or directory",
            "-",
            "passed echo hi",
            "-",
            "changed /project/new.md",
            "-",
            "changed /project/new.md",
            "-",
            "-",
            &format!("spawn general-purpose \"CHILD look around\" of {fields}"),
            "[general-purpose] starts",
            "[general-purpose] told \"CHILD look around\"",
            "-",
            "[general-purpose] read /project/notes.md",
            &format!("[general-purpose] spawn general-purpose \"NESTED look around\" of {fields}"),
            "[general-purpose] starts",
            "[general-purpose] told \"NESTED look around\"",
            "[general-purpose] checkpoint Stop ",
            "[general-purpose] stops \"nested done\" transcript=false held=false",
            "[general-purpose] told \"HELD-BACK debrief please\"",
            "[general-purpose] checkpoint Stop ",
            "[general-purpose] stops \"nested debrief\" transcript=false held=true",
            "[general-purpose] spawned agent=false ended=true returned=\"nested debrief\"",
            "[general-purpose] checkpoint Stop ",
            "[general-purpose] stops \"nested done\" transcript=false held=false",
            "[general-purpose] told \"HELD-BACK debrief please\"",
            "[general-purpose] checkpoint Stop ",
            "[general-purpose] stops \"nested debrief\" transcript=false held=true",
            "spawned agent=false ended=true returned=\"nested debrief\"",
            "checkpoint Stop ",
            "checkpoint SessionEnd complete",
        ]
    );
}

#[test]
fn recognizes_events_of_copilot_in_the_settings_of_claude() {
    let direct = meanings(COPILOT, "copilot-1.0.102.jsonl");
    assert_eq!(meanings(Host::CLAUDE, "copilot-1.0.102.jsonl"), direct);
}

/// A spawn is in the conversation of its spawner, and so are the start and the stop that it leads to.
#[test]
fn an_agent_of_copilot_belongs_to_the_conversation_that_spawned_it() {
    let path = format!("{}/tests/recordings/copilot-1.0.102.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = fs_err::read_to_string(path).unwrap();
    let (mut spawned_in, mut seen) = (Vec::new(), Vec::new());
    for call in text.lines().map(|line| read(COPILOT, line).unwrap()) {
        let conversation = call.conversation.map(|id| id.to_string());
        if let HookEvent::SubagentSpawn(_) = call.event {
            spawned_in.push(conversation);
        } else if matches!(
            call.event,
            HookEvent::SubagentStarted
                | HookEvent::SubagentPrompted { .. }
                | HookEvent::SubagentStopping(_)
        ) {
            seen.push((call.agent.unwrap().id, conversation));
        }
    }
    let [lead, outer] = spawned_in.as_slice() else { panic!("{spawned_in:?}") };
    let outer_id = outer.as_deref().unwrap();
    for (agent, conversation) in seen {
        let spawner = if agent.as_str() == outer_id { lead } else { outer };
        assert_eq!(&conversation, spawner, "{agent}");
    }
}

#[test]
fn gemini_0_61_0() {
    let failed = "failed ls /nonexistent-x: <untrusted_context>";
    let meanings = meanings(Host::GEMINI, "gemini-0.61.0.jsonl");
    let ours: Vec<&str> = meanings.iter().map(String::as_str).filter(|what| *what != "-").collect();
    assert_eq!(
        ours,
        [
            "started Startup",
            failed,
            "passed echo hi",
            "changed /project/new.md",
            "changed /project/new.md",
            "spawn generalist \"CHILD look around\" of agent_name,prompt",
            "read notes.md",
            "ends \"child done\"",
            "finished generalist \"CHILD look around\": \"child done\"",
            "spawn codebase_investigator \"OTHER CHILD\" of agent_name,prompt",
            "ends \"found\"",
            "finished codebase_investigator \"OTHER CHILD\": \"found\"",
            "checkpoint Stop ",
            "checkpoint SessionEnd exit",
        ]
    );
}

/// What our plugin reports.
#[test]
fn opencode_1_18_33() {
    let fields = "description,prompt,subagent_type";
    assert_eq!(
        meanings(OPENCODE, "opencode-1.18.33.jsonl"),
        [
            "started Startup",
            "failed ls /nonexistent-x: ls: cannot access '/nonexistent-x': No such file or directory",
            "passed echo hi",
            "changed /project/new.md",
            &format!("spawn general \"CHILD look around\" of {fields}"),
            "[general] told \"BRIEF\\nCHILD look around\"",
            "[general] read /project/notes.md",
            "[general] stops \"child done\" transcript=false held=false",
            "[general] told \"HELD-BACK debrief please\"",
            "[general] stops \"child debrief\" transcript=false held=true",
            &format!("spawn explore \"OTHER look around\" of {fields}"),
            "[explore] told \"BRIEF\\nOTHER look around\"",
            "[explore] stops \"nothing to say\" transcript=false held=false",
            "[explore] told \"HELD-BACK debrief please\"",
            "[explore] stops \"nothing to say\" transcript=false held=true",
            "checkpoint Stop ",
        ]
    );
}

#[test]
fn qwen_0_24_4() {
    let fields = "description,prompt,run_in_background,subagent_type";
    let meanings = meanings(QWEN, "qwen-0.24.4.jsonl");
    let ours: Vec<&str> = meanings.iter().map(String::as_str).filter(|what| *what != "-").collect();
    assert_eq!(
        ours,
        [
            "started Startup",
            "failed ls /nonexistent-x: Command: ls /nonexistent-x",
            "passed echo hi",
            "changed /project/new.md",
            &format!("spawn general-purpose \"CHILD look around\" of {fields}"),
            "[general-purpose] starts",
            "[] read /project/notes.md",
            "[general-purpose] stops \"child done\" transcript=true held=false",
            "[general-purpose] stops \"child debrief\" transcript=true held=true",
            "checkpoint Stop ",
        ]
    );
}

#[test]
fn gemini_0_58_0() {
    assert_eq!(
        ours(Host::GEMINI, "gemini-0.58.0.jsonl"),
        [
            "started Startup",
            "failed ls /nonexistent-x: <untrusted_context>",
            "passed echo hi",
            "changed new.md",
            "spawn generalist \"CHILD look around\" of agent_name,prompt",
            "read notes.md",
            "ends \"child done\"",
            "finished generalist \"CHILD look around\": \"child done\"",
            "checkpoint Stop ",
            "checkpoint SessionEnd exit",
        ]
    );
}

#[test]
fn opencode_1_18_3() {
    assert_eq!(
        ours(OPENCODE, "opencode-1.18.3.jsonl"),
        [
            "started Startup",
            "failed ls /nonexistent-x: ls: cannot access '/nonexistent-x': No such file or directory",
            "passed echo hi",
            "changed /project/new.md",
            "spawn general \"CHILD look around\" of description,prompt,subagent_type",
            "[general] told \"CHILD look around\"",
            "[general] read /project/notes.md",
            "[general] stops \"child done\" transcript=false held=false",
            "spawned agent=false ended=true returned=\"child done\"",
            "checkpoint Stop ",
        ]
    );
}

/// It does not report that a subagent starts.
#[test]
fn qwen_0_23_0() {
    assert_eq!(
        ours(QWEN, "qwen-0.23.0.jsonl"),
        [
            "started Startup",
            "failed ls /nonexistent-x: Command: ls /nonexistent-x",
            "passed echo hi",
            "changed /project/new.md",
            "spawn general-purpose \"CHILD look around\" of description,prompt,run_in_background,subagent_type",
            "read /project/notes.md",
            "[general-purpose] stops \"child done\" transcript=true held=false",
            "checkpoint Stop ",
        ]
    );
}

#[test]
fn rejects_invalid_events() {
    for text in ["", "[]", "{}", "{\"hook_event_name\": 3}", "{\"hook_event_name\""] {
        for host in [Host::CLAUDE, Host::CODEX, COPILOT, Host::GEMINI, OPENCODE, QWEN] {
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
