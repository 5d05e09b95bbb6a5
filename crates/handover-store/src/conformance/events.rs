//! Cases of [`Events`](crate::Events).

use handover_model::EventType;
use serde_json::json;

use super::Backend;
use super::fixture::*;
use crate::{EventFilter, StoreError};

/// The same key again is the same event.
pub fn an_event_with_a_key_is_logged_once(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let first = store.log_event(&event(&session, "delivery", Some("k1"))).unwrap();
    assert!(!first.duplicate);
    let mut again = event(&session, "delivery", Some("k1"));
    again.payload = clean_json(json!({"n": 2}));
    let second = store.log_event(&again).unwrap();
    assert!(second.duplicate && second.id == first.id);
    let all = store.events(&session, &EventFilter::default()).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0].payload, all[0].key.as_deref()), (&json!({"n": 1}), Some("k1")));
}

/// Keys that look like secrets are redacted and remain distinct.
pub fn random_keys_stay_distinct(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    for key in ["password=correct-horse-1", "password=correct-horse-2"] {
        assert!(!store.log_event(&event(&session, "build", Some(key))).unwrap().duplicate);
        assert!(store.log_event(&event(&session, "build", Some(key))).unwrap().duplicate);
    }
    let all = store.events(&session, &EventFilter::default()).unwrap();
    assert_eq!((all.len(), all[0].key.as_deref()), (2, Some("password=[REDACTED-1]")));
}

/// Events without a key are never merged.
pub fn events_without_a_key_are_always_new(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let ids: Vec<_> =
        (0..3).map(|_| store.log_event(&event(&session, "zone", None)).unwrap()).collect();
    assert!(ids.iter().all(|logged| !logged.duplicate));
    assert!(ids[0].id < ids[1].id && ids[1].id < ids[2].id);
    let nobody = event(&session_id("nobody"), "zone", None);
    assert!(matches!(store.log_event(&nobody), Err(StoreError::NotFound { .. })));
}

/// The same key in another group or type is another event.
pub fn keys_are_per_group_and_type(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let base = event(&session, "delivery", Some("k"));
    let mut grouped = base.clone();
    grouped.group = Some(group_id("P1"));
    let typed = event(&session, "verdict", Some("k"));
    for new in [&base, &grouped, &typed] {
        assert!(!store.log_event(new).unwrap().duplicate);
    }
    for new in [&base, &grouped, &typed] {
        assert!(store.log_event(new).unwrap().duplicate);
    }
}

/// Newest first, by type, by group, with a limit.
pub fn listings(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    for (kind, seconds) in [("a", 1), ("b", 2), ("a", 3)] {
        let mut new = event(&session, kind, None);
        new.now = at(seconds);
        new.group = (seconds == 3).then(|| group_id("P1"));
        store.log_event(&new).unwrap();
    }
    let times = |filter: EventFilter| -> Vec<i64> {
        let found = store.events(&session, &filter).unwrap();
        found.iter().map(|e| (e.created_at.as_micros() - at(0).as_micros()) / 1_000_000).collect()
    };
    assert_eq!(times(EventFilter::default()), [3, 2, 1]);
    let kind = Some(EventType::new("a").unwrap());
    assert_eq!(times(EventFilter { kind, ..Default::default() }), [3, 1]);
    assert_eq!(times(EventFilter { group: Some(group_id("P1")), ..Default::default() }), [3]);
    assert_eq!(times(EventFilter { limit: Some(2), ..Default::default() }), [3, 2]);
}
