//! What a call looks like on the wire, and what comes back.

use std::time::Duration;

use handover_model::{PackageId, ProjectId, SessionId, SessionStatus, Timestamp};
use handover_store::archive::Archive;
use handover_store::{
    CheckedPart, Fault, Feed, NewSession, Packages, Sessions, Store, StoreError, Tokens,
};
use handover_text::Redactor;
use serde_json::json;

use crate::service::{Play, Service};

#[test]
fn a_call_is_one_post_with_its_method_and_arguments() {
    let service = Service::playing(vec![Play::done(&json!([]))]);
    let sessions = service.store().sessions(Some(SessionStatus::Active)).unwrap();
    assert_eq!(sessions, []);
    let asked = service.finish();
    assert!(asked[0].head.starts_with("post /api/v1/store http/1.1\r\n"), "{}", asked[0].head);
    for header in ["content-type: application/json\r\n", "user-agent: handover/"] {
        assert!(asked[0].head.contains(header), "{}", asked[0].head);
    }
    assert!(!asked[0].head.contains("authorization"), "{}", asked[0].head);
    assert_eq!(
        asked[0].body,
        json!({"call": {"within": null, "call": {"method": "sessions", "arguments": {"status": "active"}}}})
    );
}

#[test]
fn the_token_goes_into_a_header_and_nowhere_else() {
    let service = Service::playing(vec![Play::done(&json!([]))]);
    let store = service.store_within(Some("Secret-1"), Duration::from_secs(20));
    assert!(!format!("{store:?}").contains("Secret-1"));
    store.tokens().unwrap();
    let asked = service.finish();
    assert!(asked[0].head.contains("authorization: bearer secret-1\r\n"), "{}", asked[0].head);
    assert!(!asked[0].body.to_string().contains("Secret-1"));
}

#[test]
fn the_path_of_an_address_comes_before_that_of_the_store() {
    let service = Service::playing(vec![Play::done(&json!([]))]);
    let address = format!("{}/team/handover/", service.url).parse().unwrap();
    let store = handover_remote::RemoteStore::new(&address, None, Duration::from_secs(20));
    store.sessions(None).unwrap();
    let asked = service.finish();
    assert!(asked[0].head.starts_with("post /team/handover/api/v1/store "), "{}", asked[0].head);
}

#[test]
fn every_kind_of_argument_arrives() {
    let now = Timestamp::from_micros(1_800_000_000_000_000);
    let session = json!({
        "record": {
            "id": "s1", "project": "shop", "status": "active", "metadata": {},
            "created_at": now, "ended_at": null,
        },
        "created": true,
    });
    let service = Service::playing(vec![
        Play::done(&session),
        Play::done(&json!([])),
        Play::done(&json!([])),
    ]);
    let store = service.store();
    let new = NewSession {
        id: SessionId::new("s1").unwrap(),
        project: ProjectId::new("shop").unwrap(),
        metadata: Redactor::default().clean_json(json!({"ticket": "A\u{0}B"})),
        now,
    };
    let opened = store.open_session(&new).unwrap();
    assert_eq!((opened.record.id.as_str(), opened.created), ("s1", true));
    store.packages_by_id(&[PackageId(3), PackageId(1)]).unwrap();
    store.changes(u64::MAX, 7).unwrap();
    let asked = service.finish();
    let call = |at: usize| &asked[at].body["call"]["call"];
    assert_eq!(call(0)["method"], "open_session");
    assert_eq!(call(0)["arguments"]["new"]["metadata"], json!({"ticket": "A\u{0}B"}));
    assert_eq!(*call(1), json!({"method": "packages_by_id", "arguments": {"ids": [3, 1]}}));
    assert_eq!(call(2)["arguments"], json!({"after": u64::MAX, "limit": 7}));
}

#[test]
fn a_check_is_its_own_request() {
    let checks =
        json!([{"part": "integrity", "problems": []}, {"part": "text_index", "problems": ["one"]}]);
    let service = Service::playing(vec![Play::done(&checks)]);
    let checks = service.store().check().unwrap();
    assert_eq!(checks[1].part, CheckedPart::TextIndex);
    assert_eq!(checks[1].problems, ["one"]);
    assert_eq!(service.finish()[0].body, json!("check"));
}

#[test]
fn projects_are_not_moved_through_a_service() {
    // Nothing is sent: no service listens at the address.
    let address = "http://127.0.0.1:9".parse().unwrap();
    let store = handover_remote::RemoteStore::new(&address, None, Duration::from_secs(1));
    let outcomes = [
        store.each_record(&mut |_| Ok(())).unwrap_err(),
        store.put_records(&mut |_| Ok(())).unwrap_err(),
    ];
    for error in outcomes {
        assert!(matches!(error, StoreError::Backend { fault: Fault::Refused, .. }), "{error}");
    }
}
