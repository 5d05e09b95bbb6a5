//! The engine from outside: its pure parts, and whole runs with real git, processes and SQLite.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod accepting;
mod at_once;
mod chains;
mod checking;
mod closing;
mod decisions;
mod engine;
mod garbage;
mod hostile_config;
mod inspection;
mod isolation;
mod landing;
mod learning;
mod machines;
mod pipelines;
mod planning;
mod properties;
mod reducer;
mod reports;
mod repository;
mod scenarios;
mod stage;
mod stories;
mod team;
mod totals;
mod toy_gate;
mod work;
mod worktree;
