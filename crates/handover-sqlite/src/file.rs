//! What a file says about itself, and its write-ahead log.

use std::path::Path;
use std::time::Duration;

use handover_store::{Fault, OldStore, Result, StoreError};
use rusqlite::Connection;

use crate::error::backend;

/// Marks a file as a Handover store ("HNDS"), so that no other database is taken for one.
pub(crate) const APPLICATION_ID: i32 = 0x484E_4453;

/// The mark of Handover 0.1.0 ("HNDV"), whose formats 1 to 12 have nothing to do with ours.
const APPLICATION_ID_0_1_0: i32 = 0x484E_4456;

/// The size of the write-ahead log above which it is folded into the file. By default SQLite does
/// that whenever the last connection closes, which for short processes means four syncs of the disk
/// per write; a longer log in turn makes every first opening read it.
const LONG_LOG: u64 = 200 * 4096;

pub(crate) fn user_version(connection: &Connection) -> Result<i64> {
    read_user_version(connection).map_err(backend)
}

pub(crate) fn read_user_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Refuses files of other programs and of Handover 0.1.0.
pub(crate) fn check_owner(connection: &Connection, path: &Path) -> Result<()> {
    let id: i32 =
        connection.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(backend)?;
    match id {
        APPLICATION_ID => Ok(()),
        APPLICATION_ID_0_1_0 => Err(StoreError::Outdated {
            store: OldStore::File(path.to_owned()),
            found: user_version(connection)?,
        }),
        _ => Err(StoreError::Foreign { path: path.to_owned() }),
    }
}

/// Truncates the log once it is long. SQLite's own checkpoints leave it to the next writer to restart
/// the log, and a process that opens a log which nobody else has open cannot know that its content is
/// in the file already. A series of short processes would make it grow forever, and each of them would
/// read and copy all of it.
pub(crate) fn truncate_long_log(connection: &Connection, patience: Duration) -> Result<()> {
    let log = connection.path().map(|path| format!("{path}-wal"));
    let length = log.and_then(|log| std::fs::metadata(log).ok()).map_or(0, |log| log.len());
    if length < LONG_LOG {
        return Ok(());
    }
    tracing::debug!(length, "truncating the write-ahead log");
    // Do not wait for readers: the next writer tries again.
    connection.busy_timeout(Duration::ZERO).map_err(backend)?;
    let truncated = truncate_log(connection);
    connection.busy_timeout(patience).map_err(backend)?;
    truncated
}

/// Moves the content of the log into the file and empties it, so that the next opening does not have
/// to read it. While another process is reading, a later write does it.
pub(crate) fn truncate_log(connection: &Connection) -> Result<()> {
    match connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(backend) {
        Err(StoreError::Backend { fault: Fault::Busy, .. }) => Ok(()),
        other => other,
    }
}
