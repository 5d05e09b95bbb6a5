//! The real Claude Code and Codex do stories, with a scripted model.

use handover_testkit::{Answer, ModelRequest, ModelServer, RealHost, Script};
use serde_json::json;

use super::Epic;

#[test]
fn claude_does_a_story() {
    let mut epic = Epic::new(&["1-1-a"]);
    let holds =
        |text: &'static str| move |request: &ModelRequest| request.conversation_contains(text);
    let script = Script::new()
        .when(
            holds("You are seeing this code for the first time"),
            Answer::text("REVIEW PASSED: 1-1-a"),
        )
        // It forgets its verdict, and is asked once.
        .when(
            holds("You have ended without a verdict"),
            Answer::text("IMPLEMENTATION COMPLETE: 1-1-a"),
        )
        .when(|request| request.tool_results() > 0, Answer::text("I have written the greeting."))
        .when(
            holds("Implement one story"),
            Answer::tool("Write", json!({"file_path": "hello.txt", "content": "hello\n"})),
        );
    let server = ModelServer::start(script);
    let host = RealHost::claude(&epic.env, &server);
    for (name, value) in &host.vars {
        if name != "PATH" && name != "HOME" {
            epic.env.set(name, value);
        }
    }
    let program = host.program.display().to_string();
    let output = epic.env.run(["run", "1", "--host", "claude", "--agent-command", &program]);
    assert_eq!(output.code, Some(0), "{output}");
    let status = epic.status();
    assert!(status["cost_usd"].as_f64().unwrap() > 0.0, "{status}");
    assert!(status["tokens"].as_u64().unwrap() > 0, "{status}");
    assert!(epic.git(&["show", "handover/epic-1:hello.txt"]).starts_with("hello"));
}

#[test]
fn codex_does_a_story() {
    let mut epic = Epic::new(&["1-1-a"]);
    let script = Script::new()
        .when(
            |request| request.conversation_contains("You are seeing this code for the first time"),
            Answer::text("REVIEW PASSED: 1-1-a"),
        )
        .when(|request| request.tool_results() > 0, Answer::text("IMPLEMENTATION COMPLETE: 1-1-a"))
        .always(Answer::tool("exec_command", json!({"cmd": "echo hello > hello.txt"})));
    let server = ModelServer::start(script);
    let host = RealHost::codex(&epic.env, &server);
    for (name, value) in &host.vars {
        if name != "PATH" && name != "HOME" {
            epic.env.set(name, value);
        }
    }
    let program = host.program.display().to_string();
    let args = [
        "run",
        "1",
        "--host",
        "codex",
        "--agent-command",
        &program,
        "--config",
        "runs.profile=full",
    ];
    let output = epic.env.run(args);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(epic.status()["tokens"].as_u64().unwrap() > 0);
    assert_eq!(epic.git(&["show", "handover/epic-1:hello.txt"]), "hello");
}
