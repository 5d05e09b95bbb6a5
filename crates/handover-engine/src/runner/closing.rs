//! What those who close an epic leave behind: scenarios, a retrospective, a handoff. They may write
//! these files and nothing else; what they say in their results counts first.

use handover_model::learn::{MAX_INSIGHT_CHARS, topic_of};
use handover_model::{EventType, RunPhase, Timestamp, Verdict};
use handover_store::{EventKey, NewEvent, NewReasoning, NewStrategy};
use serde_json::json;

use super::agent::Call;
use super::{Runner, group_of};
use crate::git::Worktree;
use crate::party::Contribution;
use crate::pipeline::Voice;
use crate::reducer::{Event, PhaseEnd, StoryRun};
use crate::retro::{self, Retro};
use crate::uat;
use crate::verdict::{Said, Unclear};
use crate::{EngineError, Spent};

/// How many lessons become strategies.
const STRATEGIES: usize = 10;

impl Runner<'_, '_> {
    /// The files that an agent which closes the epic may write, relative to the project.
    pub(super) fn outputs(&self, phase: RunPhase) -> Vec<String> {
        let epic = &self.state.plan.epic;
        match phase {
            RunPhase::Uat => vec![uat::data_path(epic), uat::document_path(epic)],
            RunPhase::Retro => vec![retro::retro_path(epic), retro::handoff_path(epic)],
            RunPhase::Kickoff
            | RunPhase::Dev
            | RunPhase::Fix
            | RunPhase::Review
            | RunPhase::Analysis => Vec::new(),
        }
    }

    /// Takes the scenarios over that an agent left, in its result or in its file, and writes them down as
    /// they are to be. A claim without scenarios, or with ones that cannot be used, is none.
    pub(super) fn take_scenarios(
        &mut self,
        call: &Call,
        said: Result<Said, Unclear>,
        tree: String,
    ) -> Result<(Result<Said, Unclear>, String), EngineError> {
        let said = match said {
            Ok(said) if said.verdict == Some(Verdict::Complete) => said,
            other => return Ok((other, tree)),
        };
        let epic = self.state.plan.epic.clone();
        let data = uat::data_path(&epic);
        let read = match &said.scenarios {
            Some(scenarios) => Some(uat::from_value(scenarios)),
            None => {
                self.left(call, &data)?.map(|bytes| uat::parse(&String::from_utf8_lossy(&bytes)))
            }
        };
        let said = match read {
            Some(Ok(mut document)) => {
                document.epic = epic.to_string();
                self.write_uat(&call.worktree, &document, &[])?;
                Ok(said)
            }
            Some(Err(problems)) => {
                self.take_back(call, &data)?;
                let error = uat::UatError { path: data, problems }.to_string();
                let summary = handover_text::cut::cut(&error, 1_500);
                Ok(Said { verdict: Some(Verdict::Retry), summary, ..said })
            }
            None if self.left(call, &uat::document_path(&epic))?.is_some() => Ok(said),
            None => Err(Unclear::Broken("it left no scenarios".to_owned())),
        };
        Ok((said, self.keep_folder(&call.story, &call.worktree)?))
    }

    /// An agent that is not asked, because nobody can pay for it.
    pub(super) fn forgone(
        &self,
        id: &str,
        phase: RunPhase,
        attempt: u32,
        voice: Option<&Voice>,
        reason: &str,
    ) -> Result<Event, EngineError> {
        let unit = self.story(id)?;
        Ok(Event::PhaseEnded(Box::new(PhaseEnd {
            story: id.to_owned(),
            phase,
            attempt,
            voice: voice.cloned(),
            role: None,
            status: None,
            verdict: None,
            summary: format!("not asked: {reason}"),
            findings: Vec::new(),
            contribution: Contribution::default(),
            failure: None,
            tree: unit.tree.unwrap_or_default(),
            files: Vec::new(),
            restored: Vec::new(),
            spent: Spent::default(),
            receipt: None,
            retro: None,
        })))
    }

    /// What an agent wrote to a file, if it is new.
    fn left(&self, call: &Call, path: &str) -> Result<Option<Vec<u8>>, EngineError> {
        let Some(file) = call.worktree.inside(path) else { return Ok(None) };
        let Ok(bytes) = fs_err::read(file) else { return Ok(None) };
        let before = self.before(&call.story, path)?;
        Ok(Some(bytes).filter(|bytes| before.as_ref() != Some(bytes)))
    }

    fn before(&self, unit: &StoryRun, path: &str) -> Result<Option<Vec<u8>>, EngineError> {
        let Some(tree) = &unit.tree else { return Ok(None) };
        Ok(self.repo.file_of(tree, &self.repo.prefix.join(path))?)
    }

    fn take_back(&self, call: &Call, path: &str) -> Result<(), EngineError> {
        let Some(file) = call.worktree.inside(path) else { return Ok(()) };
        match self.before(&call.story, path)? {
            Some(bytes) => fs_err::write(file, bytes)?,
            None => {
                let _ = fs_err::remove_file(file);
            }
        }
        Ok(())
    }

    /// The retrospective and the handoff: what the voices said as one, or what the journal says. A file
    /// that an agent wrote itself, and said nothing else, stays.
    pub(super) fn write_retro(
        &self,
        worktree: &Worktree,
        unit: &StoryRun,
        at: Timestamp,
    ) -> Result<(), EngineError> {
        let plan = &self.state.plan;
        if !plan.pipeline.closes_with(RunPhase::Retro) {
            return Ok(());
        }
        let said = unit.record.iter().rev().find_map(|end| end.retro.as_deref());
        let said = said.cloned().unwrap_or_default();
        let facts = retro::factual(&self.state);
        let by = if said.is_empty() { "the journal" } else { "agents who looked back" };
        let taught = said.clone().completed_by(facts);
        let about = retro::About { run: self.journal.run.as_str(), by, at };
        for (path, text) in [
            (retro::retro_path(&plan.epic), retro::retrospective(&taught, &self.state, &about)),
            (retro::handoff_path(&plan.epic), retro::handoff(&taught, &self.state, &about)),
        ] {
            let in_base = match &unit.base {
                Some(base) => self.repo.file_of(base, &self.repo.prefix.join(&path))?,
                None => None,
            };
            let there = worktree.inside(&path).and_then(|file| fs_err::read(file).ok());
            let is_theirs = there.is_some() && there != in_base;
            if !(said.is_empty() && is_theirs) {
                self.put(worktree, &path, self.engine.redactor.clean(&text).as_str())?;
            }
        }
        self.learn_from(&said, at)
    }

    /// What was learned helps whoever comes after. Doing it again changes nothing.
    fn learn_from(&self, taught: &Retro, now: Timestamp) -> Result<(), EngineError> {
        let plan = &self.state.plan;
        let group = group_of(&format!("epic-{}", plan.epic))?;
        let redactor = self.engine.redactor;
        let (run, session) = (&self.journal.run, &plan.records_in);
        let lessons = taught.strategies();
        if lessons.is_empty() {
            return Ok(());
        }
        let payload = json!({"run": run, "epic": plan.epic, "lessons": lessons.len()});
        let event = NewEvent {
            session: session.clone(),
            group: Some(group.clone()),
            kind: EventType::new("retro")?,
            payload: redactor.clean_json(payload),
            key: Some(EventKey::new(&format!("{run}-retro"), redactor)),
            now,
        };
        let role = handover_model::Role::new("project_manager")?;
        self.engine.store.writing(|store| {
            if store.log_event(&event)?.duplicate {
                return Ok(());
            }
            let mut strategies = Vec::new();
            for (phase, text) in lessons.iter().take(STRATEGIES) {
                let source = store.add_reasoning(&NewReasoning {
                    session: session.clone(),
                    group: Some(group.clone()),
                    role: role.clone(),
                    agent_id: None,
                    iteration: 0,
                    phase: *phase,
                    confidence: None,
                    content: redactor.clean(text),
                    references: Vec::new(),
                    now,
                })?;
                let Some(topic) = topic_of(*phase) else { continue };
                strategies.push(NewStrategy {
                    project: self.engine.project_id.clone(),
                    topic,
                    insight: redactor.clean(text).one_line().cut(MAX_INSIGHT_CHARS),
                    language: None,
                    framework: None,
                    source: source.id,
                    now,
                });
            }
            store.learn_strategies(&strategies).map(drop)
        })?;
        Ok(())
    }
}
