//! Drives a run: asks the reducer for the next effect, writes the intent to the journal, carries it out,
//! and writes the resulting event. Long effects run on worker threads, several at once. After a crash
//! the journal says where to continue.

mod agent;
mod agent_work;
mod answer;
mod base;
mod canary;
mod cargo_target;
mod closing;
mod commit;
mod dispatch;
mod engine;
mod finish;
mod folder;
mod gates;
mod handoffs;
mod helper;
mod inspect;
mod logs;
mod open;
mod park;
mod rebase;
mod records;
mod remote_job;
mod result_file;
mod scenarios;
mod uat;
mod unexpected_refs;
mod usage_limit;
mod workers;
mod worktrees;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use handover_agents::SpawnId;
use handover_files::Folder;
use handover_model::{RunId, RunState, Timestamp};

use crate::EngineError;
use crate::gates::GateResult;
use crate::git::{Repo, Worktree};
use crate::journal::{Intent, Journal, Note, mark};
use crate::reducer::{Effect, Event, State, StoryRun};
use dispatch::{Dispatched, POLL_INTERVAL};
use workers::{Job, JobResult, WorkerEvent, WorkerMessage, WorkerPool};

pub use agent::backoff;
pub use engine::{Engine, OnProgress, Progress};
pub(crate) use logs::LOGS;
pub use usage_limit::lifted_at;

/// The marker that identifies the processes of one effect after a crash.
fn spawn_id(run: &RunId, seq: u64) -> Result<SpawnId, EngineError> {
    Ok(SpawnId::new(mark(run, seq))?)
}

/// A run in progress. Only the thread that owns it writes to the journal and the store.
struct Runner<'a, 'p> {
    engine: &'a Engine<'a>,
    repo: &'a Repo,
    /// The run's own folder, with its worktrees and logs.
    folder: Folder,
    journal: Journal<'a>,
    state: State,
    on_progress: OnProgress<'p>,
    /// Effects that a crashed engine started and did not finish.
    interrupted: Vec<Intent>,
    /// Effects that workers or other machines are busy with.
    in_flight: Vec<Intent>,
    /// Those of them that other machines work on.
    dispatched: Dispatched,
    /// The tree that a story's worktree is known to hold, by story.
    tree_in_worktree: BTreeMap<String, String>,
    /// The worktree of a finished story, for the next one to reuse.
    spare_worktree: Option<Worktree>,
    /// The tree that gates checked last and their results, by story.
    gate_results: BTreeMap<String, (String, Vec<GateResult>)>,
    /// Whether it was said that costs are not known.
    cost_is_unknown: bool,
    /// Unexpected refs that were reported already.
    reported_refs: BTreeSet<String>,
    /// Stories whose logs are not kept with the run yet.
    live_logs: BTreeSet<String>,
}

/// An effect that was started.
enum Started {
    /// It was short and has finished.
    Finished(Event),
    /// A worker has to perform it.
    Job(Job),
    /// It is over at a certain time.
    Waits,
}

impl<'a> Runner<'a, '_> {
    fn now(&self) -> Timestamp {
        (self.engine.now)()
    }

    /// Works until nothing is left to do or something stops the run.
    fn drive(&mut self) -> Result<(), EngineError> {
        let (sender, receiver) = channel();
        let (redactor, cancel) = (self.engine.redactor, self.engine.cancel.clone());
        std::thread::scope(|scope| {
            let workers = WorkerPool { scope, sender, redactor, cancel };
            let outcome = self.event_loop(&workers, &receiver);
            if outcome.is_err() {
                // The journal can no longer be written, so no worker may continue.
                self.engine.cancel.cancel();
            }
            outcome
        })
    }

    /// Starts every effect that may start and handles what workers report. When something stops the
    /// run, workers may still finish: their agents are paid for.
    fn event_loop<'s>(
        &mut self,
        workers: &WorkerPool<'s, 'a>,
        messages: &Receiver<WorkerMessage>,
    ) -> Result<(), EngineError>
    where
        'a: 's,
    {
        let mut stop = None;
        loop {
            stop = stop.or(self.poll_helpers(workers)?);
            stop = stop.or(self.poll_wait()?);
            while let (None, Some(effect)) = (&stop, self.next_effect()) {
                stop = self.start_effect(effect, workers)?;
            }
            if self.in_flight.is_empty() {
                break;
            }
            let WorkerMessage { seq, event } = match messages.recv_timeout(POLL_INTERVAL) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => {
                    (self.on_progress)(&self.state, &Progress::Tick);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match event {
                WorkerEvent::Spawned { process, delivered } => {
                    // A process missing from the journal could not be found after a crash.
                    self.journal.note(&Note::Spawned { process }, self.now())?;
                    self.engine.mark_delivered(delivered)?;
                }
                WorkerEvent::Activity { story, what } => {
                    (self.on_progress)(&self.state, &Progress::Activity { story: &story, what });
                }
                WorkerEvent::Finished(result) => {
                    let result = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                    stop = stop.or(self.job_finished(seq, result)?);
                }
            }
        }
        stop.map_or(Ok(()), |error| self.stop_with(error))
    }

    /// Records the result of a job. Returns the error that stops the run, if there is one.
    fn job_finished(
        &mut self,
        seq: u64,
        result: Result<JobResult, EngineError>,
    ) -> Result<Option<EngineError>, EngineError> {
        let Some(at) = self.in_flight.iter().position(|intent| intent.seq == seq) else {
            return Ok(None);
        };
        self.in_flight.remove(at);
        match result.and_then(|result| self.finish_job(result)) {
            Ok(event) => self.record(&event),
            Err(error) => Ok(Some(error)),
        }
    }

    fn next_effect(&self) -> Option<Effect> {
        self.state.next(&self.effects_in_flight())
    }

    fn effects_in_flight(&self) -> Vec<Effect> {
        self.in_flight.iter().map(|intent| intent.effect.clone()).collect()
    }

    /// Starts one effect. Returns the error that stops the run, if there is one.
    fn start_effect<'s>(
        &mut self,
        effect: Effect,
        workers: &WorkerPool<'s, 'a>,
    ) -> Result<Option<EngineError>, EngineError>
    where
        'a: 's,
    {
        if self.engine.cancel.is_cancelled() {
            return Ok(Some(EngineError::Interrupted));
        }
        // Effects that a crashed engine started are repeated under the same number and time.
        let intent = match self.interrupted.iter().position(|intent| intent.effect == effect) {
            Some(at) => self.interrupted.remove(at),
            None => self.journal.intent(&effect, (self.engine.now)())?,
        };
        (self.on_progress)(&self.state, &Progress::Starting(&effect));
        let (seq, story) = (intent.seq, effect.story());
        let _span = tracing::debug_span!("effect", seq, name = effect.name(), story).entered();
        tracing::debug!("effect started");
        match self.start(&intent) {
            Ok(Started::Finished(event)) => return self.record(&event),
            Ok(Started::Waits) => self.in_flight.push(intent),
            Ok(Started::Job(Job::Agent(job))) if self.should_dispatch(&job) => {
                if let Err(error) = self.dispatch(&intent, job) {
                    return Ok(Some(error));
                }
                self.in_flight.push(intent);
            }
            Ok(Started::Job(job)) => {
                workers.start(intent.seq, job);
                self.in_flight.push(intent);
            }
            Err(error) => return Ok(Some(error)),
        }
        Ok(None)
    }

    /// Writes an event to the journal and applies it. Returns the error that stops the run, if there is
    /// one.
    fn record(&mut self, event: &Event) -> Result<Option<EngineError>, EngineError> {
        if let Err(error) = self.publish(event) {
            return Ok(Some(error));
        }
        let event = self.journal.event(event, (self.engine.now)())?;
        self.state.apply(&event);
        tracing::debug!(seq = self.journal.seq, "event recorded");
        self.keep_logs();
        (self.on_progress)(&self.state, &Progress::Recorded(&event));
        Ok(None)
    }

    /// Stops the run so that it can be resumed. A failing store is returned as an error: nothing can be
    /// written about it.
    fn stop_with(&mut self, error: EngineError) -> Result<(), EngineError> {
        if matches!(error, EngineError::Store(_)) {
            return Err(error);
        }
        let was_interrupted = matches!(error, EngineError::Interrupted);
        let state = if was_interrupted || self.engine.cancel.is_cancelled() {
            RunState::Interrupted
        } else {
            RunState::Environment
        };
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            reason = format!("{reason}: {inner}");
            cause = inner.source();
        }
        tracing::debug!(%state, reason, "the run stops");
        self.record(&Event::Stopped { state, reason }).map(drop)
    }

    fn start(&mut self, intent: &Intent) -> Result<Started, EngineError> {
        let event = match &intent.effect {
            Effect::Agent { story, attempt, voice, .. } => {
                return self.start_agent(intent, story, *attempt, voice.as_ref());
            }
            Effect::CheckBase => return self.start_base(intent),
            Effect::Wait { .. } => return Ok(Started::Waits),
            Effect::Gates { story, attempt } => return self.start_gates(intent, story, *attempt),
            Effect::Uat { story, attempt } => return self.start_uat(intent, story, *attempt),
            Effect::Forgo { story, phase, attempt, voice, reason } => {
                self.skip_agent(story, *phase, *attempt, voice.as_ref(), reason)?
            }
            Effect::GiveUp { story, reason } => {
                Event::GaveUp { story: story.clone(), reason: reason.clone(), by: None }
            }
            Effect::Open { story } => self.open(story)?,
            Effect::Rebase { story, onto } => self.rebase(intent, story, onto)?,
            Effect::Commit { story } => self.commit(intent, story)?,
            Effect::Park { story } => self.park(intent, story)?,
            Effect::Merge => self.merge()?,
            Effect::Ask => self.ask()?,
            Effect::Halt { reason } => {
                Event::Stopped { state: RunState::Budget, reason: reason.clone() }
            }
            Effect::Finish => self.finish()?,
        };
        Ok(Started::Finished(event))
    }

    fn finish_job(&mut self, result: JobResult) -> Result<Event, EngineError> {
        match result {
            JobResult::Agent(done) => self.finish_agent(*done),
            JobResult::AgentFailed(failed) => Err(self.agent_failed(*failed)),
            JobResult::Gates(done) => self.finish_gates(*done),
            JobResult::Base(done) => self.finish_base(*done),
            JobResult::Remote(_) => Err(self.inconsistent("the result of another engine's job")),
            JobResult::Uat(done) => self.finish_uat(*done),
        }
    }

    fn story(&self, id: &str) -> Result<StoryRun, EngineError> {
        self.state.story(id).cloned().ok_or_else(|| EngineError::NoSuchStory {
            epic: self.state.plan.epic.to_string(),
            story: id.to_owned(),
            stories: Vec::new(),
        })
    }

    /// The journal requests something that no reducer of this version would request.
    fn inconsistent(&self, what: &str) -> EngineError {
        EngineError::Journal {
            run: self.journal.run.to_string(),
            seq: self.journal.seq,
            reason: what.to_owned(),
        }
    }

    fn warn(&mut self, text: String) -> Result<(), EngineError> {
        (self.on_progress)(&self.state, &Progress::Warning(text.clone()));
        self.journal.note(&Note::Said { text }, (self.engine.now)())
    }
}
