//! A subagent gets its prompt, where the host shows that: it is known at once who got which brief.

use handover_hosts::Action;
use handover_hosts::transcript::{markers, text_hash};
use handover_model::{AgentId, BriefDelivery, ReceiptId, ReceiptState, Ticket};

use super::context::HookContext;
use super::{Reply, spawn};
use crate::error::CommandError;

/// Finds out which subagent got which brief, where the host shows the prompt of a subagent. A brief that was
/// lost on the way follows at once.
pub(super) fn react(context: &HookContext<'_>, prompt: &str) -> Result<Reply, CommandError> {
    let (Some(agent), Some(conversation)) = (&context.call.agent, context.conversation()) else {
        return Ok(Reply::default());
    };
    let (store, host) = (context.app.store()?, context.call.host);
    let assumed = store.ticket_of(host, &agent.id)?;
    if let Some(ticket) = &assumed
        && (ticket.ending.is_some() || is_confirmed(context, ticket)?)
    {
        // A message to a subagent that is known.
        return Ok(Reply::default());
    }
    // Which ticket it has was a guess, if it has one.
    let takes = |ticket: &Ticket| match assumed {
        Some(_) => store.bind_ticket(&ticket.receipt, &agent.id),
        None => store.take_ticket(&ticket.receipt, &agent.id),
    };
    let mut tickets = store.open_tickets(host, conversation)?;
    // A brief that it was held back with comes as a message.
    let is_late = |ticket: &Ticket| {
        ticket.way == BriefDelivery::HoldBack && ticket.agent.as_ref() == Some(&agent.id)
    };
    tickets.retain(|ticket| ticket.way == BriefDelivery::Rewrite || is_late(ticket));
    let marked: Vec<ReceiptId> = markers(prompt.as_bytes()).collect();
    for ticket in &tickets {
        if marked.contains(&ticket.receipt) && takes(ticket)? {
            if ticket.way == BriefDelivery::Rewrite && !ticket.asked {
                context.note_version(false)?;
            }
            let handoffs = context.app.handoffs()?;
            handoffs.confirmed(&ticket.receipt, Some(host), context.app.now())?;
            return Ok(Reply::default());
        }
    }
    let bare = text_hash(prompt);
    let is_free =
        |ticket: &&Ticket| ticket.agent.is_none() || ticket.agent.as_ref() == Some(&agent.id);
    let is_bare = |ticket: &&Ticket| {
        ticket.way == BriefDelivery::Rewrite && ticket.task_hash == bare && is_free(ticket)
    };
    for ticket in tickets.iter().filter(is_bare) {
        if takes(ticket)? {
            let receipt = store.receipt(&ticket.receipt)?;
            let text = spawn::fit(context, &receipt.text.unwrap_or_default(), &receipt.id)?;
            return Ok(Reply { answer: Action::Inject(text).into(), delivers: Some(receipt.id) });
        }
    }
    Ok(Reply::default())
}

fn is_confirmed(context: &HookContext<'_>, ticket: &Ticket) -> Result<bool, CommandError> {
    Ok(context.app.store()?.receipt(&ticket.receipt)?.state == ReceiptState::Confirmed)
}

/// The ticket of a subagent that was seen with its brief when it got its prompt.
pub(super) fn seen_before<'a>(
    context: &HookContext<'_>,
    tickets: &'a [Ticket],
    agent: &AgentId,
) -> Result<Option<&'a Ticket>, CommandError> {
    for ticket in tickets.iter().filter(|ticket| ticket.agent.as_ref() == Some(agent)) {
        if is_confirmed(context, ticket)? {
            return Ok(Some(ticket));
        }
    }
    Ok(None)
}
