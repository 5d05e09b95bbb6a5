//! Reasoning.

use serde::{Deserialize, Serialize};

use crate::{AgentId, Confidence, GroupId, Phase, ReasoningId, Role, SessionId, Timestamp};

/// What an agent thought in one phase of its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// Unique within a store.
    pub id: ReasoningId,
    /// The session that it belongs to.
    pub session: SessionId,
    /// The group that it is about, if any.
    pub group: Option<GroupId>,
    /// Who thought it.
    pub role: Role,
    /// Which agent of that role.
    pub agent_id: Option<AgentId>,
    /// In which attempt.
    pub iteration: u32,
    /// In which phase.
    pub phase: Phase,
    /// How sure.
    pub confidence: Option<Confidence>,
    /// The thought.
    pub content: String,
    /// What it refers to: paths, ids, links.
    pub references: Vec<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
}
