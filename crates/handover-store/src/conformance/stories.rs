//! Cases of [`Stories`](crate::Stories).

use std::collections::BTreeSet;

use handover_model::{EpicId, JournalKind, LockOwner, RunId, RunState, StoryId};
use serde_json::json;

use super::Backend;
use super::fixture::*;
use crate::{
    ClaimedStory, LockClaim, NewJournalEntry, NewRun, NewStoryEntry, Store, StoreError, StoryClaim,
    StoryEnd,
};

fn story(id: &str) -> StoryId {
    StoryId::new(id).unwrap()
}

fn run() -> RunId {
    RunId::new("r1").unwrap()
}

fn epic() -> EpicId {
    EpicId::new("1").unwrap()
}

fn owner(pid: u32) -> LockOwner {
    LockOwner { host: "here".to_owned(), pid, started: Some(7), boot: None }
}

/// A run with these stories, whose epic is free again; the fence that it had.
fn shared(store: &dyn Store, stories: &[&str]) -> u64 {
    let session = session(store, "s1");
    let claim = LockClaim { epic: epic(), owner: owner(1), until: at(60), over: None, now: at(0) };
    let fence = store.lock_epic(&claim).unwrap();
    store.start_run(&NewRun { id: run(), epic: epic(), session, now: at(0) }, fence).unwrap();
    let stories: Vec<StoryId> = stories.iter().map(|id| story(id)).collect();
    store.offer_stories(&run(), &stories).unwrap();
    store.unlock_epic(&epic(), fence).unwrap();
    fence
}

/// A claim at a moment, for a minute.
fn claim(store: &dyn Store, pid: u32, now: i64) -> Option<ClaimedStory> {
    let claim = StoryClaim {
        run: run(),
        epic: epic(),
        owner: owner(pid),
        until: at(now + 60),
        now: at(now),
    };
    store.claim_story(&claim).unwrap()
}

fn entry(id: &StoryId, now: i64) -> NewStoryEntry {
    NewStoryEntry {
        story: id.clone(),
        kind: JournalKind::Note,
        entry: clean_json(json!({"story": id})),
        state: None,
        until: at(now + 60),
        now: at(now),
    }
}

/// In their order, each to one owner; a story that is offered again stays as it is.
pub fn each_is_claimed_once(backend: &dyn Backend) {
    let store = backend.open();
    shared(&*store, &["1-1", "1-2"]);
    let first = claim(&*store, 10, 0).unwrap();
    assert_eq!((first.story.as_str(), first.fence), ("1-1", 1));
    store.offer_stories(&run(), &[story("1-1"), story("1-3")]).unwrap();
    assert_eq!(claim(&*store, 11, 0).unwrap().story, story("1-2"));
    assert_eq!(claim(&*store, 12, 0).unwrap().story, story("1-3"));
    assert_eq!(claim(&*store, 13, 0), None);
    let all = store.stories(&run()).unwrap();
    let seen: Vec<_> =
        all.iter().map(|s| (s.story.as_str(), s.owner.as_ref().map(|o| o.pid))).collect();
    assert_eq!(seen, [("1-1", Some(10)), ("1-2", Some(11)), ("1-3", Some(12))]);
    let elsewhere = StoryClaim {
        run: run(),
        epic: EpicId::new("2").unwrap(),
        owner: owner(1),
        until: at(1),
        now: at(0),
    };
    assert!(matches!(store.claim_story(&elsewhere), Err(StoreError::NotFound { .. })));
    let nowhere = RunId::new("r9").unwrap();
    assert!(matches!(store.stories(&nowhere), Err(StoreError::NotFound { .. })));
    assert!(matches!(store.offer_stories(&nowhere, &[]), Err(StoreError::NotFound { .. })));
}

/// What was closed is not claimed again, what was given back is.
pub fn a_closed_one_is_done_with(backend: &dyn Backend) {
    let store = backend.open();
    shared(&*store, &["1-1", "1-2"]);
    let first = claim(&*store, 10, 0).unwrap();
    let second = claim(&*store, 10, 0).unwrap();
    store.release_story(&run(), &first.story, first.fence, StoryEnd::Closed).unwrap();
    store.release_story(&run(), &second.story, second.fence, StoryEnd::GivenBack).unwrap();
    let again = claim(&*store, 11, 1).unwrap();
    assert_eq!((again.story, again.fence, again.taken_over), (second.story, 2, None));
    assert_eq!(claim(&*store, 12, 1000).unwrap().story, story("1-2"));
    assert!(store.stories(&run()).unwrap()[0].closed);
}

/// Without a sign of life a story goes to the next who asks, who learns whose it was.
pub fn a_dead_owner_is_replaced(backend: &dyn Backend) {
    let store = backend.open();
    shared(&*store, &["1-1"]);
    let old = claim(&*store, 10, 0).unwrap();
    store.renew_story(&run(), &old.story, old.fence, at(90)).unwrap();
    assert_eq!(claim(&*store, 11, 89), None);
    let new = claim(&*store, 11, 90).unwrap();
    assert_eq!((new.fence, new.taken_over), (2, Some(owner(10))));
    assert!(matches!(
        store.renew_story(&run(), &old.story, old.fence, at(900)),
        Err(StoreError::Fenced { .. })
    ));
    // The former owner has nothing to let go of any more.
    store.release_story(&run(), &old.story, old.fence, StoryEnd::Closed).unwrap();
    store.renew_story(&run(), &new.story, new.fence, at(200)).unwrap();
}

/// A runner that lost its story can write no more.
pub fn an_old_fence_writes_nothing(backend: &dyn Backend) {
    let store = backend.open();
    shared(&*store, &["1-1"]);
    let old = claim(&*store, 10, 0).unwrap();
    assert_eq!(store.append_story_journal(&run(), &entry(&old.story, 30), old.fence).unwrap(), 1);
    // The entry was a sign of life.
    assert_eq!(claim(&*store, 11, 61), None);
    let new = claim(&*store, 11, 90).unwrap();
    let refused = store.append_story_journal(&run(), &entry(&old.story, 91), old.fence);
    assert!(matches!(refused, Err(StoreError::Fenced { .. })));
    assert_eq!(store.append_story_journal(&run(), &entry(&new.story, 92), new.fence).unwrap(), 2);
    store.release_story(&run(), &new.story, new.fence, StoryEnd::Closed).unwrap();
    let closed = store.append_story_journal(&run(), &entry(&new.story, 93), new.fence);
    assert!(matches!(closed, Err(StoreError::Fenced { .. })));
    assert_eq!(store.journal(&run(), 1).unwrap().len(), 2);
}

/// Entries of several stories get places one after the other, and the run's state goes with them.
pub fn entries_of_many_make_one_order(backend: &dyn Backend) {
    let store = backend.open();
    shared(&*store, &["1-1", "1-2"]);
    let (one, two) = (claim(&*store, 10, 0).unwrap(), claim(&*store, 11, 0).unwrap());
    for (n, claimed) in [&one, &two, &two, &one].into_iter().enumerate() {
        let place = store.append_story_journal(&run(), &entry(&claimed.story, 1), claimed.fence);
        assert_eq!(place.unwrap(), n as u64 + 1);
    }
    let last = NewStoryEntry { state: Some(RunState::Done), ..entry(&two.story, 5) };
    store.append_story_journal(&run(), &last, two.fence).unwrap();
    let stories: Vec<String> = store
        .journal(&run(), 1)
        .unwrap()
        .iter()
        .map(|e| e.entry["story"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(stories, ["1-1", "1-2", "1-2", "1-1", "1-2"]);
    let record = store.run_record(&run()).unwrap();
    assert_eq!((record.state, record.updated_at), (RunState::Done, at(5)));
}

/// Runners at once get different stories, and all of them are got.
pub fn many_runners_share_them(backend: &dyn Backend) {
    let store = backend.open();
    let ids: Vec<String> = (0..64).map(|n| format!("1-{n}")).collect();
    shared(&*store, &ids.iter().map(String::as_str).collect::<Vec<_>>());
    let claimed: Vec<StoryId> = std::thread::scope(|scope| {
        let runners: Vec<_> = (0..8)
            .map(|pid| {
                scope.spawn(move || {
                    let (store, mut mine) = (backend.open(), Vec::new());
                    while let Some(claimed) = claim(&*store, pid, 0) {
                        let (id, fence) = (&claimed.story, claimed.fence);
                        store.append_story_journal(&run(), &entry(id, 1), fence).unwrap();
                        store.release_story(&run(), id, fence, StoryEnd::Closed).unwrap();
                        mine.push(claimed.story);
                    }
                    mine
                })
            })
            .collect();
        runners.into_iter().flat_map(|runner| runner.join().unwrap()).collect()
    });
    assert_eq!(claimed.len(), 64);
    assert_eq!(claimed.iter().collect::<BTreeSet<_>>().len(), 64);
    assert!(store.stories(&run()).unwrap().iter().all(|s| s.closed && s.fence == 1));
    let places: Vec<u64> = store.journal(&run(), 1).unwrap().iter().map(|e| e.seq).collect();
    assert_eq!(places, (1..=64).collect::<Vec<_>>());
}

/// Whoever does not hold the epic cannot write in its name, however many stories it has.
pub fn a_lone_runner_and_shared_stories_do_not_mix(backend: &dyn Backend) {
    let store = backend.open();
    let fence = shared(&*store, &["1-1"]);
    let mine = claim(&*store, 10, 0).unwrap();
    store.append_story_journal(&run(), &entry(&mine.story, 1), mine.fence).unwrap();
    let alone = NewJournalEntry {
        seq: 2,
        kind: JournalKind::Note,
        entry: clean_json(json!({})),
        state: None,
        until: at(60),
        now: at(2),
    };
    let refused = store.append_journal(&run(), &alone, fence);
    assert!(matches!(refused, Err(StoreError::Fenced { .. })));
}
