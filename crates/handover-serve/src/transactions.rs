//! Transactions of other machines over the store's own protocol.
//!
//! Each occupies a thread and a connection until its client ends it or `limits::TRANSACTION_TIMEOUT`
//! expires; an unfinished one is rolled back, because it blocks every other writer.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Instant;

use handover_model::{ProjectId, TokenId};
use handover_store::wire::{Call, Failure, Mode, Reply};
use handover_store::{Fault, Result, Store, StoreError};
use handover_text::Redactor;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::limits;

/// A request within a transaction.
pub(crate) enum Job {
    /// Call a method of the store.
    Call(Value),
    /// Begin a nested transaction.
    Begin(Mode),
    /// Commit or roll back the innermost transaction.
    End { keep: bool },
}

pub(crate) type ReplySender = oneshot::Sender<Reply<Value>>;

/// All open transactions, by name.
#[derive(Default)]
pub(crate) struct Transactions {
    open: Mutex<HashMap<String, Handle>>,
}

struct Handle {
    jobs: Sender<(Job, ReplySender)>,
    /// The token that opened it; `None` is an anonymous local client.
    holder: Option<TokenId>,
    project: Option<ProjectId>,
}

impl Transactions {
    /// Registers a transaction and returns its worker; `None` at capacity.
    pub(crate) fn open(
        &self,
        name: &str,
        holder: Option<TokenId>,
        project: Option<ProjectId>,
    ) -> Option<Worker> {
        let (jobs, queue) = channel();
        let mut open = self.open.lock().ok()?;
        let of_project = open.values().filter(|other| other.project == project).count();
        if open.len() >= limits::TRANSACTIONS || of_project >= limits::TRANSACTIONS_PER_PROJECT {
            return None;
        }
        open.insert(name.to_owned(), Handle { jobs, holder, project });
        Some(Worker { queue, deadline: Instant::now() + limits::TRANSACTION_TIMEOUT })
    }

    /// Sends a job to a transaction, if it is still open and belongs to this token.
    pub(crate) async fn send(
        &self,
        name: &str,
        holder: Option<&TokenId>,
        job: Job,
    ) -> Reply<Value> {
        let (sender, reply) = oneshot::channel();
        let sent = self.open.lock().is_ok_and(|open| {
            let handle = open.get(name).filter(|handle| handle.holder.as_ref() == holder);
            handle.is_some_and(|handle| handle.jobs.send((job, sender)).is_ok())
        });
        let closed = || failure(Fault::Unavailable, "the transaction is closed");
        if sent { reply.await.unwrap_or_else(|_| closed()) } else { closed() }
    }

    pub(crate) fn close(&self, name: &str) {
        if let Ok(mut open) = self.open.lock() {
            open.remove(name);
        }
    }
}

pub(crate) fn failure(fault: Fault, message: &str) -> Reply<Value> {
    Reply::Failed(Failure::Backend { fault, message: message.to_owned() })
}

pub(crate) fn reply(result: Result<Value>) -> Reply<Value> {
    match result {
        Ok(value) => Reply::Done(value),
        Err(error) => Reply::Failed(Failure::from(error)),
    }
}

/// Calls one method. Its texts are redacted while they are parsed, whatever the client did.
pub(crate) fn call(store: &dyn Store, redactor: &Redactor, call: Value) -> Result<Value> {
    let call = redactor.reading(|| Call::deserialize(call)).map_err(|error| {
        StoreError::Backend { fault: Fault::Refused, source: error.to_string().into() }
    })?;
    call.perform(store)
}

/// Executes the jobs of one transaction on its own thread.
pub(crate) struct Worker {
    queue: Receiver<(Job, ReplySender)>,
    deadline: Instant,
}

/// How a transaction ended, and where to send the outcome.
enum Ending {
    Requested {
        keep: bool,
        reply: ReplySender,
    },
    /// The client disappeared or was too slow.
    Abandoned,
}

impl Worker {
    /// Runs one transaction, including nested ones. `started` receives its name once it has begun. An error
    /// means that the enclosing transaction has ended, too.
    pub(crate) fn run(
        &self,
        store: &dyn Store,
        redactor: &Redactor,
        mode: Mode,
        started: &mut Option<ReplySender>,
        name: &str,
    ) -> Result<()> {
        let mut ending = Ending::Abandoned;
        let mut work = |store: &dyn Store| {
            if let Some(started) = started.take() {
                let _ = started.send(Reply::Done(name.into()));
            }
            ending = self.process_jobs(store, redactor, name)?;
            match ending {
                Ending::Requested { keep: true, .. } => Ok(()),
                Ending::Requested { keep: false, .. } | Ending::Abandoned => Err(rolled_back()),
            }
        };
        let outcome = match mode {
            Mode::Exclusive => store.exclusively(&mut work),
            Mode::Consistent => store.consistently(&mut work),
        };
        match (ending, outcome) {
            (Ending::Requested { keep: false, reply }, _)
            | (Ending::Requested { keep: true, reply }, Ok(())) => {
                let _ = reply.send(Reply::Done(Value::Null));
                Ok(())
            }
            (Ending::Requested { keep: true, reply }, Err(error)) => {
                let _ = reply.send(Reply::Failed(Failure::from(error)));
                Ok(())
            }
            (Ending::Abandoned, Err(error)) => {
                // It never began.
                if let Some(started) = started.take() {
                    let _ = started.send(Reply::Failed(Failure::from(error)));
                    return Ok(());
                }
                Err(error)
            }
            (Ending::Abandoned, Ok(())) => Ok(()),
        }
    }

    fn process_jobs(&self, store: &dyn Store, redactor: &Redactor, name: &str) -> Result<Ending> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let (job, sender) = match self.queue.recv_timeout(left) {
                Ok(next) => next,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Ok(Ending::Abandoned);
                }
            };
            match job {
                Job::Call(method) => {
                    let _ = sender.send(reply(call(store, redactor, method)));
                }
                Job::Begin(mode) => self.run(store, redactor, mode, &mut Some(sender), name)?,
                Job::End { keep } => return Ok(Ending::Requested { keep, reply: sender }),
            }
        }
    }
}

fn rolled_back() -> StoreError {
    StoreError::Backend {
        fault: Fault::Unavailable,
        source: "the transaction was rolled back or timed out".into(),
    }
}

#[cfg(test)]
mod tests {
    use handover_sqlite::SqliteStore;
    use serde_json::json;

    use super::*;

    fn project(name: &str) -> Option<ProjectId> {
        ProjectId::new(name).ok()
    }

    #[test]
    fn capacity_is_limited_in_total_and_per_project() {
        let transactions = Transactions::default();
        let mut workers = Vec::new();
        for n in 0..limits::TRANSACTIONS_PER_PROJECT {
            workers.push(transactions.open(&format!("a{n}"), None, project("a")).unwrap());
        }
        assert!(transactions.open("a", None, project("a")).is_none());
        for n in 0..limits::TRANSACTIONS - limits::TRANSACTIONS_PER_PROJECT {
            workers.push(transactions.open(&format!("b{n}"), None, project("b")).unwrap());
        }
        assert!(transactions.open("c", None, project("c")).is_none());
        transactions.close("a0");
        assert!(transactions.open("c", None, project("c")).is_some());
    }

    #[tokio::test]
    async fn jobs_reach_their_own_transaction_only() {
        let transactions = Transactions::default();
        let holder = TokenId::new("0123456789ab").unwrap();
        let closed = |reply: Reply<Value>| matches!(reply, Reply::Failed(Failure::Backend { .. }));
        assert!(closed(transactions.send("none", None, Job::End { keep: true }).await));
        let worker = transactions.open("mine", Some(holder.clone()), None).unwrap();
        assert!(closed(transactions.send("mine", None, Job::End { keep: true }).await));
        let other = TokenId::new("ba9876543210").unwrap();
        assert!(closed(transactions.send("mine", Some(&other), Job::End { keep: true }).await));
        // A worker that is gone closes its transaction.
        drop(worker);
        assert!(closed(transactions.send("mine", Some(&holder), Job::End { keep: true }).await));
    }

    #[test]
    fn rejects_malformed_calls() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let redactor = Redactor::default();
        let error = call(&store, &redactor, json!({"method": "nothing"})).unwrap_err();
        assert!(matches!(error, StoreError::Backend { fault: Fault::Refused, .. }), "{error}");
        let sessions = json!({"method": "sessions", "arguments": {"status": null}});
        assert_eq!(call(&store, &redactor, sessions).unwrap(), json!([]));
    }
}
