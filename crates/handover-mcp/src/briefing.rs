//! Briefs over MCP, shared by the tool and the prompt.

use handover_handoff::{HandoffRequest, Prepared};
use handover_model::{GroupId, Role, SessionId};

use crate::context::RequestContext;
use crate::error::ToolError;

/// A brief as MCP clients request it.
#[derive(Debug, Clone)]
pub(crate) struct BriefRequest {
    pub(crate) session: SessionId,
    pub(crate) group: Option<GroupId>,
    pub(crate) role: Role,
    pub(crate) task: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) iteration: Option<u32>,
}

/// The rendered brief and its receipt.
pub(crate) struct RenderedBrief {
    pub(crate) receipt: String,
    pub(crate) iteration: u32,
    pub(crate) text: String,
    pub(crate) tokens: u64,
}

/// Prepares a brief and marks it delivered: the caller is about to read it.
pub(crate) fn brief(
    context: &RequestContext<'_>,
    wanted: BriefRequest,
) -> Result<RenderedBrief, ToolError> {
    let handoffs = context.handoffs();
    let request = HandoffRequest {
        group: wanted.group,
        task: wanted.task,
        model: wanted.model,
        attempt: wanted.iteration.into(),
        ..HandoffRequest::new(wanted.session, wanted.role, context.receipt.clone(), context.now)
    };
    let Prepared { brief, handoff, .. } = handoffs.prepare(&request)?;
    if handoff.in_store() {
        handoffs.started(&brief.receipt.id, None, context.now)?;
    }
    Ok(RenderedBrief {
        receipt: brief.receipt.id.to_string(),
        iteration: brief.receipt.iteration,
        text: brief.text,
        tokens: brief.tokens,
    })
}
