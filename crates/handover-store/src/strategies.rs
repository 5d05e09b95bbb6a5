//! Strategies. They belong to a project, not to a session.

use handover_model::{ProjectId, ReasoningId, RecordState, Strategy, Timestamp, Topic, Trust};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Strategies::learn_strategies`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewStrategy {
    /// The project it belongs to.
    pub project: ProjectId,
    /// A short description.
    pub topic: Topic,
    /// At most 500 characters.
    pub insight: Clean,
    /// The programming language it is limited to, if any.
    pub language: Option<Clean>,
    /// The framework it is limited to, if any.
    pub framework: Option<Clean>,
    /// The reasoning that it was extracted from.
    pub source: ReasoningId,
    /// The current time; stores have no clock.
    pub now: Timestamp,
    /// How far to believe it: the lowest class of its sources.
    pub trust: Trust,
}

/// Which strategies to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StrategyFilter {
    /// Only of this language, or without one.
    pub language: Option<String>,
    /// Only of this framework, or without one.
    pub framework: Option<String>,
    /// Only in this state.
    pub state: Option<RecordState>,
    /// The maximum number of results; none means all.
    pub limit: Option<u32>,
}

/// Strategies.
pub trait Strategies {
    /// Stores insights, all or none. A new one starts at helpfulness 1. The same insight from another piece
    /// of reasoning raises it by one; from the same one it changes nothing, so extraction is idempotent.
    /// A strategy has the lowest class of all its sources. Returns each resulting strategy once.
    fn learn_strategies(&self, new: &[NewStrategy]) -> Result<Vec<Strategy>>;

    /// Increments the helpfulness of a strategy whose delivery was followed by success.
    fn strategy_helped(&self, id: &str, now: Timestamp) -> Result<Strategy>;

    /// Retires a strategy or takes it back into use. It may still be extracted again; that does not change
    /// its state.
    fn set_strategy_state(
        &self,
        project: &ProjectId,
        id: &str,
        state: RecordState,
        reason: Option<&Clean>,
    ) -> Result<Strategy>;

    /// The project's strategies: most helpful first, then latest, then by id.
    fn strategies(&self, project: &ProjectId, filter: &StrategyFilter) -> Result<Vec<Strategy>>;
}
