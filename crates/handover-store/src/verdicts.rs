//! Verdicts.

use handover_model::{
    AgentId, GroupId, ReceiptId, Role, SessionId, Timestamp, Trust, Verdict, VerdictRecord,
};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Verdicts::add_verdict`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewVerdict {
    /// The session that owns it.
    pub session: SessionId,
    /// The group that it belongs to, if any.
    pub group: Option<GroupId>,
    /// The role of the agent.
    pub role: Role,
    /// Distinguishes agents of the same role.
    pub agent_id: Option<AgentId>,
    /// The attempt, from 0.
    pub iteration: u32,
    /// The receipt of the agent's brief, if any.
    pub receipt: Option<ReceiptId>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the agent did or found.
    pub summary: Option<Clean>,
    /// What a reviewer wants fixed.
    pub findings: Vec<Clean>,
    /// The current time; stores have no clock.
    pub now: Timestamp,
    /// How far to believe it: the lowest class of its sources.
    pub trust: Trust,
}

/// Which verdicts to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct VerdictFilter {
    /// Only about this group.
    pub group: Option<GroupId>,
    /// Only by this role.
    pub role: Option<Role>,
    /// Only of the agent with this receipt.
    #[serde(default)]
    pub receipt: Option<ReceiptId>,
    /// The maximum number of results; none means all.
    pub limit: Option<u32>,
}

/// Verdicts.
pub trait Verdicts {
    /// Records how an agent ended.
    fn add_verdict(&self, new: &NewVerdict) -> Result<VerdictRecord>;

    /// The session's verdicts, newest first.
    fn verdicts(&self, session: &SessionId, filter: &VerdictFilter) -> Result<Vec<VerdictRecord>>;
}
