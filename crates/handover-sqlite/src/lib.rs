//! The embedded store: one SQLite file, many short processes.
//!
//! One file per aggregate, each implementing its trait of handover-store. Connections are opened
//! in `connection` and nowhere else.

mod connection;
mod error;
mod errors;
mod events;
mod feed;
mod groups;
mod hosts;
mod index;
mod migrations;
mod packages;
mod reasoning;
mod receipts;
mod row;
mod runs;
mod sessions;
mod skill_outputs;
mod strategies;
mod tokens;

use std::path::Path;
use std::time::Duration;

use handover_model::{GroupId, SessionId, Timestamp};
use handover_store::{Check, Result, Store, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::error::backend;

// Older ones can damage the write-ahead log when two connections write and checkpoint at once,
// which is exactly our load.
const _: () = assert!(
    rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003,
    "the bundled SQLite must have the fix for the WAL reset bug"
);

/// A store in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
}

impl SqliteStore {
    /// Opens the store, creating or migrating it if need be. Any number of processes may do so at
    /// once.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_within(path, connection::PATIENCE)
    }

    /// The same for somebody who cannot wait long for a lock.
    pub fn open_within(path: &Path, patience: Duration) -> Result<Self> {
        Ok(Self { connection: connection::open(path, patience)? })
    }

    /// Runs a write: takes the write lock first, so that what is read inside is still true when it
    /// is acted upon. Inside [`exclusively`](Store::exclusively) the lock is held already.
    fn write<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if !self.connection.is_autocommit() {
            return self.nested(f);
        }
        let tx = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(backend)?;
        let value = f(&tx)?;
        tx.commit().map_err(backend)?;
        Ok(value)
    }

    /// A write inside exclusive work: it too happens wholly or not at all.
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
        let rows = |sql: &str| -> Result<Vec<String>> {
            let mut statement = self.connection.prepare(sql).map_err(backend)?;
            let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(backend)?;
            rows.collect::<Result<_, _>>().map_err(backend)
        };
        let mut integrity = rows("PRAGMA integrity_check")?;
        integrity.retain(|line| line != "ok");
        let references = rows(
            "SELECT \"table\" || ' row ' || ifnull(rowid, '?') FROM pragma_foreign_key_check",
        )?;
        let mut index = Vec::new();
        let sessions = row::all(&self.connection, "SELECT key, id FROM session", [], |r| {
            Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?))
        })?;
        for (key, id) in sessions {
            let problems = index::problems(&self.connection, key)?;
            index.extend(problems.into_iter().map(|problem| format!("session {id}: {problem}")));
        }
        Ok(vec![
            Check { name: "integrity", problems: integrity },
            Check { name: "references", problems: references },
            Check { name: "text index", problems: index },
        ])
    }
}

/// The key of a session, or the error that says that there is none.
fn session_key(connection: &Connection, id: &SessionId) -> Result<i64> {
    connection
        .prepare_cached("SELECT key FROM session WHERE id = ?1")
        .and_then(|mut s| s.query_row([id.as_str()], |row| row.get(0)).optional())
        .map_err(backend)?
        .ok_or_else(|| StoreError::not_found("session", id))
}

/// Creates the group if it is named for the first time.
fn ensure_group(tx: &Connection, session: i64, group: &GroupId, now: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO task_group (session, id, created_at) VALUES (?1, ?2, ?3)
         ON CONFLICT DO NOTHING",
    )
    .and_then(|mut s| s.execute((session, group.as_str(), now.as_micros())))
    .map_err(backend)?;
    Ok(())
}
