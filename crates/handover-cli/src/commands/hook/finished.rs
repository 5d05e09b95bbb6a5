//! A subagent ends in a host that does not say which one: it is asked for a missing debrief if it can be no
//! other, its receipt is confirmed if its transcript has the marker, and its debrief is stored.

use std::path::PathBuf;
use std::time::SystemTime;

use handover_handoff::{Assignment, Debrief, Ending, read_ending, request_for_debrief};
use handover_hosts::transcript::{markers, text_hash};
use handover_hosts::{Action, SubagentEnd};
use handover_model::{AgentId, HostSessionId, ReceiptId, Ticket};

use super::Reply;
use super::context::HookContext;
use super::subagent::requires_debrief;
use crate::error::CommandError;

/// How many transcripts are searched, newest first.
const MAX_TRANSCRIPTS: usize = 50;

/// Asks for a missing debrief, if only one subagent can have forgotten it.
pub(super) fn ends(context: &HookContext<'_>, result: &str) -> Result<Reply, CommandError> {
    let Some(conversation) = context.conversation() else { return Ok(Reply::default()) };
    if read_ending(result).has_block() {
        return Ok(Reply::default());
    }
    let store = context.app.store()?;
    let mut tickets = store.open_tickets(context.call.host, conversation)?;
    tickets.retain(|ticket| ticket.agent.is_none());
    let [ticket] = tickets.as_slice() else { return Ok(Reply::default()) };
    // Recorded before it is sent: whatever happens, it is not sent twice.
    let may_ask = requires_debrief(context, ticket)? && !ticket.asked;
    if !may_ask || !store.ask_ticket(&ticket.receipt)? {
        return Ok(Reply::default());
    }
    Ok(Action::HoldBack(request_for_debrief(&ticket.receipt)).into())
}

pub(super) fn react(context: &HookContext<'_>, end: &SubagentEnd) -> Result<Reply, CommandError> {
    let Some(conversation) = context.conversation() else { return Ok(Reply::default()) };
    let debrief = read_ending(&end.last_message);
    let Some((ticket, lost)) = ticket(context, conversation, end, &debrief)? else {
        return Ok(Reply::default());
    };
    let (store, handoffs) = (context.app.store()?, context.app.handoffs()?);
    let receipt = store.receipt(&ticket.receipt)?;
    let transcript = transcript(context, conversation, &receipt.id);
    let stem = transcript.as_deref().and_then(|path| path.file_stem()?.to_str());
    let agent = match (&context.call.agent, stem.and_then(|stem| AgentId::new(stem).ok())) {
        (Some(agent), _) => agent.id.clone(),
        (None, Some(id)) => id,
        // Without a name for it, its receipt tells it from others.
        (None, None) => AgentId::new(receipt.id.as_str())?,
    };
    if !store.take_ticket(&receipt.id, &agent)? {
        return Ok(Reply::default());
    }
    if transcript.is_some() || debrief.receipt.as_ref() == Some(&receipt.id) {
        handoffs.confirmed(&receipt.id, Some(context.call.host), context.app.now())?;
    }
    let seen = context.seen(transcript.as_deref(), &agent);
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

/// The ticket of the subagent, and whether its brief was lost: its own, the one that its task or its debrief
/// names, or the oldest that waits for the bare task.
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
    let own = |ticket: &&Ticket| agent.is_some() && ticket.agent.as_ref() == agent;
    let free = |ticket: &&Ticket| ticket.agent.is_none();
    let named = |ticket: &&Ticket| free(ticket) && marked.contains(&ticket.receipt);
    if let Some(ticket) = tickets.iter().find(own).or_else(|| tickets.iter().find(named)) {
        return Ok(Some((ticket.clone(), false)));
    }
    let bare = text_hash(&end.prompt);
    let lost = tickets.iter().filter(free).find(|ticket| ticket.task_hash == bare);
    Ok(lost.map(|ticket| (ticket.clone(), true)))
}

/// The transcript with the marker, among those of all subagents of the conversation.
fn transcript(
    context: &HookContext<'_>,
    conversation: &HostSessionId,
    receipt: &ReceiptId,
) -> Option<PathBuf> {
    let format = context.host.transcript()?;
    let folder = format.folder_of_subagents(context.call.transcript.as_deref()?, conversation)?;
    let mut files: Vec<(SystemTime, PathBuf)> = fs_err::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort_by(|a, b| b.cmp(a));
    let mut newest = files.into_iter().take(MAX_TRANSCRIPTS).map(|(_, path)| path);
    newest.find(|path| context.scan(path, None).receipts.contains(receipt))
}
