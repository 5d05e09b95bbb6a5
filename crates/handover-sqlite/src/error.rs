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
