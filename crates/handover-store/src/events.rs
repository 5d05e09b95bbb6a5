//! Events.

use handover_model::{Event, EventId, EventType, GroupId, SessionId, Timestamp};
use handover_text::{Clean, CleanJson, Redactor};
use serde::{Deserialize, Serialize};

use crate::Result;

/// An event to be logged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewEvent {
    /// The session.
    pub session: SessionId,
    /// The group that it is about, if any.
    pub group: Option<GroupId>,
    /// What happened.
    pub kind: EventType,
    /// The circumstances.
    pub payload: CleanJson,
    /// Makes logging it twice harmless.
    pub key: Option<EventKey>,
    /// Now.
    pub now: Timestamp,
}

/// What makes an event the same as another. Random keys look like secrets, so they are compared by
/// their hash, and only their redacted form is kept to be shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EventKey {
    hash: String,
    shown: Clean,
}

impl EventKey {
    /// A key as it was given.
    pub fn new(key: &str, redactor: &Redactor) -> Self {
        Self { hash: blake3::hash(key.as_bytes()).to_hex().to_string(), shown: redactor.clean(key) }
    }

    /// What is compared.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// What is shown.
    pub fn shown(&self) -> &Clean {
        &self.shown
    }
}

/// The answer to logging an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// The event: the new one, or the one that has the key.
    pub id: EventId,
    /// Whether an event with this key was there.
    pub duplicate: bool,
}

/// Which events to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EventFilter {
    /// Only of this type.
    pub kind: Option<EventType>,
    /// Only about this group.
    pub group: Option<GroupId>,
    /// At most so many.
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
