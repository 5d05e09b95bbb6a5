//! A subagent starts and stops: its brief is injected if its prompt could not carry it, its receipt is
//! delivered and confirmed, its debrief is stored.

use std::path::Path;
use std::time::{Duration, Instant};

use handover_handoff::{Assignment, Debrief, Ending, read_ending};
use handover_hosts::decide::start::{Start, recognize};
use handover_hosts::decide::stop::{Arrival, Facts, Identity, arrival, decide};
use handover_hosts::transcript::{Origin, Scan, text_hash};
use handover_hosts::{Action, HookEvent, Subagent, SubagentStop};
use handover_model::config::Briefing;
use handover_model::{
    AgentId, BriefDelivery, HostSessionId, KnownEvent, Receipt, ReceiptState, Ticket,
};
use serde_json::json;
use tracing::debug;

use super::context::HookContext;
use super::no_ticket::Seen;
use super::{Reply, late, prompted, spawn};
use crate::error::CommandError;
use crate::host_transcripts::Child;

/// How long to wait for the transcript of a subagent: hosts write it a little later, and a short
/// conversation may be over by then.
const TRANSCRIPT_WAIT: Duration = Duration::from_millis(1_500);

/// How often the transcript is read meanwhile.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How often a start is matched again after another process took the ticket.
const MATCHES: usize = 100;

/// Finds the spawn that a subagent belongs to. Its brief is delivered with that, or by being injected now if
/// its host ignores rewritten prompts.
pub(super) fn starts(context: &HookContext<'_>) -> Result<Reply, CommandError> {
    let (Some(agent), Some(conversation)) = (&context.call.agent, context.conversation()) else {
        return Ok(Reply::default());
    };
    let (store, host) = (context.app.store()?, context.call.host);
    let kind = context.app.redactor()?.clean(&agent.kind).to_string();
    let cleaned = Subagent { id: agent.id.clone(), kind };
    let origin = context.started_as(&agent.id);
    for _ in 0..MATCHES {
        let known = store.ticket_of(host, &agent.id)?.is_some();
        let tickets = store.open_tickets(host, conversation)?;
        match recognize(&cleaned, origin.as_ref(), known, &tickets) {
            Start::Continued => return Ok(Reply::default()),
            Start::Missing => {
                return late::brief(context, &cleaned, BriefDelivery::Start, &Seen::default());
            }
            Start::Briefed(ticket) if store.take_ticket(&ticket.receipt, &agent.id)? => {
                return Ok(Reply { delivers: Some(ticket.receipt.clone()), ..Reply::default() });
            }
            Start::Awaited(ticket) if store.take_ticket(&ticket.receipt, &agent.id)? => {
                let receipt = store.receipt(&ticket.receipt)?;
                let text = spawn::fit(context, &receipt.text.unwrap_or_default(), &receipt.id)?;
                return Ok(Reply {
                    answer: Action::Inject(text).into(),
                    delivers: Some(receipt.id),
                });
            }
            // Another process took it first.
            Start::Briefed(_) | Start::Awaited(_) => {}
        }
    }
    Ok(Reply::default())
}

/// Whether a transcript without the brief may still get it: a prompt is there at once, with its brief or
/// without; what a hook adds is written later. Hosts that only hold back may write it when all is over.
fn may_follow(context: &HookContext<'_>, ticket: &Ticket) -> bool {
    match ticket.way {
        BriefDelivery::Rewrite => ticket.asked,
        BriefDelivery::Start => true,
        BriefDelivery::HoldBack => ticket.asked && context.host.capabilities().injects_at_start,
    }
}

/// The tickets that a subagent may have: those that are open in its conversation, and its own, which may be
/// closed because it ended before.
fn candidates(
    context: &HookContext<'_>,
    conversation: &HostSessionId,
    agent: &AgentId,
) -> Result<Vec<Ticket>, CommandError> {
    let (store, host) = (context.app.store()?, context.call.host);
    let mut tickets = store.open_tickets(host, conversation)?;
    if let Some(own) = store.ticket_of(host, agent)?
        && own.closed_at.is_some()
    {
        tickets.push(own);
    }
    Ok(tickets)
}

/// How a subagent came to be that stops, by the call that its host names then. One that is continued has its ticket.
fn called(context: &HookContext<'_>, agent: &AgentId, tickets: &[Ticket]) -> Option<Origin> {
    let stops = matches!(context.call.event, HookEvent::SubagentStopping(_));
    let names_call = stops && context.host.capabilities().shows_prompt;
    let continued = tickets.iter().any(|ticket| ticket.agent.as_ref() == Some(agent));
    let tool_use = context.call.tool_use.clone().filter(|_| names_call && !continued)?;
    Some(Origin { tool_use: Some(tool_use), ..Origin::default() })
}

/// Whether a host that shows the prompt of every subagent did not show this one with its brief.
fn came_without(context: &HookContext<'_>, end: &End, agent: &AgentId) -> bool {
    end.fate == Fate::Unseen
        && end.ticket.way == BriefDelivery::Rewrite
        && end.ticket.agent.as_ref() != Some(agent)
        && context.host.capabilities().shows_prompt
}

/// How a brief fared, by the conversation of its subagent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The subagent has it.
    Arrived,
    /// It has not, although the conversation is there.
    Lost,
    /// There is no conversation to look at.
    Unseen,
}

/// A subagent at its end: its ticket, what became of its brief, and what it said.
struct End {
    ticket: Ticket,
    fate: Fate,
    scan: Scan,
    message: String,
    debrief: Debrief,
}

/// What a look at a subagent found.
enum Look {
    Ended(Box<End>),
    /// No ticket is for it.
    Missing(Seen),
    /// Nothing is conclusive.
    Unknown,
}

/// Looks at the end of a subagent, as often as it takes until its transcript tells enough. `seen` is the ticket
/// that it is known to have had its brief with.
fn look(
    context: &HookContext<'_>,
    agent: &AgentId,
    transcript: Option<&Path>,
    said: Option<&str>,
    tickets: &[Ticket],
    seen: Option<&Ticket>,
    wait: Duration,
) -> Look {
    let started = Instant::now();
    loop {
        let scan = match (transcript, seen) {
            (Some(path), _) => context.scan(path, Some(agent)),
            (None, None) => context.scan_in_database(agent),
            (None, Some(_)) => Scan::default(),
        };
        let origin = transcript.and_then(|path| context.origin(path));
        let origin = origin.or_else(|| called(context, agent, tickets));
        let message = said.or(scan.last_message.as_deref()).unwrap_or_default().to_owned();
        let debrief = read_ending(&message);
        // A database has the prompt long before the subagent stops.
        let waited = transcript.is_none() || started.elapsed() >= wait;
        let identity = Identity { agent, origin: origin.as_ref() };
        let found = match seen {
            Some(ticket) => Arrival::Arrived(ticket),
            None => arrival(&scan, debrief.receipt.as_ref(), tickets, identity),
        };
        let (ticket, fate) = match found {
            Arrival::Arrived(ticket) => (ticket, Fate::Arrived),
            Arrival::Lost(ticket) if waited || !may_follow(context, ticket) => (ticket, Fate::Lost),
            Arrival::Unseen(ticket) if waited => (ticket, Fate::Unseen),
            Arrival::Missing => {
                let call = origin.and_then(|origin| origin.tool_use);
                return Look::Missing(Seen { call, texts: scan.texts });
            }
            Arrival::Unknown if waited => return Look::Unknown,
            Arrival::Lost(_) | Arrival::Unseen(_) | Arrival::Unknown => {
                std::thread::sleep(POLL_INTERVAL);
                continue;
            }
        };
        let ticket = ticket.clone();
        return Look::Ended(Box::new(End { ticket, fate, scan, message, debrief }));
    }
}

pub(super) fn stops(context: &HookContext<'_>, stop: &SubagentStop) -> Result<Reply, CommandError> {
    let (Some(agent), Some(conversation)) = (&context.call.agent, context.conversation()) else {
        return Ok(Reply::default());
    };
    let tickets = candidates(context, conversation, &agent.id)?;
    if tickets.is_empty() && context.role_of(&agent.kind)?.is_none() {
        return Ok(Reply::default());
    }
    let seen = prompted::seen_before(context, &tickets, &agent.id)?;
    let wait = transcript_wait(context)?;
    // Without any ticket, it is most likely that none was ever meant for it.
    let wait = if tickets.is_empty() { wait / 5 } else { wait };
    let own = context.transcript_of(stop, &agent.id);
    let (transcript, said) = (own.as_deref(), stop.last_message.as_deref());
    let mut end = match look(context, &agent.id, transcript, said, &tickets, seen, wait) {
        Look::Ended(end) => *end,
        Look::Unknown => return Ok(Reply::default()),
        Look::Missing(_) if stop.held_before || !context.host.capabilities().holds_back => {
            return Ok(Reply::default());
        }
        Look::Missing(seen) => {
            return late::brief(context, agent, BriefDelivery::HoldBack, &seen);
        }
    };
    if end.ticket.asked && !stop.held_before && end.ticket.ending.is_none() {
        // Our hooks are registered twice, and the other one holds this subagent back.
        return Ok(Reply::default());
    }
    // Where holding back is the only way, its text may be recorded only after the subagent has stopped.
    let held = end.ticket.way == BriefDelivery::HoldBack && end.ticket.asked && stop.held_before;
    if held && end.fate == Fate::Lost {
        end.fate = Fate::Unseen;
    }
    if came_without(context, &end, &agent.id) {
        end.fate = Fate::Lost;
    }
    let receipt = bind(context, &mut end, &agent.id)?;
    let brief = match (&receipt.text, end.fate) {
        (Some(text), Fate::Lost) => Some(spawn::fit(context, text, &receipt.id)?),
        (None, _) | (_, Fate::Arrived | Fate::Unseen) => None,
    };
    let facts = Facts {
        receipt: &receipt.id,
        lost: brief.as_deref(),
        asked: end.ticket.asked,
        debriefed: end.debrief.has_block(),
        required: requires_debrief(context, &end.ticket)?,
        can_hold_back: context.host.capabilities().holds_back,
    };
    let action = decide(stop, &facts);
    debug!(receipt = %receipt.id, fate = ?end.fate, action = action.label(), "subagent stops");
    if matches!(action, Action::HoldBack(_)) {
        // Recorded before it is sent: whatever happens, it is not sent twice. If it was recorded meanwhile,
        // another process holds this subagent back.
        let first = context.app.store()?.ask_ticket(&end.ticket.receipt)?;
        let delivers = (end.fate == Fate::Lost).then_some(receipt.id);
        return Ok(if first {
            Reply { answer: action.into(), delivers }
        } else {
            Reply::default()
        });
    }
    keep(context, &end, &receipt, &agent.id, transcript)?;
    Ok(Reply::default())
}

/// How long to wait for a transcript, which a host may write after its events.
fn transcript_wait(context: &HookContext<'_>) -> Result<Duration, CommandError> {
    let deadline = Duration::from_millis(context.app.config()?.hooks.deadline_ms);
    Ok((deadline / 3).min(TRANSCRIPT_WAIT))
}

/// Whether a ticket that cannot be settled yet gets another chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chance {
    /// A later event settles it.
    Another,
    Last,
}

/// Keeps what the subagent of a ticket left, by its transcript, if it has one: no event reported its end. Returns
/// whether that settled the ticket.
pub(super) fn settle(
    context: &HookContext<'_>,
    ticket: &Ticket,
    chance: Chance,
) -> Result<bool, CommandError> {
    let of_call = |child: &&Child| child.origin.tool_use == ticket.tool_use;
    let children = context.children();
    let Some(child) = children.iter().find(of_call).filter(|_| ticket.tool_use.is_some()) else {
        return Ok(false);
    };
    settle_child(context, child, ticket, transcript_wait(context)?, chance)
}

/// The same for the subagent that is known to have the ticket.
pub(super) fn settle_child(
    context: &HookContext<'_>,
    child: &Child,
    ticket: &Ticket,
    wait: Duration,
    chance: Chance,
) -> Result<bool, CommandError> {
    let (transcript, tickets) = (Some(child.transcript.as_path()), std::slice::from_ref(ticket));
    let last = context.seen(transcript, &child.agent).and_then(|seen| seen.last_message());
    let said = last.as_deref();
    let found = look(context, &child.agent, transcript, said, tickets, None, wait);
    let Look::Ended(mut end) = found else { return Ok(chance == Chance::Last) };
    if end.fate == Fate::Lost && end.message.is_empty() && may_follow(context, &end.ticket) {
        // Its program was killed before it wrote what a hook added.
        end.fate = Fate::Unseen;
    }
    if end.fate == Fate::Unseen && chance == Chance::Another {
        // Nothing of the conversation was written yet: to settle it now would lose what it shows.
        return Ok(false);
    }
    let receipt = bind(context, &mut end, &child.agent)?;
    keep(context, &end, &receipt, &child.agent, transcript)?;
    Ok(true)
}

/// Closes the ticket of a subagent that has ended and whose host keeps no file of it. What it said last may be in a
/// database; else nothing is left to read.
pub(super) fn settle_unseen(
    context: &HookContext<'_>,
    ticket: &Ticket,
) -> Result<(), CommandError> {
    let receipt = context.app.store()?.receipt(&ticket.receipt)?;
    let assignment = Assignment::of(&receipt).named(ticket.agent.clone());
    let seen = ticket.agent.as_ref().and_then(|agent| context.seen(None, agent));
    let said = seen.as_ref().and_then(|seen| seen.last_message()).unwrap_or_default();
    let (debrief, now) = (read_ending(&said), context.app.now());
    context.app.handoffs()?.ended(Ending {
        asked_again: ticket.asked,
        ended_with: Some(&text_hash(&said)),
        host: Some(context.call.host),
        outside: seen.as_ref().and_then(|seen| seen.outside.as_ref()),
        trace: seen.as_ref().map(|seen| &seen.trace),
        ..Ending::new(&assignment, &debrief, now)
    })?;
    context.has_ended(&receipt.id);
    Ok(())
}

/// Whether a subagent has yet to leave a debrief: one that only reads is not asked, and one that is continued
/// has left it.
pub(super) fn requires_debrief(
    context: &HookContext<'_>,
    ticket: &Ticket,
) -> Result<bool, CommandError> {
    let asks = matches!(context.briefing(&ticket.agent_type)?, Briefing::As { debrief: true, .. });
    Ok(asks && context.app.config()?.hooks.debrief_required && ticket.ending.is_none())
}

/// Records which subagent has which ticket, and what that says about its brief.
fn bind(
    context: &HookContext<'_>,
    end: &mut End,
    agent: &AgentId,
) -> Result<Receipt, CommandError> {
    let (store, handoffs) = (context.app.store()?, context.app.handoffs()?);
    let (host, now) = (context.call.host, context.app.now());
    let ticket = &end.ticket;
    if ticket.agent.as_ref() != Some(agent) {
        store.bind_ticket(&ticket.receipt, agent)?;
    }
    let receipt = store.receipt(&ticket.receipt)?;
    // A conversation that was compacted meanwhile may not show it any more.
    if receipt.state == ReceiptState::Confirmed {
        end.fate = Fate::Arrived;
    }
    // Another conversation may be one of another version.
    let is_this = Some(&ticket.host_session) == context.conversation();
    if ticket.way == BriefDelivery::Rewrite && !ticket.asked && ticket.ending.is_none() && is_this {
        note_rewrite(context, end, &receipt, agent)?;
    }
    match (end.fate, receipt.state) {
        (Fate::Arrived, _) => handoffs.confirmed(&receipt.id, Some(host), now)?,
        (Fate::Unseen, ReceiptState::Assembled) => {
            handoffs.started(&receipt.id, Some(host), now)?;
        }
        (Fate::Lost | Fate::Unseen, _) => {}
    }
    Ok(receipt)
}

/// Records what became of a rewritten prompt: this version of the host may ignore it, or another hook may
/// replace it.
fn note_rewrite(
    context: &HookContext<'_>,
    end: &End,
    receipt: &Receipt,
    agent: &AgentId,
) -> Result<(), CommandError> {
    match end.fate {
        Fate::Arrived => context.note_version(false),
        Fate::Unseen => Ok(()),
        Fate::Lost => {
            let cause = match end.scan.texts.contains(&end.ticket.task_hash) {
                true => "the program ignored the rewritten prompt",
                false => "another hook replaced the rewritten prompt",
            };
            log_lost(context, receipt, Some(agent), cause)?;
            // Without a better way the next one is tried again: the other hook may be gone by then.
            match context.host.capabilities().injects_at_start {
                true => context.note_version(true),
                false => Ok(()),
            }
        }
    }
}

/// Logs that a rewritten prompt lost its brief.
pub(super) fn log_lost(
    context: &HookContext<'_>,
    receipt: &Receipt,
    agent: Option<&AgentId>,
    cause: &str,
) -> Result<(), CommandError> {
    let payload = json!({
        "role": receipt.role, "error": cause, "receipt": receipt.id, "agent": agent,
        "host": context.call.host,
    });
    context.log(&receipt.session, receipt.group.as_ref(), KnownEvent::Degraded, payload)
}

/// Keeps what a subagent left.
fn keep(
    context: &HookContext<'_>,
    end: &End,
    receipt: &Receipt,
    agent: &AgentId,
    transcript: Option<&Path>,
) -> Result<(), CommandError> {
    let assignment = Assignment::of(receipt).named(Some(agent.clone()));
    let seen = context.seen(transcript, agent);
    context.app.handoffs()?.ended(Ending {
        asked_again: end.ticket.asked,
        ended_with: Some(&text_hash(&end.message)),
        host: Some(context.call.host),
        lost_prompt: end.fate == Fate::Lost,
        outside: seen.as_ref().and_then(|seen| seen.outside.as_ref()),
        trace: seen.as_ref().map(|seen| &seen.trace),
        ..Ending::new(&assignment, &end.debrief, context.app.now())
    })?;
    context.has_ended(&receipt.id);
    Ok(())
}
