//! The door to `.handover/`, from outside: hostile content, limits, and many at once.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod bounds;
mod door;
mod errors;
mod scene;
mod together;
mod tree;
