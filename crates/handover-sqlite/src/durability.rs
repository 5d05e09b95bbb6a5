//! Transactions: how long they wait for other writers, and what holds once they are committed.
//!
//! SQLite syncs nothing when it commits (`synchronous = NORMAL`), so a process that is killed loses
//! nothing and a power failure loses the newest commits. A transaction that promises more syncs the
//! write-ahead log after its commit. When the store is closed, what was promised moves into the main
//! file, so that the log of a store that nobody uses holds nothing but unsynced records.

use fs_err::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use handover_store::{Fault, Result, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::SqliteStore;
use crate::error::backend;
use crate::file::{log_of, sync_folder, truncate_log, truncate_long_log};

/// A transaction that takes longer than this, its wait for the lock included, is logged.
const SLOW: Duration = Duration::from_millis(100);

/// How long a write waits for other writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// As long as they make progress.
    pub total: Duration,
    /// While nobody commits anything: somebody holds the lock and does not let go.
    pub stalled: Duration,
}

impl Patience {
    /// Waits as long, whether others make progress or not.
    pub const fn new(total: Duration) -> Self {
        Self { total, stalled: total }
    }

    /// How long SQLite waits before we look whether somebody makes progress.
    pub(crate) fn slice(self) -> Duration {
        if self.stalled < self.total { self.stalled / 2 } else { self.total }
    }
}

/// What holds for a transaction once it is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// No death of a process loses it; a power failure may.
    Committed,
    /// Nor does a power failure.
    Synced,
}

impl SqliteStore {
    /// Runs a write transaction whose records survive a power failure. It takes the write lock first, so
    /// that what it reads is still true when it writes. Inside [`exclusively`](handover_store::Store::exclusively)
    /// the lock is held already.
    pub(crate) fn write<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.transact(Promise::Synced, f)
    }

    /// The same for records whose newest a power failure may take: receipts, events, and what is renewed
    /// anyway.
    pub(crate) fn write_unsynced<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.transact(Promise::Committed, f)
    }

    pub(crate) fn transact<T>(
        &self,
        promise: Promise,
        f: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        if !self.connection.is_autocommit() {
            let value = self.nested(f)?;
            if promise == Promise::Synced {
                // The transaction around it keeps the promise.
                self.promised.set(Promise::Synced);
            }
            return Ok(value);
        }
        let start = Instant::now();
        let tx = self.begin()?;
        let waited = start.elapsed();
        self.promised.set(promise);
        let value = f(&tx)?;
        tx.commit().map_err(backend)?;
        if self.promised.get() == Promise::Synced {
            self.sync_log()?;
        }
        let took = start.elapsed();
        if took > SLOW {
            tracing::debug!(?waited, ?took, "slow transaction");
        }
        // The write is committed; a log that cannot be truncated now is truncated later.
        let _ = truncate_long_log(&self.connection, self.patience.slice());
        Ok(value)
    }

    /// A write inside another transaction; atomic, too.
    fn nested<T>(&self, f: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.connection.execute_batch("SAVEPOINT nested").map_err(backend)?;
        let outcome = f(&self.connection);
        let end = match outcome {
            Ok(_) => "RELEASE nested",
            Err(_) => "ROLLBACK TO nested; RELEASE nested",
        };
        self.connection.execute_batch(end).map_err(backend)?;
        outcome
    }

    /// Takes the write lock. Once a wait has timed out, later writes do not wait again until one succeeds.
    fn begin(&self) -> Result<Transaction<'_>> {
        let start = Instant::now();
        let mut progress: Option<(i64, Instant)> = None;
        loop {
            let begun =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
                    .map_err(backend);
            if !matches!(begun, Err(StoreError::Backend { fault: Fault::Busy, .. })) {
                if begun.is_ok() && self.gave_up.replace(false) {
                    self.wait_for(self.patience.slice())?;
                }
                return begun;
            }
            let (now, version) = (Instant::now(), self.data_version()?);
            let since = match progress {
                Some((before, since)) if before == version => since,
                Some(_) => now,
                None => start,
            };
            progress = Some((version, since));
            let is_over =
                now - start >= self.patience.total || now - since >= self.patience.stalled;
            if is_over || self.gave_up.get() {
                self.gave_up.set(true);
                self.wait_for(Duration::ZERO)?;
                return begun;
            }
        }
    }

    fn wait_for(&self, time: Duration) -> Result<()> {
        self.connection.busy_timeout(time).map_err(backend)
    }

    /// A number that changes when another connection commits.
    fn data_version(&self) -> Result<i64> {
        self.connection.query_row("PRAGMA data_version", [], |row| row.get(0)).map_err(backend)
    }

    /// Makes everything that is committed survive a power failure. SQLite would do it in `synchronous =
    /// FULL`, which cannot be chosen inside a transaction, when it is known what was written.
    fn sync_log(&self) -> Result<()> {
        sync(&self.path, self.new_log.replace(false))
            .map_err(|error| StoreError::Backend { fault: Fault::Io, source: Box::new(error) })?;
        self.synced.set(true);
        Ok(())
    }

    /// Moves what was promised into the main file, unless somebody else uses the store right now.
    fn fold(&self) {
        if self.synced.get() && self.connection.is_autocommit() {
            // Nothing is lost if it fails: the log is complete, and the next one tries again.
            let _ = self.wait_for(Duration::ZERO).and_then(|()| truncate_log(&self.connection));
        }
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.fold();
    }
}

/// Syncs the log of a store, and its folder if the log is new. The log has no locks that closing a file
/// could release.
fn sync(store: &Path, new_log: bool) -> std::io::Result<()> {
    match File::open(log_of(store)) {
        Ok(log) => log.sync_data()?,
        // A file system without shared memory: the commit itself has synced the rollback journal.
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if new_log { sync_folder(store) } else { Ok(()) }
}
