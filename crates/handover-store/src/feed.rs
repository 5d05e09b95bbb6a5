//! The change feed.

use handover_model::Change;
use serde::{Deserialize, Serialize};

use crate::Result;

/// The minimum number of changes that are kept. A listener that missed more reloads everything.
pub const FEED_LENGTH: u64 = 10_000;

/// The range of changes that can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedSpan {
    /// The id of the oldest; one more than the last if there is none.
    pub first: u64,
    /// The id of the newest; 0 if nothing ever changed.
    pub last: u64,
}

/// The change feed. A change becomes visible together with its write, and never after one with a higher
/// id.
pub trait Feed {
    /// The changes after an id, oldest first.
    fn changes(&self, after: u64, limit: u32) -> Result<Vec<Change>>;

    /// The range of changes that can be read.
    fn feed_span(&self) -> Result<FeedSpan>;
}
