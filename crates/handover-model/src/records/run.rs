//! Runs and their journals.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{EpicId, JournalKind, RunId, RunState, SessionId, Timestamp};

/// One execution of a pipeline; its journal contains what happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Unique within a store.
    pub id: RunId,
    /// The epic it works on.
    pub epic: EpicId,
    /// The session that its agents' records belong to.
    pub session: SessionId,
    /// The last state it recorded.
    pub state: RunState,
    /// When it was started.
    pub created_at: Timestamp,
    /// When it last wrote to its journal.
    pub updated_at: Timestamp,
}

/// An entry of a run's journal. Append-only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its position in the journal, starting at 1.
    pub seq: u64,
    /// Intent, result or note.
    pub kind: JournalKind,
    /// The effect, event or note as JSON.
    pub entry: Value,
    /// When it was written.
    pub created_at: Timestamp,
}

/// The process that holds the lock of an epic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    /// The machine's name.
    pub host: String,
    /// The process id.
    pub pid: u32,
    /// When the process started, in the operating system's units.
    pub started: Option<u64>,
    /// The machine's boot id, which makes process ids comparable.
    pub boot: Option<String>,
}
