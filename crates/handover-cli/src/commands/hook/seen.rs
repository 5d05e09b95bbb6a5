//! What a subagent read and did, by the conversation that its host keeps.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use handover_handoff::OutsideRead;
use handover_hosts::transcript::{FilePart, Scan, TAIL_BYTES, markers, text_hash};
use handover_hosts::{Checkpoint, HookCall, HookEvent};
use handover_knowledge::transcripts::{self, Conversation, Role, Transcript};
use handover_knowledge::{Place, first_outside};
use handover_model::{AgentId, Host, HostSessionId, Trace, TraceStep, shows_outside};

use super::context::HookContext;
use super::subagent::POLL_INTERVAL;
use crate::env;
use crate::host_transcripts::read_part;
use crate::learn::Tables;

/// What was seen of a subagent.
pub(super) struct Seen {
    /// What it read from outside first.
    pub(super) outside: Option<OutsideRead>,
    pub(super) trace: Trace,
}

impl Seen {
    /// What it said last.
    pub(super) fn last_message(&self) -> Option<String> {
        self.trace.steps().iter().rev().find_map(|step| match step {
            TraceStep::Said(text) => Some(text.clone()),
            TraceStep::Given(_) | TraceStep::Called(_) | TraceStep::Shown { .. } => None,
        })
    }
}

impl HookContext<'_> {
    /// What a subagent did: by its transcript, or by the database that its host keeps instead.
    pub(super) fn seen(&self, transcript: Option<&Path>, agent: &AgentId) -> Option<Seen> {
        let conversation = match transcript {
            Some(path) => transcripts::read_subagent(path, agent.as_str()).ok()?,
            None => self.in_database(agent)?,
        };
        let outside = first_outside(&conversation);
        let outside = outside.map(|(tool, at)| OutsideRead { tool: tool.to_owned(), at });
        let trace = conversation.trace();
        let by_ours =
            || shows_outside(&trace).map(|tool| OutsideRead { tool: tool.to_owned(), at: None });
        Some(Seen { outside: outside.or_else(by_ours), trace })
    }

    /// What the database of its host shows of a subagent; nothing if it keeps none.
    pub(super) fn scan_in_database(&self, agent: &AgentId) -> Scan {
        let mut scan = Scan::default();
        let kept = match self.host.transcript() {
            Some(_) => None,
            None => self.in_database(agent),
        };
        let Some(conversation) = kept else { return scan };
        for message in conversation.messages.iter().filter(|message| message.role == Role::Person) {
            scan.receipts.extend(markers(message.text.as_bytes()));
            scan.texts.push(text_hash(&message.text));
        }
        scan
    }

    fn in_database(&self, agent: &AgentId) -> Option<Conversation> {
        transcripts::read(&by_id(self.call.host, agent.as_str())?, Some(&Tables)).ok()
    }
}

fn by_id(host: Host, id: &str) -> Option<Transcript> {
    transcripts::by_id(host, &env::agent_homes(), id)
}

/// The file of another conversation, wherever its host keeps that.
pub(super) fn file_of(host: Host, conversation: &HostSessionId) -> Option<PathBuf> {
    match by_id(host, conversation.as_str())?.place {
        Place::File(file) => Some(file),
        Place::Row { .. } => None,
    }
}

/// How long to wait at the end of a conversation for what its host has not written yet.
const WAIT_FOR_END: Duration = Duration::from_millis(1_500);

/// Waits until the transcript of a conversation that ends is complete. Nothing reads it later unless it is resumed.
pub(super) fn await_end(context: &HookContext<'_>) {
    let (true, Some(format), Some(path)) =
        (ends(context.call), context.host.transcript(), &context.call.transcript)
    else {
        return;
    };
    let tail = || read_part(path, FilePart::Tail, TAIL_BYTES).unwrap_or_default();
    let until = Instant::now() + WAIT_FOR_END;
    while !format.is_over(&tail()) && Instant::now() < until {
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn ends(call: &HookCall) -> bool {
    matches!(call.event, HookEvent::Checkpoint { at: Checkpoint::SessionEnd, .. })
}

/// Adds the transcript to the end of a conversation: Copilot CLI names it in every event but that one.
pub(super) fn add_transcript(call: &mut HookCall) {
    if let (true, None, Some(conversation)) = (ends(call), &call.transcript, &call.conversation)
        && let Some(found) = by_id(call.host, conversation.as_str())
        && let Place::File(file) = found.place
    {
        call.transcript = Some(file);
    }
}
