//! What can go wrong in a store.

use std::path::PathBuf;

use handover_model::{PackageId, SessionId};
use serde::{Deserialize, Serialize};

/// A store's refusal or failure.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A record that was named does not exist.
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// What kind of record.
        what: &'static str,
        /// The id that was given.
        id: String,
    },

    /// Only the latest version of a package can be superseded.
    #[error("package {id} has been superseded already; the latest version is {latest}")]
    AlreadySuperseded {
        /// The package that was named.
        id: PackageId,
        /// The latest of its chain.
        latest: PackageId,
    },

    /// A package cannot supersede one of another session.
    #[error("package {id} belongs to session `{session}`")]
    OtherSession {
        /// The package that was named.
        id: PackageId,
        /// The session that it belongs to.
        session: SessionId,
    },

    /// Another package has this path, and the new one does not supersede it.
    #[error("`{path}` is registered as package {id}, which is not the one to be superseded")]
    PathTaken {
        /// The path.
        path: String,
        /// The package that has it.
        id: PackageId,
    },

    /// A receipt cannot take this step from where it is.
    #[error("receipt `{id}` is {from} and cannot become {to}")]
    WrongState {
        /// The receipt.
        id: String,
        /// Where it is.
        from: handover_model::ReceiptState,
        /// Where it was meant to go.
        to: handover_model::ReceiptState,
    },

    /// Somebody else is handing the receipt over.
    #[error("receipt `{id}` is being handed over already")]
    Claimed {
        /// The receipt.
        id: String,
    },

    /// Another engine works on the epic.
    #[error("epic `{epic}` is being run by process {} on {}", owner.pid, owner.host)]
    Locked {
        /// The epic.
        epic: handover_model::EpicId,
        /// Who works on it.
        owner: handover_model::LockOwner,
        /// The fence of the lock.
        fence: u64,
    },

    /// The lock was lost to another engine.
    #[error("another engine has taken over epic `{epic}`")]
    Fenced {
        /// The epic.
        epic: handover_model::EpicId,
    },

    /// A prefix of a hash fits more than one error pattern.
    #[error("`{prefix}` is the start of {count} error patterns")]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// How many patterns fit.
        count: usize,
    },

    /// The store was written by a newer version.
    #[error(
        "the store {location} has format {found}, and this version knows formats up to {known}"
    )]
    Newer {
        /// Where the store is.
        location: String,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },

    /// The file is a database of something else, or no database at all.
    #[error("{} is not a Handover store", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },

    /// Whoever asks may not do that.
    #[error("that needs the right to {need}")]
    Denied {
        /// The right that is missing.
        need: handover_model::TokenScope,
    },

    /// The backend failed.
    #[error("{fault}")]
    Backend {
        /// What kind of failure.
        fault: Fault,
        /// The backend's own words.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// How a backend can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Fault {
    /// Somebody else held the write lock for too long.
    #[error("the store is locked by another process")]
    Busy,
    /// No space left.
    #[error("the disk is full")]
    Full,
    /// The store or its folder cannot be written.
    #[error("the store cannot be written")]
    ReadOnly,
    /// The store's content makes no sense.
    #[error("the store is damaged")]
    Corrupt,
    /// It cannot be opened or reached.
    #[error("the store cannot be opened")]
    Unavailable,
    /// Reading or writing failed.
    #[error("reading or writing the store failed")]
    Io,
    /// A statement failed for a reason that points to a defect of ours.
    #[error("the store refused an operation")]
    Refused,
}

impl StoreError {
    /// A record that does not exist.
    pub fn not_found(what: &'static str, id: impl ToString) -> Self {
        Self::NotFound { what, id: id.to_string() }
    }
}
