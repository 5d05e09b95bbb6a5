//! Chains: several epics in the order of their dependencies, each starting from the results of those
//! before it.
//!
//! The only state of a chain is when it started: an epic's outcome is that of its latest run since
//! then, so an interrupted chain continues where it stopped.

mod order;
mod record;
mod report;
mod run;

pub use order::{ChainLink, in_order, links};
pub use report::{EpicReport, Report};
pub use run::{ChainRequest, OnChain};

pub use crate::error::ChainError;
