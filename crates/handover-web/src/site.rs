//! What pages are rendered from.

use std::collections::BTreeMap;

use handover_context::assemble::Freshness;
use handover_context::package_file::ProjectPaths;
use handover_model::config::Config;
use handover_model::{Coverage, ProjectId, Timestamp};
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
    /// The project that is shown.
    pub project: &'a ProjectId,
    /// Whether the caller has write access; forms are hidden without it.
    pub may_write: bool,
    /// The name of this machine among those that work on one run.
    pub machine: &'a str,
    /// The time of the request.
    pub now: Timestamp,
}
