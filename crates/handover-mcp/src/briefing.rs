//! What a role gets to read before it works.
//!
//! The one place that decides what a brief is for MCP: the tool and the prompt both come here.

use handover_context::assemble::{self, deliver};
use handover_context::brief::{Request, Setting, brief as compose};
use handover_model::{GroupId, ReasoningLevel, Role, SessionId};

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

/// Puts a brief together and counts it as delivered: whoever asks is about to read it.
pub(crate) fn brief(seat: &Seat<'_>, wanted: Wanted) -> Result<Briefed, ToolError> {
    let request = Request {
        spawn: assemble::Request {
            session: wanted.session,
            role: wanted.role,
            group: wanted.group,
            task: wanted.task,
            model: wanted.model,
            current_tokens: 0,
            iteration: wanted.iteration.unwrap_or(0),
            reasoning: None,
            reasoning_level: ReasoningLevel::default(),
            limit: None,
            cap: None,
            deliver: true,
            explain: false,
            receipt: seat.receipt.clone(),
            now: seat.now,
        },
        testing_mode: None,
        component: None,
        context: true,
        specialization: true,
        about: None,
        role_text: None,
        // A second one of a role is a retry.
        count_attempt: wanted.iteration.is_none(),
    };
    let technology = (seat.technology)();
    let setting = Setting {
        store: Ok(seat.store),
        redactor: seat.redactor,
        config: seat.config,
        stack: &technology.stack,
        templates: &technology.templates,
        places: Some(seat.places),
    };
    let made = compose(setting, &request)?;
    deliver(seat.store, seat.redactor, &made.receipt.id, None, seat.now)?;
    Ok(Briefed {
        receipt: made.receipt.id.to_string(),
        iteration: made.receipt.iteration,
        text: made.text,
        tokens: made.tokens,
    })
}
