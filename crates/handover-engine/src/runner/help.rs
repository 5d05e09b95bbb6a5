//! Working for a run that another machine leads, until it is over or nobody leads it any more.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use handover_agents::{CancelToken, end_marked};
use handover_model::{EpicId, RunId, RunState, Timestamp};
use handover_store::{Hold, RecordKind, RunFilter, StoreError};

use super::away::LOOK;
use super::crew::{Crew, Done, Job, Message, Word};
use super::{Engine, OnProgress, Progress, spawn_id};
use crate::EngineError;
use crate::git::Repo;
use crate::journal::fold;
use crate::reducer::State;

/// How helping ends.
pub(super) enum Helped {
    /// The run is over.
    Over(RunId, Box<State>),
    /// This machine leads.
    Leads {
        /// The fence of its lock.
        fence: u64,
        /// Whether it goes on with what another machine left.
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
    ) -> Result<Helped, EngineError> {
        let refusal = match self.lock(epic) {
            Ok(fence) => return Ok(Helped::Leads { fence, succeeds: false }),
            Err(error) => error,
        };
        let (Some(remote), EngineError::Store(StoreError::Locked { owner, .. })) =
            (&self.config.runs.remote, &refusal)
        else {
            return Err(refusal);
        };
        // Whoever has only just begun has no journal yet.
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

    /// Gets what the others have left of a run, so that this machine can go on with it.
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
        let lease = self.engine.lease(0).saturating_mul(1_000_000).cast_signed();
        let until = Timestamp::from_micros(now.as_micros().saturating_add(lease));
        let taker = format!("{}-{}", self.engine.machine, std::process::id());
        Hold { run: self.run.clone(), taker, until }
    }

    /// Ends what a helper that died on this machine left running.
    fn reap(&self) -> Result<(), EngineError> {
        let folder =
            self.engine.project.join(".handover/runs").join(self.run.as_str()).join("errands");
        let Ok(entries) = fs_err::read_dir(folder) else { return Ok(()) };
        for entry in entries.flatten() {
            if let Some(seq) = entry.file_name().to_str().and_then(|name| name.parse().ok()) {
                end_marked(&spawn_id(&self.run, seq)?, Duration::from_millis(500))?;
            }
        }
        Ok(())
    }

    fn work(&self, mut state: State, on_progress: OnProgress<'_>) -> Result<Helped, EngineError> {
        let engine = self.engine;
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            let redactor = engine.redactor;
            let crew = Crew { scope, sender, redactor, cancel: engine.cancel.clone() };
            let mut busy: BTreeMap<u64, CancelToken> = BTreeMap::new();
            let call_off =
                |busy: &BTreeMap<u64, CancelToken>| busy.values().for_each(CancelToken::cancel);
            let mut lived: Option<Instant> = None;
            loop {
                let step = self.step(&crew, &mut busy, &mut lived);
                match step {
                    Ok(None) => {}
                    Ok(Some(helped)) => {
                        call_off(&busy);
                        return Ok(helped);
                    }
                    Err(error) => {
                        call_off(&busy);
                        return Err(error);
                    }
                }
                match receiver.recv_timeout(LOOK) {
                    Ok(Message { word: Word::Activity { story, what }, .. }) => {
                        on_progress(&state, &Progress::Activity { story: &story, what });
                    }
                    Ok(Message { seq, word: Word::Done(done) }) => {
                        let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                        busy.remove(&seq);
                        if let Err(error) = self.hand_in(seq, done) {
                            call_off(&busy);
                            return Err(error);
                        }
                        if let Ok(Some((_, now))) = engine.latest(self.epic) {
                            state = now;
                        }
                    }
                    Ok(Message { word: Word::Spawned(_), .. })
                    | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
            }
        })
    }

    /// One look around: whether the run is still led, and whether there is something to do.
    fn step<'s, 'e: 's>(
        &self,
        crew: &Crew<'s, 'e>,
        busy: &mut BTreeMap<u64, CancelToken>,
        lived: &mut Option<Instant>,
    ) -> Result<Option<Helped>, EngineError> {
        let (engine, store) = (self.engine, self.engine.store);
        if engine.cancel.is_cancelled() {
            return Err(EngineError::Interrupted);
        }
        let now = (engine.now)();
        let hold = self.hold(now);
        let pause = Duration::from_secs(engine.lease(0)) / 6;
        if lived.is_none_or(|at| at.elapsed() >= pause) {
            *lived = Some(Instant::now());
            match engine.lock(self.epic) {
                Ok(fence) => return self.leads(fence).map(Some),
                Err(EngineError::Store(StoreError::Locked { .. })) => {}
                Err(error) => return Err(error),
            }
            if store.run_record(&self.run)?.state != RunState::Running {
                return self.over().map(Some);
            }
            store.announce_helper(&hold, self.slots)?;
            for (seq, cancel) in busy.iter() {
                if !store.keep_job(&hold, *seq)? {
                    // It was taken back, or somebody else has it by now.
                    cancel.cancel();
                }
            }
        }
        while busy.len() < self.slots as usize {
            let Some(job) = store.take_job(&hold, now)? else { break };
            // What this version cannot read is left to whoever can.
            let Ok(errand) = serde_json::from_value(job.work) else { break };
            let errand = engine.errand(self.repo, self.remote, &self.run, job.seq, errand)?;
            let cancel = CancelToken::default();
            busy.insert(job.seq, cancel.clone());
            crew.start_until(job.seq, Job::Errand(Box::new(errand)), cancel);
        }
        Ok(None)
    }

    /// The lock is ours: the run goes on here, unless it has come to its end meanwhile.
    fn leads(&self, fence: u64) -> Result<Helped, EngineError> {
        if self.engine.store.run_record(&self.run)?.state == RunState::Running {
            return Ok(Helped::Leads { fence, succeeds: true });
        }
        self.engine.store.unlock_epic(self.epic, fence)?;
        self.over()
    }

    fn over(&self) -> Result<Helped, EngineError> {
        match self.engine.latest(self.epic)? {
            Some((run, state)) => Ok(Helped::Over(run, Box::new(state))),
            None => Err(StoreError::not_found(RecordKind::Run, &self.run).into()),
        }
    }

    /// Whatever went wrong on this machine alone is somebody else's turn.
    fn hand_in(&self, seq: u64, done: Result<Done, EngineError>) -> Result<(), EngineError> {
        let Ok(Done::Errand(brought)) = done else { return Ok(()) };
        let Ok(result) = serde_json::to_value(&*brought) else { return Ok(()) };
        let result = self.engine.redactor.clean_json(result);
        self.engine.store.finish_job(&self.hold((self.engine.now)()), seq, &result)?;
        Ok(())
    }
}
