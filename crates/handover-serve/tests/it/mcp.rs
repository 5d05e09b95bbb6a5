//! MCP over HTTP, with the rights of the token.

use handover_model::{TokenKind, TokenScope};
use serde_json::{Value, json};

use crate::fixture::{Reply, TestService, bearer};

fn send(service: &TestService, token: Option<&str>, method: &str, params: Value) -> Reply {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let bearer = token.map(bearer).unwrap_or_default();
    let mut headers = vec![
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    if token.is_some() {
        headers.push(("authorization", &bearer));
    }
    service.send("POST", "/mcp", &headers, &message.to_string())
}

fn call(service: &TestService, token: Option<&str>, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    send(service, token, "tools/call", params).is(200).json()["result"].clone()
}

#[test]
fn tools_work_without_a_session_of_the_protocol() {
    let service = TestService::start();
    let listed = send(&service, None, "tools/list", json!({})).is(200).json();
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 11, "{listed}");
    let text = json!({"text": "# Gateway\n\nIt times out.", "kind": "research"});
    let saved = call(&service, None, "save_package", text);
    assert_eq!(saved["structuredContent"]["id"], 1, "{saved}");
    let found = call(&service, None, "search", json!({"query": "gateway"}));
    assert_eq!(found["structuredContent"]["results"][0]["id"], 1, "{found}");
    let status = call(&service, None, "status", json!({}));
    assert_eq!(status["structuredContent"]["session"], "s1", "{status}");
}

#[test]
fn tools_have_the_rights_of_the_token() {
    let service = TestService::requiring_tokens();
    send(&service, None, "tools/list", json!({})).fails(401, "unauthorized");
    let (reader, writer) = (service.token(TokenScope::Read), service.token(TokenScope::Write));
    let text = json!({"text": "# A\nb", "kind": "research"});
    let denied = call(&service, Some(&reader), "save_package", text.clone());
    assert_eq!(denied["isError"], true, "{denied}");
    let artifacts = service.contexts.root(None).join(".handover/artifacts");
    assert!(!artifacts.exists(), "nothing was written");
    let saved = call(&service, Some(&writer), "save_package", text);
    assert_eq!(saved["isError"], false, "{saved}");
    let read = call(&service, Some(&reader), "read_package", json!({"id": 1}));
    assert!(read["structuredContent"]["text"].as_str().unwrap().contains("# A"), "{read}");
}

#[test]
fn tools_see_the_project_of_the_token() {
    let service = TestService::requiring_tokens();
    service.open_session(Some("other"), "theirs");
    let other = service.token_for(TokenScope::Write, Some("other"), TokenKind::Bearer, None);
    let status = call(&service, Some(&other), "status", json!({}));
    assert_eq!(status["structuredContent"]["session"], "theirs", "{status}");
    let own = service.token(TokenScope::Write);
    let denied = call(&service, Some(&own), "status", json!({"session": "theirs"}));
    assert_eq!(denied["isError"], true, "{denied}");
}
