//! Briefs, debriefs, reasoning and errors.

use handover_model::{Phase, ReceiptId, ReceiptState, SessionId};
use handover_store::{EventFilter, Events, ReasoningFilter, Reasonings, Receipts, Sessions};
use serde_json::{Value, json};

use crate::fixture::TestServer;

fn session() -> SessionId {
    SessionId::new("s1").unwrap()
}

fn save(server: &TestServer, text: &str, priority: &str) {
    server.call("save_package", json!({"text": text, "kind": "research", "priority": priority}));
}

#[test]
fn a_brief_is_delivered_and_a_debrief_confirms_it() {
    let server = TestServer::new();
    save(&server, "# Gateway\n\nIt times out after 30 seconds.", "critical");
    let status = server.call("status", json!({}));
    assert_eq!(status["undelivered_critical"][0]["id"], 1, "{status}");

    let brief = server.call("brief", json!({"role": "developer", "task": "Fix the timeout"}));
    let text = brief["text"].as_str().unwrap();
    let receipt = brief["receipt"].as_str().unwrap().to_owned();
    assert!(text.contains("times out after 30 seconds"), "{text}");
    assert!(text.contains(&format!("<!-- handover:receipt {receipt} -->")), "{text}");
    let id = ReceiptId::new(&receipt).unwrap();
    assert_eq!(server.store().receipt(&id).unwrap().state, ReceiptState::Delivered);
    assert_eq!(server.call("status", json!({}))["undelivered_critical"], json!([]));

    let debrief = json!({
        "role": "developer", "verdict": "complete", "summary": "Raised it.", "receipt": receipt,
    });
    assert_eq!(server.call("debrief", debrief.clone())["confirmed"], true);
    assert_eq!(server.store().receipt(&id).unwrap().state, ReceiptState::Confirmed);
    let mut other = debrief;
    other["role"] = json!("qa_expert");
    let error = server.fails("debrief", other);
    assert!(error.contains("was given to role `developer`"), "{error}");
}

#[test]
fn a_second_brief_of_a_role_counts_as_a_retry() {
    let server = TestServer::new();
    for attempt in 0..3 {
        let brief = server.call("brief", json!({"role": "developer"}));
        assert_eq!(brief["iteration"], attempt, "{brief}");
    }
    assert_eq!(server.call("brief", json!({"role": "qa_expert"}))["iteration"], 0);
    let numbered = server.call("brief", json!({"role": "developer", "iteration": 7}));
    assert_eq!(numbered["iteration"], 7);
}

#[test]
fn the_brief_prompt_ends_with_the_task() {
    let server = TestServer::new();
    let arguments = json!({"role": "qa_expert", "task": "Test the gateway"});
    let prompt = server.result("prompts/get", json!({"name": "brief", "arguments": arguments}));
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.ends_with("## Your Task\n\nTest the gateway\n"), "{text}");
    assert_eq!(prompt["messages"][0]["role"], "user");
}

#[test]
fn a_debrief_is_stored_completely_or_not_at_all() {
    let server = TestServer::new();
    let debrief = |packages: Value| {
        json!({
            "role": "developer", "verdict": "complete", "group": "login",
            "summary": "Refresh works. password=hunter2sEcret",
            "reasoning": {"decisions": "Rotate on use.", "risks": "Clock skew."},
            "packages": packages,
            "errors": [{"message": "TypeError: x is undefined", "solution": "await it"}],
        })
    };
    let good = json!({
        "text": "# Refresh\n\nRotates on use.", "kind": "handoff", "consumers": ["qa_expert"],
        "priority": "high",
    });
    let bad = json!({"path": "docs/none.md", "kind": "research"});
    let error = server.fails("debrief", debrief(json!([good, bad])));
    assert!(error.contains("there is no file"), "{error}");
    let counts = server.store().session_counts(&session()).unwrap();
    assert_eq!((counts.reasoning, counts.packages), (0, 0));
    assert_eq!(server.artifacts(), 0);

    let stored = server.call("debrief", debrief(json!([good])));
    assert_eq!((&stored["confirmed"], &stored["warnings"]), (&json!(false), &json!([])));
    assert_eq!((&stored["reasoning"], &stored["packages"]), (&json!(3), &json!([1])));
    assert_eq!(stored["errors"].as_array().unwrap().len(), 1);
    let reasoning = server.store().reasoning(&session(), &ReasoningFilter::default()).unwrap();
    let completion = reasoning.iter().find(|entry| entry.phase == Phase::Completion).unwrap();
    assert_eq!(completion.content, "Refresh works. password=[REDACTED-1]");
    let events = server.store().events(&session(), &EventFilter::default()).unwrap();
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert!(kinds.contains(&"debrief") && kinds.contains(&"verdict"), "{kinds:?}");

    let brief = server.call("brief", json!({"role": "qa_expert", "group": "login"}));
    let text = brief["text"].as_str().unwrap();
    assert!(text.contains("Rotate on use.") && text.contains("handoff-developer"), "{text}");
}

#[test]
fn invalid_debriefs_and_reasoning_are_rejected() {
    let server = TestServer::new();
    let cases: &[(&str, Value, &str)] = &[
        (
            "debrief",
            json!({"role": "developer", "verdict": "great", "summary": "x"}),
            "`great` is not a verdict",
        ),
        (
            "debrief",
            json!({"role": "developer", "verdict": "complete", "summary": ""}),
            "`summary` is empty",
        ),
        (
            "debrief",
            json!({"role": "developer", "verdict": "complete", "summary": "x", "reasoning": {"risks": " "}}),
            "`reasoning.risks` is empty",
        ),
        (
            "debrief",
            json!({"role": "developer", "verdict": "complete", "summary": "x", "errors": [{"message": ""}]}),
            "`errors.message` is empty",
        ),
        (
            "debrief",
            json!({"role": "developer", "verdict": "complete", "summary": "x", "receipt": "r_none"}),
            "there is no receipt",
        ),
        (
            "record_reasoning",
            json!({"role": "developer", "phase": "doubts", "content": "x"}),
            "`doubts` is not a reasoning phase",
        ),
        (
            "record_reasoning",
            json!({"role": "developer", "phase": "risks", "content": "x".repeat(100_001)}),
            "the limit is 100000",
        ),
        ("report_error", json!({"message": ""}), "`message` is empty"),
        ("brief", json!({"task": "x"}), "missing field `role`"),
        ("brief", json!({"role": "developer", "task": " "}), "`task` is empty"),
    ];
    for (tool, arguments, expected) in cases {
        let error = server.fails(tool, arguments.clone());
        assert!(error.contains(expected), "{tool}: {error}");
    }
    let counts = server.store().session_counts(&session()).unwrap();
    assert_eq!((counts.reasoning, counts.receipts), (0, 0));
}

#[test]
fn reasoning_is_redacted_and_belongs_to_the_group_of_the_server() {
    let server = TestServer::bound("s1", Some("login"));
    let stored = server.call(
        "record_reasoning",
        json!({"role": "developer", "phase": "decisions", "confidence": "high",
               "content": "Adapter per provider. password=hunter2sEcret", "references": ["src/a.rs"]}),
    );
    assert_eq!(stored, json!({"id": 1, "redactions": 1}));
    let entry = &server.store().reasoning(&session(), &ReasoningFilter::default()).unwrap()[0];
    assert_eq!(entry.group.as_ref().unwrap().as_str(), "login");
    assert_eq!(entry.references, ["src/a.rs"]);
    assert!(!entry.content.contains("hunter2sEcret"));
}

#[test]
fn a_known_solution_comes_back() {
    let server = TestServer::new();
    let first = json!({"message": "Cannot find module '@app/db' at line 7", "command": "npm test"});
    let reported = server.call("report_error", first);
    assert_eq!(reported["pattern"]["occurrences"], 1);
    assert!(reported["pattern"].get("solution").is_none());
    let solved = json!({
        "message": "Cannot find module '@app/db' at line 9", "solution": "build first",
        "kind": "TypeError", "language": "TypeScript", "role": "developer",
    });
    server.call("report_error", solved);
    let again = json!({"message": "Cannot find module '@app/db' at line 1"});
    let known = server.call("report_error", again);
    assert!(known.to_string().contains("build first"), "{known}");
    let other = json!({"message": "Cannot find module '@app/api' at line 1"});
    let unknown = server.call("report_error", other);
    assert!(!unknown.to_string().contains("build first"), "{unknown}");
}

#[test]
fn status_lists_groups_and_decisions() {
    let server = TestServer::new();
    let text = json!({"text": "# A\n\nb", "kind": "research", "group": "login"});
    server.call("save_package", text);
    let decision = json!({"role": "developer", "phase": "decisions", "content": "Rotate."});
    server.call("record_reasoning", decision);
    let status = server.call("status", json!({}));
    assert_eq!((&status["session"], &status["project"]), (&json!("s1"), &json!("shop")));
    assert_eq!((&status["packages"], &status["more_groups"]), (&json!(1), &json!(0)));
    assert_eq!(status["groups"][0]["id"], "login");
    assert_eq!(status["decisions"][0]["content"], "Rotate.");
}
