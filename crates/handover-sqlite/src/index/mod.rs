//! The text index over the latest versions of packages, and what ranking needs to know of each: the
//! pages of [`handover_store::packed`] in tables.

mod candidates;
mod postings;

use handover_model::{PackageId, SessionId};
use handover_store::packed::{self, Entry, FRESH, Postings};
use handover_store::{Result, StoreError, TextIndex};
use rusqlite::{Connection, OptionalExtension};

pub(crate) use candidates::{move_to_sheets, slice};

use crate::error::backend;
use crate::{SqliteStore, row, session_key};

/// Puts a package into the index of its session.
pub(crate) fn add(tx: &Connection, session: i64, entry: &Entry<'_>) -> Result<()> {
    let terms = entry.terms(before(tx, session, entry)?.as_deref());
    candidates::add(tx, session, entry, &terms)?;
    tx.prepare_cached("INSERT INTO package_terms (package, terms) VALUES (?1, ?2)")
        .and_then(|mut s| s.execute((entry.id.0, terms.packed())))
        .map_err(backend)?;
    tx.prepare_cached("INSERT INTO fresh_package (session, package) VALUES (?1, ?2)")
        .and_then(|mut s| s.execute((session, entry.id.0)))
        .map_err(backend)?;
    Ok(())
}

/// Moves fresh packages into the postings once enough have gathered.
pub(crate) fn settle(tx: &Connection, session: i64) -> Result<()> {
    let fresh = fresh(tx, session)?;
    if fresh.len() < FRESH {
        return Ok(());
    }
    postings::add(tx, session, &fresh)?;
    tx.prepare_cached("DELETE FROM fresh_package WHERE session = ?1")
        .and_then(|mut s| s.execute([session]))
        .map_err(backend)?;
    Ok(())
}

/// Takes a package out of the index.
pub(crate) fn forget(tx: &Connection, session: i64, id: PackageId) -> Result<()> {
    candidates::remove(tx, session, id)?;
    let was_fresh = tx
        .prepare_cached("DELETE FROM fresh_package WHERE session = ?1 AND package = ?2")
        .and_then(|mut s| s.execute((session, id.0)))
        .map_err(backend)?;
    if was_fresh == 0 {
        postings::remove(tx, session, id, &terms_of(tx, id)?)?;
    }
    tx.prepare_cached("DELETE FROM package_terms WHERE package = ?1")
        .and_then(|mut s| s.execute([id.0]))
        .map_err(backend)?;
    Ok(())
}

/// What is wrong in a session's index.
pub(crate) fn problems(connection: &Connection, session: i64) -> Result<Vec<String>> {
    let latest: Vec<PackageId> = row::all(
        connection,
        "SELECT id FROM package WHERE session = ?1 AND superseded_by IS NULL ORDER BY id",
        [session],
        |r| r.get(0).map(PackageId),
    )?;
    let known = slice(connection, session, None, None, 0, u32::MAX)?;
    let known: Vec<PackageId> = known.candidates.iter().map(|c| c.id).collect();
    let mut problems = Vec::new();
    if known != latest {
        problems.push(format!("{} packages, {} of them indexed", latest.len(), known.len()));
    }
    let fresh: Vec<PackageId> = fresh(connection, session)?.into_iter().map(|f| f.0).collect();
    let mut settled = Vec::new();
    for id in known.into_iter().filter(|id| !fresh.contains(id)) {
        settled.push((id, terms_of(connection, id)?));
    }
    let (expected, found) = (packed::posting_pages(&settled)?, postings::all(connection, session)?);
    if expected != found {
        problems.push("the postings are not those of the packages".to_owned());
    }
    Ok(problems)
}

fn terms_of(connection: &Connection, id: PackageId) -> Result<Vec<u8>> {
    connection
        .prepare_cached("SELECT terms FROM package_terms WHERE package = ?1")
        .and_then(|mut s| s.query_row([id.0], |r| r.get(0)).optional())
        .map_err(backend)?
        .ok_or_else(|| StoreError::damaged("a package has no terms"))
}

/// The packages that are not in the postings yet, with their terms.
fn fresh(connection: &Connection, session: i64) -> Result<Vec<(PackageId, Vec<u8>)>> {
    row::all(
        connection,
        "SELECT f.package, t.terms FROM fresh_package f JOIN package_terms t ON t.package = f.package
         WHERE f.session = ?1 ORDER BY f.package",
        [session],
        |r| Ok((PackageId(r.get(0)?), r.get(1)?)),
    )
}

/// The summary of the package before this one in its group.
fn before(tx: &Connection, session: i64, entry: &Entry<'_>) -> Result<Option<String>> {
    let Some(group) = entry.group else { return Ok(None) };
    tx.prepare_cached(
        "SELECT summary FROM package WHERE session = ?1 AND ifnull(group_id, '') = ?2
            AND superseded_by IS NULL AND id <> ?3 AND created_at <= ?4
         ORDER BY created_at DESC, id DESC LIMIT 1",
    )
    .and_then(|mut s| {
        let at = entry.created_at.as_micros();
        s.query_row((session, group.as_str(), entry.id.0, at), |r| r.get(0)).optional()
    })
    .map_err(backend)
}

impl TextIndex for SqliteStore {
    fn each_postings(
        &self,
        session: &SessionId,
        terms: &[String],
        visit: &mut dyn FnMut(usize, &Postings),
    ) -> Result<()> {
        let session = session_key(&self.connection, session)?;
        let newer = packed::fresh_postings(&fresh(&self.connection, session)?, terms)?;
        postings::each(&self.connection, session, terms, &newer, visit)
    }
}
