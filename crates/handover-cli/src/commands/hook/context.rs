//! The context of an event: its host, its session, and what is stored about it.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use handover_hosts::transcript::{self, FilePart, HEAD_BYTES, Scan, TAIL_BYTES, scan};
use handover_hosts::{HookCall, HookHost};
use handover_model::{
    GroupId, HostSessionId, KnownEvent, ReceiptId, Role, SessionId, SessionStatus,
};
use handover_store::{NewEvent, NewSession, StoreError};
use handover_text::CleanJson;
use serde_json::Value;

use crate::app::App;
use crate::commands::session::generated_id;
use crate::env;
use crate::error::CommandError;

/// An event with everything that is needed to react to it.
pub(super) struct HookContext<'a> {
    pub(super) app: &'a App,
    pub(super) host: &'static dyn HookHost,
    pub(super) call: &'a HookCall,
}

/// What to do if there is no session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IfMissing {
    Open,
    Skip,
}

impl HookContext<'_> {
    pub(super) fn conversation(&self) -> Option<&HostSessionId> {
        self.call.conversation.as_ref()
    }

    /// The role of a kind of subagent; none if it is not briefed.
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

    /// The version of the host: from its environment, else from its transcript.
    fn version(&self) -> Option<String> {
        self.host.version(&env::var).or_else(|| {
            let format = self.host.transcript()?;
            let part =
                read_part(self.call.transcript.as_deref()?, format.version_part(), VERSION_BYTES);
            transcript::version(format, &part.ok()?)
        })
    }

    /// What a transcript shows; nothing if the host has none, or not this one.
    pub(super) fn scan(&self, path: &Path) -> Scan {
        let Some(format) = self.host.transcript() else { return Scan::default() };
        let head = read_part(path, FilePart::Head, HEAD_BYTES).unwrap_or_default();
        let tail = read_part(path, FilePart::Tail, TAIL_BYTES).unwrap_or_default();
        scan(format, &head, &tail)
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

/// How much of a transcript is searched for the version of the host.
const VERSION_BYTES: usize = 256 * 1024;

/// Reads at most so many bytes of one end of a file.
fn read_part(path: &Path, part: FilePart, bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut file = open(path)?;
    if part == FilePart::Tail {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(bytes as u64)))?;
    }
    let mut read = Vec::new();
    file.take(bytes as u64).read_to_end(&mut read)?;
    Ok(read)
}

/// Opens a file that a host named. Opening a named pipe would block until somebody writes to it.
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
    fn reads_either_end_of_a_file_and_no_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript");
        fs_err::write(&path, "0123456789").unwrap();
        assert_eq!(read_part(&path, FilePart::Head, 3).unwrap(), b"012");
        assert_eq!(read_part(&path, FilePart::Tail, 3).unwrap(), b"789");
        assert_eq!(read_part(&path, FilePart::Tail, 99).unwrap(), b"0123456789");
        assert!(read_part(folder.path(), FilePart::Head, 3).is_err());
        assert!(read_part(&folder.path().join("missing"), FilePart::Head, 3).is_err());
    }
}
