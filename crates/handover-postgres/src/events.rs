//! Events.

use handover_model::{Event, EventId, EventType, GroupId, SessionId};
use handover_store::rows::{self, Columns, EVENT, to_json};
use handover_store::{EventFilter, EventKey, Events, Logged, NewEvent, Result, StoreError};

use crate::value::params;
use crate::{OF_SESSION, PostgresStore};

impl Events for PostgresStore {
    fn log_event(&self, new: &NewEvent) -> Result<Logged> {
        let group = new.group.as_ref().map(GroupId::as_str);
        let key = new.key.as_ref().map(|key| key.shown().as_str());
        let key_hash = new.key.as_ref().map(EventKey::hash);
        self.write(|| {
            let session = self.session_key(&new.session)?;
            if let Some(group) = &new.group {
                self.ensure_group(session, group, new.now)?;
            }
            if key_hash.is_some() {
                let there = self.first(
                    "SELECT id FROM event WHERE session = $1 AND type = $2
                        AND coalesce(group_id, '') = coalesce($3, '') AND key_hash = $4",
                    params![session, new.kind.as_str(), group, key_hash],
                    |row| Columns::of(row).int(),
                )?;
                if let Some(id) = there {
                    return Ok(Logged { id: EventId(id), duplicate: true });
                }
            }
            let id = self.first(
                "INSERT INTO event (session, group_id, type, payload, key, created_at, key_hash)
                 VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id",
                params![
                    session,
                    group,
                    new.kind.as_str(),
                    to_json(new.payload.value()),
                    key,
                    new.now,
                    key_hash,
                ],
                |row| Columns::of(row).int(),
            )?;
            let id = id.ok_or_else(|| StoreError::damaged("an event got no id"))?;
            Ok(Logged { id: EventId(id), duplicate: false })
        })
    }

    fn events(&self, session: &SessionId, filter: &EventFilter) -> Result<Vec<Event>> {
        self.all_of(
            session,
            &format!(
                "SELECT {EVENT} FROM event WHERE {OF_SESSION} AND ($2 IS NULL OR type = $2)
                    AND ($3 IS NULL OR group_id = $3)
                 ORDER BY created_at DESC, id DESC LIMIT $4"
            ),
            params![
                session.as_str(),
                filter.kind.as_ref().map(EventType::as_str),
                filter.group.as_ref().map(GroupId::as_str),
                filter.limit,
            ],
            |row| rows::event(session, row),
        )
    }
}
