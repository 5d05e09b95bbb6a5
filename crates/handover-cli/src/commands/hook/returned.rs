//! What a subagent returns to its parent: if it is too long, it becomes a package, and the parent reads a summary and
//! where the rest is. Whatever goes wrong, the parent gets what was returned.

use handover_handoff::{Assignment, Report, ReportError, Shortened};
use handover_hosts::transcript::{markers, text_hash};
use handover_hosts::{Action, SubagentReturn};
use handover_model::{AgentId, KnownEvent, ReceiptId, Ticket};
use serde_json::json;
use tracing::debug;

use super::context::HookContext;
use super::{Reply, log, spawn};
use crate::error::CommandError;

/// The reply to a call that returned, with what its parent reads if that is not what the subagent returned.
pub(super) fn react(
    context: &HookContext<'_>,
    agent: Option<&AgentId>,
    returned: Option<&SubagentReturn>,
    reply: Reply,
) -> Result<Reply, CommandError> {
    let limit = context.app.config()?.hooks.return_limit();
    let (Some(limit), Some(returned)) = (limit, returned) else { return Ok(reply) };
    if !context.host.capabilities().shortens_returns {
        return Ok(reply);
    }
    let shortened = shorten(context, agent, returned, limit);
    match shortened {
        Ok(Some(short)) => {
            let answer = Action::Shorten(short.text).into();
            Ok(Reply { answer, ..reply })
        }
        Ok(None) => Ok(reply),
        Err(error) => {
            let folder = context.app.project()?.folder();
            let reason = format!("a report was not shortened: {}", error.message);
            log::note(&folder, context.app.now(), context.call.host, &context.call.event, &reason);
            Ok(reply)
        }
    }
}

fn shorten(
    context: &HookContext<'_>,
    agent: Option<&AgentId>,
    returned: &SubagentReturn,
    limit: u64,
) -> Result<Option<Shortened>, CommandError> {
    let tokenizer = spawn::tokenizer(context);
    if handover_text::tokens::fits(tokenizer, &returned.text, limit) {
        return Ok(None);
    }
    // One that was exempt has no place in the work.
    let Some(ticket) = ticket(context, agent, returned)? else { return Ok(None) };
    let (store, handoffs) = (context.app.store()?, context.app.handoffs()?);
    let receipt = store.receipt(&ticket.receipt)?;
    let transcript = ticket.agent.as_ref().and_then(|agent| context.own_transcript(agent));
    let seen = ticket.agent.as_ref().and_then(|agent| context.seen(transcript.as_deref(), agent));
    let assignment = Assignment::of(&receipt).named(ticket.agent);
    let report = Report {
        assignment: &assignment,
        text: &returned.text,
        task: task_of(&returned.prompt),
        limit,
        tokenizer,
        outside: seen.as_ref().and_then(|seen| seen.outside.as_ref()),
        now: context.app.now(),
    };
    let Some(short) = handoffs.shorten(&report).map_err(error)? else { return Ok(None) };
    debug!(package = %short.package.id, before = short.before, after = short.after, "shortened");
    let payload = json!({
        "receipt": receipt.id, "role": receipt.role, "package": short.package.id,
        "tokens": short.before, "returned": short.after,
    });
    context.log(&receipt.session, receipt.group.as_ref(), KnownEvent::Shortened, payload)?;
    Ok(Some(short))
}

fn error(error: ReportError) -> CommandError {
    match error {
        ReportError::Store(error) => error.into(),
        ReportError::Handoff(error) => error.into(),
        error @ (ReportError::File(_) | ReportError::Skipped(_) | ReportError::NoRoom(_)) => {
            CommandError::new(crate::error::Exit::Failed, "report", error)
        }
    }
}

/// The ticket of the subagent that returned: by the call, by its id, or by its prompt.
fn ticket(
    context: &HookContext<'_>,
    agent: Option<&AgentId>,
    returned: &SubagentReturn,
) -> Result<Option<Ticket>, CommandError> {
    let (store, host) = (context.app.store()?, context.call.host);
    let Some(conversation) = context.conversation() else { return Ok(None) };
    if let Some(call) = &context.call.tool_use
        && let Some(ticket) = store.ticket_of_call(host, conversation, call)?
    {
        return Ok(Some(ticket));
    }
    let tickets = store.tickets(host, conversation)?;
    let marked: Vec<ReceiptId> = markers(returned.prompt.as_bytes()).collect();
    let task = text_hash(&returned.prompt);
    let newest = || tickets.iter().rev();
    let found = newest()
        .find(|ticket| agent.is_some() && ticket.agent.as_ref() == agent)
        .or_else(|| newest().find(|ticket| marked.contains(&ticket.receipt)))
        .or_else(|| newest().find(|ticket| ticket.task_hash == task));
    Ok(found.cloned())
}

/// The task in a prompt, which may have its brief in front of it.
fn task_of(prompt: &str) -> &str {
    prompt.rsplit_once("## Your Task\n").map_or(prompt, |(_, task)| task)
}
