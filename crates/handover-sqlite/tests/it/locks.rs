//! The write lock: who waits, who gives up, what readers see meanwhile.

use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use handover_model::Phase;
use handover_sqlite::{Patience, SqliteStore};
use handover_store::conformance::fixture::*;
use handover_store::{
    Fault, GroupUpdate, Groups, Packages, Reasonings, Sessions, Store, StoreError,
};

use crate::file::raw;

struct Shared {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Shared {
    /// A store with the session `s1`.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        session(&SqliteStore::open(&path).unwrap(), "s1");
        Self { _folder: folder, path }
    }

    fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.path).unwrap()
    }

    /// One that hardly waits.
    fn impatient(&self) -> SqliteStore {
        SqliteStore::open_within(&self.path, Patience::new(Duration::from_millis(20))).unwrap()
    }
}

fn is_busy<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Backend { fault: Fault::Busy, .. }))
}

#[test]
fn a_writer_that_waits_too_long_is_busy_and_changes_nothing() {
    let shared = Shared::new();
    let (holder, other) = (shared.open(), shared.impatient());
    holder
        .exclusively(&mut |_| {
            assert!(is_busy(other.register_packages(&[package(&session_id("s1"), "a.md", "x")])));
            assert!(is_busy(other.exclusively(&mut |_| panic!("the lock is taken"))));
            Ok(())
        })
        .unwrap();
    assert_eq!(other.session_counts(&session_id("s1")).unwrap().packages, 0);
    // The lock is free again, and the same handle works.
    assert!(
        other.register_packages(&[package(&session_id("s1"), "a.md", "x")]).unwrap()[0].created
    );
}

#[test]
fn a_panic_inside_a_transaction_undoes_it_and_frees_the_lock() {
    let shared = Shared::new();
    let id = session_id("s1");
    let work = std::panic::AssertUnwindSafe(|| {
        shared.open().exclusively(&mut |store| {
            store.add_reasoning(&reasoning(&id, Phase::Risks, "x")).unwrap();
            panic!("the caller has a bug")
        })
    });
    std::panic::catch_unwind(work).unwrap_err();
    let next = shared.impatient();
    assert_eq!(next.session_counts(&id).unwrap().reasoning, 0);
    next.add_reasoning(&reasoning(&id, Phase::Risks, "y")).unwrap();
}

#[test]
fn a_handle_that_is_dropped_in_a_transaction_of_another_program_waits_for_it() {
    let shared = Shared::new();
    let other = raw(&shared.path);
    other.execute_batch("BEGIN IMMEDIATE; UPDATE session SET metadata = '{\"x\":1}'").unwrap();
    assert!(is_busy(shared.impatient().set_group(&GroupUpdate::new(
        session_id("s1"),
        group_id("g"),
        at(1)
    ))));
    other.execute_batch("COMMIT").unwrap();
    let store = shared.impatient();
    assert_eq!(store.session(&session_id("s1")).unwrap().metadata["x"], 1);
    store.set_group(&GroupUpdate::new(session_id("s1"), group_id("g"), at(1))).unwrap();
}

/// Each reads a counter and writes back one more. Without the lock at the beginning, two would read the same.
#[test]
fn exclusive_work_of_many_threads_is_serial() {
    const THREADS: u64 = 6;
    const ROUNDS: u64 = 20;
    let shared = Shared::new();
    let start = Barrier::new(usize::try_from(THREADS).unwrap());
    let inside = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let store = shared.open();
                start.wait();
                for _ in 0..ROUNDS {
                    store.exclusively(&mut |store| add_one(store, &inside)).unwrap();
                }
            });
        }
    });
    let group = shared.open().group(&session_id("s1"), &group_id("count")).unwrap();
    assert_eq!(group.title.as_deref(), Some((THREADS * ROUNDS).to_string().as_str()));
}

fn add_one(store: &dyn Store, inside: &AtomicU64) -> handover_store::Result<()> {
    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
    let id = session_id("s1");
    let groups = store.groups(&id)?;
    let before: u64 =
        groups.first().and_then(|group| group.title.as_deref()?.parse().ok()).unwrap_or(0);
    let update = GroupUpdate {
        title: Some(clean(&(before + 1).to_string())),
        ..GroupUpdate::new(id, group_id("count"), at(1))
    };
    store.set_group(&update)?;
    inside.fetch_sub(1, Ordering::SeqCst);
    Ok(())
}

/// The log grows while a reader holds on to an old state, and shrinks afterwards.
#[test]
fn a_long_reader_delays_the_truncation_of_the_log_and_nothing_else() {
    let shared = Shared::new();
    let (reader, writer) = (shared.open(), shared.open());
    let id = session_id("s1");
    let log =
        |path: &Path| fs_err::metadata(path.with_extension("db-wal")).map_or(0, |log| log.len());
    let body = "x".repeat(700_000);
    reader
        .consistently(&mut |store| {
            let before = store.session_counts(&id)?.packages;
            for n in 0..4 {
                writer.register_packages(&[package(&id, &format!("{n}.md"), &body)])?;
            }
            assert!(log(&shared.path) > 2_000_000, "{}", log(&shared.path));
            assert_eq!(store.session_counts(&id)?.packages, before);
            Ok(())
        })
        .unwrap();
    writer.register_packages(&[package(&id, "last.md", "x")]).unwrap();
    assert!(log(&shared.path) < 1_000_000, "{}", log(&shared.path));
    assert_eq!(reader.session_counts(&id).unwrap().packages, 5);
}
