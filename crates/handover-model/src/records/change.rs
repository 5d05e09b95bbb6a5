//! Changes: what listeners are told.

use serde::{Deserialize, Serialize};

use crate::{ChangeKind, ProjectId, SessionId, Timestamp};

/// One thing that happened to the store. The record itself is read where it is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its number, which only grows.
    pub id: u64,
    /// What kind of record it is about.
    pub kind: ChangeKind,
    /// The project.
    pub project: ProjectId,
    /// The session that the record belongs to; what is learned belongs to the project.
    pub session: Option<SessionId>,
    /// The id of the record; of an entry of a journal the run's id, a slash, and its place.
    pub subject: String,
    /// What it is now: a status, a state, a type, a phase.
    pub detail: String,
    /// When.
    pub at: Timestamp,
}
