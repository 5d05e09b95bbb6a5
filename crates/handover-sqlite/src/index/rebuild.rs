//! Rebuilding the index of a session out of its packages, and checking that it is what rebuilding would
//! give.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::PackageId;
use handover_store::packed::{Entry, IndexCheck, Predecessors};
use handover_store::rows::{self, Columns, REGISTRATION};
use handover_store::{Reindexed, Result};
use rusqlite::Connection;

use super::{PAGES, SHEETS, add_after, postings, settle};
use crate::package_rows::{body, get};
use crate::query::{self, Visit};
use crate::sums;

/// The tables of the index and how each names the rows of a session.
const CLEAR: [&str; 4] = [
    "DELETE FROM candidate_sheet WHERE session = ?1",
    "DELETE FROM posting_page WHERE session = ?1",
    "DELETE FROM fresh_package WHERE session = ?1",
    "DELETE FROM package_terms WHERE package IN (SELECT id FROM package WHERE session = ?1)",
];

/// Rebuilds the indexes of sessions, whatever they hold now.
pub(crate) fn rebuild(tx: &Connection, sessions: &[i64]) -> Result<Reindexed> {
    let mut rebuilt = Reindexed::default();
    for &session in sessions {
        for sql in CLEAR {
            query::execute(tx, sql, [session])?;
        }
        for (id, predecessor) in latest(tx, session)? {
            let (package, body) = (get(tx, id)?, body(tx, id)?);
            add_after(tx, session, &Entry::of(&package, &body), predecessor.as_deref())?;
            rebuilt.packages += 1;
        }
        settle(tx, session)?;
        rebuilt.sessions += 1;
    }
    Ok(rebuilt)
}

/// What differs between a session's index and its packages.
pub(crate) fn problems(connection: &Connection, session: i64) -> Result<Vec<String>> {
    let mut check = IndexCheck::new(SHEETS, PAGES);
    let sql = "SELECT sheet, candidates FROM candidate_sheet WHERE session = ?1 ORDER BY sheet";
    query::each(connection, sql, [session], |row| {
        let mut columns = Columns::of(row);
        check.sheet(columns.int()?, columns.bytes()?);
        Ok(Visit::Continue)
    })?;
    let terms = query::all(
        connection,
        "SELECT t.package, t.terms FROM package_terms t JOIN package p ON p.id = t.package
         WHERE p.session = ?1",
        [session],
        |row| {
            let mut columns = Columns::of(row);
            Ok((PackageId(columns.int()?), columns.bytes()?.to_vec()))
        },
    )?;
    for (id, packed) in terms {
        check.terms(id, packed);
    }
    let sql = "SELECT package FROM fresh_package WHERE session = ?1";
    let fresh: BTreeSet<PackageId> =
        query::all(connection, sql, [session], |row| Ok(PackageId(Columns::of(row).int()?)))?
            .into_iter()
            .collect();
    check.postings(&fresh, &postings::all(connection, session)?);
    for (id, predecessor) in latest(connection, session)? {
        let (package, body) = (get(connection, id)?, body(connection, id)?);
        check.package(&Entry::of(&package, &body), predecessor.as_deref());
    }
    Ok(check.finish())
}

/// The latest packages of a session, each with the summary of its predecessor.
fn latest(connection: &Connection, session: i64) -> Result<BTreeMap<PackageId, Option<String>>> {
    let mut predecessors = Predecessors::default();
    let mut latest = BTreeMap::new();
    let intact = sums::intact("package", "package");
    let sql =
        format!("SELECT {REGISTRATION}, {intact} FROM package WHERE session = ?1 ORDER BY id");
    query::each_record(connection, &sql, [session], |row| {
        let (registration, is_latest) = rows::registration(row)?;
        let id = registration.id;
        let predecessor = predecessors.register(registration);
        if is_latest {
            latest.insert(id, predecessor);
        }
        Ok(Visit::Continue)
    })?;
    Ok(latest)
}
