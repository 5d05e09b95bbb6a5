//! Task groups.

use handover_model::{CounterName, Group, GroupId, GroupStatus, PackageId, SessionId, Timestamp};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// What to set on a group; what is `None` stays as it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GroupUpdate {
    /// The session.
    pub session: SessionId,
    /// The group; created if it is new.
    pub id: GroupId,
    /// What it is about.
    pub title: Option<Clean>,
    /// Where it stands.
    pub status: Option<GroupStatus>,
    /// The packages chosen for it, in order; replaces the former list.
    pub references: Option<Vec<PackageId>>,
    /// The templates chosen for it; replaces the former list.
    pub specializations: Option<Vec<Clean>>,
    /// The part of the repository that it works in.
    pub component: Option<Clean>,
    /// Counters to raise by one each.
    pub count: Vec<CounterName>,
    /// Now.
    pub now: Timestamp,
}

impl GroupUpdate {
    /// An update that sets nothing: it only names the group.
    pub fn new(session: SessionId, id: GroupId, now: Timestamp) -> Self {
        Self {
            session,
            id,
            title: None,
            status: None,
            references: None,
            specializations: None,
            component: None,
            count: Vec::new(),
            now,
        }
    }
}

/// Task groups.
pub trait Groups {
    /// Creates the group if it is new, sets what is given, raises the named counters; returns the
    /// group as it is afterwards. A reference must be a package of the same session.
    fn set_group(&self, update: &GroupUpdate) -> Result<Group>;

    /// One group; [`NotFound`](crate::StoreError::NotFound) if there is none.
    fn group(&self, session: &SessionId, id: &GroupId) -> Result<Group>;

    /// The session's groups, oldest first.
    fn groups(&self, session: &SessionId) -> Result<Vec<Group>>;
}
