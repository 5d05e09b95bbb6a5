//! The steps of a handoff on a real store: what each writes, and what it refuses to.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod delivery;
mod ending;
mod fields;
mod laundering;
mod prepare;
mod returns;
mod states;
mod uses;
mod world;
