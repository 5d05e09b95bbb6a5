//! Events.

use handover_model::{Event, EventId, EventType, GroupId, SessionId, Timestamp};
use handover_text::{Clean, CleanJson, Redactor};
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Events::log_event`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewEvent {
    /// The session that owns it.
    pub session: SessionId,
    /// The group that it belongs to, if any.
    pub group: Option<GroupId>,
    /// The type of event.
    pub kind: EventType,
    /// Details, as JSON.
    pub payload: CleanJson,
    /// Deduplicates: an event with a known key is not logged again.
    pub key: Option<EventKey>,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

/// A deduplication key. Random keys look like secrets, so they are compared by hash, and only their
/// redacted form is stored for display.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EventKey {
    hash: String,
    shown: Clean,
}

impl EventKey {
    /// Hashes and redacts a key.
    pub fn new(key: &str, redactor: &Redactor) -> Self {
        Self { hash: blake3::hash(key.as_bytes()).to_hex().to_string(), shown: redactor.clean(key) }
    }

    /// The hash that is compared.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The redacted form.
    pub fn shown(&self) -> &Clean {
        &self.shown
    }
}

/// The result of [`Events::log_event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// The new event, or the existing one with that key.
    pub id: EventId,
    /// Whether an event with this key existed.
    pub duplicate: bool,
}

/// Which events to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EventFilter {
    /// Only of this type.
    pub kind: Option<EventType>,
    /// Only about this group.
    pub group: Option<GroupId>,
    /// The maximum number of results; none means all.
    pub limit: Option<u32>,
}

/// Events.
pub trait Events {
    /// Appends an event, unless one of the same session, group and type has the same key; then
    /// nothing is written and that one's id is returned.
    fn log_event(&self, new: &NewEvent) -> Result<Logged>;

    /// The session's events.
    fn events(&self, session: &SessionId, filter: &EventFilter) -> Result<Vec<Event>>;
}
