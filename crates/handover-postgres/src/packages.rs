//! Context packages.

use std::collections::BTreeSet;

use handover_model::{Delivery, GroupId, Package, PackageId, RecordState, Role, SessionId};
use handover_store::rows::{self, Columns, DELIVERY, OUTLINE, PACKAGE};
use handover_store::{
    NewPackage, Outline, PackageFilter, Packages, RecordKind, Registered, Result, Slice,
    StoreError, Versions,
};
use handover_text::Clean;

use crate::batches::batches;
use crate::index::{SHEETS, read_sheets};
use crate::link::Statement;
use crate::value::numbers;
use crate::value::{self, PgRow, params};
use crate::{OF_SESSION, PostgresStore};

/// The approximate size of a candidate.
const CANDIDATE_BYTES: i64 = 16;

/// Reads [`PACKAGE`] and consumers: one row for each package.
fn select(rest: &str) -> String {
    format!(
        "SELECT {PACKAGE},
            (SELECT coalesce(json_agg(role ORDER BY role), '[]')::text FROM package_consumer c
                WHERE c.package = p.id)
         FROM package p JOIN session s ON s.key = p.session {rest}"
    )
}

/// The packages with the ids of `$1`, in their order.
pub(crate) fn by_id() -> String {
    select("JOIN unnest($1) WITH ORDINALITY AS q (id, place) ON q.id = p.id ORDER BY q.place")
}

impl PostgresStore {
    /// Every version of a package's chain, oldest first.
    pub(crate) fn history(&self, id: PackageId) -> Result<Vec<Package>> {
        let chain = select(
            "WHERE p.id IN (SELECT id FROM before UNION SELECT id FROM after)
             ORDER BY p.version, p.id",
        );
        self.all(
            &format!(
                "WITH RECURSIVE before (id) AS (
                    SELECT $1 UNION SELECT p.supersedes FROM package p JOIN before b ON p.id = b.id
                        WHERE p.supersedes IS NOT NULL
                 ), after (id) AS (
                    SELECT $1 UNION SELECT p.superseded_by FROM package p JOIN after a ON p.id = a.id
                        WHERE p.superseded_by IS NOT NULL
                 )
                 {chain}"
            ),
            params![id.0],
            rows::package,
        )
    }
}

/// What is in no brief that arrived.
const UNDELIVERED: &str =
    "AND NOT EXISTS (SELECT 1 FROM receipt_item i JOIN receipt r ON r.id = i.receipt
    WHERE i.kind = 'package' AND i.item = p.id::text AND r.state IN ('delivered', 'confirmed'))";

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
        self.first(&select("WHERE p.id = $1"), params![id.0], rows::package)?
            .ok_or_else(|| StoreError::not_found(RecordKind::Package, id))
    }

    fn packages_by_id(&self, ids: &[PackageId]) -> Result<Vec<Package>> {
        let found = match ids {
            [] => Vec::new(),
            ids => self.all(&by_id(), params![numbers(ids)], rows::package)?,
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
            // The index is on the hash.
            Some(_) => "AND md5(p.path) = md5($4) AND p.path = $4",
            None => "AND $4 IS NULL",
        };
        let state = match filter.state {
            Some(RecordState::Live) => "AND p.state = 'live'",
            Some(RecordState::Retired) => "AND p.state = 'retired'",
            None => "",
        };
        let undelivered = if filter.undelivered { UNDELIVERED } else { "" };
        let sql = select(&format!(
            "WHERE p.{OF_SESSION} {latest} AND ($3 IS NULL OR p.group_id = $3) {at} {state}
                AND ($5 IS NULL OR p.producer = $5) {undelivered}
             ORDER BY p.created_at DESC, p.id DESC LIMIT $2 OFFSET $6"
        ));
        let group = filter.group.as_ref().map(GroupId::as_str);
        let producer = filter.producer.as_ref().map(Role::as_str);
        let params =
            params![session.as_str(), filter.limit, group, &filter.path, producer, filter.skip];
        for row in self.rows_of(session, &[Statement { sql: &sql, params }])?.flatten() {
            visit(rows::package(&PgRow(&row))?);
        }
        Ok(())
    }

    fn outlines(&self, session: &SessionId, limit: Option<u32>) -> Result<Vec<Outline>> {
        let sql = format!(
            "SELECT {OUTLINE} FROM package WHERE {OF_SESSION}
             ORDER BY created_at DESC, id DESC LIMIT $2"
        );
        let mut newest =
            self.all_of(session, &sql, params![session.as_str(), limit], rows::outline)?;
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
        // The number of candidates on a sheet is known only after decoding; its length is a good estimate.
        let sql = format!(
            "SELECT sheet, candidates, next
             FROM (SELECT sheet, candidates, lead(sheet) OVER w AS next,
                    sum(octet_length(candidates)) OVER w - octet_length(candidates) AS before
                FROM candidate_sheet WHERE {OF_SESSION} AND sheet >= $2
                WINDOW w AS (ORDER BY sheet)) s
             WHERE before < $3 ORDER BY sheet"
        );
        let from = SHEETS.number(PackageId(from));
        let params = params![session.as_str(), from, i64::from(enough.max(1)) * CANDIDATE_BYTES];
        let mut answers = self.rows_of(session, &[Statement { sql: &sql, params }])?;
        let rows = answers.next().unwrap_or_default();
        let next = rows.last().map(|last| value::int_opt(last, "next")).transpose()?.flatten();
        let next = next.map(|sheet| SHEETS.first(sheet).0);
        Ok(Slice { candidates: read_sheets(&rows, group, role)?, next })
    }

    fn set_package_state(
        &self,
        ids: &[PackageId],
        state: RecordState,
        reason: Option<&Clean>,
    ) -> Result<Vec<Package>> {
        self.write(|| {
            let before = self.packages_by_id(ids)?;
            self.change(
                "UPDATE package SET state = $2, reason = $3 WHERE id = ANY($1)",
                params![numbers(ids), state.as_str(), reason.map(Clean::as_str)],
            )?;
            let moved =
                before.iter().filter(|one| one.superseded_by.is_none() && one.state != state);
            let mut returned = BTreeSet::new();
            for package in moved {
                let session = self.session_key(&package.session)?;
                match state {
                    RecordState::Retired => self.unindex(session, &[package.id])?,
                    RecordState::Live => {
                        returned.insert(session);
                    }
                }
            }
            // The index only appends, so a package that returns has its session indexed again.
            self.rebuild(&returned.into_iter().collect::<Vec<_>>())?;
            self.packages_by_id(ids)
        })
    }

    fn delete_packages(&self, ids: &[PackageId]) -> Result<u64> {
        self.write(|| {
            let mut sessions = BTreeSet::new();
            for package in self.packages_by_id(ids)? {
                if package.state == RecordState::Live && package.superseded_by.is_none() {
                    return Err(StoreError::InUse { id: package.id });
                }
                sessions.insert(self.session_key(&package.session)?);
            }
            self.change("DELETE FROM package WHERE id = ANY($1)", params![numbers(ids)])?;
            // What follows one of them in its group was indexed with its summary.
            self.rebuild(&sessions.into_iter().collect::<Vec<_>>())?;
            Ok(ids.len() as u64)
        })
    }

    fn package_history(&self, id: PackageId) -> Result<Vec<Package>> {
        let chain = self.history(id)?;
        if chain.is_empty() {
            Err(StoreError::not_found(RecordKind::Package, id))
        } else {
            Ok(chain)
        }
    }

    fn package_deliveries(&self, id: PackageId) -> Result<Vec<Delivery>> {
        let deliveries = self.all(
            &format!(
                "SELECT {DELIVERY} FROM receipt_item i JOIN receipt r ON r.id = i.receipt
                 WHERE i.kind = 'package' AND i.item = $1 AND r.delivered_at IS NOT NULL
                    AND r.state IN ('delivered', 'confirmed')
                 ORDER BY r.delivered_at, i.receipt"
            ),
            params![id.0.to_string()],
            rows::delivery,
        )?;
        // A package that was delivered exists.
        if deliveries.is_empty() {
            self.package(id)?;
        }
        Ok(deliveries)
    }

    fn package_body(&self, id: PackageId) -> Result<String> {
        let sql = "SELECT body FROM package_body WHERE package = $1";
        self.first(sql, params![id.0], |row| Columns::of(row).text())?
            .ok_or_else(|| StoreError::not_found(RecordKind::Package, id))
    }

    fn package_bodies(&self, ids: &[PackageId]) -> Result<Vec<String>> {
        let found = match ids {
            [] => Vec::new(),
            ids => self.all(
                "SELECT b.package, b.body FROM package_body b
                    JOIN unnest($1) WITH ORDINALITY AS q (id, place) ON q.id = b.package
                 ORDER BY q.place",
                params![numbers(ids)],
                |row| {
                    let mut columns = Columns::of(row);
                    Ok((PackageId(columns.int()?), columns.text()?))
                },
            )?,
        };
        let bodies = all_there(ids, found, |body| body.0)?;
        Ok(bodies.into_iter().map(|(_, body)| body).collect())
    }
}

/// The rows that were found, if none is missing.
fn all_there<T>(ids: &[PackageId], found: Vec<T>, id: impl Fn(&T) -> PackageId) -> Result<Vec<T>> {
    let mut there = found.iter().map(id);
    match ids.iter().find(|asked| there.next() != Some(**asked)) {
        Some(missing) => Err(StoreError::not_found(RecordKind::Package, missing)),
        None => Ok(found),
    }
}
