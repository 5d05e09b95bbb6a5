//! Several projects: in separate stores, and in one store.

use handover_model::{PackageId, ProjectId, ReceiptId, SessionId, TokenKind, TokenScope};
use handover_store::{
    ErrorPatterns, Events, Feed, Groups, Packages, Reasonings, ReceiptFilter, Receipts, RunFilter,
    Runs, Sessions, StoreError, Strategies, TextIndex, Tokens,
};
use serde_json::{Value, json};

use crate::fixture::{EventClient, TestService, bearer};

/// Fills a session through the API with records that contain a word.
fn fill(service: &TestService, token: &str, session: &str, word: &str) -> String {
    let post = |path: &str, body: Value| {
        service.post_as(token, &format!("/api/v1/sessions/{session}/{path}"), &body).is(200).json()
    };
    let text = format!("# Plan of {word}\n\n{word} first.\n");
    post("packages", json!({"text": text, "kind": "research", "producer": "developer"}));
    post("reasoning", json!({"role": "developer", "phase": "risks", "content": word}));
    post("events", json!({"type": "verdict", "payload": {"of": word}, "key": "once"}));
    let assembled = post("assemble", json!({"role": "developer", "deliver": true}));
    assembled["receipt"].as_str().unwrap().to_owned()
}

#[test]
fn two_projects_use_the_same_names_in_their_own_stores() {
    let service = TestService::requiring_tokens();
    let names = ["north", "south"];
    let tokens =
        names.map(|name| service.token_for(TokenScope::Admin, Some(name), TokenKind::Bearer, None));
    for (name, token) in names.iter().zip(&tokens) {
        service.open_session(Some(name), "s1");
        fill(&service, token, "s1", name);
    }
    for (n, token) in tokens.iter().enumerate() {
        let (own, other) = (names[n], names[1 - n]);
        for path in [
            "/api/v1/sessions",
            "/api/v1/sessions/s1",
            "/api/v1/sessions/s1/packages",
            "/api/v1/sessions/s1/reasoning",
            "/api/v1/sessions/s1/events",
            "/api/v1/sessions/s1/search?q=plan",
            "/api/v1/packages/1?body",
            "/",
            "/sessions/s1",
            "/packages/1",
        ] {
            let body = service.get_as(token, path).is(200).body;
            assert!(body.contains(own) && !body.contains(other), "{path}: {body}");
        }
        let stats = service.get_as(token, "/api/v1/stats").is(200).json();
        assert_eq!(stats["stats"]["packages"]["total"], 1, "{stats}");
        service.get_as(token, "/api/v1/packages/2").fails(404, "not_found");
    }
    // The service's own project sees neither.
    let own = service.token(TokenScope::Admin);
    let sessions = service.get_as(&own, "/api/v1/sessions").is(200).body;
    assert!(!names.iter().any(|name| sessions.contains(name)), "{sessions}");
}

#[test]
fn a_token_sees_nothing_of_another_project_in_the_same_store() {
    let service = TestService::requiring_tokens();
    service.open_foreign_session("other", "theirs");
    let all = service.token_for(TokenScope::Admin, None, TokenKind::Bearer, None);
    let receipt = fill(&service, &all, "theirs", "secretplan");
    let admin = service.token(TokenScope::Admin);

    for path in [
        "/api/v1/sessions/theirs".to_owned(),
        "/api/v1/sessions/theirs/groups".to_owned(),
        "/api/v1/sessions/theirs/packages".to_owned(),
        "/api/v1/sessions/theirs/reasoning".to_owned(),
        "/api/v1/sessions/theirs/events".to_owned(),
        "/api/v1/sessions/theirs/search?q=secretplan".to_owned(),
        "/api/v1/packages/1?body".to_owned(),
        format!("/api/v1/receipts/{receipt}"),
        format!("/api/v1/receipts/{receipt}/diff"),
        "/events?session=theirs".to_owned(),
        "/sessions/theirs".to_owned(),
        "/packages/1".to_owned(),
        format!("/receipts/{receipt}"),
    ] {
        let reply = service.get_as(&admin, &path).is(404);
        assert!(!reply.body.contains("secretplan"), "{path}");
    }
    for path in ["/api/v1/sessions", "/api/v1/receipts", "/api/v1/errors", "/api/v1/stats", "/"] {
        let body = service.get_as(&admin, path).is(200).body;
        for word in ["theirs", "secretplan", "other", &receipt] {
            assert!(!body.contains(word), "{path}: {body}");
        }
    }
    for (path, body) in [
        ("reasoning", json!({"role": "developer", "phase": "risks", "content": "x"})),
        ("events", json!({"type": "verdict"})),
        ("packages", json!({"text": "# X\ny", "kind": "research"})),
        ("assemble", json!({"role": "developer"})),
    ] {
        let path = format!("/api/v1/sessions/theirs/{path}");
        service.post_as(&admin, &path, &body).fails(404, "not_found");
    }
}

#[test]
fn a_remote_store_sees_nothing_of_another_project() {
    let service = TestService::requiring_tokens();
    service.open_foreign_session("other", "theirs");
    let all = service.token_for(TokenScope::Admin, None, TokenKind::Bearer, None);
    let receipt = fill(&service, &all, "theirs", "secretplan");
    let admin = service.token(TokenScope::Admin);
    let store = service.remote(Some(&admin));
    let theirs = SessionId::new("theirs").unwrap();
    let other = ProjectId::new("other").unwrap();
    #[track_caller]
    fn hidden(result: Result<(), StoreError>) {
        assert!(matches!(result, Err(StoreError::NotFound { .. })), "{result:?}");
    }
    hidden(store.session(&theirs).map(drop));
    hidden(store.session_counts(&theirs).map(drop));
    hidden(store.groups(&theirs).map(drop));
    hidden(store.packages(&theirs, &Default::default()).map(drop));
    hidden(store.candidates(&theirs, None, None).map(drop));
    hidden(store.postings(&theirs, &["secretplan".to_owned()]).map(drop));
    hidden(store.package(PackageId(1)).map(drop));
    hidden(store.package_body(PackageId(1)).map(drop));
    hidden(store.packages_by_id(&[PackageId(1)]).map(drop));
    hidden(store.package_bodies(&[PackageId(1)]).map(drop));
    hidden(store.package_history(PackageId(1)).map(drop));
    hidden(store.reasoning(&theirs, &Default::default()).map(drop));
    hidden(store.events(&theirs, &Default::default()).map(drop));
    hidden(store.errors(&other, &Default::default()).map(drop));
    hidden(store.strategies(&other, &Default::default()).map(drop));
    hidden(store.receipt(&ReceiptId::new(receipt).unwrap()).map(drop));
    hidden(store.purge_session(&theirs).map(drop));
    assert_eq!(store.receipts(&ReceiptFilter::default()).unwrap(), []);
    assert_eq!(store.runs(&RunFilter::default()).unwrap(), []);
    assert!(store.changes(0, 100).unwrap().iter().all(|change| change.project != other));
    assert!(store.tokens().unwrap().iter().all(|token| token.project.is_some()));
}

#[test]
fn changes_of_another_project_in_the_same_store_are_not_published() {
    let service = TestService::requiring_tokens();
    service.open_foreign_session("other", "theirs");
    let all = service.token_for(TokenScope::Write, None, TokenKind::Bearer, None);
    let own = service.token(TokenScope::Write);
    let header = format!("Authorization: {}\r\n", bearer(&own));
    let mut events = EventClient::open(&service, "/events", &header);
    let body = json!({"role": "developer", "phase": "risks", "content": "x"});
    service.post_as(&all, "/api/v1/sessions/theirs/reasoning", &body).is(200);
    service.post_as(&all, "/api/v1/sessions/s1/reasoning", &body).is(200);
    assert_eq!(events.next().unwrap().data["session"], "s1");
}
