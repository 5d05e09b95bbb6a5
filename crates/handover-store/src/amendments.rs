//! What people decided about replacements. They belong to a project.

use handover_model::{Amendment, ProjectId};

use crate::Result;

/// Decisions about replacements.
pub trait Amendments {
    /// Records a decision; a later one about the same two statements replaces it.
    fn decide_amendment(&self, new: &Amendment) -> Result<()>;

    /// The project's decisions, newest first, then by the two statements.
    fn amendments(&self, project: &ProjectId) -> Result<Vec<Amendment>>;
}
