//! Reasoning.

use serde::{Deserialize, Serialize};

use crate::{AgentId, Confidence, GroupId, Phase, ReasoningId, Role, SessionId, Timestamp, Trust};

/// An agent's reasoning in one phase of its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// Unique within a store.
    pub id: ReasoningId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The group it concerns, if any.
    pub group: Option<GroupId>,
    /// The author's role.
    pub role: Role,
    /// The author, if several agents share the role.
    pub agent_id: Option<AgentId>,
    /// The attempt it came from.
    pub iteration: u32,
    /// The stage of work.
    pub phase: Phase,
    /// How confident the author was.
    pub confidence: Option<Confidence>,
    /// The text.
    pub content: String,
    /// Paths, ids and links it refers to.
    pub references: Vec<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// How far to believe it.
    pub trust: Trust,
}
