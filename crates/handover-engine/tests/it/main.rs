//! The engine from outside: its pure parts, and whole runs with real git, processes and SQLite.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod at_once;
mod chains;
mod closing;
mod decisions;
mod engine;
mod learning;
mod pipelines;
mod planning;
mod reducer;
mod reports;
mod repository;
mod scenarios;
mod stage;
mod stories;
mod team;
mod toy_gate;
mod worktree;
