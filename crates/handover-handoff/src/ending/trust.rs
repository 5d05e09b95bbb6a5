//! The trust class of what an agent leaves behind: the lowest of what it read before it wrote.

use handover_model::{ReceiptState, Timestamp, Trace, Trust, shows_outside};
use handover_store::{Result, Store, StoreError, WrittenBy};

use super::{Ending, OutsideRead};
use crate::Assignment;

/// The class of an ending, and why it is not higher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Earned {
    pub(crate) trust: Trust,
    /// What lowered it, in words.
    pub(super) because: Vec<String>,
    /// When it first read what lowered it.
    since: Option<Timestamp>,
}

impl Earned {
    /// An agent is trusted as an agent, unless it read something that is trusted less: an item of its brief, whatever
    /// a tool brought from outside, or what our own tools showed it of that class.
    pub(crate) fn of(
        store: &dyn Store,
        assignment: &Assignment,
        outside: Option<&OutsideRead>,
        trace: Option<&Trace>,
    ) -> Result<Self> {
        let mut earned = Self { trust: Trust::Agent, because: Vec::new(), since: None };
        if let Some(outside) = outside {
            earned.lower(Trust::Outside, format!("tool {}", outside.tool));
            earned.since = Some(outside.at.unwrap_or_else(|| Timestamp::from_micros(0)));
        }
        if let Some(tool) = trace.and_then(shows_outside) {
            earned.lower(Trust::Outside, format!("tool {tool}"));
            earned.since = Some(Timestamp::from_micros(0));
        }
        let Some(id) = &assignment.receipt else { return Ok(earned) };
        let receipt = match store.receipt(id) {
            Ok(receipt) => receipt,
            Err(StoreError::NotFound { .. }) => return Ok(earned),
            Err(error) => return Err(error),
        };
        let arrived = matches!(receipt.state, ReceiptState::Delivered | ReceiptState::Confirmed);
        // The brief came before everything else.
        let start = receipt.delivered_at.unwrap_or(receipt.created_at);
        for item in receipt.items.iter().filter(|item| arrived && item.trust < Trust::Agent) {
            earned.lower(item.trust, format!("{} {}", item.kind, item.id));
            earned.since = Some(start);
        }
        if let Some(since) = &mut earned.since {
            *since = (*since).max(start);
        }
        Ok(earned)
    }

    fn lower(&mut self, trust: Trust, because: String) {
        self.trust = self.trust.min(trust);
        self.because.push(because);
    }

    /// Lowers what the agent stored itself in the meantime, when nobody could know.
    pub(super) fn apply(&self, store: &dyn Store, ending: &Ending<'_>) -> Result<()> {
        let (Some(since), true) = (self.since, self.trust < Trust::Agent) else { return Ok(()) };
        let assignment = ending.assignment;
        let written = WrittenBy {
            session: assignment.session.clone(),
            group: assignment.group.clone(),
            role: assignment.role.clone(),
            since,
        };
        store.lower_trust(&written, self.trust)?;
        Ok(())
    }
}
