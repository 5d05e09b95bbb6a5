//! Reasoning.

use handover_model::{
    AgentId, Confidence, GroupId, Phase, Reasoning, Role, SessionId, Timestamp, Trust,
};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Reasonings::add_reasoning`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewReasoning {
    /// The session that owns it.
    pub session: SessionId,
    /// The group that it belongs to, if any.
    pub group: Option<GroupId>,
    /// The role of the agent.
    pub role: Role,
    /// Distinguishes agents of the same role.
    pub agent_id: Option<AgentId>,
    /// The attempt, from 0.
    pub iteration: u32,
    /// The phase of the work.
    pub phase: Phase,
    /// How certain the agent is.
    pub confidence: Option<Confidence>,
    /// The reasoning itself.
    pub content: Clean,
    /// Files, records or links that it refers to.
    pub references: Vec<Clean>,
    /// The current time; stores have no clock.
    pub now: Timestamp,
    /// How far to believe it: the lowest class of its sources.
    pub trust: Trust,
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
    /// How many to pass over.
    #[serde(default)]
    pub skip: u32,
    /// The maximum number of results; none means all.
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
