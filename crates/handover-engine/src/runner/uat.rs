//! Runs the acceptance scenarios of an epic in its worktree.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use handover_agents::{AgentEvent, Environment, SpawnId};
use handover_model::UatGate;

use super::workers::{Job, WorkerEvent, WorkerLink};
use super::{Runner, Started, spawn_id};
use crate::EngineError;
use crate::bounded;
use crate::data::{ScenarioResult, uat_data_path, uat_document_path};
use crate::git::Worktree;
use crate::journal::Intent;
use crate::reducer::{Event, StoryRun};
use crate::story;
use crate::task::Documents;
use crate::uat::{self, Allowed, Document, DocumentInfo, ScenarioContext};

/// Scenarios that are ready to run.
pub(super) struct UatJob {
    story: String,
    attempt: u32,
    gate: UatGate,
    document: Document,
    programs: Vec<String>,
    folder: PathBuf,
    environment: Environment,
    spawn: SpawnId,
}

/// Scenarios that were run.
pub(super) struct UatDone {
    story: String,
    attempt: u32,
    gate: UatGate,
    document: Document,
    results: Vec<ScenarioResult>,
    duration_ms: u64,
}

impl Runner<'_, '_> {
    pub(super) fn start_uat(
        &mut self,
        intent: &Intent,
        id: &str,
        attempt: u32,
    ) -> Result<Started, EngineError> {
        let unit = self.story(id)?;
        let gate = self.state.plan.pipeline.uat().map_or(UatGate::Skip, |step| step.gate);
        let worktree = self.worktree(&unit)?;
        let document = match self.scenarios(&worktree) {
            Ok(document) => document,
            Err(problem) => {
                return Ok(Started::Finished(Event::UatEnded {
                    story: id.to_owned(),
                    attempt,
                    gate,
                    results: Vec::new(),
                    problem: Some(problem),
                    tree: unit.tree.unwrap_or_default(),
                    duration_ms: 0,
                }));
            }
        };
        // Programs may leave files in the worktree that are not part of the work.
        self.tree_in_worktree.remove(id);
        let folder = worktree.project();
        let mut environment = self.gate_environment();
        self.engine.cargo_targets().choose(&worktree, &mut environment)?;
        let allow = self.engine.config.uat.allow.clone();
        Ok(Started::Job(Job::Uat(Box::new(UatJob {
            story: id.to_owned(),
            attempt,
            gate,
            document,
            programs: allow.unwrap_or_else(|| uat::programs_of(&folder)),
            folder,
            environment,
            spawn: spawn_id(&self.journal.run, intent.seq)?,
        }))))
    }

    pub(super) fn finish_uat(&mut self, done: UatDone) -> Result<Event, EngineError> {
        let UatDone { story: id, attempt, gate, document, results, duration_ms } = done;
        let unit = self.story(&id)?;
        let worktree = self.worktree(&unit)?;
        self.write_uat(&worktree, &document, &results)?;
        let tree = self.keep_folder(&unit, &worktree)?;
        Ok(Event::UatEnded { story: id, attempt, gate, results, problem: None, tree, duration_ms })
    }

    /// The scenarios in the worktree, or why there are none.
    fn scenarios(&self, worktree: &Worktree) -> Result<Document, String> {
        let epic = &self.state.plan.epic;
        let path = uat_data_path(epic);
        let Some(file) = worktree.inside(&path) else {
            return Err(format!("`{path}` is a link"));
        };
        let Some(bytes) = bounded::bytes(&file) else {
            return Err(format!("there are no scenarios: `{path}` is missing"));
        };
        let parsed = uat::parse(&String::from_utf8_lossy(&bytes));
        let mut document = parsed
            .map_err(|problems| uat::UatError { path: path.clone(), problems }.to_string())?;
        document.epic = epic.to_string();
        Ok(document)
    }

    /// Writes the scenarios as JSON and as the document that people read.
    pub(super) fn write_uat(
        &self,
        worktree: &Worktree,
        document: &Document,
        results: &[ScenarioResult],
    ) -> Result<(), EngineError> {
        let plan = &self.state.plan;
        let data = uat_data_path(&plan.epic);
        let documents = Documents::read(&worktree.project(), plan);
        let about = DocumentInfo {
            title: story::epic_title(&documents.epic),
            stories: plan
                .stories
                .iter()
                .map(|story| (story.id.clone(), story.path.clone()))
                .collect(),
            open: self.open_stories(),
            data: data.clone(),
            criteria: documents.criteria,
        };
        let text = uat::render(document, results, &about);
        let value = serde_json::to_value(document).unwrap_or_default();
        let clean = self.engine.redactor.clean_json(value);
        let json = serde_json::to_string_pretty(clean.value()).unwrap_or_default();
        self.write_file(worktree, &data, &format!("{json}\n"))?;
        let text = self.engine.redactor.clean(&text);
        self.write_file(worktree, &uat_document_path(&plan.epic), text.as_str())
    }

    /// Writes a file in a worktree, unless a link leads out of it.
    pub(super) fn write_file(
        &self,
        worktree: &Worktree,
        path: &str,
        text: &str,
    ) -> Result<(), EngineError> {
        let Some(file) = worktree.inside(path) else { return Ok(()) };
        if let Some(above) = file.parent() {
            fs_err::create_dir_all(above)?;
        }
        Ok(fs_err::write(file, text)?)
    }

    /// The stories of the epic that are not done.
    fn open_stories(&self) -> Vec<String> {
        let open = self.state.stories.iter().filter(|story| !story.is_done());
        open.map(|story| story.planned.id.clone()).collect()
    }

    /// Snapshots a worktree and keeps the tree under the ref of its story.
    pub(super) fn keep_folder(
        &mut self,
        unit: &StoryRun,
        worktree: &Worktree,
    ) -> Result<String, EngineError> {
        let tree = worktree.snapshot()?;
        let id = &unit.planned.id;
        if let Some(base) = &unit.base {
            self.keep_tree(id, base, &tree, self.now())?;
        }
        self.tree_in_worktree.insert(id.clone(), tree.clone());
        Ok(tree)
    }
}

impl UatJob {
    pub(super) fn work(self, link: &WorkerLink<'_>) -> Result<UatDone, EngineError> {
        let begin = Instant::now();
        let path: OsString = self.environment.get("PATH").unwrap_or_default().to_owned();
        let context = ScenarioContext {
            allowed: Allowed { programs: &self.programs, folder: &self.folder, path: &path },
            environment: &self.environment,
            spawn: self.spawn.clone(),
            redactor: link.redactor,
            cancel: &link.cancel,
        };
        let mut between = |scenario: &uat::Scenario| {
            let what = format!("scenario {}", scenario.id);
            link.send(WorkerEvent::Activity { story: self.story.clone(), what });
        };
        let mut on_event = |event| {
            if let AgentEvent::Spawned(process) = event {
                link.send(WorkerEvent::Spawned { process, delivered: None });
            }
        };
        let mut results =
            uat::run_scenarios(&self.document, self.gate, &context, &mut between, &mut on_event)?;
        results.iter_mut().for_each(|result| shorten_paths(result, &self.folder));
        if link.cancel.is_cancelled() {
            return Err(EngineError::Interrupted);
        }
        Ok(UatDone {
            story: self.story,
            attempt: self.attempt,
            gate: self.gate,
            document: self.document,
            results,
            duration_ms: u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// Paths in the project's folder instead of those of a worktree that will be gone.
fn shorten_paths(result: &mut ScenarioResult, folder: &Path) {
    let folder = folder.display().to_string();
    for text in [&mut result.reason, &mut result.tail] {
        *text = text.replace(&format!("{folder}/"), "").replace(&folder, ".");
    }
}

#[cfg(test)]
mod tests {
    use handover_model::{ScenarioKind, ScenarioOutcome};

    use super::*;

    #[test]
    fn paths_do_not_lead_to_a_worktree() {
        let mut result = ScenarioResult {
            id: "S1".to_owned(),
            criterion: "1-1-a AC1".to_owned(),
            kind: ScenarioKind::Auto,
            outcome: ScenarioOutcome::Failed,
            reason: "`/p/.handover/runs/r/worktrees/e/shop` is missing".to_owned(),
            tail: "in /p/.handover/runs/r/worktrees/e\n".to_owned(),
            duration_ms: 1,
        };
        shorten_paths(&mut result, Path::new("/p/.handover/runs/r/worktrees/e"));
        assert_eq!((result.reason.as_str(), result.tail.as_str()), ("`shop` is missing", "in .\n"));
    }
}
