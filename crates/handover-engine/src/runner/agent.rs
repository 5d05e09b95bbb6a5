//! One agent, from its prompt to what it left behind.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use handover_agents::{Invocation, Outcome, split_command};
use handover_context::package_file::ProjectPaths;
use handover_handoff::{Debrief, Ending, Handoff, Learn, RunStep};
use handover_model::{AdmittedPrompt, FailureClass, Host, RunPhase, Timestamp, Verdict};

use super::crew::Job;
use super::{Begun, Runner, group_of, spawn_id};
use crate::EngineError;
use crate::git::{Worktree, ref_part};
use crate::journal::Intent;
use crate::ledger::{Spent, money_left};
use crate::party::is_new;
use crate::pipeline::{AgentStep, Voice};
use crate::prompt::Ask;
use crate::reducer::{Event, PhaseEnd, StoryRun, UnitKind};
use crate::task::{TaskParts, kind, role_text, task};
use crate::verdict::{self, Said, Unclear};

/// How much of a patch a reviewer is shown.
const PATCH_BYTES: u64 = 512 << 10;

/// One agent of one story.
pub(super) struct Call {
    pub(super) story: StoryRun,
    pub(super) worktree: Worktree,
    pub(super) seat: Seat,
    /// The refs that were there before it.
    pub(super) refs: BTreeSet<String>,
}

/// What an agent is there for, and where what it leaves is found.
pub(super) struct Seat {
    /// The story.
    pub(super) id: String,
    pub(super) step: AgentStep,
    pub(super) attempt: u32,
    /// What only this agent is told.
    pub(super) nonce: String,
    /// Where its logs go.
    pub(super) logs: PathBuf,
}

impl Seat {
    pub(super) fn file(&self, end: &str) -> PathBuf {
        let voice = self
            .step
            .voice
            .as_ref()
            .map(|voice| format!("-{}-{}", ref_part(&voice.persona), voice.round));
        let voice = voice.unwrap_or_default();
        self.logs.join(format!("{}-{}{voice}.{end}", self.step.phase, self.attempt))
    }

    /// Where its result is expected.
    pub(super) fn result(&self) -> PathBuf {
        self.file("result.json")
    }
}

/// An agent that is to work.
pub(super) struct AgentJob {
    pub(super) call: Call,
    pub(super) handoff: Handoff,
    /// The story.
    pub(super) text: String,
    /// Everything that it reads.
    pub(super) read: String,
    pub(super) invocation: Invocation,
    /// How long to wait before: the model could not be asked, and a little later it may be.
    pub(super) wait: Duration,
}

/// An agent that has worked.
pub(super) struct AgentDone {
    pub(super) call: Call,
    pub(super) handoff: Handoff,
    pub(super) host: Host,
    pub(super) outcome: Outcome,
    pub(super) said: Result<Said, Unclear>,
    /// What was used besides, for being asked once more.
    pub(super) more: Spent,
}

impl Runner<'_, '_> {
    pub(super) fn begin_agent(
        &mut self,
        intent: &Intent,
        id: &str,
        attempt: u32,
        voice: Option<&Voice>,
    ) -> Result<Begun, EngineError> {
        let story = self.story(id)?;
        let Some(step) = self.state.agent_of(&story, voice) else {
            return Err(self.out_of_step("an agent that no step asks for"));
        };
        // Whoever is asked again because of what it wrote need not wait for better times.
        let is_corrected = step.phase == RunPhase::Uat && !story.findings.is_empty();
        let wait = patience(if is_corrected { 0 } else { story.retries(voice) });
        let worktree = match voice {
            Some(voice) => self.worktree_of_voice(&story, voice)?,
            None => self.worktree(&story)?,
        };
        let (nonce, logs) = ((self.engine.unique)(), self.logs(id)?);
        let refs = self.repo.refs()?;
        let seat = Seat { id: id.to_owned(), step, attempt, nonce, logs };
        let _ = fs_err::remove_file(seat.result());
        let call = Call { story, worktree, seat, refs };
        let text = self.text_of(&call);
        let handoff = self.prepare(&call, &text)?;
        let invocation = self.invocation(intent, &call, &handoff.prompt)?;
        if voice.is_none() {
            // From here on the folder is the agent's.
            self.in_place.remove(id);
        }
        let read = format!("{text}\n{}", handoff.prompt.text());
        Ok(Begun::Job(Job::Agent(Box::new(AgentJob {
            call,
            handoff,
            text,
            read,
            invocation,
            wait,
        }))))
    }

    pub(super) fn end_agent(&mut self, done: AgentDone) -> Result<Event, EngineError> {
        let AgentDone { call, handoff, host, outcome, mut said, more } = done;
        let receipt = handoff.prompt.receipt();
        self.engine.handoffs.started(receipt, Some(host), self.now())?;
        if !call.seat.step.optional && call.story.kind == UnitKind::Story {
            refuse_a_host_that_cannot_work(&outcome)?;
        }
        self.clear_strays(&call)?;
        if let Ok(said) = &mut said {
            self.weigh(&call, said);
        }
        let mut left = match &call.seat.step.voice {
            Some(_) => self.leave_folder(&call.story, &call.worktree)?,
            None => self.settle_folder(&call.story, &call.seat.step, &call.worktree)?,
        };
        if let Some(problem) = left.problem {
            said = Err(Unclear::Broken(problem));
        }
        if call.seat.step.phase == RunPhase::Uat && outcome.is_success() {
            (said, left.tree) = self.take_scenarios(&call, said, left.tree)?;
        }
        let now = self.now();
        let (verdict, summary, said) = judge(&outcome, said);
        self.keep_ending(&call, &handoff, verdict, &summary, &said, now)?;
        let spent = spent(&outcome, &said) + more;
        Ok(Event::PhaseEnded(Box::new(PhaseEnd {
            story: call.seat.id.clone(),
            phase: call.seat.step.phase,
            attempt: call.seat.attempt,
            voice: call.seat.step.voice.clone(),
            role: Some(call.seat.step.role.clone()),
            status: said.status.filter(|_| verdict.is_some()),
            verdict,
            summary,
            findings: said.findings,
            contribution: said.contribution,
            failure: outcome.failure.as_ref().map(|failure| failure.class),
            tree: left.tree,
            files: left.files,
            restored: left.restored,
            spent,
            receipt: Some(receipt.to_string()),
            retro: said.retro.filter(|_| verdict == Some(Verdict::Complete)).map(Box::new),
        })))
    }

    /// The story as it is in the worktree; the epic for what closes it.
    fn text_of(&self, call: &Call) -> String {
        let path = match call.story.kind {
            UnitKind::Story => Some(call.story.planned.path.as_str()),
            UnitKind::Closing => self.state.plan.epic_file.as_deref(),
        };
        let path = path.map(|path| call.worktree.project().join(path));
        let bytes = path.and_then(|path| fs_err::read(path).ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn prepare(&self, call: &Call, text: &str) -> Result<Handoff, EngineError> {
        let Call { story, seat, .. } = call;
        let Seat { step, nonce, .. } = seat;
        let kind = kind(step);
        let party = self.state.party_of(story);
        let patch = match (&story.base, &story.tree) {
            (Some(base), Some(tree)) if kind.sees_work => {
                let own = self.repo.prefix.join(&story.planned.path).display().to_string();
                self.repo.patch(base, tree, &[own], PATCH_BYTES)?
            }
            _ => String::new(),
        };
        let parts = TaskParts {
            state: &self.state,
            story,
            step,
            text,
            patch: &patch,
            nonce,
            result: &seat.result(),
        };
        let ask = Ask {
            session: self.state.plan.records_in.clone(),
            group: group_of(&seat.id)?,
            role: step.role.clone(),
            role_text: role_text(step, party),
            reasoning: kind.is_cold.then_some(false),
            host: self.state.options.host,
            model: step.model.clone().or_else(|| self.state.options.model.clone()),
            folder: Some(call.worktree.project()),
            task: task(&parts),
            about: format!("{}\n{text}", story.planned.title),
            unique: (self.engine.unique)(),
            now: self.now(),
        };
        ask.prepare(&self.engine.handoffs)
    }

    fn invocation(
        &self,
        intent: &Intent,
        call: &Call,
        prompt: &AdmittedPrompt,
    ) -> Result<Invocation, EngineError> {
        let options = &self.state.options;
        let run = &self.journal.run;
        let spawn = spawn_id(run, intent.seq)?;
        let mut invocation = Invocation::new(options.host, spawn, call.worktree.project());
        if let Some(command) = &options.command {
            (invocation.program, invocation.args) = split_command(command)?;
        }
        invocation.prompt = Some(prompt.clone());
        let seat = &call.seat;
        invocation.profile = seat.step.profile;
        invocation.model = seat.step.model.clone().or_else(|| options.model.clone());
        let mut environment = self.engine.environment_of(options.host);
        let plan = &self.state.plan;
        for (name, value) in [
            ("HANDOVER_RUN", run.as_str()),
            ("HANDOVER_STORY", &seat.id),
            ("HANDOVER_PHASE", seat.step.phase.as_str()),
            ("HANDOVER_ROLE", seat.step.role.as_str()),
            ("HANDOVER_ATTEMPT", &seat.attempt.to_string()),
            ("HANDOVER_NONCE", &seat.nonce),
            ("HANDOVER_SESSION", plan.records_in.as_str()),
            ("HANDOVER_GROUP", group_of(&seat.id)?.as_str()),
        ] {
            environment.set(name, value);
        }
        environment.set("HANDOVER_RESULT", seat.result());
        if let Some(voice) = &seat.step.voice {
            environment.set("HANDOVER_PERSONA", &voice.persona);
            environment.set("HANDOVER_ROUND", voice.round.to_string());
        }
        self.engine.share_builds(&mut environment);
        invocation.environment = environment;
        let budget = &options.budget;
        let wall = budget.phase.minutes.map(|minutes| (minutes * 60.0).max(1.0) as u64);
        let wall = wall.unwrap_or(u64::MAX).min(options.phase_timeout);
        invocation.limits.wall = Some(Duration::from_secs(wall));
        invocation.limits.idle = Some(Duration::from_secs(options.idle_timeout));
        invocation.limits.turns =
            budget.phase.turns.map(|turns| u32::try_from(turns).unwrap_or(u32::MAX));
        let (run, story) = self.state.expected(&self.at_work(), &seat.id);
        invocation.limits.cost_usd =
            money_left(budget, self.state.spent() + run, call.story.spent() + story);
        Ok(invocation)
    }

    /// Whether an analysis says something that those who failed had not been told.
    fn weigh(&self, call: &Call, said: &mut Said) {
        let Some(analysis) = &mut said.contribution.analysis else { return };
        let story = &call.story;
        let mut told = vec![self.text_of(call), story.reason.clone(), story.gate_detail.clone()];
        told.extend(story.findings.iter().map(|finding| finding.text.clone()));
        told.extend(story.record.iter().map(|end| end.summary.clone()));
        told.extend(story.failures.iter().flat_map(|failure| failure.advice.clone()));
        told.extend(story.answers.iter().map(|answer| answer.text.clone()));
        analysis.adds = is_new(&analysis.advice(), &told.join("\n"));
    }

    /// Keeps what the agent left behind for the agents after it.
    fn keep_ending(
        &mut self,
        call: &Call,
        handoff: &Handoff,
        verdict: Option<Verdict>,
        summary: &str,
        said: &Said,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let Seat { id, step, attempt, .. } = &call.seat;
        let step = RunStep {
            run: self.journal.run.clone(),
            story: id.clone(),
            phase: step.phase,
            attempt: *attempt,
            voice: step.voice.as_ref().and_then(|voice| serde_json::to_value(voice).ok()),
            status: said.status,
        };
        let debrief = Debrief {
            receipt: said.receipt.clone(),
            verdict,
            summary: Some(summary.to_owned()).filter(|summary| !summary.is_empty()),
            reasoning: said.reasoning.clone(),
            packages: said.packages.clone(),
            errors: said.errors.clone(),
            problems: said.problems.clone(),
            ..Debrief::default()
        };
        // The folder of a voice may be gone by now.
        let worktree = ProjectPaths::new(&call.worktree.project(), &[]).ok();
        let ended = self.engine.handoffs.ended(Ending {
            learn: Learn::AtCommit,
            worktree: worktree.as_ref(),
            run: Some(&step),
            ..Ending::new(&handoff.assignment, &debrief, now)
        })?;
        for reason in ended.kept().map(|kept| kept.refused.clone()).unwrap_or_default() {
            self.warn(format!("{id}: {reason}"))?;
        }
        Ok(())
    }
}

/// Whoever has no key, no money or no such model will have none for the next story either.
fn refuse_a_host_that_cannot_work(outcome: &Outcome) -> Result<(), EngineError> {
    match &outcome.failure {
        Some(failure)
            if matches!(
                failure.class,
                FailureClass::Auth
                    | FailureClass::Quota
                    | FailureClass::Model
                    | FailureClass::Usage
            ) =>
        {
            let message = handover_text::cut::cut(&failure.message, 300);
            Err(EngineError::Host { message })
        }
        Some(_) | None => Ok(()),
    }
}

/// A success counts only if the program ended well; anything else counts as it was said.
fn judge(
    outcome: &Outcome,
    said: Result<Said, verdict::Unclear>,
) -> (Option<Verdict>, String, Said) {
    let (verdict, summary, said) = match said {
        Ok(said) => (said.verdict, said.summary.clone(), said),
        Err(unclear) => (None, unclear.to_string(), Said::default()),
    };
    let is_success =
        matches!(verdict, Some(Verdict::Complete | Verdict::Passed | Verdict::PassedWithFixes));
    match &outcome.failure {
        Some(failure) if is_success || verdict.is_none() => {
            (None, handover_text::cut::cut(&failure.message, 500), said)
        }
        Some(_) | None => (verdict, summary, said),
    }
}

/// What was used: what the program reports, else what the agent says.
pub(super) fn spent(outcome: &Outcome, said: &Said) -> Spent {
    let report = &outcome.report;
    let tokens = Some(report.usage.total()).filter(|total| *total > 0);
    Spent {
        cost_usd: report.cost_usd.or(said.usage.cost_usd).unwrap_or_default(),
        tokens: tokens.or(said.usage.tokens).unwrap_or_default(),
        turns: report.turns.map(u64::from).or(said.usage.turns).unwrap_or_default(),
        duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
    }
}

/// How long to wait before an agent is asked once more.
fn patience(retries: u32) -> Duration {
    match retries {
        0 => Duration::ZERO,
        tried => Duration::from_secs(5 << (2 * tried.min(3) - 2).min(4)),
    }
}
