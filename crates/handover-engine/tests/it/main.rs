//! The parts of a run that are pure, or need nothing but files and git.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod at_once;
mod closing;
mod engine;
mod reducer;
mod team;
mod worktree;
