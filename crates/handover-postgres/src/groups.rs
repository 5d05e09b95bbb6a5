//! Task groups.

use handover_model::{Group, GroupId, GroupStatus, PackageId, SessionId};
use handover_store::rows::{self, Columns, GROUP, to_json};
use handover_store::{GroupUpdate, Groups, RecordKind, Result, StoreError};
use handover_text::Clean;

use crate::value::numbers;
use crate::value::params;
use crate::{OF_SESSION, PostgresStore};

impl PostgresStore {
    fn list_groups(&self, session: &SessionId, id: Option<&GroupId>) -> Result<Vec<Group>> {
        self.all_of(
            session,
            &format!(
                "SELECT {GROUP},
                (SELECT coalesce(json_agg(package ORDER BY position), '[]')::text
                    FROM group_reference r
                    WHERE r.session = g.session AND r.group_id = g.id),
                (SELECT coalesce(json_object_agg(name, value), '{{}}')::text FROM group_counter c
                    WHERE c.session = g.session AND c.group_id = g.id)
             FROM task_group g WHERE {OF_SESSION} AND ($2 IS NULL OR id = $2)
             ORDER BY created_at, id"
            ),
            params![session.as_str(), id.map(GroupId::as_str)],
            |row| rows::group(session, row),
        )
    }

    fn set_references(&self, session: i64, group: &GroupId, packages: &[PackageId]) -> Result<()> {
        self.change(
            "DELETE FROM group_reference WHERE session = $1 AND group_id = $2",
            params![session, group.as_str()],
        )?;
        let known = self.all(
            "INSERT INTO group_reference (session, group_id, position, package)
             SELECT $1, $2, q.place - 1, p.id FROM unnest($3) WITH ORDINALITY AS q (id, place)
                JOIN package p ON p.id = q.id AND p.session = $1
             RETURNING package",
            params![session, group.as_str(), numbers(packages)],
            |row| Ok(PackageId(Columns::of(row).int()?)),
        )?;
        match packages.iter().find(|package| !known.contains(package)) {
            Some(missing) => Err(StoreError::not_found(RecordKind::SessionPackage, missing)),
            None => Ok(()),
        }
    }
}

impl Groups for PostgresStore {
    fn set_group(&self, update: &GroupUpdate) -> Result<Group> {
        self.write(|| {
            let session = self.session_key(&update.session)?;
            self.ensure_group(session, &update.id, update.now)?;
            let specializations = update
                .specializations
                .as_ref()
                .map(|names| to_json(&names.iter().map(Clean::as_str).collect::<Vec<_>>()));
            self.change(
                "UPDATE task_group SET
                    title = coalesce($3, title), status = coalesce($4, status),
                    specializations = coalesce($5, specializations),
                    component = coalesce($6, component)
                 WHERE session = $1 AND id = $2",
                params![
                    session,
                    update.id.as_str(),
                    update.title.as_ref().map(Clean::as_str),
                    update.status.map(GroupStatus::as_str),
                    specializations,
                    update.component.as_ref().map(Clean::as_str),
                ],
            )?;
            if let Some(packages) = &update.references {
                self.set_references(session, &update.id, packages)?;
            }
            for name in &update.count {
                self.change(
                    "INSERT INTO group_counter AS c (session, group_id, name, value)
                     VALUES ($1, $2, $3, 1)
                     ON CONFLICT (session, group_id, name) DO UPDATE SET value = c.value + 1",
                    params![session, update.id.as_str(), name.as_str()],
                )?;
            }
            self.group(&update.session, &update.id)
        })
    }

    fn group(&self, session: &SessionId, id: &GroupId) -> Result<Group> {
        let found = self.list_groups(session, Some(id))?.pop();
        found.ok_or_else(|| StoreError::not_found(RecordKind::Group, id))
    }

    fn groups(&self, session: &SessionId) -> Result<Vec<Group>> {
        self.list_groups(session, None)
    }
}
