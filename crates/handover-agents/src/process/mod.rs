//! The processes of a run: how they are identified, which belong to it, and how they are killed.
//!
//! An agent starts tools, tools start servers, and each may leave its group or session. On Linux this process
//! becomes the reaper of all its descendants, so none escapes; if this process crashes, the marker in their
//! environment still identifies them. On other systems only the process group is known.
//!
//! Processes that something else runs for the agent are out of reach: a service that was already running,
//! or another user. Anything else that our own process starts in a session of its own while an agent runs
//! is mistaken for a stray of that agent. With several concurrent runs, a stray that dropped its marker
//! before it was seen cannot be attributed, and is killed with the last of them.

mod identity;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod system;

pub use identity::Identity;
pub(crate) use system::Family;
pub use system::{current_process, die, end_marked, end_orphan, is_alive};

/// The name of this machine.
pub fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
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
