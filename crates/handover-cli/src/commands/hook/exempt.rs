//! Subagents that work without a brief by a rule that the user can see. Each leaves an event with the rule and
//! the reason.

use handover_model::{AgentId, KnownEvent};
use serde_json::json;

use super::context::{HookContext, IfMissing};
use crate::error::CommandError;

/// Records that a subagent is exempt: one that is about to be spawned, or that starts.
pub(super) fn note(
    context: &HookContext<'_>,
    kind: &str,
    agent: Option<&AgentId>,
    rule: &str,
    reason: &str,
) -> Result<(), CommandError> {
    let Some(session) = context.session(IfMissing::Skip)? else { return Ok(()) };
    let call = context.call.tool_use.as_ref();
    let payload = json!({
        "host": context.call.host, "conversation": context.conversation(), "agent_type": kind,
        "agent": agent, "tool_use": call, "rule": rule, "reason": reason,
    });
    let key = agent.map(ToString::to_string).or_else(|| call.map(ToString::to_string));
    let key = key.map(|key| format!("exempt-{key}"));
    context.log_once(&session, None, KnownEvent::Untouched, payload, key.as_deref())
}
