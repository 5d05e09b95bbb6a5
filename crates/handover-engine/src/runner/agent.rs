//! One agent, from its prompt to what it left behind.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use handover_agents::{AgentEvent, Ended, Invocation, Outcome, Tee, run, split_command};
use handover_model::{FailureClass, KnownEvent, Profile, Role, RunPhase, RunVerdict, Timestamp};
use handover_store::{EventKey, NewEvent, NewReasoning};
use serde_json::json;

use super::{Progress, Runner, group_of, spawn_id};
use crate::EngineError;
use crate::git::{GitError, Worktree};
use crate::journal::{Intent, Note};
use crate::ledger::{Spent, money_left};
use crate::pipeline::AgentStep;
use crate::prompt::{Ask, Prompt};
use crate::reducer::{Event, PhaseEnd, StoryRun};
use crate::story::{self, Integrity};
use crate::task::{TaskParts, ending, task};
use crate::verdict::{self, Asked, MAX_RESULT, Said, Unclear};

/// How much of an agent's output is kept on disk.
const LOG_BYTES: u64 = 16 << 20;
/// How much of a patch a reviewer is shown.
const PATCH_BYTES: u64 = 512 << 10;
/// How many changed files are written down by name.
const FILES: usize = 1_000;
/// How often a sign of life is passed on.
const ACTIVITY: Duration = Duration::from_millis(500);

impl Runner<'_, '_> {
    pub(super) fn agent(
        &mut self,
        intent: &Intent,
        id: &str,
        phase: RunPhase,
        attempt: u32,
    ) -> Result<Event, EngineError> {
        let story = self.story(id)?;
        let Some(step) = self.state.agent_of(&story).cloned() else {
            return Err(EngineError::Interrupted);
        };
        self.wait_for_better_times(story.retries())?;
        let worktree = self.worktree(&story)?;
        let nonce = (self.engine.unique)();
        let logs = self.logs(id)?;
        let result = logs.join(format!("{phase}-{attempt}.result.json"));
        let _ = fs_err::remove_file(&result);
        let text = self.story_text(&worktree, &story);
        let prompt = self.prompt(&story, &step, &text, &nonce, &result)?;
        let read = format!("{text}\n{}", prompt.text);
        let invocation =
            self.invocation(intent, &story, &step, attempt, &worktree, &prompt, &nonce, &result)?;
        // From here on the folder is the agent's.
        self.in_place = None;
        let outcome =
            self.supervised(id, &invocation, &logs.join(format!("{phase}-{attempt}.log")))?;
        self.engine.prompter.delivered(&prompt, invocation.host, self.now())?;
        refuse_a_host_that_cannot_work(&outcome)?;
        let asked = Asked { subject: id, phase, nonce: &nonce, read: &read };
        let mut said = verdict::read(asked, result_file(&result).as_deref(), &outcome.final_text);
        let mut more = Spent::default();
        if said == Err(Unclear::Missing) && outcome.is_success() {
            let log = logs.join(format!("{phase}-{attempt}.again.log"));
            let again = again(&invocation, &outcome, &story, &nonce, &result, phase);
            if let Some(again) = again {
                let answer = self.supervised(id, &again, &log)?;
                if answer.is_success() {
                    said =
                        verdict::read(asked, result_file(&result).as_deref(), &answer.final_text);
                }
                more = spent(&answer, &Said::default());
            }
        }
        let (tree, restored) = match self.settle_folder(&story, &step, &worktree) {
            Err(EngineError::Git(GitError::Failed { message, .. })) => {
                // Such as a repository without a commit inside the repository.
                let before = story.tree.clone().unwrap_or_default();
                worktree.restore(&before)?;
                said =
                    Err(Unclear::Broken(format!("what it left cannot be read by git: {message}")));
                (before, Vec::new())
            }
            settled => settled?,
        };
        let is_new = story.tree.as_ref() != Some(&tree);
        let files = if step.profile == Profile::ReadOnly {
            Vec::new()
        } else {
            self.work_of(&story, &tree)?
        };
        if worktree.is_linked() {
            self.in_place = Some((id.to_owned(), tree.clone()));
        }
        let now = self.now();
        if let Some(base) = story.base.as_ref().filter(|_| is_new) {
            self.keep(id, base, &tree, now)?;
        }
        let (verdict, summary, said) = judge(&outcome, said);
        self.remember(&story, &step.role, attempt, phase, verdict, &said, now)?;
        let spent = spent(&outcome, &said) + more;
        Ok(Event::PhaseEnded(Box::new(PhaseEnd {
            story: id.to_owned(),
            phase,
            attempt,
            verdict,
            summary,
            findings: said.findings,
            failure: outcome.failure.as_ref().map(|failure| failure.class),
            tree,
            files,
            restored,
            spent,
            receipt: Some(prompt.receipt.to_string()),
        })))
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

    fn story_text(&self, worktree: &Worktree, story: &StoryRun) -> String {
        let bytes = fs_err::read(worktree.project().join(&story.planned.path)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn prompt(
        &mut self,
        story: &StoryRun,
        step: &AgentStep,
        text: &str,
        nonce: &str,
        result: &Path,
    ) -> Result<Prompt, EngineError> {
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
            result,
        };
        let ask = Ask {
            session: self.state.plan.records_in.clone(),
            group: group_of(&story.planned.id)?,
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

    #[expect(clippy::too_many_arguments, reason = "everything that an agent is told, once")]
    fn invocation(
        &self,
        intent: &Intent,
        story: &StoryRun,
        step: &AgentStep,
        attempt: u32,
        worktree: &Worktree,
        prompt: &Prompt,
        nonce: &str,
        result: &Path,
    ) -> Result<Invocation, EngineError> {
        let options = &self.state.options;
        let run = &self.journal.run;
        let spawn = spawn_id(run, intent.seq)?;
        let mut invocation = Invocation::new(options.host, spawn, worktree.project());
        if let Some(command) = &options.command {
            (invocation.program, invocation.args) = split_command(command)?;
        }
        invocation.prompt.clone_from(&prompt.text);
        invocation.profile = step.profile;
        invocation.model.clone_from(&options.model);
        let mut environment = self.engine.environment_of(options.host);
        let plan = &self.state.plan;
        for (name, value) in [
            ("HANDOVER_RUN", run.as_str()),
            ("HANDOVER_STORY", &story.planned.id),
            ("HANDOVER_PHASE", step.phase.as_str()),
            ("HANDOVER_ATTEMPT", &attempt.to_string()),
            ("HANDOVER_NONCE", nonce),
            ("HANDOVER_SESSION", plan.records_in.as_str()),
            ("HANDOVER_GROUP", group_of(&story.planned.id)?.as_str()),
        ] {
            environment.set(name, value);
        }
        environment.set("HANDOVER_RESULT", result);
        self.share_builds(&mut environment);
        invocation.environment = environment;
        let budget = &options.budget;
        let wall = budget.phase.minutes.map(|minutes| (minutes * 60.0).max(1.0) as u64);
        let wall = wall.unwrap_or(u64::MAX).min(options.phase_timeout);
        invocation.limits.wall = Some(Duration::from_secs(wall));
        invocation.limits.idle = Some(Duration::from_secs(options.idle_timeout));
        invocation.limits.turns =
            budget.phase.turns.map(|turns| u32::try_from(turns).unwrap_or(u32::MAX));
        invocation.limits.cost_usd = money_left(budget, self.state.spent(), story.spent());
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

    /// What the agent left in the folder, once what is not its own is as it was: everything for who
    /// may only look, the stories for who may write.
    fn settle_folder(
        &self,
        story: &StoryRun,
        step: &AgentStep,
        worktree: &Worktree,
    ) -> Result<(String, Vec<String>), EngineError> {
        let before = story.tree.clone().unwrap_or_default();
        let after = worktree.snapshot()?;
        if after == before {
            return Ok((after, Vec::new()));
        }
        let changes = self.repo.changes(&before, &after)?;
        if step.profile == Profile::ReadOnly {
            worktree.restore(&before)?;
            return Ok((
                before,
                changes.into_iter().map(|change| change.path).take(FILES).collect(),
            ));
        }
        let plan = &self.state.plan;
        let in_repo = |path: &str| self.repo.prefix.join(path).display().to_string();
        let own = in_repo(&story.planned.path);
        let others: BTreeSet<String> = plan
            .stories
            .iter()
            .map(|story| in_repo(&story.path))
            .chain(plan.epic_file.as_deref().map(in_repo))
            .collect();
        let mut restored = Vec::new();
        for change in changes.iter().filter(|change| others.contains(&change.path)) {
            let former = self.repo.file_of(&before, Path::new(&change.path))?;
            if change.path == own && self.is_kept(former.as_deref(), change.blob.as_deref())? {
                continue;
            }
            put_back(&worktree.path.join(&change.path), former.as_deref())?;
            restored.push(change.path.clone());
        }
        if restored.is_empty() {
            return Ok((after, restored));
        }
        Ok((worktree.snapshot()?, restored))
    }

    fn is_kept(&self, before: Option<&[u8]>, blob: Option<&str>) -> Result<bool, EngineError> {
        let (Some(before), Some(blob)) = (before, blob) else { return Ok(false) };
        let after = self.repo.blob(blob)?;
        let (Ok(before), Ok(after)) = (std::str::from_utf8(before), std::str::from_utf8(&after))
        else {
            return Ok(false);
        };
        Ok(story::verify(before, after) == Integrity::Kept)
    }

    /// The files that differ from the base, without those that are about the work and not the work.
    pub(super) fn work_of(&self, story: &StoryRun, tree: &str) -> Result<Vec<String>, EngineError> {
        let Some(base) = &story.base else { return Ok(Vec::new()) };
        let own = self.repo.prefix.join(&story.planned.path).display().to_string();
        let files = self.repo.changes(base, tree)?.into_iter().map(|change| change.path);
        let about = |path: &String| *path == own || path.ends_with("sprint-status.yaml");
        Ok(files.filter(|path| !about(path)).take(FILES).collect())
    }

    /// What the agent thought and said goes to where the next ones are told from.
    #[expect(clippy::too_many_arguments, reason = "one record of one agent")]
    fn remember(
        &self,
        story: &StoryRun,
        role: &Role,
        attempt: u32,
        phase: RunPhase,
        verdict: Option<RunVerdict>,
        said: &Said,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let redactor = self.engine.redactor;
        let session = &self.state.plan.records_in;
        let group = group_of(&story.planned.id)?;
        for (thought, text) in &said.reasoning {
            self.engine.store.add_reasoning(&NewReasoning {
                session: session.clone(),
                group: Some(group.clone()),
                role: role.clone(),
                agent_id: None,
                iteration: attempt - 1,
                phase: *thought,
                confidence: None,
                content: redactor.clean(text),
                references: Vec::new(),
                now,
            })?;
        }
        let key = format!("{}-{}-{phase}-{attempt}", self.journal.run, story.planned.id);
        let payload = json!({
            "run": self.journal.run, "story": story.planned.id, "phase": phase, "attempt": attempt,
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

/// Whoever did the work and forgot to say so is asked once, where its program can go on with the same
/// conversation. A missing phrase must not cost a whole story.
fn again(
    invocation: &Invocation,
    outcome: &Outcome,
    story: &StoryRun,
    nonce: &str,
    result: &Path,
    phase: RunPhase,
) -> Option<Invocation> {
    let conversation = outcome.report.host_session.clone()?;
    let ending = ending(&story.planned.id, phase, nonce, result);
    Some(Invocation {
        prompt: format!(
            "You have ended without a verdict. Do no more work; only say it.\n\n{ending}"
        ),
        resume: Some(conversation),
        ..invocation.clone()
    })
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

fn put_back(path: &Path, former: Option<&[u8]>) -> Result<(), EngineError> {
    // Whatever is there now, a folder or a link included, makes way.
    let _ = fs_err::remove_file(path);
    let _ = fs_err::remove_dir_all(path);
    if let Some(former) = former {
        if let Some(above) = path.parent() {
            fs_err::create_dir_all(above)?;
        }
        fs_err::write(path, former)?;
    }
    Ok(())
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
