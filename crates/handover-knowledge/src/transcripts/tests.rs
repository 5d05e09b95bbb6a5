//! Every format, as the real programs wrote it; reduced by hand, with made-up content.

use std::path::Path;

use super::*;
use crate::testing::{Home, Tables, golden};
use crate::{Homes, SourceContext};

const ASKED: &str = "Use WAL mode, never DELETE, for the settings database";
const CONCLUDED: &str = "I decided on WAL mode for the settings database, because two processes write to it. Changed src/db.rs.";

/// What was said, without what programs add.
fn said(conversation: &Conversation) -> Vec<(Role, &str)> {
    let spoken = conversation.messages.iter().filter(|message| !message.text.starts_with('<'));
    let spoken = spoken.filter(|message| !message.text.is_empty());
    spoken.map(|message| (message.role, message.text.as_str())).collect()
}

fn check(conversation: &Conversation) {
    let said = said(conversation);
    let first = said.first().unwrap();
    assert_eq!((first.0, first.1.trim_matches('"')), (Role::Person, ASKED));
    assert_eq!(*said.last().unwrap(), (Role::Assistant, CONCLUDED));
    let tools: Vec<&ToolUse> = conversation.messages.iter().flat_map(|one| &one.tools).collect();
    assert_eq!(tools.len(), 1, "{tools:?}");
    assert!(tools[0].input.contains("cat src/db.rs"), "{tools:?}");
    let results: Vec<&Message> = conversation
        .messages
        .iter()
        .filter(|message| message.role == Role::Tool { failed: false })
        .collect();
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0].id, tools[0].id);
    assert!(results[0].text.contains("fn main(){}"));
    assert_eq!(conversation.damaged, 0);
    for message in &conversation.messages {
        assert!(message.time.unwrap().to_string().starts_with("2026-11-17T18:"), "{message:?}");
    }
}

#[test]
fn every_program_is_recognized_and_read() {
    for (file, host, version) in [
        ("claude-2.1.197.jsonl", "claude", Some("2.1.197")),
        ("codex-0.166.0.jsonl", "codex", Some("0.166.0")),
        ("gemini-0.61.0.jsonl", "gemini", None),
        ("copilot-1.0.102.jsonl", "copilot", Some("1.0.102")),
        ("qwen-0.24.4.jsonl", "qwen", Some("0.24.4")),
    ] {
        let (found, conversation) = read_file(&golden(file)).unwrap();
        assert_eq!(found.as_str(), host);
        assert_eq!(conversation.version.as_deref(), version, "{file}");
        assert!(!conversation.is_subagent);
        check(&conversation);
    }
}

/// Puts the transcripts where the programs keep them.
fn homes() -> (Home, Homes) {
    let home = Home::new();
    home.put("claude-2.1.197.jsonl", ".claude/projects/-home-ada-settings/1627ef0f.jsonl");
    home.put(
        "codex-0.166.0.jsonl",
        ".codex/sessions/2026/11/17/rollout-2026-11-17T18-29-42-01a1eac5.jsonl",
    );
    home.put(
        "gemini-0.61.0.jsonl",
        ".gemini/tmp/settings/chats/session-2026-11-17T18-29-bda06754.jsonl",
    );
    home.write(".gemini/tmp/settings/.project_root", "/home/ada/settings");
    home.put("copilot-1.0.102.jsonl", ".copilot/session-state/4710ca8c/events.jsonl");
    home.put("qwen-0.24.4.jsonl", ".qwen/projects/-home-ada-settings/chats/c27cb1ee.jsonl");
    home.put("opencode-1.18.33.json", ".local/share/opencode/opencode.db");
    let homes = home.homes();
    (home, homes)
}

fn found(homes: &Homes, checkouts: &[PathBuf]) -> Vec<Transcript> {
    let context = SourceContext {
        root: Path::new("/home/ada/settings"),
        git: None,
        checkouts,
        homes,
        paths: &[],
        since: None,
        tables: Some(&Tables),
        stop: &|| false,
    };
    let (found, skipped) = find(&context);
    assert_eq!(skipped, []);
    found
}

#[test]
fn conversations_are_found_where_the_programs_keep_them() {
    let (_home, homes) = homes();
    let found = found(&homes, &["/home/ada/settings".into()]);
    let names: Vec<String> = found.iter().map(|one| format!("{}:{}", one.host, one.id)).collect();
    assert_eq!(
        names,
        [
            "qwen:c27cb1ee",
            "claude:1627ef0f",
            "codex:01a1eac5",
            "gemini:session-2026-11-17T18-29-bda06754",
            "copilot:4710ca8c",
            "opencode:ses_e1539ffc3ffe8A6HOjCn9s38GL",
        ]
    );
    for transcript in &found {
        let conversation = read(transcript, Some(&Tables)).unwrap();
        assert_eq!(conversation.id, transcript.id);
        if transcript.host != Host::GEMINI {
            assert_eq!(conversation.folder.as_deref(), Some(Path::new("/home/ada/settings")));
        }
        check(&conversation);
    }
}

#[test]
fn conversations_of_other_projects_are_not() {
    let (_home, homes) = homes();
    for other in ["/home/ada/set", "/home/ada/settings/deeper", "/home/ada/settings-2"] {
        assert_eq!(found(&homes, &[other.into()]), []);
    }
    assert_eq!(found(&homes, &["/home/ada/settings-2".into(), "/home/ada".into()]).len(), 6);
}

#[test]
fn folders_that_look_alike_are_distinguished_by_what_is_inside() {
    let home = Home::new();
    // `/home/ada/settings/old` and `/home/ada/settings-old` have the same name there.
    home.put("claude-2.1.197.jsonl", ".claude/projects/-home-ada-settings-old/1.jsonl");
    let text = fs_err::read_to_string(golden("claude-2.1.197.jsonl")).unwrap();
    let other = text.replace("/home/ada/settings", "/home/ada/settings-old");
    home.write(".claude/projects/-home-ada-settings-old/2.jsonl", &other);
    let ids = |checkout: &str| {
        let found = found(&home.homes(), &[checkout.into()]);
        found.into_iter().map(|one| one.id).collect::<Vec<_>>()
    };
    assert_eq!(ids("/home/ada/settings"), ["1"]);
    assert_eq!(ids("/home/ada/settings-old"), ["2"]);
}

#[test]
fn subagents_of_claude_have_ids_of_their_own() {
    let home = Home::new();
    let path = ".claude/projects/-home-ada-settings/1627ef0f/subagents/agent-a1.jsonl";
    let text = fs_err::read_to_string(golden("claude-2.1.197.jsonl")).unwrap();
    home.write(path, &text.replace("\"isSidechain\":false", "\"isSidechain\":true"));
    let found = found(&home.homes(), &["/home/ada/settings".into()]);
    assert_eq!(found[0].id, "1627ef0f/agent-a1");
    let conversation = read(&found[0], None).unwrap();
    assert!(conversation.is_subagent);
    check(&conversation);
}

#[test]
fn claude_marks_what_nobody_said() {
    let home = Home::new();
    let line = |kind: &str, flag: &str, text: &str| {
        format!(
            r#"{{"type":"{kind}",{flag}"uuid":"u","sessionId":"s","cwd":"/p","timestamp":"2026-11-17T18:29:42Z","message":{{"role":"{kind}","content":"{text}"}}}}"#
        )
    };
    let text = [
        line("user", "", "said"),
        line("user", r#""isMeta":true,"#, "meta"),
        line("user", r#""isCompactSummary":true,"#, "summary"),
        line("user", r#""isSidechain":true,"#, "to a subagent"),
        line("assistant", r#""isApiErrorMessage":true,"#, "Overloaded"),
        "{\"cut off".to_owned(),
        r#"{"type":"user","uuid":"u","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"no such file"}]}]}}"#.to_owned(),
        r#"{"type":"assistant","uuid":"v","message":{"content":"cut \ud83d"}}"#.to_owned(),
    ];
    home.write("x.jsonl", &text.join("\n"));
    let (_, conversation) = read_file(&home.path("x.jsonl")).unwrap();
    let said: Vec<_> =
        conversation.messages.iter().map(|one| (one.role, one.text.as_str())).collect();
    assert_eq!(said[..2], [(Role::Person, "said"), (Role::Tool { failed: true }, "no such file")]);
    assert!(said[2].1.starts_with("cut "), "{said:?}");
    assert_eq!(conversation.damaged, 1);
}

#[test]
fn codex_says_how_commands_ended_and_who_is_a_subagent() {
    let home = Home::new();
    let output = |id: &str, output: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"function_call_output","call_id":"{id}","output":{output}}}}}"#
        )
    };
    let text = [
        r#"{"type":"session_meta","payload":{"cwd":"/p","source":{"subagent":{"thread_spawn":{}}}}}"#.to_owned(),
        output("a", r#""Process exited with code 101\nOutput:\nerror""#),
        output("b", r#""{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}""#),
        output("c", r#"{"content":"Exit code: 0\nfine","success":true}"#),
        r#"{"type":"response_item","payload":{"type":"local_shell_call","call_id":"d","action":{"command":["ls"]}}}"#.to_owned(),
    ];
    home.write("x.jsonl", &text.join("\n"));
    let (_, conversation) = read_file(&home.path("x.jsonl")).unwrap();
    assert!(conversation.is_subagent);
    let roles: Vec<_> =
        conversation.messages.iter().map(|one| (one.id.as_str(), one.role)).collect();
    assert_eq!(
        roles,
        [
            ("a", Role::Tool { failed: true }),
            ("b", Role::Tool { failed: true }),
            ("c", Role::Tool { failed: false }),
            ("3", Role::Assistant),
        ]
    );
    assert_eq!(conversation.messages[3].tools[0].name, "local_shell");
}

#[test]
fn gemini_rewinds_and_reads_old_conversations() {
    let home = Home::new();
    let message = |id: &str, kind: &str, text: &str| {
        format!(
            r#"{{"id":"{id}","type":"{kind}","timestamp":"2026-11-17T18:29:42Z","content":"{text}"}}"#
        )
    };
    let first = r#"{"sessionId":"s","projectHash":"h","kind":"subagent"}"#.to_owned();
    let lines = [
        first,
        message("1", "user", "one"),
        message("2", "gemini", "two"),
        message("3", "user", "three"),
        r#"{"$rewindTo":"2"}"#.to_owned(),
        message("4", "user", "four"),
        message("4", "user", "four again"),
    ];
    home.write("x/session-1.jsonl", &lines.join("\n"));
    let texts = |path: &str| {
        let (_, conversation) = read_file(&home.path(path)).unwrap();
        let texts = conversation.messages.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
        (conversation.is_subagent, texts)
    };
    assert_eq!(texts("x/session-1.jsonl"), (true, vec!["one".to_owned(), "four again".to_owned()]));
    let messages = [message("1", "user", "one"), message("2", "gemini", "two")].join(",");
    home.write(
        "x/session-2.json",
        &format!(r#"{{"sessionId":"s","projectHash":"h","messages":[{messages}]}}"#),
    );
    assert_eq!(texts("x/session-2.json"), (false, vec!["one".to_owned(), "two".to_owned()]));
}

#[test]
fn opencode_kept_files_before() {
    let home = Home::new();
    let storage = ".local/share/opencode/storage";
    let session = r#"{"id":"ses_1","projectID":"p","directory":"/home/ada/settings","version":"0.9","parentID":"ses_0"}"#;
    home.write(&format!("{storage}/session/p/ses_1.json"), session);
    home.write(
        &format!("{storage}/message/ses_1/msg_1.json"),
        r#"{"role":"user","time":{"created":1794940207541}}"#,
    );
    home.write(&format!("{storage}/part/msg_1/prt_1.json"), r#"{"type":"text","text":"one"}"#);
    home.write(
        &format!("{storage}/part/msg_1/prt_2.json"),
        r#"{"type":"text","synthetic":true,"text":"a file"}"#,
    );
    home.write(
        &format!("{storage}/message/ses_1/msg_2.json"),
        r#"{"role":"assistant","time":{"created":1794940207542}}"#,
    );
    let failed = r#"{"type":"tool","tool":"bash","callID":"c","state":{"status":"error","input":{},"error":"no"}}"#;
    home.write(&format!("{storage}/part/msg_2/prt_3.json"), failed);
    let found = found(&home.homes(), &["/home/ada/settings".into()]);
    let conversation = read(&found[0], None).unwrap();
    assert!(conversation.is_subagent);
    let said: Vec<_> =
        conversation.messages.iter().map(|one| (one.role, one.text.as_str())).collect();
    assert_eq!(
        said,
        [(Role::Person, "one"), (Role::Assistant, ""), (Role::Tool { failed: true }, "no")]
    );
}

#[test]
fn an_endless_conversation_is_bounded() {
    let home = Home::new();
    let text = "x".repeat(100_000);
    let line =
        format!(r#"{{"type":"user","uuid":"u","sessionId":"s","message":{{"content":"{text}"}}}}"#);
    home.write("x.jsonl", &format!("{line}\n").repeat(600));
    let (_, conversation) = read_file(&home.path("x.jsonl")).unwrap();
    assert_eq!(conversation.messages.len(), 600);
    let kept: usize = conversation.messages.iter().map(|message| message.text.len()).sum();
    assert!((24 << 20..30 << 20).contains(&kept), "{kept}");
}

#[test]
fn foreign_files_are_counted_and_links_are_not_followed() {
    let home = Home::new();
    home.write("t/a.jsonl", "not json");
    home.write("t/b.json", "{}");
    home.write("t/c.txt", "text");
    home.put("claude-2.1.197.jsonl", "t/d/e.jsonl");
    std::os::unix::fs::symlink("/", home.path("t/root")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", home.path("t/zero.jsonl")).unwrap();
    let (found, skipped) = in_folders(&[home.path("t")], &|| false);
    assert_eq!(found.len(), 1);
    assert_eq!(skipped.len(), 2);
    assert_eq!(read_file(&home.path("t/zero.jsonl")), Err(SkipReason::Foreign));
}

#[test]
fn what_an_agent_was_given_and_did_is_its_trace() {
    use handover_model::TraceStep::{Called, Given, Said, Shown};
    for file in ["claude-2.1.197.jsonl", "qwen-0.24.4.jsonl"] {
        let trace = read_file(&golden(file)).unwrap().1.trace();
        let steps = trace.steps();
        let called = steps.iter().filter_map(|step| match step {
            Called(call) => Some(call),
            Given(_) | Said(_) | Shown { .. } => None,
        });
        let calls: Vec<_> = called.collect();
        assert!(matches!(&steps[0], Given(text) if text == ASKED), "{file}: {steps:?}");
        assert!(matches!(steps.last(), Some(Said(text)) if text == CONCLUDED), "{file}");
        assert_eq!(calls.len(), 1, "{file}");
        let shown = |step: &&handover_model::TraceStep| matches!(step, Shown { call, failed: false, .. } if *call == calls[0].id);
        assert_eq!(steps.iter().filter(shown).count(), 1, "{file}");
    }
}

#[test]
fn a_subagent_of_copilot_is_read_from_the_conversation_that_it_shares() {
    let home = Home::new();
    let events = concat!(
        r#"{"type":"session.start","data":{"context":{"cwd":"/p"}}}"#,
        "\n",
        r#"{"type":"user.message","data":{"content":"lead"}}"#,
        "\n",
        r#"{"type":"user.message","agentId":"a1","data":{"content":"task","source":"agent-lead"}}"#,
        "\n",
        r#"{"type":"assistant.message","agentId":"a1","data":{"content":"found","parentToolCallId":"t1"}}"#,
        "\n",
        r#"{"type":"assistant.message","agentId":"a2","data":{"content":"other","parentToolCallId":"t2"}}"#,
        "\n",
        r#"{"type":"assistant.message","data":{"content":"done"}}"#,
        "\n",
    );
    home.write("s/events.jsonl", events);
    let path = home.path("s/events.jsonl");
    let said = |conversation: &Conversation| -> Vec<String> {
        conversation.messages.iter().map(|message| message.text.clone()).collect()
    };
    assert_eq!(said(&read_subagent(&path, "a1").unwrap()), ["task", "found"]);
    assert_eq!(said(&read_file(&path).unwrap().1), ["lead", "done"]);
}
