//! Strategies.

use serde::{Deserialize, Serialize};

use crate::{ProjectId, RecordState, Timestamp, Topic, Trust};

/// An insight that helped before and may help again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strategy {
    /// Derived from project, topic and insight.
    pub id: String,
    /// The project that learned it.
    pub project: ProjectId,
    /// What it is about.
    pub topic: Topic,
    /// At most 500 characters.
    pub insight: String,
    /// Starts at 1; grows when the insight recurs or its delivery is followed by success.
    pub helpfulness: u64,
    /// The programming language it is limited to, if any.
    pub language: Option<String>,
    /// The framework it is limited to, if any.
    pub framework: Option<String>,
    /// When it was first extracted.
    pub created_at: Timestamp,
    /// When it last recurred.
    pub last_seen: Timestamp,
    /// How far to believe it.
    pub trust: Trust,
    /// Whether it is used.
    #[serde(default)]
    pub state: RecordState,
    /// Why it is retired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
