//! What a role gets to read before it works.
//!
//! The one place that decides what a brief is for MCP: the tool and the prompt both come here.

use handover_context::assemble::{Request, Setting, assemble, deliver};
use handover_model::{GroupId, ReasoningLevel, ReceiptState, Role, SessionId};
use handover_store::ReceiptFilter;

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
    pub(crate) markdown: String,
    pub(crate) tokens: u64,
}

/// Puts a brief together and counts it as delivered: whoever asks is about to read it.
pub(crate) fn brief(seat: &Seat<'_>, wanted: Wanted) -> Result<Briefed, ToolError> {
    let setting =
        Setting { store: seat.store, redactor: seat.redactor, config: &seat.config.assembly };
    let iteration = match wanted.iteration {
        Some(iteration) => iteration,
        None => attempts(seat, &wanted)?,
    };
    let request = Request {
        session: wanted.session,
        role: wanted.role,
        group: wanted.group,
        task: wanted.task,
        model: wanted.model,
        current_tokens: 0,
        iteration,
        reasoning: None,
        reasoning_level: ReasoningLevel::default(),
        limit: None,
        cap: None,
        deliver: true,
        explain: false,
        receipt: seat.receipt.clone(),
        now: seat.now,
    };
    let assembly = assemble(setting, &request)?;
    deliver(setting, &assembly, None, seat.now)?;
    Ok(Briefed {
        receipt: assembly.receipt.id.to_string(),
        iteration,
        markdown: assembly.markdown,
        tokens: assembly.tokens,
    })
}

/// How often this role of this group was given something: a second one is a retry.
fn attempts(seat: &Seat<'_>, wanted: &Wanted) -> Result<u32, ToolError> {
    let filter = ReceiptFilter {
        session: Some(wanted.session.clone()),
        group: wanted.group.clone(),
        role: Some(wanted.role.clone()),
        limit: None,
    };
    let had = seat.store.receipts(&filter)?.into_iter().filter(|receipt| {
        // Without a group, the filter lets those of every group pass.
        receipt.group == wanted.group
            && matches!(receipt.state, ReceiptState::Delivered | ReceiptState::Confirmed)
    });
    Ok(u32::try_from(had.count()).unwrap_or(u32::MAX))
}
