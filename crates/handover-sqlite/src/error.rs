//! Mapping of SQLite's errors.

use handover_store::{Fault, StoreError};
use rusqlite::ErrorCode;

/// Classifies an error of SQLite.
pub(crate) fn backend(error: rusqlite::Error) -> StoreError {
    let fault = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Fault::Busy,
        Some(ErrorCode::DiskFull) => Fault::Full,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Fault::ReadOnly,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Fault::Corrupt,
        Some(ErrorCode::CannotOpen) => Fault::Unavailable,
        Some(ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed) => Fault::Io,
        // A value that we could not have written.
        None if matches!(error, rusqlite::Error::FromSqlConversionFailure(..)) => Fault::Corrupt,
        Some(_) | None => Fault::Refused,
    };
    StoreError::Backend { fault, source: Box::new(error) }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn fault(connection: &Connection, sql: &str) -> Fault {
        let error = backend(connection.execute_batch(sql).unwrap_err());
        let StoreError::Backend { fault, .. } = error else { panic!("{error}") };
        fault
    }

    fn open(path: &std::path::Path) -> Connection {
        #[expect(clippy::disallowed_methods, reason = "the test provokes errors")]
        Connection::open(path).unwrap()
    }

    #[test]
    fn errors_have_their_class() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let (one, two) = (open(&path), open(&path));
        one.execute_batch("CREATE TABLE t (x UNIQUE); INSERT INTO t VALUES (zeroblob(5000))")
            .unwrap();
        two.busy_timeout(std::time::Duration::ZERO).unwrap();
        one.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert_eq!(fault(&two, "INSERT INTO t VALUES (1)"), Fault::Busy);
        one.execute_batch("ROLLBACK").unwrap();
        assert_eq!(fault(&one, "SELECT nonsense"), Fault::Refused);
        assert_eq!(fault(&one, "INSERT INTO t SELECT x FROM t"), Fault::Refused);
        one.execute_batch("PRAGMA max_page_count = 1").unwrap();
        assert_eq!(fault(&one, "INSERT INTO t VALUES (zeroblob(90000))"), Fault::Full);
        two.execute_batch("PRAGMA query_only = ON").unwrap();
        assert_eq!(fault(&two, "INSERT INTO t VALUES (2)"), Fault::ReadOnly);
        drop((one, two));
        fs_err::write(&path, "x".repeat(4096)).unwrap();
        assert_eq!(fault(&open(&path), "SELECT * FROM t"), Fault::Corrupt);
    }
}
