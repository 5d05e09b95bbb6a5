//! Settles what several voices said about one question into one answer.
//!
//! Everything here is a function from data to data. The result does not depend on the order in which
//! the voices ended: they are sorted by who was asked, and every tie is broken by text.

mod analysis;
mod findings;
mod kickoff;
mod parties;
mod retro;
mod review;

pub use analysis::{AnalysisOutcome, is_new, settle_analysis, signature};
pub(crate) use findings::shown_to;
pub use findings::{MergedFinding, merge};
pub use kickoff::{Insights, settle_kickoff};
pub use parties::Parties;
pub use retro::settle_retro;
pub use review::{ReviewOutcome, Vote, settle_review};
