//! Settles tickets that no event settled: a call that another hook denied, a subagent that reached its limit of
//! turns, a program that was killed. The host's own transcripts say what became of them.
//!
//! It also judges what subagents used of their briefs, where the host writes their conversations after they have ended.
//!
//! It runs after the host has its answer, when a turn ends, when a conversation ends, and when the next one starts.

use std::path::Path;
use std::time::{Duration, Instant};

use handover_handoff::spool;
use handover_hosts::transcript::{Calls, FilePart, TAIL_BYTES, calls};
use handover_hosts::{Checkpoint, HookEvent, StartReason};
use handover_model::{AgentId, HostSessionId, ReceiptState, Ticket};
use tracing::{debug, warn};

use super::context::HookContext;
use super::seen;
use super::spawned;
use super::subagent::{self, Chance};
use crate::error::CommandError;
use crate::host_transcripts::{Child, children, modified, read_part};

/// How many seconds a conversation must have been silent until another one takes it for dead.
const SILENT_SECONDS: i64 = 600;

/// After how many seconds one is taken for dead whose transcript is not found.
const FORGOTTEN_SECONDS: i64 = 86_400;

/// The most time that a hook spends on it.
const MOST: Duration = Duration::from_millis(1_000);

/// How many transcripts of subagents are searched for failed calls.
const SEARCHED: usize = 50;

/// How many of the last subagents of a conversation are looked at for what they used.
const RECENT: u32 = 12;

/// Which subagents of a conversation have ended.
enum Ended {
    All,
    /// All, and the process that wrote about them is gone.
    Gone,
    /// All but these.
    Except(Vec<AgentId>),
    /// That is not known.
    Unknown,
}

impl Ended {
    /// Whether anything can still be settled later.
    fn chance(&self) -> Chance {
        match self {
            Self::All | Self::Gone => Chance::Last,
            Self::Except(_) | Self::Unknown => Chance::Another,
        }
    }

    fn includes(&self, agent: &AgentId) -> bool {
        match self {
            Self::All | Self::Gone => true,
            Self::Except(running) => !running.contains(agent),
            Self::Unknown => false,
        }
    }
}

/// Settles what the event makes worth settling. A failure is a line in the log: the host has its answer.
pub(super) fn settle(context: &HookContext<'_>) {
    if context.call.agent.is_some() {
        return;
    }
    let running = || context.call.running.clone().map_or(Ended::Unknown, Ended::Except);
    let outcome = if let HookEvent::Checkpoint { at, .. } = &context.call.event {
        match at {
            Checkpoint::Stop => this(context, &running()),
            Checkpoint::SessionEnd => this(context, &Ended::All),
            Checkpoint::PreCompact => return,
        }
    } else if let HookEvent::SessionStarted(StartReason::Startup | StartReason::Resume) =
        &context.call.event
    {
        // Whatever an earlier process of this conversation started is gone.
        this(context, &Ended::Gone).and_then(|()| others(context))
    } else {
        return;
    };
    if let Err(error) = outcome {
        warn!(error = %error.message, "tickets were not settled");
    }
}

/// The conversation that the event is about.
fn this(context: &HookContext<'_>, ended: &Ended) -> Result<(), CommandError> {
    let Some(conversation) = context.conversation() else { return Ok(()) };
    let (app, store) = (context.app, context.app.store()?);
    // Their tickets are among those to settle. `doctor` reports a folder that is not ours.
    if let Ok(spool) = app.spool() {
        spool::import(&spool, store, app.redactor()?);
    }
    let tickets = store.open_tickets(context.call.host, conversation)?;
    let until = Instant::now() + MOST;
    let transcript = context.call.transcript.as_deref();
    conversation_of(context, &tickets, transcript, ended, until)?;
    match transcript.filter(|_| context.host.transcript().is_some_and(|kept| kept.is_shared())) {
        // Waiting for words that are not written yet must not use up the time for those that are.
        Some(shared) => late_uses(context, conversation, shared, Instant::now() + MOST),
        None => Ok(()),
    }
}

/// Judges the use of briefs whose agents have ended, in a host that writes all conversations into one file, and what
/// an agent said last often only after it has reported that it stops.
fn late_uses(
    context: &HookContext<'_>,
    conversation: &HostSessionId,
    transcript: &Path,
    until: Instant,
) -> Result<(), CommandError> {
    let (store, host) = (context.app.store()?, context.call.host);
    // What an agent spawned belongs to a conversation of its own, named like the agent.
    let mut conversations = vec![conversation.clone()];
    let mut next = 0;
    while let Some(conversation) = conversations.get(next).filter(|_| next < SEARCHED).cloned() {
        next += 1;
        for ticket in store.latest_tickets(host, &conversation, RECENT)? {
            let (Some(agent), Some(_)) = (&ticket.agent, ticket.closed_at) else { continue };
            if Instant::now() >= until {
                return Ok(());
            }
            conversations.extend(HostSessionId::new(agent.as_str()).ok());
            let receipt = store.receipt(&ticket.receipt)?;
            let arrived =
                matches!(receipt.state, ReceiptState::Delivered | ReceiptState::Confirmed);
            if arrived
                && receipt.items.iter().any(|item| item.used.is_none())
                && let Some(seen) = context.seen(Some(transcript), agent)
            {
                context.app.handoffs()?.used(&receipt, &seen.trace)?;
            }
        }
    }
    Ok(())
}

/// Conversations of the same host that ended without a word.
fn others(context: &HookContext<'_>) -> Result<(), CommandError> {
    let (app, host) = (context.app, context.call.host);
    let before = app.now().plus_seconds(-SILENT_SECONDS);
    let mut tickets = app.store()?.unsettled_tickets(host, before)?;
    tickets.retain(|ticket| Some(&ticket.host_session) != context.conversation());
    tickets.sort_by(|a, b| a.host_session.cmp(&b.host_session));
    let until = Instant::now() + MOST;
    for tickets in tickets.chunk_by(|a, b| a.host_session == b.host_session) {
        let Some(first) = tickets.first() else { continue };
        let sibling = |own: &Path| context.host.transcript()?.sibling(own, &first.host_session);
        let own = context.call.transcript.as_deref();
        let kept = || seen::file_of(host, &first.host_session);
        let transcript = own.and_then(sibling).or_else(kept).filter(|path| path.is_file());
        let speaks = |path: &Path| modified(path).is_some_and(|at| at > before);
        let alive = match transcript.as_deref() {
            Some(lead) => {
                let children = children(context.host, lead);
                speaks(lead) || children.iter().any(|child| speaks(&child.transcript))
            }
            // Its transcript is elsewhere, so that only time tells.
            None => first.created_at > app.now().plus_seconds(-FORGOTTEN_SECONDS),
        };
        if !alive {
            conversation_of(context, tickets, transcript.as_deref(), &Ended::Gone, until)?;
        }
    }
    Ok(())
}

fn conversation_of(
    context: &HookContext<'_>,
    tickets: &[Ticket],
    transcript: Option<&Path>,
    ended: &Ended,
    until: Instant,
) -> Result<(), CommandError> {
    if tickets.is_empty() {
        return Ok(());
    }
    let children = transcript.map(|lead| children(context.host, lead)).unwrap_or_default();
    let mut failed: Option<Calls> = None;
    for ticket in tickets {
        if Instant::now() >= until {
            debug!("the rest is left for the next time");
            return Ok(());
        }
        match child_of(context, ticket, &children) {
            Some(child) if ended.includes(&child.agent) => {
                let wait = match ended {
                    Ended::Gone => Duration::ZERO,
                    Ended::All | Ended::Except(_) | Ended::Unknown => {
                        until.saturating_duration_since(Instant::now())
                    }
                };
                subagent::settle_child(context, child, ticket, wait, ended.chance())?;
            }
            Some(_) => {}
            None => {
                let failed =
                    failed.get_or_insert_with(|| failed_calls(context, transcript, &children));
                without_child(context, ticket, failed, ended, transcript.is_some())?;
            }
        }
    }
    Ok(())
}

/// The subagent of a ticket: by its call, by its id, or by the marker of its brief.
fn child_of<'a>(
    context: &HookContext<'_>,
    ticket: &Ticket,
    children: &'a [Child],
) -> Option<&'a Child> {
    let of_call =
        |child: &&Child| ticket.tool_use.is_some() && child.origin.tool_use == ticket.tool_use;
    // An assumption that the subagent's own call disproves does not count.
    let of_agent = |child: &&Child| {
        ticket.agent.as_ref() == Some(&child.agent)
            && (child.origin.tool_use.is_none() || ticket.tool_use.is_none())
    };
    let briefed = |child: &&Child| {
        child.origin.tool_use.is_none()
            && child.scan(context.host).receipts.contains(&ticket.receipt)
    };
    let mut newest = children.iter().rev().take(SEARCHED);
    let by_id = children.iter().find(of_call).or_else(|| children.iter().find(of_agent));
    by_id.or_else(|| newest.find(briefed))
}

/// A ticket whose subagent left no trace. `looked` says whether the conversation was there to look at.
fn without_child(
    context: &HookContext<'_>,
    ticket: &Ticket,
    calls: &Calls,
    ended: &Ended,
    looked: bool,
) -> Result<(), CommandError> {
    // Some hosts do not say which subagent has a brief, or that it has started.
    let may_run = || -> Result<bool, CommandError> {
        let state = context.app.store()?.receipt(&ticket.receipt)?.state;
        Ok(ticket.agent.is_some() || !looked && state == ReceiptState::Delivered)
    };
    let error = calls.failed.iter().find(|(call, _)| Some(call) == ticket.tool_use.as_ref());
    match (error, ended) {
        (Some((_, error)), _) => {
            let reason = format!("the program did not start the subagent: {error}");
            spawned::give_back(context, ticket, &reason)
        }
        // It started, and its host keeps nothing of it.
        (None, Ended::All | Ended::Gone) if may_run()? => subagent::settle_unseen(context, ticket),
        (None, Ended::All | Ended::Gone) => spawned::give_back(
            context,
            ticket,
            "the conversation ended before the subagent started",
        ),
        (None, Ended::Except(_) | Ended::Unknown) => Ok(()),
    }
}

/// The calls that failed, in the conversation and in those of its subagents.
fn failed_calls(context: &HookContext<'_>, transcript: Option<&Path>, children: &[Child]) -> Calls {
    let mut all = Calls::default();
    let Some(format) = context.host.transcript() else { return all };
    let nested = children.iter().rev().take(SEARCHED).map(|child| child.transcript.as_path());
    for path in transcript.into_iter().chain(nested) {
        let part = read_part(path, FilePart::Tail, TAIL_BYTES).unwrap_or_default();
        all.failed.extend(calls(format, &part).failed);
    }
    all
}
