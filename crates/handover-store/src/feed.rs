//! The feed: what changed, in the order in which it did.

use handover_model::Change;
use serde::{Deserialize, Serialize};

use crate::Result;

/// How many changes are kept at least. Whoever was away for longer looks at everything anew.
pub const FEED_LENGTH: u64 = 10_000;

/// Which changes are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedSpan {
    /// The number of the oldest that is kept; one more than the last if there is none.
    pub first: u64,
    /// The number of the newest; 0 if nothing ever changed.
    pub last: u64,
}

/// The feed. A change becomes visible with the write that it is about, and never after one with a
/// higher number.
pub trait Feed {
    /// The changes after a number, oldest first, at most so many.
    fn changes(&self, after: u64, limit: u32) -> Result<Vec<Change>>;

    /// Which changes there are.
    fn feed_span(&self) -> Result<FeedSpan>;
}
