//! The project's own tools on the work of a story, and on the base where something fails.

use std::path::Path;
use std::time::{Duration, Instant};

use handover_agents::{AgentEvent, Environment};
use handover_model::Host;

use super::{Progress, Runner, spawn_id};
use crate::EngineError;
use crate::gates::{
    Baselines, Gate, GateError, GateResult, Setting, detect, new_failures, run_gate,
};
use crate::git::Worktree;
use crate::journal::{Intent, Note};
use crate::reducer::{Event, GateOutcome, StoryRun};

/// How much of what failing gates print is written down.
const DETAIL: usize = 6_000;

impl Runner<'_, '_> {
    pub(super) fn gates(
        &mut self,
        intent: &Intent,
        id: &str,
        attempt: u32,
    ) -> Result<Event, EngineError> {
        let story = self.story(id)?;
        let worktree = self.worktree(&story)?;
        let begin = Instant::now();
        let gates = self.detected(&worktree)?;
        let ended = |outcome, failures, detail| {
            let duration_ms = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
            Event::GatesEnded {
                story: id.to_owned(),
                attempt,
                outcome,
                failures,
                detail,
                duration_ms,
            }
        };
        if gates.is_empty() {
            return Ok(ended(GateOutcome::None, Vec::new(), String::new()));
        }
        // Tools write into the folder; what they leave is not the work.
        self.in_place = None;
        let results = self.run_gates(intent, id, &gates, &worktree)?;
        let mut new = Vec::new();
        if results.iter().any(|result| !result.passed) {
            let base = self.baseline(intent, &story, &gates)?;
            new = new_failures(&results, &base);
        }
        self.checked = story.tree.clone().map(|tree| (tree, results.clone()));
        if new.is_empty() {
            return Ok(ended(GateOutcome::Passed, new, String::new()));
        }
        let failing = results.iter().filter(|result| !result.passed);
        let detail: Vec<String> = failing
            .map(|result| format!("{} ({}):\n{}", result.name, result.ended, result.tail))
            .collect();
        let detail = detail.join("\n\n");
        let from = detail.ceil_char_boundary(detail.len().saturating_sub(DETAIL));
        new.truncate(200);
        Ok(ended(GateOutcome::Failed, new, detail[from..].to_owned()))
    }

    fn detected(&self, worktree: &Worktree) -> Result<Vec<Gate>, EngineError> {
        let scratch = self.folder.join("reports");
        fs_err::create_dir_all(&scratch)?;
        let config = &self.engine.config.gates;
        Ok(detect(&worktree.project(), &self.engine.project, &scratch, config))
    }

    fn run_gates(
        &mut self,
        intent: &Intent,
        story: &str,
        gates: &[Gate],
        worktree: &Worktree,
    ) -> Result<Vec<GateResult>, EngineError> {
        let folder = worktree.project();
        gates.iter().map(|gate| self.run_one(intent, story, gate, &folder)).collect()
    }

    fn run_one(
        &mut self,
        intent: &Intent,
        story: &str,
        gate: &Gate,
        folder: &Path,
    ) -> Result<GateResult, EngineError> {
        let mut environment = self.engine.environment_of(Host::Command);
        for (name, value) in [
            ("CI", "1"),
            ("NO_COLOR", "1"),
            ("CARGO_TERM_COLOR", "never"),
            ("FORCE_COLOR", "0"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
        ] {
            environment.set(name, value);
        }
        self.share_builds(&mut environment);
        let what = format!("gate {}", gate.name);
        (self.on_progress)(&self.state, &Progress::Activity { story, what });
        let spawn = spawn_id(&self.journal.run, intent.seq)?;
        let setting = Setting {
            folder,
            environment: &environment,
            timeout: Duration::from_secs(self.engine.config.gates.timeout),
            spawn,
            cancel: &self.engine.cancel,
        };
        let (engine, journal) = (self.engine, &mut self.journal);
        let mut lost = None;
        let result = run_gate(gate, &setting, &mut |event| {
            if let AgentEvent::Spawned(process) = event
                && let Err(error) = journal.note(&Note::Spawned { process }, (engine.now)())
            {
                // Nobody would find it after a crash, so it must not run.
                lost = Some(error);
                engine.cancel.cancel();
            }
        });
        match (lost, result) {
            (Some(error), _) => Err(error),
            (None, Err(GateError::Cancelled { .. })) => Err(EngineError::Interrupted),
            (None, result) => Ok(result?),
        }
    }

    /// What fails on the base too, found out once per tree.
    fn baseline(
        &mut self,
        intent: &Intent,
        story: &StoryRun,
        gates: &[Gate],
    ) -> Result<Vec<GateResult>, EngineError> {
        let Some(base) = &story.base else { return Ok(Vec::new()) };
        let tree = self.repo.tree_of(base)?;
        let known = self.baselines();
        if let Some(results) = known.get(&tree, gates) {
            return Ok(results);
        }
        let worktree = self.worktree_at("@base", base);
        if !worktree.ensure()? {
            worktree.restore(&tree)?;
        }
        let results = self.run_gates(intent, &story.planned.id, gates, &worktree)?;
        worktree.remove()?;
        known.put(&tree, gates, &results);
        Ok(results)
    }

    pub(super) fn baselines(&self) -> Baselines {
        Baselines::new(self.engine.project.join(".handover/runs/baselines"))
    }

    /// Results that hold for a tree hold for one that differs in records only.
    pub(super) fn remember_baseline(
        &self,
        from: &str,
        to: &str,
        worktree: &Worktree,
    ) -> Result<(), EngineError> {
        if let Some((tree, results)) = &self.checked
            && tree == from
        {
            self.baselines().put(to, &self.detected(worktree)?, results);
        }
        Ok(())
    }

    /// Worktrees share what Cargo has built: a cold build per story would cost more than the story.
    pub(super) fn share_builds(&self, environment: &mut Environment) {
        if environment.get("CARGO_TARGET_DIR").is_none() {
            let target = self.engine.project.join(".handover/runs/cargo-target");
            environment.set("CARGO_TARGET_DIR", target);
        }
    }
}
