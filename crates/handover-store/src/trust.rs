//! Trust classes of what was stored before it was known what its author had read.

use handover_model::{GroupId, Role, SessionId, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::Result;

/// What one agent stored while it worked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenBy {
    /// The session it worked in.
    pub session: SessionId,
    /// The group it worked in, if any. What it stored without a group counts, too.
    pub group: Option<GroupId>,
    /// Its role.
    pub role: Role,
    /// When it first read what is trusted less than an agent.
    pub since: Timestamp,
}

/// Trust classes.
pub trait TrustClasses {
    /// Lowers the class of packages, reasoning and errors that an agent stored itself, and of the strategies
    /// extracted from that reasoning. Nothing is ever raised, and what a person typed or the project has
    /// committed stays. How many records changed.
    fn lower_trust(&self, written: &WrittenBy, trust: Trust) -> Result<u64>;
}
