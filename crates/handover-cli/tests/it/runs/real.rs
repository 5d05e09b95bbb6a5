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
    let output = epic.env.run(["run", "1", "--host", "codex", "--agent-command", &program]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(epic.status()["tokens"].as_u64().unwrap() > 0);
    assert_eq!(epic.git(&["show", "handover/epic-1:hello.txt"]), "hello");
}

/// B2: in the default profile, Claude may run the gates and write its result.
#[test]
fn claude_runs_the_gates_and_writes_its_result_in_the_default_profile() {
    let mut epic = Epic::new(&["1-1-a"]);
    epic.env.write("package.json", r#"{"name":"shop","scripts":{"test":"node --test"}}"#);
    epic.commit_all("npm");
    let script = Script::new()
        .on("You are seeing this code for the first time", Answer::text("REVIEW PASSED: 1-1-a"))
        .when(
            |request| {
                request.tool_results() == 0 && request.conversation_contains("Implement one story")
            },
            Answer::tool("Write", json!({"file_path": "hello.txt", "content": "hello\n"})),
        )
        .when(
            |request| request.tool_results() == 1,
            Answer::tool("Bash", json!({"command": "npm test"})),
        )
        .respond(
            |request| request.tool_results() == 2 && request.conversation_contains("# pass 0"),
            |request| {
                let file = request.between("one JSON object to the file `", "`").unwrap();
                let nonce = request.between("{\"nonce\": \"", "\"").unwrap();
                let result = json!({
                    "nonce": nonce, "story": "1-1-a", "phase": "dev", "verdict": "complete",
                    "summary": "a greeting", "decisions": ["in English"],
                });
                Answer::tool("Write", json!({"file_path": file, "content": result.to_string()}))
            },
        )
        .always(Answer::text("That is all."));
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
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(story.contains("a greeting") && story.contains("in English"), "{story}");
    let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(files.contains("hello.txt") && !files.contains("result"), "{files}");
}

/// In the default profile, the sandbox of Codex lets it run the gates and write its result, and nothing outside.
#[test]
fn codex_runs_the_gates_and_writes_its_result_in_the_default_profile() {
    let mut epic = Epic::new(&["1-1-a"]);
    epic.env.write("go.mod", "module shop\n\ngo 1.19\n");
    epic.env.write("shop.go", "package shop\n\nfunc Total() int { return 3 }\n");
    epic.env.write(
        "shop_test.go",
        "package shop\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) { if Total() != 3 { t.Fail() } }\n",
    );
    epic.commit_all("go");
    let command =
        "echo hello > hello.txt && go test ./... && ! touch ../outside && echo it-is-$((40 + 2))";
    let script = Script::new()
        .on("You are seeing this code for the first time", Answer::text("REVIEW PASSED: 1-1-a"))
        .respond(
            |request| request.tool_results() == 1 && request.conversation_contains("it-is-42"),
            |request| {
                let file = request.between("one JSON object to the file `", "`").unwrap();
                let nonce = request.between("{\"nonce\": \"", "\"").unwrap();
                let result = json!({
                    "nonce": nonce, "story": "1-1-a", "phase": "dev", "verdict": "complete",
                    "summary": "a greeting", "decisions": ["in English"],
                });
                let command = format!("cat > '{file}' <<'END'\n{result}\nEND");
                Answer::tool("exec_command", json!({"cmd": command}))
            },
        )
        .when(
            |request| request.tool_results() == 1,
            Answer::text("IMPLEMENTATION BLOCKED: 1-1-a - the tests do not run"),
        )
        .when(|request| request.tool_results() > 1, Answer::text("That is all."))
        .always(Answer::tool("exec_command", json!({"cmd": command, "yield_time_ms": 120_000})));
    let server = ModelServer::start(script);
    let host = RealHost::codex(&epic.env, &server);
    for (name, value) in &host.vars {
        if name != "PATH" && name != "HOME" {
            epic.env.set(name, value);
        }
    }
    let program = host.program.display().to_string();
    let output = epic.env.run(["run", "1", "--host", "codex", "--agent-command", &program]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(epic.git(&["show", "handover/epic-1:hello.txt"]), "hello");
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(story.contains("a greeting") && story.contains("in English"), "{story}");
}

/// In the default profile, Gemini CLI may run the gates and write its result.
#[test]
fn gemini_runs_the_gates_and_writes_its_result_in_the_default_profile() {
    let mut epic = Epic::new(&["1-1-a"]);
    epic.env.write("package.json", r#"{"name":"shop","scripts":{"test":"node --test"}}"#);
    epic.commit_all("npm");
    let script = Script::new()
        .on("You are seeing this code for the first time", Answer::text("REVIEW PASSED: 1-1-a"))
        .when(
            |request| {
                request.tool_results() == 0 && request.conversation_contains("Implement one story")
            },
            Answer::tool("write_file", json!({"file_path": "hello.txt", "content": "hello\n"})),
        )
        .when(
            |request| request.tool_results() == 1,
            Answer::tool("run_shell_command", json!({"command": "npm test"})),
        )
        .respond(
            |request| request.tool_results() == 2 && request.conversation_contains("pass 0"),
            |request| {
                let file = request.between("one JSON object to the file `", "`").unwrap();
                let nonce = request.between("{\"nonce\": \"", "\"").unwrap();
                let result = json!({
                    "nonce": nonce, "story": "1-1-a", "phase": "dev", "verdict": "complete",
                    "summary": "a greeting", "decisions": ["in English"],
                });
                Answer::tool(
                    "write_file",
                    json!({"file_path": file, "content": result.to_string()}),
                )
            },
        )
        .always(Answer::text("That is all."));
    let server = ModelServer::start(script);
    let host = RealHost::gemini(&epic.env, &server);
    for (name, value) in &host.vars {
        if name != "PATH" && name != "HOME" {
            epic.env.set(name, value);
        }
    }
    let program = host.program.display().to_string();
    let args = ["run", "1", "--host", "gemini", "--agent-command", &program];
    let output = epic.env.run(args.iter().chain(&["--model", "gemini-2.5-pro"]));
    assert_eq!(output.code, Some(0), "{output}");
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(story.contains("a greeting") && story.contains("in English"), "{story}");
    let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(files.contains("hello.txt") && !files.contains("result"), "{files}");
}

/// A model that plays every part of a run: `write` is the tool call that creates a file.
fn plays_every_part(write: fn(&str) -> Answer) -> Script {
    Script::new().respond(
        |request| request.conversation_contains("### How to end"),
        move |request| {
            let between = |start: &str| request.between(start, "\"");
            let id = between("\"story\": \"").unwrap();
            let phase = between("\"phase\": \"").unwrap();
            let nonce = between("{\"nonce\": \"").unwrap();
            let is_team = request.conversation_contains("<status code>");
            let result = |more: serde_json::Value| {
                let mut all = json!({"nonce": nonce, "story": id, "phase": phase, "verdict": "complete", "summary": "fine"});
                for (key, value) in more.as_object().unwrap() {
                    all[key] = value.clone();
                }
                Answer::text(&format!("Here it is.\n\n```json\n{all}\n```\n"))
            };
            match phase.as_str() {
                // One developer needs advice, and one story is not finished until acceptance says what is missing.
                "dev" if id == "1-2-b" && !request.conversation_contains("choose a free port") => {
                    Answer::text(&format!("IMPLEMENTATION BLOCKED: {id} - the port is taken"))
                }
                "dev" if request.tool_results() == 0 => write(&format!("{id}.txt")),
                "fix" if request.tool_results() == 0 => write("missing.txt"),
                "fix" => Answer::text(&format!("IMPLEMENTATION COMPLETE: {id}")),
                "analysis" => result(json!({"verdict": "retry", "analysis": {
                    "root_cause": "another server uses the port", "class": "tooling",
                    "remediation": ["choose a free port"],
                }})),
                "dev" if is_team => Answer::text(&format!("READY_FOR_REVIEW: {id} - done")),
                "dev" => Answer::text(&format!("IMPLEMENTATION COMPLETE: {id}")),
                "review" if is_team => Answer::text(&format!("APPROVED: {id} - good")),
                "review" => result(json!({"verdict": "passed"})),
                "kickoff" => result(json!({"insights": {"risks": ["mind the gap"]}})),
                "uat" => result(json!({"scenarios": [{
                    "id": "S1", "criterion": "1-1-a AC1", "kind": "auto", "argv": ["cat", "missing.txt"],
                    "expect": {"text": "hello"},
                }]})),
                "retro" if is_team => Answer::text(&format!("BAZINGA: {id} - all done")),
                "retro" => result(json!({"retro": {"summary": "It went well.", "gotchas": ["mind the gap"]}})),
                other => panic!("nobody scripted {other}"),
            }
        },
    )
}

fn claude_writes(file: &str) -> Answer {
    Answer::tool("Write", json!({"file_path": file, "content": "hello\n"}))
}

fn codex_writes(file: &str) -> Answer {
    Answer::tool("exec_command", json!({"cmd": format!("echo hello > {file}")}))
}

/// Two stories at once, with parties, failure analysis, acceptance that must be healed, and a retrospective; then a chain
/// of two epics by a team.
fn does_everything(
    name: &str,
    write: fn(&str) -> Answer,
    host: fn(&handover_testkit::TestEnv, &ModelServer) -> RealHost,
) {
    let mut epic = Epic::new(&["1-1-a", "1-2-b"]);
    epic.env.write("docs/epics/epic-2.md", "# Epic 2: More\n\nDepends on: Epic 1\n");
    epic.env.write("docs/stories/2-1-c.md", super::story("2-1-c"));
    epic.commit_all("epics");
    let server = ModelServer::start(plays_every_part(write));
    let host = host(&epic.env, &server);
    for (variable, value) in &host.vars {
        if variable != "PATH" && variable != "HOME" {
            epic.env.set(variable, value);
        }
    }
    let program = host.program.display().to_string();
    let common = ["--host", name, "--agent-command", &program];
    let all = [
        &["run", "1"],
        &common[..],
        &["--parallel", "2", "--uat", "quick", "--heal", "1", "--config", "uat.allow=[\"cat\"]"],
        &["--party-kickoff", "--party-review", "--party-failure", "--party-retro"],
        &["--party-agents", "winston,murat"],
    ]
    .concat();
    let output = epic.env.run(all);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(epic.states(), ["done", "done"], "{output}");
    assert_eq!(epic.status()["uat"]["passed"], 1, "{output}");
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-2-b.md"]);
    for part in ["mind the gap", "another server uses the port", "choose a free port"] {
        assert!(story.contains(part), "{part}: {story}");
    }
    assert_eq!(epic.git(&["show", "handover/epic-1:missing.txt"]), "hello", "{output}");
    let handoff = epic.git(&["show", "handover/epic-1:docs/handoffs/epic-1-handoff.md"]);
    assert!(handoff.contains("mind the gap"), "{handoff}");
    let output = epic.env.run([&["chain", "1", "2", "--pipeline", "team"], &common[..]].concat());
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(epic.git(&["show", "handover/epic-2:2-1-c.txt"]), "hello");
}

#[test]
fn claude_does_everything_that_runs_have() {
    does_everything("claude", claude_writes, RealHost::claude);
}

#[test]
fn codex_does_everything_that_runs_have() {
    does_everything("codex", codex_writes, RealHost::codex);
}

/// Gemini CLI would run the project's hooks only in folders that it trusts.
#[test]
fn a_run_says_that_subagents_get_no_briefs_and_briefs_them_with_hooks_of_the_user() {
    for (scope, is_briefed) in [("project", false), ("user", true)] {
        let mut epic = Epic::new(&["1-1-a"]);
        let is_child = |request: &ModelRequest| {
            request.conversation_contains("CHILD:")
                && !request.conversation_contains("Implement one story")
        };
        let input = json!({"agent_name": "generalist", "prompt": "CHILD: look around"});
        let end = json!({"result": {"response": "Nothing there."}});
        let script = Script::new()
            .when(is_child, Answer::tool("complete_task", end))
            .on("You are seeing this code for the first time", Answer::text("REVIEW PASSED: 1-1-a"))
            .when(|request| request.tool_results() == 0, Answer::tool("invoke_agent", input))
            .when(
                |request| request.tool_results() == 1,
                Answer::tool("write_file", json!({"file_path": "hello.txt", "content": "hello\n"})),
            )
            .always(Answer::text("IMPLEMENTATION COMPLETE: 1-1-a"));
        let server = ModelServer::start(script);
        let host = RealHost::gemini(&epic.env, &server);
        for (name, value) in &host.vars {
            if !["PATH", "HOME", "GEMINI_CLI_TRUST_WORKSPACE"].contains(&name.as_str()) {
                epic.env.set(name, value);
            }
        }
        epic.env.run(["host", "install", "gemini", "--scope", scope]).ok();
        if scope == "project" {
            epic.commit_all("hooks");
        }
        let program = host.program.display().to_string();
        let args = ["run", "1", "--host", "gemini", "--agent-command", &program];
        let more = ["--model", "gemini-2.5-pro", "--config", "runs.profile=\"full\""];
        let output = epic.env.run(args.iter().chain(&more));
        assert_eq!(output.code, Some(0), "{output}");
        assert_eq!(output.stderr.contains("subagents get no briefs here"), !is_briefed, "{output}");
        let requests = server.requests();
        let child = requests.iter().find(|request| is_child(request)).expect("no subagent");
        assert_eq!(child.contains("handover:receipt"), is_briefed, "{scope}: {child:?}");
    }
}
