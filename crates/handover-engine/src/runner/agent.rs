//! One agent, from composing its prompt to recording its result.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{Invocation, Outcome, Registry, split_command};
use handover_context::package_file::ProjectPaths;
use handover_files::Folder;
use handover_handoff::{Debrief, Ending, Handoff, Learn, OutsideRead, PackageNote, RunStep};
use handover_model::config::Allowance;
use handover_model::{AdmittedPrompt, FailureClass, RunPhase, Timestamp, Trace, Verdict};

use super::workers::Job;
use super::{Runner, Started, spawn_id};
use crate::EngineError;
use crate::bounded;
use crate::data::{Finding, Spent};
use crate::gates::{Gate, caches};
use crate::git::{Worktree, ref_part};
use crate::journal::Intent;
use crate::party::is_new;
use crate::pipeline::{AgentStep, Voice};
use crate::plan::group_of;
use crate::prompt::PromptRequest;
use crate::reducer::{AgentLimits, Event, LimitScope, PhaseEnd, StoryRun, UnitKind};
use crate::story::epic_section;
use crate::task::{Documents, PATCH, TaskParts, kind, role_text, task};
use crate::verdict::{AgentReport, ReportError};

/// The folder for the result, in the worktree.
pub(super) const RESULT_FOLDER: &str = ".handover-result";

/// An agent that works on a story, with everything needed to judge its result.
pub(super) struct AgentCall {
    pub(super) story: StoryRun,
    pub(super) worktree: Worktree,
    pub(super) attempt: AgentAttempt,
    /// The gates that will check its work.
    pub(super) gates: Vec<Gate>,
    /// What it may use.
    pub(super) limits: AgentLimits,
    /// The refs of the repository before it started.
    pub(super) refs: BTreeSet<String>,
}

/// One attempt of one agent at one step, and where its files are.
pub(super) struct AgentAttempt {
    pub(super) story: String,
    pub(super) step: AgentStep,
    pub(super) number: u32,
    /// A nonce that binds the result to this attempt. It is passed in the prompt, on standard input, and
    /// nowhere else: other processes can read arguments and environments.
    pub(super) nonce: String,
    /// The name of its result file, which no other process can guess.
    pub(super) secret_name: String,
    /// The folder of its logs.
    pub(super) logs: Folder,
    /// The folder that it works in.
    pub(super) folder: PathBuf,
}

impl AgentAttempt {
    /// The name of one of its files.
    pub(super) fn file(&self, end: &str) -> String {
        let voice = self
            .step
            .voice
            .as_ref()
            .map(|voice| format!("-{}-{}", ref_part(&voice.persona), voice.round));
        let voice = voice.unwrap_or_default();
        format!("{}-{}{voice}.{end}", self.step.phase, self.number)
    }

    /// The file it is asked to write its result to.
    pub(super) fn result(&self) -> PathBuf {
        self.result_folder().path().join(self.result_name())
    }

    pub(super) fn result_name(&self) -> String {
        format!("{}.json", self.secret_name)
    }

    /// A folder where it may write with any permissions, which no other agent has, and which is gone before
    /// its work is looked at.
    pub(super) fn result_folder(&self) -> Folder {
        Folder::at(&self.folder).inside(RESULT_FOLDER)
    }
}

/// An agent that is ready to start.
pub(super) struct AgentJob {
    pub(super) call: AgentCall,
    pub(super) handoff: Handoff,
    /// The text of the story.
    pub(super) text: String,
    /// Everything it is given to read.
    pub(super) read: String,
    pub(super) invocation: Invocation,
    /// How long to wait before it starts: back-off after the model could not be reached.
    pub(super) wait: Duration,
}

/// An agent that has ended.
pub(super) struct AgentDone {
    pub(super) call: AgentCall,
    pub(super) handoff: Handoff,
    pub(super) outcome: Outcome,
    pub(super) report: Result<AgentReport, ReportError>,
    /// The usage of the follow-up call that asked for a missing verdict.
    pub(super) follow_up: Spent,
    /// What the agent was given and did.
    pub(super) trace: Trace,
}

/// What was seen of an agent while it worked.
#[derive(Clone, Copy)]
struct Seen<'a> {
    outside: Option<&'a OutsideRead>,
    trace: &'a Trace,
}

/// An agent that could not be run to completion.
pub(super) struct AgentFailed {
    pub(super) handoff: Handoff,
    /// Whether its program started, and so received its prompt.
    pub(super) started: bool,
    pub(super) error: EngineError,
}

impl Runner<'_, '_> {
    pub(super) fn start_agent(
        &mut self,
        intent: &Intent,
        id: &str,
        attempt: u32,
        voice: Option<&Voice>,
    ) -> Result<Started, EngineError> {
        let story = self.story(id)?;
        let Some(step) = self.state.agent_of(&story, voice) else {
            return Err(self.inconsistent("an agent that no step wants"));
        };
        // An agent that corrects its scenarios need not back off.
        let is_corrected = step.phase == RunPhase::Uat && !story.findings.is_empty();
        let wait = backoff(if is_corrected { 0 } else { story.retries(voice) });
        let worktree = match voice {
            Some(voice) => self.voice_worktree(&story, voice)?,
            None => self.worktree(&story)?,
        };
        let (nonce, secret_name) = (self.engine.secret(), self.engine.secret());
        let (logs, refs) = (self.logs(id)?, self.repo.refs()?);
        let story_id = id.to_owned();
        let folder = worktree.project();
        let attempt = AgentAttempt {
            story: story_id,
            step,
            number: attempt,
            nonce,
            secret_name,
            logs,
            folder,
        };
        let gates = self.detected(id, &worktree)?;
        let limits = self.limits(&story);
        let call = AgentCall { story, worktree, attempt, gates, limits, refs };
        let text = self.text_of(&call);
        let handoff = self.prepare(&call, &text)?;
        let invocation = self.invocation(intent, &call, &handoff.prompt)?;
        if voice.is_none() {
            // From here on the agent may change the folder.
            self.tree_in_worktree.remove(id);
        }
        let read = format!("{text}\n{}", handoff.prompt.text());
        Ok(Started::Job(Job::Agent(Box::new(AgentJob {
            call,
            handoff,
            text,
            read,
            invocation,
            wait,
        }))))
    }

    pub(super) fn finish_agent(&mut self, done: AgentDone) -> Result<Event, EngineError> {
        let AgentDone { call, handoff, outcome, mut report, follow_up, trace } = done;
        let receipt = handoff.prompt.receipt();
        let waits_until = self.lifted_at(&outcome, &call.story);
        let is_needed = !call.attempt.step.optional && call.story.kind == UnitKind::Story;
        if is_needed && waits_until.is_none() {
            stop_if_host_is_unusable(&outcome, &self.program()?)?;
        }
        self.handle_unexpected_refs(&call)?;
        if let Ok(report) = &mut report {
            self.flag_new_advice(&call, report);
        }
        let mut left = match &call.attempt.step.voice {
            Some(_) => self.discard_folder(&call.story, &call.worktree)?,
            None => self.collect_changes(&call.story, &call.attempt.step, &call.worktree)?,
        };
        if let Some(problem) = left.problem {
            report = Err(ReportError::Unreadable(problem));
        }
        if call.attempt.step.phase == RunPhase::Uat && outcome.is_success() {
            (report, left.tree) = self.adopt_scenarios(&call, report, left.tree)?;
        }
        let now = self.now();
        let used = match &report {
            Ok(report) => spent(&outcome, report),
            Err(_) => spent(&outcome, &AgentReport::default()),
        };
        self.question_cost_limit(&outcome, report.as_ref().ok())?;
        let spent = used + follow_up;
        let over = over_limit(&call.limits, &self.state.options.budget.phase, &outcome, spent);
        if let Some((_, why)) = &over {
            report = Err(ReportError::OverLimit(why.clone()));
        }
        let (verdict, summary, report) = judge(&outcome, report);
        let outside = outcome.report.outside.clone();
        let outside = outside.map(|tool| OutsideRead { tool, at: None });
        let conclusion = (verdict, summary.as_str());
        let seen = Seen { outside: outside.as_ref(), trace: &trace };
        self.keep_ending(&call, &handoff, conclusion, &report, seen, now)?;
        Ok(Event::PhaseEnded(Box::new(PhaseEnd {
            story: call.attempt.story.clone(),
            phase: call.attempt.step.phase,
            attempt: call.attempt.number,
            voice: call.attempt.step.voice.clone(),
            role: Some(call.attempt.step.role.clone()),
            status: report.status.filter(|_| verdict.is_some()),
            verdict,
            summary,
            findings: report.findings,
            contribution: report.contribution,
            notes: report.notes,
            failure: outcome.failure.as_ref().map(|failure| failure.class),
            over: over.map(|(scope, _)| scope),
            waits_until,
            tree: left.tree,
            files: left.files,
            restored: left.restored,
            test_setup: left.test_setup,
            spent,
            receipt: Some(receipt.to_string()),
            retro: report.retro.filter(|_| verdict == Some(Verdict::Complete)).map(Box::new),
        })))
    }

    /// Says once that a limit on cost has no effect, because the program reports none.
    fn question_cost_limit(
        &mut self,
        outcome: &Outcome,
        report: Option<&AgentReport>,
    ) -> Result<(), EngineError> {
        let budget = &self.state.options.budget;
        let is_limited =
            [&budget.run, &budget.story, &budget.phase].iter().any(|it| it.usd.is_some());
        let is_known = outcome.report.cost_usd.is_some()
            || report.is_some_and(|report| report.usage.cost_usd.is_some());
        if !is_limited || is_known || std::mem::replace(&mut self.cost_is_unknown, true) {
            return Ok(());
        }
        self.warn("the agent program reports no cost, so limits in USD have no effect".to_owned())
    }

    /// Releases the packages of an agent that never got its prompt. Its error stops the run.
    pub(super) fn agent_failed(&self, failed: AgentFailed) -> EngineError {
        let AgentFailed { handoff, started, error } = failed;
        if !started {
            self.engine.handoffs.not_started(&handoff, &error.to_string(), self.now());
        }
        error
    }

    /// The story's file in the worktree; the epic's file for the unit that closes it.
    fn text_of(&self, call: &AgentCall) -> String {
        let path = match call.story.kind {
            UnitKind::Story => Some(call.story.planned.path.as_str()),
            UnitKind::Closing => self.state.plan.epic_file.as_deref(),
        };
        let path = path.map(|path| call.worktree.project().join(path));
        let bytes = path.and_then(|path| bounded::bytes(&path)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match call.story.kind {
            UnitKind::Story => text,
            UnitKind::Closing => {
                epic_section(&text, &self.state.plan.epic).unwrap_or(&text).to_owned()
            }
        }
    }

    fn prepare(&self, call: &AgentCall, text: &str) -> Result<Handoff, EngineError> {
        let AgentCall { story, attempt, .. } = call;
        let AgentAttempt { step, nonce, .. } = attempt;
        let kind = kind(step);
        let party = self.state.party_of(story);
        let patch = match (&story.base, &story.tree) {
            (Some(base), Some(tree)) if kind.sees_work => {
                let own = self.repo.prefix.join(&story.planned.path).display().to_string();
                self.repo.patch(base, tree, &[own], PATCH)?
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
            result: &attempt.result(),
            gates: &call.gates.iter().map(Gate::shown).collect::<Vec<_>>(),
            documents: &Documents::read(&call.worktree.project(), &self.state.plan),
        };
        let request = PromptRequest {
            session: self.state.plan.records_in.clone(),
            group: group_of(&attempt.story)?,
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
        request.prepare(&self.engine.handoffs)
    }

    fn invocation(
        &self,
        intent: &Intent,
        call: &AgentCall,
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
        let attempt = &call.attempt;
        invocation.profile = attempt.step.profile;
        invocation.model = attempt.step.model.clone().or_else(|| options.model.clone());
        let mut environment = self.engine.environment_of(options.host);
        let plan = &self.state.plan;
        for (name, value) in [
            ("HANDOVER_RUN", run.as_str()),
            ("HANDOVER_STORY", &attempt.story),
            ("HANDOVER_PHASE", attempt.step.phase.as_str()),
            ("HANDOVER_ROLE", attempt.step.role.as_str()),
            ("HANDOVER_ATTEMPT", &attempt.number.to_string()),
            ("HANDOVER_SESSION", plan.records_in.as_str()),
            ("HANDOVER_GROUP", group_of(&attempt.story)?.as_str()),
        ] {
            environment.set(name, value);
        }
        environment.set("HANDOVER_RESULT", attempt.result());
        if let Some(voice) = &attempt.step.voice {
            environment.set("HANDOVER_PERSONA", &voice.persona);
            environment.set("HANDOVER_ROUND", voice.round.to_string());
        }
        self.engine.cargo_targets().choose(&call.worktree, &mut environment)?;
        self.redirect_agent(&mut environment, spawn_id(run, intent.seq)?, &call.worktree)?;
        invocation.writable = caches(&call.gates, &environment);
        invocation.environment = environment;
        invocation.databases = self.engine.databases;
        invocation.commands = call.gates.iter().filter_map(Gate::rule).collect();
        let budget = &options.budget;
        let wall = budget.phase.minutes.map(|minutes| (minutes * 60.0).max(1.0) as u64);
        let wall = wall.unwrap_or(u64::MAX).min(options.phase_timeout);
        invocation.limits.wall = Some(Duration::from_secs(wall));
        invocation.limits.idle = Some(Duration::from_secs(options.idle_timeout));
        call.limits.apply(&mut invocation.limits);
        Ok(invocation)
    }

    /// The agent program as a person would type it.
    fn program(&self) -> Result<String, EngineError> {
        let options = &self.state.options;
        Ok(match &options.command {
            Some(command) => split_command(command)?.0.display().to_string(),
            None => Registry::built_in().find(options.host)?.default_program().to_owned(),
        })
    }

    /// What one more agent of a story may use, next to those at work.
    fn limits(&self, story: &StoryRun) -> AgentLimits {
        let (run, own) = self.state.expected(&self.effects_in_flight(), &story.planned.id);
        let budget = &self.state.options.budget;
        AgentLimits::left(budget, self.state.spent() + run, story.spent() + own)
    }

    /// Decides whether an analysis adds anything to what the failed agents knew.
    fn flag_new_advice(&self, call: &AgentCall, report: &mut AgentReport) {
        let Some(analysis) = &mut report.contribution.analysis else { return };
        let story = &call.story;
        let mut known = vec![self.text_of(call), story.reason.clone(), story.gate_detail.clone()];
        known.extend(story.findings.iter().map(|finding| finding.text.clone()));
        known.extend(story.record.iter().map(|end| end.summary.clone()));
        known.extend(story.failures.iter().flat_map(|failure| failure.advice.clone()));
        known.extend(story.answers.iter().map(|answer| answer.text.clone()));
        analysis.adds = is_new(&analysis.advice(), &known.join("\n"));
    }

    /// Stores everything the agent reported, in one transaction, for later agents.
    fn keep_ending(
        &mut self,
        call: &AgentCall,
        handoff: &Handoff,
        (verdict, summary): (Option<Verdict>, &str),
        report: &AgentReport,
        Seen { outside, trace }: Seen<'_>,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let AgentAttempt { story, step, number, .. } = &call.attempt;
        let step = RunStep {
            run: self.journal.run.clone(),
            story: story.clone(),
            phase: step.phase,
            attempt: *number,
            voice: step.voice.as_ref().and_then(|voice| serde_json::to_value(voice).ok()),
            status: report.status,
        };
        let mut debrief = Debrief {
            receipt: report.receipt.clone(),
            verdict,
            summary: Some(summary.to_owned()).filter(|summary| !summary.is_empty()),
            findings: report.findings.iter().map(Finding::line).collect(),
            reasoning: report.reasoning.clone(),
            packages: report.packages.clone(),
            errors: report.errors.clone(),
            problems: report.problems.clone(),
            ..Debrief::default()
        };
        // The worktree of a voice is already deleted.
        let folder = call.worktree.project();
        let worktree = ProjectPaths::new(&folder, &[]).ok();
        if worktree.is_none() {
            drop_lost_packages(&mut debrief, &folder);
        }
        let ended = self.engine.handoffs.ended(Ending {
            learn: Learn::AtCommit,
            worktree: worktree.as_ref(),
            run: Some(&step),
            outside,
            trace: Some(trace),
            ..Ending::new(&handoff.assignment, &debrief, now)
        })?;
        for reason in ended.kept().map(|kept| kept.refused.clone()).unwrap_or_default() {
            self.warn(format!("{story}: {reason}"))?;
        }
        Ok(())
    }
}

/// Refuses packages whose files were deleted with the agent's folder: the project may have a file of the
/// same name.
fn drop_lost_packages(debrief: &mut Debrief, folder: &Path) {
    let is_lost = |note: &PackageNote| folder.join(&note.path).starts_with(folder);
    for note in debrief.packages.extract_if(.., |note| is_lost(note)) {
        let path = note.path;
        debrief.problems.push(format!("package `{path}`: the folder that it was in is discarded"));
    }
}

/// A missing key, an exhausted quota or an unknown model would make every other story fail as well.
fn stop_if_host_is_unusable(outcome: &Outcome, program: &str) -> Result<(), EngineError> {
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
            let mut message = handover_text::cut::cut(&failure.message, 300);
            if failure.class == FailureClass::Auth {
                message = format!("{}. Sign in to `{program}`", message.trim_end_matches('.'));
            }
            Err(EngineError::Host { message })
        }
        Some(_) | None => Ok(()),
    }
}

/// A success counts only if the program exited cleanly; any other verdict counts as reported.
fn judge(
    outcome: &Outcome,
    report: Result<AgentReport, ReportError>,
) -> (Option<Verdict>, String, AgentReport) {
    let (verdict, summary, report) = match report {
        Ok(report) => (report.verdict, report.summary.clone(), report),
        Err(error @ ReportError::OverLimit(_)) => {
            return (None, error.to_string(), AgentReport::default());
        }
        Err(error) => (None, error.to_string(), AgentReport::default()),
    };
    let is_success =
        matches!(verdict, Some(Verdict::Complete | Verdict::Passed | Verdict::PassedWithFixes));
    match &outcome.failure {
        Some(failure) if is_success || verdict.is_none() => {
            (None, handover_text::cut::cut(&failure.message, 500), report)
        }
        Some(_) | None => (verdict, summary, report),
    }
}

/// What was used: as the program reports it, else as the agent does.
pub(super) fn spent(outcome: &Outcome, report: &AgentReport) -> Spent {
    let (own, program) = (&report.usage, &outcome.report);
    let tokens = Some(program.usage.total()).filter(|total| *total > 0);
    let cost = program.cost_usd.or(own.cost_usd);
    Spent {
        cost_usd: cost.unwrap_or_default(),
        unpriced: cost.is_none().into(),
        tokens: tokens.or(own.tokens).unwrap_or_default(),
        turns: program.turns.map(u64::from).or(own.turns).unwrap_or_default(),
        duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
    }
}

/// The limit that stopped an agent; else the limit of its phase, if it turns out that it used more. That is
/// for programs that say what they used only at the end.
fn over_limit(
    limits: &AgentLimits,
    allowed: &Allowance,
    outcome: &Outcome,
    spent: Spent,
) -> Option<(LimitScope, String)> {
    if let Some(passed) = limits.passed(outcome, spent) {
        return Some(passed);
    }
    let more = |used: String, most: String| {
        Some((LimitScope::Phase, format!("it used {used}, and budget.phase allows {most}")))
    };
    if let Some(most) = allowed.tokens.filter(|most| spent.tokens > *most) {
        return more(format!("{} tokens", spent.tokens), most.to_string());
    }
    if let Some(most) = allowed.turns.filter(|most| spent.turns > *most) {
        return more(format!("{} turns", spent.turns), most.to_string());
    }
    let most = allowed.usd.filter(|most| spent.cost_usd > most + 1e-9)?;
    more(format!("{:.4} USD", spent.cost_usd), most.to_string())
}

/// How long to wait before the next retry: 5, 20, then 80 seconds.
pub fn backoff(retries: u32) -> Duration {
    match retries {
        0 => Duration::ZERO,
        tried => Duration::from_secs(5 << (2 * tried.min(3) - 2).min(4)),
    }
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
