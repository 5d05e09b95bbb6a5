//! Scenarios tried out on the work of an epic, in its worktree and nowhere else.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use handover_agents::{AgentEvent, Environment, SpawnId};
use handover_model::UatGate;

use super::crew::{Job, Link, Word};
use super::{Begun, Runner, spawn_id};
use crate::EngineError;
use crate::git::Worktree;
use crate::journal::Intent;
use crate::reducer::{Event, StoryRun};
use crate::story;
use crate::uat::{self, About, Allowed, Document, ScenarioResult, Setting};

/// Scenarios that are to be tried out.
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

/// Scenarios that have been tried out.
pub(super) struct UatDone {
    story: String,
    attempt: u32,
    gate: UatGate,
    document: Document,
    results: Vec<ScenarioResult>,
    duration_ms: u64,
}

impl Runner<'_, '_> {
    pub(super) fn begin_uat(
        &mut self,
        intent: &Intent,
        id: &str,
        attempt: u32,
    ) -> Result<Begun, EngineError> {
        let unit = self.story(id)?;
        let gate = self.state.plan.pipeline.uat().map_or(UatGate::Skip, |step| step.gate);
        let worktree = self.worktree(&unit)?;
        let document = match self.scenarios(&worktree) {
            Ok(document) => document,
            Err(problem) => {
                return Ok(Begun::Over(Event::UatEnded {
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
        // Programs write into the folder; what they leave is not the work.
        self.in_place.remove(id);
        let folder = worktree.project();
        let allow = self.engine.config.uat.allow.clone();
        Ok(Begun::Job(Job::Uat(Box::new(UatJob {
            story: id.to_owned(),
            attempt,
            gate,
            document,
            programs: allow.unwrap_or_else(|| uat::programs_of(&folder)),
            folder,
            environment: self.environment_of_gates(),
            spawn: spawn_id(&self.journal.run, intent.seq)?,
        }))))
    }

    pub(super) fn end_uat(&mut self, done: UatDone) -> Result<Event, EngineError> {
        let UatDone { story: id, attempt, gate, document, results, duration_ms } = done;
        let unit = self.story(&id)?;
        let worktree = self.worktree(&unit)?;
        self.write_uat(&worktree, &document, &results)?;
        let tree = self.keep_folder(&unit, &worktree)?;
        Ok(Event::UatEnded { story: id, attempt, gate, results, problem: None, tree, duration_ms })
    }

    /// The scenarios of the epic as the worktree has them, or why there are none.
    fn scenarios(&self, worktree: &Worktree) -> Result<Document, String> {
        let epic = &self.state.plan.epic;
        let path = uat::data_path(epic);
        let Some(file) = worktree.inside(&path) else {
            return Err(format!("`{path}` is a link"));
        };
        let Ok(bytes) = fs_err::read(file) else {
            return Err(format!("there are no scenarios: `{path}` is missing"));
        };
        let parsed = uat::parse(&String::from_utf8_lossy(&bytes));
        let mut document = parsed
            .map_err(|problems| uat::UatError { path: path.clone(), problems }.to_string())?;
        document.epic = epic.to_string();
        Ok(document)
    }

    /// The data of scenarios, and the document that people read.
    pub(super) fn write_uat(
        &self,
        worktree: &Worktree,
        document: &Document,
        results: &[ScenarioResult],
    ) -> Result<(), EngineError> {
        let plan = &self.state.plan;
        let data = uat::data_path(&plan.epic);
        let epic = plan.epic_file.as_ref().map(|path| worktree.project().join(path));
        let epic = epic.and_then(|path| fs_err::read_to_string(path).ok()).unwrap_or_default();
        let about = About {
            title: story::epic_title(&epic),
            stories: plan.stories.iter().map(|story| story.id.clone()).collect(),
            data: data.clone(),
        };
        let text = uat::render(document, results, &about);
        let value = serde_json::to_value(document).unwrap_or_default();
        let clean = self.engine.redactor.clean_json(value);
        let json = serde_json::to_string_pretty(clean.value()).unwrap_or_default();
        self.put(worktree, &data, &format!("{json}\n"))?;
        let text = self.engine.redactor.clean(&text);
        self.put(worktree, &uat::document_path(&plan.epic), text.as_str())
    }

    /// Writes a file of the project in a worktree, unless links lead out of it.
    pub(super) fn put(
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

    /// What a worktree holds now, so that it is found again.
    pub(super) fn keep_folder(
        &mut self,
        unit: &StoryRun,
        worktree: &Worktree,
    ) -> Result<String, EngineError> {
        let tree = worktree.snapshot()?;
        let id = &unit.planned.id;
        if let Some(base) = &unit.base {
            self.keep(id, base, &tree, self.now())?;
        }
        self.in_place.insert(id.clone(), tree.clone());
        Ok(tree)
    }
}

impl UatJob {
    pub(super) fn work(self, link: &Link<'_>) -> Result<UatDone, EngineError> {
        let begin = Instant::now();
        let path: OsString = self.environment.get("PATH").unwrap_or_default().to_owned();
        let setting = Setting {
            allowed: Allowed { programs: &self.programs, folder: &self.folder, path: &path },
            environment: &self.environment,
            spawn: self.spawn.clone(),
            redactor: link.redactor,
            cancel: &link.cancel,
        };
        let mut between = |scenario: &uat::Scenario| {
            let what = format!("scenario {}", scenario.id);
            link.say(Word::Activity { story: self.story.clone(), what });
        };
        let mut on_event = |event| {
            if let AgentEvent::Spawned(process) = event {
                link.say(Word::Spawned(process));
            }
        };
        let results =
            uat::try_out(&self.document, self.gate, &setting, &mut between, &mut on_event)?;
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
