//! What can happen to a file: first start of many, foreign content, newer formats, damage.

use std::path::Path;

use handover_model::{
    GroupId, PackageId, Priority, ProjectId, ReceiptId, Role, SessionId, Timestamp,
};
use handover_sqlite::SqliteStore;
use handover_store::{
    Candidate, Fault, NewSession, Packages, Receipts, Sessions, Store, StoreError, TextIndex,
};
use handover_text::CleanJson;

fn raw(path: &Path) -> rusqlite::Connection {
    #[expect(clippy::disallowed_methods, reason = "the test plays the other program")]
    rusqlite::Connection::open(path).unwrap()
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
fn a_file_of_the_first_format_is_indexed_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let old = raw(&path);
    old.execute_batch(include_str!("../../migrations/0001_records.sql")).unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    old.pragma_update(None, "application_id", 0x484E_4456).unwrap();
    old.execute_batch(
        "INSERT INTO session (id, project, status, metadata, created_at)
            VALUES ('s1', 'p', 'active', '{}', 0);
         INSERT INTO task_group (session, id, created_at) VALUES (1, 'P1', 0);",
    )
    .unwrap();
    for n in 1..=200 {
        old.execute(
            "INSERT INTO package (session, group_id, scope, kind, path, summary, files, producer,
                priority, version, size_bytes, tokens, content_hash, restricted, created_at)
             VALUES (1, 'P1', 'group', 'research', ?1, 'about zebras', '[\"src/a.rs\"]', 'developer',
                'high', 1, 1, 1, ?1, 1, ?2)",
            (format!("{n}.md"), n),
        )
        .unwrap();
        old.execute("INSERT INTO package_body VALUES (?1, 'striped')", [n]).unwrap();
        old.execute("INSERT INTO package_consumer VALUES (?1, 'qa_expert')", [n]).unwrap();
    }
    drop(old);
    let store = SqliteStore::open(&path).unwrap();
    let (session, role) = (SessionId::new("s1").unwrap(), Role::new("qa_expert").unwrap());
    let candidates =
        store.candidates(&session, Some(&GroupId::new("P1").unwrap()), Some(&role)).unwrap();
    assert_eq!(candidates.len(), 200);
    assert!(candidates.iter().all(|c| c.same_group && c.addressed && !c.global));
    for word in ["zebra", "stripe"] {
        assert_eq!(store.postings(&session, &[word.to_owned()]).unwrap()[0].count(), 200, "{word}");
    }
    assert!(store.check().unwrap().iter().all(|check| check.problems.is_empty()));
}

#[test]
fn candidates_on_pages_of_before_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(SqliteStore::open(&path).unwrap());
    let old = raw(&path);
    old.execute_batch(
        "DROP TABLE candidate_sheet;
         CREATE TABLE candidate_page (
            session    INTEGER NOT NULL,
            page       INTEGER NOT NULL,
            candidates BLOB NOT NULL,
            PRIMARY KEY (session, page)
         ) STRICT, WITHOUT ROWID;
         INSERT INTO session (id, project, status, metadata, created_at)
            VALUES ('s1', 'p', 'active', '{}', 0);",
    )
    .unwrap();
    let record = |local: u8, group: &str, consumers: &str| {
        let mut record = vec![local, Priority::High as u8, 0, 7, 0, 0, 0];
        record.extend(1_700_000_000_000_000_i64.to_le_bytes());
        record.extend([1, 0, 2, 0, 3, 0, 4, 1, 5, 0]);
        for name in [group, consumers] {
            record.extend((name.len() as u32).to_le_bytes());
            record.extend(name.as_bytes());
        }
        record
    };
    let page = [
        record(0, "P1", "qa_expert,developer"),
        record(31, "P1", "qa_expert,developer"),
        record(32, "P1", ""),
        record(127, "", "developer"),
    ];
    old.execute("INSERT INTO candidate_page VALUES (1, 3, ?1)", [page.concat()]).unwrap();
    old.pragma_update(None, "user_version", 10).unwrap();
    drop(old);
    let store = SqliteStore::open(&path).unwrap();
    let (session, role) = (SessionId::new("s1").unwrap(), Role::new("developer").unwrap());
    let p1 = GroupId::new("P1").unwrap();
    let candidate = |id, same_group, addressed, restricted| Candidate {
        id: PackageId(id),
        version: 7,
        priority: Priority::High,
        same_group,
        global: false,
        addressed,
        restricted,
        created_at: Timestamp::from_micros(1_700_000_000_000_000),
        terms: [1, 2, 3, 260, 5],
    };
    assert_eq!(
        store.candidates(&session, Some(&p1), Some(&role)).unwrap(),
        [
            candidate(3 * 128, true, true, true),
            candidate(3 * 128 + 31, true, true, true),
            candidate(3 * 128 + 32, true, false, false),
            candidate(3 * 128 + 127, false, true, true),
        ]
    );
}

#[test]
fn a_damaged_page_of_before_is_indexed_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(SqliteStore::open(&path).unwrap());
    let old = raw(&path);
    old.execute_batch(
        "DROP TABLE candidate_sheet;
         CREATE TABLE candidate_page (session, page, candidates);
         INSERT INTO session (id, project, status, metadata, created_at)
            VALUES ('s1', 'p', 'active', '{}', 0);
         INSERT INTO package (session, scope, kind, path, summary, files, producer, priority, version,
                size_bytes, tokens, content_hash, created_at)
            VALUES (1, 'global', 'research', 'a.md', 'about zebras', '[]', 'developer', 'high', 1, 1, 1,
                'hash', 7);
         INSERT INTO package_body VALUES (1, 'striped');
         INSERT INTO candidate_page VALUES (1, 0, x'01020304');",
    )
    .unwrap();
    old.pragma_update(None, "user_version", 10).unwrap();
    drop(old);
    let store = SqliteStore::open(&path).unwrap();
    let session = SessionId::new("s1").unwrap();
    assert_eq!(store.candidates(&session, None, None).unwrap().len(), 1);
    assert_eq!(store.postings(&session, &["stripe".to_owned()]).unwrap()[0].count(), 1);
}

#[test]
fn receipts_of_before_keep_what_refers_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(SqliteStore::open(&path).unwrap());
    let old = raw(&path);
    old.execute_batch(
        r#"INSERT INTO session (id, project, status, metadata, created_at)
            VALUES ('s1', 'p', 'active', '{}', 0);
         INSERT INTO receipt (id, session, role, iteration, tokenizer, zone, state, tokens,
                prompt_hash, sections, left_out, left_out_counts, redactions, created_at, trimmed,
                provided, text)
            VALUES ('r_1', 1, 'developer', 2, 'o200k', 'normal', 'delivered', 12, 'hash', '[]', '[]',
                '{}', '{}', 7, '[]',
                '{"context":{"state":"present"},"specialization":{"state":"missing"}}', 'the text');
         INSERT INTO receipt_item (receipt, position, kind, item, version, form, score, terms, tokens)
            VALUES ('r_1', 0, 'package', '5', 3, 'full', 0.5, '{}', 9);
         INSERT INTO ticket (receipt, host, host_session, agent_type, task_hash, way, created_at)
            VALUES ('r_1', 'claude', 'c1', 'developer', 'hash', 'start', 7);"#,
    )
    .unwrap();
    old.pragma_update(None, "user_version", 11).unwrap();
    let told = |connection: &rusqlite::Connection| -> i64 {
        connection.query_row("SELECT count(*) FROM change", [], |row| row.get(0)).unwrap()
    };
    let before = told(&old);
    drop(old);
    let store = SqliteStore::open(&path).unwrap();
    let receipt = store.receipt(&ReceiptId::new("r_1").unwrap()).unwrap();
    assert_eq!(receipt.text.as_deref(), Some("the text"));
    assert_eq!(receipt.items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["5"]);
    let (session, role) = (SessionId::new("s1").unwrap(), Role::new("developer").unwrap());
    let now = Timestamp::from_micros(9);
    assert_eq!(store.consumed(&session, None, &role, 2, now).unwrap(), [(PackageId(5), 3)]);
    assert_eq!(store.deliveries(&session, None, &role, now).unwrap(), 1);
    assert!(store.check().unwrap().iter().all(|check| check.problems.is_empty()));
    let now = raw(&path);
    let tickets: i64 = now.query_row("SELECT count(*) FROM ticket", [], |r| r.get(0)).unwrap();
    assert_eq!((tickets, told(&now)), (1, before));
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
