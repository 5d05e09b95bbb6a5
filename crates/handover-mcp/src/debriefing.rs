//! What an agent leaves behind, in one transaction.
//!
//! The one place that stores a debrief for MCP.

use handover_context::debrief::{Debrief, Kept, Origin, Setting, keep};
use handover_context::learning::Binding;
use handover_model::Phase;

use crate::{Seat, ToolError};

/// Stores all of it or nothing; the summary stands for a completion that was not given.
pub(crate) fn store(
    seat: &Seat<'_>,
    origin: &Origin,
    mut debrief: Debrief,
) -> Result<Kept, ToolError> {
    if let Some(summary) = &debrief.summary {
        debrief.reasoning.entry(Phase::Completion).or_insert_with(|| summary.clone());
    }
    let binding = Binding::of(&(seat.technology)().stack, None);
    let setting = Setting {
        store: seat.store,
        redactor: seat.redactor,
        places: seat.places,
        config: seat.config,
        binding: &binding,
    };
    Ok(keep(setting, origin, &debrief)?)
}
