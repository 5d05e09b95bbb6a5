//! What a store must do: one trait per aggregate, the errors, and the suite that holds every
//! backend to the same behaviour.
//!
//! Contracts that hold for every method:
//! - A write is one transaction that takes the write lock first; it happens wholly or not at all,
//!   and has happened once the method returns.
//! - Listings have a total order: newest first by creation time, then by id, unless said otherwise.
//! - A group is created by the first record that names it.
//! - A record of a session that does not exist is refused with [`StoreError::NotFound`].
//! - Text arrives as [`handover_text::Clean`], which redaction alone can make.

pub mod archive;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod errors;
mod events;
mod feed;
mod groups;
mod hosts;
mod jobs;
mod methods;
mod packages;
pub mod packed;
mod reasoning;
mod receipts;
mod runs;
mod search;
mod sessions;
mod skill_outputs;
mod strategies;
mod tokens;
pub mod wire;

pub use error::{Fault, StoreError};
pub use errors::{ErrorFilter, ErrorPatterns, ErrorSighting, Judgement, TrustAt};
pub use events::{EventFilter, EventKey, Events, Logged, NewEvent};
pub use feed::{FEED_LENGTH, Feed, FeedSpan};
pub use groups::{GroupUpdate, Groups};
pub use hosts::{Hosts, NewTicket};
pub use jobs::{Hold, Job, Jobs, NewJob};
pub use packages::{
    Candidate, NewPackage, Outline, PackageFilter, Packages, Registered, Slice, Step, Supersede,
    Versions,
};
pub use reasoning::{NewReasoning, ReasoningFilter, Reasonings, TimeOrder};
pub use receipts::{CLAIM_SECONDS, Handed, NewReceipt, ReceiptFilter, ReceiptStep, Receipts};
pub use runs::{LockClaim, NewJournalEntry, NewRun, RunFilter, Runs};
pub use search::{COLUMNS, Column, Posting, TextIndex};
pub use sessions::{NewSession, Opened, Sessions};
pub use skill_outputs::{NewSkillOutput, SkillOutputFilter, SkillOutputs};
pub use strategies::{NewStrategy, Strategies, StrategyFilter};
pub use tokens::{NewToken, Tokens};

/// The result of a store's method.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A whole store.
pub trait Store:
    Sessions
    + Groups
    + Packages
    + Reasonings
    + SkillOutputs
    + ErrorPatterns
    + Strategies
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
    /// Runs work while nobody else can write, as one transaction: what it reads is still true when it
    /// writes. An error undoes everything.
    fn exclusively(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()>;

    /// Runs work that only reads, on one state of the store: what others write meanwhile is not seen.
    fn consistently(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()>;

    /// Looks at the store as a whole: opens, reads, checks its own consistency. Slow; for `doctor`.
    fn check(&self) -> Result<Vec<Check>>;
}

impl dyn Store + '_ {
    /// [`Store::exclusively`] with a value.
    pub fn writing<T>(&self, work: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        once(work, |work| self.exclusively(work))
    }

    /// [`Store::consistently`] with a value.
    pub fn reading<T>(&self, work: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        once(work, |work| self.consistently(work))
    }
}

/// Runs work inside of something that calls it exactly once, and gets its value out.
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
    value.ok_or_else(|| StoreError::not_found("outcome", "of a transaction"))
}

/// One thing that [`Store::check`] looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// What was found wrong; empty if all is well.
    pub problems: Vec<String>,
}
