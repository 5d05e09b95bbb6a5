//! Who works on what, under which receipt: what every later step of a handoff needs to know.

use handover_model::{AgentId, GroupId, Receipt, ReceiptId, Role, SessionId};
use handover_store::NewReceipt;

use crate::{HandoffError, Handoffs, Result};

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

/// How a caller names the agent that it has an ending of.
#[derive(Debug, Clone, Default)]
pub struct EndedAgent {
    /// The receipt that the agent started with. It decides everything else.
    pub receipt: Option<ReceiptId>,
    /// The role of the agent; required without a receipt.
    pub role: Option<Role>,
    /// The session of the agent; required without a receipt.
    pub session: Option<SessionId>,
    /// The group of an agent without a receipt.
    pub group: Option<GroupId>,
    /// Which attempt an agent without a receipt was; the first if nothing is known.
    pub iteration: Option<u32>,
    /// The agent's own name.
    pub agent: Option<AgentId>,
}

impl Handoffs<'_> {
    /// The assignment that an ending is kept under: that of the agent's receipt, else one without a receipt.
    /// Whatever else the caller names must agree with the receipt, so that no agent ends the work of another.
    pub fn assignment(&self, ended: EndedAgent) -> Result<Assignment> {
        let store = self.store()?;
        let assignment = match (&ended.receipt, ended.role, ended.session) {
            (Some(id), role, session) => {
                let receipt = store.receipt(id)?;
                belongs_to(&receipt, role.as_ref(), session.as_ref())?;
                Assignment::of(&receipt)
            }
            (None, Some(role), Some(session)) => Assignment {
                iteration: ended.iteration.unwrap_or_default(),
                ..Assignment::without_receipt(store.session(&session)?.id, ended.group, role)
            },
            (None, _, _) => return Err(HandoffError::NoAgent),
        };
        Ok(Assignment { agent: ended.agent, ..assignment })
    }
}

/// Rejects the receipt of another role or session than the caller names.
pub(crate) fn belongs_to(
    receipt: &Receipt,
    role: Option<&Role>,
    session: Option<&SessionId>,
) -> Result<()> {
    let id = &receipt.id;
    if let Some(asked) = role.filter(|role| **role != receipt.role) {
        let (found, asked) = (receipt.role.clone(), asked.clone());
        return Err(HandoffError::OtherRole { receipt: id.clone(), found, asked });
    }
    if let Some(asked) = session.filter(|session| **session != receipt.session) {
        let (found, asked) = (receipt.session.clone(), asked.clone());
        return Err(HandoffError::OtherSession { receipt: id.clone(), found, asked });
    }
    Ok(())
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
