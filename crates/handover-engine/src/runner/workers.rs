//! The worker pool: agents, gates and scenarios run on separate threads and report to the engine's main
//! thread, which alone writes to the journal and the store.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::thread::{self, Scope};

use handover_agents::{CancelToken, Identity};
use handover_model::{Host, ReceiptId};
use handover_text::Redactor;

use super::agent::{AgentDone, AgentFailed, AgentJob};
use super::base::{BaseDone, BaseJob};
use super::gates::{GatesDone, GatesJob};
use super::remote_job::{RemoteResult, RemoteWork};
use super::uat::{UatDone, UatJob};
use crate::EngineError;

/// Work that takes too long for the main thread.
pub(super) enum Job {
    Agent(Box<AgentJob>),
    Gates(Box<GatesJob>),
    Base(Box<BaseJob>),
    /// An agent of a run that another machine leads.
    Remote(Box<RemoteWork>),
    Uat(Box<UatJob>),
}

/// The result of a [`Job`].
pub(super) enum JobResult {
    Agent(Box<AgentDone>),
    AgentFailed(Box<AgentFailed>),
    Gates(Box<GatesDone>),
    Base(Box<BaseDone>),
    Remote(Box<RemoteResult>),
    Uat(Box<UatDone>),
}

/// What a worker reports to the main thread.
pub(super) struct WorkerMessage {
    /// The journal entry of the intent that it works on.
    pub(super) seq: u64,
    pub(super) event: WorkerEvent,
}

pub(super) enum WorkerEvent {
    /// It started a process; from then on an agent has its prompt.
    Spawned { process: Identity, delivered: Option<Delivered> },
    /// Activity to be shown.
    Activity { story: String, what: String },
    /// It ended; a panic is resumed on the main thread.
    Finished(Box<thread::Result<Result<JobResult, EngineError>>>),
}

/// The prompt that an agent program was started with.
pub(super) struct Delivered {
    pub(super) receipt: ReceiptId,
    pub(super) host: Host,
}

/// Starts workers.
pub(super) struct WorkerPool<'scope, 'env> {
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) sender: Sender<WorkerMessage>,
    pub(super) redactor: &'env Redactor,
    pub(super) cancel: CancelToken,
}

impl<'scope, 'env: 'scope> WorkerPool<'scope, 'env> {
    /// Starts a job that is canceled with the whole engine.
    pub(super) fn start(&self, seq: u64, job: Job) {
        self.start_cancellable(seq, job, self.cancel.clone());
    }

    /// Starts a job with its own cancel token.
    pub(super) fn start_cancellable(&self, seq: u64, job: Job, cancel: CancelToken) {
        let link = WorkerLink::new(seq, self.sender.clone(), self.redactor, cancel);
        let effect = tracing::Span::current();
        self.scope.spawn(move || {
            let _effect = effect.entered();
            let result = catch_unwind(AssertUnwindSafe(|| match job {
                Job::Agent(job) => Ok(job.work(&link)),
                Job::Gates(job) => job.work(&link).map(|done| JobResult::Gates(Box::new(done))),
                Job::Base(job) => job.work(&link).map(|done| JobResult::Base(Box::new(done))),
                Job::Remote(job) => job.work(&link).map(|done| JobResult::Remote(Box::new(done))),
                Job::Uat(job) => job.work(&link).map(|done| JobResult::Uat(Box::new(done))),
            }));
            link.send(WorkerEvent::Finished(Box::new(result)));
        });
    }
}

/// A worker's connection to the main thread.
pub(super) struct WorkerLink<'a> {
    seq: u64,
    sender: Sender<WorkerMessage>,
    pub(super) redactor: &'a Redactor,
    pub(super) cancel: CancelToken,
    spawned: Cell<bool>,
}

impl<'a> WorkerLink<'a> {
    pub(super) fn new(
        seq: u64,
        sender: Sender<WorkerMessage>,
        redactor: &'a Redactor,
        cancel: CancelToken,
    ) -> Self {
        Self { seq, sender, redactor, cancel, spawned: Cell::new(false) }
    }

    /// Whether a process was started for this job.
    pub(super) fn has_spawned(&self) -> bool {
        self.spawned.get()
    }

    /// Sends an event. After an error the main thread may be gone; then the event is dropped.
    pub(super) fn send(&self, event: WorkerEvent) {
        if matches!(event, WorkerEvent::Spawned { .. }) {
            self.spawned.set(true);
        }
        let _ = self.sender.send(WorkerMessage { seq: self.seq, event });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use handover_model::config::RedactionConfig;

    use super::*;

    fn process() -> Identity {
        Identity { pid: 1, started: None, boot: None, spawn: "run_1-3".to_owned() }
    }

    #[test]
    fn a_worker_has_started_once_it_reports_a_process() {
        let redactor = Redactor::new(&RedactionConfig::default()).unwrap();
        let (sender, receiver) = channel();
        let link = WorkerLink::new(3, sender, &redactor, CancelToken::default());
        link.send(WorkerEvent::Activity { story: "a".to_owned(), what: "reads".to_owned() });
        assert!(!link.has_spawned());
        link.send(WorkerEvent::Spawned { process: process(), delivered: None });
        assert!(link.has_spawned());
        let events: Vec<WorkerMessage> = receiver.try_iter().collect();
        assert!(events.iter().all(|message| message.seq == 3));
        assert!(matches!(&events[0].event, WorkerEvent::Activity { what, .. } if what == "reads"));
        assert!(
            matches!(&events[1].event, WorkerEvent::Spawned { process, .. } if process.pid == 1)
        );
        // It does not matter if the main thread is gone.
        drop(receiver);
        link.send(WorkerEvent::Activity { story: "a".to_owned(), what: "writes".to_owned() });
    }
}
