//! Answers: what they list and omit, how long they may be, and that they contain no secrets.

use handover_context::notes::{self, Written};
use handover_model::{GroupId, SessionId, Timestamp, Trust};
use handover_store::{GroupUpdate, Groups, Packages};
use handover_text::Redactor;
use serde_json::{Value, json};

use crate::contexts::PROJECT;
use crate::fixture::TestServer;

/// The approximate number of tokens of an answer: no token is shorter than one byte or much longer than four.
fn bytes(answer: &Value) -> usize {
    answer.to_string().len()
}

fn save(server: &TestServer, n: usize, priority: &str) -> Value {
    let text = format!("# Finding {n}\n\n## Summary\n{} {n}\n\nzebra {n}", "long ".repeat(70));
    server.call("save_package", json!({"text": text, "kind": "research", "priority": priority}))
}

#[test]
fn status_lists_a_bounded_part_of_everything() {
    let server = TestServer::new();
    let session = SessionId::new("s1").unwrap();
    for n in 0..25 {
        let update = GroupUpdate {
            title: Some(handover_text::Redactor::default().clean(&"title ".repeat(100))),
            ..GroupUpdate::new(
                session.clone(),
                GroupId::new(format!("g{n:02}")).unwrap(),
                Timestamp::from_micros(n),
            )
        };
        server.store().set_group(&update).unwrap();
        save(&server, usize::try_from(n).unwrap(), "critical");
        let content = format!("Decision {n}. {}", "because ".repeat(100));
        server.call(
            "record_reasoning",
            json!({"role": "developer", "phase": "decisions", "content": content}),
        );
    }
    let status = server.call("status", json!({}));
    let list = |key: &str| status[key].as_array().unwrap().clone();
    let groups: Vec<Value> = list("groups").iter().map(|group| group["id"].clone()).collect();
    assert_eq!(groups.len(), 20);
    assert_eq!((&groups[0], &groups[19]), (&json!("g00"), &json!("g19")), "oldest first");
    assert_eq!(status["more_groups"], 5);
    let critical: Vec<Value> =
        list("undelivered_critical").iter().map(|package| package["id"].clone()).collect();
    assert_eq!(critical, (6..=25).rev().map(Value::from).collect::<Vec<_>>(), "newest first");
    let decisions = list("decisions");
    assert_eq!(decisions.len(), 5);
    assert!(decisions[0]["content"].as_str().unwrap().starts_with("Decision 24."));
    for text in decisions
        .iter()
        .map(|decision| &decision["content"])
        .chain(list("groups").iter().map(|group| &group["title"]))
    {
        assert!(text.as_str().unwrap().chars().count() <= 300, "{text}");
    }
    assert_eq!((&status["packages"], &status["receipts"]), (&json!(25), &json!(0)));
}

#[test]
fn delivered_packages_are_not_listed_as_undelivered() {
    let server = TestServer::new();
    save(&server, 1, "critical");
    save(&server, 2, "high");
    let ids = |status: Value| {
        let list = status["undelivered_critical"].as_array().unwrap().clone();
        list.iter().map(|package| package["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids(server.call("status", json!({}))), [1], "only critical ones");
    server.call("brief", json!({"role": "qa_expert"}));
    assert_eq!(ids(server.call("status", json!({}))), [0_i64; 0]);
    // A new version has not reached anyone yet.
    server.call("save_package", json!({"text": "# Finding 1\n\nnews", "supersedes": 1}));
    assert_eq!(ids(server.call("status", json!({}))), [3]);
}

#[test]
fn the_longest_answers_stay_below_the_limit_of_hosts() {
    let server = TestServer::new();
    let body: String = (0..18_000).map(|n| format!("word{n} zebra ")).collect();
    server.write("docs/huge.md", &format!("# Huge\n\n{body}"));
    server.call("save_package", json!({"path": "docs/huge.md", "kind": "research"}));
    let page = server.call("read_package", json!({"id": 1}));
    assert!(page["next_offset"].as_u64().unwrap() > 1_000);
    // 25,000 tokens; a token of such text has a few bytes.
    assert!(bytes(&page) < 200_000, "{}", bytes(&page));
    let resource = server.result("resources/read", json!({"uri": "handover://package/1"}));
    let text = resource["contents"][0]["text"].as_str().unwrap();
    assert!(text.len() < 200_000 && text.ends_with("exceeded 25,000 tokens.]"), "{}", text.len());
    let found = server.call("search", json!({"query": "zebra"}));
    assert!(bytes(&found) < 5_000, "a snippet, not the text: {}", bytes(&found));
    let task = "Explain the zebra. ".repeat(5_000);
    let brief = server.call("brief", json!({"role": "developer", "task": task}));
    assert!(bytes(&brief) < 250_000, "{}", bytes(&brief));
}

#[test]
fn pages_begin_at_characters_not_bytes() {
    let server = TestServer::new();
    let text = format!("# Zürich\n\n{}", "Grüße aus Zürich 👋🏽\n".repeat(9_000));
    server.write("docs/a.md", &text);
    server.call("save_package", json!({"path": "docs/a.md", "kind": "research"}));
    let page = server.call("read_package", json!({"id": 1, "offset": 3}));
    assert!(page["text"].as_str().unwrap().starts_with("ürich"));
    let next = page["next_offset"].as_u64().unwrap();
    let rest = server.call("read_package", json!({"id": 1, "offset": next}));
    let expected: String = text.chars().skip(usize::try_from(next).unwrap()).take(20).collect();
    assert!(rest["text"].as_str().unwrap().starts_with(&expected));
}

#[test]
fn stored_secrets_are_redacted_on_output() {
    let server = TestServer::new();
    // Registered by an older version, which knew fewer rules.
    let secret = "password=hunter2sEcret";
    let mut new = handover_store::conformance::fixture::package(
        &SessionId::new("s1").unwrap(),
        "docs/old.md",
        "zebra",
    );
    new.summary = handover_text::Redactor::default().clean("plain");
    server.store().register_packages(&[new]).unwrap();
    let id = json!(1);
    for (tool, arguments) in [
        ("record_reasoning", json!({"role": "developer", "phase": "decisions", "content": secret})),
        ("report_error", json!({"message": secret, "solution": secret, "command": secret})),
        ("save_package", json!({"text": format!("# {secret}\n\n{secret}"), "kind": "research"})),
        ("debrief", json!({"role": "developer", "verdict": "complete", "summary": secret})),
        ("status", json!({})),
        ("search", json!({"query": "password"})),
        ("read_package", json!({"id": id})),
        ("brief", json!({"role": "qa_expert"})),
    ] {
        let answer = server.call(tool, arguments);
        assert!(!answer.to_string().contains("hunter2sEcret"), "{tool}: {answer}");
    }
    let (_, message) =
        server.error("resources/read", json!({"uri": format!("handover://package/{secret}")}));
    assert!(!message.is_empty());
}

#[test]
fn similar_errors_are_solved_ones_and_few() {
    let server = TestServer::new();
    for name in ["db", "web", "api", "cli", "core"] {
        let message = format!("ModuleNotFoundError: no module named {name} in {name} loader");
        server.call(
            "report_error",
            json!({"message": message, "solution": format!("install {name}")}),
        );
    }
    let unsolved = json!({"message": "ModuleNotFoundError: no module named extra in extra loader"});
    let answer = server.call("report_error", unsolved);
    let similar = answer["similar"].as_array().unwrap();
    assert!(similar.len() <= 3, "{answer}");
    for other in similar {
        assert!(
            other["solution"].is_string() && other["hash"] != answer["pattern"]["hash"],
            "{other}"
        );
    }
}

#[test]
fn a_search_can_be_limited_to_a_group() {
    let server = TestServer::new();
    for (n, group) in ["login", "payments", "global"].into_iter().enumerate() {
        let text = format!("# Zebra {n}\n\nstripes {n}");
        server.call("save_package", json!({"text": text, "kind": "research", "group": group}));
    }
    let ids = |arguments: Value| {
        let found = server.call("search", arguments);
        let mut ids: Vec<i64> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| result["id"].as_i64().unwrap())
            .collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(json!({"query": "zebra"})), [1, 2, 3]);
    let login = ids(json!({"query": "zebra", "group": "login"}));
    assert!(login.contains(&1) && !login.contains(&2), "{login:?}");
}

#[test]
fn a_search_finds_what_the_project_knows() {
    let server = TestServer::new();
    let text = "# Gateway\n\nThe gateway times out.";
    server.call("save_package", json!({"text": text, "kind": "research"}));
    server.call(
        "record_reasoning",
        json!({"role": "developer", "phase": "decisions", "content": "Replace the gateway client."}),
    );
    let note = Written {
        text: "The gateway is behind a queue.",
        title: None,
        paths: &[],
        trust: Trust::Person,
    };
    let (project, redactor) = (PROJECT.parse().unwrap(), Redactor::default());
    let now = Timestamp::from_micros(1_800_000_000_000_000);
    notes::write(&server.store(), &project, &redactor, &note, now).unwrap();
    let types = |arguments: Value| {
        let found = server.call("search", arguments);
        let mut types: Vec<String> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| result["type"].as_str().unwrap().to_owned())
            .collect();
        types.sort_unstable();
        types
    };
    assert_eq!(types(json!({"query": "gateway"})), ["note", "package", "reasoning"]);
    assert_eq!(types(json!({"query": "gateway", "type": "note"})), ["note"]);
    assert_eq!(types(json!({"query": "gateway", "kind": "decisions"})), ["reasoning"]);
    assert_eq!(types(json!({"query": "gateway", "session": "s1"})), ["package", "reasoning"]);
    let mistyped = server.call("search", json!({"query": "gatweay"}));
    assert_eq!(mistyped["assumed"], json!([{"word": "gatweay", "meant": ["gateway"]}]));
    assert_eq!(mistyped["results"].as_array().unwrap().len(), 3);
}
