//! Sessions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ProjectId, SessionId, SessionStatus, Timestamp};

/// One orchestrated piece of work; owns groups, packages, reasoning and receipts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Given by the user or generated.
    pub id: SessionId,
    /// The project that owns what is learned.
    pub project: ProjectId,
    /// Active, completed or failed.
    pub status: SessionStatus,
    /// Free-form data of the orchestrator; a JSON object.
    pub metadata: Value,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it was closed.
    pub ended_at: Option<Timestamp>,
}

/// How many records a session owns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCounts {
    /// Number of task groups.
    pub groups: u64,
    /// Number of packages, counting only the latest versions.
    pub packages: u64,
    /// Number of packages, counting every version.
    pub package_versions: u64,
    /// Number of reasoning records.
    pub reasoning: u64,
    /// Number of skill outputs.
    pub skill_outputs: u64,
    /// Number of events.
    pub events: u64,
    /// Number of receipts.
    pub receipts: u64,
}
