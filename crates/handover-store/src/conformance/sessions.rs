//! Cases of [`Sessions`](crate::Sessions).

use handover_model::{ReasoningId, SessionStatus};
use serde_json::json;

use super::Backend;
use super::fixture::*;
use crate::{NewSession, RecordKind, StoreError, StrategyFilter};

/// Opening an id again changes nothing.
pub fn the_same_id_is_the_same_session(backend: &dyn Backend) {
    let store = backend.open();
    let mut new = NewSession {
        id: session_id("s1"),
        project: project(),
        metadata: clean_json(json!({"ticket": "A-1", "password": "hunter2"})),
        now: at(0),
    };
    let first = store.open_session(&new).unwrap();
    assert!(first.created);
    assert_eq!(first.record.metadata, json!({"ticket": "A-1", "password": "[REDACTED-1]"}));
    new.metadata = clean_json(json!({}));
    new.now = at(9);
    let second = backend.open().open_session(&new).unwrap();
    assert!(!second.created);
    assert_eq!(second.record, first.record);
    assert_eq!(store.session(&new.id).unwrap(), first.record);
}

/// Every method reports a session that does not exist.
pub fn unknown_is_not_found(backend: &dyn Backend) {
    let store = backend.open();
    let id = session_id("nobody");
    let not_found = |error: StoreError| {
        assert!(
            matches!(&error, StoreError::NotFound { what: RecordKind::Session, id } if id == "nobody"),
            "{error}"
        );
    };
    not_found(store.session(&id).unwrap_err());
    not_found(store.session_counts(&id).unwrap_err());
    not_found(store.set_session_status(&id, SessionStatus::Failed, at(0)).unwrap_err());
    not_found(store.purge_session(&id).unwrap_err());
    assert_eq!(store.sessions(None).unwrap(), []);
}

/// Listings are newest first; equal times are ordered too.
pub fn newest_first_and_by_status(backend: &dyn Backend) {
    let store = backend.open();
    for id in ["a", "b", "c"] {
        session(&*store, id);
    }
    store.set_session_status(&session_id("b"), SessionStatus::Completed, at(5)).unwrap();
    let ids = |status| -> Vec<String> {
        store.sessions(status).unwrap().into_iter().map(|s| s.id.to_string()).collect()
    };
    assert_eq!(ids(None), ["c", "b", "a"]);
    assert_eq!(ids(Some(SessionStatus::Active)), ["c", "a"]);
    assert_eq!(ids(Some(SessionStatus::Failed)), [""; 0]);
}

/// The end time follows the status.
pub fn closing_and_reopening(backend: &dyn Backend) {
    let store = backend.open();
    let id = session(&*store, "s1");
    let closed = store.set_session_status(&id, SessionStatus::Completed, at(60)).unwrap();
    assert_eq!((closed.status, closed.ended_at), (SessionStatus::Completed, Some(at(60))));
    let open = store.set_session_status(&id, SessionStatus::Active, at(70)).unwrap();
    assert_eq!((open.status, open.ended_at), (SessionStatus::Active, None));
}

/// Purging deletes what the session owns and leaves what the project learned.
pub fn purge_takes_everything_but_what_the_project_learned(backend: &dyn Backend) {
    let store = backend.open();
    let id = session(&*store, "s1");
    let other = session(&*store, "s2");
    let old = register(&*store, package(&id, "a.md", "one"));
    let new = register(&*store, package(&id, "a.md", "two"));
    register(&*store, package(&other, "a.md", "one"));
    store.add_reasoning(&reasoning(&id, handover_model::Phase::Completion, "done")).unwrap();
    store.save_skill_output(&skill_output(&id, "scan")).unwrap();
    store.log_event(&event(&id, "delivery", Some("k"))).unwrap();
    store.put_receipt(&receipt(&id, "r1", &[new.id])).unwrap();
    let mut update = crate::GroupUpdate::new(id.clone(), group_id("P1"), at(0));
    update.references = Some(vec![old.id]);
    update.count = vec![counter("qa_attempts")];
    store.set_group(&update).unwrap();
    let mut seen = sighting("boom");
    seen.session = Some(id.clone());
    let error = store.record_error(&seen).unwrap();
    store.learn_strategies(&[strategy("insight", ReasoningId(1).0)]).unwrap();

    let expected = handover_model::SessionCounts {
        groups: 1,
        packages: 1,
        package_versions: 2,
        reasoning: 1,
        skill_outputs: 1,
        events: 1,
        receipts: 1,
    };
    assert_eq!(store.session_counts(&id).unwrap(), expected);
    assert_eq!(store.purge_session(&id).unwrap(), expected);

    assert!(store.session(&id).is_err());
    assert!(store.package(old.id).is_err() && store.package(new.id).is_err());
    assert_eq!(store.session_counts(&other).unwrap().packages, 1);
    assert_eq!(store.errors(&project(), &Default::default()).unwrap().len(), 1);
    assert_eq!(store.error_incidents(&project(), &error.hash).unwrap()[0].session, None);
    assert_eq!(store.strategies(&project(), &StrategyFilter::default()).unwrap().len(), 1);
}

/// The self-check finds nothing wrong with a store that was used in every way.
pub fn a_used_store_is_sound(backend: &dyn Backend) {
    purge_takes_everything_but_what_the_project_learned(backend);
    for check in backend.open().check().unwrap() {
        assert_eq!(check.problems, [""; 0], "{}", check.part);
    }
}
