//! The processes of a run: who they are, who belongs to them, and how they are ended.
//!
//! An agent starts tools, tools start servers, and each may leave its group or session. On Linux
//! this process becomes the reaper of all its descendants, so none gets out of sight; after a
//! crash of ours, the mark in their environment still tells whose they were. Elsewhere the group
//! is all that is known.
//!
//! Out of reach is only what runs on behalf of somebody else: a service that was already there, or
//! another user. And whatever else our own process starts in a session of its own while an agent
//! runs is taken for a stray of that agent. Of several runs at once, a stray that threw its mark
//! away before anybody looked belongs to nobody for sure, and ends with the last of them.

mod identity;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod system;

pub use identity::Identity;
pub(crate) use system::Family;
pub use system::{die, end_marked, end_orphan, is_alive, myself};

/// The name of this machine.
pub fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// What became of a process that an earlier run left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrphanEnd {
    /// Nothing of it was there any more.
    Gone,
    /// So many processes were ended.
    Ended(u32),
    /// So many processes are still there although they were killed.
    Stuck(u32),
}
