//! Access to `.handover/` from outside: hostile content, limits, and concurrency.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod bounds;
mod errors;
mod hostile;
mod scene;
mod together;
mod tree;
