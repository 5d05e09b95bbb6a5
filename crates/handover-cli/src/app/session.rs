//! Which session and group a command is about: a flag, else a variable, else the only active session.

use handover_model::{GroupId, ProjectId, RecordState, Session, SessionId, SessionStatus};
use handover_store::PackageFilter;

use super::{App, DEFAULT_SESSION};
use crate::env;
use crate::error::{Code, CommandError, Exit};

impl App {
    /// The session to use: the flag, else the environment variable, else the only active session.
    pub(crate) fn session(&self) -> Result<SessionId, CommandError> {
        match self.session_if_any()? {
            Some(session) => Ok(session),
            None => Err(CommandError::new(Exit::Usage, "no_session", "no active session")
                .hinted("Open one with `handover session new`, or pass `--session ID`.")),
        }
    }

    /// The session given by flag or environment variable.
    pub(crate) fn named_session(&self) -> Result<Option<SessionId>, CommandError> {
        if let Some(session) = &self.common.session {
            return Ok(Some(self.resolve_session(session)?));
        }
        self.session_of_environment()
    }

    fn session_of_environment(&self) -> Result<Option<SessionId>, CommandError> {
        env::var(env::SESSION)
            .map(|text| {
                SessionId::new(text).map_err(|error| {
                    CommandError::invalid(error)
                        .hinted(format!("The value comes from {}.", env::SESSION))
                })
            })
            .transpose()
    }

    /// The session that a run records in: the named one, else the only active one that is not a run's own.
    /// The default session counts if there is no other and it holds packages. None means a session of the
    /// epic's own.
    pub(crate) fn session_of_run(&self) -> Result<Option<SessionId>, CommandError> {
        // A run may open the session that is named.
        let named = self
            .common
            .session
            .clone()
            .map_or_else(|| self.session_of_environment(), |id| Ok(Some(id)));
        if let Some(session) = named? {
            return Ok(Some(session));
        }
        let mut active = self.store()?.sessions(Some(SessionStatus::Active))?;
        let is_own = |session: &Session| {
            ["epic", "chain"].iter().any(|key| session.metadata.get(key).is_some())
        };
        active.retain(|session| !is_own(session));
        if active.len() > 1 || !self.any_holds_packages(&active)? {
            active.retain(|session| !is_default(session));
        }
        if active.len() > 1 {
            self.ui.note(format_args!(
                "There are {} active sessions; the run has its own. `--session ID` picks one.",
                active.len()
            ));
            return Ok(None);
        }
        let only = active.pop().map(|session| session.id);
        if let Some(session) = &only {
            self.ui.note(format_args!("Using session {session}."));
        }
        Ok(only)
    }

    /// Whether one of these sessions holds a package for agents.
    fn any_holds_packages(&self, sessions: &[Session]) -> Result<bool, CommandError> {
        let one = PackageFilter {
            state: Some(RecordState::Live),
            limit: Some(1),
            ..PackageFilter::default()
        };
        for session in sessions {
            if !self.store()?.packages(&session.id, &one)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Like [`App::session`], for commands that also work without a session.
    pub(crate) fn session_if_any(&self) -> Result<Option<SessionId>, CommandError> {
        if let Some(session) = self.named_session()? {
            return Ok(Some(session));
        }
        let mut active = self.store()?.sessions(Some(SessionStatus::Active))?;
        if active.len() > 1 {
            active.retain(|session| !is_default(session));
        }
        match active.len() {
            0 | 1 => Ok(active.pop().map(|session| session.id)),
            count => {
                let ids: Vec<String> = active.iter().take(5).map(|s| s.id.to_string()).collect();
                Err(CommandError::new(
                    Exit::Usage,
                    Code::AmbiguousSession,
                    format!("there are {count} active sessions: {}", ids.join(", ")),
                )
                .hinted(format!("Pass `--session ID` or set {}.", env::SESSION)))
            }
        }
    }

    /// The session, if it is unambiguous, and the project that errors and strategies belong to.
    pub(crate) fn learning(&self) -> Result<(Option<SessionId>, ProjectId), CommandError> {
        let session = match self.session_if_any() {
            Err(error) if error.code == Code::AmbiguousSession => None,
            other => other?,
        };
        let project = match &session {
            Some(session) => self.store()?.session(session)?.project,
            None => self.project_id()?,
        };
        Ok((session, project))
    }

    /// The group to use: the flag, else the environment variable.
    pub(crate) fn group(&self) -> Result<Option<GroupId>, CommandError> {
        match &self.common.group {
            Some(group) => Ok(Some(self.no_secret("group id", GroupId::new(group.clone())?)?)),
            None => self.default_group(),
        }
    }

    /// The group given by environment variable.
    pub(crate) fn default_group(&self) -> Result<Option<GroupId>, CommandError> {
        env::var(env::GROUP)
            .map(|text| {
                let group = GroupId::new(text).map_err(|error| {
                    CommandError::invalid(error)
                        .hinted(format!("The value comes from {}.", env::GROUP))
                })?;
                self.no_secret("group id", group)
            })
            .transpose()
    }
}

fn is_default(session: &Session) -> bool {
    session.id.as_str() == DEFAULT_SESSION && session.metadata["default"] == true
}
