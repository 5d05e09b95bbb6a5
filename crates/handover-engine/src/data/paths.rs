//! Where the files that close an epic are kept, relative to the project.

use handover_model::EpicId;

/// The scenarios as JSON.
pub fn uat_data_path(epic: &EpicId) -> String {
    format!("docs/uat/epic-{epic}-uat.json")
}

/// The scenarios as a document for people.
pub fn uat_document_path(epic: &EpicId) -> String {
    format!("docs/uat/epic-{epic}-uat.md")
}

/// The retrospective.
pub fn retro_path(epic: &EpicId) -> String {
    format!("docs/sprints/epic-{epic}-retro.md")
}

/// The handoff to later epics.
pub fn handoff_path(epic: &EpicId) -> String {
    format!("docs/handoffs/epic-{epic}-handoff.md")
}
