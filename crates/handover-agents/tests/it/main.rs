//! Real processes: a program with every fault an agent can have, and the real agent programs.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod accounting;
mod faults;
mod identity;
mod orphans;
mod pipes;
mod readers;
mod real;
mod recordings;
mod setup;
