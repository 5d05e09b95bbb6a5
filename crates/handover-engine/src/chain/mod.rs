//! Chains: several epics in the order of their dependencies, each from where those before it ended.
//!
//! A chain has no state of its own but when it began: what became of an epic is what its latest run
//! since then says, so a chain whose engine died goes on where it was.

mod error;
mod order;
mod record;
mod report;
mod run;

pub use error::ChainError;
pub use order::{Link, in_order, links};
pub use report::{EpicReport, Report};
pub use run::{ChainRequest, OnChain};
