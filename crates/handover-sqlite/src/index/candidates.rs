//! Pages of candidates in their table.

use handover_model::{GroupId, PackageId, Role};
use handover_store::packed::{self, Entry, Terms};
use handover_store::{Candidate, Result};
use rusqlite::{Connection, OptionalExtension};

use crate::error::backend;

pub(super) fn add(tx: &Connection, session: i64, entry: &Entry<'_>, terms: &Terms) -> Result<()> {
    let (page, _) = packed::place(entry.id);
    let mut packed = get(tx, session, page)?;
    packed::add_candidate(&mut packed, entry, terms);
    put(tx, session, page, &packed)
}

pub(super) fn remove(tx: &Connection, session: i64, id: PackageId) -> Result<()> {
    let (page, _) = packed::place(id);
    let kept = packed::without_candidate(&get(tx, session, page)?, id)?;
    put(tx, session, page, &kept)
}

/// All latest versions of a session, as a role of a group sees them, by id.
pub(crate) fn candidates(
    connection: &Connection,
    session: i64,
    group: Option<&GroupId>,
    role: Option<&Role>,
) -> Result<Vec<Candidate>> {
    let mut statement = connection
        .prepare_cached(
            "SELECT page, candidates FROM candidate_page WHERE session = ?1 ORDER BY page",
        )
        .map_err(backend)?;
    let mut rows = statement.query([session]).map_err(backend)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(backend)? {
        let page: i64 = row.get(0).map_err(backend)?;
        let packed = row.get_ref(1).map_err(backend)?;
        let packed = packed.as_blob().map_err(|e| backend(e.into()))?;
        packed::read_candidates(page, packed, group, role, &mut found)?;
    }
    Ok(found)
}

fn get(tx: &Connection, session: i64, page: i64) -> Result<Vec<u8>> {
    let found = tx
        .prepare_cached("SELECT candidates FROM candidate_page WHERE session = ?1 AND page = ?2")
        .and_then(|mut s| s.query_row((session, page), |r| r.get(0)).optional())
        .map_err(backend)?;
    Ok(found.unwrap_or_default())
}

fn put(tx: &Connection, session: i64, page: i64, packed: &[u8]) -> Result<()> {
    if packed.is_empty() {
        tx.prepare_cached("DELETE FROM candidate_page WHERE session = ?1 AND page = ?2")
            .and_then(|mut s| s.execute((session, page)))
    } else {
        tx.prepare_cached(
            "INSERT INTO candidate_page (session, page, candidates) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET candidates = excluded.candidates",
        )
        .and_then(|mut s| s.execute((session, page, packed)))
    }
    .map_err(backend)?;
    Ok(())
}
