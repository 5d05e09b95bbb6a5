//! Who works on what, under which receipt: what every later step of a handoff needs to know.

use handover_model::{AgentId, GroupId, Receipt, ReceiptId, Role, SessionId};
use handover_store::NewReceipt;

/// An agent's place in the work. Everything that it leaves behind is kept under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The session that keeps the agent's records.
    pub session: SessionId,
    /// The group that the agent works in.
    pub group: Option<GroupId>,
    /// The role that the agent works as.
    pub role: Role,
    /// Which attempt of its role, from 0.
    pub iteration: u32,
    /// The receipt that the agent started with; none for an agent that nobody briefed.
    pub receipt: Option<ReceiptId>,
    /// The agent's own name, where its host gives it one.
    pub agent: Option<AgentId>,
}

impl Assignment {
    /// The assignment that a stored receipt was written for.
    pub fn of(receipt: &Receipt) -> Self {
        Self {
            session: receipt.session.clone(),
            group: receipt.group.clone(),
            role: receipt.role.clone(),
            iteration: receipt.iteration,
            receipt: Some(receipt.id.clone()),
            agent: None,
        }
    }

    /// The assignment of an agent that started without a brief.
    pub fn without_receipt(session: SessionId, group: Option<GroupId>, role: Role) -> Self {
        Self { session, group, role, iteration: 0, receipt: None, agent: None }
    }

    /// The same, for a named agent.
    #[must_use]
    pub fn named(self, agent: Option<AgentId>) -> Self {
        Self { agent, ..self }
    }

    pub(crate) fn of_new(receipt: &NewReceipt) -> Self {
        Self {
            session: receipt.session.clone(),
            group: receipt.group.clone(),
            role: receipt.role.clone(),
            iteration: receipt.iteration,
            receipt: Some(receipt.id.clone()),
            agent: None,
        }
    }
}
