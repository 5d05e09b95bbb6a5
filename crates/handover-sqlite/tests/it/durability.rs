//! What survives, and how long a write waits.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use handover_model::{EventType, KnownEvent, Phase, ProjectId, Role, SessionId, Timestamp};
use handover_sqlite::{Patience, SqliteStore};
use handover_store::{
    Fault, NewEvent, NewReasoning, NewSession, ReasoningFilter, Reasonings, Sessions, Store,
    StoreError,
};
use handover_text::{CleanJson, Redactor};

use crate::file::raw;

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    (folder, path)
}

fn session() -> SessionId {
    SessionId::new("s1").unwrap()
}

fn open_session(store: &dyn Store) {
    store
        .open_session(&NewSession {
            id: session(),
            project: ProjectId::new("p").unwrap(),
            metadata: CleanJson::default(),
            now: Timestamp::from_micros(7),
        })
        .unwrap();
}

fn think(store: &dyn Store, text: &str) -> handover_store::Result<()> {
    let redactor = Redactor::new(&Default::default()).unwrap();
    let new = NewReasoning {
        session: session(),
        group: None,
        role: Role::new("developer").unwrap(),
        agent_id: None,
        iteration: 0,
        phase: Phase::Risks,
        confidence: None,
        content: redactor.clean(text),
        references: Vec::new(),
        now: Timestamp::from_micros(8),
        trust: handover_model::Trust::Project,
    };
    store.add_reasoning(&new).map(drop)
}

fn log(store: &dyn Store, kind: EventType) {
    let new = NewEvent {
        session: session(),
        group: None,
        kind,
        payload: CleanJson::default(),
        key: None,
        now: Timestamp::from_micros(9),
    };
    store.log_event(&new).unwrap();
}

fn log_length(path: &Path) -> u64 {
    fs_err::metadata(path.with_extension("db-wal")).map_or(0, |log| log.len())
}

#[test]
fn a_closed_store_is_complete_without_its_log() {
    let (_folder, path) = file();
    let store = SqliteStore::open(&path).unwrap();
    open_session(&store);
    think(&store, "kept").unwrap();
    assert!(log_length(&path) > 0);
    drop(store);
    assert_eq!(log_length(&path), 0);
    // What no power failure may take is folded, whatever it was written together with.
    for ending in [KnownEvent::Debrief, KnownEvent::Verdict] {
        let store = SqliteStore::open(&path).unwrap();
        let mut work = |store: &dyn Store| {
            log(store, KnownEvent::Guard.into());
            log(store, ending.into());
            Ok(())
        };
        store.exclusively(&mut work).unwrap();
        drop(store);
        assert_eq!(log_length(&path), 0, "{ending}");
    }
}

#[test]
fn events_alone_do_not_wait_for_the_disk() {
    let (_folder, path) = file();
    open_session(&SqliteStore::open(&path).unwrap());
    let store = SqliteStore::open(&path).unwrap();
    log(&store, EventType::new("built").unwrap());
    drop(store);
    assert!(log_length(&path) > 0);
}

#[test]
fn a_reader_keeps_the_log_and_nothing_is_lost() {
    let (_folder, path) = file();
    open_session(&SqliteStore::open(&path).unwrap());
    let reader = raw(&path);
    reader.execute_batch("BEGIN; SELECT * FROM session").unwrap();
    let store = SqliteStore::open(&path).unwrap();
    think(&store, "meanwhile").unwrap();
    let start = Instant::now();
    drop(store);
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(log_length(&path) > 0);
    drop(reader);
    let found =
        SqliteStore::open(&path).unwrap().reasoning(&session(), &ReasoningFilter::default());
    assert_eq!(found.unwrap().len(), 1);
}

fn is_busy(result: &handover_store::Result<()>) -> bool {
    matches!(result, Err(StoreError::Backend { fault: Fault::Busy, .. }))
}

#[test]
fn a_lock_that_nobody_releases_is_waited_for_once() {
    let (_folder, path) = file();
    open_session(&SqliteStore::open(&path).unwrap());
    let holder = raw(&path);
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let patience = Patience { total: Duration::from_secs(60), stalled: Duration::from_millis(200) };
    let store = SqliteStore::open_within(&path, patience).unwrap();
    assert!(is_busy(&think(&store, "first")));
    let second = Instant::now();
    assert!(is_busy(&think(&store, "second")));
    assert!(second.elapsed() < Duration::from_millis(150), "{:?}", second.elapsed());
    // Reading is possible all the time, and writing as soon as the lock is free.
    assert_eq!(store.sessions(None).unwrap().len(), 1);
    holder.execute_batch("COMMIT").unwrap();
    think(&store, "third").unwrap();
}

#[test]
fn writers_that_make_progress_are_waited_for() {
    let (_folder, path) = file();
    open_session(&SqliteStore::open(&path).unwrap());
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (start, path, done) = (Instant::now(), &path, &done);
        let barrier = std::sync::Arc::new(std::sync::Barrier::new(2));
        let ready = barrier.clone();
        scope.spawn(move || {
            let busy = raw(path);
            busy.busy_timeout(Duration::from_secs(60)).unwrap();
            busy.execute_batch("BEGIN IMMEDIATE").unwrap();
            ready.wait();
            // Never free for longer than it takes to begin again, and always changing.
            while start.elapsed() < Duration::from_secs(2) {
                busy.execute_batch("UPDATE sqlite_sequence SET seq = seq + 1").unwrap();
                std::thread::sleep(Duration::from_millis(60));
                busy.execute_batch("COMMIT; BEGIN IMMEDIATE").unwrap();
            }
            busy.execute_batch("COMMIT").unwrap();
            done.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        barrier.wait();
        let patience =
            Patience { total: Duration::from_secs(60), stalled: Duration::from_millis(400) };
        think(&SqliteStore::open_within(path, patience).unwrap(), "in the end").unwrap();
    });
    assert!(done.into_inner());
}
