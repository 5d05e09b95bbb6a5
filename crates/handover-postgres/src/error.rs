//! Mapping of the server's errors.

use std::time::Duration;

use handover_store::{Fault, StoreError};
use tokio_postgres::error::SqlState;

/// Why a statement failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection was lost; the statement may be retried.
    Lost(StoreError),
    /// The server rejected it.
    Refused(StoreError),
}

impl Failure {
    /// The error, for callers that cannot retry.
    pub(crate) fn error(self) -> StoreError {
        match self {
            Self::Lost(error) | Self::Refused(error) => error,
        }
    }
}

/// The server did not respond in time.
#[derive(Debug, thiserror::Error)]
#[error("no response from the server within {} seconds", .0.as_secs_f32())]
pub(crate) struct Silence(pub(crate) Duration);

/// Classifies an error of the driver.
pub(crate) fn failure(error: tokio_postgres::Error) -> Failure {
    let Some(state) = error.code().cloned() else {
        // The source distinguishes broken connections from failed conversions.
        let broken = error.is_closed()
            || std::error::Error::source(&error)
                .is_some_and(|cause| cause.downcast_ref::<std::io::Error>().is_some());
        return if broken {
            Failure::Lost(backend(Fault::Unavailable, error))
        } else {
            Failure::Refused(backend(Fault::Refused, error))
        };
    };
    // Only the message: statement and values may contain project data.
    let words = error.as_db_error().map_or_else(String::new, |e| e.message().to_owned());
    let refused = |fault| Failure::Refused(backend(fault, words.clone()));
    match state {
        // It is shutting down, has crashed, or is still starting.
        SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW
        | SqlState::DATABASE_DROPPED
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        | SqlState::TOO_MANY_CONNECTIONS => {
            Failure::Lost(backend(Fault::Unavailable, words.clone()))
        }
        SqlState::LOCK_NOT_AVAILABLE
        | SqlState::QUERY_CANCELED
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::T_R_SERIALIZATION_FAILURE => refused(Fault::Busy),
        SqlState::DISK_FULL | SqlState::OUT_OF_MEMORY => refused(Fault::Full),
        SqlState::INSUFFICIENT_PRIVILEGE | SqlState::READ_ONLY_SQL_TRANSACTION => {
            refused(Fault::ReadOnly)
        }
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => refused(Fault::Corrupt),
        SqlState::IO_ERROR => refused(Fault::Io),
        SqlState::INVALID_PASSWORD
        | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
        | SqlState::UNDEFINED_DATABASE => refused(Fault::Unavailable),
        state if state.code().starts_with("08") => {
            Failure::Lost(backend(Fault::Unavailable, words.clone()))
        }
        _ => refused(Fault::Refused),
    }
}

pub(crate) fn backend(
    fault: Fault,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    StoreError::Backend { fault, source: source.into() }
}
