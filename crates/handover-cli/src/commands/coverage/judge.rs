//! Compares what hosts keep of subagents with what the store has about them.

use std::collections::HashMap;
use std::path::PathBuf;

use handover_hosts::HookHost;
use handover_hosts::decide::coverage::{Brief, Facts, Shown, judge};
use handover_hosts::transcript::Calls;
use handover_model::config::Briefing;
use handover_model::{
    AgentId, BriefDelivery, Coverage, Event, Host, HostSessionId, KnownEvent, Receipt, ReceiptId,
    SessionId, Ticket, Timestamp, ToolUseId,
};
use handover_store::{EventFilter, StoreError};
use serde::Serialize;

use super::kept::{Kept, KeptChild, conversations};
use crate::app::App;
use crate::error::CommandError;

/// A subagent that a host started, or was asked to start.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Spawn {
    pub(crate) host: Host,
    conversation: HostSessionId,
    pub(crate) agent: Option<AgentId>,
    pub(crate) kind: String,
    pub(crate) state: Coverage,
    receipt: Option<ReceiptId>,
    pub(crate) reason: Option<String>,
}

/// Every spawn in the transcripts of the project, oldest conversation first.
pub(crate) fn judged(
    app: &App,
    host: Option<Host>,
    since: Option<Timestamp>,
    paths: &[PathBuf],
) -> Result<Vec<Spawn>, CommandError> {
    // Before the first session there was nobody to brief anybody.
    let sessions = app.store()?.sessions(None)?;
    let Some(first) = sessions.iter().map(|session| session.created_at).min() else {
        return Ok(Vec::new());
    };
    let since = since.map_or(first, |since| since.max(first));
    let mut judge = Judge { app, events: HashMap::new() };
    let mut spawns = Vec::new();
    for conversation in conversations(app, host, paths, since)? {
        spawns.extend(judge.conversation(conversation)?);
    }
    Ok(spawns)
}

/// The judge of all conversations.
struct Judge<'a> {
    app: &'a App,
    /// What was logged about subagents without a ticket, by session.
    events: HashMap<SessionId, Vec<Event>>,
}

/// One conversation with everything about it.
struct Scene<'a> {
    host: &'static dyn HookHost,
    id: HostSessionId,
    tickets: Vec<Ticket>,
    events: &'a [Event],
    calls: Calls,
    /// The experiment that it was a trial of.
    experiment: Option<String>,
}

impl Judge<'_> {
    fn conversation(&mut self, kept: Kept) -> Result<Vec<Spawn>, CommandError> {
        let Kept { host, id, children, calls } = kept;
        let store = self.app.store()?;
        let (events, experiment) = match store.bound_session(host.name(), &id)? {
            Some(session) => (self.events_of(&session)?, self.experiment(&session)?),
            None => (Vec::new(), None),
        };
        let tickets = store.tickets(host.name(), &id)?;
        let scene = Scene { host, id, tickets, events: &events, calls, experiment };
        let mut spawns = Vec::new();
        for child in &children {
            spawns.push(self.started(&scene, child)?);
        }
        let started = |call: &ToolUseId| {
            children.iter().any(|child| child.origin.tool_use.as_ref() == Some(call))
        };
        for (call, kind) in scene.calls.spawns.iter().filter(|(call, _)| !started(call)) {
            spawns.extend(self.refused(&scene, call, kind));
        }
        Ok(spawns)
    }

    /// A subagent that the host keeps a transcript of.
    fn started(&self, scene: &Scene<'_>, child: &KeptChild) -> Result<Spawn, CommandError> {
        let call = child.origin.tool_use.as_ref();
        let seen = &child.receipts;
        let ticket = scene.ticket(call, &child.agent, seen);
        let receipt = match (ticket, seen.first()) {
            (Some(ticket), _) => self.receipt(&ticket.receipt)?,
            // Its call was briefed again after its receipt had waited in the spool.
            (None, Some(first)) => self.receipt(first)?,
            (None, None) => None,
        };
        // Some hosts do not keep of what kind a subagent is.
        let kind = match (child.origin.kind.as_str(), ticket) {
            ("", Some(ticket)) => ticket.agent_type.clone(),
            (kind, _) => kind.to_owned(),
        };
        let exempt = self.exempt(scene, child, &kind)?;
        let refused = scene.refusal(&child.agent);
        // What a hook adds is written after the prompt.
        let added = ticket.is_some_and(|ticket| ticket.way == BriefDelivery::Start);
        let waits = added && !child.has_spoken;
        let facts = Facts {
            receipt: receipt.as_ref().map(|receipt| Brief {
                state: receipt.state,
                failure: receipt.failure.as_deref(),
                shown: match seen.contains(&receipt.id) {
                    true => Shown::Brief,
                    false if child.is_empty || waits => Shown::Nothing,
                    false => Shown::Other,
                },
            }),
            exempt: exempt.as_ref().map(|(rule, reason)| (rule.as_str(), reason.as_str())),
            refused: refused.as_deref(),
        };
        let (state, reason) = judge(&facts);
        Ok(Spawn {
            host: scene.host.name(),
            conversation: scene.id.clone(),
            agent: Some(child.agent.clone()),
            kind,
            state,
            receipt: receipt.map(|receipt| receipt.id),
            reason,
        })
    }

    /// A call that started no subagent: it failed, or its result is not there yet.
    fn refused(&self, scene: &Scene<'_>, call: &ToolUseId, kind: &str) -> Option<Spawn> {
        let (_, error) = scene.calls.failed.iter().find(|(failed, _)| failed == call)?;
        let ticket = scene.tickets.iter().find(|ticket| ticket.tool_use.as_ref() == Some(call));
        let (state, reason) = judge(&Facts { refused: Some(error), ..Facts::default() });
        Some(Spawn {
            host: scene.host.name(),
            conversation: scene.id.clone(),
            agent: None,
            kind: kind.to_owned(),
            state,
            receipt: ticket.map(|ticket| ticket.receipt.clone()),
            reason,
        })
    }

    fn receipt(&self, id: &ReceiptId) -> Result<Option<Receipt>, CommandError> {
        match self.app.store()?.receipt(id) {
            Ok(receipt) => Ok(Some(receipt)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The rule by which a subagent is exempt: what was logged when it started, else what holds now.
    fn exempt(
        &self,
        scene: &Scene<'_>,
        child: &KeptChild,
        kind: &str,
    ) -> Result<Option<(String, String)>, CommandError> {
        if let Some(id) = &scene.experiment {
            return Ok(Some(("experiment".to_owned(), format!("experiment {id}"))));
        }
        if let Some(logged) = scene.exemption(child) {
            return Ok(Some(logged));
        }
        let hooks = &self.app.config()?.hooks;
        if !hooks.enabled {
            let reason = "hooks are switched off".to_owned();
            return Ok(Some(("hooks.enabled".to_owned(), reason)));
        }
        Ok(match hooks.briefing(kind, scene.host.general_kinds()) {
            Briefing::Exempt { rule, reason } => Some((rule.to_owned(), reason)),
            Briefing::As { .. } => None,
        })
    }

    /// The experiment whose trials a session has: what their agents are given is not for hooks to decide.
    fn experiment(&self, session: &SessionId) -> Result<Option<String>, CommandError> {
        match self.app.store()?.session(session) {
            Ok(session) => Ok(session.metadata["experiment"].as_str().map(str::to_owned)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn events_of(&mut self, session: &SessionId) -> Result<Vec<Event>, CommandError> {
        if let Some(events) = self.events.get(session) {
            return Ok(events.clone());
        }
        let mut events = Vec::new();
        for kind in [KnownEvent::Untouched, KnownEvent::Guard] {
            let filter = EventFilter { kind: Some(kind.into()), ..EventFilter::default() };
            events.extend(self.app.store()?.events(session, &filter)?);
        }
        self.events.insert(session.clone(), events.clone());
        Ok(events)
    }
}

impl Scene<'_> {
    /// The ticket of a subagent: by its call, by its id, or by the marker of its brief.
    fn ticket(
        &self,
        call: Option<&ToolUseId>,
        agent: &AgentId,
        seen: &[ReceiptId],
    ) -> Option<&Ticket> {
        let of_call = |ticket: &&Ticket| call.is_some() && ticket.tool_use.as_ref() == call;
        let of_agent = |ticket: &&Ticket| ticket.agent.as_ref() == Some(agent);
        let of_brief = |ticket: &&Ticket| seen.contains(&ticket.receipt);
        let tickets = || self.tickets.iter();
        tickets()
            .find(of_call)
            .or_else(|| tickets().find(of_agent))
            .or_else(|| tickets().find(of_brief))
    }

    /// What was logged about a subagent that is exempt: the rule and the reason.
    fn exemption(&self, child: &KeptChild) -> Option<(String, String)> {
        let call = child.origin.tool_use.as_ref().map(ToolUseId::as_str);
        self.events.iter().find_map(|event| {
            let text = |field: &str| event.payload[field].as_str();
            let same = text("agent") == Some(child.agent.as_str())
                || call.is_some() && text("tool_use") == call;
            same.then(|| Some((text("rule")?.to_owned(), text("reason")?.to_owned())))?
        })
    }

    /// Why a subagent was asked to stop when it started.
    fn refusal(&self, agent: &AgentId) -> Option<String> {
        let mut refusals = self.events.iter().filter(|event| event.payload["allowed"] == false);
        let mine = refusals.find(|event| event.payload["agent"] == agent.as_str())?;
        mine.payload["reasons"][0].as_str().map(ToOwned::to_owned)
    }
}
