//! Contexts for the service's own project and for the other projects that tokens are created for.

use handover_mcp::{ContextProvider, RequestContext, RequestError, ToolError};
use handover_model::ProjectId;

/// Opens request contexts for several projects behind one service.
///
/// Each project has its own store: user-chosen names (sessions, epics) and sequential ids of packages
/// and changes cannot collide or leak between projects.
pub trait ProjectContextProvider: ContextProvider {
    /// [`ContextProvider::with_context`] for a project other than the service's own. It has a store but
    /// no checkout.
    fn with_project_context(
        &self,
        project: &ProjectId,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError>;
}
