//! Where an event happens: its session, the version of its host, and what is kept about it.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use handover_hosts::{Call, transcript};
use handover_model::{
    GroupId, Host, HostSessionId, KnownEvent, ReceiptId, SessionId, SessionStatus,
};
use handover_store::{NewEvent, NewSession, StoreError};
use handover_text::CleanJson;
use serde_json::Value;

use crate::app::App;
use crate::commands::session::generated_id;
use crate::env;
use crate::error::CommandError;

/// An event and where it happens.
pub(super) struct Scene<'a> {
    pub(super) app: &'a App,
    pub(super) call: &'a Call,
}

/// Whether a session may be made if there is none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Open,
    Leave,
}

impl Scene<'_> {
    pub(super) fn conversation(&self) -> Option<&HostSessionId> {
        self.call.conversation.as_ref()
    }

    /// The session of this conversation: the one that was named, else the one that it is bound to,
    /// else the only active one, else a new one. None if there is none, or if hooks are off in it.
    pub(super) fn session(&self, missing: Missing) -> Result<Option<SessionId>, CommandError> {
        let found = self.found_session(missing)?;
        let off = &self.app.config()?.hooks.sessions_disabled;
        Ok(found.filter(|session| !off.contains(session)))
    }

    fn found_session(&self, missing: Missing) -> Result<Option<SessionId>, CommandError> {
        let (store, bound) = (self.app.store()?, self.bound()?);
        let session = match (self.app.named_session()?, &bound) {
            (Some(named), _) => match store.session(&named) {
                Ok(_) => Some(named),
                Err(StoreError::NotFound { .. }) if missing == Missing::Open => {
                    Some(self.opened(named)?)
                }
                Err(StoreError::NotFound { .. }) => None,
                Err(error) => return Err(error.into()),
            },
            (None, Some(bound)) if self.is_active(bound)? => Some(bound.clone()),
            (None, _) => {
                let mut active = store.sessions(Some(SessionStatus::Active))?;
                match (active.len(), missing) {
                    (1, _) => active.pop().map(|session| session.id),
                    (_, Missing::Open) => Some(self.opened(generated_id(self.app)?)?),
                    (_, Missing::Leave) => None,
                }
            }
        };
        if let (Some(session), Some(conversation)) = (&session, self.conversation())
            && bound.as_ref() != Some(session)
        {
            store.bind_host(self.call.host, conversation, session, self.app.now())?;
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

    /// The session that this conversation is bound to.
    pub(super) fn bound(&self) -> Result<Option<SessionId>, CommandError> {
        match self.conversation() {
            Some(conversation) => {
                Ok(self.app.store()?.bound_session(self.call.host, conversation)?)
            }
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

    /// The version of the host, where it can be found out.
    pub(super) fn version(&self) -> Option<String> {
        if self.call.host == Host::Claude
            && let Some(version) = env::var(env::AI_AGENT).and_then(|agent| claude_version(&agent))
        {
            return Some(version);
        }
        let path = self.call.transcript.as_deref()?;
        let part = match self.call.host {
            // Written down in the first line, and anew in every one.
            Host::Codex => beginning(path, VERSION_BYTES).ok()?,
            Host::Claude | Host::Gemini | Host::Command => end(path, VERSION_BYTES).ok()?,
        };
        transcript::version(self.call.host, &part)
    }

    /// Whether this version of the host is known to lose rewritten prompts.
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

    /// Notes what this version did with a rewritten prompt, if that is news.
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

    /// Marks a brief delivered to this host.
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
        self.app.store()?.log_event(&NewEvent {
            session: session.clone(),
            group: group.cloned(),
            kind: kind.into(),
            payload: self.app.redactor()?.clean_json(payload),
            key: None,
            now: self.app.now(),
        })?;
        Ok(())
    }
}

/// How much of a transcript is searched for the version of its program.
const VERSION_BYTES: usize = 256 * 1024;

/// `claude-code_2-1-197_harness` is 2.1.197.
fn claude_version(agent: &str) -> Option<String> {
    let version = agent.strip_prefix("claude-code_")?.split('_').next()?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    is_version.then(|| version.replace('-', "."))
}

/// The beginning of a file.
pub(super) fn beginning(path: &Path, bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut part = Vec::new();
    open(path)?.take(bytes as u64).read_to_end(&mut part)?;
    Ok(part)
}

/// The end of a file.
pub(super) fn end(path: &Path, bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes as u64)))?;
    let mut part = Vec::new();
    file.take(bytes as u64).read_to_end(&mut part)?;
    Ok(part)
}

/// Opens a file that a host named. Opening a pipe would wait for its other end.
fn open(path: &Path) -> std::io::Result<fs_err::File> {
    if !fs_err::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    fs_err::File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_claude_says_of_itself() {
        let version = |agent| claude_version(agent).unwrap_or_default();
        assert_eq!(version("claude-code_2-1-197_harness"), "2.1.197");
        assert_eq!(version("claude-code_2-2-0"), "2.2.0");
        assert_eq!((version("codex_1"), version("claude-code_"), version("")), Default::default());
    }
}
