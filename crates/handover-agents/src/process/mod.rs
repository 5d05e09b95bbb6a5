//! The processes of a run: how they are identified, which belong to it, and how they are killed.
//!
//! An agent starts tools, tools start servers, and each may leave its group or session. On Linux this process
//! becomes the reaper of all its descendants, so none escapes; if this process crashes, the marker in their
//! environment still identifies them. On other systems nothing is adopted: a process is ours by its session, its
//! parents, its marker, or because it was once seen to be. What differs is behind one trait (`platform.rs`).
//!
//! Processes that something else runs for the agent are out of reach: a service that was already running,
//! or another user. Anything else that our own process starts in a session of its own while an agent runs
//! is mistaken for a stray of that agent. With several concurrent runs, a stray that dropped its marker
//! before it was seen cannot be attributed, and is killed with the last of them.

mod ancestors;
mod family;
mod identity;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod linux;
mod orphans;
mod platform;
#[cfg(any(not(target_os = "linux"), feature = "portable"))]
mod portable;

pub use ancestors::environments_above;
pub(crate) use family::Family;
pub use identity::Identity;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
use linux::Linux as System;
pub use orphans::{current_process, die, end_marked, end_orphan, is_alive};
#[cfg(any(not(target_os = "linux"), feature = "portable"))]
use portable::Portable as System;

/// The name of this machine.
#[cfg(unix)]
pub fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The name of this machine.
#[cfg(not(unix))]
pub fn machine() -> String {
    sysinfo::System::host_name().unwrap_or_default()
}

fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// What happened to the orphan of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrphanEnd {
    /// No process of it was left.
    Gone,
    /// This many processes were killed.
    Ended(u32),
    /// This many processes are still there although they were killed.
    Stuck(u32),
}
