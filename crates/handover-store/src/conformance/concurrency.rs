//! Cases with many concurrent handles. Threads here; the command line's tests use processes.

use std::collections::BTreeSet;

use handover_model::{Package, Phase};

use super::Backend;
use super::fixture::*;
use crate::{ErrorFilter, GroupUpdate, PackageFilter, Store, StoreError, Versions};

const WRITERS: usize = 8;
const ROUNDS: usize = 12;

/// Runs the work in many threads, each with its own handle, and collects the results.
fn at_once<T: Send>(backend: &dyn Backend, work: impl Fn(&dyn Store, usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let work = &work;
                scope.spawn(move || {
                    let store = backend.open();
                    (0..ROUNDS).map(|_| work(&*store, writer)).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Counters, confidence and helpfulness match the number of calls.
pub fn counters_lose_no_increment(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    at_once(backend, |store, _| {
        store.record_error(&sighting("boom")).unwrap();
        store.add_reasoning(&reasoning(&session, Phase::Approach, "x")).unwrap();
        let mut update = GroupUpdate::new(session.clone(), group_id("P1"), at(0));
        update.count = vec![counter("revisions")];
        store.set_group(&update).unwrap();
        let learned = store.learn_strategies(&[strategy("insight", 1)]).unwrap();
        store.strategy_helped(&learned[0].id, at(0)).unwrap();
    });
    let calls = (WRITERS * ROUNDS) as u64;
    assert_eq!(store.errors(&project(), &ErrorFilter::default()).unwrap()[0].occurrences, calls);
    assert_eq!(store.session_counts(&session).unwrap().reasoning, calls);
    assert_eq!(store.group(&session, &group_id("P1")).unwrap().counters["revisions"], calls);
    let kept = store.strategies(&project(), &Default::default()).unwrap();
    assert_eq!(kept[0].helpfulness, calls + 1);
}

/// Every saved output has its own iteration, even without role and group.
pub fn iterations_are_distinct(backend: &dyn Backend) {
    let session = session(&*backend.open(), "s1");
    let iterations = at_once(backend, |store, _| {
        store.save_skill_output(&skill_output(&session, "scan")).unwrap().iteration
    });
    let distinct: BTreeSet<u32> = iterations.into_iter().collect();
    assert_eq!(distinct, (1..=(WRITERS * ROUNDS) as u32).collect());
}

/// Of many events with one key, one is written, and every caller gets its id.
pub fn one_key_one_event(backend: &dyn Backend) {
    let session = session(&*backend.open(), "s1");
    let logged = at_once(backend, |store, _| {
        store.log_event(&event(&session, "delivery", Some("k"))).unwrap()
    });
    assert_eq!(logged.iter().filter(|l| !l.duplicate).count(), 1);
    assert!(logged.iter().all(|l| l.id == logged[0].id));
}

/// Of many registrations of one file, one creates the package.
pub fn one_registration_wins(backend: &dyn Backend) {
    let session = session(&*backend.open(), "s1");
    let results = at_once(backend, |store, _| {
        store.register_packages(&[package(&session, "a.md", "x")]).unwrap().pop().unwrap()
    });
    assert_eq!(results.iter().filter(|r| r.created).count(), 1);
    assert!(results.iter().all(|r| r.package.id == results[0].package.id));
}

/// Versions created concurrently form one chain without gaps or forks.
pub fn chains_stay_linear(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    at_once(backend, |store, writer| {
        let body = format!("by {writer}");
        store.register_packages(&[package(&session, "a.md", &body)]).unwrap();
    });
    let filter = PackageFilter { versions: Versions::All, ..Default::default() };
    let mut all: Vec<Package> = store.packages(&session, &filter).unwrap();
    all.sort_by_key(|p| p.version);
    assert_eq!(
        all.iter().map(|p| p.version).collect::<Vec<_>>(),
        (1..=all.len() as u32).collect::<Vec<_>>()
    );
    for pair in all.windows(2) {
        assert_eq!(pair[1].supersedes, Some(pair[0].id));
        assert_eq!(pair[0].superseded_by, Some(pair[1].id));
    }
    assert_eq!(store.candidates(&session, None, None).unwrap().len(), 1);
}

/// Exclusive work is isolated, and an error rolls all of it back.
pub fn exclusive_work_is_isolated_and_atomic(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    at_once(backend, |store, _| {
        store
            .exclusively(&mut |store| {
                let count = store.session_counts(&session)?.reasoning;
                let mut new = reasoning(&session, Phase::Approach, &format!("number {count}"));
                new.iteration = u32::try_from(count).unwrap();
                store.add_reasoning(&new).map(drop)
            })
            .unwrap();
    });
    let all = store.reasoning(&session, &Default::default()).unwrap();
    let numbers: BTreeSet<u32> = all.iter().map(|r| r.iteration).collect();
    assert_eq!(numbers.len(), WRITERS * ROUNDS);
    let undone = store.exclusively(&mut |store| {
        store.add_reasoning(&reasoning(&session, Phase::Approach, "never"))?;
        store.session(&session_id("nobody")).map(drop)
    });
    assert!(undone.is_err());
    assert_eq!(store.session_counts(&session).unwrap().reasoning, (WRITERS * ROUNDS) as u64);
}

/// Until a transaction is over, others see the state before it.
pub fn a_transaction_is_invisible_until_it_ends(backend: &dyn Backend) {
    let (writer, reader) = (backend.open(), backend.open());
    let id = session(&*writer, "s1");
    let count = || reader.session_counts(&id).unwrap().reasoning;
    writer
        .exclusively(&mut |store| {
            store.add_reasoning(&reasoning(&id, Phase::Risks, "x"))?;
            assert_eq!(store.session_counts(&id)?.reasoning, 1, "inside it is there");
            assert_eq!(count(), 0, "not committed yet");
            Ok(())
        })
        .unwrap();
    assert_eq!(count(), 1);
}

/// A consistent read sees one state, whatever others write meanwhile, and so does a nested one.
pub fn a_consistent_read_sees_one_state(backend: &dyn Backend) {
    let (writer, reader) = (backend.open(), backend.open());
    let id = session(&*writer, "s1");
    reader
        .consistently(&mut |store| {
            assert_eq!(store.session_counts(&id)?.reasoning, 0);
            writer.add_reasoning(&reasoning(&id, Phase::Risks, "x"))?;
            assert_eq!(store.session_counts(&id)?.reasoning, 0);
            store.consistently(&mut |store| {
                assert_eq!(store.session_counts(&id)?.reasoning, 0);
                Ok(())
            })
        })
        .unwrap();
    assert_eq!(reader.session_counts(&id).unwrap().reasoning, 1);
    // One that fails leaves the handle usable.
    let failed = reader.consistently(&mut |_| Err(StoreError::Aborted));
    assert!(matches!(failed, Err(StoreError::Aborted)), "{failed:?}");
    reader.add_reasoning(&reasoning(&id, Phase::Risks, "y")).unwrap();
    assert_eq!(writer.session_counts(&id).unwrap().reasoning, 2);
}
