//! Events.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{EventId, EventType, GroupId, SessionId, Timestamp};

/// Something that happened. Append-only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Unique within a store.
    pub id: EventId,
    /// The session that it belongs to.
    pub session: SessionId,
    /// The group that it is about, if any.
    #[serde(rename = "group")]
    pub group: Option<GroupId>,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// The circumstances.
    pub payload: Value,
    /// Two events of one session, group and type never share a key.
    pub key: Option<String>,
    /// When.
    pub created_at: Timestamp,
}
