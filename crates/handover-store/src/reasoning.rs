//! Reasoning.

use handover_model::{AgentId, Confidence, GroupId, Phase, Reasoning, Role, SessionId, Timestamp};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// A piece of reasoning to be recorded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewReasoning {
    /// The session.
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
    pub content: Clean,
    /// What it refers to.
    pub references: Vec<Clean>,
    /// Now.
    pub now: Timestamp,
}

/// The direction of a listing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeOrder {
    /// Newest first.
    #[default]
    NewestFirst,
    /// Oldest first.
    OldestFirst,
}

/// Which reasoning to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ReasoningFilter {
    /// Only about this group.
    pub group: Option<GroupId>,
    /// Only by this role.
    pub role: Option<Role>,
    /// Only of this phase.
    pub phase: Option<Phase>,
    /// At most so many.
    pub limit: Option<u32>,
    /// The direction.
    pub order: TimeOrder,
}

/// Reasoning.
pub trait Reasonings {
    /// Records a piece of reasoning.
    fn add_reasoning(&self, new: &NewReasoning) -> Result<Reasoning>;

    /// The session's reasoning.
    fn reasoning(&self, session: &SessionId, filter: &ReasoningFilter) -> Result<Vec<Reasoning>>;
}
