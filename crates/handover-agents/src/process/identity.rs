//! Which process it was: a number alone may belong to another one by now.

use serde::{Deserialize, Serialize};

/// A process for the record. Number, start and boot together never come again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number.
    pub pid: u32,
    /// When it started, in ticks since the boot; none where the system does not tell.
    pub started: Option<u64>,
    /// The boot that it lived in.
    pub boot: Option<String>,
    /// The mark of its run.
    pub spawn: String,
}
