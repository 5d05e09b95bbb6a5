//! Context packages.

use std::collections::BTreeSet;

use handover_model::{Delivery, GroupId, Package, PackageId, PackageKind, Role, SessionId};
use handover_store::packed::Entry;
use handover_store::{
    Candidate, NewPackage, PackageFilter, Packages, Registered, Result, StoreError, Supersede,
    Versions,
};
use handover_text::Clean;
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::value::{self, params};

/// The columns of a listing. Consumers come as one value, so that a package is one row.
const SELECT: &str = "SELECT p.id, s.id AS session, p.group_id, p.scope, p.kind, p.path, p.title,
        p.summary, p.files, p.producer, p.priority, p.iteration, p.version, p.supersedes,
        p.superseded_by, p.size_bytes, p.tokens, p.content_hash, p.created_at,
        (SELECT coalesce(json_agg(role ORDER BY role), '[]')::text FROM package_consumer c
            WHERE c.package = p.id) AS consumers
    FROM package p JOIN session s ON s.key = p.session";

fn read(r: &Row) -> Result<Package> {
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
    /// The latest package with this session, group, kind and path.
    fn at_path(
        &self,
        session: i64,
        group: Option<&GroupId>,
        kind: PackageKind,
        path: &str,
    ) -> Result<Option<Package>> {
        self.first(
            &format!(
                "{SELECT} WHERE p.session = $1 AND coalesce(p.group_id, '') = $2 AND p.kind = $3
                    AND md5(p.path) = md5($4) AND p.path = $4
                    AND p.superseded_by IS NULL"
            ),
            params![session, group.map_or("", GroupId::as_str), kind.as_str(), path],
            read,
        )
    }

    /// Every version of a package's chain, oldest first.
    fn history(&self, id: PackageId) -> Result<Vec<Package>> {
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

    fn register(&self, new: &NewPackage) -> Result<Registered> {
        let session = self.session_key(&new.session)?;
        let same_path = self.at_path(session, new.group.as_ref(), new.kind, &new.path)?;
        let former = match new.supersede {
            Supersede::SamePath => match same_path {
                Some(package) if package.content_hash == new.content_hash => {
                    return Ok(Registered { package, created: false });
                }
                former => former,
            },
            Supersede::Package(id) => {
                let former = self.package(id)?;
                if former.session != new.session {
                    return Err(StoreError::OtherSession { id, session: former.session });
                }
                if former.superseded_by.is_some() {
                    let latest = self.history(id)?.pop().unwrap_or(former);
                    // The same request again: a retry of something that has succeeded.
                    if latest.supersedes == Some(id) && new.says_the_same(&latest) {
                        return Ok(Registered { package: latest, created: false });
                    }
                    return Err(StoreError::AlreadySuperseded { id, latest: latest.id });
                }
                if let Some(other) = same_path
                    && other.id != id
                {
                    return Err(StoreError::PathTaken { path: other.path, id: other.id });
                }
                if new.says_the_same(&former) {
                    return Ok(Registered { package: former, created: false });
                }
                Some(former)
            }
        };
        let id = self.insert(session, new, former.as_ref())?;
        Ok(Registered { package: self.package(id)?, created: true })
    }

    fn insert(
        &self,
        session: i64,
        new: &NewPackage,
        former: Option<&Package>,
    ) -> Result<PackageId> {
        if let Some(group) = &new.group {
            self.ensure_group(session, group, new.created_at)?;
        }
        let set_successor = "UPDATE package SET superseded_by = $2 WHERE id = $1";
        // Out of the unique index of latest versions first; the real id follows below.
        if let Some(former) = former {
            self.change(set_successor, params![former.id.0, former.id.0])?;
            self.forget(session, former.id)?;
        }
        let version = former.map_or(1, |f| f.version.saturating_add(1));
        let id = self.first(
            "INSERT INTO package (session, group_id, scope, kind, path, title, summary, files,
                producer, priority, iteration, version, supersedes, size_bytes, tokens,
                content_hash, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
             RETURNING id",
            params![
                session,
                new.group.as_ref().map(GroupId::as_str),
                new.scope.as_str(),
                new.kind.as_str(),
                &new.path,
                new.title.as_ref().map(Clean::as_str),
                new.summary.as_str(),
                value::to_json(&new.files.iter().map(Clean::as_str).collect::<Vec<_>>()),
                new.producer.as_str(),
                new.priority.as_str(),
                new.iteration,
                version,
                former.map(|f| f.id.0),
                new.size_bytes,
                new.tokens,
                &new.content_hash,
                new.created_at,
            ],
            |r| Ok(PackageId(value::int(r, "id")?)),
        )?;
        let id = id.ok_or_else(|| StoreError::damaged("a package got no id"))?;
        if let Some(former) = former {
            self.change(set_successor, params![former.id.0, id.0])?;
        }
        for role in &new.consumers {
            self.change(
                "INSERT INTO package_consumer (package, role) VALUES ($1, $2)
                 ON CONFLICT DO NOTHING",
                params![id.0, role.as_str()],
            )?;
        }
        self.change(
            "INSERT INTO package_body (package, body) VALUES ($1, $2)",
            params![id.0, new.body.as_str()],
        )?;
        self.index(session, &Entry::new(id, version, new))?;
        Ok(id)
    }
}

impl Packages for PostgresStore {
    fn register_packages(&self, new: &[NewPackage]) -> Result<Vec<Registered>> {
        self.write(|| {
            let registered: Vec<_> =
                new.iter().map(|package| self.register(package)).collect::<Result<_>>()?;
            let sessions: BTreeSet<&SessionId> = new.iter().map(|p| &p.session).collect();
            for session in sessions {
                self.settle(self.session_key(session)?)?;
            }
            Ok(registered)
        })
    }

    fn package(&self, id: PackageId) -> Result<Package> {
        self.first(&format!("{SELECT} WHERE p.id = $1"), params![id.0], read)?
            .ok_or_else(|| StoreError::not_found("package", id))
    }

    fn each_package(
        &self,
        session: &SessionId,
        filter: &PackageFilter,
        visit: &mut dyn FnMut(Package),
    ) -> Result<()> {
        let key = self.session_key(session)?;
        let latest = match filter.versions {
            Versions::Latest => "AND p.superseded_by IS NULL",
            Versions::All => "",
        };
        let rows = self.rows(
            &format!(
                "{SELECT} WHERE p.session = $1 {latest} AND ($3 IS NULL OR p.group_id = $3)
                    AND ($4 IS NULL OR p.path = $4)
                 ORDER BY p.created_at DESC, p.id DESC LIMIT $2"
            ),
            params![key, filter.limit, filter.group.as_ref().map(GroupId::as_str), &filter.path],
        )?;
        for row in &rows {
            visit(read(row)?);
        }
        Ok(())
    }

    fn candidates(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: Option<&Role>,
    ) -> Result<Vec<Candidate>> {
        let key = self.session_key(session)?;
        self.index_candidates(key, group, role)
    }

    fn package_history(&self, id: PackageId) -> Result<Vec<Package>> {
        self.package(id)?;
        self.history(id)
    }

    fn package_deliveries(&self, id: PackageId) -> Result<Vec<Delivery>> {
        self.package(id)?;
        self.all(
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
        )
    }

    fn package_body(&self, id: PackageId) -> Result<String> {
        let sql = "SELECT body FROM package_body WHERE package = $1";
        self.first(sql, params![id.0], |r| value::text(r, "body"))?
            .ok_or_else(|| StoreError::not_found("package", id))
    }
}
