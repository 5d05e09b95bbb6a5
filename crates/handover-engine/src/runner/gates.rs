//! Runs the gates on the work of a story, and on its base where something fails.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use handover_agents::{AgentEvent, Environment, SpawnId};
use handover_files::Folder;
use handover_model::Host;
use handover_text::Redactor;

use super::cargo_target::CargoTargets;
use super::workers::{Job, WorkerEvent, WorkerLink};
use super::{Runner, Started, spawn_id};
use crate::EngineError;
use crate::gates::{
    Baselines, Gate, GateContext, GateError, GateFolder, GateResult, OwnCode, Redirected, detect,
    far_fewer, new_failures, run_gate,
};
use crate::git::{Repo, Worktree, ref_part};
use crate::journal::Intent;
use crate::reducer::{Event, GateOutcome};

/// How much of the output of failing gates is recorded, of each and in all.
const DETAIL: usize = 6_000;

/// Gates that are ready to run on any worktree.
pub(super) struct GateRun {
    /// The story or the base that they check, as it is shown.
    what: String,
    pub(super) gates: Vec<Gate>,
    pub(super) checkout: PathBuf,
    environment: Environment,
    cargo: CargoTargets,
    timeout: Duration,
    spawn: SpawnId,
    /// The folder of all reports, and the name of these reports' subfolder.
    reports: (Folder, String),
}

/// The gates of a story.
pub(super) struct GatesJob {
    run: GateRun,
    story: String,
    attempt: u32,
    /// The tree that they check.
    tree: Option<String>,
    worktree: Worktree,
    /// The base to compare with if a gate fails.
    base: Option<Base>,
}

/// The commit that a story started from.
pub(super) struct Base {
    pub(super) repo: Repo,
    pub(super) commit: String,
    pub(super) worktree: Worktree,
    pub(super) known: Baselines,
}

/// Gates that were run.
pub(super) struct GatesDone {
    tree: Option<String>,
    results: Vec<GateResult>,
    event: Event,
}

impl Runner<'_, '_> {
    pub(super) fn start_gates(
        &mut self,
        intent: &Intent,
        id: &str,
        attempt: u32,
    ) -> Result<Started, EngineError> {
        let story = self.story(id)?;
        let worktree = self.worktree(&story)?;
        let gates = self.detected(id, &worktree)?;
        if gates.is_empty() {
            let begin = Instant::now();
            return Ok(Started::Finished(ended(
                id,
                attempt,
                begin,
                GateOutcome::None,
                Vec::new(),
                "",
            )));
        }
        // Tools may leave files in the worktree that are not part of the work.
        self.tree_in_worktree.remove(id);
        let base = story.base.map(|commit| self.base(&format!("@base-{}", intent.seq), commit));
        Ok(Started::Job(Job::Gates(Box::new(GatesJob {
            run: GateRun { gates, ..self.gate_run(intent, id, &worktree)? },
            story: id.to_owned(),
            attempt,
            tree: story.tree,
            worktree,
            base,
        }))))
    }

    /// The gates of a worktree, ready to run.
    pub(super) fn gate_run(
        &self,
        intent: &Intent,
        id: &str,
        worktree: &Worktree,
    ) -> Result<GateRun, EngineError> {
        Ok(GateRun {
            what: id.to_owned(),
            gates: self.detected(id, worktree)?,
            checkout: self.engine.project.clone(),
            environment: self.gate_environment(),
            cargo: self.engine.cargo_targets(),
            timeout: Duration::from_secs(self.engine.config.gates.timeout),
            spawn: spawn_id(&self.journal.run, intent.seq)?,
            reports: (self.folder.inside("reports"), ref_part(id)),
        })
    }

    pub(super) fn base(&self, name: &str, commit: String) -> Base {
        Base {
            worktree: self.worktree_at(name, &commit),
            repo: self.repo.clone(),
            commit,
            known: self.baselines(),
        }
    }

    pub(super) fn finish_gates(&mut self, done: GatesDone) -> Result<Event, EngineError> {
        let GatesDone { tree, results, event } = done;
        if let Event::GatesEnded { story, outcome: GateOutcome::Passed, detail, .. } = &event {
            for line in detail.lines() {
                self.warn(format!("{story}: {line}"))?;
            }
        }
        if let (Some(tree), Event::GatesEnded { story, .. }) = (tree, &event) {
            self.gate_results.insert(story.clone(), (tree, results));
        }
        Ok(event)
    }

    pub(super) fn gate_environment(&self) -> Environment {
        let mut environment = self.engine.environment_of(Host::COMMAND);
        for (name, value) in [
            ("CI", "1"),
            ("NO_COLOR", "1"),
            ("CARGO_TERM_COLOR", "never"),
            ("FORCE_COLOR", "0"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
        ] {
            environment.set(name, value);
        }
        environment
    }

    /// The gates of a worktree. Each story has its own report folder, since several are checked at once.
    pub(super) fn detected(&self, id: &str, worktree: &Worktree) -> Result<Vec<Gate>, EngineError> {
        let scratch = self.reports(id);
        scratch.create()?;
        let scratch = scratch.path();
        let path = worktree.project();
        let folder = GateFolder {
            path: &path,
            checkout: &self.engine.project,
            below: Path::new(""),
            scratch: &scratch,
        };
        Ok(detect(self.engine.gates, &folder, &self.engine.config.gates))
    }

    fn reports(&self, id: &str) -> Folder {
        self.folder.inside("reports").inside(ref_part(id))
    }

    pub(super) fn baselines(&self) -> Baselines {
        Baselines::new(self.engine.runs_folder().inside("baselines"))
    }

    /// Stores the results of a tree as the baseline of one that differs in records only.
    pub(super) fn remember_baseline(
        &self,
        id: &str,
        from: &str,
        to: &str,
        worktree: &Worktree,
    ) -> Result<(), EngineError> {
        if let Some((tree, results)) = self.gate_results.get(id)
            && tree == from
        {
            self.baselines().put(to, &self.detected(id, worktree)?, results);
        }
        Ok(())
    }
}

impl GatesJob {
    pub(super) fn work(self, link: &WorkerLink<'_>) -> Result<GatesDone, EngineError> {
        let begin = Instant::now();
        let results = self.run.all(&self.worktree, link)?;
        let mut new = Vec::new();
        if results.iter().any(|result| !result.passed) {
            let before = match &self.base {
                Some(base) => base.results(&self.run, link)?,
                None => Vec::new(),
            };
            new = new_failures(&results, &before);
        }
        let fewer = match &self.base {
            Some(base) => far_fewer(&results, &base.known_results(&self.run)?),
            None => Vec::new(),
        };
        // Reports contain what tests printed, unredacted.
        let (reports, own) = &self.run.reports;
        let _ = reports.remove_folder(own);
        let event = if new.is_empty() {
            ended(&self.story, self.attempt, begin, GateOutcome::Passed, new, &fewer.join("\n"))
        } else {
            new.truncate(200);
            let detail = detail(&results);
            ended(&self.story, self.attempt, begin, GateOutcome::Failed, new, &detail)
        };
        Ok(GatesDone { tree: self.tree, results, event })
    }
}

impl GateRun {
    /// What interpreters need to use the code of a worktree.
    pub(super) fn ask_interpreters(
        &self,
        worktree: &Worktree,
        link: &WorkerLink<'_>,
    ) -> Result<Redirected, EngineError> {
        self.own_code(worktree, link, |own| {
            own.ask_interpreters(&mut |event| report_process(link, event))
        })
    }

    /// The command that installs what a gate needs, if that was never done in the checkout.
    pub(super) fn install(&self, gate: &str) -> Option<String> {
        let gate = self.gates.iter().find(|it| it.name == gate)?;
        gate.kind.install(gate, &self.checkout.join(&gate.folder))
    }

    fn own_code(
        &self,
        worktree: &Worktree,
        link: &WorkerLink<'_>,
        then: impl FnOnce(&OwnCode<'_>) -> Result<Redirected, GateError>,
    ) -> Result<Redirected, EngineError> {
        let folder = worktree.project();
        let own = OwnCode {
            checkout: &self.checkout,
            folder: &folder,
            root: &worktree.path,
            environment: &self.environment,
            gates: &self.gates,
            is_ignored: &|path| worktree.ignores(path),
            spawn: self.spawn.clone(),
            cancel: &link.cancel,
        };
        Ok(then(&own)?)
    }

    fn all(
        &self,
        worktree: &Worktree,
        link: &WorkerLink<'_>,
    ) -> Result<Vec<GateResult>, EngineError> {
        let redirected = self.redirected(worktree, link)?;
        let folder = worktree.project();
        let run = |gate: &Gate| {
            let environment = self.environment_in(worktree, &redirected, gate)?;
            self.one(gate, &folder, &environment, link)
        };
        self.gates.iter().map(run).collect()
    }

    /// Makes all tools use the code of a worktree.
    fn redirected(
        &self,
        worktree: &Worktree,
        link: &WorkerLink<'_>,
    ) -> Result<Redirected, EngineError> {
        self.own_code(worktree, link, |own| own.redirect(&mut |event| report_process(link, event)))
    }

    fn environment_in(
        &self,
        worktree: &Worktree,
        redirected: &Redirected,
        gate: &Gate,
    ) -> Result<Environment, EngineError> {
        let mut environment = self.environment.clone();
        self.cargo.choose(worktree, &mut environment)?;
        for (name, value) in redirected.in_folder(&gate.folder) {
            environment.set(name, value);
        }
        Ok(environment)
    }

    /// Runs one gate in a worktree whose files are damaged once its tools were redirected to them.
    pub(super) fn on_damaged(
        &self,
        gate: &Gate,
        worktree: &Worktree,
        damage: impl FnOnce() -> Result<(), EngineError>,
        link: &WorkerLink<'_>,
    ) -> Result<GateResult, EngineError> {
        let redirected = self.redirected(worktree, link)?;
        let environment = self.environment_in(worktree, &redirected, gate)?;
        damage()?;
        let what = format!("gate {} on damaged files", gate.name);
        self.announced(what, gate, &worktree.project(), &environment, link)
    }

    /// Runs one gate again in a worktree that it has just failed in.
    pub(super) fn again(
        &self,
        gate: &str,
        worktree: &Worktree,
        link: &WorkerLink<'_>,
    ) -> Result<Vec<GateResult>, EngineError> {
        let gates = self.gates.iter().filter(|it| it.name == gate).cloned().collect();
        let (environment, reports) = (self.environment.clone(), self.reports.clone());
        let cargo = self.cargo.clone();
        let (what, checkout) = (self.what.clone(), self.checkout.clone());
        let run = Self {
            what,
            gates,
            checkout,
            environment,
            cargo,
            spawn: self.spawn.clone(),
            reports,
            ..*self
        };
        run.all(worktree, link)
    }

    /// Runs one gate in the user's checkout, as its user would.
    pub(super) fn in_checkout(
        &self,
        gate: &str,
        link: &WorkerLink<'_>,
    ) -> Result<Vec<GateResult>, EngineError> {
        let gates = self.gates.iter().filter(|it| it.name == gate);
        gates.map(|gate| self.one(gate, &self.checkout, &self.environment, link)).collect()
    }

    fn one(
        &self,
        gate: &Gate,
        folder: &Path,
        environment: &Environment,
        link: &WorkerLink<'_>,
    ) -> Result<GateResult, EngineError> {
        self.announced(format!("gate {}", gate.name), gate, folder, environment, link)
    }

    fn announced(
        &self,
        what: String,
        gate: &Gate,
        folder: &Path,
        environment: &Environment,
        link: &WorkerLink<'_>,
    ) -> Result<GateResult, EngineError> {
        link.send(WorkerEvent::Activity { story: self.what.clone(), what });
        let context = GateContext {
            folder,
            environment,
            timeout: self.timeout,
            spawn: self.spawn.clone(),
            cancel: &link.cancel,
        };
        let result = run_gate(gate, &context, &mut |event| report_process(link, event));
        if let Ok(GateResult { name, passed, failed, ended, .. }) = &result {
            tracing::debug!(gate = name, passed, failed = failed.len(), ended, "gate ended");
        }
        match result {
            Err(GateError::Cancelled { .. }) => Err(EngineError::Interrupted),
            result => Ok(clean(result?, link.redactor)),
        }
    }
}

fn report_process(link: &WorkerLink<'_>, event: AgentEvent) {
    if let AgentEvent::Spawned(process) = event {
        link.send(WorkerEvent::Spawned { process, delivered: None });
    }
}

impl Base {
    /// Removes its worktree.
    pub(super) fn discard(&self) -> Result<(), EngineError> {
        self.worktree.remove()?;
        Ok(self.repo.prune()?)
    }

    pub(super) fn tree(&self) -> Result<String, EngineError> {
        Ok(self.repo.tree_of(&self.commit)?)
    }

    /// The results on the base, if they are known.
    fn known_results(&self, run: &GateRun) -> Result<Vec<GateResult>, EngineError> {
        let tree = self.tree()?;
        Ok(self.known.get(&tree, &run.gates).unwrap_or_default())
    }

    /// Forgets results that must be determined again, because what they depend on is not in the tree.
    pub(super) fn forget(&self, run: &GateRun) -> Result<(), EngineError> {
        self.known.forget(&self.tree()?, &run.gates);
        Ok(())
    }

    /// Whether the user's checkout is at this commit.
    pub(super) fn is_checked_out(&self) -> Result<bool, EngineError> {
        Ok(self.repo.head()? == self.commit)
    }

    /// The results on the base, determined once per tree.
    pub(super) fn results(
        &self,
        run: &GateRun,
        link: &WorkerLink<'_>,
    ) -> Result<Vec<GateResult>, EngineError> {
        let tree = self.tree()?;
        if let Some(results) = self.known.get(&tree, &run.gates) {
            return Ok(results);
        }
        if !self.worktree.ensure()? {
            self.worktree.restore(&tree)?;
        }
        let results = run.all(&self.worktree, link)?;
        self.worktree.remove()?;
        self.known.put(&tree, &run.gates, &results);
        Ok(results)
    }
}

fn ended(
    story: &str,
    attempt: u32,
    begin: Instant,
    outcome: GateOutcome,
    failures: Vec<String>,
    detail: &str,
) -> Event {
    Event::GatesEnded {
        story: story.to_owned(),
        attempt,
        outcome,
        failures,
        detail: detail.to_owned(),
        duration_ms: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

/// The result without secrets, because it is stored on disk.
fn clean(mut result: GateResult, redactor: &Redactor) -> GateResult {
    result.failed =
        result.failed.iter().map(|name| redactor.clean(name).as_str().to_owned()).collect();
    result.tail = end_of(redactor.clean(&result.tail).as_str());
    result
}

fn end_of(text: &str) -> String {
    text[text.ceil_char_boundary(text.len().saturating_sub(DETAIL))..].to_owned()
}

/// The end of the output of failing gates.
fn detail(results: &[GateResult]) -> String {
    let failing = results.iter().filter(|result| !result.passed);
    let parts: Vec<String> = failing
        .map(|result| format!("{} ({}):\n{}", result.name, result.ended, result.tail))
        .collect();
    end_of(&parts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str, passed: bool, tail: &str) -> GateResult {
        GateResult {
            name: name.to_owned(),
            passed,
            failed: std::collections::BTreeSet::new(),
            unknown: !passed,
            ended: "exit code 1".to_owned(),
            tail: tail.to_owned(),
            ran: None,
        }
    }

    #[test]
    fn the_detail_shows_failing_gates_and_their_end() {
        let results = [
            result("cargo", false, "boom"),
            result("npm", true, "fine"),
            result("go", false, "bang"),
        ];
        assert_eq!(detail(&results), "cargo (exit code 1):\nboom\n\ngo (exit code 1):\nbang");
        assert_eq!(detail(&[]), "");
        let long = detail(&[result("cargo", false, &format!("{}END", "é".repeat(DETAIL)))]);
        assert!(long.len() <= DETAIL && long.ends_with("END"), "{}", long.len());
    }

    #[test]
    fn the_event_names_story_and_attempt() {
        let event =
            ended("1-1-a", 3, Instant::now(), GateOutcome::Failed, vec!["t: x".into()], "d");
        let Event::GatesEnded { story, attempt, outcome, failures, detail, .. } = event else {
            panic!("another event")
        };
        assert_eq!((story.as_str(), attempt, outcome), ("1-1-a", 3, GateOutcome::Failed));
        assert_eq!((failures, detail.as_str()), (vec!["t: x".to_owned()], "d"));
    }
}
