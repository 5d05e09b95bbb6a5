//! The context of an event: its host, its session, and what is stored about it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use handover_hosts::transcript::{self, Origin, Scan};
use handover_hosts::{HookCall, HookHost, SubagentStop};
use handover_model::config::Briefing;
use handover_model::{
    AgentId, GroupId, HostSessionId, KnownEvent, ReceiptId, Role, SessionId, SessionStatus, Ticket,
};
use handover_store::{EventKey, NewEvent, NewSession, StoreError};
use handover_text::CleanJson;
use serde_json::Value;

use crate::app::App;
use crate::commands::session::generated_id;
use crate::env;
use crate::error::CommandError;
use crate::host_transcripts::{self, Child, read_part};

/// An event with everything that is needed to react to it.
pub(super) struct HookContext<'a> {
    pub(super) app: &'a App,
    pub(super) host: &'static dyn HookHost,
    pub(super) call: &'a HookCall,
    /// Receipts whose agents have ended, for the caller to report.
    pub(super) ended: RefCell<Vec<ReceiptId>>,
}

/// What to do if there is no session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IfMissing {
    Open,
    Skip,
}

/// The rule by which a subagent is exempt whose session there would be, were hooks not off in it; and the reason.
pub(super) const SESSION_DISABLED: (&str, &str) =
    ("hooks.sessions_disabled", "hooks are off in this session");

impl HookContext<'_> {
    pub(super) fn conversation(&self) -> Option<&HostSessionId> {
        self.call.conversation.as_ref()
    }

    /// How a kind of subagent is briefed.
    pub(super) fn briefing(&self, kind: &str) -> Result<Briefing, CommandError> {
        Ok(self.app.config()?.hooks.briefing(kind, self.host.general_kinds()))
    }

    /// The role of a kind of subagent; none if it is exempt.
    pub(super) fn role_of(&self, kind: &str) -> Result<Option<Role>, CommandError> {
        Ok(self.app.config()?.hooks.role_of(kind, self.host.general_kinds()))
    }

    /// The session of this conversation: the one that was named, else the one that it is bound to,
    /// else the only active one, else a new one. None if there is none, or if hooks are off in it.
    pub(super) fn session(&self, missing: IfMissing) -> Result<Option<SessionId>, CommandError> {
        let found = self.found_session(missing)?;
        let off = &self.app.config()?.hooks.sessions_disabled;
        Ok(found.filter(|session| !off.contains(session)))
    }

    /// The session that events of this conversation are recorded in, even if hooks are off in it: its own, else the
    /// newest. None if there is none.
    pub(super) fn recording_session(&self) -> Result<Option<SessionId>, CommandError> {
        if let Some(found) = self.found_session(IfMissing::Skip)? {
            return Ok(Some(found));
        }
        let sessions = self.app.store()?.sessions(None)?;
        Ok(sessions.into_iter().max_by_key(|session| session.created_at).map(|one| one.id))
    }

    fn found_session(&self, missing: IfMissing) -> Result<Option<SessionId>, CommandError> {
        let (store, bound) = (self.app.store()?, self.bound()?);
        let session = match (self.app.named_session()?, &bound) {
            (Some(named), _) => match store.session(&named) {
                Ok(_) => Some(named),
                Err(StoreError::NotFound { .. }) if missing == IfMissing::Open => {
                    Some(self.opened(named)?)
                }
                Err(StoreError::NotFound { .. }) => None,
                Err(error) => return Err(error.into()),
            },
            (None, Some(bound)) if self.is_active(bound)? || missing == IfMissing::Skip => {
                Some(bound.clone())
            }
            // Its session was closed: the conversation gets a new one, not somebody else's.
            (None, Some(_)) => Some(self.opened(generated_id(self.app)?)?),
            (None, None) => {
                let mut active = store.sessions(Some(SessionStatus::Active))?;
                match (active.len(), missing) {
                    (1, _) => active.pop().map(|session| session.id),
                    (_, IfMissing::Open) => Some(self.opened(generated_id(self.app)?)?),
                    (_, IfMissing::Skip) => None,
                }
            }
        };
        if let (Some(session), Some(conversation)) = (&session, self.conversation())
            && bound.as_ref() != Some(session)
        {
            match store.bind_host(self.call.host, conversation, session, self.app.now()) {
                // A later event binds it.
                Err(StoreError::Backend { fault, .. }) if fault.is_unwritable() => {}
                bound => bound?,
            }
        }
        Ok(session)
    }

    /// Whether a session still takes work: a conversation may outlive the session it is bound to.
    fn is_active(&self, session: &SessionId) -> Result<bool, CommandError> {
        match self.app.store()?.session(session) {
            Ok(session) => Ok(session.status == SessionStatus::Active),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The session that this conversation is bound to, or that of the agent whose own conversation it is.
    pub(super) fn bound(&self) -> Result<Option<SessionId>, CommandError> {
        let (store, host) = (self.app.store()?, self.call.host);
        let Some(conversation) = self.conversation() else { return Ok(None) };
        if let Some(session) = store.bound_session(host, conversation)? {
            return Ok(Some(session));
        }
        let Some(agent) = &self.call.agent else { return Ok(None) };
        match store.ticket_of(host, &agent.id)? {
            Some(ticket) => Ok(Some(store.receipt(&ticket.receipt)?.session)),
            None => Ok(None),
        }
    }

    fn opened(&self, id: SessionId) -> Result<SessionId, CommandError> {
        let new = NewSession {
            id,
            project: self.app.project_id()?,
            metadata: CleanJson::default(),
            now: self.app.now(),
        };
        let session = self.app.store()?.open_session(&new)?.record.id;
        self.app.places()?.make_context_folder(&session)?;
        Ok(session)
    }

    /// The version of the host: from its environment, else from its transcript.
    fn version(&self) -> Option<String> {
        self.host.version(&env::var).or_else(|| {
            let format = self.host.transcript()?;
            let part =
                read_part(self.call.transcript.as_deref()?, format.version_part(), VERSION_BYTES);
            transcript::version(format, &part.ok()?)
        })
    }

    /// The transcript of a subagent that stops: its own, or one that it shares with its conversation. Some hosts
    /// name the transcript of its lead instead.
    pub(super) fn transcript_of(&self, stop: &SubagentStop, agent: &AgentId) -> Option<PathBuf> {
        let format = self.host.transcript()?;
        let lead = self.call.transcript.as_deref();
        let named = stop.transcript.as_deref().filter(|named| Some(*named) != lead);
        let own =
            || lead.and_then(|lead| format.of_subagent(lead, agent)).filter(|own| own.is_file());
        let shared = || lead.filter(|_| format.is_shared()).map(Path::to_owned);
        named.map(Path::to_owned).or_else(own).or_else(shared)
    }

    /// The transcript of a subagent of this conversation, where its host keeps one that is there.
    pub(super) fn own_transcript(&self, agent: &AgentId) -> Option<PathBuf> {
        let format = self.host.transcript()?;
        let lead = self.call.transcript.as_deref()?;
        match format.is_shared() {
            true => Some(lead.to_owned()),
            false => format.of_subagent(lead, agent).filter(|own| own.is_file()),
        }
    }

    /// What a transcript shows of a subagent; nothing if the host has none, or not this one.
    pub(super) fn scan(&self, path: &Path, agent: Option<&AgentId>) -> Scan {
        host_transcripts::scan_of(self.host, path, agent)
    }

    /// How a subagent came to be, by what its host keeps beside its transcript.
    pub(super) fn origin(&self, transcript: &Path) -> Option<Origin> {
        host_transcripts::origin(self.host, transcript)
    }

    /// How a subagent came to be that starts, where the event names its transcript and that says so.
    pub(super) fn started_as(&self, agent: &AgentId) -> Option<Origin> {
        let path = self.call.transcript.as_deref()?;
        let first = host_transcripts::first(path)?;
        let lineage = self.host.transcript()?.lineage(path, &first)?;
        (lineage.agent == *agent).then_some(lineage.origin)
    }

    /// The kind of a subagent by what its host keeps of it, if that is there yet.
    pub(super) fn kind_of(&self, agent: &AgentId) -> Result<Option<String>, CommandError> {
        let of_subagent = |lead: &Path| self.host.transcript()?.of_subagent(lead, agent);
        let transcript = self.call.transcript.as_deref().and_then(of_subagent);
        let origin = transcript.and_then(|transcript| self.origin(&transcript));
        match origin.map(|origin| origin.kind).filter(|kind| !kind.is_empty()) {
            Some(kind) => Ok(Some(self.app.redactor()?.clean(&kind).to_string())),
            None => Ok(None),
        }
    }

    /// The ticket of a subagent that is at work. Which one it has was assumed when it started; by now its host
    /// may know.
    pub(super) fn ticket_of(&self, agent: &AgentId) -> Result<Option<Ticket>, CommandError> {
        let (store, host) = (self.app.store()?, self.call.host);
        let own = store.ticket_of(host, agent)?;
        let of_subagent = |lead: &Path| self.host.transcript()?.of_subagent(lead, agent);
        let transcript = self.call.transcript.as_deref().and_then(of_subagent);
        let origin = transcript.and_then(|transcript| self.origin(&transcript));
        let (Some(call), Some(conversation)) =
            (origin.and_then(|origin| origin.tool_use), self.conversation())
        else {
            return Ok(own);
        };
        if own.as_ref().is_some_and(|own| own.tool_use.as_ref() == Some(&call)) {
            return Ok(own);
        }
        match store.ticket_of_call(host, conversation, &call)? {
            Some(known) => {
                store.bind_ticket(&known.receipt, agent)?;
                Ok(Some(known))
            }
            None => Ok(own),
        }
    }

    /// The subagents of the conversation, by what its host keeps of them.
    pub(super) fn children(&self) -> Vec<Child> {
        let children = |lead| host_transcripts::children(self.host, lead);
        self.call.transcript.as_deref().map(children).unwrap_or_default()
    }

    /// Whether this version of the host is known to ignore rewritten prompts.
    pub(super) fn drops_rewrites(&self) -> Result<bool, CommandError> {
        let known = self.app.store()?.host_versions()?;
        if !known.iter().any(|known| known.host == self.call.host && known.drops_rewrites) {
            return Ok(false);
        }
        let Some(version) = self.version() else { return Ok(false) };
        Ok(known.iter().any(|known| {
            known.host == self.call.host && known.version == version && known.drops_rewrites
        }))
    }

    /// Records what this version did with a rewritten prompt, unless that is known.
    pub(super) fn note_version(&self, drops_rewrites: bool) -> Result<(), CommandError> {
        let Some(version) = self.version() else { return Ok(()) };
        let store = self.app.store()?;
        let news = !store.host_versions()?.iter().any(|known| {
            known.host == self.call.host
                && known.version == version
                && known.drops_rewrites == drops_rewrites
        });
        if news {
            let version = self.app.redactor()?.clean(&version);
            store.note_host_version(self.call.host, &version, drops_rewrites, self.app.now())?;
        }
        Ok(())
    }

    /// Notes that an agent has ended.
    pub(super) fn has_ended(&self, receipt: &ReceiptId) {
        self.ended.borrow_mut().push(receipt.clone());
    }

    /// Records that a brief was delivered.
    pub(super) fn deliver(&self, receipt: &ReceiptId) -> Result<(), CommandError> {
        Ok(self.app.handoffs()?.started(receipt, Some(self.call.host), self.app.now())?)
    }

    pub(super) fn log(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        kind: KnownEvent,
        payload: Value,
    ) -> Result<(), CommandError> {
        self.log_once(session, group, kind, payload, None)
    }

    /// Logs an event; a second one with the same key is ignored.
    pub(super) fn log_once(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        kind: KnownEvent,
        payload: Value,
        key: Option<&str>,
    ) -> Result<(), CommandError> {
        let redactor = self.app.redactor()?;
        self.app.store()?.log_event(&NewEvent {
            session: session.clone(),
            group: group.cloned(),
            kind: kind.into(),
            payload: redactor.clean_json(payload),
            key: key.map(|key| EventKey::new(key, redactor)),
            now: self.app.now(),
        })?;
        Ok(())
    }
}

/// How much of a transcript is searched for the version of the host.
const VERSION_BYTES: usize = 256 * 1024;
