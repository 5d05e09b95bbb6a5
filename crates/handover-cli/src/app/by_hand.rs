//! Changes by hand, which are logged so that they can be undone.

use handover_context::by_hand::ByHand;
use handover_model::{OperationId, ProjectId, SessionId};

use super::App;
use crate::env;
use crate::error::CommandError;

impl App {
    /// A change by hand of one of the project's records.
    pub(crate) fn by_hand<'a>(
        &'a self,
        project: &'a ProjectId,
    ) -> Result<ByHand<'a>, CommandError> {
        Ok(ByHand {
            store: self.store()?,
            redactor: self.redactor()?,
            project,
            id: OperationId::new(format!("op_{}", env::unique()))?,
            trust: self.author()?,
            author: None,
            now: self.now(),
        })
    }

    /// The project that a session belongs to.
    pub(crate) fn project_of(&self, session: &SessionId) -> Result<ProjectId, CommandError> {
        Ok(self.store()?.session(session)?.project)
    }
}
