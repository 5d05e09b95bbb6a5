//! Runs stories phase by phase in isolated agents, and survives crashes at any point.
//!
//! A [`pipeline`] is data: the steps of a story. The [`reducer`] is pure: it decides what comes next.
//! The runner alone has side effects: it writes each intent to the journal, carries it out and writes
//! the resulting event. The state of a run is the fold of its journal, so a crashed run continues where
//! it stopped.

mod bounded;
pub mod chain;
pub mod control;
mod conversation;
pub mod data;
mod error;
mod forecast;
pub mod garbage;
pub mod gates;
pub mod git;
mod journal;
mod lock;
mod log_filter;
mod observe;
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
mod test_setup;
#[cfg(test)]
mod testing;
pub mod uat;
pub mod verdict;
mod words;

pub use conversation::{Said, conversation};
pub use data::{Price, Spent};
pub use error::EngineError;
pub use forecast::{Forecast, PhaseCost};
pub use journal::{Death, Folded, fold};
pub use log_filter::{ShownLines, log_filter};
pub use observe::observe;
pub use plan::{Overrides, Preview, PreviewPrompt, RunRequest};
pub use reducer::Line;
pub use runner::{Engine, OnProgress, Progress, backoff, lifted_at};
