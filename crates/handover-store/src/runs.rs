//! Runs, their journals, and the lock that lets one engine work on an epic.

use handover_model::{
    EpicId, JournalEntry, JournalKind, LockOwner, Run, RunId, RunState, SessionId, Timestamp,
};
use handover_text::CleanJson;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Somebody who wants to work on an epic.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LockClaim {
    /// The epic.
    pub epic: EpicId,
    /// Who it is.
    pub owner: LockOwner,
    /// How long the lock is held without another sign of life.
    pub until: Timestamp,
    /// The fence of an owner who is known to be dead.
    pub over: Option<u64>,
    /// Now.
    pub now: Timestamp,
}

/// A run to be started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// What it works on.
    pub epic: EpicId,
    /// Where its agents' records go.
    pub session: SessionId,
    /// Now.
    pub now: Timestamp,
}

/// An entry to be appended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewJournalEntry {
    /// Its place: one more than the last.
    pub seq: u64,
    /// What it is.
    pub kind: JournalKind,
    /// What it says.
    pub entry: CleanJson,
    /// Where the run stands from now on; none leaves it.
    pub state: Option<RunState>,
    /// How long the lock is held without another sign of life.
    pub until: Timestamp,
    /// Now.
    pub now: Timestamp,
}

/// Which runs to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunFilter {
    /// Only of this epic.
    pub epic: Option<EpicId>,
    /// At most so many.
    pub limit: Option<u32>,
}

/// Runs.
///
/// Whoever works on an epic holds its lock, known by a fence that grows with every owner. What is
/// written with an old fence is refused with [`Fenced`](crate::StoreError::Fenced), so an engine that
/// was thought dead cannot disturb its successor.
pub trait Runs {
    /// Takes the lock of an epic and gives its fence. Refused with
    /// [`Locked`](crate::StoreError::Locked) while another owner's time has not run out, unless the
    /// claim is made over exactly that owner.
    fn lock_epic(&self, claim: &LockClaim) -> Result<u64>;

    /// Gives the lock back; an old fence changes nothing.
    fn unlock_epic(&self, epic: &EpicId, fence: u64) -> Result<()>;

    /// Who holds the lock of an epic, and with which fence, whether or not the time has run out.
    fn epic_owner(&self, epic: &EpicId) -> Result<Option<(LockOwner, u64)>>;

    /// Starts a run with an empty journal.
    fn start_run(&self, new: &NewRun, fence: u64) -> Result<()>;

    /// Appends to a run's journal and keeps the lock alive. It has reached the disk on return, even
    /// if the power fails. Refused with [`Fenced`](crate::StoreError::Fenced) if the lock is another's
    /// or the place is taken.
    fn append_journal(&self, run: &RunId, new: &NewJournalEntry, fence: u64) -> Result<()>;

    /// A run's journal from an entry on, oldest first.
    fn journal(&self, run: &RunId, from: u64) -> Result<Vec<JournalEntry>>;

    /// One run; [`NotFound`](crate::StoreError::NotFound) if there is none.
    fn run_record(&self, id: &RunId) -> Result<Run>;

    /// Runs, newest first.
    fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>>;
}
