//! The official programs as clients: the inspector, the conformance suite, Claude Code.
//!
//! `scripts/mcp-clients` and `scripts/hosts` install the pinned versions. A missing program fails the
//! test; it never skips.

use std::process::Output;
use std::sync::Arc;

use handover_testkit::{Answer, ModelServer, RealHost, Script, TestEnv, mcp_client};
use serde_json::{Value, json};

use super::{Client, Generation};
use crate::project;

/// What the inspector makes of one request.
fn inspect(env: &TestEnv, era: &str, args: &[&str]) -> Value {
    let output = mcp_client("inspector/clients/launcher/build/index.js", env.folder())
        .current_dir(env.path(""))
        .args(["--cli", "--protocol-era", era, crate::handover(), "mcp", "--method"])
        .args(args)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?} {era}: {stderr}");
    // Complaints about schemas come here.
    assert_eq!(stderr, "", "{args:?} {era}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// It checks every structured answer against the schema of its tool.
#[test]
fn inspector_accepts_everything() {
    for era in ["legacy", "modern"] {
        let env = project();
        let inspect = |args: &[&str]| inspect(&env, era, args);
        let call = |tool: &str, args: &[&str]| {
            let arguments = args.iter().flat_map(|pair| ["--tool-arg", pair]);
            let all: Vec<&str> =
                ["tools/call", "--tool-name", tool].into_iter().chain(arguments).collect();
            let result = inspect(&all);
            assert_eq!(result["isError"], false, "{tool}: {result}");
            result["structuredContent"].clone()
        };
        let tools = inspect(&["tools/list", "--strict"]);
        assert_eq!(tools["tools"].as_array().map(Vec::len), Some(11));
        let saved =
            call("save_package", &["text=# OAuth\nTen minutes.", "kind=research", "group=P1"]);
        assert_eq!(saved["id"], 1);
        assert_eq!(call("search", &["query=oauth"])["results"][0]["id"], 1);
        assert_eq!(call("read_package", &["id=1"])["text"], "# OAuth\nTen minutes.\n");
        call("record_reasoning", &["role=developer", "phase=decisions", "content=Rotate."]);
        call("report_error", &["message=boom", "solution=do not"]);
        call("brief", &["role=developer", "group=P1"]);
        let packages = r#"packages=[{"text":"Over.","kind":"handoff"}]"#;
        call("debrief", &["role=developer", "verdict=complete", "summary=All of it.", packages]);
        assert_eq!(call("status", &[])["decisions"][0]["content"], "Rotate.");
        let listed = inspect(&["resources/list"]);
        assert_eq!(listed["resources"][0]["uri"], "handover://package/2");
        let read = inspect(&["resources/read", "--uri", "handover://package/1"]);
        assert_eq!(read["contents"][0]["text"], "# OAuth\nTen minutes.\n");
        assert_eq!(
            inspect(&["resources/templates/list"])["resourceTemplates"].as_array().map(Vec::len),
            Some(2)
        );
        assert_eq!(inspect(&["prompts/list"])["prompts"][0]["name"], "brief");
        let prompt =
            inspect(&["prompts/get", "--prompt-name", "brief", "--prompt-args", "role=qa_expert"]);
        assert_eq!(prompt["messages"][0]["role"], "user");
    }
}

/// The suite talks HTTP alone, so a bridge of a few lines stands between it and standard input.
fn conformance(generation: Generation, scenario: &str) -> Output {
    let env = project();
    env.write("docs/a.md", "# A\ntext\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    let mut client = Client::silent(env.command().arg("mcp"), generation);
    let http = Arc::new(tiny_http::Server::http("127.0.0.1:0").unwrap());
    let url = format!("http://{}/mcp", http.server_addr());
    let listener = Arc::clone(&http);
    let bridge = std::thread::spawn(move || {
        let header: tiny_http::Header = "Content-Type: application/json".parse().unwrap();
        for mut request in listener.incoming_requests() {
            let mut body = String::new();
            let _ = request.as_reader().read_to_string(&mut body);
            let Ok(message) = serde_json::from_str::<Value>(&body) else {
                let _ = request.respond(tiny_http::Response::empty(405));
                continue;
            };
            client.send(&message);
            let _ = match message.get("id") {
                None => request.respond(tiny_http::Response::empty(202)),
                Some(_) => {
                    let answer = client.line().to_string();
                    request.respond(
                        tiny_http::Response::from_string(answer).with_header(header.clone()),
                    )
                }
            };
        }
    });
    let version = match generation {
        Generation::Handshake => "2025-11-25",
        Generation::Inline => "2026-07-28",
    };
    let output = mcp_client("conformance/dist/index.js", env.folder())
        .args(["server", "--url", &url, "--scenario", scenario, "--spec-version", version])
        .output()
        .unwrap();
    http.unblock();
    bridge.join().unwrap();
    output
}

/// The scenarios that ask for nothing but the protocol. The others want the tools of a showcase
/// server (images, sampling, elicitation), or are about HTTP itself; `serve/mcp.rs` runs them all.
#[test]
fn conformance_suite_passes() {
    for (generation, scenarios) in [
        (
            Generation::Handshake,
            &["server-initialize", "ping", "tools-list", "resources-list", "prompts-list"][..],
        ),
        (
            Generation::Inline,
            &[
                "tools-list",
                "resources-list",
                "prompts-list",
                "caching",
                "sep-2164-resource-not-found",
            ],
        ),
    ] {
        for scenario in scenarios {
            let output = conformance(generation, scenario);
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && stdout.contains(" 0 failed"),
                "{generation:?} {scenario}: {stdout}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

/// A model that calls the tool, then says that it is done.
fn saving(tool: &str) -> ModelServer {
    let text = "# Gateway\nIt times out after 30 seconds.";
    let arguments = json!({"text": text, "kind": "research", "producer": "developer"});
    let script = Script::new().then(Answer::tool(tool, arguments));
    ModelServer::start(script.always(Answer::text("Saved.")))
}

/// The package is there, and the model sees it, and what the server is for.
#[track_caller]
fn saved(env: &TestEnv, server: &ModelServer, output: &Output) {
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    let shown = env.run(["package", "show", "1", "--body", "--json"]).ok().json();
    let package = &shown["package"];
    assert_eq!((&package["kind"], &package["producer"]), (&json!("research"), &json!("developer")));
    assert_eq!(package["body"], "# Gateway\nIt times out after 30 seconds.\n");
    let requests = server.requests();
    let after = requests.iter().find(|request| request.tool_results() == 1).unwrap();
    assert!(after.conversation_contains(package["path"].as_str().unwrap()));
    assert!(after.contains("Handover carries knowledge between the agents"));
}

#[test]
fn claude_code_saves_a_package() {
    let env = project();
    let server = saving("mcp__handover__save_package");
    let host = RealHost::claude(&env, &server);
    let own = json!({"command": crate::handover(), "args": ["mcp"]});
    env.write("mcp.json", json!({"mcpServers": {"handover": own}}).to_string());
    let output = host
        .command()
        .args(["Save what you know.", "--strict-mcp-config", "--mcp-config", "mcp.json"])
        .args(["--allowedTools", "mcp__handover__save_package"])
        .output()
        .unwrap();
    saved(&env, &server, &output);
}

#[test]
fn codex_saves_a_package() {
    let env = project();
    let server = saving("mcp__handover/save_package");
    let host = RealHost::codex(&env, &server);
    let path = host.config.join("config.toml");
    let config = fs_err::read_to_string(&path).unwrap();
    let program = crate::handover();
    let own = format!("[mcp_servers.handover]\ncommand = '{program}'\nargs = ['mcp']\n");
    fs_err::write(&path, format!("{config}\n{own}")).unwrap();
    env.write("prompt", "Save what you know.");
    let output = host
        .command()
        .arg("--dangerously-bypass-approvals-and-sandbox")
        .stdin(std::fs::File::open(env.path("prompt")).unwrap())
        .output()
        .unwrap();
    saved(&env, &server, &output);
}
