//! Brings a file to the current format, safely when many processes try at once.
//!
//! A migration is SQL, numbered from 1 and never edited once released. The format of a file is its
//! `user_version`: read first without a lock (usually there is nothing to do), then again under the
//! write lock. A store that has records is copied first: an older version cannot open it afterwards.

use std::path::Path;
use std::time::{Duration, Instant};

use handover_store::{Fault, OlderFormat, Result, StoreError, Upgraded};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::backup::keep_former;
use crate::error::backend;
use crate::file::{APPLICATION_ID, check_owner, truncate_log, user_version};
use crate::schema;

/// Migration `n` brings a file from format `n - 1` to format `n`.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_initial.sql")];

/// How long to retry the switch to write-ahead logging, for which SQLite does not wait for locks.
const WAL_PATIENCE: Duration = Duration::from_secs(30);

/// The format that a list of migrations leads to.
pub(crate) fn target(migrations: &[&str]) -> i64 {
    migrations.len() as i64
}

/// Applies the migrations that a file lacks, all or none. None if it was empty, or current already.
pub(crate) fn migrate(
    connection: &Connection,
    path: &Path,
    migrations: &[&str],
    older: OlderFormat,
) -> Result<Option<Upgraded>> {
    refuse_newer(connection, path, migrations)?;
    refuse_foreign(connection, path)?;
    refuse_older(connection, path, migrations, older)?;
    switch_to_wal(connection)?;
    // A migration may rebuild a table, which must not cascade to the rows that refer to it. Inside a
    // transaction this pragma has no effect, so it comes first.
    connection.execute_batch("PRAGMA foreign_keys = OFF").map_err(backend)?;
    let tx =
        Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(backend)?;
    refuse_newer(&tx, path, migrations)?;
    refuse_older(&tx, path, migrations, older)?;
    let from = usize::try_from(user_version(&tx)?).unwrap_or(0);
    schema::check(&tx, path, migrations.get(..from).unwrap_or(migrations))?;
    let upgraded = if from > 0 && from < migrations.len() {
        let (from, to) = (from as i64, target(migrations));
        Some(Upgraded { from, to, copy: Some(keep_former(path, from)?) })
    } else {
        None
    };
    for (index, sql) in migrations.iter().enumerate().skip(from) {
        tx.execute_batch(sql).map_err(backend)?;
        tx.pragma_update(None, "user_version", index as i64 + 1).map_err(backend)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(backend)?;
    tx.commit().map_err(backend)?;
    tracing::debug!(path = %path.display(), from, to = target(migrations), "migrated store");
    // From here on the main file alone is a complete store.
    truncate_log(connection)?;
    Ok(upgraded)
}

fn refuse_newer(connection: &Connection, path: &Path, migrations: &[&str]) -> Result<()> {
    let (found, known) = (user_version(connection)?, target(migrations));
    if found <= known {
        return Ok(());
    }
    check_owner(connection, path)?;
    Err(StoreError::Newer { location: path.display().to_string(), found, known })
}

/// A file without a format is new, or is compared with none before anything is written.
fn refuse_older(
    connection: &Connection,
    path: &Path,
    migrations: &[&str],
    older: OlderFormat,
) -> Result<()> {
    let (found, known) = (user_version(connection)?, target(migrations));
    match older {
        OlderFormat::Keep if found > 0 && found < known => {
            Err(StoreError::Older { location: path.display().to_string(), found, known })
        }
        OlderFormat::Keep | OlderFormat::Upgrade => Ok(()),
    }
}

/// A database that has tables but not our application id belongs to another program.
fn refuse_foreign(connection: &Connection, path: &Path) -> Result<()> {
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(backend)?;
    if tables == 0 { Ok(()) } else { check_owner(connection, path) }
}

fn switch_to_wal(connection: &Connection) -> Result<()> {
    let start = Instant::now();
    loop {
        let result = connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0))
            .map_err(backend);
        match result {
            Ok(mode) if mode == "wal" => return Ok(()),
            Err(StoreError::Backend { fault: Fault::Busy, .. })
                if start.elapsed() < WAL_PATIENCE =>
            {
                tracing::trace!("waiting to switch to write-ahead logging");
                std::thread::sleep(Duration::from_millis(5));
            }
            // A file system without shared memory keeps the rollback journal: slower, still safe.
            Ok(_) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::connection::{self, PATIENCE};

    const NEXT: &str = "ALTER TABLE session ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue';
        UPDATE session SET colour = 'red' WHERE id = 's1';";

    fn file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        (folder, path)
    }

    fn open(path: &Path, migrations: &[&str]) -> Result<Connection> {
        opened(path, migrations).map(|(connection, _)| connection)
    }

    fn opened(path: &Path, migrations: &[&str]) -> Result<(Connection, Option<Upgraded>)> {
        connection::open_with(path, PATIENCE, migrations, OlderFormat::Upgrade)
    }

    fn kept(path: &Path, migrations: &[&str]) -> Result<(Connection, Option<Upgraded>)> {
        connection::open_with(path, PATIENCE, migrations, OlderFormat::Keep)
    }

    /// The copies beside a store.
    fn copies(path: &Path) -> Vec<PathBuf> {
        let entries = fs_err::read_dir(path.parent().unwrap()).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.to_string_lossy().contains(".format-")).collect()
    }

    fn with_session(path: &Path) {
        let store = open(path, MIGRATIONS).unwrap();
        store
            .execute(
                "INSERT INTO session (id, project, status, metadata, created_at)
                 VALUES ('s1', 'p', 'active', '{}', 0)",
                [],
            )
            .unwrap();
    }

    fn later() -> Vec<&'static str> {
        [MIGRATIONS, &[NEXT]].concat()
    }

    #[test]
    fn a_later_migration_keeps_the_records() {
        let (_folder, path) = file();
        with_session(&path);
        let store = open(&path, &later()).unwrap();
        assert_eq!(user_version(&store).unwrap(), target(MIGRATIONS) + 1);
        let colour: String =
            store.query_row("SELECT colour FROM session", [], |row| row.get(0)).unwrap();
        assert_eq!(colour, "red");
        // Applied once: a second time the column would exist already.
        drop(store);
        open(&path, &later()).unwrap();
        let found = open(&path, MIGRATIONS).unwrap_err();
        assert!(matches!(found, StoreError::Newer { found: 2, known: 1, .. }), "{found}");
    }

    #[test]
    fn a_store_with_records_is_copied_first() {
        let (_folder, path) = file();
        let (_, upgraded) = opened(&path, MIGRATIONS).unwrap();
        assert_eq!((upgraded, copies(&path).len()), (None, 0), "a new one");
        with_session(&path);
        let (_, upgraded) = opened(&path, &later()).unwrap();
        let copy = path.with_file_name("store.db.format-1");
        assert_eq!(upgraded, Some(Upgraded { from: 1, to: 2, copy: Some(copy.clone()) }));
        let (_, upgraded) = opened(&path, &later()).unwrap();
        assert_eq!(upgraded, None, "once");
        // The version before opens the copy, with every record.
        let before = open(&copy, MIGRATIONS).unwrap();
        let sessions: i64 =
            before.query_row("SELECT count(*) FROM session", [], |row| row.get(0)).unwrap();
        assert_eq!(sessions, 1);
    }

    /// A hook must not take a store from those who still have the version before.
    #[test]
    fn who_keeps_an_older_format_changes_nothing() {
        let (_folder, path) = file();
        with_session(&path);
        let error = kept(&path, &later()).unwrap_err();
        assert!(matches!(error, StoreError::Older { found: 1, known: 2, .. }), "{error}");
        assert!(error.to_string().contains("store.db has format 1"), "{error}");
        assert_eq!(copies(&path).len(), 0);
        // The version before still opens it, and what upgrades is asked to.
        open(&path, MIGRATIONS).unwrap();
        assert!(opened(&path, &later()).unwrap().1.is_some());
        assert_eq!(kept(&path, &later()).unwrap().1, None);
    }

    #[test]
    fn who_keeps_an_older_format_creates_a_store() {
        let (_folder, path) = file();
        let (store, upgraded) = kept(&path, MIGRATIONS).unwrap();
        assert_eq!((user_version(&store).unwrap(), upgraded), (target(MIGRATIONS), None));
    }

    #[test]
    fn many_processes_migrate_once() {
        let (_folder, path) = file();
        with_session(&path);
        let migrations = later();
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..16).map(|_| scope.spawn(|| open(&path, &migrations).map(drop))).collect();
            for thread in threads {
                thread.join().unwrap().unwrap();
            }
        });
        let store = open(&path, &migrations).unwrap();
        assert_eq!(user_version(&store).unwrap(), target(&migrations));
        let before = open(&path.with_file_name("store.db.format-1"), MIGRATIONS).unwrap();
        assert_eq!(user_version(&before).unwrap(), target(MIGRATIONS));
        assert_eq!(copies(&path).iter().filter(|path| !path.ends_with("-wal")).count(), 1);
    }

    #[test]
    fn a_failed_migration_changes_nothing() {
        let (_folder, path) = file();
        with_session(&path);
        let broken = "ALTER TABLE session ADD COLUMN colour TEXT; SELECT nonsense FROM nowhere;";
        open(&path, &[MIGRATIONS, &[broken]].concat()).unwrap_err();
        let store = open(&path, MIGRATIONS).unwrap();
        assert_eq!(user_version(&store).unwrap(), target(MIGRATIONS));
        store.query_row("SELECT colour FROM session", [], |_| Ok(())).unwrap_err();
    }

    #[test]
    fn a_rebuilt_table_keeps_what_refers_to_it() {
        let (_folder, path) = file();
        with_session(&path);
        let store = open(&path, MIGRATIONS).unwrap();
        store
            .execute("INSERT INTO task_group (session, id, created_at) VALUES (1, 'P1', 0)", [])
            .unwrap();
        drop(store);
        let rebuild = "CREATE TABLE copy AS SELECT * FROM session;
            DELETE FROM session;
            INSERT INTO session (key, id, project, status, metadata, created_at, ended_at)
                SELECT key, id, project, status, metadata, created_at, ended_at FROM copy;
            DROP TABLE copy;";
        let store = open(&path, &[MIGRATIONS, &[rebuild]].concat()).unwrap();
        let groups: i64 =
            store.query_row("SELECT count(*) FROM task_group", [], |row| row.get(0)).unwrap();
        assert_eq!(groups, 1);
    }
}
