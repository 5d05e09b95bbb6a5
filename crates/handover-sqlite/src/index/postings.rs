//! Which packages have a term. A page of postings is, for each package in order, its place on the
//! page and its counts.

use std::collections::BTreeMap;

use handover_model::PackageId;
use handover_store::{Posting, Result};
use rusqlite::{Connection, OptionalExtension};

use super::terms::{self, Counts};
use super::{at, place};
use crate::error::{backend, damaged};

/// The packed postings of each page of each term.
type Pages = BTreeMap<(Vec<u8>, i64), Vec<u8>>;

/// Adds packages, in the order of their ids, with their packed terms.
pub(super) fn add(tx: &Connection, session: i64, packages: &[(PackageId, Vec<u8>)]) -> Result<()> {
    for ((term, page), postings) in expected(packages)? {
        let term = text(&term)?;
        let mut all = get(tx, session, term, page)?;
        all.extend_from_slice(&postings);
        put(tx, session, term, page, &all)?;
    }
    Ok(())
}

/// The pages that packages alone would have.
pub(super) fn expected(packages: &[(PackageId, Vec<u8>)]) -> Result<Pages> {
    let mut pages = Pages::new();
    for (id, packed) in packages {
        let (page, local) = place(*id);
        for entry in terms::unpack(packed) {
            let entry = entry?;
            let postings = pages.entry((entry.term.to_vec(), page)).or_default();
            postings.push(local);
            terms::pack(&entry.counts, postings);
        }
    }
    Ok(pages)
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
    let (page, gone) = place(id);
    for entry in terms::unpack(packed) {
        let term = text(entry?.term)?;
        let mut kept = Vec::new();
        for posting in unpack(&get(tx, session, term, page)?) {
            let (local, counts) = posting?;
            if local != gone {
                kept.push(local);
                terms::pack(&counts, &mut kept);
            }
        }
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
    visit: &mut dyn FnMut(usize, &[Posting]),
) -> Result<()> {
    let mut statement = connection
        .prepare_cached(
            "SELECT page, postings FROM posting_page WHERE session = ?1 AND term = ?2 ORDER BY page",
        )
        .map_err(backend)?;
    let mut list = Vec::new();
    for (at_term, (term, newer)) in terms.iter().zip(fresh).enumerate() {
        list.clear();
        let mut rows = statement.query((session, term)).map_err(backend)?;
        while let Some(row) = rows.next().map_err(backend)? {
            let page: i64 = row.get(0).map_err(backend)?;
            let packed = row.get_ref(1).map_err(backend)?;
            let packed = packed.as_blob().map_err(|e| backend(e.into()))?;
            for posting in unpack(packed) {
                let (local, counts) = posting?;
                list.push(Posting { package: at(page, local), counts });
            }
        }
        list.extend_from_slice(newer);
        visit(at_term, &list);
    }
    Ok(())
}

fn unpack(mut packed: &[u8]) -> impl Iterator<Item = Result<(u8, Counts)>> {
    std::iter::from_fn(move || {
        let (local, mut rest) = packed.split_first()?;
        let counts = terms::read(&mut rest);
        packed = if counts.is_some() { rest } else { &[] };
        Some(counts.map(|c| (*local, c)).ok_or_else(|| damaged("a page of postings ends early")))
    })
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
    std::str::from_utf8(term).map_err(|_| damaged("a term is no text"))
}
