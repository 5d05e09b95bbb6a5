//! Sessions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ProjectId, SessionId, SessionStatus, Timestamp};

/// One orchestrated piece of work; owns groups, packages, reasoning, receipts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Given or generated.
    pub id: SessionId,
    /// Owner of what is learned.
    pub project: ProjectId,
    /// Where it stands.
    pub status: SessionStatus,
    /// Whatever the orchestrator wants to remember; a JSON object.
    pub metadata: Value,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was closed.
    pub ended_at: Option<Timestamp>,
}

/// How many records a session owns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCounts {
    /// Task groups.
    pub groups: u64,
    /// Packages in their latest version.
    pub packages: u64,
    /// Packages in every version.
    pub package_versions: u64,
    /// Pieces of reasoning.
    pub reasoning: u64,
    /// Skill outputs.
    pub skill_outputs: u64,
    /// Events.
    pub events: u64,
    /// Receipts.
    pub receipts: u64,
}
