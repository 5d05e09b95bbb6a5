//! The one place that opens a database.

use std::path::Path;
use std::time::Duration;

use handover_store::{Fault, Result, StoreError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::backend;
use crate::migrations;

/// Marks a file as a Handover store ("HNDV"), so that no other database is taken for one.
pub(crate) const APPLICATION_ID: i32 = 0x484E_4456;

/// How long a write waits for the lock, unless the caller has less time. Thirty writers in a row
/// take far less.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The size of the write-ahead log above which it is folded into the file. By default SQLite does
/// that whenever the last connection closes, which for short processes means four syncs of the disk
/// per write; a longer log in turn makes every first opening read it.
const LONG_LOG: u64 = 200 * 4096;

/// How much of the file is kept in memory, in kilobytes: what an assembly reads again and again in a process
/// that stays. The rest is the system's to keep; for mapping the file there is too little of it that is read.
const CACHE_KILOBYTES: u32 = 1024;

/// Opens, checks, and brings the file to the current format.
pub(crate) fn open(path: &Path, patience: Duration) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    let connection = Connection::open_with_flags(path, flags).map_err(backend)?;
    connection.busy_timeout(patience).map_err(backend)?;
    let version = match read_user_version(&connection) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Err(StoreError::Foreign { path: path.to_owned() });
        }
        version => version.map_err(backend)?,
    };
    if version == migrations::CURRENT {
        check_owner(&connection, path)?;
    } else {
        migrations::migrate(&connection, path)?;
    }
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;
             PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -{CACHE_KILOBYTES};"
        ))
        .map_err(backend)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(backend)?;
    // Plans do not depend on the values that are bound, so no statement is prepared twice.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(backend)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

pub(crate) fn user_version(connection: &Connection) -> Result<i64> {
    read_user_version(connection).map_err(backend)
}

fn read_user_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

pub(crate) fn check_owner(connection: &Connection, path: &Path) -> Result<()> {
    let id: i32 =
        connection.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(backend)?;
    if id == APPLICATION_ID { Ok(()) } else { Err(StoreError::Foreign { path: path.to_owned() }) }
}

/// Empties the log once it is long. SQLite's own checkpoints do not: they leave the log to whoever
/// writes next to begin it anew, and a process that opens a log which nobody has open cannot know that
/// its contents are in the file already. A row of short processes would make it grow for ever, and each
/// would read and copy the whole of it.
pub(crate) fn fold_long_log(connection: &Connection, patience: Duration) -> Result<()> {
    let log = connection.path().map(|path| format!("{path}-wal"));
    let length = log.and_then(|log| std::fs::metadata(log).ok()).map_or(0, |log| log.len());
    if length < LONG_LOG {
        return Ok(());
    }
    // Whoever reads just now is not waited for: the next writer tries again.
    connection.busy_timeout(Duration::ZERO).map_err(backend)?;
    let folded = fold_log(connection);
    connection.busy_timeout(patience).map_err(backend)?;
    folded
}

/// Moves what the log holds into the file and empties it, so that the next opening does not have to
/// read it. Somebody else may be reading: then a later write does it.
pub(crate) fn fold_log(connection: &Connection) -> Result<()> {
    match connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(backend) {
        Err(StoreError::Backend { fault: Fault::Busy, .. }) => Ok(()),
        other => other,
    }
}
