//! Transactions of other machines.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use handover_mcp::{Refusal, ToolError};
use handover_model::{ProjectId, TokenId, TokenScope};
use handover_store::wire::{Failure, Mode, Reply};
use handover_store::{Fault, Result, Store, StoreError};
use handover_text::Redactor;
use serde_json::Value;
use tokio::sync::oneshot;

use super::one;
use crate::admit::Caller;
use crate::limits;
use crate::office::Office;
use crate::token::mint;

/// What is asked within a transaction.
pub(super) enum Job {
    /// A method.
    Call(Value),
    /// A transaction inside of this one.
    Begin(Mode),
    /// The innermost transaction ends.
    End { keep: bool },
}

type Replied = oneshot::Sender<Reply<Value>>;

/// The transactions that are open.
#[derive(Default)]
pub(crate) struct Transactions {
    open: Mutex<HashMap<String, Open>>,
}

struct Open {
    jobs: Sender<(Job, Replied)>,
    /// Whose it is.
    holder: Option<TokenId>,
    /// In which project; none means all.
    project: Option<ProjectId>,
}

impl Transactions {
    /// Asks for something within a transaction, if it is the caller's and still open.
    pub(super) async fn ask(&self, name: &str, holder: Option<&TokenId>, job: Job) -> Reply<Value> {
        let (replied, reply) = oneshot::channel();
        let sent = self.open.lock().is_ok_and(|open| {
            let open = open.get(name).filter(|open| open.holder.as_ref() == holder);
            open.is_some_and(|open| open.jobs.send((job, replied)).is_ok())
        });
        let over = || failed(Fault::Unavailable, "the transaction is over");
        if sent { reply.await.unwrap_or_else(|_| over()) } else { over() }
    }

    fn add(&self, name: &str, open: Open) -> bool {
        self.open.lock().is_ok_and(|mut all| {
            let of_one = all.values().filter(|other| other.project == open.project).count();
            let room = all.len() < limits::TRANSACTIONS && of_one < limits::TRANSACTIONS_OF_ONE;
            if room {
                all.insert(name.to_owned(), open);
            }
            room
        })
    }

    fn remove(&self, name: &str) {
        if let Ok(mut open) = self.open.lock() {
            open.remove(name);
        }
    }
}

fn failed(fault: Fault, message: &str) -> Reply<Value> {
    Reply::Failed(Failure::Backend { fault, message: message.to_owned() })
}

/// Begins a transaction; the answer is its name.
pub(super) async fn begin(
    office: Office,
    caller: Caller,
    mode: Mode,
) -> std::result::Result<Reply<Value>, Refusal> {
    let need = match mode {
        Mode::Exclusive => TokenScope::Write,
        Mode::Consistent => TokenScope::Read,
    };
    let checked = office.work_as(caller.clone(), need, |_, access| Ok(access.clone()));
    let access = checked.await?;
    let name = mint().map_err(|error| Refusal::broken(&error.to_string()))?.text;
    let (jobs, todo) = channel();
    let open = Open { jobs, holder: access.token.clone(), project: access.project.clone() };
    if !office.transactions.add(&name, open) {
        return Ok(failed(Fault::Busy, "too many transactions are open"));
    }
    let (begun, beginning) = oneshot::channel();
    let transactions = Arc::clone(&office.transactions);
    let named = name.clone();
    let session = Session { todo, until: Instant::now() + limits::TRANSACTION_TIME };
    // A thread of its own: those for requests must not all be taken by clients that think.
    std::thread::spawn(move || {
        let mut begun = Some(begun);
        let outcome = office.sit(None, |own| {
            office.settle(own, &access, |seat| {
                let ended = session.run(seat.store, seat.redactor, mode, &mut begun, &named);
                ended.map_err(ToolError::Store)
            })
        });
        transactions.remove(&named);
        if let (Err(refusal), Some(begun)) = (outcome, begun) {
            let _ = begun.send(failed(Fault::Unavailable, &refusal.message));
        }
    });
    Ok(beginning.await.unwrap_or_else(|_| failed(Fault::Unavailable, "it did not begin")))
}

/// What a transaction still has to do.
struct Session {
    todo: Receiver<(Job, Replied)>,
    until: Instant,
}

/// How a transaction ended, and who is waiting to hear of it.
enum Ending {
    /// As the client wished.
    Asked { keep: bool, replied: Replied },
    /// Without a word of the client, or too late.
    Abandoned,
}

impl Session {
    /// One transaction from its beginning to its end, with those inside of it. An error means that the
    /// one around it is over too.
    fn run(
        &self,
        store: &dyn Store,
        redactor: &Redactor,
        mode: Mode,
        begun: &mut Option<Replied>,
        name: &str,
    ) -> Result<()> {
        let mut ending = Ending::Abandoned;
        let mut work = |store: &dyn Store| {
            if let Some(begun) = begun.take() {
                let _ = begun.send(Reply::Done(name.into()));
            }
            ending = self.work(store, redactor, name)?;
            match ending {
                Ending::Asked { keep: true, .. } => Ok(()),
                Ending::Asked { keep: false, .. } | Ending::Abandoned => Err(undone()),
            }
        };
        let outcome = match mode {
            Mode::Exclusive => store.exclusively(&mut work),
            Mode::Consistent => store.consistently(&mut work),
        };
        match (ending, outcome) {
            (Ending::Asked { keep: false, replied }, _) => {
                let _ = replied.send(Reply::Done(Value::Null));
                Ok(())
            }
            (Ending::Asked { keep: true, replied }, Ok(())) => {
                let _ = replied.send(Reply::Done(Value::Null));
                Ok(())
            }
            (Ending::Asked { keep: true, replied }, Err(error)) => {
                let _ = replied.send(Reply::Failed(Failure::from(error)));
                Ok(())
            }
            (Ending::Abandoned, Err(error)) => {
                // It could not even begin.
                if let Some(begun) = begun.take() {
                    let _ = begun.send(Reply::Failed(Failure::from(error)));
                    return Ok(());
                }
                Err(error)
            }
            (Ending::Abandoned, Ok(())) => Ok(()),
        }
    }

    fn work(&self, store: &dyn Store, redactor: &Redactor, name: &str) -> Result<Ending> {
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            let (job, replied) = match self.todo.recv_timeout(left) {
                Ok(next) => next,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Ok(Ending::Abandoned);
                }
            };
            match job {
                Job::Call(call) => {
                    let _ = replied.send(super::reply(one(store, redactor, call)));
                }
                Job::Begin(mode) => self.run(store, redactor, mode, &mut Some(replied), name)?,
                Job::End { keep } => return Ok(Ending::Asked { keep, replied }),
            }
        }
    }
}

fn undone() -> StoreError {
    StoreError::Backend {
        fault: Fault::Unavailable,
        source: "the transaction was not finished in time, or given up".into(),
    }
}
