//! A subagent starts and stops: it is told what its prompt could not carry, its receipt is
//! confirmed, its debrief is kept.

use std::time::{Duration, Instant};

use handover_handoff::{Assignment, Ending, read_ending};
use handover_hosts::decide::stop::{Arrival, Facts, arrival, decide};
use handover_hosts::transcript::{HEAD_BYTES, Seen, TAIL_BYTES, look};
use handover_hosts::{Act, Agent, ChildStop};
use handover_model::TicketWay;

use super::scene::{Scene, beginning, end};
use super::{Reply, spawn};
use crate::error::CommandError;

/// How long the conversation of a subagent is waited for: hosts write it down a little later, and
/// a short one may be over by then.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// How often it is looked at meanwhile.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The subagent of this event, if its kind is ours.
fn ours<'a>(scene: &'a Scene<'_>) -> Result<Option<&'a Agent>, CommandError> {
    let hooks = &scene.app.config()?.hooks;
    Ok(scene.call.agent.as_ref().filter(|agent| hooks.role_of(&agent.kind).is_some()))
}

/// A subagent whose host loses rewritten prompts is told now. The prompt is not known here, so the
/// oldest that waits is taken.
pub(super) fn starts(scene: &Scene<'_>) -> Result<Reply, CommandError> {
    let (Some(agent), Some(conversation)) = (ours(scene)?, scene.conversation()) else {
        return Ok(Reply::default());
    };
    let (store, kind) = (scene.app.store()?, scene.app.redactor()?.clean(&agent.kind));
    for ticket in store.open_tickets(scene.call.host, conversation)? {
        let waits = ticket.way == TicketWay::Start
            && ticket.agent.is_none()
            && ticket.agent_type == kind.as_str();
        if !waits || !store.take_ticket(&ticket.receipt, &agent.id)? {
            continue;
        }
        let receipt = store.receipt(&ticket.receipt)?;
        let text = spawn::form(scene, &receipt.text.unwrap_or_default(), &receipt.id)?;
        return Ok(Reply { answer: Act::Tell(text).into(), delivers: Some(receipt.id) });
    }
    Ok(Reply::default())
}

pub(super) fn stops(scene: &Scene<'_>, stop: &ChildStop) -> Result<Reply, CommandError> {
    let (Some(agent), Some(conversation)) = (ours(scene)?, scene.conversation()) else {
        return Ok(Reply::default());
    };
    let store = scene.app.store()?;
    let mut tickets = store.open_tickets(scene.call.host, conversation)?;
    let kind = scene.app.redactor()?.clean(&agent.kind);
    tickets.retain(|ticket| ticket.agent_type == kind.as_str());
    if tickets.is_empty() {
        return Ok(Reply::default());
    }
    let deadline = Duration::from_millis(scene.app.config()?.hooks.deadline_ms);
    let patience = (deadline / 3).min(PATIENCE);
    let started = Instant::now();
    let (ticket, lost, debrief) = loop {
        let seen = stop.transcript.as_deref().map(transcript).unwrap_or_default();
        let words = stop.last_message.as_deref().or(seen.last_message.as_deref());
        let debrief = read_ending(words.unwrap_or_default());
        let waited = started.elapsed() >= patience;
        match arrival(&seen, debrief.receipt.as_ref(), &tickets, &agent.id) {
            Arrival::Arrived(ticket) => break (ticket, false, debrief),
            // A rewritten prompt is there at once or never; what came later is written later.
            Arrival::Lost(ticket)
                if waited || ticket.way == TicketWay::Rewrite && !ticket.asked =>
            {
                break (ticket, true, debrief);
            }
            Arrival::Unknown if waited => return Ok(Reply::default()),
            Arrival::Lost(_) | Arrival::Unknown => std::thread::sleep(LOOK_AGAIN),
        }
    };
    if !store.take_ticket(&ticket.receipt, &agent.id)? {
        return Ok(Reply::default());
    }
    let receipt = store.receipt(&ticket.receipt)?;
    if ticket.way == TicketWay::Rewrite && !ticket.asked {
        scene.note_version(lost)?;
    }
    let handoffs = scene.app.handoffs()?;
    if !lost {
        handoffs.confirmed(&receipt.id, Some(scene.call.host), scene.app.now())?;
    }
    let brief = match (&receipt.text, lost) {
        (Some(text), true) => Some(spawn::form(scene, text, &receipt.id)?),
        (None, _) | (_, false) => None,
    };
    let facts = Facts {
        receipt: &receipt.id,
        lost: brief.as_deref(),
        asked: ticket.asked,
        debriefed: debrief.has_block(),
        required: scene.app.config()?.hooks.debrief_required,
    };
    let act = decide(stop, &facts);
    // Written down before it is said: whatever happens, it is not said twice.
    if matches!(act, Act::Hold(_)) && store.ask_ticket(&ticket.receipt)? {
        return Ok(act.into());
    }
    let assignment = Assignment::of(&receipt).named(Some(agent.id.clone()));
    handoffs.ended(Ending {
        asked_again: ticket.asked,
        closes_ticket: true,
        host: Some(scene.call.host),
        lost_prompt: lost,
        ..Ending::new(&assignment, &debrief, scene.app.now())
    })?;
    Ok(Reply::default())
}

/// What a conversation says, as far as it is looked at.
pub(super) fn transcript(path: &std::path::Path) -> Seen {
    let head = beginning(path, HEAD_BYTES).unwrap_or_default();
    let tail = end(path, TAIL_BYTES).unwrap_or_default();
    look(&head, &tail)
}
