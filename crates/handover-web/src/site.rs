//! What pages are rendered from.

use std::collections::BTreeMap;

use handover_context::assemble::{Explained, Freshness};
use handover_context::package_file::ProjectPaths;
use handover_context::why::Agent;
use handover_model::config::Config;
use handover_model::{Coverage, OperationId, ProjectId, Timestamp};
use handover_store::Store;
use handover_text::Redactor;

/// The data behind one request, already restricted to what the caller may see.
pub struct Site<'a> {
    /// The store, restricted to the caller's rights.
    pub store: &'a dyn Store,
    /// Stored text is redacted again before it is shown.
    pub redactor: &'a Redactor,
    /// The project's configuration.
    pub config: &'a Config,
    /// The directories that package files may be in.
    pub paths: &'a ProjectPaths,
    /// Tells what became of what texts are about.
    pub fresh: &'a dyn Freshness,
    /// Counts the subagents that agent programs started in the last days, if that is known.
    pub coverage: &'a dyn Fn() -> Option<BTreeMap<Coverage, u64>>,
    /// Everything that an agent could be given now for a task, explained.
    pub candidates: &'a dyn Fn(&Agent, Option<&str>) -> Vec<Explained>,
    /// The changes from one tree of the repository to another, of at most so many bytes; none if git has not both.
    pub patch: &'a dyn Fn(&str, &str, usize) -> Option<String>,
    /// The project that is shown.
    pub project: &'a ProjectId,
    /// Who the caller is, as the log of changes says it.
    pub author: &'a str,
    /// The id under which a change of this request is logged.
    pub operation: OperationId,
    /// What a form must send back: no other site knows it.
    pub form_token: &'a str,
    /// Whether the caller has write access; forms are hidden without it.
    pub may_write: bool,
    /// The name of this machine among those that work on one run.
    pub machine: &'a str,
    /// The time of the request.
    pub now: Timestamp,
}
