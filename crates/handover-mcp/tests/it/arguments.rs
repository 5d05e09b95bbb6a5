//! The arguments of every tool, checked against its own schema: wrong types, unknown names, sizes at and
//! above the limits, ids that look like secrets. A rejected call leaves nothing behind.

use handover_model::SessionId;
use handover_store::Sessions;
use serde_json::{Value, json};

use crate::fixture::TestServer;

/// An id in the format of a vendor's key.
const SECRET_ID: &str = "AKIAIOSFODNN7EXAMPL3";

/// Valid arguments for each tool.
fn valid(tool: &str) -> Value {
    match tool {
        "status" => json!({}),
        "brief" => json!({"role": "developer"}),
        "search" => json!({"query": "tokens"}),
        "where_to_look" => json!({"task": "tokens expire"}),
        "read_package" => json!({"id": 1}),
        "save_package" => json!({"text": "# A\n\nb", "kind": "research"}),
        "record_reasoning" => json!({"role": "developer", "phase": "risks", "content": "x"}),
        "report_error" => json!({"message": "boom"}),
        "retire" => json!({"kind": "note", "id": "doc-0af3"}),
        "judge_replacement" => json!({"kind": "package", "id": "1", "replaces": true}),
        "debrief" => json!({"role": "developer", "verdict": "complete", "summary": "x"}),
        other => panic!("{other} is new: give it valid arguments here"),
    }
}

fn with(tool: &str, field: &str, value: Value) -> Value {
    let mut arguments = valid(tool);
    arguments[field] = value;
    arguments
}

/// Tools with their input schemas.
fn tools(server: &TestServer) -> Vec<(String, Value)> {
    let listed = server.result("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["inputSchema"].clone()))
        .collect()
}

#[track_caller]
fn stored_nothing(server: &TestServer) {
    let counts = server.store().session_counts(&SessionId::new("s1").unwrap()).unwrap();
    assert_eq!((counts.packages, counts.reasoning, counts.receipts), (0, 0, 0));
    assert_eq!(server.artifacts(), 0, "no file is left behind");
}

#[test]
fn every_field_rejects_wrong_types() {
    let server = TestServer::new();
    let mut fields = 0;
    for (tool, schema) in tools(&server) {
        for field in schema["properties"].as_object().unwrap().keys() {
            // No field is a list of lists, and none is a boolean.
            for wrong in [json!([[[]]]), json!(true), json!({"a": {"b": 1}})] {
                let error = server.fails(&tool, with(&tool, field, wrong.clone()));
                assert!(error.starts_with("Error: "), "{tool}.{field} = {wrong}: {error}");
            }
            fields += 1;
        }
    }
    assert!(fields > 40, "{fields}");
    stored_nothing(&server);
}

#[test]
fn unknown_fields_and_missing_ones_are_named() {
    let server = TestServer::new();
    for (tool, schema) in tools(&server) {
        let error = server.fails(&tool, with(&tool, "colour", json!("red")));
        assert!(error.contains("unknown field `colour`"), "{tool}: {error}");
        for field in schema["required"].as_array().into_iter().flatten() {
            let field = field.as_str().unwrap();
            let mut arguments = valid(&tool);
            arguments.as_object_mut().unwrap().remove(field);
            let error = server.fails(&tool, arguments);
            assert!(error.contains(&format!("missing field `{field}`")), "{tool}: {error}");
        }
    }
    stored_nothing(&server);
}

#[test]
fn ids_that_look_like_secrets_are_rejected() {
    let server = TestServer::new();
    for (tool, field) in [
        ("brief", "role"),
        ("brief", "group"),
        ("save_package", "producer"),
        ("save_package", "group"),
        ("record_reasoning", "role"),
        ("record_reasoning", "group"),
        ("report_error", "role"),
        ("report_error", "group"),
        ("debrief", "role"),
        ("debrief", "group"),
        ("debrief", "agent_id"),
    ] {
        let error = server.fails(tool, with(tool, field, json!(SECRET_ID)));
        assert!(
            error.contains("looks like a secret") || error.contains("not a valid"),
            "{tool}.{field}: {error}"
        );
        assert!(
            !error.contains(SECRET_ID) || error.contains("not a valid"),
            "{tool}.{field}: {error}"
        );
    }
    let consumers = with("save_package", "consumers", json!(["developer", SECRET_ID]));
    server.fails("save_package", consumers);
    stored_nothing(&server);
}

#[test]
fn texts_are_accepted_up_to_their_limit() {
    for (tool, field, limit) in [
        ("record_reasoning", "content", 100_000),
        ("report_error", "message", 100_000),
        ("report_error", "solution", 100_000),
        ("report_error", "command", 4_000),
        ("report_error", "language", 4_000),
        ("report_error", "kind", 4_000),
        ("search", "query", 4_000),
        ("brief", "task", 100_000),
        ("brief", "model", 4_000),
        ("debrief", "summary", 100_000),
    ] {
        let server = TestServer::new();
        let words = |bytes: usize| json!("word ".repeat(bytes / 5 + 1)[..bytes].to_owned());
        server.call(tool, with(tool, field, words(limit)));
        let error = server.fails(tool, with(tool, field, words(limit + 1)));
        assert!(error.contains(&format!("`{field}`")), "{tool}: {error}");
        assert!(error.contains(&format!("the limit is {limit}")), "{tool}.{field}: {error}");
        let error = server.fails(tool, with(tool, field, json!(" \n\t ")));
        assert!(error.contains(&format!("`{field}` is empty")), "{tool}: {error}");
    }
}

#[test]
fn lists_are_accepted_up_to_a_hundred_entries() {
    let entries = |one: Value, count: usize| Value::Array(vec![one; count]);
    for (tool, field, entry) in [
        ("save_package", "consumers", json!("developer")),
        ("record_reasoning", "references", json!("src/a.rs")),
        ("debrief", "errors", json!({"message": "boom"})),
    ] {
        let server = TestServer::new();
        let error = server.fails(tool, with(tool, field, entries(entry.clone(), 101)));
        assert!(error.contains("101 entries; the limit is 100"), "{tool}.{field}: {error}");
        stored_nothing(&server);
        server.call(tool, with(tool, field, entries(entry, 100)));
    }
    let server = TestServer::new();
    let package = json!({"text": "# A\n\nb", "kind": "research"});
    let error = server.fails("debrief", with("debrief", "packages", entries(package, 101)));
    assert!(error.contains("`packages` has 101 entries"), "{error}");
    stored_nothing(&server);
}

#[test]
fn a_package_in_a_debrief_is_checked_like_any_other() {
    let server = TestServer::new();
    for (package, expected) in [
        (json!({"kind": "research"}), "either `text` or `path`"),
        (json!({"text": "x", "path": "y", "kind": "research"}), "either `text` or `path`"),
        (json!({"text": "# A\n\nb"}), "`kind` is missing"),
        (json!({"text": "# A\n\nb", "kind": "gossip"}), "not a package kind"),
        (json!({"text": "# A\n\nb", "kind": "research", "priority": "urgent"}), "not a priority"),
        (json!({"text": "# A\n\nb", "kind": "research", "producer": "qa_expert"}), "unknown field"),
        (
            json!({"text": "# A\n\nb", "kind": "research", "summary": "x".repeat(4_001)}),
            "the limit is 4000",
        ),
        (json!({"path": "../../etc/passwd", "kind": "research"}), "contains `..`"),
        (json!({"path": ".handover/config.toml", "kind": "research"}), ".handover"),
    ] {
        let error = server.fails("debrief", with("debrief", "packages", json!([package])));
        assert!(error.contains(expected), "{package}: {error}");
    }
    stored_nothing(&server);
}

#[test]
fn numbers_have_a_range() {
    let server = TestServer::new();
    server.call("save_package", valid("save_package"));
    for (tool, field, wrong) in [
        ("read_package", "id", json!(-1)),
        ("read_package", "id", json!(4_294_967_296_u64)),
        ("read_package", "id", json!(1.5)),
        ("read_package", "offset", json!(-1)),
        ("read_package", "offset", json!(u64::MAX)),
        ("search", "limit", json!(0)),
        ("search", "limit", json!(51)),
        ("where_to_look", "limit", json!(0)),
        ("where_to_look", "limit", json!(51)),
        ("brief", "iteration", json!(-1)),
        ("brief", "iteration", json!(4_294_967_296_u64)),
        ("save_package", "supersedes", json!(0)),
        ("save_package", "iteration", json!(-3)),
    ] {
        let error = server.fails(tool, with(tool, field, wrong.clone()));
        assert!(error.starts_with("Error: "), "{tool}.{field} = {wrong}: {error}");
    }
    for (tool, field, right) in [
        ("search", "limit", json!(50)),
        ("search", "limit", json!(1)),
        ("read_package", "offset", json!(0)),
    ] {
        server.call(tool, with(tool, field, right));
    }
}
