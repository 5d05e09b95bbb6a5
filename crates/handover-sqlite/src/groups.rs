//! Task groups.

use handover_model::{Group, GroupId, GroupStatus, PackageId, SessionId};
use handover_store::rows::{self, GROUP, to_json};
use handover_store::{GroupUpdate, Groups, RecordKind, Result, StoreError};
use handover_text::Clean;
use rusqlite::Connection;

use crate::error::backend;
use crate::{SqliteStore, ensure_group, query, session_key, sums};

fn list(connection: &Connection, session: &SessionId, id: Option<&GroupId>) -> Result<Vec<Group>> {
    let key = session_key(connection, session)?;
    let (group, reference, counter) = (
        sums::intact("task_group", "g"),
        sums::intact("group_reference", "r"),
        sums::intact("group_counter", "c"),
    );
    query::records(
        connection,
        &format!(
            "SELECT {GROUP},
                (SELECT json_group_array(package) FROM (SELECT package FROM group_reference r
                    WHERE r.session = g.session AND r.group_id = g.id ORDER BY position)),
                (SELECT json_group_object(name, value) FROM group_counter c
                    WHERE c.session = g.session AND c.group_id = g.id),
                {group}
                    AND NOT EXISTS (SELECT 1 FROM group_reference r
                        WHERE r.session = g.session AND r.group_id = g.id AND NOT ({reference}))
                    AND NOT EXISTS (SELECT 1 FROM group_counter c
                        WHERE c.session = g.session AND c.group_id = g.id AND NOT ({counter}))
             FROM task_group g WHERE session = ?1 AND (?2 IS NULL OR id = ?2)
             ORDER BY created_at, id"
        ),
        (key, id.map(GroupId::as_str)),
        |row| rows::group(session, row),
    )
}

fn get(connection: &Connection, session: &SessionId, id: &GroupId) -> Result<Group> {
    list(connection, session, Some(id))?
        .pop()
        .ok_or_else(|| StoreError::not_found(RecordKind::Group, id))
}

fn set_references(
    tx: &Connection,
    session: i64,
    group: &GroupId,
    packages: &[PackageId],
) -> Result<()> {
    tx.execute(
        "DELETE FROM group_reference WHERE session = ?1 AND group_id = ?2",
        (session, group.as_str()),
    )
    .map_err(backend)?;
    for (position, package) in packages.iter().enumerate() {
        let inserted = tx
            .execute(
                "INSERT INTO group_reference (session, group_id, position, package)
                 SELECT ?1, ?2, ?3, id FROM package WHERE id = ?4 AND session = ?1",
                (session, group.as_str(), position as i64, package.0),
            )
            .map_err(backend)?;
        if inserted == 0 {
            return Err(StoreError::not_found(RecordKind::SessionPackage, package));
        }
    }
    Ok(())
}

impl Groups for SqliteStore {
    fn set_group(&self, update: &GroupUpdate) -> Result<Group> {
        self.write(|tx| {
            let session = session_key(tx, &update.session)?;
            ensure_group(tx, session, &update.id, update.now)?;
            // A change computes a new sum: a damaged record would look sound again.
            get(tx, &update.session, &update.id)?;
            let specializations = update
                .specializations
                .as_ref()
                .map(|names| to_json(&names.iter().map(Clean::as_str).collect::<Vec<_>>()));
            tx.execute(
                "UPDATE task_group SET
                    title = coalesce(?3, title), status = coalesce(?4, status),
                    specializations = coalesce(?5, specializations),
                    component = coalesce(?6, component)
                 WHERE session = ?1 AND id = ?2",
                (
                    session,
                    update.id.as_str(),
                    update.title.as_ref().map(Clean::as_str),
                    update.status.map(GroupStatus::as_str),
                    specializations,
                    update.component.as_ref().map(Clean::as_str),
                ),
            )
            .map_err(backend)?;
            if let Some(packages) = &update.references {
                set_references(tx, session, &update.id, packages)?;
            }
            for name in &update.count {
                tx.execute(
                    "INSERT INTO group_counter (session, group_id, name, value)
                     VALUES (?1, ?2, ?3, 1) ON CONFLICT DO UPDATE SET value = value + 1",
                    (session, update.id.as_str(), name.as_str()),
                )
                .map_err(backend)?;
            }
            get(tx, &update.session, &update.id)
        })
    }

    fn group(&self, session: &SessionId, id: &GroupId) -> Result<Group> {
        get(&self.connection, session, id)
    }

    fn groups(&self, session: &SessionId) -> Result<Vec<Group>> {
        list(&self.connection, session, None)
    }
}
