//! Cases of [`Jobs`](crate::Jobs).

use handover_model::RunId;
use serde_json::json;

use super::Backend;
use super::fixture::*;
use super::runs::{claim, started};
use crate::{Hold, NewJob, Store};

fn run(store: &dyn Store) -> RunId {
    let fence = store.lock_epic(&claim("1", 10, 0)).unwrap();
    started(store, "run_1", "1", fence, 0)
}

fn offer(store: &dyn Store, run: &RunId, seq: u64) {
    let work = clean_json(json!({"n": seq}));
    store.offer_job(&NewJob { run: run.clone(), seq, work, now: at(0) }).unwrap();
}

fn hold(run: &RunId, taker: &str, until: i64) -> Hold {
    Hold { run: run.clone(), taker: taker.to_owned(), until: at(until) }
}

/// Oldest first, each to one taker, and nothing once all are taken.
pub fn each_is_taken_once(backend: &dyn Backend) {
    let store = backend.open();
    let run = run(&*store);
    assert_eq!(store.take_job(&hold(&run, "a", 60), at(0)).unwrap(), None);
    for seq in [7, 3, 3] {
        offer(&*store, &run, seq);
    }
    let first = store.take_job(&hold(&run, "a", 60), at(1)).unwrap().unwrap();
    assert_eq!((first.seq, first.work), (3, json!({"n": 3})));
    assert_eq!(first.taker.as_deref(), Some("a"));
    assert_eq!(store.take_job(&hold(&run, "b", 60), at(1)).unwrap().unwrap().seq, 7);
    assert_eq!(store.take_job(&hold(&run, "c", 60), at(1)).unwrap(), None);
    // Offering it again does not release it.
    offer(&*store, &run, 3);
    assert_eq!(store.take_job(&hold(&run, "c", 60), at(1)).unwrap(), None);
}

/// A helper that does not renew its hold loses the job.
pub fn an_expired_job_is_taken_again(backend: &dyn Backend) {
    let store = backend.open();
    let run = run(&*store);
    offer(&*store, &run, 2);
    store.take_job(&hold(&run, "a", 60), at(0)).unwrap().unwrap();
    assert!(store.keep_job(&hold(&run, "a", 120), 2).unwrap());
    assert_eq!(store.take_job(&hold(&run, "b", 200), at(100)).unwrap(), None);
    assert_eq!(store.take_job(&hold(&run, "b", 200), at(120)).unwrap().unwrap().seq, 2);
    assert!(!store.keep_job(&hold(&run, "a", 300), 2).unwrap());
    assert!(!store.finish_job(&hold(&run, "a", 300), 2, &clean_json(json!("a"))).unwrap());
    assert!(store.finish_job(&hold(&run, "b", 300), 2, &clean_json(json!("b"))).unwrap());
    assert_eq!(store.job(&run, 2).unwrap().unwrap().result, Some(json!("b")));
}

/// A finished or withdrawn job cannot be kept or finished.
pub fn late_results_change_nothing(backend: &dyn Backend) {
    let store = backend.open();
    let run = run(&*store);
    offer(&*store, &run, 2);
    offer(&*store, &run, 3);
    let mine = hold(&run, "a", 60);
    store.take_job(&mine, at(0)).unwrap().unwrap();
    assert!(store.finish_job(&mine, 2, &clean_json(json!(1))).unwrap());
    assert!(!store.finish_job(&mine, 2, &clean_json(json!(2))).unwrap());
    assert_eq!(store.job(&run, 2).unwrap().unwrap().result, Some(json!(1)));
    assert!(!store.keep_job(&mine, 2).unwrap());
    store.take_job(&mine, at(0)).unwrap().unwrap();
    store.withdraw_job(&run, 3).unwrap();
    assert!(!store.keep_job(&mine, 3).unwrap());
    assert!(!store.finish_job(&mine, 3, &clean_json(json!(1))).unwrap());
    assert_eq!(store.job(&run, 3).unwrap(), None);
    assert_eq!(store.take_job(&mine, at(1_000)).unwrap(), None);
}

/// Helpers whose announcement has expired do not count.
pub fn helpers_count_while_they_live(backend: &dyn Backend) {
    let store = backend.open();
    let run = run(&*store);
    assert_eq!(store.helping_slots(&run, at(0)).unwrap(), 0);
    store.announce_helper(&hold(&run, "a", 60), 2).unwrap();
    store.announce_helper(&hold(&run, "b", 90), 1).unwrap();
    assert_eq!(store.helping_slots(&run, at(59)).unwrap(), 3);
    assert_eq!(store.helping_slots(&run, at(60)).unwrap(), 1);
    store.announce_helper(&hold(&run, "a", 120), 4).unwrap();
    assert_eq!(store.helping_slots(&run, at(89)).unwrap(), 5);
}

/// Concurrent helpers never take the same job.
pub fn concurrent_helpers_take_each_job_once(backend: &dyn Backend) {
    let store = backend.open();
    let run = run(&*store);
    for seq in 1..=40 {
        offer(&*store, &run, seq);
    }
    let mut taken: Vec<u64> = std::thread::scope(|scope| {
        let takers: Vec<_> = (0..8)
            .map(|n| {
                let (store, hold) = (backend.open(), hold(&run, &format!("t{n}"), 60));
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    while let Some(job) = store.take_job(&hold, at(0)).unwrap() {
                        mine.push(job.seq);
                    }
                    mine
                })
            })
            .collect();
        takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
    });
    taken.sort_unstable();
    assert_eq!(taken, (1..=40).collect::<Vec<_>>());
}
