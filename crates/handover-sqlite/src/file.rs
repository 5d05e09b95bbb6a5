//! What a file says about itself, and its write-ahead log.

use std::path::{Path, PathBuf};
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

/// The write-ahead log of a store.
pub(crate) fn log_of(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

/// Creates an empty file that only its owner can read.
pub(crate) fn create_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(())
}

/// Makes the name of a file survive a power failure.
pub(crate) fn sync_folder(file: &Path) -> std::io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    fs_err::File::open(folder)?.sync_all()
}

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
    let length = log.and_then(|log| fs_err::metadata(log).ok()).map_or(0, |log| log.len());
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Instant;

    use super::*;

    fn file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        (folder, path)
    }

    fn open(path: &Path) -> Connection {
        #[expect(clippy::disallowed_methods, reason = "the test looks at the log only")]
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("PRAGMA wal_autocheckpoint = 0").unwrap();
        connection
    }

    fn log_ahead(connection: &Connection) {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |r| r.get::<_, String>(0));
        assert_eq!(mode.unwrap(), "wal");
    }

    fn log_length(path: &Path) -> u64 {
        fs_err::metadata(path.with_extension("db-wal")).map_or(0, |log| log.len())
    }

    fn write(connection: &Connection, bytes: u64) {
        connection.execute_batch("CREATE TABLE IF NOT EXISTS t (x)").unwrap();
        connection.execute(&format!("INSERT INTO t VALUES (zeroblob({bytes}))"), []).unwrap();
    }

    #[test]
    fn only_a_long_log_is_truncated() {
        let (_folder, path) = file();
        let connection = open(&path);
        log_ahead(&connection);
        write(&connection, 1_000);
        truncate_long_log(&connection, Duration::ZERO).unwrap();
        assert!(log_length(&path) > 0);
        write(&connection, 2 * LONG_LOG);
        assert!(log_length(&path) > LONG_LOG);
        truncate_long_log(&connection, Duration::ZERO).unwrap();
        assert_eq!(log_length(&path), 0);
    }

    #[test]
    fn readers_are_not_waited_for() {
        let (_folder, path) = file();
        let (writer, reader) = (open(&path), open(&path));
        log_ahead(&writer);
        write(&writer, 10);
        reader.execute_batch("BEGIN; SELECT * FROM t").unwrap();
        write(&writer, 2 * LONG_LOG);
        let start = Instant::now();
        truncate_long_log(&writer, Duration::from_secs(30)).unwrap();
        assert!(start.elapsed() < Duration::from_secs(10));
        assert!(log_length(&path) > LONG_LOG);
        reader.execute_batch("COMMIT").unwrap();
        truncate_long_log(&writer, Duration::ZERO).unwrap();
        assert_eq!(log_length(&path), 0);
    }
}
