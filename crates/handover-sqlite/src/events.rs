//! Events.

use handover_model::{Event, EventId, EventType, GroupId, SessionId};
use handover_store::rows::{self, Columns, EVENT, to_json};
use handover_store::{EventFilter, EventKey, Events, Logged, NewEvent, Result, StoreError};

use crate::durability::Promise;
use crate::{SqliteStore, ensure_group, query, session_key, sums};

impl Events for SqliteStore {
    fn log_event(&self, new: &NewEvent) -> Result<Logged> {
        let group = new.group.as_ref().map(GroupId::as_str);
        let key = new.key.as_ref().map(|key| key.shown().as_str());
        let key_hash = new.key.as_ref().map(EventKey::hash);
        let promise = match new.kind.is_ending() {
            true => Promise::Synced,
            false => Promise::Committed,
        };
        self.transact(promise, |tx| {
            let session = session_key(tx, &new.session)?;
            if let Some(group) = &new.group {
                ensure_group(tx, session, group, new.now)?;
            }
            let inserted = query::first(
                tx,
                "INSERT INTO event (session, group_id, type, payload, key, created_at, key_hash)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING RETURNING id",
                (
                    session,
                    group,
                    new.kind.as_str(),
                    to_json(new.payload.value()),
                    key,
                    new.now.as_micros(),
                    key_hash,
                ),
                |row| Columns::of(row).int(),
            )?;
            if let Some(id) = inserted {
                return Ok(Logged { id: EventId(id), duplicate: false });
            }
            let id = query::first(
                tx,
                "SELECT id FROM event WHERE session = ?1 AND type = ?2
                        AND ifnull(group_id, '') = ifnull(?3, '') AND key_hash = ?4",
                (session, new.kind.as_str(), group, key_hash),
                |row| Columns::of(row).int(),
            )?;
            let id = id.ok_or_else(|| StoreError::damaged("an event conflicts with none"))?;
            Ok(Logged { id: EventId(id), duplicate: true })
        })
    }

    fn events(&self, session: &SessionId, filter: &EventFilter) -> Result<Vec<Event>> {
        let key = session_key(&self.connection, session)?;
        let intact = sums::intact("event", "event");
        query::records(
            &self.connection,
            &format!(
                "SELECT {EVENT}, {intact} FROM event WHERE session = ?1 AND (?2 IS NULL OR type = ?2)
                    AND (?3 IS NULL OR group_id = ?3)
                 ORDER BY created_at DESC, id DESC LIMIT ?4"
            ),
            (
                key,
                filter.kind.as_ref().map(EventType::as_str),
                filter.group.as_ref().map(GroupId::as_str),
                filter.limit.map_or(-1, i64::from),
            ),
            |row| rows::event(session, row),
        )
    }
}
