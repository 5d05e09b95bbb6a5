//! Events.

use handover_model::{Event, EventId, EventType, GroupId, SessionId};
use handover_store::{EventFilter, EventKey, Events, Logged, NewEvent, Result};
use rusqlite::{OptionalExtension, Row};

use crate::error::backend;
use crate::{SqliteStore, ensure_group, row, session_key};

fn read(session: &SessionId, r: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        id: EventId(r.get("id")?),
        session: session.clone(),
        group: row::parsed_opt(r, "group_id")?,
        kind: row::parsed(r, "type")?,
        payload: row::json(r, "payload")?,
        key: r.get("key")?,
        created_at: row::time(r, "created_at")?,
    })
}

impl Events for SqliteStore {
    fn log_event(&self, new: &NewEvent) -> Result<Logged> {
        let group = new.group.as_ref().map(GroupId::as_str);
        let key = new.key.as_ref().map(|key| key.shown().as_str());
        let key_hash = new.key.as_ref().map(EventKey::hash);
        self.write(|tx| {
            let session = session_key(tx, &new.session)?;
            if let Some(group) = &new.group {
                ensure_group(tx, session, group, new.now)?;
            }
            let inserted: Option<i64> = tx
                .query_row(
                    "INSERT INTO event (session, group_id, type, payload, key, created_at, key_hash)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING RETURNING id",
                    (
                        session,
                        group,
                        new.kind.as_str(),
                        row::to_json(new.payload.value()),
                        key,
                        new.now.as_micros(),
                        key_hash,
                    ),
                    |r| r.get(0),
                )
                .optional()
                .map_err(backend)?;
            if let Some(id) = inserted {
                return Ok(Logged { id: EventId(id), duplicate: false });
            }
            let id = tx
                .query_row(
                    "SELECT id FROM event WHERE session = ?1 AND type = ?2
                        AND ifnull(group_id, '') = ifnull(?3, '') AND key_hash = ?4",
                    (session, new.kind.as_str(), group, key_hash),
                    |r| r.get(0),
                )
                .map_err(backend)?;
            Ok(Logged { id: EventId(id), duplicate: true })
        })
    }

    fn events(&self, session: &SessionId, filter: &EventFilter) -> Result<Vec<Event>> {
        let key = session_key(&self.connection, session)?;
        row::all(
            &self.connection,
            "SELECT * FROM event WHERE session = ?1 AND (?2 IS NULL OR type = ?2)
                    AND (?3 IS NULL OR group_id = ?3)
                 ORDER BY created_at DESC, id DESC LIMIT ?4",
            (
                key,
                filter.kind.as_ref().map(EventType::as_str),
                filter.group.as_ref().map(GroupId::as_str),
                filter.limit.map_or(-1, i64::from),
            ),
            |r| read(session, r),
        )
    }
}
