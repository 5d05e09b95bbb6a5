//! The vocabulary of Handover: ids, enums, records, configuration, and the pure rules of learning.
//!
//! Nothing here reads a file, a clock, the environment or a database. Every other crate speaks in
//! these words.

pub mod config;
#[macro_use]
mod enums;
mod ids;
pub mod learn;
pub mod models;
mod records;
mod time;

pub use enums::*;
pub use ids::*;
pub use models::{Tier, Tokenizer};
pub use records::*;
pub use time::{InvalidTimestamp, Timestamp};
