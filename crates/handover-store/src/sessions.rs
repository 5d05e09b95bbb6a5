//! Sessions.

use handover_model::{ProjectId, Session, SessionCounts, SessionId, SessionStatus, Timestamp};
use handover_text::CleanJson;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Sessions::open_session`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// The project that keeps what is learned in it.
    pub project: ProjectId,
    /// A JSON object.
    pub metadata: CleanJson,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

/// A record that was looked up or created.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opened<T> {
    /// The record as it is in the store.
    pub record: T,
    /// Whether this call created it.
    pub created: bool,
}

/// Sessions.
pub trait Sessions {
    /// Opens a session. If the id exists, nothing is changed and the existing session is returned.
    fn open_session(&self, new: &NewSession) -> Result<Opened<Session>>;

    /// One session; [`NotFound`](crate::StoreError::NotFound) if there is none.
    fn session(&self, id: &SessionId) -> Result<Session>;

    /// Sessions, optionally of one status.
    fn sessions(&self, status: Option<SessionStatus>) -> Result<Vec<Session>>;

    /// How many records the session owns.
    fn session_counts(&self, id: &SessionId) -> Result<SessionCounts>;

    /// Sets the status. Anything but `active` also sets the end; `active` clears it.
    fn set_session_status(
        &self,
        id: &SessionId,
        status: SessionStatus,
        now: Timestamp,
    ) -> Result<Session>;

    /// Deletes the session and everything that it owns; returns what was deleted. Error patterns
    /// and strategies belong to the project and stay.
    fn purge_session(&self, id: &SessionId) -> Result<SessionCounts>;
}
