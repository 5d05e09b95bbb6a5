//! Where the service gets its desks: its own, and one for each other project that tokens are made for.

use handover_mcp::{Desk, Refusal, Seat, ToolError};
use handover_model::ProjectId;

/// Desks of several projects behind one service.
///
/// Each project has a store of its own, because nothing else keeps apart whatever people give a name
/// to: sessions, epics, the numbers of packages and of changes.
pub trait House: Desk {
    /// [`Desk::sit`] for a project that is not the service's own: at its store, and with no checkout.
    fn sit_for(
        &self,
        project: &ProjectId,
        work: &mut dyn FnMut(&Seat<'_>) -> Result<(), ToolError>,
    ) -> Result<(), Refusal>;
}
