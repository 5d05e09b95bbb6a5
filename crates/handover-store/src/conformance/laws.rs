//! Laws that hold after any sequence of calls, checked against a small model. The sequences are random but
//! the same in every run and for every backend.

use std::collections::BTreeMap;

use handover_model::{PackageId, ReceiptId, ReceiptState, SessionId, Timestamp};

use super::Backend;
use super::fixture::*;
use crate::{
    CLAIM_SECONDS, EventFilter, NewPackage, PackageFilter, ReceiptStep, Store, StoreError, Versions,
};

/// Pseudo-random numbers (a linear congruential generator), so that failures repeat.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let at = self.roll(list.len() as u64);
        &list[usize::try_from(at).unwrap()]
    }
}

/// Whatever is registered in whatever order: every path has one chain, its versions count from 1, only the
/// last one is the latest, and registering the same content twice in a row creates one version.
pub fn versions_form_chains(backend: &dyn Backend) {
    for seed in 1..6 {
        let store = backend.open();
        let session = session(&*store, &format!("s{seed}"));
        let mut dice = Dice(seed);
        // Path → contents, oldest first.
        let mut model: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for step in 0..40 {
            let batch: Vec<NewPackage> = (0..=dice.roll(3))
                .map(|_| {
                    let path = format!("{}.md", dice.roll(4));
                    let content = format!("content {}", dice.roll(3));
                    let mut new = package(&session, &path, &content);
                    new.created_at = at(step);
                    new
                })
                .collect();
            let registered = store.register_packages(&batch).unwrap();
            for (new, registered) in batch.iter().zip(registered) {
                let chain = model.entry(new.path.clone()).or_default();
                let is_new = chain.last().map(String::as_str) != Some(new.body.as_str());
                assert_eq!(registered.created, is_new, "seed {seed}, step {step}");
                if is_new {
                    chain.push(new.body.as_str().to_owned());
                }
                assert_eq!(registered.package.version as usize, chain.len());
            }
        }
        check_chains(&*store, &session, &model);
    }
}

fn check_chains(store: &dyn Store, session: &SessionId, model: &BTreeMap<String, Vec<String>>) {
    let latest = store.packages(session, &PackageFilter::default()).unwrap();
    assert_eq!(latest.len(), model.len());
    for package in latest {
        let history = store.package_history(package.id).unwrap();
        let ids: Vec<PackageId> = history.iter().map(|version| version.id).collect();
        let bodies = store.package_bodies(&ids).unwrap();
        assert_eq!(bodies, model[&package.path], "{}", package.path);
        let mut ascending = ids.clone();
        ascending.sort_unstable();
        assert_eq!(ids, ascending);
        for (at, version) in history.iter().enumerate() {
            assert_eq!(version.version as usize, at + 1);
            assert_eq!(version.supersedes, at.checked_sub(1).map(|before| ids[before]));
            assert_eq!(version.superseded_by, ids.get(at + 1).copied());
        }
    }
    let all = PackageFilter { versions: Versions::All, ..PackageFilter::default() };
    let count: usize = model.values().map(Vec::len).sum();
    assert_eq!(store.packages(session, &all).unwrap().len(), count);
    assert_eq!(store.session_counts(session).unwrap().packages as usize, model.len());
}

/// Claims and steps in any order: a receipt moves as [`ReceiptStep::allowed_from`] says, is claimed for a
/// minute, and refusals change nothing.
pub fn receipts_move_as_their_steps_allow(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let steps = [
        ReceiptStep::Delivered { host: Some(clean("claude")) },
        ReceiptStep::Confirmed,
        ReceiptStep::Failed { reason: clean("killed") },
    ];
    for seed in 1..30 {
        let mut dice = Dice(seed);
        let id = ReceiptId::new(format!("r{seed}")).unwrap();
        store.put_receipt(&receipt(&session, id.as_str(), &[])).unwrap();
        let (mut state, mut claimed): (ReceiptState, Option<Timestamp>) =
            (ReceiptState::Assembled, None);
        for n in 0..8 {
            let now = at(n * 25);
            if dice.roll(3) == 0 {
                let live = |since: Timestamp| now < since.plus_seconds(CLAIM_SECONDS);
                let expected = match state {
                    ReceiptState::Assembled => !claimed.is_some_and(live),
                    ReceiptState::Delivered | ReceiptState::Confirmed | ReceiptState::Failed => {
                        false
                    }
                };
                let outcome = store.claim_receipt(&id, now);
                assert_eq!(outcome.is_ok(), expected, "seed {seed}: {state} {outcome:?}");
                if expected {
                    claimed = Some(now);
                }
                continue;
            }
            let step = dice.pick(&steps);
            match store.advance_receipt(&id, step, now) {
                Ok(kept) => {
                    assert!(step.allowed_from(state), "seed {seed}: {state} → {}", step.target());
                    state = step.target();
                    assert_eq!(kept.state, state);
                }
                Err(StoreError::WrongState { from, to, .. }) => {
                    assert!(!step.allowed_from(state), "seed {seed}");
                    assert_eq!((from, to), (state, step.target()));
                }
                Err(error) => panic!("{error}"),
            }
            assert_eq!(store.receipt(&id).unwrap().state, state);
        }
    }
}

/// Any limit returns the beginning of the whole listing.
pub fn limits_return_the_beginning(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    for n in 0..7 {
        let mut new = event(&session, "verdict", None);
        // Some at the same moment.
        new.now = at(n / 2);
        store.log_event(&new).unwrap();
        let mut new = package(&session, &format!("{n}.md"), "x");
        new.created_at = at(n / 3);
        register(&*store, new);
    }
    let events = |limit| {
        let filter = EventFilter { limit, ..EventFilter::default() };
        let events = store.events(&session, &filter).unwrap();
        events.into_iter().map(|event| event.id).collect::<Vec<_>>()
    };
    let packages = |limit| {
        let filter = PackageFilter { limit, ..PackageFilter::default() };
        let packages = store.packages(&session, &filter).unwrap();
        packages.into_iter().map(|package| package.id).collect::<Vec<_>>()
    };
    let (all_events, all_packages) = (events(None), packages(None));
    assert_eq!((all_events.len(), all_packages.len()), (7, 7));
    for limit in [0, 1, 3, 7, 8, u32::MAX] {
        let most = usize::try_from(limit).unwrap().min(7);
        assert_eq!(events(Some(limit)), all_events[..most], "{limit}");
        assert_eq!(packages(Some(limit)), all_packages[..most], "{limit}");
    }
}

/// Whatever is written inside a failed transaction was never there.
pub fn a_failed_transaction_leaves_nothing(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    register(&*store, package(&session, "a.md", "first"));
    let before = (
        store.session_counts(&session).unwrap(),
        store.packages(&session, &PackageFilter::default()).unwrap(),
        store.feed_span().unwrap().last,
    );
    for round in 0..2 {
        let outcome = store.exclusively(&mut |store| {
            store.register_packages(&[package(&session, "a.md", "second")])?;
            store.register_packages(&[package(&session, "b.md", "new")])?;
            store.add_reasoning(&reasoning(&session, handover_model::Phase::Risks, "x"))?;
            store.log_event(&event(&session, "verdict", Some("key")))?;
            store.put_receipt(&receipt(&session, "r1", &[]))?;
            store.record_error(&sighting("boom"))?;
            // Inside the transaction, everything is there.
            assert_eq!(store.packages(&session, &PackageFilter::default())?.len(), 2);
            Err(StoreError::Aborted)
        });
        assert!(matches!(outcome, Err(StoreError::Aborted)), "round {round}");
    }
    assert_eq!(store.session_counts(&session).unwrap(), before.0);
    assert_eq!(store.packages(&session, &PackageFilter::default()).unwrap(), before.1);
    assert!(store.changes(before.2, 100).unwrap().is_empty(), "nothing in the feed either");
    assert!(store.errors(&project(), &Default::default()).unwrap().is_empty());
    let found = store.postings(&session, &["second".to_owned(), "new".to_owned()]).unwrap();
    assert!(found.iter().all(|postings| postings.count() == 0), "nothing in the text index");
    // The same key can be used again.
    assert!(!store.log_event(&event(&session, "verdict", Some("key"))).unwrap().duplicate);
}
