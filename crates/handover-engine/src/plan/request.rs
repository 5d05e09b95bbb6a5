//! What a user asks for: an epic, its pipeline, and how the run should work.

use handover_model::{EpicId, Host, SessionId};

use crate::EngineError;
use crate::pipeline::Pipeline;
use crate::reducer::Options;

/// A request to run an epic.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The epic.
    pub epic: EpicId,
    /// The session for its records; by default the epic's own.
    pub session: Option<SessionId>,
    /// Whether to resume an unfinished run.
    pub resume: bool,
    /// Whether to end the unfinished run instead; its work is kept.
    pub abandon: bool,
    /// The first story to work on.
    pub start_from: Option<String>,
    /// Whether to run stories that are drafts or done, too.
    pub all: bool,
    /// The steps of each story and of the epic.
    pub pipeline: Pipeline,
    /// Whether to close the epic even if none of its stories is worked on.
    pub close: bool,
    /// Whether the gates run on the base before the first agent.
    pub check_base: bool,
    /// Whether to close the epic without working on its stories.
    pub only_closing: bool,
    /// The commit to start from; by default the user's.
    pub from: Option<String>,
    /// The configured options.
    pub defaults: Options,
    /// Options that the user set for this call.
    pub overrides: Overrides,
}

/// Options that a user set explicitly; all others keep their configured or, on resume, recorded value.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The agent program's kind, and for `command` the program.
    pub host: Option<(Host, Option<String>)>,
    /// The model.
    pub model: Option<String>,
    /// Whether no branch is moved.
    pub no_commit: bool,
    /// Whether the user's branch is fast-forwarded when the run ends.
    pub merge: bool,
    /// How many stories are open at once.
    pub parallel: Option<u32>,
    /// The budget of the whole run in US dollars.
    pub max_cost: Option<f64>,
    /// How long a phase may take, in seconds.
    pub phase_timeout: Option<u64>,
    /// How long an agent may be silent, in seconds.
    pub idle_timeout: Option<u64>,
    /// How often a story is fixed before it fails.
    pub max_fixes: Option<u32>,
    /// Whether failing scenarios fail the run.
    pub uat_blocking: bool,
}

impl RunRequest {
    /// The options of a new run.
    pub(crate) fn options(&self) -> Options {
        self.over(self.defaults.clone())
    }

    /// The options of a resumed run: those of the journal, with the current budget and the user's
    /// overrides.
    pub(crate) fn resumed(&self, before: &Options) -> Result<Options, EngineError> {
        let mut options = before.clone();
        let usd = self.defaults.budget.run.usd.or(before.budget.run.usd);
        options.budget.clone_from(&self.defaults.budget);
        options.budget.run.usd = usd;
        let options = self.over(options);
        if options.command.as_ref().is_some_and(|command| command.contains("[REDACTED")) {
            return Err(EngineError::RedactedCommand);
        }
        Ok(options)
    }

    fn over(&self, mut options: Options) -> Options {
        let Overrides {
            host,
            model,
            no_commit,
            merge,
            parallel,
            max_cost,
            phase_timeout,
            idle_timeout,
            max_fixes,
            uat_blocking,
        } = &self.overrides;
        if let Some((host, command)) = host {
            options.host = *host;
            options.command.clone_from(command);
        }
        if model.is_some() {
            options.model.clone_from(model);
        }
        options.no_commit |= no_commit;
        options.merge |= merge;
        options.parallel = parallel.unwrap_or(options.parallel);
        options.budget.run.usd = max_cost.or(options.budget.run.usd);
        options.phase_timeout = phase_timeout.unwrap_or(options.phase_timeout);
        options.idle_timeout = idle_timeout.unwrap_or(options.idle_timeout);
        options.max_fixes = max_fixes.unwrap_or(options.max_fixes);
        options.uat_blocking |= uat_blocking;
        options
    }
}
