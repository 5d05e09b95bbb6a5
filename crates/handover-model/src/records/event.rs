//! Events.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{EventId, EventType, GroupId, SessionId, Timestamp};

/// A logged event. Append-only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Unique within a store.
    pub id: EventId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The group it concerns, if any.
    #[serde(rename = "group")]
    pub group: Option<GroupId>,
    /// A [`KnownEvent`](crate::KnownEvent), or a type chosen by the user.
    #[serde(rename = "type")]
    pub kind: EventType,
    /// Details; their form depends on the type.
    pub payload: Value,
    /// An idempotency key: unique per session, group and type.
    pub key: Option<String>,
    /// When it was logged.
    pub created_at: Timestamp,
}
