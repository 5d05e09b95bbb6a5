//! Runs: stories executed phase by phase in isolated agents, and nothing lost when anything dies.

pub mod gates;
pub mod git;
pub mod story;
