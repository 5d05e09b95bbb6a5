//! The rules of learning as pure functions: which errors are the same, how trust changes, what becomes a
//! strategy, how far use moves an item.
//!
//! The store applies each step in one atomic statement; the numbers are defined here.

mod normalize;
mod signature;
mod strategy;
mod trust;
mod usage;

pub use signature::{Signature, similarity};
pub use strategy::{MAX_INSIGHT_CHARS, PHASES as STRATEGY_PHASES, strategy_id, topic_of};
pub use trust::Trust;
pub use usage::{
    BOUND as USE_BOUND, ENOUGH as ENOUGH_USES, HALF_LIFE_DAYS, HOLD_OUT, UseRule, UseTallies,
    UseTally, is_held_out,
};

/// Days without an occurrence after which an error pattern is no longer recalled.
pub const TTL_DAYS: u32 = 90;
