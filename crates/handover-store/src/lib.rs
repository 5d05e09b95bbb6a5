//! What a store must do: one trait per aggregate, the errors, and the conformance suite that every
//! backend has to pass.
//!
//! Contracts that hold for every method:
//! - A write is one transaction that takes the write lock first; it is atomic, and committed
//!   when the method returns.
//! - Listings have a total order: newest first by creation time, then by id, unless documented otherwise.
//! - A group is created by the first record that names it.
//! - A record of a session that does not exist is refused with [`StoreError::NotFound`].
//! - Text arrives as [`handover_text::Clean`], which only redaction can create.

mod amendments;
pub mod archive;
mod columns;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod errors;
mod events;
mod feed;
mod format;
mod groups;
mod hosts;
mod jobs;
mod methods;
mod notes;
mod operations;
mod packages;
pub mod packed;
mod private;
mod reasoning;
mod receipts;
pub mod rows;
mod runs;
mod search;
mod sessions;
mod skill_outputs;
mod strategies;
mod tally;
mod tokens;
mod trust;
mod verdicts;
pub mod wire;

pub use amendments::Amendments;
pub use columns::{COLUMNS, Column, Posting};
pub use error::{Fault, IndexError, IndexPart, OldStore, RecordKind, StoreError};
pub use errors::{CleanSignature, ErrorFilter, ErrorPatterns, ErrorSighting, Judgement, TrustAt};
pub use events::{EventFilter, EventKey, Events, Logged, NewEvent};
pub use feed::{FEED_LENGTH, Feed, FeedSpan};
pub use format::{OlderFormat, Upgraded};
pub use groups::{GroupUpdate, Groups};
pub use hosts::{Hosts, NewTicket};
pub use jobs::{Hold, Job, Jobs, NewJob};
pub use notes::{
    KnownUnit, Learned, Moved, NewNote, NewUnit, NoteFilter, NotePostings, Notes, PURGED,
    erased_text, numbered_terms,
};
pub use operations::{NewOperation, OperationFilter, Operations};
pub use packages::{
    Candidate, NewPackage, Outline, PackageFilter, Packages, Registered, Slice, Step, Supersede,
    Versions,
};
pub use private::PrivateNotes;
pub use reasoning::{NewReasoning, ReasoningFilter, Reasonings, TimeOrder};
pub use receipts::{
    CLAIM_SECONDS, Given, Handed, ItemSums, ItemUse, NewReceipt, ReceiptFilter, ReceiptStep,
    ReceiptSums, Receipts, TASK_BYTES, WITHHELD, kept_task,
};
pub use runs::{DayCost, Decided, LockClaim, NewJournalEntry, NewRun, RunFilter, Runs};
pub use search::{Reindexed, TextIndex};
pub use sessions::{NewSession, Opened, Sessions};
pub use skill_outputs::{NewSkillOutput, SkillOutputFilter, SkillOutputs};
pub use strategies::{NewStrategy, Strategies, StrategyFilter};
pub use tally::{JudgedItem, Tallies, WHOLE_KIND};
pub use tokens::{NewToken, Tokens};
pub use trust::{TrustClasses, WrittenBy};
pub use verdicts::{NewVerdict, VerdictFilter, Verdicts};

use serde::{Deserialize, Serialize};

/// The result of a store's method.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A whole store.
pub trait Store:
    Sessions
    + Groups
    + Packages
    + Reasonings
    + Verdicts
    + TrustClasses
    + SkillOutputs
    + ErrorPatterns
    + Strategies
    + Notes
    + Operations
    + Amendments
    + Events
    + Receipts
    + Runs
    + Jobs
    + Hosts
    + TextIndex
    + archive::Archive
    + Feed
    + Tokens
{
    /// Runs work under the write lock, as one transaction: what it reads still holds when it writes. An
    /// error rolls everything back.
    fn exclusively(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()>;

    /// Runs work that only reads, on a consistent snapshot of the store.
    fn consistently(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()>;

    /// Checks the integrity of the whole store. Slow; for `doctor`.
    fn check(&self) -> Result<Vec<Check>>;
}

impl dyn Store + '_ {
    /// [`Store::exclusively`] for work that returns a value.
    pub fn writing<T>(&self, work: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        once(work, |work| self.exclusively(work))
    }

    /// [`Store::consistently`] for work that returns a value.
    pub fn reading<T>(&self, work: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        once(work, |work| self.consistently(work))
    }
}

/// Passes work to a function that calls it exactly once, and returns its value.
fn once<T>(
    work: impl FnOnce(&dyn Store) -> Result<T>,
    run: impl FnOnce(&mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()>,
) -> Result<T> {
    let (mut work, mut value) = (Some(work), None);
    run(&mut |store| {
        if let Some(work) = work.take() {
            value = Some(work(store)?);
        }
        Ok(())
    })?;
    value.ok_or(StoreError::Aborted)
}

/// A result of [`Store::check`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked.
    pub part: CheckedPart,
    /// What is wrong; empty if nothing is.
    pub problems: Vec<String>,
}

/// A part of a store that is checked separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckedPart {
    /// Every row can be read.
    Integrity,
    /// Every record matches its checksum.
    Records,
    /// Every reference resolves.
    References,
    /// The text index matches the texts of packages and notes.
    TextIndex,
}

impl std::fmt::Display for CheckedPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Integrity => "integrity",
            Self::Records => "records",
            Self::References => "references",
            Self::TextIndex => "text index",
        })
    }
}
