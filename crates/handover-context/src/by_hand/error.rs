//! Why a change by hand, or undoing one, is refused.

use handover_model::OperationId;
use handover_store::{RecordKind, StoreError};

use crate::amendments::AmendmentError;
use crate::notes::NoteError;

/// Why a change by hand, or undoing one, is refused.
#[derive(Debug, thiserror::Error)]
pub enum ByHandError {
    /// No record has this id, or one that begins or ends like that.
    #[error("there is no {what} `{name}`")]
    Unknown {
        /// The kind of record.
        what: RecordKind,
        /// The id that was given.
        name: String,
    },
    /// Several have.
    #[error("`{name}` matches {count} {what} ids")]
    Ambiguous {
        /// The kind of record.
        what: RecordKind,
        /// The part of an id that was given.
        name: String,
        /// How many match.
        count: usize,
    },
    /// The log is empty, or everything in it was undone.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// It was undone before.
    #[error("{id} was undone by {by}")]
    AlreadyUndone {
        /// The operation.
        id: OperationId,
        /// The one that undid it.
        by: OperationId,
    },
    /// A later change depends on it.
    #[error("{subject} was changed again after {id}{}", by.as_ref().map(|by| format!(", by {by}")).unwrap_or_default())]
    ChangedSince {
        /// The operation.
        id: OperationId,
        /// The record.
        subject: String,
        /// The later change, if it is in the log.
        by: Option<OperationId>,
    },
    /// The record was deleted.
    #[error("{subject} no longer exists, so {id} cannot be undone")]
    Gone {
        /// The operation.
        id: OperationId,
        /// The record.
        subject: String,
    },
    /// The summary cannot be that, or not of that package.
    #[error("{problem}")]
    Summary {
        /// What is wrong.
        problem: &'static str,
    },
    /// The note cannot be written, found or changed.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The replacement cannot be decided about.
    #[error(transparent)]
    Amendment(#[from] AmendmentError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ByHandError {
    /// A stable name of the error, for scripts and for clients of the service.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } | Self::NothingToUndo | Self::Gone { .. } => "not_found",
            Self::Ambiguous { .. } => "ambiguous",
            Self::AlreadyUndone { .. } | Self::ChangedSince { .. } => "conflict",
            Self::Summary { .. } => "invalid_input",
            Self::Note(error) => error.code(),
            Self::Amendment(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }
}
