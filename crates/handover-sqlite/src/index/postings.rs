//! Pages of postings in their table.

use handover_model::PackageId;
use handover_store::packed::{self, Pages, Postings};
use handover_store::{Posting, Result, StoreError};
use rusqlite::{Connection, OptionalExtension};

use crate::error::backend;

/// Adds packages, in the order of their ids, with their packed terms.
pub(super) fn add(tx: &Connection, session: i64, packages: &[(PackageId, Vec<u8>)]) -> Result<()> {
    for ((term, page), postings) in packed::posting_pages(packages)? {
        let term = text(&term)?;
        let mut all = get(tx, session, term, page)?;
        all.extend_from_slice(&postings);
        put(tx, session, term, page, &all)?;
    }
    Ok(())
}

/// The pages that are there.
pub(super) fn all(connection: &Connection, session: i64) -> Result<Pages> {
    let read = |r: &rusqlite::Row<'_>| {
        let term: String = r.get(0)?;
        Ok(((term.into_bytes(), r.get(1)?), r.get(2)?))
    };
    let rows = crate::row::all(
        connection,
        "SELECT term, page, postings FROM posting_page WHERE session = ?1",
        [session],
        read,
    )?;
    Ok(rows.into_iter().collect())
}

/// Removes a package that has these packed terms.
pub(super) fn remove(tx: &Connection, session: i64, id: PackageId, packed: &[u8]) -> Result<()> {
    let (page, _) = packed::place(id);
    for entry in packed::unpack_terms(packed) {
        let term = text(entry?.term)?;
        let kept = packed::without_posting(&get(tx, session, term, page)?, id)?;
        put(tx, session, term, page, &kept)?;
    }
    Ok(())
}

/// Shows, for each term in order, where it occurs, with what `fresh` adds behind.
pub(super) fn each(
    connection: &Connection,
    session: i64,
    terms: &[String],
    fresh: &[Vec<Posting>],
    visit: &mut dyn FnMut(usize, &Postings),
) -> Result<()> {
    let mut statement = connection
        .prepare_cached(
            "SELECT page, postings FROM posting_page WHERE session = ?1 AND term = ?2 ORDER BY page",
        )
        .map_err(backend)?;
    let mut list = Postings::default();
    for (at_term, (term, newer)) in terms.iter().zip(fresh).enumerate() {
        list.clear();
        let mut rows = statement.query((session, term)).map_err(backend)?;
        while let Some(row) = rows.next().map_err(backend)? {
            let page: i64 = row.get(0).map_err(backend)?;
            let packed = row.get_ref(1).map_err(backend)?;
            let packed = packed.as_blob().map_err(|e| backend(e.into()))?;
            list.push_page(page, packed)?;
        }
        newer.iter().for_each(|posting| list.push(posting));
        visit(at_term, &list);
    }
    Ok(())
}

fn get(tx: &Connection, session: i64, term: &str, page: i64) -> Result<Vec<u8>> {
    let found = tx
        .prepare_cached(
            "SELECT postings FROM posting_page WHERE session = ?1 AND term = ?2 AND page = ?3",
        )
        .and_then(|mut s| s.query_row((session, term, page), |r| r.get(0)).optional())
        .map_err(backend)?;
    Ok(found.unwrap_or_default())
}

fn put(tx: &Connection, session: i64, term: &str, page: i64, packed: &[u8]) -> Result<()> {
    if packed.is_empty() {
        tx.prepare_cached("DELETE FROM posting_page WHERE session = ?1 AND term = ?2 AND page = ?3")
            .and_then(|mut s| s.execute((session, term, page)))
    } else {
        tx.prepare_cached(
            "INSERT INTO posting_page (session, term, page, postings) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET postings = excluded.postings",
        )
        .and_then(|mut s| s.execute((session, term, page, packed)))
    }
    .map_err(backend)?;
    Ok(())
}

fn text(term: &[u8]) -> Result<&str> {
    std::str::from_utf8(term).map_err(|_| StoreError::damaged("a term is no text"))
}
