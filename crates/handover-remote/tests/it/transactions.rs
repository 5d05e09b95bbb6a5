//! Transactions: a name from the service, calls within it, and its end.

use handover_model::{Phase, SessionId};
use handover_store::conformance::fixture::reasoning;
use handover_store::wire::{Failure, Reply};
use handover_store::{Fault, Store, StoreError};
use serde_json::{Value, json};

use crate::service::{Play, Service};

fn failed(error: StoreError) -> Play {
    let failed: Reply<Value> = Reply::Failed(Failure::from(error));
    Play::Reply(200, serde_json::to_string(&failed).unwrap())
}

#[test]
fn work_that_succeeds_is_kept() {
    let service = Service::playing(vec![
        Play::done(&json!("tx-1")),
        Play::done(&json!([])),
        Play::done(&Value::Null),
    ]);
    service.store().exclusively(&mut |store| store.sessions(None).map(drop)).unwrap();
    let asked = service.finish();
    assert_eq!(asked[0].body, json!({"begin": {"within": null, "mode": "exclusive"}}));
    assert_eq!(asked[1].body["call"]["within"], "tx-1");
    assert_eq!(asked[2].body, json!({"end": {"within": "tx-1", "keep": true}}));
}

#[test]
fn work_that_fails_is_rolled_back_and_keeps_its_error() {
    let service = Service::playing(vec![Play::done(&json!("tx-1")), Play::HangUp]);
    let outcome = service.store().consistently(&mut |_| Err(StoreError::Aborted));
    // The reply to the end does not matter: the service rolls back an unfinished transaction.
    assert!(matches!(outcome, Err(StoreError::Aborted)), "{outcome:?}");
    let asked = service.finish();
    assert_eq!(asked[0].body["begin"]["mode"], "consistent");
    assert_eq!(asked[1].body, json!({"end": {"within": "tx-1", "keep": false}}));
}

#[test]
fn nested_work_names_the_transaction_that_it_is_in() {
    let service = Service::playing(vec![
        Play::done(&json!("tx-1")),
        Play::done(&json!("tx-1")),
        Play::done(&Value::Null),
        Play::done(&Value::Null),
    ]);
    service.store().exclusively(&mut |store| store.exclusively(&mut |_| Ok(()))).unwrap();
    let asked = service.finish();
    assert_eq!(asked[1].body, json!({"begin": {"within": "tx-1", "mode": "exclusive"}}));
}

#[test]
fn a_commit_whose_reply_is_lost_is_an_error() {
    let service = Service::playing(vec![Play::done(&json!("tx-1")), Play::HangUp]);
    let outcome = service.store().exclusively(&mut |_| Ok(()));
    assert!(
        matches!(outcome, Err(StoreError::Backend { fault: Fault::Unavailable, .. })),
        "{outcome:?}"
    );
    assert_eq!(service.finish().len(), 2, "an end is not repeated");
}

#[test]
fn a_commit_that_the_service_refuses_is_an_error() {
    let gone = StoreError::Backend { fault: Fault::Unavailable, source: "timed out".into() };
    let service = Service::playing(vec![Play::done(&json!("tx-1")), failed(gone)]);
    let outcome = service.store().exclusively(&mut |_| Ok(()));
    assert!(
        matches!(outcome, Err(StoreError::Backend { fault: Fault::Unavailable, .. })),
        "{outcome:?}"
    );
    service.finish();
}

#[test]
fn a_transaction_that_does_not_begin_runs_no_work() {
    let busy = StoreError::Backend { fault: Fault::Busy, source: "too many".into() };
    let service = Service::playing(vec![failed(busy)]);
    let outcome = service.store().exclusively(&mut |_| panic!("it did not begin"));
    assert!(matches!(outcome, Err(StoreError::Backend { fault: Fault::Busy, .. })), "{outcome:?}");
    service.finish();
}

#[test]
fn reads_inside_of_a_transaction_are_not_retried() {
    // After a broken connection the transaction may be gone, along with its writes.
    let service =
        Service::playing(vec![Play::done(&json!("tx-1")), Play::HangUp, Play::done(&Value::Null)]);
    let outcome = service.store().exclusively(&mut |store| store.sessions(None).map(drop));
    assert!(outcome.is_err());
    let asked = service.finish();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[2].body["end"]["keep"], false);
}

#[test]
fn writes_inside_of_a_transaction_name_it() {
    let kept = json!({
        "id": 1, "session": "s1", "group": null, "role": "developer", "agent_id": null, "iteration": 0,
        "phase": "risks", "confidence": null, "content": "x", "references": [],
        "created_at": "2026-11-15T10:00:00Z", "trust": "agent",
    });
    let service = Service::playing(vec![
        Play::done(&json!("tx-1")),
        Play::done(&kept),
        Play::done(&Value::Null),
    ]);
    let new = reasoning(&SessionId::new("s1").unwrap(), Phase::Risks, "x");
    service.store().exclusively(&mut |store| store.add_reasoning(&new).map(drop)).unwrap();
    let asked = service.finish();
    assert_eq!(asked[1].body["call"]["within"], "tx-1");
    assert_eq!(asked[1].body["call"]["call"]["method"], "add_reasoning");
}
