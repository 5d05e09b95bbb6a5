//! The project's own tools on the work of a story, and on the base where something fails.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use handover_agents::{AgentEvent, Environment, SpawnId};
use handover_model::Host;

use super::crew::{Job, Link, Word};
use super::{Begun, Engine, Runner, spawn_id};
use crate::EngineError;
use crate::gates::{
    Baselines, Gate, GateError, GateResult, Setting, detect, new_failures, run_gate,
};
use crate::git::{Repo, Worktree, ref_part};
use crate::journal::Intent;
use crate::reducer::{Event, GateOutcome};

/// How much of what failing gates print is written down.
const DETAIL: usize = 6_000;

/// Gates that are to be run.
pub(super) struct GatesJob {
    story: String,
    attempt: u32,
    /// The tree that they are run on.
    tree: Option<String>,
    gates: Vec<Gate>,
    folder: PathBuf,
    environment: Environment,
    timeout: Duration,
    spawn: SpawnId,
    /// Where the base is checked, if that turns out to be needed.
    base: Option<Base>,
}

/// What a story started from.
struct Base {
    repo: Repo,
    commit: String,
    worktree: Worktree,
    known: Baselines,
}

/// Gates that have been run.
pub(super) struct GatesDone {
    tree: Option<String>,
    results: Vec<GateResult>,
    event: Event,
}

impl Runner<'_, '_> {
    pub(super) fn begin_gates(
        &mut self,
        intent: &Intent,
        id: &str,
        attempt: u32,
    ) -> Result<Begun, EngineError> {
        let story = self.story(id)?;
        let worktree = self.worktree(&story)?;
        let gates = self.detected(id, &worktree)?;
        if gates.is_empty() {
            let begin = Instant::now();
            return Ok(Begun::Over(ended(id, attempt, begin, GateOutcome::None, Vec::new(), "")));
        }
        // Tools write into the folder; what they leave is not the work.
        self.in_place.remove(id);
        let base = story.base.map(|commit| Base {
            worktree: self.worktree_at(&format!("@base-{}", intent.seq), &commit),
            repo: self.repo.clone(),
            commit,
            known: self.baselines(),
        });
        Ok(Begun::Job(Job::Gates(Box::new(GatesJob {
            story: id.to_owned(),
            attempt,
            tree: story.tree,
            gates,
            folder: worktree.project(),
            environment: self.environment_of_gates(),
            timeout: Duration::from_secs(self.engine.config.gates.timeout),
            spawn: spawn_id(&self.journal.run, intent.seq)?,
            base,
        }))))
    }

    pub(super) fn end_gates(&mut self, done: GatesDone) -> Event {
        if let (Some(tree), Event::GatesEnded { story, .. }) = (done.tree, &done.event) {
            self.checked.insert(story.clone(), (tree, done.results));
        }
        done.event
    }

    pub(super) fn environment_of_gates(&self) -> Environment {
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
        self.engine.share_builds(&mut environment);
        environment
    }

    /// The gates of a worktree; those of several stories must not write the same report.
    fn detected(&self, id: &str, worktree: &Worktree) -> Result<Vec<Gate>, EngineError> {
        let scratch = self.folder.join("reports").join(ref_part(id));
        fs_err::create_dir_all(&scratch)?;
        let config = &self.engine.config.gates;
        Ok(detect(&worktree.project(), &self.engine.project, &scratch, config))
    }

    pub(super) fn baselines(&self) -> Baselines {
        Baselines::new(self.engine.project.join(".handover/runs/baselines"))
    }

    /// Results that hold for a tree hold for one that differs in records only.
    pub(super) fn remember_baseline(
        &self,
        id: &str,
        from: &str,
        to: &str,
        worktree: &Worktree,
    ) -> Result<(), EngineError> {
        if let Some((tree, results)) = self.checked.get(id)
            && tree == from
        {
            self.baselines().put(to, &self.detected(id, worktree)?, results);
        }
        Ok(())
    }
}

impl Engine<'_> {
    /// Worktrees share what Cargo has built: a cold build per story would cost more than the story.
    pub(super) fn share_builds(&self, environment: &mut Environment) {
        if environment.get("CARGO_TARGET_DIR").is_none() {
            let target = self.project.join(".handover/runs/cargo-target");
            environment.set("CARGO_TARGET_DIR", target);
        }
    }
}

impl GatesJob {
    pub(super) fn work(self, link: &Link<'_>) -> Result<GatesDone, EngineError> {
        let begin = Instant::now();
        let results = self.run_all(&self.folder, link)?;
        let mut new = Vec::new();
        if results.iter().any(|result| !result.passed) {
            new = new_failures(&results, &self.baseline(link)?);
        }
        let event = if new.is_empty() {
            ended(&self.story, self.attempt, begin, GateOutcome::Passed, new, "")
        } else {
            new.truncate(200);
            let detail = detail(&results);
            ended(&self.story, self.attempt, begin, GateOutcome::Failed, new, &detail)
        };
        Ok(GatesDone { tree: self.tree, results, event })
    }

    fn run_all(&self, folder: &Path, link: &Link<'_>) -> Result<Vec<GateResult>, EngineError> {
        self.gates.iter().map(|gate| self.run_one(gate, folder, link)).collect()
    }

    fn run_one(
        &self,
        gate: &Gate,
        folder: &Path,
        link: &Link<'_>,
    ) -> Result<GateResult, EngineError> {
        let what = format!("gate {}", gate.name);
        link.say(Word::Activity { story: self.story.clone(), what });
        let setting = Setting {
            folder,
            environment: &self.environment,
            timeout: self.timeout,
            spawn: self.spawn.clone(),
            cancel: &link.cancel,
        };
        let result = run_gate(gate, &setting, &mut |event| {
            if let AgentEvent::Spawned(process) = event {
                link.say(Word::Spawned(process));
            }
        });
        match result {
            Err(GateError::Cancelled { .. }) => Err(EngineError::Interrupted),
            result => Ok(result?),
        }
    }

    /// What fails on the base too, found out once per tree.
    fn baseline(&self, link: &Link<'_>) -> Result<Vec<GateResult>, EngineError> {
        let Some(base) = &self.base else { return Ok(Vec::new()) };
        let tree = base.repo.tree_of(&base.commit)?;
        if let Some(results) = base.known.get(&tree, &self.gates) {
            return Ok(results);
        }
        if !base.worktree.ensure()? {
            base.worktree.restore(&tree)?;
        }
        let results = self.run_all(&base.worktree.project(), link)?;
        base.worktree.remove()?;
        base.known.put(&tree, &self.gates, &results);
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

/// The end of what failing gates printed.
fn detail(results: &[GateResult]) -> String {
    let failing = results.iter().filter(|result| !result.passed);
    let parts: Vec<String> = failing
        .map(|result| format!("{} ({}):\n{}", result.name, result.ended, result.tail))
        .collect();
    let detail = parts.join("\n\n");
    let from = detail.ceil_char_boundary(detail.len().saturating_sub(DETAIL));
    detail[from..].to_owned()
}
