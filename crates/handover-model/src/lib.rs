//! The vocabulary of Handover: ids, enums, records, configuration, and the pure rules of learning.
//!
//! Nothing here reads a file, a clock, the environment or a database. All other crates use these types.

mod budget;
pub mod config;
#[macro_use]
mod enums;
mod host;
mod ids;
pub mod learn;
pub mod models;
mod outside;
mod prompt;
mod records;
pub mod roles;
mod time;
mod trace;

pub use budget::Budget;
pub use enums::*;
pub use host::{Host, InvalidHost};
pub use ids::*;
pub use models::{Tier, Tokenizer};
pub use outside::{KNOWN_FIX, reads_outside, shows_outside};
pub use prompt::AdmittedPrompt;
pub use records::*;
pub use time::{InvalidTimestamp, Timestamp};
pub use trace::{ToolCall, Trace, TraceStep};
