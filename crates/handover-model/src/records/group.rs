//! Task groups.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{GroupId, GroupStatus, PackageId, SessionId, Timestamp};

/// A parallel stream of work within a session. It exists as soon as any record names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The session it belongs to.
    pub session: SessionId,
    /// Unique within the session.
    pub id: GroupId,
    /// What it works on.
    pub title: Option<String>,
    /// Its progress.
    pub status: GroupStatus,
    /// Packages chosen for it by a planner, in the planner's order.
    pub references: Vec<PackageId>,
    /// Names of the specialization templates chosen for it.
    pub specializations: Vec<String>,
    /// The part of a monorepo it works on.
    pub component: Option<String>,
    /// Named iteration counters, such as `qa_attempts`.
    pub counters: BTreeMap<String, u64>,
    /// When it was first named.
    pub created_at: Timestamp,
}
