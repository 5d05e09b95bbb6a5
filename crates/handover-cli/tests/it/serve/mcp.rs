//! MCP over HTTP: the official conformance suite, and rights.

use handover_testkit::Service;
use serde_json::{Value, json};

use super::{bearer, token};
use crate::mcp::programs::node;
use crate::project;

/// The scenarios that ask for nothing but the protocol and its transport. The others want the tools of
/// a showcase server (images, sampling, elicitation).
#[test]
fn the_conformance_suite_passes_over_http() {
    let env = project();
    env.write("docs/a.md", "# A\ntext\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    let service = Service::start(&env, &[]);
    let url = format!("{}/mcp", service.url);
    let suites: [(&str, &[&str]); 2] = [
        (
            "2025-11-25",
            &[
                "server-initialize",
                "ping",
                "completion-complete",
                "tools-list",
                "resources-list",
                "prompts-list",
                "dns-rebinding-protection",
            ],
        ),
        (
            "2026-07-28",
            &[
                "completion-complete",
                "tools-list",
                "resources-list",
                "prompts-list",
                "caching",
                "sep-2164-resource-not-found",
                "server-sse-multiple-streams",
                "dns-rebinding-protection",
                "http-header-validation",
            ],
        ),
    ];
    for (version, scenarios) in suites {
        for scenario in scenarios {
            let output = node(&env, "conformance/dist/index.js")
                .args(["server", "--url", &url, "--scenario", scenario, "--spec-version", version])
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && said.contains(" 0 failed"),
                "{version} {scenario}: {said}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

pub(super) fn call(service: &Service, token: &str, tool: &str, arguments: Value) -> Value {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    });
    let headers = [
        ("authorization", bearer(token)),
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json, text/event-stream".to_owned()),
        ("mcp-protocol-version", "2025-11-25".to_owned()),
    ];
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    service.send("POST", "/mcp", &headers, &message.to_string()).is(200).json()["result"].clone()
}

#[test]
fn tools_have_the_rights_of_the_token() {
    let env = project();
    let (reader, writer) = (token(&env, "read", &[]), token(&env, "write", &[]));
    let service = Service::start(&env, &["--require-token"]);
    let package = json!({"text": "# A\ntext", "kind": "research"});
    let refused = call(&service, &reader, "save_package", package.clone());
    assert_eq!(refused["isError"], true);
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("the right to write"));
    let folder = env.path(".handover/artifacts/s1/context");
    let written = fs_err::read_dir(folder).map_or(0, Iterator::count);
    assert_eq!(written, 0, "a file was written");
    let saved = call(&service, &writer, "save_package", package);
    assert_eq!(saved["structuredContent"]["id"], 1, "{saved}");
    let found = call(&service, &reader, "search", json!({"query": "text"}));
    assert_eq!(found["structuredContent"]["results"][0]["id"], 1);
    let accept = ("accept", "application/json, text/event-stream");
    let kind = ("content-type", "application/json");
    let ping = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#;
    service.send("POST", "/mcp", &[accept, kind], ping).is(401);
}
