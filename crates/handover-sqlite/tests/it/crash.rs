//! Processes that are killed, and logs that end in the middle: what was committed is there, nothing else is.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use handover_model::Phase;
use handover_sqlite::SqliteStore;
use handover_store::conformance::fixture::*;
use handover_store::{
    PackageFilter, Packages, ReasoningFilter, Reasonings, Sessions, Store, TextIndex,
};

/// The file that a child process writes to.
const CHILD: &str = "HANDOVER_TEST_CRASH_STORE";

/// The child: each round is one transaction of a package and a thought, announced once it is committed.
#[test]
fn writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let store = SqliteStore::open(Path::new(&path)).unwrap();
    let id = session(&store, "s1");
    for n in 0..100_000 {
        store
            .exclusively(&mut |store| {
                let text = format!("word{n} shared");
                store.register_packages(&[package(&id, &format!("{}.md", n % 50), &text)])?;
                store.add_reasoning(&reasoning(&id, Phase::Risks, &text)).map(drop)
            })
            .unwrap();
        println!("committed {n}");
    }
}

#[test]
fn a_killed_writer_leaves_whole_transactions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    for (round, kill_after) in [3_usize, 70, 11].into_iter().enumerate() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::writes_until_it_is_killed", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let committed = lines
            .map_while(Result::ok)
            .filter(|line| line.contains("committed "))
            .take(kill_after)
            .count();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(committed, kill_after);

        let store = SqliteStore::open(&path).unwrap();
        let counts = store.session_counts(&session_id("s1")).unwrap();
        assert!(counts.reasoning as usize >= kill_after, "round {round}: {counts:?}");
        // Both halves of each transaction, or none: a package for every thought.
        let thoughts = store.reasoning(&session_id("s1"), &ReasoningFilter::default()).unwrap();
        let packages = store
            .packages(
                &session_id("s1"),
                &PackageFilter {
                    versions: handover_store::Versions::All,
                    ..PackageFilter::default()
                },
            )
            .unwrap();
        let bodies = store
            .package_bodies(&packages.iter().map(|package| package.id).collect::<Vec<_>>())
            .unwrap();
        for thought in &thoughts {
            assert!(bodies.contains(&thought.content), "{}", thought.content);
        }
        for check in store.check().unwrap() {
            assert_eq!(check.problems, [""; 0], "{}", check.part);
        }
    }
}

/// What the files of a store with ten committed sessions hold while it is open: closing it empties the log.
struct Files {
    folder: tempfile::TempDir,
    path: PathBuf,
    main: Vec<u8>,
    log: Vec<u8>,
}

impl Files {
    /// As they are after a power failure that took the end of the log.
    fn open_with(&self, log: &[u8]) -> SqliteStore {
        fs_err::write(&self.path, &self.main).unwrap();
        fs_err::write(self.folder.path().join("store.db-wal"), log).unwrap();
        let _ = fs_err::remove_file(self.folder.path().join("store.db-shm"));
        SqliteStore::open(&self.path).unwrap()
    }
}

fn with_a_log() -> Files {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    // The tables are in the main file; the log holds the sessions only, and stays short enough not to be emptied.
    session(&SqliteStore::open(&path).unwrap(), "s0");
    let store = SqliteStore::open(&path).unwrap();
    for n in 1..10 {
        session(&store, &format!("s{n}"));
    }
    let main = fs_err::read(&path).unwrap();
    let log = fs_err::read(folder.path().join("store.db-wal")).unwrap();
    assert!(log.len() > 10_000, "{} bytes", log.len());
    drop(store);
    Files { folder, path, main, log }
}

#[test]
fn a_log_that_ends_anywhere_gives_a_prefix_of_the_writes() {
    let files = with_a_log();
    let log = &files.log;
    let mut seen = Vec::new();
    for part in 0..=24 {
        let length = log.len() * part / 24;
        let store = files.open_with(&log[..length]);
        let mut ids: Vec<String> =
            store.sessions(None).unwrap().iter().map(|session| session.id.to_string()).collect();
        ids.sort();
        let expected: Vec<String> = (0..ids.len()).map(|n| format!("s{n}")).collect();
        assert_eq!(ids, expected, "{length} of {} bytes", log.len());
        for check in store.check().unwrap() {
            assert_eq!(check.problems, [""; 0], "{length} bytes: {}", check.part);
        }
        // The next write continues from there.
        let next = session(&store, "later");
        store.register_packages(&[package(&next, "a.md", "zebra")]).unwrap();
        assert_eq!(store.postings(&next, &["zebra".to_owned()]).unwrap()[0].count(), 1);
        seen.push(ids.len());
    }
    assert!(seen.is_sorted() && seen[0] < 10, "{seen:?}");
    assert_eq!(seen.last(), Some(&10));
}

#[test]
fn a_log_with_a_flipped_bit_ends_before_it() {
    let files = with_a_log();
    let mut log = files.log.clone();
    let middle = log.len() / 2;
    log[middle] ^= 0x40;
    let store = files.open_with(&log);
    let count = store.sessions(None).unwrap().len();
    assert!(count < 10, "{count}");
    for check in store.check().unwrap() {
        assert_eq!(check.problems, [""; 0], "{}", check.part);
    }
}
