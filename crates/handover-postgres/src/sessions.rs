//! Sessions.

use handover_model::{Session, SessionCounts, SessionId, SessionStatus, Timestamp};
use handover_store::rows::{self, SESSION, to_json};
use handover_store::{NewSession, Opened, RecordKind, Result, Sessions, StoreError};

use crate::PostgresStore;
use crate::value::params;

impl Sessions for PostgresStore {
    fn open_session(&self, new: &NewSession) -> Result<Opened<Session>> {
        self.write(|| {
            // Looked up first: an insert that conflicts uses up a key.
            if let Some(record) = self.session_if_any(&new.id)? {
                return Ok(Opened { record, created: false });
            }
            self.change(
                "INSERT INTO session (id, project, status, metadata, created_at)
                 VALUES ($1, $2, 'active', $3, $4)",
                params![
                    new.id.as_str(),
                    new.project.as_str(),
                    to_json(new.metadata.value()),
                    new.now
                ],
            )?;
            Ok(Opened { record: self.session(&new.id)?, created: true })
        })
    }

    fn session(&self, id: &SessionId) -> Result<Session> {
        self.session_if_any(id)?.ok_or_else(|| StoreError::not_found(RecordKind::Session, id))
    }

    fn sessions(&self, status: Option<SessionStatus>) -> Result<Vec<Session>> {
        self.all(
            &format!(
                "SELECT {SESSION} FROM session WHERE $1 IS NULL OR status = $1
                 ORDER BY created_at DESC, key DESC"
            ),
            params![status.map(SessionStatus::as_str)],
            rows::session,
        )
    }

    fn session_counts(&self, id: &SessionId) -> Result<SessionCounts> {
        let key = self.session_key(id)?;
        let counts = self.first(
            "SELECT
                (SELECT count(*) FROM task_group WHERE session = $1),
                (SELECT count(*) FROM package WHERE session = $1 AND superseded_by IS NULL),
                (SELECT count(*) FROM package WHERE session = $1),
                (SELECT count(*) FROM reasoning WHERE session = $1),
                (SELECT count(*) FROM skill_output WHERE session = $1),
                (SELECT count(*) FROM event WHERE session = $1),
                (SELECT count(*) FROM receipt WHERE session = $1)",
            params![key],
            rows::session_counts,
        )?;
        counts.ok_or_else(|| StoreError::not_found(RecordKind::Session, id))
    }

    fn set_session_status(
        &self,
        id: &SessionId,
        status: SessionStatus,
        now: Timestamp,
    ) -> Result<Session> {
        let ended = (status != SessionStatus::Active).then(|| now.as_micros());
        self.write(|| {
            self.change(
                "UPDATE session SET status = $2, ended_at = $3 WHERE id = $1",
                params![id.as_str(), status.as_str(), ended],
            )?;
            self.session(id)
        })
    }

    fn purge_session(&self, id: &SessionId) -> Result<SessionCounts> {
        self.write(|| {
            let counts = self.session_counts(id)?;
            self.change("DELETE FROM session WHERE id = $1", params![id.as_str()])?;
            self.rebuild_tallies()?;
            Ok(counts)
        })
    }
}

impl PostgresStore {
    fn session_if_any(&self, id: &SessionId) -> Result<Option<Session>> {
        let sql = format!("SELECT {SESSION} FROM session WHERE id = $1");
        self.first(&sql, params![id.as_str()], rows::session)
    }
}
