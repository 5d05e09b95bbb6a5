//! Checks the base before the first agent is paid: its gates must be able to run, and to check a worktree
//! instead of the user's checkout. Tests that fail there are recorded, so that nobody is blamed for them.

use std::time::Instant;

use handover_agents::{Environment, SpawnId};

use super::gates::{Base, GateRun};
use super::workers::{Job, WorkerLink};
use super::{Runner, Started};
use crate::EngineError;
use crate::gates::{GateError, GateResult, OwnCode, Variables};
use crate::git::Worktree;
use crate::journal::Intent;
use crate::reducer::Event;

/// Stands for the folder of a worktree in recorded variables.
const WORKTREE: &str = "{worktree}";
/// How many failing tests are recorded by name, and how much of a broken gate's output is shown.
const FAILING: usize = 200;
const SHOWN: usize = 1_500;

/// The check of a base.
pub(super) struct BaseJob {
    run: GateRun,
    base: Base,
}

impl Runner<'_, '_> {
    pub(super) fn start_base(&mut self, intent: &Intent) -> Result<Started, EngineError> {
        let commit = self.state.plan.base.clone();
        let base = self.base(&format!("@base-{}", intent.seq), commit);
        let tree = self.repo.tree_of(&base.commit)?;
        if !base.worktree.ensure()? {
            base.worktree.restore(&tree)?;
        }
        let run = self.gate_run(intent, "@base", &base.worktree)?;
        Ok(Started::Job(Job::Base(Box::new(BaseJob { run, base }))))
    }

    /// Makes the tools of an agent use the code of its worktree, as the check of the base found out.
    pub(super) fn redirect_agent(
        &self,
        environment: &mut Environment,
        spawn: SpawnId,
        worktree: &Worktree,
    ) -> Result<(), EngineError> {
        let root = worktree.path.display().to_string();
        for (name, value) in &self.state.variables {
            environment.set(name, value.replace(WORKTREE, &root));
        }
        let (folder, before) = (worktree.project(), environment.clone());
        let own = OwnCode {
            checkout: &self.engine.project,
            folder: &folder,
            root: &worktree.path,
            environment: &before,
            is_ignored: &|path| worktree.ignores(path),
            spawn,
            cancel: &self.engine.cancel,
        };
        for (name, value) in own.link()? {
            environment.set(name, value);
        }
        Ok(())
    }
}

impl BaseJob {
    pub(super) fn work(self, link: &WorkerLink<'_>) -> Result<Event, EngineError> {
        let checked = self.check(link);
        // A run that stops here leaves nothing behind.
        self.base.discard()?;
        checked
    }

    fn check(&self, link: &WorkerLink<'_>) -> Result<Event, EngineError> {
        let begin = Instant::now();
        let Self { run, base } = self;
        let variables = run.ask_interpreters(&base.worktree, link)?;
        let results = base.results(run, link)?;
        if let Some(broken) = results.iter().find(|result| result.unknown) {
            return Err(broken_gate(broken).into());
        }
        let named = |result: &GateResult| {
            result.failed.iter().map(|test| format!("{}: {test}", result.name)).collect::<Vec<_>>()
        };
        Ok(Event::BaseChecked {
            failing: results.iter().flat_map(named).take(FAILING).collect(),
            variables: recorded(&variables, &base.worktree.path.display().to_string()),
            duration_ms: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }
}

fn recorded(variables: &Variables, folder: &str) -> Vec<(String, String)> {
    let value = |value: &std::ffi::OsString| value.to_string_lossy().replace(folder, WORKTREE);
    variables.iter().map(|(name, text)| (name.clone(), value(text))).collect()
}

fn broken_gate(result: &GateResult) -> GateError {
    let tail = &result.tail;
    let from = tail.ceil_char_boundary(tail.len().saturating_sub(SHOWN));
    GateError::Broken {
        gate: result.name.clone(),
        ended: result.ended.clone(),
        tail: tail[from..].trim().to_owned(),
    }
}
