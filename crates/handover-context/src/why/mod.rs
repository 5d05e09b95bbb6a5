//! Why an agent did or did not get something: what a name means (`subject.rs`), what became of it, and what
//! would change that (`fate.rs`); why it was not even considered (`missed.rs`). For the command line and the dashboard.

mod fate;
mod missed;
mod subject;

use handover_model::{GroupId, ItemKind, Receipt, ReceiptId, Role, SessionId};
use handover_store::Result;
use serde::Serialize;

pub use fate::{Finding, sentence};
pub use handover_model::short_id;
pub use subject::{Library, Subject};

use crate::assemble::Explained;
use missed::Missed;

/// Who got it, or would.
#[derive(Debug, Clone, Serialize)]
pub struct Agent {
    /// The receipt of its brief, if it had one.
    pub receipt: Option<ReceiptId>,
    /// Its session.
    pub session: SessionId,
    /// Its role.
    pub role: Role,
    /// Its group, if any.
    pub group: Option<GroupId>,
    /// Its attempt, from 0.
    pub iteration: Option<u32>,
}

impl Agent {
    /// The agent that a receipt is of.
    pub fn of(receipt: &Receipt) -> Self {
        Self {
            receipt: Some(receipt.id.clone()),
            session: receipt.session.clone(),
            role: receipt.role.clone(),
            group: receipt.group.clone(),
            iteration: Some(receipt.iteration),
        }
    }
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.role)?;
        if let Some(group) = &self.group {
            write!(f, " of group {group}")?;
        }
        write!(f, " in session {}", self.session)?;
        match &self.receipt {
            Some(id) => write!(f, ", receipt {}", short_id(id.as_str())),
            None => write!(f, ", if it started now"),
        }
    }
}

impl Library<'_> {
    /// What became of each record. `now` is everything that such an agent could be given today, explained.
    pub fn explain(
        &self,
        subjects: &[Subject],
        agent: &Agent,
        receipt: Option<&Receipt>,
        task: Option<&str>,
        now: &[Explained],
    ) -> Result<Vec<Finding>> {
        let chosen = now.iter().any(|one| one.kind == ItemKind::Note);
        let explained = subjects.iter().map(|subject| {
            let id = subject.id();
            let is_candidate =
                now.iter().any(|one| one.kind == subject.kind() && one.id.to_string() == id);
            let missed = match subject {
                Subject::Note(note) if !is_candidate => Some(Missed::of(self, note, task, chosen)?),
                Subject::Note(_) | Subject::Package(_) => None,
            };
            Ok(match receipt {
                Some(receipt) => Finding::in_receipt(subject, agent, receipt, now, missed.as_ref()),
                None => Finding::among(subject, agent, now, missed.as_ref()),
            })
        });
        explained.collect()
    }
}
