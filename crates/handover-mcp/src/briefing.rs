//! What a role gets to read before it works.
//!
//! The one place that decides what a brief is for MCP: the tool and the prompt both come here.

use handover_handoff::HandoffRequest;
use handover_model::{GroupId, Role, SessionId};

use crate::{Seat, ToolError};

/// Who asks for what.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) session: SessionId,
    pub(crate) group: Option<GroupId>,
    pub(crate) role: Role,
    pub(crate) task: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) iteration: Option<u32>,
}

/// A text, and the record of it.
pub(crate) struct Briefed {
    pub(crate) receipt: String,
    pub(crate) iteration: u32,
    pub(crate) text: String,
    pub(crate) tokens: u64,
}

/// Prepares a brief and marks it delivered: the caller is about to read it.
pub(crate) fn brief(seat: &Seat<'_>, wanted: Wanted) -> Result<Briefed, ToolError> {
    let handoffs = seat.handoffs();
    let request = HandoffRequest {
        group: wanted.group,
        task: wanted.task,
        model: wanted.model,
        attempt: wanted.iteration.into(),
        ..HandoffRequest::new(wanted.session, wanted.role, seat.receipt.clone(), seat.now)
    };
    let brief = handoffs.prepare(&request)?.brief;
    handoffs.started(&brief.receipt.id, None, seat.now)?;
    Ok(Briefed {
        receipt: brief.receipt.id.to_string(),
        iteration: brief.receipt.iteration,
        text: brief.text,
        tokens: brief.tokens,
    })
}
