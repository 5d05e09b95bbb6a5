//! Values are kept as they were written, and input that no parser likes is answered all the same.

use std::process::Stdio;

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::mcp::{Client, Generation};
use crate::{project, shim};

#[test]
fn group_ids_of_front_matter_are_text() {
    let env = project();
    for group in ["1.10", "010", "no", "1e3", "0x1F", "1_000"] {
        let name = format!("docs/{group}.md");
        env.write(&name, format!("---\ntype: research\ngroup_id: {group}\nsummary: y\n---\n# A\n"));
        let added = env.run(["package", "add", &name, "--json"]).ok().json();
        assert_eq!(added["package"]["group"], group, "{added}");
        assert_eq!(added["package"]["summary"], "y", "{added}");
    }
}

#[test]
fn scalars_of_a_debrief_are_text() {
    let env = project();
    let receipt = brief(&env);
    let block = "```handover\nverdict: complete\nsummary: y\nreasoning:\n  decisions: 1.10\n```\n";
    let debrief = env.run_with(block, ["debrief", "--receipt", &receipt, "--json"]).ok().json();
    assert_eq!(debrief["debrief"]["summary"], "y", "{debrief}");
    let kept = env.run(["reasoning", "list", "--phase", "decisions", "--json"]).ok().json();
    assert_eq!(kept["reasoning"][0]["content"], "1.10", "{kept}");
}

/// A delivered brief; its receipt.
fn brief(env: &TestEnv) -> String {
    let args = ["brief", "--role", "developer", "--task", "x", "--json"];
    let brief = env.run(args).ok().json();
    brief["receipt"].as_str().unwrap().to_owned()
}

#[test]
fn an_example_of_a_block_is_no_debrief() {
    let env = project();
    let block = "```handover\nverdict: complete\nsummary: All of it.\n```";
    let indented = block.replace('\n', "\n    ");
    for text in [
        format!("It should end like this:\n\n    {indented}\n\nbut I could not do it."),
        format!("The form:\n\n````markdown\n{block}\n````\n"),
        format!("They wrote:\n\n> {}\n", block.replace('\n', "\n> ")),
    ] {
        let receipt = brief(&env);
        let output = env.run_with(&text, ["debrief", "--receipt", &receipt, "--json"]);
        let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        assert!(answer["debrief"]["verdict"].is_null(), "{text}\n{output}");
    }
}

/// Half of an emoji, as JavaScript cuts it.
const HALF: &str = "\\ud83d";

#[test]
fn a_hook_with_half_a_character_gets_its_brief() {
    let env = project();
    let event = json!({
        "session_id": "c-1", "cwd": env.path(""), "hook_event_name": "PreToolUse", "tool_name": "Agent",
        "tool_input": {"description": "d", "prompt": "Fix HALF it", "subagent_type": "general-purpose"},
    });
    let event = event.to_string().replace("HALF", HALF);
    let output = env.run_with(event, ["hook", "claude"]).ok();
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    let prompt = answer["hookSpecificOutput"]["updatedInput"]["prompt"].as_str().unwrap();
    assert!(prompt.contains("handover:receipt") && prompt.contains("Fix \u{fffd} it"), "{prompt}");
    let receipts = env.run(["receipt", "list", "--json"]).ok().json();
    assert_eq!(receipts["receipts"].as_array().unwrap().len(), 1);
}

#[test]
fn mcp_answers_half_a_character_and_too_deep_a_request() {
    let env = project();
    let mut client = Client::new(&env, Generation::Handshake);
    let call = json!({"jsonrpc": "2.0", "id": 70, "method": "tools/call", "params": {
        "name": "search", "arguments": {"query": "HALF tokens"},
    }});
    client.send_raw(&call.to_string().replace("HALF", HALF));
    let answer = client.answer(70);
    assert!(answer["result"].is_object() || answer["error"].is_object(), "{answer}");
    let deep = format!("{}{}", "[".repeat(3_000), "]".repeat(3_000));
    client.send_raw(&format!(
        r#"{{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{{"name":"x","arguments":{deep}}}}}"#
    ));
    assert_eq!(client.answer(71)["error"]["code"], -32700);
    // The server is still there.
    client.send_raw(r#"{"jsonrpc":"2.0","id":72,"method":"tools/list"}"#);
    assert!(client.answer(72)["result"]["tools"].is_array());
}

/// What is shown of a text of nothing but one letter: at most 200 in one piece, and in a message and its hint.
#[track_caller]
fn assert_quotes_little(shown: &str, letter: char, of: &str) {
    let longest = shown.split(|c| c != letter).map(str::len).max().unwrap_or_default();
    let all = shown.matches(letter).count();
    let head: String = shown.chars().take(500).collect();
    assert!(longest <= 200 && all <= 500, "{of}: {longest} at once, {all} in all: {head}");
    assert!(shown.chars().count() < 1_500, "{of}: {head}");
}

#[test]
fn errors_quote_little_of_long_input() {
    let env = project();
    env.run(["brief", "--role", "developer", "--task", "work"]).ok();
    let body = "x".repeat(2_000_000);
    // In one piece, just longer than what is kept, and in words.
    for long in ["x".repeat(100_000), "x".repeat(450), "x ".repeat(10_000)] {
        for (stdin, args) in [
            ("", vec!["session", "show", &long]),
            ("", vec!["session", "new", &long]),
            ("", vec!["package", "add", "a.md", "--kind", &long]),
            ("", vec!["package", "add", &long, "--kind", "research"]),
            ("", vec!["receipt", "show", &long]),
            ("", vec!["brief", "--role", &long, "--task", "x"]),
            ("", vec!["--config", &long, "session", "list"]),
            ("", vec!["why", &long]),
            ("", vec!["run", &long]),
            ("", vec![long.as_str()]),
            (&body, vec!["event", "log", "note"]),
            (&body, vec!["skill-output", "save", "lint"]),
        ] {
            for json in [false, true] {
                let name = args.iter().copied().find(|arg| arg.len() < 20).unwrap_or_default();
                let args = args.iter().copied().chain(json.then_some("--json"));
                let output = env.run_with(stdin, args);
                assert_ne!(output.code, Some(0));
                assert_quotes_little(&format!("{}{}", output.stdout, output.stderr), 'x', name);
            }
        }
    }
    // Every argument of every command.
    let long = "x".repeat(100_000);
    for line in crate::planted::IN_ARGUMENTS {
        let args = line.split(' ').map(|word| word.replace('@', &long));
        let output = env.run_with("{}", args);
        let answer = if output.code == Some(0) { "" } else { &output.stdout };
        assert_quotes_little(&format!("{answer}{}", output.stderr), 'x', line);
    }
}

#[test]
fn half_a_secret_is_not_quoted() {
    let env = project();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    for (before, after) in [(80, 5_000), (95, 5_000), (5_000, 95), (5_000, 80), (190, 5_000)] {
        let name = format!("{}/{token}/{}", "x".repeat(before), "x".repeat(after));
        for args in
            [["session", "show", &name], ["package", "show", &name], ["search", "--group", &name]]
        {
            let output = env.run(args);
            let shown = format!("{}{}", output.stdout, output.stderr);
            assert!(
                !shown.contains(&token[..8]) && !shown.contains(&token[32..]),
                "{before}: {shown}"
            );
        }
    }
}

/// What an agent reads when it passed something wrong to a tool.
#[test]
fn mcp_errors_quote_little_of_long_input() {
    let env = project();
    let long = "x".repeat(20_000);
    let mut client = Client::new(&env, Generation::Handshake);
    for (tool, arguments) in [
        (long.as_str(), json!({})),
        ("brief", json!({"role": &long})),
        ("brief", json!({"role": "developer", "session": &long})),
        ("read_package", json!({"id": &long})),
        ("debrief", json!({"receipt": &long, "text": "Done."})),
    ] {
        let answer = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_quotes_little(&answer.to_string(), 'x', tool.get(..20).unwrap_or(tool));
    }
}

/// The real program under a clock that is wrong.
#[test]
fn a_clock_before_1970_is_no_reason_to_fail() {
    let env = project();
    let library = shim(&env, CLOCK);
    let run = |args: &[&str]| {
        let mut command = env.command();
        command.env("LD_PRELOAD", &library).args(args);
        let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        env.output(output)
    };
    run(&["session", "new"]).ok();
    run(&["brief", "--role", "developer", "--task", "x", "--session", "s1"]).ok();
    run(&["session", "list", "--json"]).ok();
    let log = ["event", "log", "note", "--session", "s1"];
    let mut command = env.command();
    command.env("LD_PRELOAD", &library).args(log).stdin(Stdio::null());
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(!env.output(output).stderr.contains("panicked"));
}

const CLOCK: &str = "
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t) {
    int result = (int) syscall(SYS_clock_gettime, id, t);
    if (result == 0 && id == CLOCK_REALTIME) t->tv_sec = -1000000;
    return result;
}
";
