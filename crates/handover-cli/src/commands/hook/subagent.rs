//! A subagent starts and stops: its brief is injected if its prompt could not carry it, its receipt
//! is confirmed, its debrief is stored.

use std::path::Path;
use std::time::{Duration, Instant};

use handover_handoff::{Assignment, Ending, OutsideRead, read_ending};
use handover_hosts::decide::stop::{Arrival, Facts, arrival, decide};
use handover_hosts::{Action, Subagent, SubagentStop};
use handover_knowledge::{first_outside, transcripts};
use handover_model::TicketWay;
use tracing::debug;

use super::context::HookContext;
use super::{Reply, spawn};
use crate::error::CommandError;

/// How long to wait for the transcript of a subagent: hosts write it a little later, and a short
/// conversation may be over by then.
const TRANSCRIPT_WAIT: Duration = Duration::from_millis(1_500);

/// How often the transcript is read meanwhile.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The subagent of this event, if its kind is briefed.
fn briefed<'a>(context: &'a HookContext<'_>) -> Result<Option<&'a Subagent>, CommandError> {
    let Some(agent) = &context.call.agent else { return Ok(None) };
    Ok(context.role_of(&agent.kind)?.map(|_| agent))
}

/// Injects the brief of a subagent whose host ignores rewritten prompts. The prompt is not known
/// here, so the oldest waiting ticket of its kind is taken.
pub(super) fn starts(context: &HookContext<'_>) -> Result<Reply, CommandError> {
    let (Some(agent), Some(conversation)) = (briefed(context)?, context.conversation()) else {
        return Ok(Reply::default());
    };
    let (store, kind) = (context.app.store()?, context.app.redactor()?.clean(&agent.kind));
    for ticket in store.open_tickets(context.call.host, conversation)? {
        let waits = ticket.way == TicketWay::Start
            && ticket.agent.is_none()
            && ticket.agent_type == kind.as_str();
        if !waits || !store.take_ticket(&ticket.receipt, &agent.id)? {
            continue;
        }
        let receipt = store.receipt(&ticket.receipt)?;
        let text = spawn::fit(context, &receipt.text.unwrap_or_default(), &receipt.id)?;
        return Ok(Reply { answer: Action::Inject(text).into(), delivers: Some(receipt.id) });
    }
    Ok(Reply::default())
}

/// What a subagent read from outside first, by its transcript.
fn read_outside(transcript: &Path) -> Option<OutsideRead> {
    let (_, conversation) = transcripts::read_file(transcript).ok()?;
    let (tool, at) = first_outside(&conversation)?;
    Some(OutsideRead { tool: tool.to_owned(), at })
}

pub(super) fn stops(context: &HookContext<'_>, stop: &SubagentStop) -> Result<Reply, CommandError> {
    let (Some(agent), Some(conversation)) = (briefed(context)?, context.conversation()) else {
        return Ok(Reply::default());
    };
    let store = context.app.store()?;
    let mut tickets = store.open_tickets(context.call.host, conversation)?;
    let kind = context.app.redactor()?.clean(&agent.kind);
    tickets.retain(|ticket| ticket.agent_type == kind.as_str());
    if tickets.is_empty() {
        return Ok(Reply::default());
    }
    let deadline = Duration::from_millis(context.app.config()?.hooks.deadline_ms);
    let wait = (deadline / 3).min(TRANSCRIPT_WAIT);
    let started = Instant::now();
    let (ticket, lost, debrief) = loop {
        let scan = stop.transcript.as_deref().map(|path| context.scan(path)).unwrap_or_default();
        let message = stop.last_message.as_deref().or(scan.last_message.as_deref());
        let debrief = read_ending(message.unwrap_or_default());
        let waited = started.elapsed() >= wait;
        match arrival(&scan, debrief.receipt.as_ref(), &tickets, &agent.id) {
            Arrival::Arrived(ticket) => break (ticket, false, debrief),
            // A prompt is there at once, with its brief or without; an injected brief is written later.
            Arrival::Lost(ticket) if waited || ticket.way != TicketWay::Start && !ticket.asked => {
                break (ticket, true, debrief);
            }
            Arrival::Unknown if waited => return Ok(Reply::default()),
            Arrival::Lost(_) | Arrival::Unknown => std::thread::sleep(POLL_INTERVAL),
        }
    };
    if !store.take_ticket(&ticket.receipt, &agent.id)? {
        return Ok(Reply::default());
    }
    let receipt = store.receipt(&ticket.receipt)?;
    if ticket.way == TicketWay::Rewrite && !ticket.asked {
        context.note_version(lost)?;
    }
    let handoffs = context.app.handoffs()?;
    if !lost {
        handoffs.confirmed(&receipt.id, Some(context.call.host), context.app.now())?;
    }
    let brief = match (&receipt.text, lost) {
        (Some(text), true) => Some(spawn::fit(context, text, &receipt.id)?),
        (None, _) | (_, false) => None,
    };
    let facts = Facts {
        receipt: &receipt.id,
        lost: brief.as_deref(),
        asked: ticket.asked,
        debriefed: debrief.has_block(),
        required: context.app.config()?.hooks.debrief_required,
        can_hold_back: context.host.capabilities().holds_back,
    };
    let action = decide(stop, &facts);
    debug!(receipt = %receipt.id, lost, action = action.label(), "subagent stops");
    // Recorded before it is sent: whatever happens, it is not sent twice.
    if matches!(action, Action::HoldBack(_)) && store.ask_ticket(&ticket.receipt)? {
        return Ok(action.into());
    }
    let assignment = Assignment::of(&receipt).named(Some(agent.id.clone()));
    let outside = stop.transcript.as_deref().and_then(read_outside);
    handoffs.ended(Ending {
        asked_again: ticket.asked,
        closes_ticket: true,
        host: Some(context.call.host),
        lost_prompt: lost,
        outside: outside.as_ref(),
        ..Ending::new(&assignment, &debrief, context.app.now())
    })?;
    Ok(Reply::default())
}
