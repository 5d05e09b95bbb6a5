//! The server's errors in the words of the store.

use std::time::Duration;

use handover_store::{Fault, StoreError};
use tokio_postgres::error::SqlState;

/// Why a statement has no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection is gone: the server did not say no, it said nothing.
    Lost(StoreError),
    /// The server said no.
    Refused(StoreError),
}

impl Failure {
    /// The error, for those who cannot try again.
    pub(crate) fn error(self) -> StoreError {
        match self {
            Self::Lost(error) | Self::Refused(error) => error,
        }
    }
}

/// A server that does not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("no answer from the server within {} seconds", .0.as_secs_f32())]
pub(crate) struct Silence(pub(crate) Duration);

/// What kind of failure an error of the driver is.
pub(crate) fn failure(error: tokio_postgres::Error) -> Failure {
    let Some(state) = error.code().cloned() else {
        // Conversions are told apart from broken connections by what caused them.
        let broken = error.is_closed()
            || std::error::Error::source(&error)
                .is_some_and(|cause| cause.downcast_ref::<std::io::Error>().is_some());
        return if broken {
            Failure::Lost(backend(Fault::Unavailable, error))
        } else {
            Failure::Refused(backend(Fault::Refused, error))
        };
    };
    // The server's own sentence, without the statement and its values.
    let words = error.as_db_error().map_or_else(String::new, |e| e.message().to_owned());
    let refused = |fault| Failure::Refused(backend(fault, words.clone()));
    match state {
        // It goes down, has crashed, or is not up yet.
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
