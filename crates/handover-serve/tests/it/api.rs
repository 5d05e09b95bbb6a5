//! The JSON API: shapes, filters, errors.

use handover_model::{NoteKind, NoteState, ProjectId, TokenScope, Trust};
use handover_store::{CleanSignature, ErrorPatterns, ErrorSighting, NewNote, NewUnit, Notes};
use handover_text::Redactor;
use serde_json::{Value, json};

use crate::fixture::{PROJECT, TestService};

fn post(service: &TestService, path: &str, body: Value) -> Value {
    service.post(&format!("/api/v1/sessions/s1/{path}"), &body).is(200).json()
}

fn get(service: &TestService, path: &str) -> Value {
    let reply = service.get(&format!("/api/v1{path}")).is(200);
    assert_eq!(reply.header("content-type"), "application/json");
    let body = reply.json();
    assert_eq!(body["schema"], 1, "{path}");
    body
}

fn save(service: &TestService, text: &str, group: Option<&str>) -> Value {
    let mut body = json!({"text": text, "kind": "research", "producer": "developer"});
    if let Some(group) = group {
        body["group"] = group.into();
    }
    post(service, "packages", body)["package"].clone()
}

#[test]
fn sessions_are_listed_by_status_and_shown_with_counts() {
    let service = TestService::start();
    service.open_session(None, "s2");
    assert_eq!(get(&service, "/sessions")["sessions"].as_array().unwrap().len(), 2);
    let completed = get(&service, "/sessions?status=completed");
    assert_eq!(completed["sessions"], json!([]));
    save(&service, "# A\n\ntext\n", Some("login"));
    let session = get(&service, "/sessions/s1")["session"].clone();
    assert_eq!((&session["id"], &session["counts"]["packages"]), (&json!("s1"), &json!(1)));
    let groups = get(&service, "/sessions/s1/groups")["groups"].clone();
    assert_eq!(groups[0]["id"], "login", "{groups}");
    assert_eq!(get(&service, "/sessions/s1/groups/login")["group"]["id"], "login");
}

#[test]
fn packages_are_saved_versioned_and_found() {
    let service = TestService::start();
    let first = save(&service, "# Gateway\n\nIt times out. password=hunter2sEcret\n", None);
    assert_eq!((&first["created"], &first["redactions"]), (&json!(true), &json!(1)));
    save(&service, "# OAuth\n\nTokens live ten minutes.\n", Some("login"));
    let shown = get(&service, "/packages/1?body")["package"].clone();
    assert!(shown["body"].as_str().unwrap().contains("password=[REDACTED-1]"), "{shown}");
    assert_eq!(shown["file"], "current");
    assert!(get(&service, "/packages/1")["package"].get("body").is_none());

    let listed = get(&service, "/sessions/s1/packages");
    assert_eq!(listed["packages"].as_array().unwrap().len(), 2);
    let of_group = get(&service, "/sessions/s1/packages?group=login");
    assert_eq!(of_group["packages"].as_array().unwrap().len(), 1);
    let limited = get(&service, "/sessions/s1/packages?limit=1");
    assert_eq!(limited["packages"][0]["id"], 2, "newest first: {limited}");

    let hits = get(&service, "/sessions/s1/search?q=oauth+tokens");
    assert_eq!(hits["results"][0]["id"], 2, "{hits}");
    assert_eq!(get(&service, "/sessions/s1/search?q=nowhere")["results"], json!([]));

    let mut newer = json!({"text": "# OAuth\n\nTokens live five minutes.\n", "kind": "research"});
    newer["supersedes"] = 2.into();
    let newer = post(&service, "packages", newer)["package"].clone();
    assert_eq!(newer["version"], 2, "{newer}");
    let latest = get(&service, "/sessions/s1/packages");
    assert_eq!(latest["packages"].as_array().unwrap().len(), 2);
    let all = get(&service, "/sessions/s1/packages?all_versions");
    assert_eq!(all["packages"].as_array().unwrap().len(), 3);
}

#[test]
fn reasoning_is_recorded_filtered_and_ordered() {
    let service = TestService::start();
    for (role, phase, content) in [
        ("developer", "decisions", "Rotate tokens. password=hunter2sEcret"),
        ("qa_expert", "risks", "It may hang."),
    ] {
        let body = json!({"role": role, "phase": phase, "content": content, "group": "login"});
        post(&service, "reasoning", body);
    }
    let contents = |query: &str| -> Vec<Value> {
        let listed = get(&service, &format!("/sessions/s1/reasoning{query}"));
        let entries = listed["reasoning"].as_array().unwrap().iter();
        entries.map(|entry| entry["content"].clone()).collect()
    };
    assert_eq!(contents(""), ["It may hang.", "Rotate tokens. password=[REDACTED-1]"]);
    assert_eq!(contents("?oldest_first=true&limit=1"), ["Rotate tokens. password=[REDACTED-1]"]);
    assert_eq!(contents("?role=qa_expert"), ["It may hang."]);
    assert_eq!(contents("?phase=decisions").len(), 1);
    assert_eq!(contents("?group=login").len(), 2);
    assert_eq!(contents("?group=other").len(), 0);
}

#[test]
fn events_with_a_key_are_logged_once() {
    let service = TestService::start();
    let event = json!({"type": "verdict", "payload": {"token": "hunter2"}, "key": "once"});
    assert_eq!(post(&service, "events", event.clone())["event"]["duplicate"], false);
    assert_eq!(post(&service, "events", event)["event"]["duplicate"], true);
    post(&service, "events", json!({"type": "note", "group": "login"}));
    let listed = |query: &str| {
        get(&service, &format!("/sessions/s1/events{query}"))["events"].as_array().unwrap().len()
    };
    assert_eq!((listed(""), listed("?type=verdict"), listed("?group=login")), (2, 1, 1));
    let path = "/api/v1/sessions/s1/events";
    service.post(path, &json!({"type": "v", "key": " "})).fails(400, "invalid_input");
}

#[test]
fn a_handoff_leaves_a_receipt_that_the_debrief_confirms() {
    let service = TestService::start();
    save(&service, "# Gateway\n\nIt times out.\n", None);
    let assembled = post(
        &service,
        "assemble",
        json!({"role": "qa_expert", "task": "Test the gateway", "deliver": true, "explain": true}),
    );
    assert!(assembled["markdown"].as_str().unwrap().contains("It times out"), "{assembled}");
    let brief = post(&service, "brief", json!({"role": "tech_lead", "task": "Review it"}));
    let receipt = brief["receipt"].as_str().unwrap().to_owned();
    assert_eq!(brief["state"], "assembled", "{brief}");
    let path = format!("/api/v1/receipts/{receipt}");
    let step = json!({"state": "delivered", "host": "claude"});
    assert_eq!(service.post(&path, &step).is(200).json()["receipt"]["state"], "delivered");

    let text =
        format!("Done.\n```handover\nreceipt: {receipt}\nverdict: complete\nsummary: done\n```\n");
    let kept = post(&service, "debrief", json!({"receipt": receipt, "text": text}));
    assert_eq!(kept["debrief"]["verdict"], "complete", "{kept}");
    assert_eq!(get(&service, &format!("/receipts/{receipt}"))["receipt"]["state"], "confirmed");
    let receipts = get(&service, "/receipts?session=s1");
    assert_eq!(receipts["receipts"].as_array().unwrap().len(), 2);
    let for_role = get(&service, "/receipts?role=qa_expert");
    assert_eq!(for_role["receipts"].as_array().unwrap().len(), 1);
}

#[test]
fn receipts_are_compared_with_their_predecessor() {
    let service = TestService::start();
    let assemble = || {
        let body = json!({"role": "developer", "deliver": true});
        post(&service, "assemble", body)["receipt"].as_str().unwrap().to_owned()
    };
    let first = assemble();
    service.get(&format!("/api/v1/receipts/{first}/diff")).fails(400, "invalid_input");
    save(&service, "# New\n\nfinding\n", None);
    service.contexts.advance(60);
    let second = assemble();
    let diff = get(&service, &format!("/receipts/{second}/diff"))["diff"].clone();
    assert!(diff.to_string().contains("package"), "{diff}");
    let since = get(&service, &format!("/receipts/{second}/diff?since={first}"))["diff"].clone();
    assert_eq!(diff, since);
}

#[test]
fn a_failed_receipt_keeps_its_reason_without_secrets() {
    let service = TestService::start();
    let brief = post(&service, "brief", json!({"role": "developer"}));
    let path = format!("/api/v1/receipts/{}", brief["receipt"].as_str().unwrap());
    let step = json!({"state": "failed", "reason": "crashed with password=hunter2sEcret"});
    let receipt = service.post(&path, &step).is(200).json()["receipt"].clone();
    assert_eq!(receipt["state"], "failed");
    assert!(!receipt.to_string().contains("hunter2sEcret"), "{receipt}");
    let lost = json!({"state": "lost"});
    service.post(&path, &lost).fails(400, "invalid_input");
}

#[test]
fn debriefs_need_a_receipt_of_the_session_or_a_role() {
    let service = TestService::start();
    service.open_session(None, "s2");
    let brief = post(&service, "brief", json!({"role": "developer"}));
    let receipt = brief["receipt"].clone();
    let path = "/api/v1/sessions/s2/debrief";
    let body = json!({"receipt": receipt, "text": "Done."});
    service.post(path, &body).fails(400, "invalid_input");
    service.post(path, &json!({"text": "Done."})).fails(400, "invalid_input");
    let body = json!({"receipt": receipt, "role": "qa_expert", "text": "Done."});
    let own = "/api/v1/sessions/s1/debrief";
    let refused = service.post(own, &body).is(400).json();
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("was given to role `developer`"), "{message}");
    service.post(path, &json!({"receipt": "r_none", "text": "x"})).fails(404, "not_found");
    let ending = "```handover\nverdict: complete\nreasoning:\n  decisions: Rotate.\n```\n";
    let body = json!({"role": "developer", "group": "login", "text": ending});
    let kept = service.post(path, &body).is(200).json();
    assert_eq!(kept["debrief"]["verdict"], "complete", "{kept}");
    let listed = get(&service, "/sessions/s2/reasoning?role=developer&group=login");
    assert!(!listed["reasoning"].as_array().unwrap().is_empty(), "{listed}");
    let silent = json!({"role": "developer", "text": "Nothing structured."});
    let kept = service.post(path, &silent).is(200).json();
    assert_eq!(kept["kept"], Value::Null, "{kept}");
}

#[test]
fn learned_errors_are_listed_by_language() {
    let service = TestService::start();
    let redactor = Redactor::default();
    for (message, language) in [("boom in python", "python"), ("boom in rust", "rust")] {
        let sighting = ErrorSighting {
            project: ProjectId::new(PROJECT).unwrap(),
            signature: CleanSignature::new(None, message, &[], &redactor),
            language: Some(redactor.clean(language)),
            ttl_days: 90,
            session: None,
            group: None,
            role: None,
            command: None,
            now: service.contexts.now(),
            trust: handover_model::Trust::Agent,
        };
        service.contexts.store(None).resolve_error(&sighting, &redactor.clean("wait")).unwrap();
    }
    let count =
        |query: &str| get(&service, &format!("/errors{query}"))["errors"].as_array().unwrap().len();
    assert_eq!((count(""), count("?lang=rust"), count("?limit=1")), (2, 1, 1));
    service.contexts.advance(91 * 86_400);
    assert_eq!((count(""), count("?expired")), (0, 2));
    assert_eq!(get(&service, "/strategies")["strategies"], json!([]));
}

#[test]
fn a_project_without_runs_says_so() {
    let service = TestService::start();
    assert_eq!(get(&service, "/runs")["runs"], json!([]));
    service.get("/api/v1/status").fails(404, "not_found");
    service.get("/api/v1/runs/run_none").fails(404, "not_found");
    service.get("/api/v1/runs/run_none/journal").fails(404, "not_found");
    let answer = json!({"text": "8080"});
    service.post("/api/v1/runs/run_none/answers", &answer).fails(404, "not_found");
    assert_eq!(get(&service, "/stats")["stats"]["packages"]["total"], 0);
    service.get("/api/v1/stats?since=yesterday").fails(400, "invalid_input");
}

#[test]
fn malformed_requests_are_rejected_with_a_code() {
    let service = TestService::start();
    let json = [("content-type", "application/json")];
    let text = [("content-type", "text/plain")];
    let reasoning = "/api/v1/sessions/s1/reasoning";
    for path in [
        "/sessions/a%2F..%2Fb",
        "/sessions/s1%FE%FF",
        "/packages/x",
        "/sessions?stauts=active",
        "/sessions?status=nice",
        "/sessions/s1/search?q=",
        "/sessions/s1/packages?limit=many",
        "/sessions/s1/packages?all_versions=perhaps",
    ] {
        service.get(&format!("/api/v1{path}")).fails(400, "invalid_input");
    }
    for (headers, body) in [
        (&text, "{}"),
        (&json, "{"),
        (&json, "[]"),
        (&json, r#"{"role": "developer"}"#),
        (&json, r#"{"role": "Q A", "phase": "risks", "content": "x"}"#),
        (&json, r#"{"role": "developer", "phase": "doubts", "content": "x"}"#),
        (&json, r#"{"role": "developer", "phase": "risks", "content": ""}"#),
    ] {
        service.send("POST", reasoning, headers, body).fails(400, "invalid_input");
    }
    let unknown_field = json!({"type": "v", "x": 1});
    service.post("/api/v1/sessions/s1/events", &unknown_field).fails(400, "invalid_input");
    service.get("/api/v1/sessions/nobody").fails(404, "not_found");
    service.get("/api/v1/nothing").fails(404, "not_found");
    service.send("DELETE", "/api/v1/sessions", &[], "").is(405);
}

#[test]
fn secrets_in_ids_are_rejected() {
    let service = TestService::start();
    let key = "AKIAIOSFODNN7EXAMPL3";
    let path = "/api/v1/sessions/s1/events";
    service.post(path, &json!({"type": "v", "group": key})).fails(400, "invalid_input");
    let path = "/api/v1/sessions/s1/assemble";
    service.post(path, &json!({"role": "developer", "group": key})).fails(400, "invalid_input");
}

#[test]
fn the_openapi_document_lists_every_route() {
    let service = TestService::start();
    let document = service.get("/api/v1/openapi.json").is(200).json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    for (path, methods) in paths {
        let path = path
            .replace("{session}", "s1")
            .replace("{group}", "g")
            .replace("{package}", "1")
            .replace("{receipt}", "r_none")
            .replace("{run}", "run_none");
        for (method, operation) in methods.as_object().unwrap() {
            let reply = match method.as_str() {
                "get" => service.get(&path),
                _ => {
                    let body = &operation["requestBody"]["content"]["application/json"]["example"];
                    service.post(&path, body)
                }
            };
            let found = reply.status != 405 && !reply.body.contains("there is no such endpoint");
            assert!(found, "{method} {path}: {}", reply.body);
        }
    }
}

#[test]
fn notes_are_written_listed_and_decided_about() {
    let service = TestService::start();
    let post = |path: &str, body: Value| service.post(&format!("/api/v1{path}"), &body);
    let body = json!({"text": "Prices are cents; password=hunter2sEcret", "paths": ["src/a.rs"]});
    let added = post("/notes", body).is(200).json()["note"].clone();
    assert_eq!(added["text"], "Prices are cents; password=[REDACTED-1]");
    assert_eq!((&added["kind"], &added["trust"]), (&json!("manual"), &json!("agent")));
    let id = added["id"].as_str().unwrap();
    for list in ["/notes", "/notes?kind=manual&state=live", "/notes?limit=1"] {
        assert_eq!(get(&service, list)["notes"].as_array().unwrap().len(), 1, "{list}");
    }
    assert_eq!(get(&service, "/notes?kind=commit")["notes"], json!([]));
    for name in [id, &id[id.len() - 6..]] {
        assert_eq!(get(&service, &format!("/notes/{name}"))["note"]["id"], id);
    }
    let retired = post(&format!("/notes/{id}"), json!({"decision": "retire", "reason": "old"}));
    let retired = retired.is(200).json()["note"].clone();
    assert_eq!((&retired["state"], &retired["reason"]), (&json!("retired"), &json!("old")));
    let restored = post(&format!("/notes/{id}"), json!({"decision": "restore"})).is(200).json();
    assert_eq!(restored["note"]["state"], "live");
    post(&format!("/notes/{id}"), json!({"decision": "confirm"})).fails(409, "wrong_state");
    post("/notes/nothing-here", json!({"decision": "restore"})).fails(404, "not_found");
    post("/notes", json!({"text": "  "})).fails(400, "invalid_input");
    post("/notes", json!({"text": "x", "trust": "person"})).fails(400, "invalid_input");
}

#[test]
fn the_search_covers_everything_or_one_session() {
    let service = TestService::start();
    save(&service, "# Gateway\n\nThe gateway times out.\n", None);
    let note = json!({"text": "The gateway is behind a queue."});
    service.post("/api/v1/notes", &note).is(200);
    let types = |path: &str| -> Vec<String> {
        let found = get(&service, path)["results"].as_array().unwrap().clone();
        let mut types: Vec<String> =
            found.iter().map(|hit| hit["type"].as_str().unwrap().to_owned()).collect();
        types.sort_unstable();
        types
    };
    assert_eq!(types("/search?q=gateway"), ["note", "package"]);
    assert_eq!(types("/search?q=gateway&type=note"), ["note"]);
    assert_eq!(types("/search?q=gateway&kind=manual"), ["note"]);
    assert_eq!(types("/search?q=gateway&since=2999-01-01T00:00:00Z"), [""; 0]);
    assert_eq!(types("/sessions/s1/search?q=gateway"), ["package"]);
    let mistyped = get(&service, "/search?q=gatweay");
    assert_eq!(mistyped["assumed"], json!([{"word": "gatweay", "meant": ["gateway"]}]));
    assert_eq!(mistyped["results"].as_array().unwrap().len(), 2);
    service.get("/api/v1/search?q=x&type=nonsense").fails(400, "invalid_input");
    service.get("/api/v1/search?q=x&kind=nonsense").fails(400, "invalid_input");
    service.get("/api/v1/search?q=").fails(400, "invalid_input");
}

/// What the machine of the service learned from its user's conversations reaches no other person, by any
/// interface.
#[test]
fn conversations_stay_with_the_user_of_the_machine() {
    let service = TestService::with_policy(false, &[]);
    service.open_session(None, "s1");
    let project = ProjectId::new(PROJECT).unwrap();
    let secret = "We agreed to buy zanzibar before the launch.";
    let redactor = Redactor::default();
    let clean = |text: &str| redactor.clean(text);
    let note = |kind: NoteKind, text: &str| NewUnit {
        kind,
        source: text.to_owned(),
        fingerprint: Some("1".to_owned()),
        notes: vec![NewNote {
            id: format!("{kind}-{:010}", text.len()).parse().unwrap(),
            origin: clean("somewhere"),
            title: clean("Plans"),
            text: clean(text),
            trust: Trust::Person,
            paths: Vec::new(),
            symbols: Vec::new(),
            state: NoteState::Live,
            reason: None,
            hash: text.to_owned(),
            created_at: service.contexts.now(),
        }],
    };
    let mut units = vec![
        note(NoteKind::Conversation, secret),
        note(NoteKind::Doc, "The launch party is at the harbor."),
    ];
    for n in 0..20 {
        units.push(note(NoteKind::Doc, &format!("Colors and sizes {}", "x".repeat(30 + n))));
    }
    service.contexts.store(None).learn_notes(&project, &units, service.contexts.now()).unwrap();
    let assemble = json!({"role": "developer", "task": "Prepare the launch party at the harbor, and buy zanzibar"});

    let local = service.get("/api/v1/search?q=zanzibar").is(200).body;
    assert!(local.contains("We agreed to"), "{local}");
    let brief = service.post("/api/v1/sessions/s1/assemble", &assemble).is(200).json();
    assert!(brief["markdown"].as_str().unwrap().contains("We agreed to"), "{brief}");
    let receipt = brief["receipt"].as_str().unwrap();
    let own = service.get(&format!("/api/v1/receipts/{receipt}")).is(200).body;
    assert!(own.contains("We agreed to"), "{own}");

    let admin = service.token(TokenScope::Admin);
    for path in [
        "/api/v1/search?q=launch+zanzibar",
        "/api/v1/search?q=zanzibra",
        "/api/v1/notes",
        "/api/v1/notes?kind=conversation",
        &format!("/api/v1/receipts/{receipt}"),
        &format!("/receipts/{receipt}"),
        "/notes",
        "/search?q=launch",
    ] {
        let reply = service.get_as(&admin, path).is(200).body;
        assert!(!reply.contains("We agreed to"), "{path}: {reply}");
        assert!(!reply.contains("conversation-0000000044\">"), "{path}: {reply}");
    }
    let found = service.get_as(&admin, "/api/v1/search?q=launch").is(200).body;
    assert!(found.contains("at the harbor"), "{found}");
    service.get_as(&admin, "/api/v1/notes/conversation-0000000044").fails(404, "not_found");
    service.get_as(&admin, "/notes/conversation-0000000044").is(404);
    let retire = json!({"decision": "retire"});
    let path = "/api/v1/notes/conversation-0000000044";
    service.post_as(&admin, path, &retire).fails(404, "not_found");
    let brief = service.post_as(&admin, "/api/v1/sessions/s1/assemble", &assemble).is(200).body;
    assert!(brief.contains("at the harbor") && !brief.contains("We agreed to"), "{brief}");
}
