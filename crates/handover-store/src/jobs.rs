//! Work of a run that other machines may do.

use handover_model::{RunId, Timestamp};
use handover_text::CleanJson;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Result;

/// Work to be offered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewJob {
    /// The run.
    pub run: RunId,
    /// The entry of its journal that begins it.
    pub seq: u64,
    /// What is to be done.
    pub work: CleanJson,
    /// Now.
    pub now: Timestamp,
}

/// Work that was offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The entry of the run's journal that begins it.
    pub seq: u64,
    /// What is to be done.
    pub work: Value,
    /// Who has it.
    pub taker: Option<String>,
    /// What came of it.
    pub result: Option<Value>,
}

/// Somebody who has work, for a while.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hold {
    /// The run.
    pub run: RunId,
    /// Who it is.
    pub taker: String,
    /// How long without another sign of life.
    pub until: Timestamp,
}

/// Work that other machines may do.
///
/// Work is the taker's until its time runs out; then the next one may have it. Whoever comes too late
/// is told so and changes nothing.
pub trait Jobs {
    /// Offers work. The same again changes nothing.
    fn offer_job(&self, new: &NewJob) -> Result<()>;

    /// Takes the oldest work of a run that nobody has, or whose taker's time has run out.
    fn take_job(&self, hold: &Hold, now: Timestamp) -> Result<Option<Job>>;

    /// Gives a sign of life; false if the work is not the taker's any more.
    fn keep_job(&self, hold: &Hold, seq: u64) -> Result<bool>;

    /// Hands in what came of it; false if the work is not the taker's any more.
    fn finish_job(&self, hold: &Hold, seq: u64, result: &CleanJson) -> Result<bool>;

    /// One piece of work, unless it was taken back.
    fn job(&self, run: &RunId, seq: u64) -> Result<Option<Job>>;

    /// Takes work back; whoever has it finds out with the next sign of life.
    fn withdraw_job(&self, run: &RunId, seq: u64) -> Result<()>;

    /// Says that somebody would take so much work of a run at once.
    fn announce_helper(&self, hold: &Hold, slots: u32) -> Result<()>;

    /// How much work would be taken at once by those whose time has not run out.
    fn helping_slots(&self, run: &RunId, now: Timestamp) -> Result<u32>;
}
