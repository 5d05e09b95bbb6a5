//! Compares what hosts keep of subagents with what the store has about them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;

use handover_hosts::HookHost;
use handover_hosts::decide::coverage::{Brief, Facts, Shown, judge};
use handover_hosts::transcript::Calls;
use handover_model::{
    AgentId, BriefDelivery, Coverage, Event, EventId, Host, HostSessionId, KnownEvent, Receipt,
    ReceiptId, ReceiptState, Session, SessionId, Ticket, Timestamp, ToolUseId,
};
use handover_store::{EventFilter, StoreError};
use serde::Serialize;

use super::kept::{Kept, KeptChild, conversations};
use crate::app::App;
use crate::commands::hook::import_exemptions;
use crate::commands::host::connections::{self, Connections};
use crate::commands::host::untrusted;
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

/// A subagent in a program that was not connected to this project then: no hook could answer for it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Unconnected {
    pub(crate) host: Host,
    conversation: HostSessionId,
    agent: AgentId,
    kind: String,
    reason: &'static str,
}

/// The subagents of conversations.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) spawns: Vec<Spawn>,
    pub(crate) unconnected: Vec<Unconnected>,
}

/// Every spawn in the transcripts of the project, oldest conversation first.
pub(crate) fn judged(
    app: &App,
    host: Option<Host>,
    since: Option<Timestamp>,
    paths: &[PathBuf],
) -> Result<Judged, CommandError> {
    // Before the first session there was nobody to brief anybody.
    let sessions = app.store()?.sessions(None)?;
    let Some(first) = sessions.iter().map(|session| session.created_at).min() else {
        return Ok(Judged::default());
    };
    let since = since.map_or(first, |since| since.max(first));
    // Who may not write judges without them.
    let _ = import_exemptions(app);
    let connections = connections::current(app)?;
    let mut found = Judged::default();
    let kept = conversations(app, &connections, host, paths, since)?;
    let mut judge = Judge { app, sessions, connections, events: HashMap::new() };
    for conversation in kept {
        judge.conversation(conversation, &mut found)?;
    }
    Ok(found)
}

/// Why a program that is connected calls no hook.
const UNTRUSTED: &str = "the program runs the hooks of this project only once it trusts the folder; those of a user always run";

/// The judge of all conversations.
struct Judge<'a> {
    app: &'a App,
    sessions: Vec<Session>,
    connections: Connections,
    /// What was logged about subagents without a ticket, by session.
    events: HashMap<SessionId, Vec<Event>>,
}

/// One conversation with everything about it.
struct Scene<'a> {
    host: &'static dyn HookHost,
    id: HostSessionId,
    began: Timestamp,
    children: &'a [KeptChild],
    tickets: Vec<Ticket>,
    events: Vec<Event>,
    /// Events that exempt a subagent whose task they name.
    used: RefCell<Vec<EventId>>,
    calls: Calls,
    /// The session that it is bound to.
    session: Option<SessionId>,
    /// The experiment that it was a trial of.
    experiment: Option<String>,
}

impl Judge<'_> {
    fn conversation(&mut self, kept: Kept, found: &mut Judged) -> Result<(), CommandError> {
        let Kept { host, id, began, children, calls } = kept;
        let store = self.app.store()?;
        let session = store.bound_session(host.name(), &id)?;
        let (events, experiment) = match &session {
            Some(session) => (self.events_of(session)?, self.experiment(session)?),
            None => (Vec::new(), None),
        };
        let (tickets, used) = (store.tickets(host.name(), &id)?, RefCell::default());
        let children = children.as_slice();
        let mut scene =
            Scene { host, id, began, children, tickets, events, used, calls, session, experiment };
        let mut spawns = self.all_started(&scene)?;
        if spawns.iter().any(is_unexplained) {
            scene.events.extend(self.events_about(&scene)?);
            scene.used = RefCell::default();
            spawns = self.all_started(&scene)?;
        }
        for (spawn, child) in spawns.into_iter().zip(children) {
            let unconnected =
                is_unexplained(&spawn).then(|| self.unconnected(&scene, child)).flatten();
            let Some(reason) = unconnected else {
                found.spawns.push(spawn);
                continue;
            };
            let Spawn { host, conversation, kind, .. } = spawn;
            let agent = child.agent.clone();
            found.unconnected.push(Unconnected { host, conversation, agent, kind, reason });
        }
        let started = |call: &ToolUseId| {
            children.iter().any(|child| child.origin.tool_use.as_ref() == Some(call))
        };
        for (call, kind) in scene.calls.spawns.iter().filter(|(call, _)| !started(call)) {
            found.spawns.extend(self.refused(&scene, call, kind));
        }
        Ok(())
    }

    fn all_started(&self, scene: &Scene<'_>) -> Result<Vec<Spawn>, CommandError> {
        scene.children.iter().map(|child| self.started(scene, child)).collect()
    }

    /// Why no hook could answer for a subagent, if that is so.
    fn unconnected(&self, scene: &Scene<'_>, child: &KeptChild) -> Option<&'static str> {
        let host = scene.host.name();
        if !self.connections.know(host) {
            // Hooks of another program may have answered for it.
            let never = "the program was never connected here";
            return (!scene.was_hooked()).then_some(never);
        }
        if !self.connections.include(host, child.began) {
            return Some("the program was not connected then");
        }
        // Programs read their settings when they start.
        let began_before = !self.connections.include(host, scene.began) && !scene.was_hooked();
        began_before.then_some("the conversation began before the program was connected")
    }

    /// A subagent that the host keeps a transcript of.
    fn started(&self, scene: &Scene<'_>, child: &KeptChild) -> Result<Spawn, CommandError> {
        let seen = &child.receipts;
        let ticket = scene.ticket(child);
        let receipt = match (ticket, seen.first()) {
            (Some(ticket), _) => self.receipt(&ticket.receipt)?,
            // Its call was briefed again after its receipt had waited in the spool.
            (None, Some(first)) => self.receipt(first)?,
            (None, None) => None,
        };
        // Some hosts do not keep of what kind a subagent is.
        let kind = match (child.origin.kind.as_str(), ticket) {
            ("", Some(ticket)) => ticket.agent_type.clone(),
            ("", None) => child.origin.chore.clone().unwrap_or_default(),
            (kind, _) => kind.to_owned(),
        };
        let unasked = || ticket.is_none() && seen.is_empty() && child.origin.tool_use.is_none();
        let exempt =
            Self::exempt(scene, child, &kind).or_else(|| scene.chore(child).filter(|_| unasked()));
        let refused = scene.refusal(&child.agent);
        // What a hook adds is written after the prompt.
        let added = ticket.is_some_and(|ticket| ticket.way == BriefDelivery::Start);
        let waits = added && !child.has_spoken;
        let changed = ticket.is_some_and(|ticket| {
            ticket.way == BriefDelivery::Rewrite && !child.texts.contains(&ticket.task_hash)
        });
        let known = receipt.as_ref().map(|receipt| Brief {
            state: receipt.state,
            failure: receipt.failure.as_deref(),
            shown: match seen.contains(&receipt.id) {
                true => Shown::Brief,
                false if child.is_empty || waits => Shown::Nothing,
                false if changed => Shown::Changed,
                false => Shown::Other,
            },
        });
        let lost = || {
            let shown = Shown::Changed;
            (unasked() && !child.is_empty && scene.lost_a_brief(&kind)).then_some(Brief {
                state: ReceiptState::Assembled,
                failure: None,
                shown,
            })
        };
        let is_unknown = receipt.is_none() && exempt.is_none();
        let skips = is_unknown && untrusted::skips_hooks(self.app, scene.host.name(), &[]);
        let facts = Facts {
            receipt: known.or_else(lost),
            exempt: exempt.as_ref().map(|(rule, reason)| (rule.as_str(), reason.as_str())),
            refused: refused.as_deref(),
            worked: refused.is_some() && child.has_worked(),
            unhooked: skips.then_some(UNTRUSTED),
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

    /// The rule by which a subagent is exempt: what was logged then, whatever holds now.
    fn exempt(scene: &Scene<'_>, child: &KeptChild, kind: &str) -> Option<(String, String)> {
        match &scene.experiment {
            Some(id) => Some(("experiment".to_owned(), format!("experiment {id}"))),
            None => scene.exemption(child, kind),
        }
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

    /// The events about a conversation in sessions that it is not bound to: it may not have been bound when they were
    /// logged.
    fn events_about(&mut self, scene: &Scene<'_>) -> Result<Vec<Event>, CommandError> {
        let sessions: Vec<SessionId> = self.sessions.iter().map(|one| one.id.clone()).collect();
        let mut found = Vec::new();
        for session in sessions.iter().filter(|one| scene.session.as_ref() != Some(*one)) {
            let events = self.events_of(session)?.into_iter();
            found.extend(events.filter(|event| event.payload["conversation"] == scene.id.as_str()));
        }
        Ok(found)
    }
}

impl Scene<'_> {
    /// The ticket of a subagent: by its call, by its id, by the marker of its brief, or by its task, if it got that as it
    /// was.
    fn ticket(&self, child: &KeptChild) -> Option<&Ticket> {
        let call = child.origin.tool_use.as_ref();
        let of_call = |ticket: &&Ticket| call.is_some() && ticket.tool_use.as_ref() == call;
        let of_agent = |ticket: &&Ticket| ticket.agent.as_ref() == Some(&child.agent);
        let of_brief = |ticket: &&Ticket| child.receipts.contains(&ticket.receipt);
        let of_task = |ticket: &&Ticket| {
            call.is_none() && ticket.agent.is_none() && child.texts.contains(&ticket.task_hash)
        };
        let tickets = || self.tickets.iter();
        tickets()
            .find(of_call)
            .or_else(|| tickets().find(of_agent))
            .or_else(|| tickets().find(of_brief))
            .or_else(|| tickets().find(of_task))
    }

    /// Whether the prompt of a subagent of a kind lost its brief, in a host that keeps no calls: no subagent has it.
    fn lost_a_brief(&self, kind: &str) -> bool {
        self.calls.spawns.is_empty()
            && self.tickets.iter().any(|ticket| {
                ticket.agent.is_none()
                    && ticket.way == BriefDelivery::Rewrite
                    && (kind.is_empty() || kind == ticket.agent_type)
                    && !self.children.iter().any(|child| child.receipts.contains(&ticket.receipt))
            })
    }

    /// Whether hooks have answered in this conversation.
    fn was_hooked(&self) -> bool {
        self.session.is_some()
            || !self.tickets.is_empty()
            || self.events.iter().any(|event| event.payload["conversation"] == self.id.as_str())
            || self.children.iter().any(|child| !child.receipts.is_empty())
    }

    /// What was logged about a subagent that is exempt: the rule and the reason.
    fn exemption(&self, child: &KeptChild, kind: &str) -> Option<(String, String)> {
        let known = self.events.iter().find(|event| is_about(event, child));
        let event = known.or_else(|| self.announced(child, kind))?;
        let text = |field: &str| event.payload[field].as_str().map(ToOwned::to_owned);
        Some((text("rule")?, text("reason")?))
    }

    /// The exemption that was logged before a subagent started, by its task, in a host that does not say which call
    /// spawned it. Each is for one.
    fn announced(&self, child: &KeptChild, kind: &str) -> Option<&Event> {
        let text = |event: &'_ Event, field: &str| event.payload[field].as_str().map(str::to_owned);
        let is_mine = |event: &&Event| {
            let of_task = text(event, "task").is_some_and(|task| child.texts.contains(&task));
            let named = text(event, "agent_type").unwrap_or_default();
            let taken = || self.children.iter().any(|other| is_about(event, other));
            let free = !self.used.borrow().contains(&event.id);
            of_task && (kind.is_empty() || kind == named) && free && !taken()
        };
        child.origin.tool_use.is_none().then_some(())?;
        let event = self.events.iter().find(is_mine)?;
        self.used.borrow_mut().push(event.id);
        Some(event)
    }

    /// The rule by which a subagent is exempt that the host started for itself.
    fn chore(&self, child: &KeptChild) -> Option<(String, String)> {
        let chore = child.origin.chore.as_deref()?;
        Some(("chore".to_owned(), format!("{} started it for `{chore}`", self.host.title())))
    }

    /// Why a subagent was asked to stop when it started.
    fn refusal(&self, agent: &AgentId) -> Option<String> {
        let mut refusals = self.events.iter().filter(|event| event.payload["allowed"] == false);
        let mine = refusals.find(|event| event.payload["agent"] == agent.as_str())?;
        mine.payload["reasons"][0].as_str().map(ToOwned::to_owned)
    }
}

/// Whether an event is about a subagent, by its id or its call.
fn is_about(event: &Event, child: &KeptChild) -> bool {
    let text = |field: &str| event.payload[field].as_str();
    let call = child.origin.tool_use.as_ref().map(ToolUseId::as_str);
    text("agent") == Some(child.agent.as_str()) || call.is_some() && text("tool_use") == call
}

/// Whether nothing is known of a subagent.
fn is_unexplained(spawn: &Spawn) -> bool {
    spawn.state == Coverage::Missed && spawn.receipt.is_none()
}
