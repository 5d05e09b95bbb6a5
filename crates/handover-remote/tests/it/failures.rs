//! Every way a request can fail, and the typed error it becomes.

use std::error::Error;
use std::time::{Duration, Instant};

use handover_model::{EpicId, LockOwner, PackageId, Phase, ReceiptState, SessionId, TokenScope};
use handover_store::conformance::fixture::reasoning;
use handover_store::wire::{Failure, Reply};
use handover_store::{
    Fault, IndexError, IndexPart, OldStore, Reasonings, RecordKind, Sessions, StoreError,
};
use serde_json::{Value, json};

use crate::service::{Play, Service};

fn fault_of(error: &StoreError) -> Fault {
    let StoreError::Backend { fault, .. } = error else { panic!("{error:?}") };
    *fault
}

fn cause(error: &StoreError) -> String {
    error.source().map(ToString::to_string).unwrap_or_default()
}

/// Each error of a store, as the service returns it.
fn errors() -> Vec<StoreError> {
    let epic = EpicId::new("1").unwrap();
    let owner = LockOwner { host: "here".to_owned(), pid: 7, started: Some(1), boot: None };
    let text = |text: &str| text.to_owned();
    vec![
        StoreError::not_found(RecordKind::Session, "s1"),
        StoreError::AlreadySuperseded { id: PackageId(1), latest: PackageId(2) },
        StoreError::OtherSession { id: PackageId(1), session: SessionId::new("s2").unwrap() },
        StoreError::PathTaken { path: text("a.md"), id: PackageId(3) },
        StoreError::InUse { id: PackageId(3) },
        StoreError::WrongState {
            id: text("r1"),
            from: ReceiptState::Failed,
            to: ReceiptState::Delivered,
        },
        StoreError::Claimed { id: text("r1") },
        StoreError::Locked { epic: epic.clone(), owner, fence: 9 },
        StoreError::Fenced { epic },
        StoreError::Ambiguous { prefix: text("ab"), count: 2 },
        StoreError::Differs { record: text("session `s1`") },
        StoreError::Newer { location: text("store.db"), found: 9, known: 1 },
        StoreError::Older { location: text("store.db"), found: 1, known: 9 },
        StoreError::Outdated { store: OldStore::File("store.db".into()), found: 12 },
        StoreError::Foreign { path: "store.db".into() },
        StoreError::Aborted,
        StoreError::Index(IndexError::Damaged { part: IndexPart::Postings }),
        StoreError::Denied { need: TokenScope::Admin },
        StoreError::Backend { fault: Fault::Busy, source: "locked".into() },
        StoreError::Backend { fault: Fault::Full, source: "no space".into() },
        StoreError::Backend { fault: Fault::Refused, source: "constraint".into() },
    ]
}

#[test]
fn every_store_error_survives_the_wire() {
    for error in errors() {
        let (code, message, cause_there) = (error.code(), error.to_string(), cause(&error));
        let failed: Reply<Value> = Reply::Failed(Failure::from(error));
        let body = serde_json::to_string(&failed).unwrap();
        let service = Service::playing(vec![Play::Reply(200, body.clone())]);
        let found = service.store().session_counts(&SessionId::new("s1").unwrap()).unwrap_err();
        assert_eq!((found.code(), found.to_string()), (code, message), "{body}");
        assert!(cause(&found).contains(&cause_there), "{found:?}");
        service.finish();
    }
}

#[test]
fn service_responses_are_classified() {
    for (status, code, fault) in [
        (401, "unauthorized", Fault::Unavailable),
        (403, "forbidden", Fault::Unavailable),
        (404, "not_found", Fault::Unavailable),
        (413, "too_large", Fault::Unavailable),
        (429, "too_many", Fault::Busy),
        (503, "store_busy", Fault::Busy),
        (503, "store_full", Fault::Full),
        (503, "store_damaged", Fault::Corrupt),
        (500, "internal", Fault::Unavailable),
    ] {
        let service = Service::playing(vec![Play::error(status, code)]);
        let error = service.store().sessions(None).unwrap_err();
        assert_eq!(fault_of(&error), fault, "{code}");
        let text = cause(&error);
        assert!(text.contains(&status.to_string()) && text.contains("not now"), "{text}");
        assert_eq!(service.finish().len(), 1, "a response is not retried");
    }
}

#[test]
fn responses_of_other_servers_are_rejected() {
    for (status, body) in [
        (200, "<html>It works!</html>"),
        (200, ""),
        (200, "{}"),
        (200, "{\"done\": {\"id\": 1}}"),
        (200, "{\"done\": [{\"id\": \"s1\"}]}"),
        (200, "{\"failed\": {\"unheard_of\": {}}}"),
        (502, "<html>Bad gateway</html>"),
        (302, ""),
        (204, ""),
    ] {
        let service = Service::playing(vec![Play::Reply(status, body.to_owned())]);
        let error = service.store().sessions(None).unwrap_err();
        let fault = fault_of(&error);
        assert!(matches!(fault, Fault::Refused | Fault::Unavailable), "{status} {body}: {error:?}");
        let text = cause(&error);
        assert!(!text.is_empty() && !text.contains("<html>"), "{text}");
        service.finish();
    }
}

#[test]
fn redirects_are_not_followed_because_they_would_leak_the_token() {
    let elsewhere = Service::playing(vec![]);
    let redirect = format!(
        "HTTP/1.1 307 X\r\nlocation: {}/api/v1/store\r\ncontent-length: 0\r\n\r\n",
        elsewhere.url
    );
    let service = Service::playing(vec![Play::Raw(redirect.into_bytes())]);
    let store = service.store_within(Some("token"), Duration::from_secs(20));
    let error = store.sessions(None).unwrap_err();
    assert!(cause(&error).contains("307"), "{}", cause(&error));
    assert_eq!(elsewhere.finish().len(), 0);
}

#[test]
fn a_read_is_retried_once_when_the_connection_breaks() {
    let service = Service::playing(vec![Play::HangUp, Play::done(&json!([]))]);
    assert_eq!(service.store().sessions(None).unwrap(), []);
    let asked = service.finish();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].body, asked[1].body);

    let service = Service::playing(vec![Play::HangUp, Play::HangUp]);
    let error = service.store().sessions(None).unwrap_err();
    assert_eq!(fault_of(&error), Fault::Unavailable);
    assert_eq!(service.finish().len(), 2, "once, not forever");
}

#[test]
fn a_write_is_not_retried_because_it_may_have_been_committed() {
    let service = Service::playing(vec![Play::HangUp]);
    let new = reasoning(&SessionId::new("s1").unwrap(), Phase::Risks, "x");
    let error = service.store().add_reasoning(&new).unwrap_err();
    assert_eq!(fault_of(&error), Fault::Unavailable);
    assert_eq!(service.finish().len(), 1);
}

#[test]
fn a_response_that_ends_early_is_a_broken_connection() {
    let half = b"HTTP/1.1 200 X\r\ncontent-length: 100\r\n\r\n{\"done\": [".to_vec();
    let service = Service::playing(vec![Play::Raw(half.clone()), Play::Raw(half)]);
    let error = service.store().sessions(None).unwrap_err();
    assert_eq!(fault_of(&error), Fault::Unavailable);
    service.finish();
    for nonsense in [&b"SSH-2.0-OpenSSH_9.9\r\n"[..], b"\x16\x03\x01\x02\x00\x01", b""] {
        let service =
            Service::playing(vec![Play::Raw(nonsense.to_vec()), Play::Raw(nonsense.to_vec())]);
        let error = service.store().sessions(None).unwrap_err();
        assert_eq!(fault_of(&error), Fault::Unavailable, "{nonsense:?}");
        service.finish();
    }
}

#[test]
fn a_silent_service_times_out() {
    let service = Service::playing(vec![Play::Silence]);
    let store = service.store_within(None, Duration::from_millis(200));
    let new = reasoning(&SessionId::new("s1").unwrap(), Phase::Risks, "x");
    let start = Instant::now();
    let error = store.add_reasoning(&new).unwrap_err();
    assert_eq!(fault_of(&error), Fault::Unavailable);
    assert!(start.elapsed() >= Duration::from_millis(150), "{:?}", start.elapsed());
    // Generous, because the machine may be busy; without a limit it would never return.
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    assert_eq!(service.finish().len(), 1);
}

#[test]
fn nothing_listens_at_the_address() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = format!("http://{free}").parse().unwrap();
    let store = handover_remote::RemoteStore::new(&address, None, Duration::from_secs(5));
    let error = store.sessions(None).unwrap_err();
    assert_eq!(fault_of(&error), Fault::Unavailable);
    assert!(cause(&error).starts_with("the service does not respond"), "{}", cause(&error));
}
