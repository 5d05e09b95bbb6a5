//! Changes, as announced to listeners.

use serde::{Deserialize, Serialize};

use crate::{ChangeKind, ProjectId, SessionId, Timestamp};

/// One change to the store, for listeners. The record itself is read on demand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Increases with every change.
    pub id: u64,
    /// The kind of the changed record.
    pub kind: ChangeKind,
    /// The project whose record changed.
    pub project: ProjectId,
    /// The session of the record; `None` for knowledge, which belongs to the project.
    pub session: Option<SessionId>,
    /// The id of the record; for a journal entry, the run's id, a slash, and the sequence number.
    pub subject: String,
    /// The new status, state, type or phase.
    pub detail: String,
    /// When the change was committed.
    pub at: Timestamp,
}
