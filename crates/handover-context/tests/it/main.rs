//! The library on a real store, through its public interface.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod alive;
mod assemble;
mod by_use;
mod history;
mod laws;
mod notes;
mod passages;
mod world;
