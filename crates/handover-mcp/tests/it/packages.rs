//! Saving, searching and reading packages.

use handover_model::SessionId;
use handover_store::Sessions;
use serde_json::{Value, json};

use crate::fixture::TestServer;

#[test]
fn a_text_becomes_a_file_and_a_package() {
    let server = TestServer::new();
    let text = "# Gateway\n\n## Summary\nIt times out. password=hunter2sEcret\n";
    let package = json!({
        "text": text, "kind": "research", "producer": "developer", "consumers": ["qa_expert"],
        "priority": "high", "group": "login",
    });
    let saved = server.call("save_package", package.clone());
    assert_eq!((&saved["id"], &saved["version"]), (&json!(1), &json!(1)));
    assert_eq!((&saved["created"], &saved["redactions"]), (&json!(true), &json!(1)));
    let file = fs_err::read_to_string(server.path(saved["path"].as_str().unwrap())).unwrap();
    assert!(file.contains("It times out.") && !file.contains("hunter2sEcret"), "{file}");
    let again = server.call("save_package", package);
    assert_eq!((&again["id"], &again["created"]), (&json!(1), &json!(false)), "{again}");

    let newer = json!({"text": "# Gateway\n\nFixed.", "supersedes": 1});
    let newer = server.call("save_package", newer);
    assert_eq!((&newer["id"], &newer["version"]), (&json!(2), &json!(2)), "{newer}");
    let old = server.call("read_package", json!({"id": 1}));
    assert_eq!(old["superseded_by"], 2, "{old}");
    // Kind, producer and group are inherited.
    let new = server.call("read_package", json!({"id": 2}));
    assert_eq!((&new["kind"], &new["producer"]), (&json!("research"), &json!("developer")));
}

#[test]
fn an_existing_file_stays_where_it_is() {
    let server = TestServer::new();
    server.write("docs/a.md", "# A\n\ntext\n");
    let saved = server.call("save_package", json!({"path": "docs/a.md", "kind": "research"}));
    assert_eq!(saved["path"], "docs/a.md");
    let read = server.call("read_package", json!({"id": 1}));
    assert_eq!((&read["file"], &read["text"]), (&json!("current"), &json!("# A\n\ntext\n")));
    server.write("docs/a.md", "# A\n\nother\n");
    assert_eq!(server.call("read_package", json!({"id": 1}))["file"], "changed");
    fs_err::remove_file(server.path("docs/a.md")).unwrap();
    assert_eq!(server.call("read_package", json!({"id": 1}))["file"], "vanished");
}

#[test]
fn search_ranks_and_limits() {
    let server = TestServer::new();
    for (title, body) in [
        ("OAuth", "Tokens live ten minutes."),
        ("Gateway", "It times out."),
        ("Tokens", "Tokens and more tokens rotate."),
    ] {
        let text = format!("# {title}\n\n{body}");
        server.call("save_package", json!({"text": text, "kind": "research"}));
    }
    let found = server.call("search", json!({"query": "tokens"}));
    let results = found["results"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{found}");
    assert!(results[0]["score"].as_f64() >= results[1]["score"].as_f64());
    assert!(results[0]["snippet"].as_str().unwrap().to_lowercase().contains("tokens"));
    let one = server.call("search", json!({"query": "tokens", "limit": 1}));
    assert_eq!(one["results"].as_array().unwrap().len(), 1);
    let none = server.call("search", json!({"query": "nowhere"}));
    assert_eq!(none["results"], json!([]));
}

#[test]
fn a_long_package_is_read_in_pages() {
    let server = TestServer::new();
    let text: String = (0..12_000).map(|n| format!("line {n} of the \"log\"\n")).collect();
    let text = format!("# Log\n{text}");
    server.write("docs/log.md", &text);
    server.call("save_package", json!({"path": "docs/log.md", "kind": "investigation"}));
    let (mut read, mut offset, mut pages) = (String::new(), json!(0), 0);
    while !offset.is_null() {
        let page = server.call("read_package", json!({"id": 1, "offset": offset}));
        read.push_str(page["text"].as_str().unwrap());
        offset = page["next_offset"].clone();
        pages += 1;
    }
    assert_eq!(read, text);
    assert!(pages > 3, "{pages}");
    let error = server.fails("read_package", json!({"id": 1, "offset": 10_000_000}));
    assert!(error.contains("past the end"), "{error}");
}

#[test]
fn invalid_arguments_leave_no_trace() {
    let server = TestServer::new();
    server.write("docs/a.md", "text");
    let long = "x".repeat(4_001);
    let cases: &[(&str, Value, &str)] = &[
        ("save_package", json!({"kind": "research"}), "either `text` or `path`"),
        ("save_package", json!({"text": "x", "path": "y"}), "either `text` or `path`"),
        ("save_package", json!({"text": "x"}), "`kind` is missing"),
        ("save_package", json!({"text": "x", "kind": "gossip"}), "`gossip` is not a package kind"),
        ("save_package", json!({"text": "x", "kind": "research", "colour": 1}), "unknown field"),
        ("save_package", json!({"text": "x", "kind": "research", "supersedes": 99}), "99"),
        ("save_package", json!({"path": "../x.md", "kind": "research"}), "contains `..`"),
        ("save_package", json!({"path": "/etc/passwd", "kind": "research"}), "outside"),
        ("save_package", json!({"path": "docs/none.md", "kind": "research"}), "there is no file"),
        ("save_package", json!({"text": "x", "kind": "research", "producer": "Q A"}), "role"),
        (
            "save_package",
            json!({"text": "x", "kind": "research", "group": "AKIAIOSFODNN7EXAMPL3"}),
            "looks like a secret",
        ),
        (
            "save_package",
            json!({"text": "x", "kind": "research", "consumers": vec!["developer"; 101]}),
            "the limit is 100",
        ),
        ("search", json!({}), "missing field `query`"),
        ("search", json!({"query": " "}), "`query` is empty"),
        ("search", json!({"query": "x", "limit": 0}), "between 1 and 50"),
        ("search", json!({"query": "x", "limit": 51}), "between 1 and 50"),
        ("search", json!({"query": long}), "the limit is 4000"),
        ("read_package", json!({"id": 99}), "there is no package `99`"),
        ("read_package", json!({"id": -1}), "invalid value"),
    ];
    for (tool, arguments, expected) in cases {
        let error = server.fails(tool, arguments.clone());
        assert!(error.starts_with("Error: "), "{error}");
        assert!(error.contains(expected), "{tool} {arguments}: {error}");
    }
    let counts = server.store().session_counts(&SessionId::new("s1").unwrap()).unwrap();
    assert_eq!((counts.packages, counts.reasoning), (0, 0));
    assert_eq!(server.artifacts(), 0, "no file is left behind");
}

#[test]
fn a_read_only_caller_cannot_write() {
    let server = TestServer::read_only();
    for (tool, arguments) in [
        ("save_package", json!({"text": "x", "kind": "research"})),
        ("record_reasoning", json!({"role": "developer", "phase": "risks", "content": "x"})),
        ("report_error", json!({"message": "boom"})),
        ("brief", json!({"role": "developer"})),
        ("debrief", json!({"role": "developer", "verdict": "complete", "summary": "x"})),
    ] {
        let error = server.fails(tool, arguments);
        assert!(error.contains("write"), "{tool}: {error}");
    }
    assert_eq!(server.artifacts(), 0);
    server.call("search", json!({"query": "x"}));
    server.call("status", json!({}));
}
