//! The files that close an epic: scenarios, retrospective, handoff. Agents that close an epic may write
//! these and nothing else; what they report as their result takes precedence over what they wrote.

use handover_model::learn::{MAX_INSIGHT_CHARS, topic_of};
use handover_model::{EventType, RunPhase, Timestamp, Verdict};
use handover_store::{EventKey, NewEvent, NewReasoning, NewStrategy};
use serde_json::json;

use super::Runner;
use super::agent::AgentCall;
use crate::bounded;
use crate::data::{
    Contribution, Retro, handoff_path, retro_path, uat_data_path, uat_document_path,
};
use crate::git::Worktree;
use crate::pipeline::Voice;
use crate::plan::group_of;
use crate::reducer::{Event, PhaseEnd, StoryRun};
use crate::retro;
use crate::task::Documents;
use crate::uat;
use crate::verdict::{AgentReport, ReportError};
use crate::{EngineError, Spent};

/// How many lessons of a retrospective become strategies.
const STRATEGIES: usize = 10;

impl Runner<'_, '_> {
    /// The files that an agent which closes the epic may write, relative to the project.
    pub(super) fn outputs(&self, phase: RunPhase) -> Vec<String> {
        let epic = &self.state.plan.epic;
        match phase {
            RunPhase::Uat => vec![uat_data_path(epic), uat_document_path(epic)],
            RunPhase::Retro => vec![retro_path(epic), handoff_path(epic)],
            RunPhase::Kickoff
            | RunPhase::Dev
            | RunPhase::Fix
            | RunPhase::Review
            | RunPhase::Analysis => Vec::new(),
        }
    }

    /// Writes the scenarios of an agent, from its result or its file, in their canonical form. A success
    /// without scenarios, or with invalid ones, does not count.
    pub(super) fn adopt_scenarios(
        &mut self,
        call: &AgentCall,
        report: Result<AgentReport, ReportError>,
        tree: String,
    ) -> Result<(Result<AgentReport, ReportError>, String), EngineError> {
        let report = match report {
            Ok(report) if report.verdict == Some(Verdict::Complete) => report,
            other => return Ok((other, tree)),
        };
        let epic = self.state.plan.epic.clone();
        let data = uat_data_path(&epic);
        let read = match &report.scenarios {
            Some(scenarios) => Some(uat::from_value(scenarios)),
            None => {
                self.written(call, &data)?.map(|bytes| uat::parse(&String::from_utf8_lossy(&bytes)))
            }
        };
        let documents = Documents::read(&call.worktree.project(), &self.state.plan);
        let read = read.map(|read| {
            let document = read?;
            let unknown = uat::unknown(&document, &documents.criteria);
            if unknown.is_empty() { Ok(document) } else { Err(unknown) }
        });
        let report = match read {
            Some(Ok(mut document)) => {
                document.epic = epic.to_string();
                self.write_uat(&call.worktree, &document, &[])?;
                Ok(report)
            }
            Some(Err(problems)) => {
                self.restore_file(call, &data)?;
                let error = uat::UatError { path: data, problems }.to_string();
                let summary = handover_text::cut::cut(&error, 1_500);
                Ok(AgentReport { verdict: Some(Verdict::Retry), summary, ..report })
            }
            None if self.written(call, &uat_document_path(&epic))?.is_some() => Ok(report),
            None => Err(ReportError::Unreadable("it wrote no scenarios".to_owned())),
        };
        Ok((report, self.keep_folder(&call.story, &call.worktree)?))
    }

    /// The end of an agent that is not started because it would exceed the budget.
    pub(super) fn skip_agent(
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
            summary: format!("not started: {reason}"),
            findings: Vec::new(),
            contribution: Contribution::default(),
            notes: crate::data::WorkNotes::default(),
            failure: None,
            over: None,
            waits_until: None,
            tree: unit.tree.unwrap_or_default(),
            files: Vec::new(),
            restored: Vec::new(),
            test_setup: Vec::new(),
            spent: Spent::default(),
            receipt: None,
            retro: None,
        })))
    }

    /// What the agent wrote to a file, if it changed the file.
    fn written(&self, call: &AgentCall, path: &str) -> Result<Option<Vec<u8>>, EngineError> {
        let Some(file) = call.worktree.inside(path) else { return Ok(None) };
        let Some(bytes) = bounded::bytes(&file) else { return Ok(None) };
        let before = self.before(&call.story, path)?;
        Ok(Some(bytes).filter(|bytes| before.as_ref() != Some(bytes)))
    }

    fn before(&self, unit: &StoryRun, path: &str) -> Result<Option<Vec<u8>>, EngineError> {
        let Some(tree) = &unit.tree else { return Ok(None) };
        Ok(self.repo.file_of(tree, &self.repo.prefix.join(path))?)
    }

    fn restore_file(&self, call: &AgentCall, path: &str) -> Result<(), EngineError> {
        let Some(file) = call.worktree.inside(path) else { return Ok(()) };
        match self.before(&call.story, path)? {
            Some(bytes) => fs_err::write(file, bytes)?,
            None => {
                let _ = fs_err::remove_file(file);
            }
        }
        Ok(())
    }

    /// Writes the retrospective and the handoff: from the agents' lessons, completed by the journal. A
    /// file that an agent wrote itself without reporting lessons stays.
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
        let reported = unit.record.iter().rev().find_map(|end| end.retro.as_deref());
        let reported = reported.cloned().unwrap_or_default();
        let facts = retro::factual(&self.state);
        let by = if reported.is_empty() { "the journal" } else { "agents who looked back" };
        let lessons = reported.clone().completed_by(facts);
        let about = retro::RetroInfo { run: self.journal.run.as_str(), by, at };
        for (path, text) in [
            (retro_path(&plan.epic), retro::retrospective(&lessons, &self.state, &about)),
            (handoff_path(&plan.epic), retro::handoff(&lessons, &self.state, &about)),
        ] {
            let in_base = match &unit.base {
                Some(base) => self.repo.file_of(base, &self.repo.prefix.join(&path))?,
                None => None,
            };
            let on_disk = worktree.inside(&path).and_then(|file| bounded::bytes(&file));
            let is_theirs = on_disk.is_some() && on_disk != in_base;
            if !(reported.is_empty() && is_theirs) {
                self.write_file(worktree, &path, self.engine.redactor.clean(&text).as_str())?;
            }
        }
        self.learn_from(&reported, at)
    }

    /// Turns lessons into reasoning and strategies for later agents. Idempotent per run.
    fn learn_from(&self, retro: &Retro, now: Timestamp) -> Result<(), EngineError> {
        let plan = &self.state.plan;
        let group = group_of(&format!("epic-{}", plan.epic))?;
        let redactor = self.engine.redactor;
        let (run, session) = (&self.journal.run, &plan.records_in);
        let lessons = retro.strategies();
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
            let trust = handover_context::trust::of_session(store, session, None)?;
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
                    trust,
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
                    trust,
                });
            }
            store.learn_strategies(&strategies).map(drop)
        })?;
        Ok(())
    }
}
