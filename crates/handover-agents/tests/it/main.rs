//! Real processes: a program with every fault an agent can have, and the real agent programs.
//!
//! What looks for processes that are left behind looks in `/proc`, and so runs on Linux only; with `--features portable`
//! it runs the code of the other systems there.

#![expect(clippy::unwrap_used, reason = "these are tests")]

#[cfg(target_os = "linux")]
mod accounting;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod identity;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod pipes;
mod readers;
#[cfg(target_os = "linux")]
mod real;
mod recordings;
#[cfg(target_os = "linux")]
mod setup;
