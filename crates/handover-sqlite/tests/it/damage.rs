//! Rows that no version of Handover can have written are reported, not guessed at.

use handover_model::{ProjectId, SessionId, Timestamp};
use handover_sqlite::SqliteStore;
use handover_store::{Fault, NewSession, Sessions, Store, StoreError};
use handover_text::CleanJson;

use crate::file::raw;

fn new(id: &str) -> NewSession {
    NewSession {
        id: SessionId::new(id).unwrap(),
        project: ProjectId::new("p").unwrap(),
        metadata: CleanJson::default(),
        now: Timestamp::from_micros(7),
    }
}

#[test]
fn values_that_do_not_parse_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    SqliteStore::open(&path).unwrap().open_session(&new("s1")).unwrap();
    for damage in [
        "UPDATE session SET metadata = '{'",
        "UPDATE session SET metadata = '{}', project = ''",
        "UPDATE session SET project = 'p', id = '../..'",
    ] {
        assert_eq!(raw(&path).execute(damage, []).unwrap(), 1);
        let error = SqliteStore::open(&path).unwrap().sessions(None).unwrap_err();
        assert!(matches!(error, StoreError::Backend { fault: Fault::Corrupt, .. }), "{damage}");
    }
}

#[test]
fn broken_references_and_pages_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    SqliteStore::open(&path).unwrap().open_session(&new("s1")).unwrap();
    let connection = raw(&path);
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO reasoning (session, role, iteration, phase, content, refs, created_at, trust)
                VALUES (99, 'developer', 0, 'risks', 'x', '[]', 0, 'agent');",
        )
        .unwrap();
    drop(connection);
    let checks = SqliteStore::open(&path).unwrap().check().unwrap();
    let found: Vec<_> = checks.iter().map(|c| (c.part.to_string(), c.problems.clone())).collect();
    assert_eq!(
        found,
        [
            ("integrity".to_owned(), vec![]),
            ("records".to_owned(), vec![]),
            ("references".to_owned(), vec!["reasoning row 1".to_owned()]),
            ("text index".to_owned(), vec![]),
        ]
    );
}

#[test]
fn a_failed_write_inside_a_transaction_is_undone_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
    store
        .exclusively(&mut |store| {
            store.open_session(&new("kept")).unwrap();
            let inner = store.exclusively(&mut |store| {
                store.open_session(&new("undone")).unwrap();
                Err(StoreError::Aborted)
            });
            assert!(matches!(inner, Err(StoreError::Aborted)));
            store.open_session(&new("later")).map(drop)
        })
        .unwrap();
    let mut ids: Vec<String> =
        store.sessions(None).unwrap().iter().map(|s| s.id.to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["kept", "later"]);
    let whole = store.exclusively(&mut |store| {
        store.open_session(&new("gone")).unwrap();
        Err(StoreError::Aborted)
    });
    assert!(whole.is_err());
    assert_eq!(store.sessions(None).unwrap().len(), 2);
}
