//! Sessions.

use handover_model::{Session, SessionCounts, SessionId, SessionStatus, Timestamp};
use handover_store::{NewSession, Opened, Result, Sessions, StoreError};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::error::backend;
use crate::{SqliteStore, row, session_key};

const COLUMNS: &str = "id, project, status, metadata, created_at, ended_at";

fn read(r: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: row::parsed(r, "id")?,
        project: row::parsed(r, "project")?,
        status: row::parsed(r, "status")?,
        metadata: row::json(r, "metadata")?,
        created_at: row::time(r, "created_at")?,
        ended_at: row::time_opt(r, "ended_at")?,
    })
}

fn get(connection: &Connection, id: &SessionId) -> Result<Session> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM session WHERE id = ?1"))
        .and_then(|mut s| s.query_row([id.as_str()], read).optional())
        .map_err(backend)?
        .ok_or_else(|| StoreError::not_found("session", id))
}

fn counts(connection: &Connection, id: &SessionId) -> Result<SessionCounts> {
    let key = session_key(connection, id)?;
    connection
        .query_row(
            "SELECT
                (SELECT count(*) FROM task_group WHERE session = ?1) AS groups,
                (SELECT count(*) FROM package WHERE session = ?1 AND superseded_by IS NULL) AS packages,
                (SELECT count(*) FROM package WHERE session = ?1) AS package_versions,
                (SELECT count(*) FROM reasoning WHERE session = ?1) AS reasoning,
                (SELECT count(*) FROM skill_output WHERE session = ?1) AS skill_outputs,
                (SELECT count(*) FROM event WHERE session = ?1) AS events,
                (SELECT count(*) FROM receipt WHERE session = ?1) AS receipts",
            [key],
            |r| {
                Ok(SessionCounts {
                    groups: row::count(r, "groups")?,
                    packages: row::count(r, "packages")?,
                    package_versions: row::count(r, "package_versions")?,
                    reasoning: row::count(r, "reasoning")?,
                    skill_outputs: row::count(r, "skill_outputs")?,
                    events: row::count(r, "events")?,
                    receipts: row::count(r, "receipts")?,
                })
            },
        )
        .map_err(backend)
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
                        row::to_json(new.metadata.value()),
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
        row::all(
            &self.connection,
            &format!(
                "SELECT {COLUMNS} FROM session WHERE ?1 IS NULL OR status = ?1
                 ORDER BY created_at DESC, key DESC"
            ),
            [status.map(SessionStatus::as_str)],
            read,
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
            Ok(counts)
        })
    }
}
