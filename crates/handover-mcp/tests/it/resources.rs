//! Packages and receipts as resources.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::fixture::TestServer;

#[test]
fn everything_is_listed_exactly_once() {
    let server = TestServer::new();
    for n in 0..70 {
        let text = format!("# Finding {n}\n\ntext {n}");
        server.call("save_package", json!({"text": text, "kind": "research"}));
    }
    for role in ["developer", "qa_expert"] {
        server.call("brief", json!({"role": role}));
    }
    let (mut seen, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let page = server.result("resources/list", params);
        let resources = page["resources"].as_array().unwrap();
        assert!((1..=50).contains(&resources.len()), "{}", resources.len());
        seen.extend(resources.iter().map(|r| r["uri"].as_str().unwrap().to_owned()));
        pages += 1;
        // Writes between two pages neither repeat nor hide anything.
        if pages == 1 {
            server.call("save_package", json!({"text": "# Late\n\nx", "kind": "research"}));
        }
        cursor = page.get("nextCursor").cloned().unwrap_or_default();
        if cursor.is_null() {
            break;
        }
    }
    let unique: BTreeSet<&String> = seen.iter().collect();
    assert_eq!(unique.len(), seen.len());
    let count = |prefix: &str| seen.iter().filter(|uri| uri.starts_with(prefix)).count();
    assert_eq!((count("handover://package/"), count("handover://receipt/")), (70, 2));
    for uri in [&seen[0], seen.last().unwrap()] {
        let read = server.result("resources/read", json!({"uri": uri}));
        assert_eq!(read["contents"][0]["uri"], **uri);
        assert!(!read["contents"][0]["text"].as_str().unwrap().is_empty());
    }
}

#[test]
fn resources_are_redacted_and_typed() {
    let server = TestServer::new();
    server.write("docs/a.md", "# Key\npassword=hunter2sEcret\n");
    server.call(
        "save_package",
        json!({"path": "docs/a.md", "kind": "research", "priority": "critical"}),
    );
    let listed = server.result("resources/list", json!({}));
    assert_eq!(listed["resources"][0]["annotations"]["priority"], 1.0, "{listed}");
    let read = server.result("resources/read", json!({"uri": "handover://package/1"}));
    let contents = &read["contents"][0];
    assert_eq!(contents["mimeType"], "text/markdown");
    assert!(contents["text"].as_str().unwrap().contains("password=[REDACTED-1]"));
    let receipt = server.call("brief", json!({"role": "developer"}))["receipt"].clone();
    let uri = format!("handover://receipt/{}", receipt.as_str().unwrap());
    let read = server.result("resources/read", json!({"uri": uri}));
    assert_eq!(read["contents"][0]["mimeType"], "application/json");
    let text: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&text["id"], &text["state"]), (&receipt, &json!("delivered")));
}

#[test]
fn resources_of_other_sessions_do_not_exist() {
    let server = TestServer::bound("s1", None);
    server.open_session("other");
    for uri in [
        "handover://package/99",
        "handover://package/x",
        "handover://package/",
        "handover://receipt/none",
        "handover://receipt/a b",
        "handover://other/1",
        "file:///etc/passwd",
        "",
    ] {
        let (code, message) = server.error("resources/read", json!({"uri": uri}));
        assert_eq!(code, -32002, "{uri}: {message}");
    }
}

#[test]
fn malformed_cursors_are_rejected() {
    let server = TestServer::new();
    for cursor in ["x", "package:x", "receipt:a b"] {
        let (code, message) = server.error("resources/list", json!({"cursor": cursor}));
        assert!(code == -32602 && message.contains("not a valid cursor"), "{message}");
    }
    for method in ["tools/list", "prompts/list", "resources/templates/list"] {
        let (code, message) = server.error(method, json!({"cursor": "2"}));
        assert!(code == -32602 && message.contains("single page"), "{message}");
    }
}

#[test]
fn templates_describe_the_uris() {
    let server = TestServer::new();
    let templates = server.result("resources/templates/list", json!({}));
    let uris: Vec<&Value> = templates["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|template| &template["uriTemplate"])
        .collect();
    assert_eq!(uris, [&json!("handover://package/{id}"), &json!("handover://receipt/{id}")]);
}
