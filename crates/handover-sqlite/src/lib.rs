//! The embedded store: one SQLite file, many short processes.
//!
//! One file per aggregate, each implementing its trait of handover-store. Connections are opened
//! in `connection` and nowhere else.

mod amendments;
mod archive;
mod backup;
mod connection;
mod durability;
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
mod log_check;
mod migrations;
mod note_rows;
mod notes;
mod operations;
mod package_rows;
mod packages;
mod query;
mod reasoning;
mod receipts;
mod runs;
mod salvage;
mod schema;
mod sessions;
mod skill_outputs;
mod strategies;
mod sums;
mod tallies;
mod tokens;
mod trust;
mod verdicts;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use handover_model::{GroupId, SessionId, Timestamp};
use handover_store::rows::Columns;
use handover_store::{
    Check, CheckedPart, OlderFormat, RecordKind, Result, Store, StoreError, Upgraded,
};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::connection::Held;
pub use crate::durability::Patience;
use crate::durability::Promise;
use crate::error::backend;
pub use crate::foreign::{ForeignDatabase, ForeignRow, ForeignTable};
pub use crate::log_check::{LogDamage, check_log};
pub use crate::salvage::{Repaired, replace, salvage};
pub use crate::sums::register as register_sums;

// Older ones can damage the write-ahead log when two connections write and checkpoint at once,
// which is exactly our load.
const _: () = assert!(
    rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003,
    "the bundled SQLite must have the fix for the WAL reset bug"
);

/// A store in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Held,
    path: PathBuf,
    patience: Patience,
    /// Whether waiting for the lock timed out.
    gave_up: Cell<bool>,
    /// What the transaction under way promises so far.
    promised: Cell<Promise>,
    /// Whether the log was created by this connection and its name is not synced yet.
    new_log: Cell<bool>,
    /// Whether the log has records that are to move into the main file.
    synced: Cell<bool>,
    upgraded: Option<Upgraded>,
}

/// How a store is opened.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    /// How long to wait for its lock.
    pub patience: Patience,
    /// What becomes of one that an older version wrote.
    pub older: OlderFormat,
    /// Whether the process ends after an answer or two: then the connection is never closed.
    pub briefly: bool,
}

impl Opening {
    /// By a process that has the time.
    pub const USUAL: Self =
        Self { patience: connection::PATIENCE, older: OlderFormat::Upgrade, briefly: false };

    /// By a process that ends after an answer or two.
    pub const BRIEFLY: Self = Self { briefly: true, ..Self::USUAL };
}

impl SqliteStore {
    /// Opens the store, creating or migrating it if need be. Any number of processes may do so at
    /// once.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_for(path, Opening::USUAL)
    }

    /// The same with another limit on how long to wait for a lock.
    pub fn open_within(path: &Path, patience: Patience) -> Result<Self> {
        Self::open_for(path, Opening { patience, ..Opening::USUAL })
    }

    /// The same in another way.
    pub fn open_for(path: &Path, opening: Opening) -> Result<Self> {
        let Opening { patience, older, briefly } = opening;
        let new_log = !file::log_of(path).exists();
        let (connection, upgraded) = connection::open(path, patience, older)?;
        if briefly {
            connection::shrink_cache(&connection)?;
        }
        Ok(Self {
            connection: if briefly {
                Held::until_exit(connection)
            } else {
                Held::Closed(connection)
            },
            path: path.to_owned(),
            patience,
            gave_up: Cell::new(false),
            promised: Cell::new(Promise::Committed),
            new_log: Cell::new(new_log),
            synced: Cell::new(false),
            upgraded,
        })
    }

    /// The format that this version writes.
    pub fn format() -> i64 {
        migrations::target(migrations::MIGRATIONS)
    }

    /// The upgrade that opening it was, if it was one.
    pub fn upgraded(&self) -> Option<&Upgraded> {
        self.upgraded.as_ref()
    }
}

impl Store for SqliteStore {
    fn exclusively(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        self.transact(Promise::Committed, |_| work(self))
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
        index.extend(index::notes::problems(&self.connection)?);
        let (records, packed) = sums::problems(&self.connection)?;
        index.extend(packed);
        Ok(vec![
            Check { part: CheckedPart::Integrity, problems: integrity },
            Check { part: CheckedPart::Records, problems: records },
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
