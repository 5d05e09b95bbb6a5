//! Checks the base before the first agent is paid: its gates must be able to run, and to check a worktree
//! instead of the user's checkout. Tests that fail there are recorded, so that nobody is blamed for them.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use handover_agents::{Environment, SpawnId};
use handover_model::config::GateCommand;

use super::canary::Canary;
use super::gates::{Base, GateRun};
use super::workers::{Job, WorkerLink};
use super::{Runner, Started};
use crate::EngineError;
use crate::gates::{GateError, GateResult, OwnCode, Redirected};
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
    commands: Vec<GateCommand>,
}

/// A base that was checked.
pub(super) struct BaseDone {
    event: Event,
    /// What a person should know about the gates.
    cautions: Vec<String>,
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
        let commands = self.engine.config.gates.commands.clone();
        Ok(Started::Job(Job::Base(Box::new(BaseJob { run, base, commands }))))
    }

    pub(super) fn finish_base(&mut self, done: BaseDone) -> Result<Event, EngineError> {
        for caution in done.cautions {
            self.warn(caution)?;
        }
        Ok(done.event)
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
            gates: &[],
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
    pub(super) fn work(self, link: &WorkerLink<'_>) -> Result<BaseDone, EngineError> {
        let checked = self.check(link);
        // A run that stops here leaves nothing behind.
        self.base.discard()?;
        checked
    }

    /// Why a gate that fails on the base stops the run: it passes in the checkout, so that something is missing in
    /// worktrees; or it names no test that could be compared.
    fn refusal(
        &self,
        result: &GateResult,
        link: &WorkerLink<'_>,
    ) -> Result<Option<GateError>, EngineError> {
        let Self { run, base, .. } = self;
        let broken = || result.unknown.then(|| broken_gate(result, run.install(&result.name)));
        if !base.is_checked_out()? {
            return Ok(broken());
        }
        let Some(there) = run.in_checkout(&result.name, link)?.pop().filter(|it| !it.unknown)
        else {
            return Ok(broken());
        };
        let tests = only_in(result, &there);
        if tests.is_empty() && !(result.unknown && there.passed) {
            return Ok(broken());
        }
        // A test that fails now and then has not failed because of where it ran.
        if !base.worktree.ensure()? {
            base.worktree.restore(&base.tree()?)?;
        }
        let again = run.again(&result.name, &base.worktree, link)?.pop();
        let again = again.filter(|again| !again.passed);
        let tests: Vec<String> = match &again {
            Some(again) => tests.into_iter().filter(|test| again.failed.contains(test)).collect(),
            None => Vec::new(),
        };
        if tests.is_empty() && !again.is_some_and(|again| again.unknown && result.unknown) {
            return Ok(broken());
        }
        let (gate, tail) = (result.name.clone(), end_of(&result.tail));
        Ok(Some(GateError::OnlyInCheckout { gate, tests, tail }))
    }

    fn check(&self, link: &WorkerLink<'_>) -> Result<BaseDone, EngineError> {
        let begin = Instant::now();
        let Self { run, base, commands } = self;
        let redirected = run.ask_interpreters(&base.worktree, link)?;
        let results = base.results(run, link)?;
        for result in results.iter().filter(|result| !result.passed) {
            if let Some(error) = self.refusal(result, link)? {
                base.forget(run)?;
                return Err(error.into());
            }
        }
        let canary = Canary { run, base, commands };
        let mut cautions = Vec::new();
        for result in results.iter().filter(|result| result.passed) {
            match canary.try_gate(result, link) {
                Ok(caution) => cautions.extend(caution),
                Err(error) => {
                    base.forget(run)?;
                    return Err(error);
                }
            }
        }
        let named = |result: &GateResult| {
            result.failed.iter().map(|test| format!("{}: {test}", result.name)).collect::<Vec<_>>()
        };
        let event = Event::BaseChecked {
            failing: results.iter().flat_map(named).take(FAILING).collect(),
            variables: recorded(&redirected, &base.worktree.path.display().to_string()),
            duration_ms: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        Ok(BaseDone { event, cautions })
    }
}

fn recorded(redirected: &Redirected, folder: &str) -> Vec<(String, String)> {
    let value = |value: &std::ffi::OsString| value.to_string_lossy().replace(folder, WORKTREE);
    let variables = redirected.in_folder(Path::new(""));
    variables.iter().map(|(name, text)| (name.clone(), value(text))).collect()
}

/// The failed tests that another result of the same gate does not have; none if neither names any.
fn only_in(one: &GateResult, other: &GateResult) -> BTreeSet<String> {
    one.failed.difference(&other.failed).cloned().collect()
}

fn broken_gate(result: &GateResult, install: Option<String>) -> GateError {
    GateError::Broken {
        gate: result.name.clone(),
        install,
        ended: result.ended.clone(),
        tail: end_of(&result.tail),
    }
}

fn end_of(tail: &str) -> String {
    tail[tail.ceil_char_boundary(tail.len().saturating_sub(SHOWN))..].trim().to_owned()
}
