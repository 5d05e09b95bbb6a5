//! Subagents that work without a brief by a rule that the user can see. Each leaves an event with the rule and
//! the reason, and what tells the subagent from others: its id once it has started, before that its call and the hash of
//! its task.

use handover_files::Sync;
use handover_hosts::transcript::text_hash;
use handover_hosts::{HookEvent, SubagentSpawn};
use handover_model::{AgentId, Host, HostSessionId, KnownEvent, SessionId};
use handover_store::{EventKey, NewEvent};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::context::HookContext;
use super::no_ticket::{self, NoTicket};
use crate::app::App;
use crate::brought::waiting_in;
use crate::env;
use crate::error::CommandError;

/// Records that a subagent is exempt that is about to be spawned.
pub(super) fn announced(
    context: &HookContext<'_>,
    spawn: &SubagentSpawn,
    rule: &str,
    reason: &str,
) -> Result<(), CommandError> {
    note(context, &spawn.kind, Some(spawn), None, rule, reason)
}

/// The same, and remembers it until the subagent starts: nothing else says then that it is exempt.
pub(super) fn expected(
    context: &HookContext<'_>,
    spawn: &SubagentSpawn,
    rule: &str,
    reason: &str,
) -> Result<(), CommandError> {
    announced(context, spawn, rule, reason)?;
    let key = match &context.call.tool_use {
        Some(call) => call.to_string(),
        None => context.app.new_receipt()?.to_string(),
    };
    let reason = context.app.redactor()?.clean(reason).to_string();
    no_ticket::expect(context, spawn, &key, NoTicket::Exempt { rule: rule.to_owned(), reason })
}

/// Records that a subagent is exempt that has started.
pub(super) fn started(
    context: &HookContext<'_>,
    kind: &str,
    agent: &AgentId,
    rule: &str,
    reason: &str,
) -> Result<(), CommandError> {
    note(context, kind, None, Some(agent), rule, reason)
}

/// Records that hooks are switched off when a subagent is spawned or starts; other events leave no trace then.
pub(super) fn switched_off(
    context: &HookContext<'_>,
    rule: &str,
    reason: &str,
) -> Result<(), CommandError> {
    match (&context.call.event, &context.call.agent) {
        (HookEvent::SubagentSpawn(spawn), _) => announced(context, spawn, rule, reason),
        (HookEvent::SubagentStarted, Some(agent)) => {
            started(context, &agent.kind, &agent.id, rule, reason)
        }
        _ => Ok(()),
    }
}

fn note(
    context: &HookContext<'_>,
    kind: &str,
    spawn: Option<&SubagentSpawn>,
    agent: Option<&AgentId>,
    rule: &str,
    reason: &str,
) -> Result<(), CommandError> {
    let call = context.call.tool_use.as_ref();
    let payload = json!({
        "host": context.call.host, "conversation": context.conversation(), "agent_type": kind,
        "agent": agent, "tool_use": call, "rule": rule, "reason": reason,
        "task": spawn.map(|spawn| text_hash(&spawn.prompt)),
    });
    let key = agent.map(ToString::to_string).or_else(|| call.map(ToString::to_string));
    let waiting = Waiting { payload, key: key.map(|key| format!("exempt-{key}")) };
    let logged = context.recording_session().and_then(|session| match session {
        Some(session) => waiting.log(context.app, &session),
        None => Ok(()),
    });
    match logged {
        Err(error) => waiting.keep(context.app).map_err(|_| error),
        Ok(()) => Ok(()),
    }
}

/// The folder below `.handover/` of events that could not be stored.
const FOLDER: &str = "hooks";

/// How the name of such an event ends.
const SUFFIX: &str = ".untouched";

/// The most that is read of one.
const MAX_BYTES: u64 = 16 * 1024;

/// How many wait at most.
const KEPT: usize = 1_000;

/// An event, until it is in the store.
#[derive(Serialize, Deserialize)]
struct Waiting {
    payload: Value,
    key: Option<String>,
}

impl Waiting {
    fn log(&self, app: &App, session: &SessionId) -> Result<(), CommandError> {
        let redactor = app.redactor()?;
        app.store()?.log_event(&NewEvent {
            session: session.clone(),
            group: None,
            kind: KnownEvent::Untouched.into(),
            payload: redactor.clean_json(self.payload.clone()),
            key: self.key.as_deref().map(|key| EventKey::new(key, redactor)),
            now: app.now(),
        })?;
        Ok(())
    }

    /// Keeps it in a file, because the store cannot be written.
    fn keep(&self, app: &App) -> Result<(), CommandError> {
        let payload = app.redactor()?.clean_json(self.payload.clone()).value().clone();
        let kept = serde_json::to_vec(&Self { payload, key: self.key.clone() }).unwrap_or_default();
        let folder = app.project()?.folder().inside(FOLDER);
        folder.replace(&format!("{}{SUFFIX}", env::unique()), &kept, Sync::No)?;
        folder.keep_newest(KEPT, |name| name.ends_with(SUFFIX));
        Ok(())
    }

    /// The session of its conversation, else the newest.
    fn session(&self, app: &App) -> Result<Option<SessionId>, CommandError> {
        let text = |field: &str| self.payload[field].as_str().unwrap_or_default();
        let store = app.store()?;
        if let (Ok(host), Ok(id)) =
            (Host::new(text("host")), HostSessionId::new(text("conversation")))
            && let Some(bound) = store.bound_session(host, &id)?
        {
            return Ok(Some(bound));
        }
        let sessions = store.sessions(None)?;
        Ok(sessions.into_iter().max_by_key(|session| session.created_at).map(|one| one.id))
    }
}

/// Stores the events that could not be stored when they happened.
pub(crate) fn import(app: &App) -> Result<(), CommandError> {
    let waits = |name: &str| name.ends_with(SUFFIX);
    let folder = waiting_in(app.project()?, FOLDER, waits)?;
    for entry in folder.entries()?.into_iter().filter(|entry| waits(&entry.name)) {
        let bytes = folder.read(&entry.name, MAX_BYTES)?.unwrap_or_default();
        if let Ok(waiting) = serde_json::from_slice::<Waiting>(&bytes) {
            let Some(session) = waiting.session(app)? else { return Ok(()) };
            waiting.log(app, &session)?;
        }
        folder.remove(&entry.name)?;
    }
    Ok(())
}
