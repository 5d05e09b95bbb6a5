//! Keeping an ending: reasoning, packages, errors, the verdict and the receipt, all or nothing.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

use handover_context::learning::Binding;
use handover_context::package_file::{DraftContext, Facts, ProjectPaths, Put, register_file};
use handover_model::roles::Duty;
use handover_model::{
    GroupId, GroupStatus, KnownEvent, Phase, ProjectId, ReceiptId, ReceiptState, Role, ScreenFlag,
    Verdict,
};
use handover_store::{
    CleanSignature, ErrorSighting, EventKey, GroupUpdate, NewEvent, NewReasoning, NewVerdict,
    ReceiptStep, Result, Store,
};
use handover_text::screen::screen;
use serde_json::{Map, Value, json};

use super::read::BLOCK;
use super::trust::Earned;
use super::{Debrief, Ended, Ending, Kept, Learn, PackageNote, learn, uses};
use crate::{Assignment, Handoffs};

impl Handoffs<'_> {
    /// Keeps everything that an ending brings, in one transaction. Of an agent that said nothing, it
    /// keeps that.
    pub fn ended(&self, ending: Ending<'_>) -> crate::Result<Ended> {
        let store = self.store()?;
        // Detecting the technology may take longer than a writer should hold the lock.
        let binding = match ending.debrief.says_something() {
            true => Binding::of(
                &self.technology.technology().stack,
                component(store, ending.assignment).as_deref(),
            ),
            false => Binding::default(),
        };
        let uses = uses::of(store, &ending)?;
        Ok(store.writing(|store| {
            if let Some(receipt) = ending.assignment.receipt.as_ref().filter(|_| !uses.is_empty()) {
                store.mark_used(receipt, &uses)?;
            }
            let project = OnceCell::new();
            let earned = Earned::of(store, ending.assignment, ending.outside, ending.trace)?;
            Keeper { handoffs: self, store, binding: &binding, ending, earned, project }.keep()
        })?)
    }
}

/// One ending on its way into the store.
pub(super) struct Keeper<'a> {
    pub(super) handoffs: &'a Handoffs<'a>,
    pub(super) store: &'a dyn Store,
    pub(super) binding: &'a Binding,
    pub(super) ending: Ending<'a>,
    earned: Earned,
    project: OnceCell<ProjectId>,
}

impl Keeper<'_> {
    fn keep(&self) -> Result<Ended> {
        let Ending { assignment, debrief, now, .. } = self.ending;
        if let Some(receipt) = &assignment.receipt {
            if self.ending.lost_prompt {
                self.fail_receipt(receipt)?;
            }
            if let Some(message) = self.ending.ended_with
                && !self.store.end_ticket(receipt, message, now)?
            {
                return Ok(Ended::StoredEarlier);
            }
        }
        if !debrief.says_something() {
            let payload = json!({
                "receipt": assignment.receipt, "role": assignment.role, "missing": [BLOCK],
                "asked": self.ending.asked_again,
            });
            // An agent that is continued may have left a debrief earlier.
            self.log_once(KnownEvent::Debrief, payload, self.key().as_deref())?;
            return Ok(Ended::Nothing);
        }
        let states_verdict = debrief.verdict.is_some() || self.ending.run.is_some();
        let verdict = json!({
            "receipt": assignment.receipt, "role": assignment.role,
            "verdict": debrief.verdict, "summary": debrief.summary,
        });
        if states_verdict && !self.log(KnownEvent::Verdict, verdict)? && self.ending.run.is_some() {
            return Ok(Ended::StoredEarlier);
        }
        let trust = Some(self.earned.trust);
        let mut kept = Kept { refused: debrief.problems.clone(), trust, ..Kept::default() };
        self.earned.apply(self.store, &self.ending)?;
        if self.ending.learn == Learn::FromVerdict {
            learn::solved_findings(self, &mut kept)?;
        }
        self.keep_verdict()?;
        self.keep_reasoning(&mut kept)?;
        self.keep_packages(&mut kept)?;
        self.keep_errors(&mut kept)?;
        self.confirm(&mut kept)?;
        if self.ending.learn == Learn::FromVerdict {
            learn::strategies(self, &mut kept)?;
        }
        self.log(
            KnownEvent::Debrief,
            json!({
                "receipt": assignment.receipt,
                "role": assignment.role,
                "iteration": assignment.iteration,
                "verdict": debrief.verdict,
                "summary": debrief.summary,
                "missing": debrief.missing,
                "kept": kept,
                "trusted_less_because_of": self.earned.because,
                "flags": flags(debrief),
            }),
        )?;
        Ok(Ended::Kept(kept))
    }

    /// The prompt did not reach its agent: its packages are free again.
    fn fail_receipt(&self, receipt: &ReceiptId) -> Result<()> {
        let now = self.ending.now;
        let reason = "the conversation of the subagent does not hold it";
        let step = ReceiptStep::Failed { reason: self.handoffs.redactor.clean(reason) };
        self.store.advance_receipt(receipt, &step, now)?;
        Ok(())
    }

    /// Records the verdict, so that those who repair the work read first why it came back.
    fn keep_verdict(&self) -> Result<()> {
        let Ending { assignment, debrief, now, .. } = self.ending;
        let Some(verdict) = debrief.verdict else { return Ok(()) };
        let redactor = self.handoffs.redactor;
        self.store.add_verdict(&NewVerdict {
            session: assignment.session.clone(),
            group: assignment.group.clone(),
            role: assignment.role.clone(),
            agent_id: assignment.agent.clone(),
            iteration: assignment.iteration,
            receipt: assignment.receipt.clone(),
            verdict,
            summary: debrief.summary.as_deref().map(|summary| redactor.clean(summary)),
            findings: debrief.findings.iter().map(|finding| redactor.clean(finding)).collect(),
            now,
            trust: self.earned.trust,
        })?;
        self.move_group(verdict)
    }

    /// The status of a group follows the verdicts on its work.
    fn move_group(&self, verdict: Verdict) -> Result<()> {
        let Ending { assignment, now, .. } = self.ending;
        let Some(id) = &assignment.group else { return Ok(()) };
        let status = self.store.group(&assignment.session, id)?.status;
        let next = next_status(status, &assignment.role, verdict);
        if next != status {
            let update = GroupUpdate::new(assignment.session.clone(), id.clone(), now);
            self.store.set_group(&GroupUpdate { status: Some(next), ..update })?;
        }
        Ok(())
    }

    fn keep_reasoning(&self, kept: &mut Kept) -> Result<()> {
        let Ending { assignment, now, .. } = self.ending;
        for (phase, text) in with_completion(self.ending.debrief) {
            self.store.add_reasoning(&NewReasoning {
                session: assignment.session.clone(),
                group: assignment.group.clone(),
                role: assignment.role.clone(),
                agent_id: assignment.agent.clone(),
                iteration: assignment.iteration,
                phase,
                confidence: self.ending.debrief.confidence,
                content: self.handoffs.redactor.clean(text),
                references: Vec::new(),
                now,
                trust: self.earned.trust,
            })?;
            kept.reasoning += 1;
        }
        Ok(())
    }

    fn keep_packages(&self, kept: &mut Kept) -> Result<()> {
        let Ending { assignment, debrief, now, .. } = self.ending;
        if debrief.packages.is_empty() {
            return Ok(());
        }
        let groups: Vec<GroupId> =
            self.store.groups(&assignment.session)?.into_iter().map(|group| group.id).collect();
        let config = &self.handoffs.config.packages;
        for note in &debrief.packages {
            let paths = self.paths_of(note);
            let drafts = DraftContext {
                paths,
                redactor: self.handoffs.redactor,
                session: &assignment.session,
                groups: &groups,
                warn_bytes: config.warn_bytes,
                max_bytes: config.max_bytes,
                now,
                trust: self.earned.trust,
            };
            let located = paths.locate_untrusted(Path::new(&note.path));
            match register_file(self.store, &drafts, located, facts(note, assignment))? {
                Put::Registered(registered) | Put::Unchanged(registered) => {
                    kept.packages.push(registered.package.id);
                }
                Put::Skipped(reason) => {
                    kept.refused.push(format!("package `{}`: {reason}", note.path));
                }
            }
        }
        Ok(())
    }

    /// A file of the agent's worktree is known by its path in the project; others must be among the
    /// project's own.
    fn paths_of(&self, note: &PackageNote) -> &ProjectPaths {
        match self.ending.worktree {
            Some(worktree) if worktree.root().join(&note.path).starts_with(worktree.root()) => {
                worktree
            }
            Some(_) | None => self.handoffs.paths,
        }
    }

    fn keep_errors(&self, kept: &mut Kept) -> Result<()> {
        for note in &self.ending.debrief.errors {
            let pattern = match &note.solution {
                Some(solution) => self.resolve(&note.message, solution)?,
                None => self.store.record_error(&self.sighting(&note.message)?)?.hash,
            };
            kept.errors.push(pattern);
        }
        Ok(())
    }

    /// Stores an error with its solution; the hash of its pattern.
    pub(super) fn resolve(&self, message: &str, solution: &str) -> Result<String> {
        let solution = self.handoffs.redactor.clean(solution);
        Ok(self.store.resolve_error(&self.sighting(message)?, &solution)?.hash)
    }

    /// The project that the errors belong to, read once.
    fn project(&self) -> Result<ProjectId> {
        if let Some(project) = self.project.get() {
            return Ok(project.clone());
        }
        let project = self.store.session(&self.ending.assignment.session)?.project;
        Ok(self.project.get_or_init(|| project).clone())
    }

    /// An error as this agent saw it.
    fn sighting(&self, message: &str) -> Result<ErrorSighting> {
        let Ending { assignment, now, .. } = self.ending;
        let redactor = self.handoffs.redactor;
        Ok(ErrorSighting {
            project: self.project()?,
            signature: CleanSignature::new(None, message, &[], redactor),
            language: self.binding.language.as_deref().map(|name| redactor.clean(name)),
            ttl_days: self.handoffs.config.learning.ttl_days,
            session: Some(assignment.session.clone()),
            group: assignment.group.clone(),
            role: Some(assignment.role.clone()),
            command: None,
            now,
            trust: self.earned.trust,
        })
    }

    /// An agent that names its receipt has seen its prompt.
    fn confirm(&self, kept: &mut Kept) -> Result<()> {
        let Ending { assignment, debrief, now, .. } = self.ending;
        let (Some(named), Some(given)) = (&debrief.receipt, &assignment.receipt) else {
            return Ok(());
        };
        if named != given {
            kept.refused.push(format!("it names receipt {named}, but was given {given}"));
            return Ok(());
        }
        if self.store.receipt(given)?.state == ReceiptState::Delivered {
            self.store.advance_receipt(given, &ReceiptStep::Confirmed, now)?;
        }
        kept.confirmed = true;
        Ok(())
    }

    /// Logs an event about the ending; whether it is new.
    fn log(&self, kind: KnownEvent, mut payload: Value) -> Result<bool> {
        let Ending { run, ended_with, .. } = self.ending;
        if let (Some(run), Some(fields)) = (run, payload.as_object_mut()) {
            fields.extend(step_fields(run));
        }
        let key = self.key();
        if self.log_once(kind, payload.clone(), key.as_deref())? {
            return Ok(true);
        }
        // A further ending of the same agent.
        let (Some(key), Some(message)) = (key, ended_with) else { return Ok(false) };
        self.log_once(kind, payload, Some(&format!("{key}-{message}")))
    }

    /// What identifies the ending among the events.
    fn key(&self) -> Option<String> {
        match self.ending.run {
            // An agent that a crash made a run repeat has another receipt, but the same step.
            Some(step) => Some(step.key()),
            None => self.ending.assignment.receipt.as_ref().map(ToString::to_string),
        }
    }

    fn log_once(&self, kind: KnownEvent, payload: Value, key: Option<&str>) -> Result<bool> {
        let Ending { assignment, now, .. } = self.ending;
        let redactor = self.handoffs.redactor;
        let key = key.map(|key| EventKey::new(key, redactor));
        let logged = self.store.log_event(&NewEvent {
            session: assignment.session.clone(),
            group: assignment.group.clone(),
            kind: kind.into(),
            payload: redactor.clean_json(payload),
            key,
            now,
        })?;
        Ok(!logged.duplicate)
    }
}

/// The part of the repository that the group works in.
fn component(store: &dyn Store, assignment: &Assignment) -> Option<String> {
    let group = assignment.group.as_ref()?;
    store.group(&assignment.session, group).ok()?.component
}

/// The status of a group after a verdict.
fn next_status(status: GroupStatus, role: &Role, verdict: Verdict) -> GroupStatus {
    let judged = Duty::of(role) == Duty::Judges;
    match (role.as_str(), status) {
        ("tech_lead", _) if verdict.accepts() => GroupStatus::ApprovedPendingMerge,
        ("project_manager", _) if verdict.accepts() || verdict == Verdict::Complete => {
            GroupStatus::Completed
        }
        _ if judged && verdict.sends_back() => GroupStatus::InProgress,
        (_, GroupStatus::Pending) => GroupStatus::InProgress,
        _ => status,
    }
}

/// The reasoning of a debrief. The summary of a verdict stands in for a missing completion; it comes
/// first, so that what the agent reasoned itself is newer.
fn with_completion(debrief: &Debrief) -> impl Iterator<Item = (Phase, &str)> {
    let missing = !debrief.reasoning.contains_key(&Phase::Completion);
    // Without a verdict, the summary only says what went wrong.
    let stands_in = missing && debrief.verdict.is_some();
    let summary = debrief.summary.as_deref().filter(|_| stands_in);
    let stated = debrief.reasoning.iter().map(|(phase, text)| (*phase, text.as_str()));
    summary.map(|summary| (Phase::Completion, summary)).into_iter().chain(stated)
}

/// What the screen finds in the words of a debrief.
fn flags(debrief: &Debrief) -> BTreeSet<ScreenFlag> {
    let texts = debrief.summary.iter().chain(&debrief.findings).chain(debrief.reasoning.values());
    texts.flat_map(|text| screen(text).flags()).collect()
}

fn facts(note: &PackageNote, assignment: &Assignment) -> Facts {
    Facts {
        kind: note.kind,
        producer: Some(assignment.role.clone()),
        consumers: (!note.consumers.is_empty()).then(|| note.consumers.clone()),
        priority: note.priority,
        summary: note.summary.clone(),
        default_group: assignment.group.clone(),
        ..Facts::default()
    }
}

fn step_fields(step: &super::RunStep) -> Map<String, Value> {
    match serde_json::to_value(step) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => Map::new(),
    }
}
