//! Cases of [`Feed`](crate::Feed).

use handover_model::{Change, ChangeKind, Phase, SessionStatus};

use super::Backend;
use super::fixture::*;
use crate::{FeedSpan, Judgement, ReceiptStep};

fn told(changes: &[Change]) -> Vec<(ChangeKind, &str, &str)> {
    changes.iter().map(|c| (c.kind, c.subject.as_str(), c.detail.as_str())).collect()
}

/// Every write is in the feed, in order; a write that changes nothing is not.
pub fn every_change_is_in_the_feed_once(backend: &dyn Backend) {
    let store = backend.open();
    assert_eq!(store.feed_span().unwrap(), FeedSpan { first: 1, last: 0 });
    let s1 = session(&*store, "s1");
    let package = register(&*store, package(&s1, "a.md", "x"));
    let thought = store.add_reasoning(&reasoning(&s1, Phase::Risks, "y")).unwrap();
    let event = store.log_event(&event(&s1, "verdict", Some("k"))).unwrap();
    store.put_receipt(&receipt(&s1, "r1", &[package.id])).unwrap();
    let id = handover_model::ReceiptId::new("r1").unwrap();
    let step = ReceiptStep::Delivered { host: None };
    store.advance_receipt(&id, &step, at(1)).unwrap();
    store.set_session_status(&s1, SessionStatus::Completed, at(2)).unwrap();
    // The same again is not a change.
    store.log_event(&super::fixture::event(&s1, "verdict", Some("k"))).unwrap();
    store.advance_receipt(&id, &step, at(3)).unwrap();
    store.register_packages(&[super::fixture::package(&s1, "a.md", "x")]).unwrap();
    let changes = store.changes(0, 100).unwrap();
    assert_eq!(
        told(&changes),
        [
            (ChangeKind::Session, "s1", "active"),
            (ChangeKind::Package, package.id.to_string().as_str(), "research"),
            (ChangeKind::Reasoning, thought.id.to_string().as_str(), "risks"),
            (ChangeKind::Event, event.id.to_string().as_str(), "verdict"),
            (ChangeKind::Receipt, "r1", "assembled"),
            (ChangeKind::Receipt, "r1", "delivered"),
            (ChangeKind::Session, "s1", "completed"),
        ]
    );
    assert!(changes.iter().all(|c| c.session.as_ref() == Some(&s1) && c.project == project()));
    assert!(changes.windows(2).all(|pair| pair[0].id < pair[1].id));
    let span = store.feed_span().unwrap();
    assert_eq!((span.first, span.last), (changes[0].id, changes[6].id));
    assert_eq!(store.changes(changes[4].id, 1).unwrap(), changes[5..6]);
    assert_eq!(store.changes(span.last, 10).unwrap(), []);
}

/// Packages that were registered together appear one by one, in order.
pub fn a_batch_is_in_the_feed_in_order(backend: &dyn Backend) {
    let store = backend.open();
    let s1 = session(&*store, "s1");
    let before = store.feed_span().unwrap().last;
    let mut new: Vec<_> = ["c.md", "a.md", "b.md"].map(|path| package(&s1, path, "x")).into();
    new[0].created_at = at(9);
    let registered = store.register_packages(&new).unwrap();
    let ids: Vec<String> = registered.iter().map(|r| r.package.id.to_string()).collect();
    let changes = store.changes(before, 10).unwrap();
    let subjects: Vec<&str> = changes.iter().map(|change| change.subject.as_str()).collect();
    assert_eq!(subjects, ids);
}

/// What was rolled back is not in the feed; a purge is.
pub fn only_committed_changes_are_in_the_feed(backend: &dyn Backend) {
    let store = backend.open();
    let s1 = session(&*store, "s1");
    let before = store.feed_span().unwrap().last;
    let undone = store.exclusively(&mut |store| {
        store.add_reasoning(&reasoning(&s1, Phase::Risks, "never"))?;
        store.session(&session_id("nobody")).map(drop)
    });
    assert!(undone.is_err());
    store.purge_session(&s1).unwrap();
    assert_eq!(told(&store.changes(before, 10).unwrap()), [(ChangeKind::Session, "s1", "purged")]);
}

/// What is learned is in the feed of the project, without a session.
pub fn learned_records_are_in_the_feed(backend: &dyn Backend) {
    let store = backend.open();
    let hash = store.record_error(&sighting("disk full")).unwrap().hash;
    store.record_error(&sighting("disk full")).unwrap();
    store.resolve_error(&sighting("disk full"), &clean("free some")).unwrap();
    store.judge_error(&project(), &hash, Judgement::Rejected, at(5)).unwrap();
    let id = store.learn_strategies(&[strategy("Use adapters", 1)]).unwrap()[0].id.clone();
    // The same from the same source is not a change.
    store.learn_strategies(&[strategy("Use adapters", 1)]).unwrap();
    store.strategy_helped(&id, at(6)).unwrap();
    let changes = store.changes(0, 100).unwrap();
    let error = |detail| (ChangeKind::ErrorPattern, hash.as_str(), detail);
    let strategy = (ChangeKind::Strategy, id.as_str(), "implementation");
    assert_eq!(
        told(&changes),
        [
            error("unsolved"),
            error("unsolved"),
            // Seen again, and solved.
            error("unsolved"),
            error("solved"),
            error("solved"),
            strategy,
            strategy,
        ]
    );
    assert!(changes.iter().all(|c| c.session.is_none() && c.project == project()));
}

/// Notes that were learned together are one change; those that were known are none.
pub fn notes_are_reported_together(backend: &dyn Backend) {
    let store = backend.open();
    let units = ["a.md", "b.md"].map(|path| unit(path, &["one", "two"]));
    store.learn_notes(&project(), &units, at(1)).unwrap();
    store.learn_notes(&project(), &units, at(2)).unwrap();
    let id = note_id("a.md", "one");
    let retired = handover_model::NoteState::Retired;
    store.set_note_state(&project(), &id, retired, None, at(3)).unwrap();
    store.set_note_state(&project(), &id, retired, None, at(4)).unwrap();
    let changes = store.changes(0, 100).unwrap();
    let name = project();
    assert_eq!(
        told(&changes),
        [(ChangeKind::Note, name.as_str(), "4"), (ChangeKind::Note, name.as_str(), "3")]
    );
    assert!(changes.iter().all(|c| c.session.is_none() && c.project == project()));
}
