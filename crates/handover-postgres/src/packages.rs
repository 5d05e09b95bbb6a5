//! Context packages.

use handover_model::{Delivery, GroupId, Package, PackageId, Role, SessionId};
use handover_store::{
    NewPackage, Outline, PackageFilter, Packages, Registered, Result, Slice, StoreError, Versions,
};
use tokio_postgres::Row;

use crate::index::read_sheets;
use crate::link::Statement;
use crate::register::{batches, numbers};
use crate::value::{self, params};
use crate::{OF_SESSION, PostgresStore};

/// What a candidate takes on its sheet, roughly.
const CANDIDATE_BYTES: i64 = 16;

/// The columns of a listing. Consumers come as one value, so that a package is one row.
const SELECT: &str = "SELECT p.id, s.id AS session, p.group_id, p.scope, p.kind, p.path, p.title,
        p.summary, p.files, p.producer, p.priority, p.iteration, p.version, p.supersedes,
        p.superseded_by, p.size_bytes, p.tokens, p.content_hash, p.created_at,
        (SELECT coalesce(json_agg(role ORDER BY role), '[]')::text FROM package_consumer c
            WHERE c.package = p.id) AS consumers
    FROM package p JOIN session s ON s.key = p.session";

/// The packages with the ids of `$1`, in their order.
pub(crate) fn by_id() -> String {
    format!(
        "{SELECT} JOIN unnest($1) WITH ORDINALITY AS q (id, place) ON q.id = p.id
             ORDER BY q.place"
    )
}

pub(crate) fn read(r: &Row) -> Result<Package> {
    Ok(Package {
        id: PackageId(value::int(r, "id")?),
        session: value::parsed(r, "session")?,
        group: value::parsed_opt(r, "group_id")?,
        scope: value::parsed(r, "scope")?,
        kind: value::parsed(r, "kind")?,
        path: value::text(r, "path")?,
        title: value::text_opt(r, "title")?,
        summary: value::text(r, "summary")?,
        files: value::json(r, "files")?,
        producer: value::parsed(r, "producer")?,
        priority: value::parsed(r, "priority")?,
        iteration: value::int_opt(r, "iteration")?,
        version: value::int(r, "version")?,
        supersedes: value::int_opt(r, "supersedes")?.map(PackageId),
        superseded_by: value::int_opt(r, "superseded_by")?.map(PackageId),
        size_bytes: value::int(r, "size_bytes")?,
        tokens: value::int(r, "tokens")?,
        content_hash: value::text(r, "content_hash")?,
        created_at: value::time(r, "created_at")?,
        consumers: value::json(r, "consumers")?,
    })
}

impl PostgresStore {
    /// Every version of a package's chain, oldest first.
    pub(crate) fn history(&self, id: PackageId) -> Result<Vec<Package>> {
        self.all(
            &format!(
                "WITH RECURSIVE before (id) AS (
                    SELECT $1 UNION SELECT p.supersedes FROM package p JOIN before b ON p.id = b.id
                        WHERE p.supersedes IS NOT NULL
                 ), after (id) AS (
                    SELECT $1 UNION SELECT p.superseded_by FROM package p JOIN after a ON p.id = a.id
                        WHERE p.superseded_by IS NOT NULL
                 )
                 {SELECT} WHERE p.id IN (SELECT id FROM before UNION SELECT id FROM after)
                 ORDER BY p.version, p.id"
            ),
            params![id.0],
            read,
        )
    }
}

impl Packages for PostgresStore {
    fn register_packages(&self, new: &[NewPackage]) -> Result<Vec<Registered>> {
        self.write(|| {
            let mut registered = Vec::with_capacity(new.len());
            for batch in batches(new) {
                registered.extend(self.register(batch)?);
            }
            Ok(registered)
        })
    }

    fn package(&self, id: PackageId) -> Result<Package> {
        self.first(&format!("{SELECT} WHERE p.id = $1"), params![id.0], read)?
            .ok_or_else(|| StoreError::not_found("package", id))
    }

    fn packages_by_id(&self, ids: &[PackageId]) -> Result<Vec<Package>> {
        let found = match ids {
            [] => Vec::new(),
            ids => self.all(&by_id(), params![numbers(ids)], read)?,
        };
        all_there(ids, found, |package| package.id)
    }

    fn each_package(
        &self,
        session: &SessionId,
        filter: &PackageFilter,
        visit: &mut dyn FnMut(Package),
    ) -> Result<()> {
        let latest = match filter.versions {
            Versions::Latest => "AND p.superseded_by IS NULL",
            Versions::All => "",
        };
        let at = match filter.path {
            // By its hash, which has an index.
            Some(_) => "AND md5(p.path) = md5($4) AND p.path = $4",
            None => "AND $4 IS NULL",
        };
        let sql = format!(
            "{SELECT} WHERE p.{OF_SESSION} {latest} AND ($3 IS NULL OR p.group_id = $3) {at}
             ORDER BY p.created_at DESC, p.id DESC LIMIT $2"
        );
        let group = filter.group.as_ref().map(GroupId::as_str);
        let params = params![session.as_str(), filter.limit, group, &filter.path];
        for row in self.rows_of(session, &[Statement { sql: &sql, params }])?.flatten() {
            visit(read(&row)?);
        }
        Ok(())
    }

    fn outlines(&self, session: &SessionId) -> Result<Vec<Outline>> {
        self.all_of(
            session,
            &format!(
                "SELECT id, coalesce(title, path) AS name, producer, version, superseded_by,
                    created_at
                 FROM package WHERE {OF_SESSION} ORDER BY created_at, id"
            ),
            params![session.as_str()],
            |r| {
                Ok(Outline {
                    id: PackageId(value::int(r, "id")?),
                    name: value::text(r, "name")?,
                    producer: value::parsed(r, "producer")?,
                    version: value::int(r, "version")?,
                    is_latest: value::int_opt::<i64>(r, "superseded_by")?.is_none(),
                    created_at: value::time(r, "created_at")?,
                })
            },
        )
    }

    fn slice(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: Option<&Role>,
        from: i64,
        enough: u32,
    ) -> Result<Slice> {
        // How many are on a sheet is known once it is read; its length tells well enough.
        let sql = format!(
            "SELECT sheet, candidates, next
             FROM (SELECT sheet, candidates, lead(sheet) OVER w AS next,
                    sum(octet_length(candidates)) OVER w - octet_length(candidates) AS before
                FROM candidate_sheet WHERE {OF_SESSION} AND sheet >= $2
                WINDOW w AS (ORDER BY sheet)) s
             WHERE before < $3 ORDER BY sheet"
        );
        let params = params![session.as_str(), from, i64::from(enough.max(1)) * CANDIDATE_BYTES];
        let mut answers = self.rows_of(session, &[Statement { sql: &sql, params }])?;
        let rows = answers.next().unwrap_or_default();
        let next = rows.last().map(|last| value::int_opt(last, "next")).transpose()?.flatten();
        Ok(Slice { candidates: read_sheets(&rows, group, role)?, next })
    }

    fn package_history(&self, id: PackageId) -> Result<Vec<Package>> {
        let chain = self.history(id)?;
        if chain.is_empty() { Err(StoreError::not_found("package", id)) } else { Ok(chain) }
    }

    fn package_deliveries(&self, id: PackageId) -> Result<Vec<Delivery>> {
        let deliveries = self.all(
            "SELECT i.receipt, r.group_id, r.role, r.iteration, i.version, r.state, i.read_at,
                r.delivered_at
             FROM receipt_item i JOIN receipt r ON r.id = i.receipt
             WHERE i.kind = 'package' AND i.item = $1 AND r.delivered_at IS NOT NULL
                AND r.state IN ('delivered', 'confirmed')
             ORDER BY r.delivered_at, i.receipt",
            params![id.0.to_string()],
            |r| {
                Ok(Delivery {
                    receipt: value::parsed(r, "receipt")?,
                    group: value::parsed_opt(r, "group_id")?,
                    role: value::parsed(r, "role")?,
                    iteration: value::int(r, "iteration")?,
                    version: value::int(r, "version")?,
                    state: value::parsed(r, "state")?,
                    read_at: value::time_opt(r, "read_at")?,
                    delivered_at: value::time(r, "delivered_at")?,
                })
            },
        )?;
        // What was delivered exists.
        if deliveries.is_empty() {
            self.package(id)?;
        }
        Ok(deliveries)
    }

    fn package_body(&self, id: PackageId) -> Result<String> {
        let sql = "SELECT body FROM package_body WHERE package = $1";
        self.first(sql, params![id.0], |r| value::text(r, "body"))?
            .ok_or_else(|| StoreError::not_found("package", id))
    }

    fn package_bodies(&self, ids: &[PackageId]) -> Result<Vec<String>> {
        let found = match ids {
            [] => Vec::new(),
            ids => self.all(
                "SELECT b.package, b.body FROM package_body b
                    JOIN unnest($1) WITH ORDINALITY AS q (id, place) ON q.id = b.package
                 ORDER BY q.place",
                params![numbers(ids)],
                |r| Ok((PackageId(value::int(r, "package")?), value::text(r, "body")?)),
            )?,
        };
        let bodies = all_there(ids, found, |body| body.0)?;
        Ok(bodies.into_iter().map(|(_, body)| body).collect())
    }
}

/// What was found, if it is what was asked for.
fn all_there<T>(ids: &[PackageId], found: Vec<T>, id: impl Fn(&T) -> PackageId) -> Result<Vec<T>> {
    let mut there = found.iter().map(id);
    match ids.iter().find(|asked| there.next() != Some(**asked)) {
        Some(missing) => Err(StoreError::not_found("package", missing)),
        None => Ok(found),
    }
}
