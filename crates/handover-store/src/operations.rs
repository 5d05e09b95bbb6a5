//! The operation log: what was changed by hand.

use handover_model::{
    Action, Edit, Operation, OperationId, ProjectId, SessionId, Timestamp, Trust,
};
use handover_text::{Clean, CleanJson};
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Operations::log_operation`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewOperation {
    /// Its id.
    pub id: OperationId,
    /// The project whose records it changed.
    pub project: ProjectId,
    /// The session that its records belong to, if it is one; the entry is purged with it.
    pub session: Option<SessionId>,
    /// What was done.
    pub action: Action,
    /// A list of [`Edit`]s.
    pub changes: CleanJson,
    /// The operation that it undid.
    pub undoes: Option<OperationId>,
    /// Who did it.
    pub trust: Trust,
    /// Through what, and with whose token, if that is known.
    #[serde(default)]
    pub author: Option<Clean>,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

impl NewOperation {
    /// What it changed; empty if the list cannot be read.
    pub fn edits(&self) -> Vec<Edit> {
        serde_json::from_value(self.changes.value().clone()).unwrap_or_default()
    }
}

/// Which operations to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct OperationFilter {
    /// Only from this time on.
    pub since: Option<Timestamp>,
    /// The maximum number of results; none means all.
    pub limit: Option<u32>,
}

/// The operation log. Purging a note or a session removes the entries about it.
pub trait Operations {
    /// Adds an entry. The caller writes it in the transaction of the change.
    fn log_operation(&self, new: &NewOperation) -> Result<()>;

    /// The project's entries, newest first.
    fn operations(&self, project: &ProjectId, filter: &OperationFilter) -> Result<Vec<Operation>>;

    /// Deletes the entries before a time; how many there were.
    fn drop_operations(&self, project: &ProjectId, before: Timestamp) -> Result<u64>;
}
