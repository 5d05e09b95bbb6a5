//! Appends records of what agents reported to a story, and stores failures that were solved.

mod party;

use handover_model::{KnownEvent, RunPhase, Timestamp, Verdict};
use handover_store::{CleanSignature, ErrorSighting, EventKey, NewEvent};
use serde_json::json;

use super::Runner;
use crate::EngineError;
use crate::bounded;
use crate::data::{Finding, Statement};
use crate::git::{Worktree, ref_part};
use crate::journal::Intent;
use crate::party::{settle_analysis, settle_kickoff, settle_review};
use crate::pipeline::{PartyStep, Step};
use crate::plan::group_of;
use crate::reducer::{Answer, PhaseEnd, StoryRun, UnitKind, is_work};
use crate::story::{self, Record};

impl Runner<'_, '_> {
    /// Appends the records of a story's agents to its file and sets its status.
    pub(super) fn write_records(
        &self,
        worktree: &Worktree,
        story: &StoryRun,
        at: Timestamp,
        status: &str,
    ) -> Result<(), EngineError> {
        if story.kind == UnitKind::Closing {
            return Ok(());
        }
        let path = self.writable(worktree, &story.planned.path)?;
        let Ok(bytes) = bounded::content(&path) else { return Ok(()) };
        let bytes = bytes.unwrap_or_default();
        let Ok(mut text) = String::from_utf8(bytes) else { return Ok(()) };
        for end in &story.record {
            text = story::append(&text, &self.record_of(story, end, at)?);
        }
        if !story.answers.is_empty() {
            text = story::append(&text, &answers_record(&story.answers, at));
        }
        fs_err::write(&path, story::set_status(&text, status))?;
        Ok(())
    }

    /// The record of one agent, or of a party.
    fn record_of(
        &self,
        story: &StoryRun,
        end: &PhaseEnd,
        at: Timestamp,
    ) -> Result<Record, EngineError> {
        let party = story.parties.iter().find(|party| party.outcome == *end);
        let step = party.and_then(|_| self.party_step(end.phase));
        Ok(match (end.phase, party.zip(step)) {
            (RunPhase::Kickoff, Some((party, step))) => {
                let insights = settle_kickoff(&step.speakers(), &party.statements());
                party::kickoff_record(&insights, &step.personas, at)
            }
            (RunPhase::Review, Some((party, step))) => {
                let review = settle_review(&step.speakers(), &party.statements(), step.rules);
                party::review_record(&review, &step.personas, end.attempt, at)
            }
            (RunPhase::Review, None) => review_record(end, at),
            (RunPhase::Analysis, of) => {
                let (seats, statements, personas) = match of {
                    Some((party, step)) => {
                        (step.speakers(), party.statements(), step.personas.as_slice())
                    }
                    None => (vec![ANALYST.to_owned()], vec![single_statement(end)], [].as_slice()),
                };
                let rules = of.map(|(_, step)| step.rules).unwrap_or_default();
                let analyzed = settle_analysis(&seats, &statements, rules.consensus);
                let nth = |end: &&PhaseEnd| end.phase == RunPhase::Analysis;
                let before = story.record.iter().filter(nth).position(|other| other == end);
                let failure = before.and_then(|n| story.failures.get(n));
                let failure = failure.map(|failure| failure.reason.as_str()).unwrap_or_default();
                party::analysis_record(&analyzed, personas, failure, at)
            }
            (
                RunPhase::Kickoff | RunPhase::Dev | RunPhase::Fix | RunPhase::Uat | RunPhase::Retro,
                _,
            ) => dev_record(end, &self.created(story, end)?, at),
        })
    }

    /// The files that an agent's work has created.
    fn created(&self, story: &StoryRun, end: &PhaseEnd) -> Result<Vec<String>, EngineError> {
        let Some(base) = story.base.as_ref().filter(|_| !end.files.is_empty()) else {
            return Ok(Vec::new());
        };
        let changes = self.repo.changes(base, &end.tree)?;
        let new = changes.into_iter().filter(|change| change.is_new).map(|change| change.path);
        Ok(new.filter(|path| end.files.contains(path)).collect())
    }

    fn party_step(&self, phase: RunPhase) -> Option<&PartyStep> {
        let pipeline = &self.state.plan.pipeline;
        let all = pipeline.steps.iter().chain(&pipeline.closing).chain(&pipeline.on_failure);
        all.filter_map(|step| match step {
            Step::Party(party) => Some(party),
            Step::Agent(_) | Step::Gates | Step::Uat(_) | Step::Commit => None,
        })
        .find(|party| party.agent.phase == phase)
    }

    /// Stores every solved problem once, for later agents: failures that an analysis or a person resolved,
    /// and review findings that were fixed.
    pub(super) fn learn_failures(
        &self,
        intent: &Intent,
        story: &StoryRun,
    ) -> Result<(), EngineError> {
        let redactor = self.engine.redactor;
        let session = &self.state.plan.records_in;
        let failed = story
            .failures
            .iter()
            .filter_map(|failure| Some((failure.reason.clone(), failure.advice.as_deref()?)));
        let all = (0..).zip(failed).map(|(n, one)| (format!("solved-{n}"), one));
        let fixed = (0..).zip(fixed(story)).map(|(n, one)| (format!("fixed-{n}"), one));
        for (key, (reason, advice)) in all.chain(fixed) {
            let group = group_of(&story.planned.id)?;
            let key = format!("{}-{}-{key}", self.journal.run, story.planned.id);
            let payload = json!({"story": story.planned.id, "failure": reason});
            let logged = self.engine.store.log_event(&NewEvent {
                session: session.clone(),
                group: Some(group.clone()),
                kind: KnownEvent::FailureSolved.into(),
                payload: redactor.clean_json(payload),
                key: Some(EventKey::new(&key, redactor)),
                now: intent.at,
            })?;
            if logged.duplicate {
                continue;
            }
            let store = self.engine.store;
            let trust = handover_context::trust::of_session(store, session, Some(&group))?;
            let sighting = ErrorSighting {
                project: self.engine.project_id.clone(),
                signature: CleanSignature::new(None, &reason, &[], redactor),
                language: None,
                ttl_days: self.engine.config.learning.ttl_days,
                session: Some(session.clone()),
                group: Some(group),
                role: None,
                command: None,
                now: intent.at,
                trust,
            };
            self.engine.store.resolve_error(&sighting, &redactor.clean(advice))?;
        }
        Ok(())
    }

    /// Drops the branch that held the work of a story while it waited for an answer.
    pub(super) fn drop_failed_branch(&self, story: &StoryRun) -> Result<(), EngineError> {
        if story.failed_branch.is_none() {
            return Ok(());
        }
        let name = format!("refs/heads/handover/failed/{}", ref_part(&story.planned.id));
        match self.repo.resolve(&format!("{name}^2"))? {
            // The branch of an earlier run is restored.
            Some(earlier) => self.repo.set_ref(&name, &earlier)?,
            None => self.repo.delete_refs(&name)?,
        }
        Ok(())
    }
}

/// Review findings and the summary of the work that fixed them.
fn fixed(story: &StoryRun) -> Vec<(String, &str)> {
    let sent_back = |end: &PhaseEnd| {
        end.phase == RunPhase::Review && end.voice.is_none() && end.verdict == Some(Verdict::Failed)
    };
    let done = |end: &&PhaseEnd| is_work(end.phase) && end.verdict == Some(Verdict::Complete);
    let mut all = Vec::new();
    for (n, end) in story.record.iter().enumerate().filter(|(_, end)| sent_back(end)) {
        let issues: Vec<&str> = end.findings.iter().map(|finding| finding.text.as_str()).collect();
        let reason = if issues.is_empty() { end.summary.clone() } else { issues.join("; ") };
        let how = story.record[n..].iter().find(done).map_or("", |end| end.summary.as_str());
        if !reason.trim().is_empty() && !how.trim().is_empty() {
            all.push((reason, how));
        }
    }
    all
}

/// The name of a single agent that analyzes a failure without a party.
const ANALYST: &str = "analyst";

fn single_statement(end: &PhaseEnd) -> Statement {
    Statement {
        persona: ANALYST.to_owned(),
        round: 1,
        verdict: end.verdict,
        summary: end.summary.clone(),
        findings: Vec::new(),
        contribution: end.contribution.clone(),
    }
}

fn answers_record(answers: &[Answer], at: Timestamp) -> Record {
    let line = |answer: &Answer| format!("{} → {}", answer.question, answer.text);
    Record {
        heading: "Questions Answered",
        fields: vec![("Date", date(at))],
        texts: Vec::new(),
        lists: vec![("Answers", answers.iter().map(line).collect())],
    }
}

fn date(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

fn dev_record(end: &PhaseEnd, created: &[String], at: Timestamp) -> Record {
    let modified = end.files.iter().filter(|file| !created.contains(file)).cloned();
    Record {
        heading: "Dev Agent Record",
        fields: vec![
            ("Date", date(at)),
            ("Phase", format!("{} {}", end.phase, end.attempt)),
            ("Role", end.role.as_ref().map(ToString::to_string).unwrap_or_default()),
            ("Receipt", end.receipt.clone().unwrap_or_default()),
        ],
        texts: vec![("Implementation Summary", end.summary.clone())],
        lists: vec![
            ("Key Decisions", end.notes.decisions.clone()),
            ("Tests Added", end.notes.tests.clone()),
            ("Notes for Reviewer", end.notes.for_reviewer.clone()),
            ("Files Created", created.to_vec()),
            ("Files Modified", modified.collect()),
            ("Restored", end.restored.clone()),
            ("Changed How It Is Tested", end.test_setup.clone()),
        ],
    }
}

fn review_record(end: &PhaseEnd, at: Timestamp) -> Record {
    let line = |finding: &Finding| {
        let parts = [&finding.severity, &finding.place, &finding.text];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        parts.join(" · ")
    };
    Record {
        heading: "Code Review Record",
        fields: vec![
            ("Date", date(at)),
            ("Review", end.attempt.to_string()),
            ("Role", end.role.as_ref().map(ToString::to_string).unwrap_or_default()),
            ("Verdict", end.verdict.map(|verdict| verdict.to_string()).unwrap_or_default()),
            ("Status", end.status.map(|status| status.to_string()).unwrap_or_default()),
            ("Receipt", end.receipt.clone().unwrap_or_default()),
        ],
        texts: vec![("Summary", end.summary.clone())],
        lists: vec![("Findings", end.findings.iter().map(line).collect())],
    }
}

#[cfg(test)]
mod tests;
