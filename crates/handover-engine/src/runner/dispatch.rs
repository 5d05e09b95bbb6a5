//! Dispatches agents to other machines, seen from the machine that leads the run: sends jobs, receives
//! results, and pushes everything that another machine needs to take over.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use handover_store::{Hold, NewJob};

use handover_model::Trace;

use super::Runner;
use super::agent::{AgentDone, AgentJob};
use super::remote_job::{RemoteJob, RemoteResult, job_ref, result_ref};
use super::workers::{Job, JobResult, WorkerPool};
use crate::EngineError;
use crate::git::NewCommit;
use crate::journal::Intent;
use crate::reducer::Event;
use crate::verdict::ReportError;

/// How often helpers and workers are polled.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Jobs that other machines work on.
#[derive(Default)]
pub(super) struct Dispatched {
    /// By the journal entry of their intent.
    jobs: BTreeMap<u64, Box<AgentJob>>,
    last_poll: Option<Instant>,
    last_heartbeat: Option<Instant>,
}

impl<'a> Runner<'a, '_> {
    /// The git remote that the machines of a run share, if there is one.
    fn remote(&self) -> Option<&'a str> {
        self.engine.config.runs.remote.as_deref()
    }

    /// Whether this machine is at capacity and another one is not.
    pub(super) fn should_dispatch(&self, job: &AgentJob) -> bool {
        self.remote().is_some()
            && job.wait.is_zero()
            && !self.has_capacity()
            && self.dispatched.jobs.len() < self.state.helpers as usize
    }

    fn has_capacity(&self) -> bool {
        let most = self.state.options.parallel.max(1) as usize;
        let long = self.in_flight.iter().filter(|intent| intent.effect.is_long()).count();
        long - self.dispatched.jobs.len().min(long) < most.max(self.state.plan.pipeline.widest())
    }

    pub(super) fn dispatch(
        &mut self,
        intent: &Intent,
        job: Box<AgentJob>,
    ) -> Result<(), EngineError> {
        let (Some(remote), Some(base), Some(tree)) =
            (self.remote(), &job.call.story.base, &job.call.story.tree)
        else {
            return Err(self.inconsistent("a job that cannot be dispatched"));
        };
        let run = &self.journal.run;
        let new = NewCommit {
            tree,
            parents: vec![base.clone()],
            subject: format!("work on {}", job.call.attempt.story),
            trailers: Vec::new(),
            at: intent.at,
        };
        let commit = self.repo.commit(&new)?;
        self.repo.push(remote, &[format!("{commit}:{}", job_ref(run, intent.seq))])?;
        let attempt = &job.call.attempt;
        let limits = &job.invocation.limits;
        let options = &self.state.options;
        let ours = job.invocation.environment.iter().filter_map(|(name, value)| {
            let (name, value) = (name.to_str()?, value.to_str()?);
            let is_ours = name.starts_with("HANDOVER_") && name != "HANDOVER_RESULT";
            is_ours.then(|| (name.to_owned(), value.to_owned()))
        });
        let remote_job = RemoteJob {
            story: attempt.story.clone(),
            step: attempt.step.clone(),
            attempt: attempt.number,
            nonce: attempt.nonce.clone(),
            base: base.clone(),
            commit,
            prompt: job.handoff.prompt.text().to_owned(),
            receipt: job.handoff.prompt.receipt().clone(),
            text: job.text.clone(),
            result: attempt.result().display().to_string(),
            host: options.host,
            command: options.command.clone(),
            model: options.model.clone(),
            variables: ours.collect(),
            wall: limits.wall,
            idle: limits.idle,
            turns: limits.turns,
            cost_usd: limits.cost_usd,
            tokens: limits.tokens,
        };
        let work =
            serde_json::to_value(&remote_job).map_err(|error| self.not_serializable(&error))?;
        let work = self.engine.redactor.clean_json(work);
        let now = self.now();
        let new = NewJob { run: run.clone(), seq: intent.seq, work, now };
        self.engine.store.offer_job(&new)?;
        self.dispatched.jobs.insert(intent.seq, job);
        Ok(())
    }

    fn not_serializable(&self, error: &serde_json::Error) -> EngineError {
        self.inconsistent(&format!("a job that cannot be serialized: {error}"))
    }

    /// Renews the lock, counts helpers and collects their results, at most once per interval. Returns
    /// the error that stops the run, if there is one.
    pub(super) fn poll_helpers<'s>(
        &mut self,
        workers: &WorkerPool<'s, 'a>,
    ) -> Result<Option<EngineError>, EngineError>
    where
        'a: 's,
    {
        let Some(remote) = self.remote() else { return Ok(None) };
        if self.dispatched.last_poll.is_some_and(|at| at.elapsed() < POLL_INTERVAL) {
            return Ok(None);
        }
        self.dispatched.last_poll = Some(Instant::now());
        let store = self.engine.store;
        let (run, now) = (self.journal.run.clone(), self.now());
        let pause = Duration::from_secs(self.journal.lease) / 6;
        if self.dispatched.last_heartbeat.is_none_or(|at| at.elapsed() >= pause) {
            let until = self.journal.until(now);
            store.keep_epic(&self.state.plan.epic, self.journal.fence, until)?;
            self.state.helpers = store.helping_slots(&run, now)?;
            self.dispatched.last_heartbeat = Some(Instant::now());
        }
        if self.engine.cancel.is_cancelled() && !self.dispatched.jobs.is_empty() {
            self.withdraw_dispatched()?;
            return Ok(Some(EngineError::Interrupted));
        }
        for seq in self.dispatched.jobs.keys().copied().collect::<Vec<_>>() {
            let Some(result) = store.job(&run, seq)?.and_then(|job| job.result) else { continue };
            let Some(job) = self.dispatched.jobs.remove(&seq) else { continue };
            store.withdraw_job(&run, seq)?;
            match serde_json::from_value(result) {
                Ok(result) => {
                    let done = self.received(remote, *job, seq, result);
                    if let Some(stop) = self.job_finished(seq, done)? {
                        return Ok(Some(stop));
                    }
                }
                // A helper of another version: do the job here instead.
                Err(_) => workers.start(seq, Job::Agent(job)),
            }
        }
        // No helper took the job, or its helper died: do it here.
        if !self.dispatched.jobs.is_empty() && self.has_capacity() {
            let taker = self.engine.machine.clone();
            let hold = Hold { run: run.clone(), taker, until: self.journal.until(now) };
            if let Some(taken) = store.take_job(&hold, now)? {
                store.withdraw_job(&run, taken.seq)?;
                if let Some(job) = self.dispatched.jobs.remove(&taken.seq) {
                    workers.start(taken.seq, Job::Agent(job));
                }
            }
        }
        Ok(None)
    }

    /// Withdraws all dispatched jobs.
    pub(super) fn withdraw_dispatched(&mut self) -> Result<(), EngineError> {
        for seq in std::mem::take(&mut self.dispatched.jobs).into_keys() {
            self.engine.store.withdraw_job(&self.journal.run, seq)?;
            self.in_flight.retain(|intent| intent.seq != seq);
        }
        Ok(())
    }

    fn received(
        &self,
        remote: &str,
        job: AgentJob,
        seq: u64,
        result: RemoteResult,
    ) -> Result<JobResult, EngineError> {
        let AgentJob { call, handoff, .. } = job;
        let commit = result.commit.clone();
        let (outcome, mut report, follow_up) = result.into_parts();
        if call.attempt.step.voice.is_none() {
            match commit {
                Some(commit) => {
                    self.repo.fetch(remote, &[result_ref(&self.journal.run, seq)])?;
                    call.worktree.ensure()?;
                    call.worktree.restore(&self.repo.tree_of(&commit)?)?;
                }
                None => {
                    let reason = "git cannot read the worktree that it left".to_owned();
                    report = Err(ReportError::Remote(reason));
                }
            }
        }
        // What the agent did was seen on the other machine only.
        let trace = Trace::default();
        let done = AgentDone { call, handoff, outcome, report, follow_up, trace };
        Ok(JobResult::Agent(Box::new(done)))
    }

    /// Deletes everything but the run's branches from the remote. Leftovers are harmless, so errors are
    /// ignored.
    pub(super) fn clean_remote(&self) {
        let Some(remote) = self.remote() else { return };
        let ours = format!("refs/handover/{}/", self.journal.run);
        let names = self.repo.remote_refs(remote, &ours).unwrap_or_default();
        if !names.is_empty() {
            let gone: Vec<String> = names.iter().map(|name| format!(":{name}")).collect();
            let _ = self.repo.push(remote, &gone);
        }
    }

    /// Pushes what the journal is about to name, so that another machine can take over after a crash.
    pub(super) fn publish(&mut self, event: &Event) -> Result<(), EngineError> {
        let Some(remote) = self.remote() else { return Ok(()) };
        let parked = match event {
            Event::Parked { branch, .. } => branch.clone(),
            Event::Opened { .. }
            | Event::PhaseEnded(_)
            | Event::UatEnded { .. }
            | Event::Rebased { .. }
            | Event::Committed { .. } => None,
            Event::Started { .. }
            | Event::Answered { .. }
            | Event::Retried { .. }
            | Event::Approved { .. }
            | Event::Resumed { .. }
            | Event::BaseChecked { .. }
            | Event::GatesEnded { .. }
            | Event::WaitEnded { .. }
            | Event::GaveUp { .. }
            | Event::Refused { .. }
            | Event::Merged { .. }
            | Event::Stopped { .. }
            | Event::Ended { .. } => return Ok(()),
        };
        // An engine that lost the lock must not disturb its successor.
        let until = self.journal.until(self.now());
        self.engine.store.keep_epic(&self.state.plan.epic, self.journal.fence, until)?;
        let plan = &self.state.plan;
        let ours = format!("refs/handover/{}/", self.journal.run);
        let mut refs = vec![format!("{}:{ours}@base", plan.base)];
        let kept = self.repo.refs_below(&ours)?.into_iter().filter(|name| !name.contains('@'));
        refs.extend(kept.map(|name| format!("{name}:{name}")));
        for branch in [Some(plan.branch.clone()), parked].into_iter().flatten() {
            let name = format!("refs/heads/{branch}");
            if self.repo.resolve(&name)?.is_some() {
                refs.push(format!("{name}:{name}"));
            }
        }
        Ok(self.repo.push(remote, &refs)?)
    }
}
