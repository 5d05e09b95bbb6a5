//! A job for another machine and its result. Both are sent through the store, redacted; files are sent through
//! git.

use std::collections::BTreeMap;
use std::time::Duration;

use handover_agents::{Invocation, Outcome, split_command};
use handover_model::{Host, ReceiptId, RunId};
use serde::{Deserialize, Serialize};

use super::agent::AgentAttempt;
use super::agent_work::Worked;
use super::cargo_target::CargoTargets;
use super::workers::WorkerLink;
use super::{Engine, spawn_id};
use crate::EngineError;
use crate::data::Spent;
use crate::git::{NewCommit, Repo, Worktree};
use crate::pipeline::AgentStep;
use crate::verdict::{AgentReport, ReportError};

/// An agent to be run on another machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RemoteJob {
    pub(super) story: String,
    pub(super) step: AgentStep,
    pub(super) attempt: u32,
    pub(super) nonce: String,
    /// The commit that the worktree is based on.
    pub(super) base: String,
    /// The commit of the worktree's content.
    pub(super) commit: String,
    pub(super) prompt: String,
    pub(super) receipt: ReceiptId,
    /// The text of the story.
    pub(super) text: String,
    /// The path of the result file in the prompt, to be replaced by a path on the other machine.
    pub(super) result: String,
    pub(super) host: Host,
    pub(super) command: Option<String>,
    pub(super) model: Option<String>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) wall: Option<Duration>,
    pub(super) idle: Option<Duration>,
    pub(super) turns: Option<u32>,
    pub(super) cost_usd: Option<f64>,
    #[serde(default)]
    pub(super) tokens: Option<u64>,
}

/// The result of a [`RemoteJob`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RemoteResult {
    pub(super) outcome: Outcome,
    /// The agent's report, or why there is none.
    pub(super) report: Result<AgentReport, String>,
    pub(super) follow_up: Spent,
    /// The commit of the worktree's content; none if git cannot read it.
    pub(super) commit: Option<String>,
}

impl RemoteResult {
    pub(super) fn into_parts(self) -> (Outcome, Result<AgentReport, ReportError>, Spent) {
        (self.outcome, self.report.map_err(ReportError::Remote), self.follow_up)
    }
}

/// The ref that carries the files of a job. The `@` distinguishes it from the refs of stories.
pub(super) fn job_ref(run: &RunId, seq: u64) -> String {
    format!("refs/handover/{run}/@job-{seq}")
}

/// The ref that carries the files of a result.
pub(super) fn result_ref(run: &RunId, seq: u64) -> String {
    format!("refs/handover/{run}/@result-{seq}")
}

/// A job that this machine does for another.
pub(super) struct RemoteWork {
    job: RemoteJob,
    run: RunId,
    seq: u64,
    remote: String,
    repo: Repo,
    worktree: Worktree,
    attempt: AgentAttempt,
    invocation: Invocation,
    cargo: CargoTargets,
    at: handover_model::Timestamp,
}

impl Engine<'_> {
    /// Prepares a job of another machine to be run on this one.
    pub(super) fn prepare_remote(
        &self,
        repo: &Repo,
        remote: &str,
        run: &RunId,
        seq: u64,
        job: RemoteJob,
    ) -> Result<RemoteWork, EngineError> {
        let place = self.run_folder(run).inside("remote-jobs").inside(seq.to_string());
        place.create()?;
        self.live_logs(run).inside("remote-jobs").inside(seq.to_string()).create()?;
        let path = place.path();
        let worktree = Worktree::at(repo, path.join("worktree"), path.join("index"), &job.base);
        let attempt = AgentAttempt {
            story: job.story.clone(),
            step: job.step.clone(),
            number: job.attempt,
            nonce: job.nonce.clone(),
            secret_name: self.secret(),
            logs: self.live_logs(run).inside("remote-jobs").inside(seq.to_string()),
            folder: worktree.project(),
        };
        let mut invocation = Invocation::new(job.host, spawn_id(run, seq)?, worktree.project());
        if let Some(command) = &job.command {
            (invocation.program, invocation.args) = split_command(command)?;
        }
        let here = attempt.result().display().to_string();
        let prompt = job.prompt.replace(&job.result, &here);
        invocation.prompt = Some(self.handoffs.relay(&job.receipt, prompt)?);
        invocation.profile = job.step.profile;
        invocation.model.clone_from(&job.model);
        let mut environment = self.environment_of(job.host);
        for (name, value) in &job.variables {
            environment.set(name, value);
        }
        environment.set("HANDOVER_RESULT", attempt.result());
        invocation.environment = environment;
        invocation.databases = self.databases;
        invocation.limits.wall = job.wall;
        invocation.limits.idle = job.idle;
        invocation.limits.turns = job.turns;
        invocation.limits.cost_usd = job.cost_usd;
        invocation.limits.tokens = job.tokens;
        Ok(RemoteWork {
            job,
            run: run.clone(),
            seq,
            remote: remote.to_owned(),
            repo: repo.clone(),
            worktree,
            attempt,
            invocation,
            cargo: self.cargo_targets(),
            at: (self.now)(),
        })
    }
}

impl RemoteWork {
    pub(super) fn work(mut self, link: &WorkerLink<'_>) -> Result<RemoteResult, EngineError> {
        self.repo.fetch(&self.remote, &[job_ref(&self.run, self.seq)])?;
        self.worktree.ensure()?;
        self.worktree.restore(&self.repo.tree_of(&self.job.commit)?)?;
        self.cargo.choose(&self.worktree, &mut self.invocation.environment)?;
        let read = format!("{}\n{}", self.job.text, self.job.prompt);
        let Worked { outcome, report, follow_up, .. } =
            self.attempt.work(&self.invocation, &read, link)?;
        // Without a commit the leader rejects the work.
        let commit =
            self.worktree.snapshot().ok().map(|tree| self.push_result(&tree)).transpose()?;
        let report = report.map_err(|error| error.to_string());
        Ok(RemoteResult { outcome, report, follow_up, commit })
    }

    fn push_result(&self, tree: &str) -> Result<String, EngineError> {
        let new = NewCommit {
            tree,
            parents: vec![self.job.base.clone()],
            subject: format!("work on {}", self.job.story),
            trailers: Vec::new(),
            at: self.at,
        };
        let commit = self.repo.commit(&new)?;
        let name = result_ref(&self.run, self.seq);
        self.repo.push(&self.remote, &[format!("{commit}:{name}")])?;
        Ok(commit)
    }
}

#[cfg(test)]
mod tests {
    use handover_agents::{Captured, Ended, Report};
    use handover_model::Profile;

    use super::*;
    use crate::pipeline::agent_step;

    fn run() -> RunId {
        RunId::new("run_1").unwrap()
    }

    #[test]
    fn the_refs_of_jobs_cannot_be_those_of_stories() {
        assert_eq!(job_ref(&run(), 7), "refs/handover/run_1/@job-7");
        assert_eq!(result_ref(&run(), 7), "refs/handover/run_1/@result-7");
        // `@` is not part of the name of a story's ref.
        assert!(!crate::git::ref_part("@job-7").contains('@'));
    }

    #[test]
    fn jobs_and_results_survive_the_store() {
        let job = RemoteJob {
            story: "1-1-a".to_owned(),
            step: agent_step(handover_model::RunPhase::Dev, "developer", Profile::Edit),
            attempt: 2,
            nonce: "n".to_owned(),
            base: "b".to_owned(),
            commit: "c".to_owned(),
            prompt: "do it".to_owned(),
            receipt: ReceiptId::new("r_1").unwrap(),
            text: "# Story".to_owned(),
            result: "/x/result.json".to_owned(),
            host: Host::COMMAND,
            command: Some("agent --fast".to_owned()),
            model: None,
            variables: BTreeMap::from([("HANDOVER_RUN".to_owned(), "run_1".to_owned())]),
            wall: Some(Duration::from_secs(60)),
            idle: None,
            turns: Some(3),
            cost_usd: Some(0.5),
            tokens: Some(90_000),
        };
        let value = serde_json::to_value(&job).unwrap();
        let back: RemoteJob = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&back).unwrap(), value);
        assert_eq!((back.attempt, back.wall), (2, Some(Duration::from_secs(60))));
        let result = RemoteResult {
            outcome: Outcome {
                ended: Ended::Exited(0),
                report: Report::default(),
                stdout: Captured::default(),
                stderr: Captured::default(),
                duration: Duration::from_millis(5),
                survivors: 0,
                left_behind: 0,
                tee_error: None,
                final_text: "done".to_owned(),
                failure: None,
            },
            report: Err("it gave no verdict".to_owned()),
            follow_up: Spent { tokens: 4, ..Spent::default() },
            commit: None,
        };
        let value = serde_json::to_value(&result).unwrap();
        let back: RemoteResult = serde_json::from_value(value).unwrap();
        let (outcome, report, follow_up) = back.into_parts();
        assert_eq!((outcome.final_text.as_str(), follow_up.tokens), ("done", 4));
        assert_eq!(report, Err(ReportError::Remote("it gave no verdict".to_owned())));
    }
}
