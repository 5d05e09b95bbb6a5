//! All scenarios of an epic.

use serde::Serialize;

use super::Scenario;

/// All scenarios of an epic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// The version of the format.
    pub schema: u32,
    /// The epic.
    pub epic: String,
    /// In the order in which they run.
    pub scenarios: Vec<Scenario>,
}

impl Document {
    /// The canonical JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}
