//! Opening databases; nothing else does.

use std::path::Path;
use std::time::Duration;

use handover_store::{OlderFormat, Result, StoreError, Upgraded};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::durability::Patience;
use crate::error::backend;
use crate::file::{check_owner, log_of, read_user_version};
use crate::migrations::{MIGRATIONS, migrate, target};
use crate::schema;
use crate::sums;

/// How long a write waits for the lock, unless the caller has less time. Thirty writers in a row
/// take far less.
pub(crate) const PATIENCE: Patience = Patience::new(Duration::from_secs(30));

/// How much of the file is cached, in kilobytes: what a long-lived process reads again and again while
/// it assembles. The page cache of the system has the rest; too little of the file is read to map it.
const CACHE_KILOBYTES: u32 = 1024;

/// The same for a process that assembles once. It reads most pages once, and memory that it never touched before
/// costs more than reading a page again.
const SMALL_CACHE_KILOBYTES: u32 = 128;

/// A connection of a store.
#[derive(Debug)]
pub(crate) enum Held {
    /// Closed with the store.
    Closed(Connection),
    /// Left to the end of the process, which releases its locks. Freeing what SQLite has in memory took as long as
    /// storing a receipt, and somebody was waiting for the process to end. Nothing is lost: what is committed is
    /// in the log.
    Left(&'static mut Connection),
}

impl Held {
    pub(crate) fn until_exit(connection: Connection) -> Self {
        Self::Left(Box::leak(Box::new(connection)))
    }
}

impl std::ops::Deref for Held {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            Self::Closed(connection) => connection,
            Self::Left(connection) => connection,
        }
    }
}

/// Opens a file that has, or gets, the current format.
pub(crate) fn open(
    path: &Path,
    patience: Patience,
    older: OlderFormat,
) -> Result<(Connection, Option<Upgraded>)> {
    open_with(path, patience, MIGRATIONS, older)
}

/// Lets a connection keep less of the file in memory.
pub(crate) fn shrink_cache(connection: &Connection) -> Result<()> {
    connection.pragma_update(None, "cache_size", -i64::from(SMALL_CACHE_KILOBYTES)).map_err(backend)
}

/// The same with another list of migrations, for tests of the machinery.
pub(crate) fn open_with(
    path: &Path,
    patience: Patience,
    migrations: &[&str],
    older: OlderFormat,
) -> Result<(Connection, Option<Upgraded>)> {
    let (connection, upgraded) = match open_current(path, patience, migrations, older) {
        Err(StoreError::Backend { fault, source }) if fault.is_unwritable() => {
            let connection =
                open_read_only(path, migrations).ok_or(StoreError::Backend { fault, source })?;
            (connection, None)
        }
        opened => opened?,
    };
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
    Ok((connection, upgraded))
}

/// Opens a file for writing, and migrates it.
fn open_current(
    path: &Path,
    patience: Patience,
    migrations: &[&str],
    older: OlderFormat,
) -> Result<(Connection, Option<Upgraded>)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    let connection = Connection::open_with_flags(path, flags).map_err(backend)?;
    connection.busy_timeout(patience.slice()).map_err(backend)?;
    schema::protect(&connection).map_err(backend)?;
    sums::register(&connection).map_err(backend)?;
    let version = match read_user_version(&connection) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Err(StoreError::Foreign { path: path.to_owned() });
        }
        version => version.map_err(backend)?,
    };
    tracing::debug!(path = %path.display(), format = version, "opening store");
    if version == target(migrations) {
        check_owner(&connection, path)?;
        schema::check(&connection, path, migrations)?;
        return Ok((connection, None));
    }
    let upgraded = migrate(&connection, path, migrations, older)?;
    Ok((connection, upgraded))
}

/// Opens a file that cannot be opened for writing, or beside which no file can be created: the disk is full
/// or read-only. `None` if it cannot be read either.
fn open_read_only(path: &Path, migrations: &[&str]) -> Option<Connection> {
    let log = std::fs::metadata(log_of(path)).map_or(0, |log| log.len());
    // Without a log the file is complete, and nobody can write to it: that would need a log here.
    let mode = if log == 0 { "immutable=1" } else { "mode=ro&readonly_shm=1" };
    let escaped: String = path
        .to_str()?
        .chars()
        .map(|c| if "%?#".contains(c) { format!("%{:02x}", u32::from(c)) } else { c.to_string() })
        .collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    let connection = Connection::open_with_flags(format!("file:{escaped}?{mode}"), flags).ok()?;
    schema::protect(&connection).ok()?;
    sums::register(&connection).ok()?;
    let is_current = read_user_version(&connection).ok()? == target(migrations);
    let is_ours = check_owner(&connection, path)
        .and_then(|()| schema::check(&connection, path, migrations))
        .is_ok();
    (is_current && is_ours).then_some(connection)
}

#[cfg(test)]
mod tests {
    use handover_model::{ProjectId, SessionId, Timestamp};
    use handover_store::{NewSession, Sessions};

    use super::*;
    use crate::{Opening, SqliteStore};

    /// `.cargo/config.toml` says how SQLite is compiled; a build that ignores it is slower.
    #[test]
    fn sqlite_is_compiled_for_short_processes() {
        let folder = tempfile::tempdir().unwrap();
        let (connection, _) =
            open(&folder.path().join("x.db"), PATIENCE, OlderFormat::Upgrade).unwrap();
        let mut statement = connection.prepare("PRAGMA compile_options").unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let options: Vec<String> = rows.map(|row| row.unwrap()).collect();
        assert!(options.iter().any(|option| option == "DEFAULT_MEMSTATUS=0"), "{options:?}");
        for unused in ["ENABLE_API_ARMOR", "ENABLE_FTS5", "ENABLE_RTREE", "ENABLE_STAT4"] {
            assert!(!options.iter().any(|option| option == unused), "{options:?}");
        }
    }

    /// What was written through a connection that is never closed is there, and nobody has to wait.
    #[test]
    fn a_connection_that_is_left_open_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let impatient = Patience::new(Duration::ZERO);
        let session = |name: &str| NewSession {
            id: SessionId::new(name).unwrap(),
            project: ProjectId::new("p").unwrap(),
            metadata: Default::default(),
            now: Timestamp::from_micros(1),
        };
        let brief = Opening { patience: impatient, ..Opening::BRIEFLY };
        let brief = SqliteStore::open_for(&path, brief).unwrap();
        brief.open_session(&session("first")).unwrap();
        drop(brief);
        let other = SqliteStore::open_within(&path, impatient).unwrap();
        other.open_session(&session("second")).unwrap();
        let found = |name: &str| other.session(&SessionId::new(name).unwrap()).unwrap().id;
        assert_eq!((found("first").as_str(), found("second").as_str()), ("first", "second"));
    }
}
