//! Jobs of a run that other machines may take.

use handover_model::{RunId, Timestamp};
use handover_text::CleanJson;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Result;

/// Input of [`Jobs::offer_job`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewJob {
    /// The run that it belongs to.
    pub run: RunId,
    /// The journal entry that started it.
    pub seq: u64,
    /// The task, in a format that the engine defines.
    pub work: CleanJson,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

/// A job that was offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The journal entry that started it.
    pub seq: u64,
    /// The task, in a format that the engine defines.
    pub work: Value,
    /// The machine that is working on it.
    pub taker: Option<String>,
    /// Its result, once it is finished.
    pub result: Option<Value>,
}

/// A lease on a job, or a helper's presence.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hold {
    /// The run that it belongs to.
    pub run: RunId,
    /// The holder.
    pub taker: String,
    /// When the lease expires unless it is renewed.
    pub until: Timestamp,
}

/// Jobs that other machines may take.
///
/// A taker holds a job until its lease expires; then another may take it. A late taker is rejected and
/// changes nothing.
pub trait Jobs {
    /// Offers a job. Offering it again changes nothing.
    fn offer_job(&self, new: &NewJob) -> Result<()>;

    /// Takes the oldest job of a run that is free or whose lease has expired.
    fn take_job(&self, hold: &Hold, now: Timestamp) -> Result<Option<Job>>;

    /// Renews a lease; false if the taker has lost it.
    fn keep_job(&self, hold: &Hold, seq: u64) -> Result<bool>;

    /// Stores the result; false if the taker has lost its lease.
    fn finish_job(&self, hold: &Hold, seq: u64, result: &CleanJson) -> Result<bool>;

    /// One job, unless it was withdrawn.
    fn job(&self, run: &RunId, seq: u64) -> Result<Option<Job>>;

    /// Withdraws a job; its taker notices when it renews its lease.
    fn withdraw_job(&self, run: &RunId, seq: u64) -> Result<()>;

    /// Announces a helper that can work on this many jobs of a run at once.
    fn announce_helper(&self, hold: &Hold, slots: u32) -> Result<()>;

    /// How many jobs the live helpers can work on at once.
    fn helping_slots(&self, run: &RunId, now: Timestamp) -> Result<u32>;
}
