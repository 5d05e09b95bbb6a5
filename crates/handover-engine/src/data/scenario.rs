//! The result of one acceptance scenario.

use handover_model::{ScenarioKind, ScenarioOutcome};
use serde::{Deserialize, Serialize};

/// The result of one scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioResult {
    /// The scenario's id.
    pub id: String,
    /// The acceptance criterion that it covers.
    pub criterion: String,
    /// Whether a program or a person runs it.
    pub kind: ScenarioKind,
    /// Whether it passed.
    pub outcome: ScenarioOutcome,
    /// Why it did not pass.
    pub reason: String,
    /// The end of the program's output, if it failed.
    pub tail: String,
    /// How long the program ran.
    pub duration_ms: u64,
}

impl ScenarioResult {
    /// Whether it needs a fix.
    pub fn is_wrong(&self) -> bool {
        match self.outcome {
            ScenarioOutcome::Failed | ScenarioOutcome::Refused => true,
            ScenarioOutcome::Passed | ScenarioOutcome::NotRun => false,
        }
    }
}
