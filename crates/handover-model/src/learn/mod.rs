//! The rules of learning as pure functions: what makes two errors the same, how trust grows and
//! shrinks, what becomes a strategy.
//!
//! The store applies each step in one atomic statement; the numbers live here.

mod normalise;
mod signature;
mod strategy;
mod trust;

pub use signature::{Signature, similarity};
pub use strategy::{MAX_INSIGHT_CHARS, PHASES as STRATEGY_PHASES, strategy_id, topic_of};
pub use trust::Trust;

/// Days without a sighting after which an error pattern is no longer recalled.
pub const TTL_DAYS: u32 = 90;
