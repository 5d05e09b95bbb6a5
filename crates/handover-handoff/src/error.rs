//! What can stop a handoff.

use handover_model::{ReceiptId, Role, SessionId, SessionStatus};
use handover_store::StoreError;

use crate::guard::Refusal;

/// Why a step of a handoff did not happen.
#[derive(Debug, thiserror::Error)]
pub enum HandoffError {
    /// The guard does not let the prompt out.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A setting that only a configuration file may decide was overridden for this call.
    #[error("`{key}` cannot be overridden by {source_name}")]
    Overridden {
        /// The key of the configuration.
        key: String,
        /// Where the override comes from, such as `--config` or a variable.
        source_name: String,
    },
    /// The session does not take new work.
    #[error("session `{session}` is {status}")]
    SessionClosed {
        /// The session that the request named.
        session: SessionId,
        /// Its status.
        status: SessionStatus,
    },
    /// A receipt was given to another role than the caller names.
    #[error("receipt {receipt} was given to role `{found}`, not `{asked}`")]
    OtherRole {
        /// The receipt that the caller names.
        receipt: ReceiptId,
        /// The role of the receipt.
        found: Role,
        /// The role that the caller names.
        asked: Role,
    },
    /// A receipt belongs to another session than the caller names.
    #[error("receipt {receipt} belongs to session `{found}`, not `{asked}`")]
    OtherSession {
        /// The receipt that the caller names.
        receipt: ReceiptId,
        /// The session of the receipt.
        found: SessionId,
        /// The session that the caller names.
        asked: SessionId,
    },
    /// An ending without a receipt or a role, so that nothing says whose it is.
    #[error("neither a receipt nor a role is given")]
    NoAgent,
    /// Another process is handing the same prompt to an agent, or has done so.
    #[error("receipt {receipt} is taken: {source}")]
    Taken {
        /// The receipt of the prompt.
        receipt: ReceiptId,
        /// What the store says about it.
        source: Box<StoreError>,
    },
    /// Another hook of the same host has briefed this subagent.
    #[error("receipt {receipt} is the brief of this subagent")]
    Briefed {
        /// The receipt of its brief.
        receipt: ReceiptId,
    },
    /// Neither the store nor the spool takes the receipt, so there is none.
    #[error("{store}, and the spool cannot be written: {spool}")]
    NoReceipt {
        /// What is wrong with the store.
        store: String,
        /// What is wrong with the spool.
        spool: std::io::Error,
    },
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl HandoffError {
    /// A stable name of the error, for scripts and for clients of the service.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Overridden { .. }
            | Self::SessionClosed { .. }
            | Self::OtherRole { .. }
            | Self::OtherSession { .. }
            | Self::NoAgent => "invalid_input",
            Self::Taken { source, .. } => source.code(),
            Self::Briefed { .. } => "briefed",
            Self::NoReceipt { .. } => "no_receipt",
            Self::Store(error) => error.code(),
        }
    }
}

/// The result of a step.
pub type Result<T, E = HandoffError> = std::result::Result<T, E>;
