//! Bringing a file to the current format, safe when many processes try at once.
//!
//! Migrations are numbered and never edited. A file's number is its `user_version`: it is looked
//! at without a lock (the usual case: nothing to do), and again under the write lock.

use std::path::Path;
use std::time::{Duration, Instant};

use handover_store::{Fault, Result, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::archive::clear_index;
use crate::connection::{APPLICATION_ID, check_owner, fold_log, user_version};
use crate::error::backend;
use crate::index::move_to_sheets;
use crate::packages::index_anew;

const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_records.sql"),
    include_str!("../migrations/0002_packed_index.sql"),
    include_str!("../migrations/0003_briefs.sql"),
    include_str!("../migrations/0004_runs.sql"),
    include_str!("../migrations/0005_hosts.sql"),
    include_str!("../migrations/0006_jobs.sql"),
    include_str!("../migrations/0007_feed.sql"),
    include_str!("../migrations/0008_tokens.sql"),
    include_str!("../migrations/0009_trust.sql"),
    include_str!("../migrations/0010_learned_feed.sql"),
    include_str!("../migrations/0011_sheets.sql"),
    include_str!("../migrations/0012_receipts.sql"),
];

/// The format from which on the index is packed; older ones are indexed anew.
const PACKED_INDEX: usize = 2;

/// The format from which on candidates are on sheets.
const SHEETS: usize = 11;

/// The format that this version writes.
pub(crate) const CURRENT: i64 = MIGRATIONS.len() as i64;

/// How long the switch to write-ahead logging is tried: it does not wait for locks by itself.
const WAL_PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn migrate(connection: &Connection, path: &Path) -> Result<()> {
    if user_version(connection)? > CURRENT {
        return Err(newer(connection, path)?);
    }
    refuse_foreign(connection, path)?;
    switch_to_wal(connection)?;
    // A table that is made anew must not take along what refers to it. It cannot be said later: inside of
    // a transaction it says nothing.
    connection.execute_batch("PRAGMA foreign_keys = OFF").map_err(backend)?;
    let tx =
        Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(backend)?;
    let from = user_version(&tx)?;
    if from > CURRENT {
        return Err(newer(&tx, path)?);
    }
    let done = usize::try_from(from).unwrap_or(0);
    for (index, sql) in MIGRATIONS.iter().enumerate().skip(done) {
        tx.execute_batch(sql).map_err(backend)?;
        tx.pragma_update(None, "user_version", index as i64 + 1).map_err(backend)?;
    }
    let moved = done >= SHEETS || move_to_sheets(&tx)?;
    // After the last step, because the code knows the current tables only.
    if done < PACKED_INDEX || !moved {
        clear_index(&tx)?;
        index_anew(&tx)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(backend)?;
    tx.commit().map_err(backend)?;
    // The file by itself is then a whole store.
    fold_log(connection)
}

fn newer(connection: &Connection, path: &Path) -> Result<StoreError> {
    check_owner(connection, path)?;
    Ok(StoreError::Newer {
        location: path.display().to_string(),
        found: user_version(connection)?,
        known: CURRENT,
    })
}

/// A database with tables but without our mark belongs to somebody else.
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
                std::thread::sleep(Duration::from_millis(5));
            }
            // A file system without shared memory keeps the old journal: slower, still safe.
            Ok(_) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
