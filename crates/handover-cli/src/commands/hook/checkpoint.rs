//! Records a checkpoint of a conversation. A subagent that compacts its window is recorded as that
//! subagent, not as the conversation.

use handover_hosts::Checkpoint;
use handover_model::KnownEvent;
use serde_json::json;

use super::context::HookContext;
use super::{Reply, tool};
use crate::error::CommandError;

pub(super) fn react(
    context: &HookContext<'_>,
    at: Checkpoint,
    cause: Option<&str>,
) -> Result<Reply, CommandError> {
    if at == Checkpoint::SessionEnd {
        tool::forget(context)?;
    }
    if let Some(session) = context.bound()? {
        let payload = json!({
            "host": context.call.host,
            "conversation": context.conversation(),
            "moment": at.as_str(),
            "cause": cause,
            "agent": context.call.agent.as_ref().map(|agent| &agent.id),
        });
        context.log(&session, None, KnownEvent::Checkpoint, payload)?;
    }
    Ok(Reply::default())
}
