//! Task groups.

use handover_model::{CounterName, Group, GroupId, GroupStatus, PackageId, SessionId, Timestamp};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Groups::set_group`]; fields that are `None` stay as they are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GroupUpdate {
    /// The session that owns it.
    pub session: SessionId,
    /// The group; created if it is new.
    pub id: GroupId,
    /// A short description.
    pub title: Option<Clean>,
    /// The new status.
    pub status: Option<GroupStatus>,
    /// The packages chosen for it, in order; replaces the list.
    pub references: Option<Vec<PackageId>>,
    /// The templates chosen for it; replaces the list.
    pub specializations: Option<Vec<Clean>>,
    /// The part of the repository that it works in.
    pub component: Option<Clean>,
    /// Counters to increment.
    pub count: Vec<CounterName>,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

impl GroupUpdate {
    /// An update that only makes sure that the group exists.
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
    /// Creates the group if it is new, sets the given fields, increments the named counters, and returns
    /// the resulting group. A reference must be a package of the same session.
    fn set_group(&self, update: &GroupUpdate) -> Result<Group>;

    /// One group; [`NotFound`](crate::StoreError::NotFound) if there is none.
    fn group(&self, session: &SessionId, id: &GroupId) -> Result<Group>;

    /// The session's groups, oldest first.
    fn groups(&self, session: &SessionId) -> Result<Vec<Group>>;
}
