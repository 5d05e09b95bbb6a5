//! Errors of one request: what a library returned, and what the client sees.

use handover_context::amendments::AmendmentError;
use handover_context::by_hand::ByHandError;
use handover_context::notes::NoteError;
use handover_context::package_file::PackageFileError;
use handover_handoff::HandoffError;
use handover_model::InvalidId;
use handover_store::StoreError;
use handover_text::{redact_message, short};

/// A failed request as the client sees it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RequestError {
    /// Stable and machine-readable; the same codes as on the command line.
    pub code: &'static str,
    /// A fragment without a full stop.
    pub message: String,
    /// The suggested next step.
    pub hint: Option<String>,
}

impl RequestError {
    /// A bug on our side.
    pub fn internal(message: &str) -> Self {
        let hint = Some("Try again; if it keeps happening, please report it.".to_owned());
        Self { code: "internal", message: message.to_owned(), hint }
    }

    /// The text of a failed tool call.
    pub(crate) fn text(&self) -> String {
        let message = quoting(&self.message);
        match self.hint.as_deref().map(quoting) {
            Some(hint) => format!("Error: {message}. {hint}"),
            None => format!("Error: {message}."),
        }
    }
}

/// A message that quotes what a client sent: without secrets, and only a little of it.
pub(crate) fn quoting(message: &str) -> String {
    short(&redact_message(message)).into_owned()
}

/// What can go wrong while a request is handled; becomes a [`RequestError`] at the edge.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The store rejected the operation or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A handoff was refused or failed.
    #[error(transparent)]
    Handoff(HandoffError),
    /// A file cannot be registered as a package.
    #[error(transparent)]
    PackageFile(#[from] PackageFileError),
    /// A note cannot be written, found or changed.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// A change by hand was refused.
    #[error(transparent)]
    ByHand(ByHandError),
    /// A replacement cannot be decided about.
    #[error(transparent)]
    Amendment(#[from] AmendmentError),
    /// A malformed id.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// Invalid arguments, or an error that is already in its final form.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl From<HandoffError> for ToolError {
    fn from(error: HandoffError) -> Self {
        if let HandoffError::Store(error) = error {
            return Self::Store(error);
        }
        Self::Handoff(error)
    }
}

impl From<ByHandError> for ToolError {
    fn from(error: ByHandError) -> Self {
        match error {
            ByHandError::Store(error) => Self::Store(error),
            ByHandError::Note(error) => Self::Note(error),
            ByHandError::Amendment(error) => Self::Amendment(error),
            refused @ (ByHandError::Unknown { .. }
            | ByHandError::Ambiguous { .. }
            | ByHandError::NothingToUndo
            | ByHandError::AlreadyUndone { .. }
            | ByHandError::ChangedSince { .. }
            | ByHandError::Summary { .. }
            | ByHandError::Gone { .. }) => Self::ByHand(refused),
        }
    }
}

impl ToolError {
    /// A stable name of the error: the same whether it ends on the command line, in a tool or at an endpoint.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Handoff(error) => error.code(),
            Self::PackageFile(error) => error.code(),
            Self::Note(error) => error.code(),
            Self::ByHand(error) => error.code(),
            Self::Amendment(error) => error.code(),
            Self::Id(_) => "invalid_input",
            Self::Request(error) => error.code,
        }
    }

    /// Invalid arguments.
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Request(RequestError {
            code: "invalid_input",
            message: message.into(),
            hint: Some(hint.into()),
        })
    }
}
