//! Opening databases; nothing else does.

use std::path::Path;
use std::time::Duration;

use handover_store::{Result, StoreError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::backend;
use crate::file::{check_owner, read_user_version};
use crate::migrations::{MIGRATIONS, migrate, target};

/// How long a write waits for the lock, unless the caller has less time. Thirty writers in a row
/// take far less.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How much of the file is cached, in kilobytes: what a long-lived process reads again and again while
/// it assembles. The page cache of the system has the rest; too little of the file is read to map it.
const CACHE_KILOBYTES: u32 = 1024;

/// Opens a file and brings it to the current format.
pub(crate) fn open(path: &Path, patience: Duration) -> Result<Connection> {
    open_with(path, patience, MIGRATIONS)
}

/// The same with another list of migrations, for tests of the machinery.
pub(crate) fn open_with(
    path: &Path,
    patience: Duration,
    migrations: &[&str],
) -> Result<Connection> {
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
    tracing::debug!(path = %path.display(), format = version, "opening store");
    if version == target(migrations) {
        check_owner(&connection, path)?;
    } else {
        migrate(&connection, path, migrations)?;
    }
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;
             PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -{CACHE_KILOBYTES};"
        ))
        .map_err(backend)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(backend)?;
    // Keeps plans independent of bound values, so that no statement is prepared twice.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(backend)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}
