//! Works for a run that another machine leads, until the run ends or its leader dies.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use handover_agents::{CancelToken, end_marked};
use handover_model::{EpicId, RunId, RunState, Timestamp};
use handover_store::{Hold, RecordKind, RunFilter, StoreError};

use super::dispatch::POLL_INTERVAL;
use super::workers::{Job, JobResult, WorkerEvent, WorkerMessage, WorkerPool};
use super::{Engine, OnProgress, Progress, spawn_id};
use crate::EngineError;
use crate::git::Repo;
use crate::journal::fold;
use crate::lock::lease_end;
use crate::reducer::State;

/// Why an engine does not help, or stops helping.
pub(super) enum HelpOutcome {
    /// The run is over.
    Finished(RunId, Box<State>),
    /// This machine leads the run now.
    Leading {
        /// The fence of its lock.
        fence: u64,
        /// Whether it takes over from a machine that is gone.
        succeeds: bool,
    },
}

impl Engine<'_> {
    /// Takes the lock of an epic, or works for the machine that has it.
    pub(super) fn lock_or_help(
        &self,
        epic: &EpicId,
        slots: u32,
        repo: &Repo,
        on_progress: OnProgress<'_>,
    ) -> Result<HelpOutcome, EngineError> {
        let refusal = match self.lock(epic) {
            Ok(fence) => return Ok(HelpOutcome::Leading { fence, succeeds: false }),
            Err(error) => error,
        };
        let (Some(remote), EngineError::Store(StoreError::Locked { owner, .. })) =
            (&self.config.runs.remote, &refusal)
        else {
            return Err(refusal);
        };
        // A run that has only just started has no journal yet.
        let Some((run, state)) = self.latest(epic)? else { return Err(refusal) };
        on_progress(&state, &Progress::Helping { run: &run, leader: &owner.host });
        let helper = Helper { engine: self, repo, remote, epic, run, slots: slots.max(1) };
        helper.reap()?;
        helper.work(state, on_progress)
    }

    fn latest(&self, epic: &EpicId) -> Result<Option<(RunId, State)>, EngineError> {
        let filter = RunFilter { epic: Some(epic.clone()), limit: Some(1) };
        let Some(run) = self.store.runs(&filter)?.pop() else { return Ok(None) };
        let folded = fold(&run.id, &self.store.journal(&run.id, 1)?)?;
        Ok(folded.map(|folded| (run.id, folded.state)))
    }

    /// Fetches everything that other machines pushed for a run, so that this one can continue it.
    pub(super) fn fetch_run(
        &self,
        repo: &Repo,
        run: &RunId,
        branch: &str,
    ) -> Result<(), EngineError> {
        let Some(remote) = &self.config.runs.remote else { return Ok(()) };
        let mut refs = repo.remote_refs(remote, &format!("refs/handover/{run}/"))?;
        let branch = format!("refs/heads/{branch}");
        refs.extend(repo.remote_refs(remote, &branch)?.into_iter().filter(|name| *name == branch));
        let refs: Vec<String> = refs.iter().map(|name| format!("{name}:{name}")).collect();
        if !refs.is_empty() {
            repo.fetch(remote, &refs)?;
        }
        Ok(())
    }
}

struct Helper<'a> {
    engine: &'a Engine<'a>,
    repo: &'a Repo,
    remote: &'a str,
    epic: &'a EpicId,
    run: RunId,
    slots: u32,
}

impl Helper<'_> {
    fn hold(&self, now: Timestamp) -> Hold {
        let until = lease_end(now, self.engine.lease(0));
        let taker = format!("{}-{}", self.engine.machine, std::process::id());
        Hold { run: self.run.clone(), taker, until }
    }

    /// Kills the orphans of a helper that crashed on this machine.
    fn reap(&self) -> Result<(), EngineError> {
        let folder = self.engine.run_folder(&self.run).inside("remote-jobs");
        for entry in folder.entries().unwrap_or_default() {
            if let Ok(seq) = entry.name.parse() {
                end_marked(&spawn_id(&self.run, seq)?, Duration::from_millis(500))?;
            }
        }
        Ok(())
    }

    fn work(
        &self,
        mut state: State,
        on_progress: OnProgress<'_>,
    ) -> Result<HelpOutcome, EngineError> {
        let engine = self.engine;
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            let redactor = engine.redactor;
            let workers = WorkerPool { scope, sender, redactor, cancel: engine.cancel.clone() };
            let mut busy: BTreeMap<u64, CancelToken> = BTreeMap::new();
            let cancel_all =
                |busy: &BTreeMap<u64, CancelToken>| busy.values().for_each(CancelToken::cancel);
            let mut last_heartbeat: Option<Instant> = None;
            loop {
                let step = self.step(&workers, &mut busy, &mut last_heartbeat);
                match step {
                    Ok(None) => {}
                    Ok(Some(helped)) => {
                        cancel_all(&busy);
                        return Ok(helped);
                    }
                    Err(error) => {
                        cancel_all(&busy);
                        return Err(error);
                    }
                }
                match receiver.recv_timeout(POLL_INTERVAL) {
                    Ok(WorkerMessage { event: WorkerEvent::Activity { story, what }, .. }) => {
                        on_progress(&state, &Progress::Activity { story: &story, what });
                    }
                    Ok(WorkerMessage { seq, event: WorkerEvent::Finished(done) }) => {
                        let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                        busy.remove(&seq);
                        if let Err(error) = self.submit_result(seq, done) {
                            cancel_all(&busy);
                            return Err(error);
                        }
                        if let Ok(Some((_, now))) = engine.latest(self.epic) {
                            state = now;
                        }
                    }
                    Ok(WorkerMessage { event: WorkerEvent::Spawned { delivered, .. }, .. }) => {
                        if let Err(error) = engine.mark_delivered(delivered) {
                            cancel_all(&busy);
                            return Err(error);
                        }
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
            }
        })
    }

    /// Checks whether the run still has a leader, renews our leases and takes new jobs.
    fn step<'s, 'e: 's>(
        &self,
        workers: &WorkerPool<'s, 'e>,
        busy: &mut BTreeMap<u64, CancelToken>,
        last_heartbeat: &mut Option<Instant>,
    ) -> Result<Option<HelpOutcome>, EngineError> {
        let (engine, store) = (self.engine, self.engine.store);
        if engine.cancel.is_cancelled() {
            return Err(EngineError::Interrupted);
        }
        let now = (engine.now)();
        let hold = self.hold(now);
        let pause = Duration::from_secs(engine.lease(0)) / 6;
        if last_heartbeat.is_none_or(|at| at.elapsed() >= pause) {
            *last_heartbeat = Some(Instant::now());
            match engine.lock(self.epic) {
                Ok(fence) => return self.become_leader(fence).map(Some),
                Err(EngineError::Store(StoreError::Locked { .. })) => {}
                Err(error) => return Err(error),
            }
            if store.run_record(&self.run)?.state != RunState::Running {
                return self.over().map(Some);
            }
            store.announce_helper(&hold, self.slots)?;
            for (seq, cancel) in busy.iter() {
                if !store.keep_job(&hold, *seq)? {
                    // The leader withdrew it, or another helper has taken it.
                    cancel.cancel();
                }
            }
        }
        while busy.len() < self.slots as usize {
            let Some(job) = store.take_job(&hold, now)? else { break };
            // Leave a job of another version to a helper of that version.
            let Ok(remote) = serde_json::from_value(job.work) else { break };
            let work = engine.prepare_remote(self.repo, self.remote, &self.run, job.seq, remote)?;
            let cancel = CancelToken::default();
            busy.insert(job.seq, cancel.clone());
            workers.start_cancellable(job.seq, Job::Remote(Box::new(work)), cancel);
        }
        Ok(None)
    }

    /// The lock is ours: the run continues here, unless it has ended in the meantime.
    fn become_leader(&self, fence: u64) -> Result<HelpOutcome, EngineError> {
        if self.engine.store.run_record(&self.run)?.state == RunState::Running {
            return Ok(HelpOutcome::Leading { fence, succeeds: true });
        }
        self.engine.store.unlock_epic(self.epic, fence)?;
        self.over()
    }

    fn over(&self) -> Result<HelpOutcome, EngineError> {
        match self.engine.latest(self.epic)? {
            Some((run, state)) => Ok(HelpOutcome::Finished(run, Box::new(state))),
            None => Err(StoreError::not_found(RecordKind::Run, &self.run).into()),
        }
    }

    /// Stores a result. After an error on this machine the job is left to another helper.
    fn submit_result(
        &self,
        seq: u64,
        done: Result<JobResult, EngineError>,
    ) -> Result<(), EngineError> {
        let Ok(JobResult::Remote(result)) = done else { return Ok(()) };
        let Ok(result) = serde_json::to_value(&*result) else { return Ok(()) };
        let result = self.engine.redactor.clean_json(result);
        self.engine.store.finish_job(&self.hold((self.engine.now)()), seq, &result)?;
        Ok(())
    }
}
