//! What became of what agents received: from their conversations into receipts and totals.

use handover_testkit::{FakeAgent, TestEnv};
use serde_json::{Value, json};

use crate::hooks::{DEBRIEF, answer, prompt_of};
use crate::project;

/// A project with three packages.
fn with_packages() -> TestEnv {
    let env = project();
    for (path, summary) in [
        ("docs/rotation.md", "Tokens rotate every 47 minutes, see max_token_age."),
        ("docs/audit.md", "Every refresh is audited with its trace id."),
        ("docs/backup.md", "Backups are sealed with pgBackRest."),
    ] {
        env.write(path, format!("# Title\n## Summary\n{summary}\n"));
        env.run(["package", "add", path, "--kind", "research", "--priority", "high"]).ok();
    }
    env
}

fn latest(env: &TestEnv) -> String {
    let list = env.run(["receipt", "list", "--json"]).ok().json();
    list["receipts"][0]["id"].as_str().unwrap().to_owned()
}

/// What became of the packages of the latest receipt, by path.
fn uses(env: &TestEnv) -> Value {
    let receipt = env.run(["receipt", "show", &latest(env), "--json"]).ok().json();
    let mut found = json!({});
    for item in receipt["receipt"]["items"].as_array().unwrap() {
        let id = item["id"].as_str().unwrap();
        let package = env.run(["package", "show", id, "--json"]).ok().json();
        found[package["package"]["path"].as_str().unwrap()] = item["use"].clone();
    }
    found
}

#[test]
fn a_subagent_that_stops_shows_what_it_used() {
    let env = with_packages();
    let lead = env.path("c-1.jsonl");
    let input = json!({"prompt": "Refresh tokens", "subagent_type": "general-purpose"});
    let spawned = answer(
        &env,
        "PreToolUse",
        json!({"tool_name": "Agent", "tool_use_id": "t1", "tool_input": input, "transcript_path": lead}),
    );
    let prompt = prompt_of(&spawned).to_owned();
    let agent = json!({"agent_id": "a1", "agent_type": "general-purpose", "transcript_path": lead});
    answer(&env, "SubagentStart", agent.clone());
    assert_eq!(uses(&env)["docs/audit.md"], json!(null), "nobody knows yet");

    let said = format!("max_token_age is set, as it should be.\n\n{DEBRIEF}");
    let line = |kind: &str, content: Value| {
        json!({"type": kind, "uuid": "u", "sessionId": "c-1", "isSidechain": true, "agentId": "a1",
            "message": {"role": kind, "content": content}})
    };
    let read = json!([{"type": "tool_use", "id": "r1", "name": "Read",
        "input": {"file_path": env.path("docs/audit.md")}}]);
    let lines = [
        line("user", json!(prompt)),
        line("assistant", read),
        line("user", json!([{"type": "tool_result", "tool_use_id": "r1", "content": "# Title"}])),
        line("assistant", json!([{"type": "text", "text": said}])),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    env.write("c-1/subagents/agent-a1.jsonl", text);
    let mut stop = agent;
    stop["agent_transcript_path"] = json!(env.path("c-1/subagents/agent-a1.jsonl"));
    stop["last_assistant_message"] = json!(said);
    answer(&env, "SubagentStop", stop);
    let expected = json!({
        "docs/rotation.md": "echoed", "docs/audit.md": "opened", "docs/backup.md": "unused",
    });
    assert_eq!(uses(&env), expected);

    let shown = env.run(["receipt", "show", &latest(&env)]).ok().stdout;
    for part in ["           opened\n", "           echoed\n", "           unused\n"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let used = shown.lines().find_map(|line| line.strip_prefix("Used       ")).unwrap();
    assert!(used.contains(" of ") && used.ends_with(" tokens"), "{used}");
    let stats = env.run(["stats", "--json"]).ok().json()["stats"]["use"].clone();
    assert_eq!((&stats["items"], &stats["used"]), (&json!(3), &json!(2)), "{stats}");
    assert_eq!(stats["by_use"], json!({"unused": 1, "echoed": 1, "opened": 1}));
    assert_eq!(stats["by_kind"]["package"], stats["by_section"]["packages"]);
    assert_eq!(stats["by_role"]["developer"]["used"], 2);
    let (tokens, used) =
        (stats["tokens"].as_u64().unwrap(), stats["used_tokens"].as_u64().unwrap());
    assert!(0 < used && used < tokens, "{stats}");
    let text = env.run(["stats"]).ok().stdout;
    assert!(text.contains(&format!("used {used} of {tokens} tokens")), "{text}");
}

#[test]
fn an_agent_of_ours_shows_what_it_used() {
    let env = with_packages();
    let actions = "print \"docs/backup.md tells how, and max_token_age is 47 minutes\"";
    let command = format!("{} {actions}", FakeAgent::program().display());
    let spawn = ["spawn", "--host", "command", "--agent-command", &command, "--role", "developer"];
    env.run([&spawn[..], &["--task", "Refresh tokens", "--json"]].concat()).ok();
    let expected = json!({
        "docs/rotation.md": "echoed", "docs/audit.md": "unused", "docs/backup.md": "named",
    });
    assert_eq!(uses(&env), expected);
}

#[test]
fn without_a_conversation_nothing_is_said_about_use() {
    let env = with_packages();
    let brief = ["brief", "--role", "developer", "--task", "Look", "--deliver", "--json"];
    let id = env.run(brief).ok().json()["receipt"].as_str().unwrap().to_owned();
    let debrief = ["debrief", "--receipt", &id];
    env.run_with(DEBRIEF, debrief).ok();
    assert_eq!(uses(&env)["docs/rotation.md"], json!(null));
    let stats = env.run(["stats"]).ok().stdout;
    assert!(!stats.contains("were used"), "{stats}");
}
