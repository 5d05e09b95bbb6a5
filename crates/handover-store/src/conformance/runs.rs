//! Cases of [`Runs`](crate::Runs).

use handover_model::{EpicId, JournalKind, LockOwner, RunId, RunState};
use serde_json::json;

use super::Backend;
use super::fixture::*;
use crate::{LockClaim, NewJournalEntry, NewRun, RunFilter, Store, StoreError};

fn epic(id: &str) -> EpicId {
    EpicId::new(id).unwrap()
}

fn run_id(id: &str) -> RunId {
    RunId::new(id).unwrap()
}

pub(super) fn claim(epic_id: &str, pid: u32, now: i64) -> LockClaim {
    LockClaim {
        epic: epic(epic_id),
        owner: LockOwner { host: "here".to_owned(), pid, started: Some(7), boot: None },
        until: at(now + 60),
        over: None,
        now: at(now),
    }
}

pub(super) fn started(store: &dyn Store, id: &str, epic_id: &str, fence: u64, now: i64) -> RunId {
    let session = session(store, "s1");
    let new = NewRun { id: run_id(id), epic: epic(epic_id), session, now: at(now) };
    store.start_run(&new, fence).unwrap();
    new.id
}

fn entry(seq: u64, kind: JournalKind, now: i64) -> NewJournalEntry {
    let entry = clean_json(json!({"n": seq}));
    NewJournalEntry { seq, kind, entry, state: None, until: at(now + 60), now: at(now) }
}

/// A second engine learns which engine owns the epic.
pub fn one_owner_at_a_time(backend: &dyn Backend) {
    let store = backend.open();
    let first = store.lock_epic(&claim("1", 10, 0)).unwrap();
    match store.lock_epic(&claim("1", 11, 1)) {
        Err(StoreError::Locked { owner, fence, .. }) => {
            assert_eq!((owner.pid, fence), (10, first));
        }
        other => panic!("{other:?}"),
    }
    store.lock_epic(&claim("2", 11, 1)).unwrap();
    store.unlock_epic(&epic("1"), first).unwrap();
    let second = store.lock_epic(&claim("1", 11, 2)).unwrap();
    assert!(second > first);
    // The previous owner can no longer release it.
    store.unlock_epic(&epic("1"), first).unwrap();
    assert!(matches!(store.lock_epic(&claim("1", 12, 3)), Err(StoreError::Locked { .. })));
}

/// A lock that is not renewed expires; a journal entry renews it.
pub fn a_lease_expires(backend: &dyn Backend) {
    let store = backend.open();
    let fence = store.lock_epic(&claim("1", 10, 0)).unwrap();
    let run = started(&*store, "r1", "1", fence, 0);
    store.append_journal(&run, &entry(1, JournalKind::Note, 50), fence).unwrap();
    assert!(matches!(store.lock_epic(&claim("1", 11, 100)), Err(StoreError::Locked { .. })));
    assert!(store.lock_epic(&claim("1", 11, 111)).unwrap() > fence);
}

/// A claim that names the current fence takes over immediately; one with an earlier fence must wait.
pub fn dead_owners_are_replaced(backend: &dyn Backend) {
    let store = backend.open();
    let first = store.lock_epic(&claim("1", 10, 0)).unwrap();
    let over = |fence, pid| LockClaim { over: Some(fence), ..claim("1", pid, 1) };
    let second = store.lock_epic(&over(first, 11)).unwrap();
    assert!(matches!(store.lock_epic(&over(first, 12)), Err(StoreError::Locked { .. })));
    let (owner, fence) = store.epic_owner(&epic("1")).unwrap().unwrap();
    assert_eq!((owner.pid, fence), (11, second));
    assert_eq!(store.epic_owner(&epic("9")).unwrap(), None);
}

/// An engine that lost the lock cannot write.
pub fn an_old_fence_writes_nothing(backend: &dyn Backend) {
    let store = backend.open();
    let old = store.lock_epic(&claim("1", 10, 0)).unwrap();
    let run = started(&*store, "r1", "1", old, 0);
    let new = store.lock_epic(&LockClaim { over: Some(old), ..claim("1", 11, 1) }).unwrap();
    let refused = store.append_journal(&run, &entry(1, JournalKind::Note, 2), old);
    assert!(matches!(refused, Err(StoreError::Fenced { .. })));
    let session = session_id("s1");
    let another = NewRun { id: run_id("r2"), epic: epic("1"), session, now: at(2) };
    assert!(matches!(store.start_run(&another, old), Err(StoreError::Fenced { .. })));
    store.append_journal(&run, &entry(1, JournalKind::Note, 2), new).unwrap();
    assert_eq!(store.journal(&run, 1).unwrap().len(), 1);
}

/// Positions are used once and in order; the state of the run is updated with them.
pub fn journals_are_append_only(backend: &dyn Backend) {
    let store = backend.open();
    let fence = store.lock_epic(&claim("1", 10, 0)).unwrap();
    let run = started(&*store, "r1", "1", fence, 0);
    store.append_journal(&run, &entry(1, JournalKind::Intent, 1), fence).unwrap();
    for wrong in [1, 3] {
        let refused = store.append_journal(&run, &entry(wrong, JournalKind::Result, 2), fence);
        assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{wrong}");
    }
    let last = NewJournalEntry { state: Some(RunState::Done), ..entry(2, JournalKind::Result, 3) };
    store.append_journal(&run, &last, fence).unwrap();
    let all = store.journal(&run, 1).unwrap();
    let seen: Vec<_> = all.iter().map(|e| (e.seq, e.kind, e.entry["n"].as_u64())).collect();
    assert_eq!(seen, [(1, JournalKind::Intent, Some(1)), (2, JournalKind::Result, Some(2))]);
    assert_eq!(store.journal(&run, 2).unwrap().len(), 1);
    let record = store.run_record(&run).unwrap();
    assert_eq!((record.state, record.updated_at), (RunState::Done, at(3)));
    let nobody = store.append_journal(&run_id("r9"), &entry(1, JournalKind::Note, 4), fence);
    assert!(matches!(nobody, Err(StoreError::NotFound { .. })));
}

/// Newest first, by epic, with a limit.
pub fn listings(backend: &dyn Backend) {
    let store = backend.open();
    for (n, epic_id) in ["1", "2", "1"].iter().enumerate() {
        let now = i64::try_from(n).unwrap();
        let fence = store.lock_epic(&claim(epic_id, 10, now)).unwrap();
        started(&*store, &format!("r{n}"), epic_id, fence, now);
        store.unlock_epic(&epic(epic_id), fence).unwrap();
    }
    let ids = |filter: RunFilter| -> Vec<String> {
        store.runs(&filter).unwrap().iter().map(|run| run.id.to_string()).collect()
    };
    assert_eq!(ids(RunFilter::default()), ["r2", "r1", "r0"]);
    assert_eq!(ids(RunFilter { epic: Some(epic("1")), limit: None }), ["r2", "r0"]);
    assert_eq!(ids(RunFilter { epic: None, limit: Some(1) }), ["r2"]);
    assert!(matches!(store.run_record(&run_id("r9")), Err(StoreError::NotFound { .. })));
}

/// What people decided is found by who it was; other entries are not.
pub fn decisions_of_people(backend: &dyn Backend) {
    let store = backend.open();
    let fence = store.lock_epic(&claim("1", 10, 0)).unwrap();
    let run = started(&*store, "r1", "1", fence, 0);
    let entries = [
        json!({"event": "answered", "answer": "8080", "by": "amelia"}),
        json!({"event": "gave_up", "reason": "too expensive"}),
        json!({"event": "approved", "approval": {"scenario": "M1", "by": "bob"}}),
    ];
    for (nth, content) in entries.into_iter().enumerate() {
        let seq = nth as u64 + 1;
        let new = entry(seq, JournalKind::Result, nth as i64 + 1);
        let new = NewJournalEntry { entry: clean_json(content), ..new };
        store.append_journal(&run, &new, fence).unwrap();
    }
    let project = store.session(&session_id("s1")).unwrap().project;
    let decided = |project, limit| -> Vec<u64> {
        let found = store.decided(project, limit).unwrap();
        assert!(found.iter().all(|one| one.run == run && one.epic == epic("1")));
        found.into_iter().map(|one| one.entry.seq).collect()
    };
    assert_eq!(decided(&project, 9), [3, 1]);
    assert_eq!(decided(&project, 1), [3]);
    assert_eq!(decided(&handover_model::ProjectId::new("nobody").unwrap(), 9), [0_u64; 0]);
}

/// What agents cost, by the day on which they ended; other entries cost nothing.
pub fn costs_by_day(backend: &dyn Backend) {
    let store = backend.open();
    let fence = store.lock_epic(&claim("1", 10, 0)).unwrap();
    let run = started(&*store, "r1", "1", fence, 0);
    let day = 86_400;
    let entries = [
        (1, json!({"event": "phase_ended", "spent": {"cost_usd": 0.5}})),
        (2, json!({"event": "phase_ended", "spent": {"cost_usd": 0.25}})),
        (3, json!({"event": "gates_ended", "spent": {"cost_usd": 9.0}})),
        (day, json!({"event": "phase_ended", "spent": {"cost_usd": 2}})),
        (day + 1, json!({"event": "phase_ended"})),
    ];
    for (nth, (seconds, content)) in entries.into_iter().enumerate() {
        let new = entry(nth as u64 + 1, JournalKind::Result, seconds);
        let new = NewJournalEntry { entry: clean_json(content), until: at(9 * day), ..new };
        store.append_journal(&run, &new, fence).unwrap();
    }
    let project = store.session(&session_id("s1")).unwrap().project;
    let costs = |since| -> Vec<(i64, u64, f64)> {
        let costs = store.agent_costs(&project, at(since)).unwrap();
        costs.into_iter().map(|one| (one.day, one.agents, one.cost_usd)).collect()
    };
    let first = at(0).as_micros() / 86_400_000_000;
    assert_eq!(costs(0), [(first, 2, 0.75), (first + 1, 2, 2.0)]);
    assert_eq!(costs(2), [(first, 1, 0.25), (first + 1, 2, 2.0)]);
    assert_eq!(costs(3 * day), []);
    let nobody = handover_model::ProjectId::new("nobody").unwrap();
    assert_eq!(store.agent_costs(&nobody, at(0)).unwrap(), []);
}

/// A renewed lock does not expire, and only its owner can renew it.
pub fn renewing_keeps_the_lock(backend: &dyn Backend) {
    let store = backend.open();
    let fence = store.lock_epic(&claim("1", 10, 0)).unwrap();
    store.keep_epic(&epic("1"), fence, at(600)).unwrap();
    // An earlier time never shortens it.
    store.keep_epic(&epic("1"), fence, at(1)).unwrap();
    assert!(matches!(store.lock_epic(&claim("1", 11, 300)), Err(StoreError::Locked { .. })));
    let next = store.lock_epic(&claim("1", 11, 601)).unwrap();
    let late = store.keep_epic(&epic("1"), fence, at(900));
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    store.keep_epic(&epic("1"), next, at(900)).unwrap();
}
