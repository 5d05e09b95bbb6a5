//! What a request works with: the store, the configuration, the session, the time.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use handover_context::by_hand::ByHand;
use handover_context::package_file::{ProjectPaths, vendor_secret};
use handover_files::Folder;
use handover_handoff::{Handoffs, Override, TechnologySource};
use handover_knowledge::places::IndexSource;
use handover_model::config::Config;
use handover_model::{
    Coverage, GroupId, OperationId, ProjectId, ReceiptId, SessionId, Timestamp, Trust,
};
use handover_store::Store;
use handover_text::Redactor;

use crate::error::{RequestError, ToolError};

/// Opens a [`RequestContext`] for every request. Servers keep no state between requests, so a store
/// that was repaired or a configuration that was edited takes effect with the next one.
pub trait ContextProvider: Send + Sync + 'static {
    /// Calls `work` exactly once, or returns why no context could be opened.
    fn with_context(
        &self,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError>;

    /// The same for a prompt: its agent must not wait for others to finish with the store.
    fn with_prompt_context(
        &self,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        self.with_context(work)
    }
}

/// What is done with the context of a request.
type Work<'w> = dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError> + 'w;

impl dyn ContextProvider {
    /// [`ContextProvider::with_context`], or for a prompt [`ContextProvider::with_prompt_context`], for work that
    /// returns a value.
    pub fn run<T>(
        &self,
        is_prompt: bool,
        work: impl FnOnce(&RequestContext<'_>) -> Result<T, ToolError>,
    ) -> Result<T, RequestError> {
        let (mut work, mut value) = (Some(work), None);
        let once: &mut Work<'_> = &mut |context| {
            if let Some(work) = work.take() {
                value = Some(work(context)?);
            }
            Ok(())
        };
        match is_prompt {
            true => self.with_prompt_context(once)?,
            false => self.with_context(once)?,
        }
        value.ok_or_else(|| RequestError::internal("the request was not executed"))
    }
}

/// What only the machine with the checkout knows: what became of the subagents that agent programs started, and
/// what is in the repository.
pub trait CoverageSource {
    /// How many of the last days were briefed, exempt, refused and missed; none if that is not known here.
    fn coverage(&self) -> Option<BTreeMap<Coverage, u64>> {
        None
    }

    /// The changes from one tree or commit of the checkout's repository to another, as a patch of at most `most`
    /// bytes; none if the repository is elsewhere or has not both.
    fn patch(&self, _from: &str, _to: &str, _most: usize) -> Option<String> {
        None
    }
}

/// Everything that the handler of one request may use.
pub struct RequestContext<'a> {
    /// The store, restricted to what the caller may see.
    pub store: &'a dyn Store,
    /// Removes secrets on the way in and out.
    pub redactor: &'a Redactor,
    /// The project's configuration.
    pub config: &'a Config,
    /// The directories that package files may be in.
    pub paths: &'a ProjectPaths,
    /// The checkout that relative paths are resolved against: the project's, or the client's worktree.
    pub checkout: PathBuf,
    /// Detects the project's technology when it is first needed.
    pub technology: &'a dyn TechnologySource,
    /// Opens the index of the checkout's files.
    pub files: &'a dyn IndexSource,
    /// Counts the subagents of agent programs.
    pub coverage: &'a dyn CoverageSource,
    /// Where the receipt of a prompt waits if the store cannot take it; without one, there is no prompt then.
    pub spool: Option<Folder>,
    /// Guard settings that a flag or a variable has overridden.
    pub overrides: Vec<Override>,
    /// The project that errors and strategies are learned for.
    pub project: ProjectId,
    /// The default session, or why there is none.
    pub session: Result<SessionId, RequestError>,
    /// Whether the server was started for that session, which makes it the only one.
    pub bound: bool,
    /// The default group.
    pub group: Option<GroupId>,
    /// Whether the caller has write access.
    pub may_write: bool,
    /// The name of this machine among those that work on one run.
    pub machine: String,
    /// The id for a new receipt, should this request create one.
    pub receipt: ReceiptId,
    /// The time of the request.
    pub now: Timestamp,
}

impl RequestContext<'_> {
    /// A change by hand of one of the project's records. Nothing proves that a person asked for it.
    pub fn by_hand(&self) -> Result<ByHand<'_>, ToolError> {
        let unique = self.receipt.as_str().trim_start_matches("r_");
        Ok(ByHand {
            store: self.store,
            redactor: self.redactor,
            project: &self.project,
            id: OperationId::new(format!("op_{unique}"))?,
            trust: Trust::Agent,
            author: None,
            now: self.now,
        })
    }

    /// The handoffs of the project.
    pub fn handoffs(&self) -> Handoffs<'_> {
        Handoffs {
            store: Ok(self.store),
            redactor: self.redactor,
            config: self.config,
            paths: self.paths,
            technology: self.technology,
            spool: self.spool.as_ref(),
            overrides: &self.overrides,
        }
    }

    /// Resolves the session of a request; it exists.
    pub fn session(&self, requested: Option<&SessionId>) -> Result<SessionId, ToolError> {
        let session = match (requested, &self.session) {
            (Some(requested), Ok(own)) if self.bound && requested != own => {
                return Err(ToolError::invalid(
                    format!("this server is for session `{own}`, not for `{requested}`"),
                    "Omit `session`.",
                ));
            }
            (Some(requested), _) => requested.clone(),
            (None, Ok(own)) => own.clone(),
            (None, Err(error)) => return Err(error.clone().into()),
        };
        Ok(self.store.session(&session)?.id)
    }

    /// Resolves the group of a request.
    pub fn group(&self, requested: Option<&GroupId>) -> Result<Option<GroupId>, ToolError> {
        let group = requested.map(|group| self.no_secret("group", group.clone())).transpose()?;
        Ok(group.or_else(|| self.group.clone()))
    }

    /// Rejects an id that has the format of a vendor's secret: ids are stored and shown unredacted.
    pub fn no_secret<T: fmt::Display>(&self, what: &str, id: T) -> Result<T, ToolError> {
        match vendor_secret(self.redactor, &id.to_string()) {
            Some(rule) => Err(ToolError::invalid(
                format!("the {what} looks like a secret ({rule})"),
                "Ids are stored and shown as they are; choose another one.",
            )),
            None => Ok(id),
        }
    }

    /// Redacts stored text before it leaves the server.
    pub fn redact(&self, text: &str) -> String {
        self.redactor.clean(text).as_str().to_owned()
    }
}
