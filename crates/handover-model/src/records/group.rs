//! Task groups.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{GroupId, GroupStatus, PackageId, SessionId, Timestamp};

/// A parallel stream of work inside a session. It exists once it is named anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The session that it belongs to.
    pub session: SessionId,
    /// Unique within the session.
    pub id: GroupId,
    /// What it is about.
    pub title: Option<String>,
    /// Where it stands.
    pub status: GroupStatus,
    /// Packages that a planner chose for it, in the planner's order.
    pub references: Vec<PackageId>,
    /// Names of the specialization templates chosen for it.
    pub specializations: Vec<String>,
    /// The part of a monorepo that it works in.
    pub component: Option<String>,
    /// Named iteration counters, such as `qa_attempts`.
    pub counters: BTreeMap<String, u64>,
    /// When it was first named.
    pub created_at: Timestamp,
}
