//! Runs, their journals, and the lock that makes one engine the owner of an epic.

use handover_model::{
    EpicId, JournalEntry, JournalKind, LockOwner, ProjectId, Run, RunId, RunState, SessionId,
    Timestamp,
};
use handover_text::CleanJson;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Runs::lock_epic`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LockClaim {
    /// The epic that it is about.
    pub epic: EpicId,
    /// The holder.
    pub owner: LockOwner,
    /// When the lock expires unless it is renewed.
    pub until: Timestamp,
    /// The fence of an owner that is known to be dead and may be replaced.
    pub over: Option<u64>,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

/// Input of [`Runs::start_run`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// The epic that it works on.
    pub epic: EpicId,
    /// The session that its agents' records go to.
    pub session: SessionId,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

/// Input of [`Runs::append_journal`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewJournalEntry {
    /// Its position: one more than the last.
    pub seq: u64,
    /// Its kind.
    pub kind: JournalKind,
    /// Its content.
    pub entry: CleanJson,
    /// The new state of the run, if it changes.
    pub state: Option<RunState>,
    /// When the lock expires unless it is renewed.
    pub until: Timestamp,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

/// Which runs to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RunFilter {
    /// Only of this epic.
    pub epic: Option<EpicId>,
    /// The maximum number of results; none means all.
    pub limit: Option<u32>,
}

/// What the agents of runs cost that ended on one day.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DayCost {
    /// The day, from 1970-01-01 in UTC.
    pub day: i64,
    /// How many agents.
    pub agents: u64,
    /// What they cost together.
    pub cost_usd: f64,
}

/// What a person decided about a run: an answer, a skipped or retried story, an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// The run.
    pub run: RunId,
    /// Its epic.
    pub epic: EpicId,
    /// The entry of its journal.
    pub entry: JournalEntry,
}

/// Runs.
///
/// The engine that works on an epic holds its lock, identified by a fence that increases with every owner.
/// Writes with an old fence are refused with [`Fenced`](crate::StoreError::Fenced), so an engine that was
/// presumed dead cannot interfere with its successor.
pub trait Runs {
    /// Acquires the lock of an epic and returns its fence. Refused with
    /// [`Locked`](crate::StoreError::Locked) while another owner's lock has not expired, unless the
    /// claim names the fence of exactly that owner.
    fn lock_epic(&self, claim: &LockClaim) -> Result<u64>;

    /// Releases the lock; an old fence changes nothing.
    fn unlock_epic(&self, epic: &EpicId, fence: u64) -> Result<()>;

    /// Renews the lock. Refused with [`Fenced`](crate::StoreError::Fenced) if it was lost.
    fn keep_epic(&self, epic: &EpicId, fence: u64, until: Timestamp) -> Result<()>;

    /// The owner of an epic's lock and its fence, even if expired.
    fn epic_owner(&self, epic: &EpicId) -> Result<Option<(LockOwner, u64)>>;

    /// Starts a run with an empty journal.
    fn start_run(&self, new: &NewRun, fence: u64) -> Result<()>;

    /// Appends to a run's journal and renews the lock. The entry is durable on return, even if the power
    /// fails. Refused with [`Fenced`](crate::StoreError::Fenced) if the lock was lost or the position is
    /// taken.
    fn append_journal(&self, run: &RunId, new: &NewJournalEntry, fence: u64) -> Result<()>;

    /// A run's journal, starting at an entry.
    fn journal(&self, run: &RunId, from: u64) -> Result<Vec<JournalEntry>>;

    /// One run; [`NotFound`](crate::StoreError::NotFound) if there is none.
    fn run_record(&self, id: &RunId) -> Result<Run>;

    /// Runs, newest first.
    fn runs(&self, filter: &RunFilter) -> Result<Vec<Run>>;

    /// What people decided about a project's runs, newest first: the entries of journals that say by whom.
    fn decided(&self, project: &ProjectId, limit: u32) -> Result<Vec<Decided>>;

    /// What the agents of a project's runs cost that ended since a time, by day.
    fn agent_costs(&self, project: &ProjectId, since: Timestamp) -> Result<Vec<DayCost>>;
}
