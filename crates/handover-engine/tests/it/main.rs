//! The engine from outside: its pure parts, and whole runs with real git, processes and SQLite.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod at_once;
mod closing;
mod engine;
mod reducer;
mod stage;
mod team;
mod toy_gate;
mod worktree;
