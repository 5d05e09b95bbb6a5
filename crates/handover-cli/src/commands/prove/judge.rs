//! The judge of a task: a command that runs in the clone after the agent has ended, with its own files restored.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{
    AgentError, CancelToken, Ended, Environment, Invocation, Outcome as ToolOutcome, SpawnId,
    run_tool,
};
use handover_engine::EngineError;
use handover_engine::gates::{OwnCode, Variables};
use handover_engine::git::Repo;
use handover_model::Host;
use handover_prove::Entry;

use super::Lab;
use super::record::work_folder;
use super::tasks::PreparedTask;
use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit};

/// A clone in which programs run.
pub(super) struct TrialClone<'a> {
    pub(super) app: &'a App,
    pub(super) repo: &'a Repo,
    pub(super) path: PathBuf,
    /// Variables that make tools use the code of the clone.
    variables: Variables,
    pub(super) cancel: &'a CancelToken,
}

/// How a command ended, for people.
pub(super) fn in_words(outcome: &ToolOutcome) -> String {
    match outcome.ended {
        Ended::Exited(code) => format!("exit {code}"),
        Ended::Signalled(signal) => format!("signal {signal}"),
        Ended::WallTimeout => "timeout".to_owned(),
        Ended::IdleTimeout => "silent for too long".to_owned(),
        Ended::OutputFlood => "too much output".to_owned(),
        Ended::OverLimit(_) => "over its limit".to_owned(),
        Ended::Cancelled => "interrupted".to_owned(),
    }
}

/// The environment of agents and judges: nothing of this project's Handover, so that hooks of the user's own
/// configuration brief no agent that must not be briefed.
pub(super) fn environment(app: &App, host: Host) -> Result<Environment, CommandError> {
    let mut all: Vec<(OsString, OsString)> = env::all();
    all.retain(|(name, _)| {
        let name = name.to_string_lossy();
        !name.starts_with("HANDOVER_") || name == SpawnId::VARIABLE
    });
    let mut environment = Environment::scrubbed(all, host, &app.config()?.agents.environment);
    environment.set(env::OFF, "1");
    Ok(environment)
}

impl<'a> TrialClone<'a> {
    /// Makes a clone of a task's start and prepares it.
    pub(super) fn make(
        lab: &Lab<'a>,
        task: &PreparedTask,
        path: PathBuf,
    ) -> Result<Self, CommandError> {
        let _ = fs_err::remove_dir_all(&path);
        lab.repo.isolated_clone(&task.start, &path).map_err(EngineError::from)?;
        let mut clone = Self::at(lab.app, lab.repo, path, lab.cancel);
        clone.redirect()?;
        clone.set_up(task)?;
        Ok(clone)
    }

    /// A clone that is there.
    pub(super) fn at(app: &'a App, repo: &'a Repo, path: PathBuf, cancel: &'a CancelToken) -> Self {
        Self { app, repo, path, variables: Vec::new(), cancel }
    }

    /// Makes the tools of each ecosystem use the code of the clone: an editable install leads to the user's checkout.
    pub(super) fn redirect(&mut self) -> Result<(), CommandError> {
        let environment = environment(self.app, Host::COMMAND)?;
        let (repo, path) = (self.repo, &self.path);
        let own = OwnCode {
            checkout: &self.app.project()?.root,
            folder: &path.join(&repo.prefix),
            root: path,
            environment: &environment,
            gates: &[],
            is_ignored: &|inside| repo.ignores_in(path, &repo.prefix.join(inside)),
            spawn: spawn_id()?,
            cancel: self.cancel,
        };
        let redirected = own.redirect(&mut |_| {}).map_err(EngineError::from)?;
        self.variables = redirected.in_folder(Path::new(""));
        Ok(())
    }

    /// Makes cargo keep what it compiles in a folder that clones share.
    pub(super) fn share_builds(&mut self, folder: &Path) {
        self.variables.push(("CARGO_TARGET_DIR".to_owned(), folder.into()));
    }

    pub(super) fn variables(&self) -> &Variables {
        &self.variables
    }

    fn set_up(&self, task: &PreparedTask) -> Result<(), CommandError> {
        if task.task.setup.is_empty() {
            return Ok(());
        }
        let outcome = self.command(&task.task.setup, task.task.judge_timeout)?;
        if outcome.ended == Ended::Exited(0) || outcome.ended == Ended::Cancelled {
            return Ok(());
        }
        let said = tail(&outcome);
        let message =
            format!("the setup of task `{}` failed ({}): {said}", task.task.id, in_words(&outcome));
        Err(CommandError::new(
            Exit::Environment,
            "setup",
            self.app.redactor()?.clean(&message).as_str(),
        )
        .hinted("Run its `setup` in a fresh clone of the start to see why."))
    }

    /// Restores the judge's files and asks it.
    pub(super) fn judge(&self, task: &PreparedTask) -> Result<ToolOutcome, CommandError> {
        for (path, commit) in &task.judge_files {
            self.repo.restore_into(&self.path, commit, path).map_err(EngineError::from)?;
        }
        self.command(&task.task.judge, task.task.judge_timeout)
    }

    /// Runs a command in the clone, supervised like an agent.
    pub(super) fn command(
        &self,
        words: &[String],
        seconds: Option<u64>,
    ) -> Result<ToolOutcome, CommandError> {
        let Some((program, args)) = words.split_first() else {
            return Err(CommandError::invalid("a command needs a program"));
        };
        let mut invocation = Invocation::new(Host::COMMAND, spawn_id()?, &self.path);
        // A path is meant inside the clone; a name is looked up.
        invocation.program = match program.contains('/') {
            true => self.path.join(program),
            false => program.into(),
        };
        invocation.args = args.iter().map(Into::into).collect();
        invocation.environment = environment(self.app, Host::COMMAND)?;
        for (name, value) in &self.variables {
            invocation.environment.set(name, value);
        }
        let seconds = seconds.unwrap_or(self.app.config()?.gates.timeout);
        invocation.limits.wall = (seconds > 0).then(|| Duration::from_secs(seconds));
        run_tool(&invocation, &mut |_| {}, self.cancel).map_err(|error| {
            if matches!(error, AgentError::ProgramNotFound { .. }) {
                return CommandError::new(Exit::Environment, "program_not_found", format!("the program `{program}` was not found"))
                    .hinted("`judge` and `setup` are words of a command: a program on the PATH, or a path inside the repository.");
            }
            error.into()
        })
    }
}

fn spawn_id() -> Result<SpawnId, CommandError> {
    Ok(SpawnId::new(format!("judge-{}", env::unique()))?)
}

/// The end of what a command printed, on one line.
pub(super) fn tail(outcome: &ToolOutcome) -> String {
    let said = format!("{}\n{}", outcome.stdout.text(), outcome.stderr.text());
    let words: Vec<&str> = said.split_whitespace().collect();
    let last = words[words.len().saturating_sub(40)..].join(" ");
    last.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect()
}

/// Sees every judge that was not checked yet fail at the start, once: one that passes there says nothing about any agent.
/// Returns what belongs into the journal.
pub(super) fn check_all(lab: &Lab<'_>, checked: &[String]) -> Result<Vec<Entry>, CommandError> {
    let mut entries = Vec::new();
    for task in lab.tasks.iter().filter(|task| !checked.contains(&task.task.id)) {
        if lab.cancel.is_cancelled() {
            break;
        }
        lab.app.ui.note(format_args!("Checking the judge of task {}", task.task.id));
        let path = work_folder(&lab.plan.id)?.join("check");
        let clone = TrialClone::make(lab, task, path)?;
        let outcome = clone.judge(task)?;
        if outcome.ended == Ended::Cancelled {
            break;
        }
        if outcome.ended == Ended::Exited(0) {
            let message = format!(
                "the judge of task `{}` passes at the start, before any agent has worked",
                task.task.id
            );
            return Err(CommandError::new(Exit::Usage, "invalid_input", message).hinted(
                "Every agent would pass. Let it test what the task asks for: `judge_files` brings the test from the commit that has it.",
            ));
        }
        let _ = fs_err::remove_dir_all(&clone.path);
        entries.push(Entry::Checked { task: task.task.id.clone(), at: lab.app.now() });
    }
    Ok(entries)
}

/// Whether a path is a clone that a judge can still look at.
pub(super) fn is_there(path: &Path) -> bool {
    path.join(".git").is_dir()
}
