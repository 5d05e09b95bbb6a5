//! What can happen to a file: first start of many, foreign content, newer formats, damage.

use std::path::Path;

use handover_model::{ProjectId, SessionId, Timestamp};
use handover_sqlite::SqliteStore;
use handover_store::{Fault, NewSession, OldStore, Sessions, Store, StoreError};
use handover_text::CleanJson;

pub(crate) fn raw(path: &Path) -> rusqlite::Connection {
    #[expect(clippy::disallowed_methods, reason = "the test plays the other program")]
    let connection = rusqlite::Connection::open(path).unwrap();
    handover_sqlite::register_sums(&connection).unwrap();
    connection
}

#[test]
fn many_first_starts_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..16).map(|_| scope.spawn(|| SqliteStore::open(&path).map(drop))).collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    });
    let store = SqliteStore::open(&path).unwrap();
    assert!(store.check().unwrap().iter().all(|check| check.problems.is_empty()));
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(SqliteStore::open(&path).unwrap());
    raw(&path).pragma_update(None, "user_version", 999).unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 999, .. }), "{error}");
    let version: i64 = raw(&path).query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 999);
}

#[test]
fn another_programs_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    raw(&path).execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = fs_err::read(&path).unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Foreign { .. })));
    assert_eq!(fs_err::read(&path).unwrap(), before);
}

#[test]
fn a_text_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    fs_err::write(&path, "not a database, but long enough to be looked at as one".repeat(20))
        .unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Foreign { .. })));
}

#[test]
fn a_truncated_file_is_reported_as_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(SqliteStore::open(&path).unwrap());
    let whole = fs_err::read(&path).unwrap();
    fs_err::write(&path, &whole[..whole.len() / 2]).unwrap();
    let outcome = SqliteStore::open(&path).and_then(|store| store.sessions(None));
    assert!(
        matches!(outcome, Err(StoreError::Backend { fault: Fault::Corrupt, .. })),
        "{outcome:?}"
    );
}

#[test]
fn a_folder_that_does_not_exist_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let error = SqliteStore::open(&folder.path().join("no/store.db")).unwrap_err();
    assert!(matches!(error, StoreError::Backend { fault: Fault::Unavailable, .. }), "{error:?}");
}

#[test]
fn refuses_a_file_of_0_1_0_and_leaves_it_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    for format in [1, 12] {
        let old = raw(&path);
        old.execute_batch("CREATE TABLE IF NOT EXISTS session (key, id)").unwrap();
        old.pragma_update(None, "user_version", format).unwrap();
        old.pragma_update(None, "application_id", 0x484E_4456).unwrap();
        drop(old);
        let before = fs_err::read(&path).unwrap();
        let error = SqliteStore::open(&path).unwrap_err();
        let StoreError::Outdated { store: OldStore::File(named), found } = &error else {
            panic!("{error}")
        };
        assert_eq!((named, *found), (&path, format));
        assert_eq!(fs_err::read(&path).unwrap(), before);
    }
}

#[test]
fn the_log_of_short_processes_stays_short() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    for n in 0..400 {
        // As a process does: opened by nobody else, closed at the end.
        let new = NewSession {
            id: SessionId::new(format!("s{n}")).unwrap(),
            project: ProjectId::new("p").unwrap(),
            metadata: CleanJson::default(),
            now: Timestamp::from_micros(n),
        };
        SqliteStore::open(&path).unwrap().open_session(&new).unwrap();
        let log = fs_err::metadata(folder.path().join("store.db-wal")).unwrap().len();
        assert!(log < 1_000_000, "{log} bytes after {n} writes");
    }
}
