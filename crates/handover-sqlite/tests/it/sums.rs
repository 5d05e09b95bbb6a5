//! Records that are not what was written.

use std::path::Path;

use handover_model::{ProjectId, SessionId, SessionStatus, Timestamp};
use handover_sqlite::SqliteStore;
use handover_store::{CheckedPart, Fault, NewSession, Sessions, Store, StoreError};
use handover_text::CleanJson;

fn filled(path: &Path) {
    let store = SqliteStore::open(path).unwrap();
    for id in ["first-session", "second-session"] {
        let new = NewSession {
            id: SessionId::new(id).unwrap(),
            project: ProjectId::new("p").unwrap(),
            metadata: CleanJson::default(),
            now: Timestamp::from_micros(7),
        };
        store.open_session(&new).unwrap();
    }
}

/// Changes a byte of the record of the first session, not of an index.
fn damage(path: &Path) {
    let mut bytes = fs_err::read(path).unwrap();
    let record = b"first-sessionpactive";
    let at = bytes.windows(record.len()).position(|part| part == record).unwrap();
    bytes[at + record.len() - 1 - 6] = b'q';
    fs_err::write(path, bytes).unwrap();
}

fn is_damage<T: std::fmt::Debug>(result: handover_store::Result<T>) -> bool {
    matches!(result, Err(StoreError::Backend { fault: Fault::Corrupt, .. }))
}

#[test]
fn a_damaged_record_is_neither_read_nor_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    filled(&path);
    damage(&path);
    let store = SqliteStore::open(&path).unwrap();
    let (first, second) =
        (SessionId::new("first-session").unwrap(), SessionId::new("second-session").unwrap());
    assert!(is_damage(store.session(&first)));
    assert!(is_damage(store.sessions(None)));
    assert_eq!(store.session(&second).unwrap().id, second);
    // A change would give it a sum that fits.
    let now = Timestamp::from_micros(9);
    assert!(is_damage(store.set_session_status(&first, SessionStatus::Completed, now)));
    assert!(is_damage(store.session(&first)));
    let checks = store.check().unwrap();
    let records = checks.iter().find(|check| check.part == CheckedPart::Records).unwrap();
    assert_eq!(records.problems, ["session 1"]);
}

#[test]
fn a_copy_is_sound_or_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("store.db"), folder.path().join("copy.db"));
    filled(&path);
    SqliteStore::open(&path).unwrap().back_up(&copy).unwrap();
    assert_eq!(SqliteStore::open(&copy).unwrap().sessions(None).unwrap().len(), 2);
    damage(&path);
    fs_err::remove_file(&copy).unwrap();
    for end in ["-wal", "-shm"] {
        let _ = fs_err::remove_file(folder.path().join(format!("copy.db{end}")));
    }
    assert!(is_damage(SqliteStore::open(&path).unwrap().back_up(&copy)));
    assert!(!copy.exists());
}

#[test]
fn what_can_be_read_is_salvaged() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |name: &str| folder.path().join(name);
    let (path, copy, new) = (in_folder("store.db"), in_folder("copy.db"), in_folder("new.db"));
    filled(&path);
    SqliteStore::open(&path).unwrap().back_up(&copy).unwrap();
    damage(&path);
    let alone = handover_sqlite::salvage(&path, None, &new, &in_folder("a")).unwrap();
    assert_eq!((alone.records, alone.from_copy), (1, 0));
    assert_eq!(alone.lost, ["session 1"]);
    fs_err::remove_file(&new).unwrap();
    for end in ["-wal", "-shm"] {
        let _ = fs_err::remove_file(in_folder(&format!("new.db{end}")));
    }
    let both = handover_sqlite::salvage(&path, Some(&copy), &new, &in_folder("b")).unwrap();
    assert_eq!((both.records, both.from_copy), (2, 1));
    assert_eq!(both.lost, Vec::<String>::new());
    // Not while somebody writes, nor while somebody else has it open.
    let busy = handover_sqlite::replace(&path, &new, &|| false);
    assert!(matches!(busy, Err(StoreError::Backend { fault: Fault::Busy, .. })), "{busy:?}");
    let reader = SqliteStore::open(&path).unwrap();
    reader.session(&SessionId::new("second-session").unwrap()).unwrap();
    let busy = handover_sqlite::replace(&path, &new, &|| true);
    assert!(matches!(busy, Err(StoreError::Backend { fault: Fault::Busy, .. })), "{busy:?}");
    drop(reader);
    handover_sqlite::replace(&path, &new, &|| true).unwrap();
    let repaired = SqliteStore::open(&path).unwrap();
    assert_eq!(repaired.sessions(None).unwrap().len(), 2);
    assert!(repaired.check().unwrap().iter().all(|check| check.problems.is_empty()));
}
