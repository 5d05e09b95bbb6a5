//! What a subagent read and did, by the conversation that its host keeps.

use std::path::Path;

use handover_handoff::OutsideRead;
use handover_knowledge::transcripts::{self, Conversation};
use handover_knowledge::{Homes, first_outside};
use handover_model::{AgentId, Trace, TraceStep};

use super::context::HookContext;
use crate::env;
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
        Some(Seen { outside, trace: conversation.trace() })
    }

    fn in_database(&self, agent: &AgentId) -> Option<Conversation> {
        let homes = Homes::usual(|name| env::var(name).map(Into::into));
        let transcript = transcripts::by_id(self.call.host, &homes, agent.as_str())?;
        transcripts::read(&transcript, Some(&Tables)).ok()
    }
}
