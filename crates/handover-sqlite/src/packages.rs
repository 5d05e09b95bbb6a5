//! Context packages.

use std::collections::BTreeSet;

use handover_model::{Delivery, GroupId, Package, PackageId, PackageKind, Role, SessionId};
use handover_store::packed::Entry;
use handover_store::{
    NewPackage, Outline, PackageFilter, Packages, Registered, Result, Slice, Step, StoreError,
    Versions,
};
use handover_text::Clean;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::connection::fold_log;
use crate::error::backend;
use crate::index;
use crate::{SqliteStore, ensure_group, row, session_key};

/// From this many packages on, a registration leaves a log that is worth folding at once.
const LARGE_BATCH: usize = 100;

/// The columns of a listing. Consumers come as one value, so that a package is one row.
const SELECT: &str = "SELECT p.id, s.id AS session, p.group_id, p.scope, p.kind, p.path, p.title,
        p.summary, p.files, p.producer, p.priority, p.iteration, p.version, p.supersedes,
        p.superseded_by, p.size_bytes, p.tokens, p.content_hash, p.created_at,
        (SELECT json_group_array(role) FROM package_consumer c WHERE c.package = p.id) AS consumers
    FROM package p JOIN session s ON s.key = p.session";

/// Reads a row of [`SELECT`], by number.
fn read(r: &Row<'_>) -> rusqlite::Result<Package> {
    Ok(Package {
        id: PackageId(r.get(0)?),
        session: row::parsed(r, 1)?,
        group: row::parsed_opt(r, 2)?,
        scope: row::parsed(r, 3)?,
        kind: row::parsed(r, 4)?,
        path: r.get(5)?,
        title: r.get(6)?,
        summary: r.get(7)?,
        files: row::list(r, 8)?,
        producer: row::parsed(r, 9)?,
        priority: row::parsed(r, 10)?,
        iteration: r.get(11)?,
        version: r.get(12)?,
        supersedes: r.get::<_, Option<i64>>(13)?.map(PackageId),
        superseded_by: r.get::<_, Option<i64>>(14)?.map(PackageId),
        size_bytes: row::count(r, 15)?,
        tokens: row::count(r, 16)?,
        content_hash: r.get(17)?,
        created_at: row::time(r, 18)?,
        consumers: row::list(r, 19)?,
    })
}

fn get(connection: &Connection, id: PackageId) -> Result<Package> {
    row::all(connection, &format!("{SELECT} WHERE p.id = ?1"), [id.0], read)?
        .pop()
        .ok_or_else(|| StoreError::not_found("package", id))
}

/// The latest package with this session, group, kind and path.
fn at_path(
    connection: &Connection,
    session: i64,
    group: Option<&GroupId>,
    kind: PackageKind,
    path: &str,
) -> Result<Option<Package>> {
    let id: Option<i64> = connection
        .prepare_cached(
            "SELECT id FROM package WHERE session = ?1 AND ifnull(group_id, '') = ?2
                AND kind = ?3 AND path = ?4 AND superseded_by IS NULL",
        )
        .and_then(|mut s| {
            s.query_row((session, group.map_or("", GroupId::as_str), kind.as_str(), path), |r| {
                r.get(0)
            })
            .optional()
        })
        .map_err(backend)?;
    id.map(|id| get(connection, PackageId(id))).transpose()
}

/// Every version of a package's chain, oldest first.
fn history(connection: &Connection, id: PackageId) -> Result<Vec<Package>> {
    row::all(
        connection,
        &format!(
            "WITH RECURSIVE before (id) AS (
                SELECT ?1 UNION SELECT p.supersedes FROM package p JOIN before b ON p.id = b.id
                    WHERE p.supersedes IS NOT NULL
             ), after (id) AS (
                SELECT ?1 UNION SELECT p.superseded_by FROM package p JOIN after a ON p.id = a.id
                    WHERE p.superseded_by IS NOT NULL
             )
             {SELECT} WHERE p.id IN (SELECT id FROM before UNION SELECT id FROM after)
             ORDER BY p.version, p.id"
        ),
        [id.0],
        read,
    )
}

fn register(tx: &Connection, new: &NewPackage) -> Result<Registered> {
    let session = session_key(tx, &new.session)?;
    let same_path = at_path(tx, session, new.group.as_ref(), new.kind, &new.path)?;
    let former = match new.step(same_path, |id| get(tx, id), |id| history(tx, id))? {
        Step::Stay(package) => return Ok(Registered { package, created: false }),
        Step::Write { former } => former,
    };
    let id = insert(tx, session, new, former.as_ref())?;
    Ok(Registered { package: get(tx, id)?, created: true })
}

fn insert(
    tx: &Connection,
    session: i64,
    new: &NewPackage,
    former: Option<&Package>,
) -> Result<PackageId> {
    if let Some(group) = &new.group {
        ensure_group(tx, session, group, new.created_at)?;
    }
    // Out of the unique index of latest versions first; the real id follows below.
    if let Some(former) = former {
        tx.execute("UPDATE package SET superseded_by = id WHERE id = ?1", [former.id.0])
            .map_err(backend)?;
        index::forget(tx, session, former.id)?;
    }
    let version = former.map_or(1, |f| f.version.saturating_add(1));
    let files = row::to_json(&new.files.iter().map(Clean::as_str).collect::<Vec<_>>());
    tx.prepare_cached(
        "INSERT INTO package (session, group_id, scope, kind, path, title, summary, files,
            producer, priority, iteration, version, supersedes, size_bytes, tokens, content_hash,
            created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )
    .and_then(|mut s| {
        s.execute(rusqlite::params![
            session,
            new.group.as_ref().map(GroupId::as_str),
            new.scope.as_str(),
            new.kind.as_str(),
            new.path,
            new.title.as_ref().map(Clean::as_str),
            new.summary.as_str(),
            files,
            new.producer.as_str(),
            new.priority.as_str(),
            new.iteration,
            version,
            former.map(|f| f.id.0),
            new.size_bytes.min(i64::MAX as u64) as i64,
            new.tokens.min(i64::MAX as u64) as i64,
            new.content_hash,
            new.created_at.as_micros(),
        ])
    })
    .map_err(backend)?;
    let id = PackageId(tx.last_insert_rowid());
    if let Some(former) = former {
        tx.execute("UPDATE package SET superseded_by = ?2 WHERE id = ?1", (former.id.0, id.0))
            .map_err(backend)?;
    }
    for role in &new.consumers {
        tx.prepare_cached(
            "INSERT INTO package_consumer (package, role) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )
        .and_then(|mut s| s.execute((id.0, role.as_str())))
        .map_err(backend)?;
    }
    tx.prepare_cached("INSERT INTO package_body (package, body) VALUES (?1, ?2)")
        .and_then(|mut s| s.execute((id.0, new.body.as_str())))
        .map_err(backend)?;
    index::add(tx, session, &Entry::new(id, version, new))?;
    Ok(id)
}

/// Puts every latest package into an index that is empty.
pub(crate) fn index_anew(tx: &Connection) -> Result<()> {
    let sessions = row::all(tx, "SELECT key FROM session", [], |r| r.get::<_, i64>(0))?;
    for session in sessions {
        let ids = row::all(
            tx,
            "SELECT id FROM package WHERE session = ?1 AND superseded_by IS NULL ORDER BY id",
            [session],
            |r| r.get(0).map(PackageId),
        )?;
        for id in ids {
            let (package, body) = (get(tx, id)?, body(tx, id)?);
            index::add(tx, session, &Entry::of(&package, &body))?;
        }
        index::settle(tx, session)?;
    }
    Ok(())
}

fn body(connection: &Connection, id: PackageId) -> Result<String> {
    connection
        .prepare_cached("SELECT body FROM package_body WHERE package = ?1")
        .and_then(|mut s| s.query_row([id.0], |r| r.get(0)).optional())
        .map_err(backend)?
        .ok_or_else(|| StoreError::not_found("package", id))
}

impl Packages for SqliteStore {
    fn register_packages(&self, new: &[NewPackage]) -> Result<Vec<Registered>> {
        let registered = self.write(|tx| {
            let registered: Vec<_> =
                new.iter().map(|package| register(tx, package)).collect::<Result<_>>()?;
            let sessions: BTreeSet<&SessionId> = new.iter().map(|p| &p.session).collect();
            for session in sessions {
                index::settle(tx, session_key(tx, session)?)?;
            }
            Ok(registered)
        })?;
        if new.len() >= LARGE_BATCH && self.connection.is_autocommit() {
            fold_log(&self.connection)?;
        }
        Ok(registered)
    }

    fn package(&self, id: PackageId) -> Result<Package> {
        get(&self.connection, id)
    }

    fn each_package(
        &self,
        session: &SessionId,
        filter: &PackageFilter,
        visit: &mut dyn FnMut(Package),
    ) -> Result<()> {
        let key = session_key(&self.connection, session)?;
        let latest = match filter.versions {
            Versions::Latest => "AND p.superseded_by IS NULL",
            Versions::All => "",
        };
        let group = filter.group.as_ref().map(GroupId::as_str);
        let only = if group.is_some() { "AND p.group_id = ?3" } else { "AND ?3 IS NULL" };
        let at = if filter.path.is_some() { "AND p.path = ?4" } else { "AND ?4 IS NULL" };
        let sql = format!(
            "{SELECT} WHERE p.session = ?1 {latest} {only} {at}
             ORDER BY p.created_at DESC, p.id DESC LIMIT ?2"
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(backend)?;
        let limit = filter.limit.map_or(-1, i64::from);
        let mut rows = statement.query((key, limit, group, &filter.path)).map_err(backend)?;
        while let Some(row) = rows.next().map_err(backend)? {
            visit(read(row).map_err(backend)?);
        }
        Ok(())
    }

    fn outlines(&self, session: &SessionId) -> Result<Vec<Outline>> {
        let key = session_key(&self.connection, session)?;
        row::all(
            &self.connection,
            "SELECT id, ifnull(title, path), producer, version, superseded_by IS NULL, created_at
             FROM package WHERE session = ?1 ORDER BY created_at, id",
            [key],
            |r| {
                Ok(Outline {
                    id: PackageId(r.get(0)?),
                    name: r.get(1)?,
                    producer: row::parsed(r, 2)?,
                    version: r.get(3)?,
                    is_latest: r.get(4)?,
                    created_at: row::time(r, 5)?,
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
        let key = session_key(&self.connection, session)?;
        index::slice(&self.connection, key, group, role, from, enough)
    }

    fn package_history(&self, id: PackageId) -> Result<Vec<Package>> {
        get(&self.connection, id)?;
        history(&self.connection, id)
    }

    fn package_deliveries(&self, id: PackageId) -> Result<Vec<Delivery>> {
        get(&self.connection, id)?;
        row::all(
            &self.connection,
            "SELECT receipt, group_id, role, iteration, version, state, read_at, delivered_at
             FROM consumption WHERE receipt IN
                (SELECT receipt FROM receipt_item WHERE kind = 'package' AND item = ?1)
                AND package = CAST(?1 AS INTEGER)
             ORDER BY delivered_at, receipt",
            [id.0.to_string()],
            |r| {
                Ok(Delivery {
                    receipt: row::parsed(r, "receipt")?,
                    group: row::parsed_opt(r, "group_id")?,
                    role: row::parsed(r, "role")?,
                    iteration: r.get("iteration")?,
                    version: r.get("version")?,
                    state: row::parsed(r, "state")?,
                    read_at: row::time_opt(r, "read_at")?,
                    delivered_at: row::time(r, "delivered_at")?,
                })
            },
        )
    }

    fn package_body(&self, id: PackageId) -> Result<String> {
        body(&self.connection, id)
    }
}
