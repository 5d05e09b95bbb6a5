//! The store behind the service: the contract of every store, and what only a network can cause.

use handover_model::{ProjectId, SessionId, TokenScope};
use handover_store::conformance::Backend;
use handover_store::{Sessions, Store, StoreError};
use serde_json::{Value, json};

use crate::fixture::TestService;

struct Remote(TestService);

impl Remote {
    fn fresh() -> Self {
        Self(TestService::with_policy(false, &[]))
    }
}

impl Backend for Remote {
    fn open(&self) -> Box<dyn Store + Send> {
        Box::new(self.0.remote(None))
    }
}

mod conformance {
    use super::Remote;

    handover_store::conformance_tests!(Remote::fresh());
}

fn call(within: &Value, method: &str, arguments: Value) -> Value {
    json!({"call": {"within": within, "call": {"method": method, "arguments": arguments}}})
}

fn begin(mode: &str) -> Value {
    json!({"begin": {"within": null, "mode": mode}})
}

fn end(name: &Value, keep: bool) -> Value {
    json!({"end": {"within": name, "keep": keep}})
}

fn thought(content: &str) -> Value {
    json!({"new": {
        "session": "s1", "group": null, "role": "developer", "agent_id": null, "iteration": 0,
        "phase": "risks", "confidence": null, "content": content, "references": [],
        "now": "2026-11-15T10:00:00Z", "trust": "agent",
    }})
}

fn reasoning(service: &TestService) -> u64 {
    let id = SessionId::new("s1").unwrap();
    service.contexts.store(None).session_counts(&id).unwrap().reasoning
}

#[test]
fn texts_are_redacted_again() {
    let service = TestService::start();
    let request = call(&Value::Null, "add_reasoning", thought("password=hunter2sEcret"));
    let reply = service.rpc(None, &request);
    assert_eq!(reply["done"]["content"], "password=[REDACTED-1]", "{reply}");
}

#[test]
fn malformed_requests_are_rejected() {
    let service = TestService::start();
    for request in [json!({"call": 1}), json!("nothing"), json!({}), json!([])] {
        service.post("/api/v1/store", &request).fails(400, "invalid_input");
    }
    let unknown = service.rpc(None, &call(&Value::Null, "drop_everything", json!({})));
    assert_eq!(unknown["failed"]["backend"]["fault"], "Refused", "{unknown}");
    let missing = service.rpc(None, &call(&Value::Null, "session", json!({"id": "none"})));
    assert!(missing["failed"]["not_found"].is_object(), "{missing}");
}

#[test]
fn a_transaction_is_committed_or_rolled_back() {
    let service = TestService::start();
    for (keep, expected) in [(false, 0), (true, 1)] {
        let name = service.rpc(None, &begin("exclusive"))["done"].clone();
        assert!(name.is_string(), "{name}");
        let added = service.rpc(None, &call(&name, "add_reasoning", thought("x")));
        assert!(added["done"]["id"].is_number(), "{added}");
        assert_eq!(service.rpc(None, &end(&name, keep)), json!({"done": null}));
        assert_eq!(reasoning(&service), expected);
        // It is now closed.
        let closed = service.rpc(None, &call(&name, "add_reasoning", thought("y")));
        assert_eq!(closed["failed"]["backend"]["fault"], "Unavailable", "{closed}");
    }
}

#[test]
fn nested_transactions_roll_back_independently() {
    let service = TestService::start();
    let name = service.rpc(None, &begin("exclusive"))["done"].clone();
    service.rpc(None, &call(&name, "add_reasoning", thought("outer")));
    let nested = json!({"begin": {"within": name, "mode": "exclusive"}});
    assert_eq!(service.rpc(None, &nested)["done"], name);
    service.rpc(None, &call(&name, "add_reasoning", thought("inner")));
    service.rpc(None, &end(&name, false));
    service.rpc(None, &end(&name, true));
    assert_eq!(reasoning(&service), 1);
}

#[test]
fn errors_inside_a_transaction_leave_it_open() {
    let service = TestService::start();
    let name = service.rpc(None, &begin("exclusive"))["done"].clone();
    let missing = service.rpc(None, &call(&name, "session", json!({"id": "none"})));
    assert!(missing["failed"]["not_found"].is_object(), "{missing}");
    service.rpc(None, &call(&name, "add_reasoning", thought("x")));
    service.rpc(None, &end(&name, true));
    assert_eq!(reasoning(&service), 1);
}

#[test]
fn a_transaction_belongs_to_its_token() {
    let service = TestService::requiring_tokens();
    let (one, two) = (service.token(TokenScope::Write), service.token(TokenScope::Write));
    let name = service.rpc(Some(&one), &begin("exclusive"))["done"].clone();
    let stolen = service.rpc(Some(&two), &call(&name, "add_reasoning", thought("x")));
    assert_eq!(stolen["failed"]["backend"]["fault"], "Unavailable", "{stolen}");
    service.rpc(Some(&two), &end(&name, true));
    let own = service.rpc(Some(&one), &call(&name, "add_reasoning", thought("x")));
    assert!(own["done"]["id"].is_number(), "{own}");
    service.rpc(Some(&one), &end(&name, true));
    assert_eq!(reasoning(&service), 1);
}

#[test]
fn a_read_transaction_is_consistent_and_cannot_write() {
    let service = TestService::requiring_tokens();
    let reader = service.token(TokenScope::Read);
    let name = service.rpc(Some(&reader), &begin("consistent"))["done"].clone();
    let sessions = |status: Value| call(&name, "sessions", json!({"status": status}));
    let before = service.rpc(Some(&reader), &sessions(Value::Null));
    service.open_session(None, "s2");
    let after = service.rpc(Some(&reader), &sessions(Value::Null));
    assert_eq!(before, after, "the snapshot does not change");
    let denied = service.rpc(Some(&reader), &call(&name, "add_reasoning", thought("x")));
    assert_eq!(denied["failed"]["denied"]["need"], "write", "{denied}");
    service.rpc(Some(&reader), &end(&name, true));
}

#[test]
fn a_project_cannot_open_all_transactions() {
    let service = TestService::requiring_tokens();
    let token = service.token(TokenScope::Read);
    let open: Vec<Value> =
        (0..16).map(|_| service.rpc(Some(&token), &begin("consistent"))["done"].clone()).collect();
    assert!(open.iter().all(Value::is_string), "{open:?}");
    let busy = service.rpc(Some(&token), &begin("consistent"));
    assert_eq!(busy["failed"]["backend"]["fault"], "Busy", "{busy}");
    let all = service.token_for(TokenScope::Read, None, handover_model::TokenKind::Bearer, None);
    let other = service.rpc(Some(&all), &begin("consistent"))["done"].clone();
    assert!(other.is_string(), "{other}");
    for name in &open {
        service.rpc(Some(&token), &end(name, true));
    }
    service.rpc(Some(&all), &end(&other, true));
    // A slot is free once the worker has stopped.
    let again = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        service.rpc(Some(&token), &begin("consistent"))["done"].is_string()
    });
    assert!(again);
}

/// A client that crashes in the middle of a transaction blocks other writers for ten seconds only.
#[test]
fn an_abandoned_transaction_is_rolled_back() {
    let service = TestService::start();
    let name = service.rpc(None, &begin("exclusive"))["done"].clone();
    let purged = service.rpc(None, &call(&name, "purge_session", json!({"id": "s1"})));
    assert!(purged["done"].is_object(), "{purged}");
    let waited = (0..40).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(500));
        let reply = service.rpc(None, &call(&name, "sessions", json!({"status": null})));
        reply["failed"]["backend"]["fault"] == "Unavailable"
    });
    assert!(waited, "the transaction was never closed");
    let id = SessionId::new("s1").unwrap();
    assert_eq!(service.contexts.store(None).session(&id).unwrap().id, id);
}

#[test]
fn a_remote_store_maps_errors_back() {
    let service = TestService::requiring_tokens();
    let store = service.remote(Some(&service.token(TokenScope::Read)));
    let missing = store.session(&SessionId::new("none").unwrap());
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
    let denied = store.purge_session(&SessionId::new("s1").unwrap());
    assert!(matches!(denied, Err(StoreError::Denied { need: TokenScope::Admin })), "{denied:?}");
    let project = ProjectId::new("shop").unwrap();
    assert_eq!(store.sessions(None).unwrap()[0].project, project);
}
