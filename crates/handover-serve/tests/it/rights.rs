//! What each scope may do, on every interface.

use handover_model::{SessionStatus, TokenKind, TokenScope};
use handover_store::Sessions;
use serde_json::{Value, json};

use crate::fixture::{TestService, bearer};

fn writes() -> Vec<(&'static str, Value)> {
    vec![
        ("/api/v1/sessions/s1/packages", json!({"text": "# A\nb", "kind": "research"})),
        (
            "/api/v1/sessions/s1/reasoning",
            json!({"role": "developer", "phase": "risks", "content": "x"}),
        ),
        ("/api/v1/sessions/s1/events", json!({"type": "verdict"})),
        ("/api/v1/sessions/s1/assemble", json!({"role": "developer"})),
        ("/api/v1/sessions/s1/brief", json!({"role": "developer"})),
        ("/api/v1/sessions/s1/debrief", json!({"role": "developer", "text": "x"})),
        ("/api/v1/receipts/r_1", json!({"state": "confirmed"})),
        ("/api/v1/runs/run_1/answers", json!({"text": "8080"})),
        ("/api/v1/notes", json!({"text": "Prices are cents"})),
        ("/api/v1/notes/manual-1234", json!({"decision": "retire"})),
    ]
}

fn call(method: &str, arguments: Value) -> Value {
    json!({"call": {"within": null, "call": {"method": method, "arguments": arguments}}})
}

#[test]
fn a_read_token_cannot_write() {
    let service = TestService::requiring_tokens();
    let reader = service.token(TokenScope::Read);
    for (path, body) in writes() {
        service.post_as(&reader, path, &body).fails(403, "forbidden");
    }
    let open = call(
        "open_session",
        json!({"new": {"id": "s9", "project": "shop", "metadata": {}, "now": "2026-11-15T10:00:00Z"}}),
    );
    let denied = service.rpc(Some(&reader), &open);
    assert_eq!(denied["failed"]["denied"]["need"], "write", "{denied}");
    let begin = json!({"begin": {"within": null, "mode": "exclusive"}});
    service.post_as(&reader, "/api/v1/store", &begin).fails(403, "forbidden");
    // A form of the dashboard writes too.
    let headers = [
        ("authorization", &*bearer(&reader)),
        ("content-type", "application/x-www-form-urlencoded"),
    ];
    for (path, form) in [
        ("/runs/run_1/answers", "text=8080"),
        ("/runs/run_1/act", "do=skip&story=1-1-login"),
        ("/runs/run_1/act", "do=abandon"),
        ("/runs/run_1/act", "do=approve&scenario=M1"),
        ("/changes", "what=session&id=s1&do=close"),
        ("/changes", "what=operation&id=op_1&do=undo"),
    ] {
        service.send("POST", path, &headers, form).fails(403, "forbidden");
    }
    let session = service.contexts.store(None).session(&"s1".parse().unwrap()).unwrap();
    assert_eq!(session.status, SessionStatus::Active);
    let counts = service.contexts.store(None).session_counts(&"s1".parse().unwrap()).unwrap();
    assert_eq!((counts.packages, counts.reasoning, counts.receipts), (0, 0, 0));
}

#[test]
fn a_write_token_cannot_administer() {
    let service = TestService::requiring_tokens();
    let writer = service.token(TokenScope::Write);
    for request in
        [call("purge_session", json!({"id": "s1"})), call("tokens", json!({})), json!("check")]
    {
        let denied = service.rpc(Some(&writer), &request);
        assert_eq!(denied["failed"]["denied"]["need"], "admin", "{denied}");
    }
    let (path, body) = &writes()[1];
    service.post_as(&writer, path, body).is(200);
    let admin = service.token(TokenScope::Admin);
    let checked = service.rpc(Some(&admin), &json!("check"));
    assert!(checked["done"].as_array().is_some_and(|checks| !checks.is_empty()), "{checked}");
    let purged = service.rpc(Some(&admin), &call("purge_session", json!({"id": "s1"})));
    assert!(purged["done"].is_object(), "{purged}");
}

#[test]
fn administrators_of_a_project_manage_its_tokens_only() {
    let service = TestService::requiring_tokens();
    let admin = service.token(TokenScope::Admin);
    service.token_for(TokenScope::Read, Some("other"), TokenKind::Bearer, None);
    let listed = service.rpc(Some(&admin), &call("tokens", json!({})));
    let listed = listed["done"].as_array().unwrap();
    assert!(listed.iter().all(|token| token["project"] == "shop"), "{listed:?}");

    let create = |project: Value| {
        let new = json!({
            "id": "0123456789ab", "name": null, "kind": "bearer", "scope": "read",
            "project": project, "hash": "0", "expires_at": null, "now": "2026-11-15T10:00:00Z",
        });
        service.rpc(Some(&admin), &call("create_token", json!({"new": new})))
    };
    assert!(create(json!("other"))["failed"]["not_found"].is_object());
    assert!(create(Value::Null)["failed"]["not_found"].is_object());
    assert_eq!(create(json!("shop"))["done"]["project"], "shop");
    let end = call("end_token", json!({"id": "0123456789ab", "now": "2026-11-15T10:00:00Z"}));
    assert_eq!(service.rpc(Some(&admin), &end)["done"], true);
}

#[test]
fn a_token_without_a_project_sees_the_whole_store() {
    let service = TestService::requiring_tokens();
    service.open_foreign_session("other", "theirs");
    let all = service.token_for(TokenScope::Read, None, TokenKind::Bearer, None);
    let sessions = service.get_as(&all, "/api/v1/sessions").is(200).json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2, "{sessions}");
    let own = service.token(TokenScope::Read);
    let sessions = service.get_as(&own, "/api/v1/sessions").is(200).json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1, "{sessions}");
}
