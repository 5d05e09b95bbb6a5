//! A subagent ends in a host that does not say which one: it is held back for a lost brief or a missing debrief if it can
//! be no other, its receipt is confirmed if its transcript has the marker, and its debrief is stored.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use handover_handoff::{Assignment, Debrief, Ending, read_ending, request_for_debrief};
use handover_hosts::decide::stop;
use handover_hosts::transcript::{markers, text_hash};
use handover_hosts::{Action, SubagentEnd};
use handover_model::{AgentId, HostSessionId, ReceiptId, Ticket};

use super::context::HookContext;
use super::subagent::{log_lost, requires_debrief};
use super::{Reply, spawn};
use crate::error::CommandError;
use crate::host_transcripts::began_in;

/// How many transcripts are searched, newest first.
const MAX_TRANSCRIPTS: usize = 50;

/// How exactly a transcript says when it began, in seconds.
const CLOCK_SECONDS: i64 = 1;

/// Holds a subagent back that is about to hand in its result, if it can only be one: it gets the brief that its prompt
/// lost, or is asked for a missing debrief.
pub(super) fn ends(context: &HookContext<'_>, result: &str) -> Result<Reply, CommandError> {
    let Some(conversation) = context.conversation() else { return Ok(Reply::default()) };
    let store = context.app.store()?;
    let mut tickets = store.open_tickets(context.call.host, conversation)?;
    tickets.retain(|ticket| ticket.agent.is_none());
    let [ticket] = tickets.as_slice() else { return Ok(Reply::default()) };
    if ticket.asked {
        return Ok(Reply::default());
    }
    let text = if Kept::of(context, conversation, ticket)?.shows_loss() {
        let receipt = store.receipt(&ticket.receipt)?;
        log_lost(context, &receipt, None, "another hook replaced the rewritten prompt")?;
        stop::late(&spawn::fit(context, receipt.text.as_deref().unwrap_or_default(), &receipt.id)?)
    } else if !read_ending(result).has_block() && requires_debrief(context, ticket)? {
        request_for_debrief(&ticket.receipt)
    } else {
        return Ok(Reply::default());
    };
    // Recorded before it is sent: whatever happens, it is not sent twice.
    if !store.ask_ticket(&ticket.receipt)? {
        return Ok(Reply::default());
    }
    Ok(Action::HoldBack(text).into())
}

pub(super) fn react(context: &HookContext<'_>, end: &SubagentEnd) -> Result<Reply, CommandError> {
    let Some(conversation) = context.conversation() else { return Ok(Reply::default()) };
    let debrief = read_ending(&end.last_message);
    let Some((ticket, lost)) = ticket(context, conversation, end, &debrief)? else {
        return Ok(Reply::default());
    };
    let (store, handoffs) = (context.app.store()?, context.app.handoffs()?);
    let receipt = store.receipt(&ticket.receipt)?;
    let kept = Kept::of(context, conversation, &ticket)?;
    // It may have had its brief when it was held back.
    let lost = lost && kept.own.is_none();
    let agent = match (&context.call.agent, kept.agent()) {
        (Some(agent), _) => agent.id.clone(),
        (None, Some(id)) => id,
        // Without a name for it, its receipt tells it from others.
        (None, None) => AgentId::new(receipt.id.as_str())?,
    };
    if !store.take_ticket(&receipt.id, &agent)? {
        return Ok(Reply::default());
    }
    // The request for a debrief names the receipt, too.
    let named = !ticket.asked && debrief.receipt.as_ref() == Some(&receipt.id);
    if kept.own.is_some() || named {
        handoffs.confirmed(&receipt.id, Some(context.call.host), context.app.now())?;
    }
    let seen = context.seen(kept.transcript(), &agent);
    let assignment = Assignment::of(&receipt).named(Some(agent));
    handoffs.ended(Ending {
        asked_again: ticket.asked,
        ended_with: Some(&text_hash(&end.last_message)),
        host: Some(context.call.host),
        lost_prompt: lost,
        outside: seen.as_ref().and_then(|seen| seen.outside.as_ref()),
        trace: seen.as_ref().map(|seen| &seen.trace),
        ..Ending::new(&assignment, &debrief, context.app.now())
    })?;
    context.has_ended(&receipt.id);
    Ok(Reply::default())
}

/// The ticket of the subagent, and whether its prompt had lost the brief: its own, the one that its task or its debrief
/// names, the oldest that waits for the bare task, or the only one of its kind whose brief is nowhere else.
fn ticket(
    context: &HookContext<'_>,
    conversation: &HostSessionId,
    end: &SubagentEnd,
    debrief: &Debrief,
) -> Result<Option<(Ticket, bool)>, CommandError> {
    let mut tickets = context.app.store()?.open_tickets(context.call.host, conversation)?;
    let kind = context.app.redactor()?.clean(&end.kind);
    tickets.retain(|ticket| ticket.agent_type == kind.as_str());
    let agent = context.call.agent.as_ref().map(|agent| &agent.id);
    let mut marked: Vec<ReceiptId> = markers(end.prompt.as_bytes()).collect();
    marked.extend(debrief.receipt.clone());
    if let Some(own) = tickets.iter().find(|one| agent.is_some() && one.agent.as_ref() == agent) {
        return Ok(Some((own.clone(), false)));
    }
    tickets.retain(|ticket| ticket.agent.is_none());
    if let Some(named) = tickets.iter().find(|ticket| marked.contains(&ticket.receipt)) {
        return Ok(Some((named.clone(), false)));
    }
    let bare = text_hash(&end.prompt);
    if let Some(bare) = tickets.iter().find(|ticket| ticket.task_hash == bare) {
        return Ok(Some((bare.clone(), true)));
    }
    let [only] = tickets.as_slice() else { return Ok(None) };
    // A brief that has arrived belongs to another one, which is still at work.
    let is_its = only.asked || Kept::of(context, conversation, only)?.own.is_none();
    Ok(is_its.then(|| (only.clone(), true)))
}

/// What the host keeps of the subagents that a ticket may be for.
#[derive(Debug, Default)]
struct Kept {
    /// The transcript with the marker.
    own: Option<PathBuf>,
    /// Those that began after the brief was made, belong to no other ticket, and show no brief.
    without: Vec<PathBuf>,
}

impl Kept {
    fn of(
        context: &HookContext<'_>,
        conversation: &HostSessionId,
        ticket: &Ticket,
    ) -> Result<Self, CommandError> {
        let mut kept = Self::default();
        let folder = context
            .host
            .transcript()
            .zip(context.call.transcript.as_deref())
            .and_then(|(format, lead)| format.folder_of_subagents(lead, conversation));
        let Some(folder) = folder else { return Ok(kept) };
        let known = context.app.store()?.tickets(context.call.host, conversation)?;
        for path in newest(&folder) {
            let receipts = context.scan(&path, None).receipts;
            if receipts.contains(&ticket.receipt) {
                kept.own = Some(path);
                return Ok(kept);
            }
            let agent = agent_of(&path);
            let is_known = known.iter().any(|one| agent.is_some() && one.agent == agent);
            let began = began_in(&path);
            let is_newer =
                began.is_some_and(|at| at.plus_seconds(CLOCK_SECONDS) >= ticket.created_at);
            if receipts.is_empty() && !is_known && is_newer {
                kept.without.push(path);
            }
        }
        Ok(kept)
    }

    /// Whether the brief certainly did not arrive: the only subagent that it can be for is there without it.
    fn shows_loss(&self) -> bool {
        self.own.is_none() && self.without.len() == 1
    }

    /// The transcript of the subagent, if it can be no other.
    fn transcript(&self) -> Option<&Path> {
        match (&self.own, self.without.as_slice()) {
            (Some(own), _) => Some(own),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }

    fn agent(&self) -> Option<AgentId> {
        agent_of(self.transcript()?)
    }
}

/// The subagent that a transcript is about: it is named after it.
fn agent_of(transcript: &Path) -> Option<AgentId> {
    AgentId::new(transcript.file_stem()?.to_str()?).ok()
}

/// The newest files of a folder.
fn newest(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs_err::read_dir(folder).ok().into_iter().flatten();
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort_by(|a, b| b.cmp(a));
    files.into_iter().take(MAX_TRANSCRIPTS).map(|(_, path)| path)
}
