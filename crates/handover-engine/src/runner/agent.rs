//! One agent, from its prompt to what it left behind.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{AgentEvent, Ended, Invocation, Outcome, Tee, run, split_command};
use handover_model::{FailureClass, KnownEvent, RunPhase, RunVerdict, Timestamp};
use handover_store::{EventKey, NewEvent, NewReasoning};
use serde_json::json;

use super::{Progress, Runner, group_of, spawn_id};
use crate::EngineError;
use crate::git::Worktree;
use crate::journal::{Intent, Note};
use crate::ledger::{Spent, money_left};
use crate::pipeline::AgentStep;
use crate::prompt::{Ask, Prompt};
use crate::reducer::{Event, PhaseEnd, StoryRun};
use crate::task::{TaskParts, ending, task};
use crate::verdict::{self, Asked, MAX_RESULT, Said, Unclear};

/// How much of an agent's output is kept on disk.
const LOG_BYTES: u64 = 16 << 20;
/// How much of a patch a reviewer is shown.
const PATCH_BYTES: u64 = 512 << 10;
/// How often a sign of life is passed on.
const ACTIVITY: Duration = Duration::from_millis(500);

/// One agent of one story.
struct Call {
    story: StoryRun,
    step: AgentStep,
    attempt: u32,
    worktree: Worktree,
    /// What only this agent is told.
    nonce: String,
    /// Where its logs go.
    logs: PathBuf,
}

impl Call {
    fn id(&self) -> &str {
        &self.story.planned.id
    }

    fn file(&self, end: &str) -> PathBuf {
        self.logs.join(format!("{}-{}.{end}", self.step.phase, self.attempt))
    }

    /// Where its result is expected.
    fn result(&self) -> PathBuf {
        self.file("result.json")
    }
}

impl Runner<'_, '_> {
    pub(super) fn agent(
        &mut self,
        intent: &Intent,
        id: &str,
        attempt: u32,
    ) -> Result<Event, EngineError> {
        let story = self.story(id)?;
        let Some(step) = self.state.agent_of(&story).cloned() else {
            return Err(self.out_of_step("an agent that no step asks for"));
        };
        self.wait_for_better_times(story.retries())?;
        let worktree = self.worktree(&story)?;
        let (nonce, logs) = ((self.engine.unique)(), self.logs(id)?);
        let call = Call { story, step, attempt, worktree, nonce, logs };
        let _ = fs_err::remove_file(call.result());
        let text = self.story_text(&call);
        let prompt = self.prompt(&call, &text)?;
        let invocation = self.invocation(intent, &call, &prompt)?;
        // From here on the folder is the agent's.
        self.in_place = None;
        let outcome = self.supervised(id, &invocation, &call.file("log"))?;
        self.engine.prompter.delivered(&prompt, invocation.host, self.now())?;
        refuse_a_host_that_cannot_work(&outcome)?;
        let read = format!("{text}\n{}", prompt.text);
        let (mut said, more) = self.verdict(&call, &read, &invocation, &outcome)?;
        let left = self.settle_folder(&call.story, &call.step, &call.worktree)?;
        if let Some(problem) = left.problem {
            said = Err(Unclear::Broken(problem));
        }
        let now = self.now();
        let (verdict, summary, said) = judge(&outcome, said);
        self.remember(&call, verdict, &said, now)?;
        let spent = spent(&outcome, &said) + more;
        Ok(Event::PhaseEnded(Box::new(PhaseEnd {
            story: id.to_owned(),
            phase: call.step.phase,
            attempt,
            verdict,
            summary,
            findings: said.findings,
            failure: outcome.failure.as_ref().map(|failure| failure.class),
            tree: left.tree,
            files: left.files,
            restored: left.restored,
            spent,
            receipt: Some(prompt.receipt.to_string()),
        })))
    }

    /// What the agent says. Whoever did the work and forgot to say so is asked once, where its program
    /// can go on with the same conversation: a missing phrase must not cost a whole story.
    fn verdict(
        &mut self,
        call: &Call,
        read: &str,
        invocation: &Invocation,
        outcome: &Outcome,
    ) -> Result<(Result<Said, Unclear>, Spent), EngineError> {
        let asked = Asked { subject: call.id(), phase: call.step.phase, nonce: &call.nonce, read };
        let said = |outcome: &Outcome| {
            verdict::read(asked, result_file(&call.result()).as_deref(), &outcome.final_text)
        };
        let first = said(outcome);
        let conversation = outcome.report.host_session.clone();
        let (Err(Unclear::Missing), true, Some(conversation)) =
            (&first, outcome.is_success(), conversation)
        else {
            return Ok((first, Spent::default()));
        };
        let ending = ending(call.id(), call.step.phase, &call.nonce, &call.result());
        let question =
            format!("You have ended without a verdict. Do no more work; only say it.\n\n{ending}");
        let again =
            Invocation { prompt: question, resume: Some(conversation), ..invocation.clone() };
        let answer = self.supervised(call.id(), &again, &call.file("again.log"))?;
        let said = if answer.is_success() { said(&answer) } else { first };
        Ok((said, spent(&answer, &Said::default())))
    }

    /// The model could not be asked: a little later it may be.
    fn wait_for_better_times(&self, retries: u32) -> Result<(), EngineError> {
        if retries == 0 {
            return Ok(());
        }
        let mut left = Duration::from_secs(5 << (2 * retries.min(3) - 2).min(4));
        while left > Duration::ZERO {
            if self.engine.cancel.is_cancelled() {
                return Err(EngineError::Interrupted);
            }
            let nap = left.min(Duration::from_millis(100));
            std::thread::sleep(nap);
            left -= nap;
        }
        Ok(())
    }

    fn story_text(&self, call: &Call) -> String {
        let path = call.worktree.project().join(&call.story.planned.path);
        let bytes = fs_err::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn prompt(&self, call: &Call, text: &str) -> Result<Prompt, EngineError> {
        let Call { story, step, nonce, .. } = call;
        let patch = match (step.phase, &story.base, &story.tree) {
            (RunPhase::Review, Some(base), Some(tree)) => {
                let own = self.repo.prefix.join(&story.planned.path).display().to_string();
                self.repo.patch(base, tree, &[own], PATCH_BYTES)?
            }
            _ => String::new(),
        };
        let parts = TaskParts {
            epic: self.state.plan.epic.as_str(),
            story,
            phase: step.phase,
            text,
            patch: &patch,
            nonce,
            result: &call.result(),
        };
        let ask = Ask {
            session: self.state.plan.records_in.clone(),
            group: group_of(call.id())?,
            role: step.role.clone(),
            phase: step.phase,
            host: self.state.options.host,
            model: self.state.options.model.clone(),
            task: task(&parts),
            about: format!("{}\n{text}", story.planned.title),
            unique: (self.engine.unique)(),
            now: self.now(),
        };
        self.engine.prompter.prompt(&ask)
    }

    fn invocation(
        &self,
        intent: &Intent,
        call: &Call,
        prompt: &Prompt,
    ) -> Result<Invocation, EngineError> {
        let options = &self.state.options;
        let run = &self.journal.run;
        let spawn = spawn_id(run, intent.seq)?;
        let mut invocation = Invocation::new(options.host, spawn, call.worktree.project());
        if let Some(command) = &options.command {
            (invocation.program, invocation.args) = split_command(command)?;
        }
        invocation.prompt.clone_from(&prompt.text);
        invocation.profile = call.step.profile;
        invocation.model.clone_from(&options.model);
        let mut environment = self.engine.environment_of(options.host);
        let plan = &self.state.plan;
        for (name, value) in [
            ("HANDOVER_RUN", run.as_str()),
            ("HANDOVER_STORY", call.id()),
            ("HANDOVER_PHASE", call.step.phase.as_str()),
            ("HANDOVER_ATTEMPT", &call.attempt.to_string()),
            ("HANDOVER_NONCE", &call.nonce),
            ("HANDOVER_SESSION", plan.records_in.as_str()),
            ("HANDOVER_GROUP", group_of(call.id())?.as_str()),
        ] {
            environment.set(name, value);
        }
        environment.set("HANDOVER_RESULT", call.result());
        self.share_builds(&mut environment);
        invocation.environment = environment;
        let budget = &options.budget;
        let wall = budget.phase.minutes.map(|minutes| (minutes * 60.0).max(1.0) as u64);
        let wall = wall.unwrap_or(u64::MAX).min(options.phase_timeout);
        invocation.limits.wall = Some(Duration::from_secs(wall));
        invocation.limits.idle = Some(Duration::from_secs(options.idle_timeout));
        invocation.limits.turns =
            budget.phase.turns.map(|turns| u32::try_from(turns).unwrap_or(u32::MAX));
        invocation.limits.cost_usd = money_left(budget, self.state.spent(), call.story.spent());
        Ok(invocation)
    }

    /// Runs the agent, with its process written down as soon as it exists.
    fn supervised(
        &mut self,
        story: &str,
        invocation: &Invocation,
        log: &Path,
    ) -> Result<Outcome, EngineError> {
        let redactor = self.engine.redactor;
        let mut tee = Tee::create(log, LOG_BYTES, |line| Cow::Owned(redactor.redact_bytes(line)))?;
        let outcome = self.watched(story, invocation, &mut tee)?;
        if outcome.ended == Ended::Cancelled {
            return Err(EngineError::Interrupted);
        }
        Ok(outcome)
    }

    fn watched(
        &mut self,
        story: &str,
        invocation: &Invocation,
        tee: &mut Tee<'_>,
    ) -> Result<Outcome, EngineError> {
        let mut lost = None;
        let mut shown = std::time::Instant::now();
        let cancel = self.engine.cancel.clone();
        let (engine, journal, state, on_progress) =
            (self.engine, &mut self.journal, &self.state, &mut self.on_progress);
        let mut on_event = |event: AgentEvent| {
            if let AgentEvent::Spawned(process) = &event {
                let note = Note::Spawned { process: process.clone() };
                if let Err(error) = journal.note(&note, (engine.now)()) {
                    // Nobody would find it after a crash, so it must not run.
                    lost = Some(error);
                    cancel.cancel();
                }
            }
            if let Some(what) = activity(&event)
                && shown.elapsed() >= ACTIVITY
            {
                shown = std::time::Instant::now();
                let what = engine.redactor.clean(&what).cut(120).as_str().to_owned();
                on_progress(state, &Progress::Activity { story, what });
            }
        };
        let outcome = run(invocation, Some(tee), &mut on_event, &engine.cancel);
        match lost {
            Some(error) => Err(error),
            None => Ok(outcome?),
        }
    }

    /// What the agent thought and said goes to where the next ones are told from.
    fn remember(
        &self,
        call: &Call,
        verdict: Option<RunVerdict>,
        said: &Said,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let (phase, attempt, id) = (call.step.phase, call.attempt, call.id());
        let redactor = self.engine.redactor;
        let session = &self.state.plan.records_in;
        let group = group_of(id)?;
        for (thought, text) in &said.reasoning {
            self.engine.store.add_reasoning(&NewReasoning {
                session: session.clone(),
                group: Some(group.clone()),
                role: call.step.role.clone(),
                agent_id: None,
                iteration: attempt - 1,
                phase: *thought,
                confidence: None,
                content: redactor.clean(text),
                references: Vec::new(),
                now,
            })?;
        }
        let key = format!("{}-{}-{phase}-{attempt}", self.journal.run, id);
        let payload = json!({
            "run": self.journal.run, "story": id, "phase": phase, "attempt": attempt,
            "verdict": verdict, "summary": said.summary,
        });
        self.engine.store.log_event(&NewEvent {
            session: session.clone(),
            group: Some(group),
            kind: KnownEvent::Verdict.into(),
            payload: redactor.clean_json(payload),
            key: Some(EventKey::new(&key, redactor)),
            now,
        })?;
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
) -> (Option<RunVerdict>, String, Said) {
    let (verdict, summary, said) = match said {
        Ok(said) => (said.verdict, said.summary.clone(), said),
        Err(unclear) => (None, unclear.to_string(), Said::default()),
    };
    let is_success = matches!(
        verdict,
        Some(RunVerdict::Complete | RunVerdict::Passed | RunVerdict::PassedWithFixes)
    );
    match &outcome.failure {
        Some(failure) if is_success || verdict.is_none() => {
            (None, handover_text::cut::cut(&failure.message, 500), said)
        }
        Some(_) | None => (verdict, summary, said),
    }
}

/// What was used: what the program reports, else what the agent says.
fn spent(outcome: &Outcome, said: &Said) -> Spent {
    let report = &outcome.report;
    let tokens = Some(report.usage.total()).filter(|total| *total > 0);
    Spent {
        cost_usd: report.cost_usd.or(said.usage.cost_usd).unwrap_or_default(),
        tokens: tokens.or(said.usage.tokens).unwrap_or_default(),
        turns: report.turns.map(u64::from).or(said.usage.turns).unwrap_or_default(),
        duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
    }
}

/// The result, if it is a file of a reasonable size. A link could lead anywhere.
fn result_file(path: &Path) -> Option<Vec<u8>> {
    let data = fs_err::symlink_metadata(path).ok()?;
    if !data.is_file() {
        return Some(b"not a file".to_vec());
    }
    if data.len() > MAX_RESULT {
        return Some(b"too large".to_vec());
    }
    fs_err::read(path).ok()
}

/// What is worth showing.
fn activity(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::Text(text) | AgentEvent::Notice(text) => text.lines().next().map(str::to_owned),
        AgentEvent::ToolStarted(tool) => Some(format!("{} {}", tool.name, tool.about)),
        AgentEvent::Retry { reason, .. } => Some(format!("waits: {reason}")),
        AgentEvent::Spawned(_)
        | AgentEvent::Started { .. }
        | AgentEvent::ToolEnded { .. }
        | AgentEvent::Usage(_)
        | AgentEvent::Activity
        | AgentEvent::Result { .. }
        | AgentEvent::Raw(_)
        | AgentEvent::Stderr(_) => None,
    }
    .filter(|text| !text.trim().is_empty())
}
