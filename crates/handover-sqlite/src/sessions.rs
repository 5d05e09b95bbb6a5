//! Sessions.

use handover_model::{Session, SessionCounts, SessionId, SessionStatus, Timestamp};
use handover_store::rows::{self, SESSION, to_json};
use handover_store::{NewSession, Opened, RecordKind, Result, Sessions, StoreError};
use rusqlite::Connection;

use crate::error::backend;
use crate::{SqliteStore, query, session_key, sums, tallies};

fn get(connection: &Connection, id: &SessionId) -> Result<Session> {
    let intact = sums::intact("session", "session");
    let sql = format!("SELECT {SESSION}, {intact} FROM session WHERE id = ?1");
    query::record(connection, &sql, [id.as_str()], rows::session)?
        .ok_or_else(|| StoreError::not_found(RecordKind::Session, id))
}

fn counts(connection: &Connection, id: &SessionId) -> Result<SessionCounts> {
    let key = session_key(connection, id)?;
    let sql = "SELECT
        (SELECT count(*) FROM task_group WHERE session = ?1),
        (SELECT count(*) FROM package INDEXED BY package_latest
            WHERE session = ?1 AND superseded_by IS NULL),
        (SELECT count(*) FROM package WHERE session = ?1),
        (SELECT count(*) FROM reasoning WHERE session = ?1),
        (SELECT count(*) FROM skill_output WHERE session = ?1),
        (SELECT count(*) FROM event WHERE session = ?1),
        (SELECT count(*) FROM receipt WHERE session = ?1)";
    let counts = query::first(connection, sql, [key], rows::session_counts)?;
    counts.ok_or_else(|| StoreError::not_found(RecordKind::Session, id))
}

impl Sessions for SqliteStore {
    fn open_session(&self, new: &NewSession) -> Result<Opened<Session>> {
        self.write(|tx| {
            let inserted = tx
                .execute(
                    "INSERT INTO session (id, project, status, metadata, created_at)
                     VALUES (?1, ?2, 'active', ?3, ?4) ON CONFLICT (id) DO NOTHING",
                    (
                        new.id.as_str(),
                        new.project.as_str(),
                        to_json(new.metadata.value()),
                        new.now.as_micros(),
                    ),
                )
                .map_err(backend)?;
            Ok(Opened { record: get(tx, &new.id)?, created: inserted == 1 })
        })
    }

    fn session(&self, id: &SessionId) -> Result<Session> {
        get(&self.connection, id)
    }

    fn sessions(&self, status: Option<SessionStatus>) -> Result<Vec<Session>> {
        let intact = sums::intact("session", "session");
        query::records(
            &self.connection,
            &format!(
                "SELECT {SESSION}, {intact} FROM session WHERE ?1 IS NULL OR status = ?1
                 ORDER BY created_at DESC, key DESC"
            ),
            [status.map(SessionStatus::as_str)],
            rows::session,
        )
    }

    fn session_counts(&self, id: &SessionId) -> Result<SessionCounts> {
        counts(&self.connection, id)
    }

    fn set_session_status(
        &self,
        id: &SessionId,
        status: SessionStatus,
        now: Timestamp,
    ) -> Result<Session> {
        let ended = (status != SessionStatus::Active).then(|| now.as_micros());
        self.write(|tx| {
            // A change computes a new sum: a damaged record would look sound again.
            get(tx, id)?;
            tx.execute(
                "UPDATE session SET status = ?2, ended_at = ?3 WHERE id = ?1",
                (id.as_str(), status.as_str(), ended),
            )
            .map_err(backend)?;
            get(tx, id)
        })
    }

    fn purge_session(&self, id: &SessionId) -> Result<SessionCounts> {
        self.write(|tx| {
            let counts = counts(tx, id)?;
            let key = session_key(tx, id)?;
            tx.execute("DELETE FROM session WHERE key = ?1", [key]).map_err(backend)?;
            tallies::rebuild(tx)?;
            Ok(counts)
        })
    }
}
