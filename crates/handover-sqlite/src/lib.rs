//! The embedded store: one SQLite file, many short processes.
//!
//! One file per aggregate, each implementing its trait of handover-store. Connections are opened
//! in `connection` and nowhere else.

mod archive;
mod connection;
mod error;
mod errors;
mod events;
mod feed;
mod file;
mod foreign;
mod groups;
mod hosts;
mod index;
mod jobs;
mod migrations;
mod package_rows;
mod packages;
mod query;
mod reasoning;
mod receipts;
mod runs;
mod sessions;
mod skill_outputs;
mod strategies;
mod tokens;

use std::path::Path;
use std::time::{Duration, Instant};

use handover_model::{GroupId, SessionId, Timestamp};
use handover_store::rows::Columns;
use handover_store::{Check, CheckedPart, RecordKind, Result, Store, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::backend;
pub use crate::foreign::{ForeignDatabase, ForeignRow, ForeignTable};

// Older ones can damage the write-ahead log when two connections write and checkpoint at once,
// which is exactly our load.
const _: () = assert!(
    rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003,
    "the bundled SQLite must have the fix for the WAL reset bug"
);

/// A transaction that takes longer than this, its wait for the lock included, is logged.
const SLOW: Duration = Duration::from_millis(100);

/// A store in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    /// How long to wait for locks.
    patience: Duration,
}

impl SqliteStore {
    /// Opens the store, creating or migrating it if need be. Any number of processes may do so at
    /// once.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_within(path, connection::PATIENCE)
    }

    /// The same with a limit on how long to wait for a lock.
    pub fn open_within(path: &Path, patience: Duration) -> Result<Self> {
        Ok(Self { connection: connection::open(path, patience)?, patience })
    }

    /// Runs a write transaction. It takes the write lock first, so that what it reads is still true when it
    /// writes. Inside [`exclusively`](Store::exclusively) the lock is held already.
    fn write<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if !self.connection.is_autocommit() {
            return self.nested(f);
        }
        let start = Instant::now();
        let tx = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(backend)?;
        let waited = start.elapsed();
        let value = f(&tx)?;
        tx.commit().map_err(backend)?;
        let took = start.elapsed();
        if took > SLOW {
            tracing::debug!(?waited, ?took, "slow transaction");
        }
        // The write is committed; a log that cannot be truncated now is truncated later.
        let _ = file::truncate_long_log(&self.connection, self.patience);
        Ok(value)
    }

    /// A write inside another transaction; atomic, too.
    fn nested<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.connection.execute_batch("SAVEPOINT nested").map_err(backend)?;
        let outcome = f(&self.connection);
        let end = match outcome {
            Ok(_) => "RELEASE nested",
            Err(_) => "ROLLBACK TO nested; RELEASE nested",
        };
        self.connection.execute_batch(end).map_err(backend)?;
        outcome
    }
}

impl Store for SqliteStore {
    fn exclusively(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        self.write(|_| work(self))
    }

    fn consistently(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        if !self.connection.is_autocommit() {
            return work(self);
        }
        let tx = Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)
            .map_err(backend)?;
        work(self)?;
        tx.commit().map_err(backend)
    }

    fn check(&self) -> Result<Vec<Check>> {
        let texts =
            |sql: &str| query::all(&self.connection, sql, [], |row| Columns::of(row).text());
        let mut integrity = texts("PRAGMA integrity_check")?;
        integrity.retain(|line| line != "ok");
        let references = texts(
            "SELECT \"table\" || ' row ' || ifnull(rowid, '?') FROM pragma_foreign_key_check",
        )?;
        let mut index = Vec::new();
        let sessions = query::all(&self.connection, "SELECT key, id FROM session", [], |row| {
            let mut columns = Columns::of(row);
            Ok((columns.int()?, columns.text()?))
        })?;
        for (key, id) in sessions {
            let problems = index::problems(&self.connection, key)?;
            index.extend(problems.into_iter().map(|problem| format!("session {id}: {problem}")));
        }
        Ok(vec![
            Check { part: CheckedPart::Integrity, problems: integrity },
            Check { part: CheckedPart::References, problems: references },
            Check { part: CheckedPart::TextIndex, problems: index },
        ])
    }
}

/// The key of a session, or [`StoreError::NotFound`].
fn session_key(connection: &Connection, id: &SessionId) -> Result<i64> {
    let sql = "SELECT key FROM session WHERE id = ?1";
    query::first(connection, sql, [id.as_str()], |row| Columns::of(row).int())?
        .ok_or_else(|| StoreError::not_found(RecordKind::Session, id))
}

/// Creates the group unless it exists.
fn ensure_group(tx: &Connection, session: i64, group: &GroupId, now: Timestamp) -> Result<()> {
    query::execute(
        tx,
        "INSERT INTO task_group (session, id, created_at) VALUES (?1, ?2, ?3)
         ON CONFLICT DO NOTHING",
        (session, group.as_str(), now.as_micros()),
    )?;
    Ok(())
}
