//! Runs and their journals.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{EpicId, JournalKind, RunId, RunState, SessionId, Timestamp};

/// One execution of a pipeline. What happened in it is in its journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Unique within a store.
    pub id: RunId,
    /// What it works on.
    pub epic: EpicId,
    /// Where its agents' records go.
    pub session: SessionId,
    /// Where it stands, as far as it could say.
    pub state: RunState,
    /// When it was started.
    pub created_at: Timestamp,
    /// When it last wrote something down.
    pub updated_at: Timestamp,
}

/// One entry of a run's journal. Append-only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its place in the journal, from 1.
    pub seq: u64,
    /// What it is.
    pub kind: JournalKind,
    /// What it says.
    pub entry: Value,
    /// When it was written.
    pub created_at: Timestamp,
}

/// Who holds the lock of an epic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    /// The machine.
    pub host: String,
    /// The number of the process.
    pub pid: u32,
    /// When the process started, in the system's own count.
    pub started: Option<u64>,
    /// The boot of the machine that it lives in.
    pub boot: Option<String>,
}
