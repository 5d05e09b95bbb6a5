//! Where a request is worked on: the store, the rules, the session, the moment.

use std::fmt;
use std::path::PathBuf;

use handover_context::package_file::{PackageFileError, ProjectPaths, vendor_secret};
use handover_handoff::{HandoffError, Handoffs, Override, TechnologySource};
use handover_model::config::Config;
use handover_model::{GroupId, InvalidId, ProjectId, ReceiptId, SessionId, Timestamp};
use handover_store::{Store, StoreError};
use handover_text::Redactor;

/// Gives every request a place to be worked on. Nothing is kept between two requests, so what was
/// broken during one may be mended for the next.
pub trait Desk: Send + Sync + 'static {
    /// Does the work, exactly once, with everything at hand; or says why it could not be done.
    fn sit(&self, work: &mut dyn FnMut(&Seat<'_>) -> Result<(), ToolError>) -> Result<(), Refusal>;
}

impl dyn Desk {
    /// [`Desk::sit`] with a value.
    pub fn work<T>(
        &self,
        work: impl FnOnce(&Seat<'_>) -> Result<T, ToolError>,
    ) -> Result<T, Refusal> {
        let (mut work, mut value) = (Some(work), None);
        self.sit(&mut |seat| {
            if let Some(work) = work.take() {
                value = Some(work(seat)?);
            }
            Ok(())
        })?;
        value.ok_or_else(|| Refusal::broken("nothing was done"))
    }
}

/// What a request has at hand.
pub struct Seat<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// How secrets are found.
    pub redactor: &'a Redactor,
    /// The rules of the project.
    pub config: &'a Config,
    /// Where package files may be.
    pub places: &'a ProjectPaths,
    /// The checkout that paths are relative to: the project's, or the worktree of the client.
    pub checkout: PathBuf,
    /// Detects the project's technology when it is first needed.
    pub technology: &'a dyn TechnologySource,
    /// Guard settings that a flag or a variable has overridden.
    pub overrides: Vec<Override>,
    /// The project that learns.
    pub project: ProjectId,
    /// The session that is meant if a request names none.
    pub session: Result<SessionId, Refusal>,
    /// Whether that session was named when the server was started: then there is no other.
    pub bound: bool,
    /// The group that is meant if a request names none.
    pub group: Option<GroupId>,
    /// Whether whoever asks may add anything.
    pub may_write: bool,
    /// The name of this machine among those that work on one run.
    pub machine: String,
    /// The id of a receipt, if one is made.
    pub receipt: ReceiptId,
    /// Now.
    pub now: Timestamp,
}

impl Seat<'_> {
    /// The handoffs of the project.
    pub fn handoffs(&self) -> Handoffs<'_> {
        Handoffs {
            store: Ok(self.store),
            redactor: self.redactor,
            config: self.config,
            paths: self.places,
            technology: self.technology,
            spool: None,
            overrides: &self.overrides,
        }
    }

    /// The session that a request is about. It exists.
    pub fn session(&self, asked: Option<&SessionId>) -> Result<SessionId, ToolError> {
        let session = match (asked, &self.session) {
            (Some(asked), Ok(own)) if self.bound && asked != own => {
                return Err(ToolError::invalid(
                    format!("this server is for session `{own}`, not for `{asked}`"),
                    "Leave `session` out.",
                ));
            }
            (Some(asked), _) => asked.clone(),
            (None, Ok(own)) => own.clone(),
            (None, Err(refusal)) => return Err(refusal.clone().into()),
        };
        Ok(self.store.session(&session)?.id)
    }

    /// The group that a request is about.
    pub fn group(&self, asked: Option<&GroupId>) -> Result<Option<GroupId>, ToolError> {
        let group = asked.map(|group| self.no_secret("group", group.clone())).transpose()?;
        Ok(group.or_else(|| self.group.clone()))
    }

    /// An id that is not a secret of a known form: ids are stored and shown as they are.
    pub fn no_secret<T: fmt::Display>(&self, what: &str, id: T) -> Result<T, ToolError> {
        match vendor_secret(self.redactor, &id.to_string()) {
            Some(rule) => Err(ToolError::invalid(
                format!("the {what} looks like a secret ({rule})"),
                "Ids are stored and shown as they are; choose another one.",
            )),
            None => Ok(id),
        }
    }

    /// A stored text on its way out.
    pub fn out(&self, text: &str) -> String {
        self.redactor.clean(text).as_str().to_owned()
    }
}

/// Why a request could not be worked on, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Stable, for programs: the same as on the command line.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Refusal {
    /// A defect of ours.
    pub fn broken(message: &str) -> Self {
        let hint = Some("Try again; if it stays, please report it.".to_owned());
        Self { code: "internal", message: message.to_owned(), hint }
    }

    /// What an agent reads.
    pub(crate) fn text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("Error: {}. {hint}", self.message),
            None => format!("Error: {}.", self.message),
        }
    }
}

/// What can go wrong in a tool.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A handoff was refused or failed.
    #[error(transparent)]
    Handoff(HandoffError),
    /// A file cannot be a package.
    #[error(transparent)]
    PackageFile(#[from] PackageFileError),
    /// An id that is none.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// Arguments that make no sense, or a refusal that is ready to be told.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl From<HandoffError> for ToolError {
    fn from(error: HandoffError) -> Self {
        if let HandoffError::Store(error) = error {
            return Self::Store(error);
        }
        Self::Handoff(error)
    }
}

impl ToolError {
    /// Arguments that make no sense.
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused(Refusal {
            code: "invalid_input",
            message: message.into(),
            hint: Some(hint.into()),
        })
    }
}
