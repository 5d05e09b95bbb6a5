//! Those who are at work: whatever takes long is done on a thread of its own, and everything that
//! writes something down happens on the thread that leads them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::thread::{self, Scope};

use handover_agents::{CancelToken, Identity};
use handover_text::Redactor;

use super::agent::{AgentDone, AgentJob};
use super::errand::{Brought, ErrandJob};
use super::gates::{GatesDone, GatesJob};
use super::uat::{UatDone, UatJob};
use crate::EngineError;

/// Something that takes long.
pub(super) enum Job {
    Agent(Box<AgentJob>),
    Gates(Box<GatesJob>),
    Errand(Box<ErrandJob>),
    Uat(Box<UatJob>),
}

/// What came of it.
pub(super) enum Done {
    Agent(Box<AgentDone>),
    Gates(Box<GatesDone>),
    Errand(Box<Brought>),
    Uat(Box<UatDone>),
}

/// What one of them says.
pub(super) struct Message {
    /// The intent that it works on.
    pub(super) seq: u64,
    pub(super) word: Word,
}

pub(super) enum Word {
    /// It has started a process.
    Spawned(Identity),
    /// A sign of life.
    Activity { story: String, what: String },
    /// It has ended; a panic goes on in the one who leads.
    Done(Box<thread::Result<Result<Done, EngineError>>>),
}

/// Starts them.
pub(super) struct Crew<'scope, 'env> {
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) sender: Sender<Message>,
    pub(super) redactor: &'env Redactor,
    pub(super) cancel: CancelToken,
}

impl<'scope, 'env: 'scope> Crew<'scope, 'env> {
    pub(super) fn start(&self, seq: u64, job: Job) {
        self.start_until(seq, job, self.cancel.clone());
    }

    /// The same for work that can be called off by itself.
    pub(super) fn start_until(&self, seq: u64, job: Job, cancel: CancelToken) {
        let (sender, redactor) = (self.sender.clone(), self.redactor);
        let link = Link { seq, sender, redactor, cancel };
        self.scope.spawn(move || {
            let done = catch_unwind(AssertUnwindSafe(|| match job {
                Job::Agent(job) => job.work(&link).map(|done| Done::Agent(Box::new(done))),
                Job::Gates(job) => job.work(&link).map(|done| Done::Gates(Box::new(done))),
                Job::Errand(job) => job.work(&link).map(|done| Done::Errand(Box::new(done))),
                Job::Uat(job) => job.work(&link).map(|done| Done::Uat(Box::new(done))),
            }));
            link.say(Word::Done(Box::new(done)));
        });
    }
}

/// What somebody at work has of the others.
pub(super) struct Link<'a> {
    seq: u64,
    sender: Sender<Message>,
    pub(super) redactor: &'a Redactor,
    pub(super) cancel: CancelToken,
}

impl Link<'_> {
    /// Nobody listens any more once a run has broken down.
    pub(super) fn say(&self, word: Word) {
        let _ = self.sender.send(Message { seq: self.seq, word });
    }
}
