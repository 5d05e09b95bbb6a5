//! Context packages.

use std::collections::BTreeSet;

use handover_model::{
    Delivery, GroupId, Package, PackageId, PackageKind, RecordState, Role, SessionId,
};
use handover_store::packed::Entry;
use handover_store::rows::{self, Columns, DELIVERY, OUTLINE, to_json};
use handover_store::{
    NewPackage, Outline, PackageFilter, Packages, Registered, Result, Slice, Step, StoreError,
    Versions,
};
use handover_text::Clean;
use rusqlite::Connection;

use crate::error::backend;
use crate::file::truncate_log;
use crate::index;
use crate::package_rows::{body, get, select};
use crate::query::Visit;
use crate::{SqliteStore, ensure_group, query, session_key, sums};

/// From this many packages on, a registration leaves a log that is worth folding at once.
const LARGE_BATCH: usize = 100;

/// The latest package with this session, group, kind and path.
fn at_path(
    connection: &Connection,
    session: i64,
    group: Option<&GroupId>,
    kind: PackageKind,
    path: &str,
) -> Result<Option<Package>> {
    let id = query::first(
        connection,
        "SELECT id FROM package WHERE session = ?1 AND ifnull(group_id, '') = ?2
            AND kind = ?3 AND path = ?4 AND superseded_by IS NULL",
        (session, group.map_or("", GroupId::as_str), kind.as_str(), path),
        |row| Columns::of(row).int(),
    )?;
    id.map(|id| get(connection, PackageId(id))).transpose()
}

/// Every version of a package's chain, oldest first.
fn history(connection: &Connection, id: PackageId) -> Result<Vec<Package>> {
    let chain = select(
        "WHERE p.id IN (SELECT id FROM before UNION SELECT id FROM after)
         ORDER BY p.version, p.id",
    );
    query::records(
        connection,
        &format!(
            "WITH RECURSIVE before (id) AS (
                SELECT ?1 UNION SELECT p.supersedes FROM package p JOIN before b ON p.id = b.id
                    WHERE p.supersedes IS NOT NULL
             ), after (id) AS (
                SELECT ?1 UNION SELECT p.superseded_by FROM package p JOIN after a ON p.id = a.id
                    WHERE p.superseded_by IS NOT NULL
             )
             {chain}"
        ),
        [id.0],
        rows::package,
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
        if former.state == RecordState::Live {
            index::remove(tx, session, former.id)?;
        }
    }
    let version = former.map_or(1, |f| f.version.saturating_add(1));
    let files = to_json(&new.files.iter().map(Clean::as_str).collect::<Vec<_>>());
    tx.prepare_cached(
        "INSERT INTO package (session, group_id, scope, kind, path, title, summary, files,
            producer, priority, iteration, version, supersedes, size_bytes, tokens, content_hash,
            created_at, trust)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
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
            new.trust.as_str(),
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

/// Changes the state of a package; whether it belongs into the index now and was not in it.
fn set_state(
    tx: &Connection,
    id: PackageId,
    state: RecordState,
    reason: Option<&str>,
) -> Result<bool> {
    // A change computes a new sum: a damaged record would look sound again.
    let before = get(tx, id)?;
    let sql = "UPDATE package SET state = ?2, reason = ?3 WHERE id = ?1";
    query::execute(tx, sql, (id.0, state.as_str(), reason))?;
    if before.superseded_by.is_some() || before.state == state {
        return Ok(false);
    }
    if state == RecordState::Retired {
        index::remove(tx, session_key(tx, &before.session)?, id)?;
    }
    Ok(state == RecordState::Live)
}

/// What is in no brief that arrived.
const UNDELIVERED: &str = "AND NOT EXISTS (SELECT 1 FROM receipt_item i JOIN receipt r ON r.id = i.receipt
    WHERE i.kind = 'package' AND i.item = CAST(p.id AS TEXT) AND r.state IN ('delivered', 'confirmed'))";

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
            truncate_log(&self.connection)?;
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
        let state = match filter.state {
            Some(RecordState::Live) => "AND p.state = 'live'",
            Some(RecordState::Retired) => "AND p.state = 'retired'",
            None => "",
        };
        let by = if filter.producer.is_some() { "AND p.producer = ?5" } else { "AND ?5 IS NULL" };
        let undelivered = if filter.undelivered { UNDELIVERED } else { "" };
        let sql = select(&format!(
            "WHERE p.session = ?1 {latest} {only} {at} {state} {by} {undelivered}
             ORDER BY p.created_at DESC, p.id DESC LIMIT ?2 OFFSET ?6"
        ));
        let limit = filter.limit.map_or(-1, i64::from);
        let producer = filter.producer.as_ref().map(Role::as_str);
        let params = (key, limit, group, &filter.path, producer, filter.skip);
        query::each_record(&self.connection, &sql, params, |row| {
            visit(rows::package(row)?);
            Ok(Visit::Continue)
        })
    }

    fn outlines(&self, session: &SessionId, limit: Option<u32>) -> Result<Vec<Outline>> {
        let key = session_key(&self.connection, session)?;
        let intact = sums::intact("package", "package");
        let mut newest = query::records(
            &self.connection,
            &format!(
                "SELECT {OUTLINE}, {intact} FROM package WHERE session = ?1
                 ORDER BY created_at DESC, id DESC LIMIT ?2"
            ),
            (key, limit.map_or(-1, i64::from)),
            rows::outline,
        )?;
        newest.reverse();
        Ok(newest)
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

    fn set_package_state(
        &self,
        ids: &[PackageId],
        state: RecordState,
        reason: Option<&Clean>,
    ) -> Result<Vec<Package>> {
        self.write(|tx| {
            let mut sessions = BTreeSet::new();
            for id in ids {
                if set_state(tx, *id, state, reason.map(Clean::as_str))? {
                    sessions.insert(session_key(tx, &get(tx, *id)?.session)?);
                }
            }
            // The index only appends, so a package that returns has its session indexed again.
            index::rebuild(tx, &sessions.into_iter().collect::<Vec<_>>())?;
            ids.iter().map(|id| get(tx, *id)).collect()
        })
    }

    fn delete_packages(&self, ids: &[PackageId]) -> Result<u64> {
        self.write(|tx| {
            let mut sessions = BTreeSet::new();
            for id in ids {
                let package = get(tx, *id)?;
                if package.state == RecordState::Live && package.superseded_by.is_none() {
                    return Err(StoreError::InUse { id: *id });
                }
                sessions.insert(session_key(tx, &package.session)?);
            }
            for id in ids {
                query::execute(tx, "DELETE FROM package WHERE id = ?1", [id.0])?;
            }
            // What follows one of them in its group was indexed with its summary.
            index::rebuild(tx, &sessions.into_iter().collect::<Vec<_>>())?;
            Ok(ids.len() as u64)
        })
    }

    fn package_history(&self, id: PackageId) -> Result<Vec<Package>> {
        get(&self.connection, id)?;
        history(&self.connection, id)
    }

    fn package_deliveries(&self, id: PackageId) -> Result<Vec<Delivery>> {
        get(&self.connection, id)?;
        let (item, receipt) = (sums::intact("receipt_item", "i"), sums::intact("receipt", "r"));
        query::records(
            &self.connection,
            &format!(
                "SELECT {DELIVERY}, {item} AND {receipt} FROM receipt_item i JOIN receipt r ON r.id = i.receipt
                 WHERE i.kind = 'package' AND i.item = ?1 AND r.delivered_at IS NOT NULL
                    AND r.state IN ('delivered', 'confirmed')
                 ORDER BY r.delivered_at, i.receipt"
            ),
            [id.0.to_string()],
            rows::delivery,
        )
    }

    fn package_body(&self, id: PackageId) -> Result<String> {
        body(&self.connection, id)
    }
}
