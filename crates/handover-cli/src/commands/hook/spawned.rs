//! The call that spawns a subagent is over: the host says which subagent it started, or that it started none.

use handover_model::{AgentId, BriefDelivery, ReceiptState, Ticket};

use super::Reply;
use super::context::HookContext;
use super::subagent::{self, Chance};
use crate::error::CommandError;

/// The ticket of the call that the event is about.
fn ticket(context: &HookContext<'_>) -> Result<Option<Ticket>, CommandError> {
    match (&context.call.tool_use, context.conversation()) {
        (Some(call), Some(conversation)) => {
            Ok(context.app.store()?.ticket_of_call(context.call.host, conversation, call)?)
        }
        _ => Ok(None),
    }
}

/// The subagent runs, or has ended: its brief was delivered.
pub(super) fn spawned(
    context: &HookContext<'_>,
    agent: Option<&AgentId>,
    ended: bool,
) -> Result<Reply, CommandError> {
    let Some(ticket) = ticket(context)? else { return Ok(Reply::default()) };
    let store = context.app.store()?;
    let assembled = store.receipt(&ticket.receipt)?.state == ReceiptState::Assembled;
    let shown = context.host.capabilities().shows_prompt;
    if assembled && (shown || ticket.way != BriefDelivery::Rewrite) {
        // Its brief waits until it starts, or stops; or its prompt was seen without the brief.
        return Ok(Reply::default());
    }
    if let Some(agent) = agent.filter(|agent| ticket.agent.as_ref() != Some(*agent)) {
        store.bind_ticket(&ticket.receipt, agent)?;
    }
    if ended && ticket.closed_at.is_none() && subagent::settle(context, &ticket, Chance::Another)? {
        // No event reported its end: it reached its limit of turns, for example.
        return Ok(Reply::default());
    }
    Ok(Reply { delivers: assembled.then_some(ticket.receipt), ..Reply::default() })
}

/// No subagent started, or it broke down: a brief that nobody got was not delivered.
pub(super) fn failed(context: &HookContext<'_>, error: &str) -> Result<Reply, CommandError> {
    let Some(ticket) = ticket(context)?.filter(|ticket| ticket.closed_at.is_none()) else {
        return Ok(Reply::default());
    };
    if !subagent::settle(context, &ticket, Chance::Last)? {
        give_back(context, &ticket, &format!("the program did not start the subagent: {error}"))?;
    }
    Ok(Reply::default())
}

/// Marks a brief as failed that no subagent got: its packages are free again.
pub(super) fn give_back(
    context: &HookContext<'_>,
    ticket: &Ticket,
    reason: &str,
) -> Result<(), CommandError> {
    let (app, store) = (context.app, context.app.store()?);
    match store.receipt(&ticket.receipt)?.state {
        ReceiptState::Assembled | ReceiptState::Delivered => {
            app.handoffs()?.failed(&ticket.receipt, reason, app.now())?;
        }
        ReceiptState::Confirmed | ReceiptState::Failed => {}
    }
    store.close_ticket(&ticket.receipt, app.now())?;
    Ok(())
}
