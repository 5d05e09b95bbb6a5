//! Transactions: beginning, retrying, and finding out whether a commit succeeded.

use std::time::Instant;

use handover_store::{Fault, Result};

use crate::PostgresStore;
use crate::error::{Failure, backend};
use crate::link::Statement;
use crate::value::params;

/// The transaction of a statement, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    /// None: every statement commits.
    Nothing,
    /// A transaction.
    Transaction,
}

/// What a write is serialized against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Every other write of the project.
    Project,
    /// Only writes to the same rows.
    Rows,
}

/// How a transaction began.
#[derive(Debug, PartialEq, Eq)]
enum Begun {
    /// It is new.
    Fresh,
    /// An earlier attempt with the same token was committed after all.
    DoneBefore,
}

/// How an attempt ended.
enum Attempt<T> {
    Done(T),
    /// It was rolled back because the connection was lost.
    Undone(handover_store::StoreError),
    /// The reply to the commit was lost.
    Unknown(T, handover_store::StoreError),
}

impl PostgresStore {
    /// Runs a write that is serialized with all others of the project. It may run more than once: after a
    /// lost connection, if it was definitely not committed.
    pub(crate) fn write<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        self.repeat(Lock::Project, work)
    }

    /// The same for a write that locks only its rows.
    pub(crate) fn write_rows<T>(&self, work: impl Fn() -> Result<T>) -> Result<T> {
        self.repeat(Lock::Rows, work)
    }

    fn repeat<T>(&self, lock: Lock, work: impl Fn() -> Result<T>) -> Result<T> {
        if self.within.get() != Within::Nothing {
            return self.nested(work);
        }
        let token = uuid::Uuid::new_v4().simple().to_string();
        let until = Instant::now() + self.link.borrow().patience().recover;
        let mut earlier = None;
        loop {
            if self.begin(lock, &token, until)? == Begun::DoneBefore {
                let _ = self.end("ROLLBACK");
                // Only a commit leaves a token, and the token is unique to this transaction.
                return earlier.ok_or_else(unknown);
            }
            match self.attempt(&work)? {
                Attempt::Done(value) => return Ok(value),
                Attempt::Undone(error) if Instant::now() < until => {
                    tracing::debug!(%error, "retrying a transaction that was rolled back");
                    earlier = None;
                }
                Attempt::Unknown(value, error) if Instant::now() < until => {
                    tracing::debug!(%error, "checking whether a transaction was committed");
                    earlier = Some(value);
                }
                Attempt::Undone(error) | Attempt::Unknown(_, error) => return Err(error),
            }
        }
    }

    /// Runs work of a caller, which is never retried.
    pub(crate) fn once<T>(&self, lock: Lock, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.within.get() != Within::Nothing {
            return self.nested(work);
        }
        let token = uuid::Uuid::new_v4().simple().to_string();
        let until = Instant::now() + self.link.borrow().patience().recover;
        self.begin(lock, &token, until)?;
        match self.attempt(work)? {
            Attempt::Done(value) => Ok(value),
            Attempt::Undone(error) => Err(error),
            Attempt::Unknown(value, error) => {
                let begun = self.begin(lock, &token, until);
                let _ = self.end("ROLLBACK");
                match begun? {
                    Begun::DoneBefore => Ok(value),
                    Begun::Fresh => Err(error),
                }
            }
        }
    }

    /// Runs work that only reads, on a snapshot of the store.
    pub(crate) fn snapshot<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        if self.within.get() != Within::Nothing {
            return work();
        }
        let until = Instant::now() + self.link.borrow().patience().recover;
        loop {
            self.connect(until)?;
            let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
            let begun = self.link.borrow_mut().batch(begin);
            match begun {
                Ok(()) => break,
                Err(Failure::Lost(_)) if Instant::now() < until => {}
                Err(failure) => return Err(failure.error()),
            }
        }
        self.within.set(Within::Transaction);
        let value = work();
        // Nothing was written, so it does not matter whether this succeeds.
        let _ = self.end(if value.is_ok() { "COMMIT" } else { "ROLLBACK" });
        value
    }

    /// Begins a transaction, acquires its lock and inserts its token.
    fn begin(&self, lock: Lock, token: &str, until: Instant) -> Result<Begun> {
        let wait = match lock {
            // Keyed by the name of the schema, which identifies the project.
            Lock::Project => {
                let hash = blake3::hash(self.schema.as_bytes());
                let mut key = [0; 8];
                key.copy_from_slice(&hash.as_bytes()[..8]);
                format!(
                    "SELECT pg_advisory_xact_lock({});
                     DELETE FROM write_token WHERE at < now() - interval '1 hour'",
                    i64::from_le_bytes(key)
                )
            }
            Lock::Rows => String::new(),
        };
        let begin = format!("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {wait}");
        loop {
            self.connect(until)?;
            let mut link = self.link.borrow_mut();
            // Waits for an earlier attempt that is still running on the server and holds the token.
            let sql = "INSERT INTO write_token (token) VALUES ($1) ON CONFLICT DO NOTHING";
            match link.batch_and(&begin, Statement { sql, params: params![token] }) {
                Ok(left) => {
                    self.within.set(Within::Transaction);
                    return Ok(if left == 1 { Begun::Fresh } else { Begun::DoneBefore });
                }
                Err(Failure::Lost(_)) if Instant::now() < until => {}
                Err(failure) => {
                    let _ = link.batch("ROLLBACK");
                    return Err(failure.error());
                }
            }
        }
    }

    fn attempt<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<Attempt<T>> {
        match work() {
            Ok(value) => match self.end("COMMIT") {
                Ok(()) => Ok(Attempt::Done(value)),
                Err(Failure::Lost(error)) => Ok(Attempt::Unknown(value, error)),
                Err(Failure::Refused(error)) => Err(error),
            },
            Err(error) if self.link.borrow().is_up() => {
                let _ = self.end("ROLLBACK");
                Err(error)
            }
            Err(error) => {
                self.within.set(Within::Nothing);
                Ok(Attempt::Undone(error))
            }
        }
    }

    fn end(&self, how: &str) -> Result<(), Failure> {
        self.within.set(Within::Nothing);
        self.link.borrow_mut().batch(how)
    }

    /// A write inside another transaction; atomic, too.
    fn nested<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let say = |sql: &str| self.link.borrow_mut().batch(sql).map_err(Failure::error);
        say("SAVEPOINT nested")?;
        let outcome = work();
        match &outcome {
            Ok(_) => say("RELEASE nested")?,
            Err(_) if self.link.borrow().is_up() => say("ROLLBACK TO nested; RELEASE nested")?,
            Err(_) => {}
        }
        outcome
    }
}

fn unknown() -> handover_store::StoreError {
    backend(Fault::Unavailable, "it is unknown whether a write was committed")
}
