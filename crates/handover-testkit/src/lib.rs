//! What tests stand on: a folder of their own, an environment of their own, the real program.

#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod env;
mod output;

pub use env::TestEnv;
pub use output::Output;
