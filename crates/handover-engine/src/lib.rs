//! Runs: stories executed phase by phase in isolated agents, and nothing lost when anything dies.
//!
//! Data: [`pipeline`] says what happens to a story, [`reducer`] what comes next, and the journal in the
//! store what has happened. Everything that touches the world is in the runner: it writes down what
//! it is about to do, does it, and writes down what came of it. The state of a run is the fold of its
//! journal, so a run whose engine died goes on where it was.

pub mod chain;
mod error;
pub mod flow;
pub mod gates;
pub mod git;
mod journal;
mod ledger;
pub mod party;
pub mod persona;
pub mod pipeline;
mod plan;
pub mod prompt;
pub mod question;
pub mod reducer;
pub mod report;
pub mod retro;
mod runner;
pub mod stats;
pub mod story;
mod task;
mod team;
pub mod uat;
pub mod verdict;

pub use error::EngineError;
pub use journal::{Death, Folded, fold};
pub use ledger::{Line, Spent};
pub use plan::{Given, Preview, PreviewPrompt, Request};
pub use runner::{Engine, OnProgress, Progress};
