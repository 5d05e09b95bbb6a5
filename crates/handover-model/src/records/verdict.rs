//! Verdicts.

use serde::{Deserialize, Serialize};

use crate::{AgentId, GroupId, ReceiptId, Role, SessionId, Timestamp, Trust, Verdict, VerdictId};

/// How an agent's work ended, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictRecord {
    /// Unique within a store.
    pub id: VerdictId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The group it concerns, if any.
    pub group: Option<GroupId>,
    /// The agent's role.
    pub role: Role,
    /// The agent, if several share the role.
    pub agent_id: Option<AgentId>,
    /// The attempt it ended, from 0.
    pub iteration: u32,
    /// The receipt of the brief it responds to, if any.
    pub receipt: Option<ReceiptId>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the agent did or found.
    pub summary: Option<String>,
    /// What a reviewer wants fixed, one line each.
    pub findings: Vec<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// How far to believe it.
    pub trust: Trust,
}
