//! Batches that wait on the disk to be sent: what a hook has no time to send, and what a collector did not take.
//!
//! Bounded: the oldest are dropped when there are too many. A collector that fails is left alone for a while, so that
//! commands do not wait for it again and again.

use std::time::{Duration, Instant};

use handover_files::{FileError, Folder, Kind, Sync};
use handover_model::{SignalKind, Timestamp};

use crate::collector::{Collector, Sent};
use crate::encode::Batch;

/// At most so many batches wait.
const BATCHES: usize = 500;

/// And at most so many bytes.
const BYTES: u64 = 8 * 1024 * 1024;

/// No batch is larger.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;

/// How long a collector that failed is left alone.
const PAUSE_SECONDS: i64 = 60;

/// The end of the name of a batch that is being sent.
const TAKEN: &str = ".taken";

/// After this long, the process that took a batch counts as crashed.
const ABANDONED_SECONDS: i64 = 600;

/// Holds the time before which nothing is sent.
const PAUSE_FILE: &str = "pause";

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Batches that the collector has now.
    pub sent: usize,
    /// Batches that it will never take.
    pub refused: usize,
    /// Why it took no more.
    pub failed: Option<String>,
}

/// Batches below a folder.
#[derive(Debug, Clone)]
pub struct Outbox {
    folder: Folder,
}

impl Outbox {
    /// The outbox in a folder, which need not exist.
    pub fn new(folder: Folder) -> Self {
        Self { folder }
    }

    /// Keeps batches under a name that sorts by time and is unique.
    pub fn keep(&self, name: &str, batches: &[Batch]) -> Result<(), FileError> {
        if batches.is_empty() {
            return Ok(());
        }
        self.folder.create()?;
        for batch in batches.iter().filter(|batch| batch.body.len() as u64 <= BATCH_BYTES) {
            let file = format!("{name}.{}", batch.kind.as_str());
            self.folder.replace(&file, &batch.body, Sync::No)?;
        }
        self.drop_oldest()
    }

    /// The files that wait, oldest first, with their sizes.
    fn waiting(&self) -> Result<Vec<(String, SignalKind, u64)>, FileError> {
        if !self.folder.is_there() {
            return Ok(Vec::new());
        }
        let mut files = Vec::new();
        for entry in self.folder.entries()? {
            let kind = SignalKind::ALL.iter().copied().find(|kind| {
                entry.name.strip_suffix(kind.as_str()).is_some_and(|name| name.ends_with('.'))
            });
            if let (Some(kind), Kind::File) = (kind, entry.kind) {
                let bytes = self.folder.size(&entry.name).unwrap_or_default();
                files.push((entry.name, kind, bytes));
            }
        }
        files.sort();
        Ok(files)
    }

    fn drop_oldest(&self) -> Result<(), FileError> {
        let waiting = self.waiting()?;
        let mut bytes: u64 = waiting.iter().map(|(_, _, bytes)| bytes).sum();
        let mut left = waiting.len();
        for (name, _, size) in &waiting {
            if left <= BATCHES && bytes <= BYTES {
                break;
            }
            self.folder.remove(name)?;
            (left, bytes) = (left - 1, bytes - size);
        }
        Ok(())
    }

    /// Drops what a process took and never finished with: it may have been sent.
    fn drop_abandoned(&self, now: Timestamp) -> Result<(), FileError> {
        for entry in self.folder.entries()? {
            let age = now.as_micros() / 1_000_000 - entry.modified.0;
            if entry.name.ends_with(TAKEN) && entry.kind == Kind::File && age > ABANDONED_SECONDS {
                self.folder.remove(&entry.name)?;
            }
        }
        Ok(())
    }

    /// How many batches wait.
    pub fn len(&self) -> usize {
        self.waiting().map_or(0, |files| files.len())
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the collector failed a moment ago.
    pub fn is_paused(&self, now: Timestamp) -> bool {
        let text = self.folder.read_text(PAUSE_FILE, 64).ok().flatten();
        let until = text.and_then(|text| text.trim().parse::<i64>().ok());
        // A clock that was set back must not silence it for long.
        until.is_some_and(|until| {
            let left = until - now.as_micros();
            left > 0 && left <= PAUSE_SECONDS * 1_000_000
        })
    }

    /// Leaves the collector alone for a while.
    pub fn pause(&self, now: Timestamp) {
        let until = now.plus_seconds(PAUSE_SECONDS).as_micros().to_string();
        let _ = self.folder.create();
        let _ = self.folder.replace(PAUSE_FILE, until.as_bytes(), Sync::No);
    }

    /// Sends what waits, oldest first, for at most so long. The process that takes a file first sends it: two processes send no
    /// batch twice.
    pub fn sweep(
        &self,
        collector: &Collector,
        now: Timestamp,
        most: Duration,
    ) -> Result<Swept, FileError> {
        let until = Instant::now() + most;
        let mut swept = Swept::default();
        self.drop_abandoned(now)?;
        for (name, kind, _) in self.waiting()? {
            if Instant::now() >= until {
                break;
            }
            let taken = format!("{name}{TAKEN}");
            if self.folder.rename(&name, &taken).is_err() {
                continue;
            }
            let Some(body) = self.folder.read(&taken, BATCH_BYTES)? else { continue };
            match collector.send(&Batch { kind, body }) {
                Sent::Accepted => swept.sent += 1,
                Sent::Refused(_) => swept.refused += 1,
                Sent::Later(reason) => {
                    let _ = self.folder.rename(&taken, &name);
                    self.pause(now);
                    swept.failed = Some(reason);
                    break;
                }
            }
            self.folder.remove(&taken)?;
        }
        if swept.failed.is_none() && swept.sent > 0 {
            let _ = self.folder.remove(PAUSE_FILE);
        }
        Ok(swept)
    }
}
