//! The rules of learning as pure functions: what makes two errors the same, how trust grows and
//! shrinks, what becomes a strategy.
//!
//! The store applies the steps in one atomic statement each; the numbers live here.

/// Days without a sighting after which an error pattern is no longer recalled.
pub const TTL_DAYS: u32 = 90;
