//! All scenarios of an epic, and where they are kept.

use handover_model::EpicId;
use serde::Serialize;

use super::Scenario;

/// All scenarios of an epic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    /// The version of the format.
    pub schema: u32,
    /// The epic.
    pub epic: String,
    /// In the order in which they are tried.
    pub scenarios: Vec<Scenario>,
}

impl Document {
    /// The data as it is kept.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The data of an epic, relative to the project.
pub fn data_path(epic: &EpicId) -> String {
    format!("docs/uat/epic-{epic}-uat.json")
}

/// What people read, relative to the project.
pub fn document_path(epic: &EpicId) -> String {
    format!("docs/uat/epic-{epic}-uat.md")
}
