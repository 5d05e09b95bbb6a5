//! A scenario: how one criterion of an epic is tried out, by whom, and what is to be seen.

use handover_model::{ScenarioKind, ScenarioOutcome, UatGate};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest that a scenario may take, in seconds.
pub const MAX_TIMEOUT: u64 = 600;

/// How one criterion is tried out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    /// What it is called in reports.
    pub id: String,
    /// What it shows, in a line.
    pub title: String,
    /// The criterion that it stands for, such as `1-2-login AC1`.
    pub criterion: String,
    /// Who can try it.
    pub kind: ScenarioKind,
    /// The program and its arguments; no shell reads them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// What the program must do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// The longest that it may take, in seconds.
    pub timeout: u64,
    /// Programs to be run before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Vec<String>>,
    /// Programs to be run after it, whatever came of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<Vec<String>>,
    /// What a person does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// What a person should see.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expected: String,
}

impl Scenario {
    /// Everything that it would have started, in order.
    pub fn commands(&self) -> impl Iterator<Item = &Vec<String>> {
        let own = Some(&self.argv).filter(|argv| !argv.is_empty());
        self.setup.iter().chain(own).chain(&self.cleanup)
    }

    /// Whether a person has something to do.
    pub fn needs_a_person(&self) -> bool {
        match self.kind {
            ScenarioKind::Auto => false,
            ScenarioKind::Semi | ScenarioKind::Manual => true,
        }
    }
}

/// What a program must do.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Expect {
    /// Its exit code.
    pub exit: i32,
    /// Texts that it must print.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
    /// What it must print as JSON; members that are not named do not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
}

/// What came of one scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioResult {
    /// The scenario.
    pub id: String,
    /// What it stands for.
    pub criterion: String,
    /// Who can try it.
    pub kind: ScenarioKind,
    /// What came of it.
    pub outcome: ScenarioOutcome,
    /// Why.
    pub reason: String,
    /// The end of what its program printed, if it does not hold.
    pub tail: String,
    /// How long it took.
    pub duration_ms: u64,
}

impl ScenarioResult {
    /// Whether it must be mended.
    pub fn is_wrong(&self) -> bool {
        match self.outcome {
            ScenarioOutcome::Failed | ScenarioOutcome::Refused => true,
            ScenarioOutcome::Passed | ScenarioOutcome::NotRun => false,
        }
    }
}

/// Whether a gate has a program try a scenario.
pub fn is_tried(scenario: &Scenario, gate: UatGate) -> bool {
    let wanted = match gate {
        UatGate::Quick => scenario.kind == ScenarioKind::Auto,
        UatGate::Full => scenario.kind != ScenarioKind::Manual,
        UatGate::Skip => false,
    };
    wanted && !scenario.argv.is_empty()
}
