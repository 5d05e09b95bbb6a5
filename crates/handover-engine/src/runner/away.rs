//! Work on other machines, seen from the one that leads: what is sent, what comes back, and that the
//! others find everything when this one dies.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use handover_store::{Hold, NewJob};

use super::Runner;
use super::agent::{AgentDone, AgentJob};
use super::crew::{Crew, Done, Job};
use super::errand::{Brought, Errand, back, there};
use crate::EngineError;
use crate::git::NewCommit;
use crate::journal::Intent;
use crate::reducer::Event;
use crate::verdict::Unclear;

/// How often one looks around.
pub(super) const LOOK: Duration = Duration::from_millis(250);

/// What is on other machines.
#[derive(Default)]
pub(super) struct Away {
    /// By the entry of the journal that began it.
    jobs: BTreeMap<u64, Box<AgentJob>>,
    looked: Option<Instant>,
    lived: Option<Instant>,
}

impl<'a> Runner<'a, '_> {
    /// The remote, if several machines work on the run.
    fn remote(&self) -> Option<&'a str> {
        self.engine.config.runs.remote.as_deref()
    }

    /// Whether this machine has enough to do and another has room.
    pub(super) fn is_for_others(&self, job: &AgentJob) -> bool {
        self.remote().is_some()
            && job.wait.is_zero()
            && !self.has_room()
            && self.away.jobs.len() < self.state.helpers as usize
    }

    fn has_room(&self) -> bool {
        let most = self.state.options.parallel.max(1) as usize;
        let long = self.busy.iter().filter(|intent| intent.effect.is_long()).count();
        long - self.away.jobs.len().min(long) < most.max(self.state.plan.pipeline.widest())
    }

    pub(super) fn send(&mut self, intent: &Intent, job: Box<AgentJob>) -> Result<(), EngineError> {
        let (Some(remote), Some(base), Some(tree)) =
            (self.remote(), &job.call.story.base, &job.call.story.tree)
        else {
            return Err(self.out_of_step("work for others that cannot be sent"));
        };
        let run = &self.journal.run;
        let new = NewCommit {
            tree,
            parents: vec![base.clone()],
            subject: format!("work on {}", job.call.seat.id),
            trailers: Vec::new(),
            at: intent.at,
        };
        let commit = self.repo.commit(&new)?;
        self.repo.push(remote, &[format!("{commit}:{}", there(run, intent.seq))])?;
        let seat = &job.call.seat;
        let limits = &job.invocation.limits;
        let options = &self.state.options;
        let ours = job.invocation.environment.iter().filter_map(|(name, value)| {
            let (name, value) = (name.to_str()?, value.to_str()?);
            let is_ours = name.starts_with("HANDOVER_") && name != "HANDOVER_RESULT";
            is_ours.then(|| (name.to_owned(), value.to_owned()))
        });
        let errand = Errand {
            story: seat.id.clone(),
            step: seat.step.clone(),
            attempt: seat.attempt,
            nonce: seat.nonce.clone(),
            base: base.clone(),
            commit,
            prompt: job.handoff.prompt.text().to_owned(),
            receipt: job.handoff.prompt.receipt().clone(),
            text: job.text.clone(),
            result: seat.result().display().to_string(),
            host: options.host,
            command: options.command.clone(),
            model: options.model.clone(),
            variables: ours.collect(),
            wall: limits.wall,
            idle: limits.idle,
            turns: limits.turns,
            cost_usd: limits.cost_usd,
        };
        let work = serde_json::to_value(&errand).map_err(|error| self.cannot_be_sent(&error))?;
        let work = self.engine.redactor.clean_json(work);
        let now = self.now();
        let new = NewJob { run: run.clone(), seq: intent.seq, work, now };
        self.engine.store.offer_job(&new)?;
        self.away.jobs.insert(intent.seq, job);
        Ok(())
    }

    fn cannot_be_sent(&self, error: &serde_json::Error) -> EngineError {
        self.out_of_step(&format!("work for others that cannot be written down: {error}"))
    }

    /// Every now and then: a sign of life, who else is there, and what they have done. Gives what
    /// stops the run, if something does.
    pub(super) fn look_around<'s>(
        &mut self,
        crew: &Crew<'s, 'a>,
    ) -> Result<Option<EngineError>, EngineError>
    where
        'a: 's,
    {
        let Some(remote) = self.remote() else { return Ok(None) };
        if self.away.looked.is_some_and(|at| at.elapsed() < LOOK) {
            return Ok(None);
        }
        self.away.looked = Some(Instant::now());
        let store = self.engine.store;
        let (run, now) = (self.journal.run.clone(), self.now());
        let pause = Duration::from_secs(self.journal.lease) / 6;
        if self.away.lived.is_none_or(|at| at.elapsed() >= pause) {
            let until = self.journal.until(now);
            store.keep_epic(&self.state.plan.epic, self.journal.fence, until)?;
            self.state.helpers = store.helping_slots(&run, now)?;
            self.away.lived = Some(Instant::now());
        }
        if self.engine.cancel.is_cancelled() && !self.away.jobs.is_empty() {
            self.call_back()?;
            return Ok(Some(EngineError::Interrupted));
        }
        for seq in self.away.jobs.keys().copied().collect::<Vec<_>>() {
            let Some(result) = store.job(&run, seq)?.and_then(|job| job.result) else { continue };
            let Some(job) = self.away.jobs.remove(&seq) else { continue };
            store.withdraw_job(&run, seq)?;
            match serde_json::from_value(result) {
                Ok(brought) => {
                    let done = self.brought(remote, *job, seq, brought);
                    if let Some(stop) = self.done(seq, done)? {
                        return Ok(Some(stop));
                    }
                }
                // Such as from another version: then it is done here.
                Err(_) => crew.start(seq, Job::Agent(job)),
            }
        }
        // What nobody else does, or who did it has died, is done here.
        if !self.away.jobs.is_empty() && self.has_room() {
            let taker = self.engine.machine.clone();
            let hold = Hold { run: run.clone(), taker, until: self.journal.until(now) };
            if let Some(taken) = store.take_job(&hold, now)? {
                store.withdraw_job(&run, taken.seq)?;
                if let Some(job) = self.away.jobs.remove(&taken.seq) {
                    crew.start(taken.seq, Job::Agent(job));
                }
            }
        }
        Ok(None)
    }

    /// Nobody need work for us any more.
    pub(super) fn call_back(&mut self) -> Result<(), EngineError> {
        for seq in std::mem::take(&mut self.away.jobs).into_keys() {
            self.engine.store.withdraw_job(&self.journal.run, seq)?;
            self.busy.retain(|intent| intent.seq != seq);
        }
        Ok(())
    }

    fn brought(
        &self,
        remote: &str,
        job: AgentJob,
        seq: u64,
        brought: Brought,
    ) -> Result<Done, EngineError> {
        let AgentJob { call, handoff, invocation, .. } = job;
        let commit = brought.commit.clone();
        let (outcome, mut said, more) = brought.said();
        if call.seat.step.voice.is_none() {
            match commit {
                Some(commit) => {
                    self.repo.fetch(remote, &[back(&self.journal.run, seq)])?;
                    call.worktree.ensure()?;
                    call.worktree.restore(&self.repo.tree_of(&commit)?)?;
                }
                None => said = Err(Unclear::Elsewhere("git cannot read what it left".to_owned())),
            }
        }
        let host = invocation.host;
        Ok(Done::Agent(Box::new(AgentDone { call, handoff, host, outcome, said, more })))
    }

    /// Nothing of the run stays at the remote but its branches; what cannot be taken away is in
    /// nobody's way.
    pub(super) fn clean_remote(&self) {
        let Some(remote) = self.remote() else { return };
        let ours = format!("refs/handover/{}/", self.journal.run);
        let names = self.repo.remote_refs(remote, &ours).unwrap_or_default();
        if !names.is_empty() {
            let gone: Vec<String> = names.iter().map(|name| format!(":{name}")).collect();
            let _ = self.repo.push(remote, &gone);
        }
    }

    /// What the journal is about to name must be where another machine finds it, should this one die.
    pub(super) fn publish(&mut self, event: &Event) -> Result<(), EngineError> {
        let Some(remote) = self.remote() else { return Ok(()) };
        let aside = match event {
            Event::Parked { branch, .. } => branch.clone(),
            Event::Opened { .. }
            | Event::PhaseEnded(_)
            | Event::UatEnded { .. }
            | Event::Rebased { .. }
            | Event::Committed { .. } => None,
            Event::Started { .. }
            | Event::Answered { .. }
            | Event::Resumed { .. }
            | Event::GatesEnded { .. }
            | Event::Refused { .. }
            | Event::Merged { .. }
            | Event::Stopped { .. }
            | Event::Ended { .. } => return Ok(()),
        };
        // Whoever has lost the lock must not disturb its successor.
        let until = self.journal.until(self.now());
        self.engine.store.keep_epic(&self.state.plan.epic, self.journal.fence, until)?;
        let plan = &self.state.plan;
        let ours = format!("refs/handover/{}/", self.journal.run);
        let mut refs = vec![format!("{}:{ours}@base", plan.base)];
        let kept = self.repo.refs_below(&ours)?.into_iter().filter(|name| !name.contains('@'));
        refs.extend(kept.map(|name| format!("{name}:{name}")));
        for branch in [Some(plan.branch.clone()), aside].into_iter().flatten() {
            let name = format!("refs/heads/{branch}");
            if self.repo.resolve(&name)?.is_some() {
                refs.push(format!("{name}:{name}"));
            }
        }
        Ok(self.repo.push(remote, &refs)?)
    }
}
