//! Identifies a process: a PID alone may belong to another process by now.

use serde::{Deserialize, Serialize};

/// A process, for recording. PID, start time and boot id together are unique.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The PID.
    pub pid: u32,
    /// The start time, in ticks since boot; none if the system does not report it.
    pub started: Option<u64>,
    /// The boot id.
    pub boot: Option<String>,
    /// The marker of its run.
    pub spawn: String,
}
