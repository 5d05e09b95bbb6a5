//! Pages of postings in their table.

use handover_model::PackageId;
use handover_store::packed::{self, Pages, Postings};
use handover_store::rows::{Columns, Row};
use handover_store::{IndexError, IndexPart, Posting, Result, StoreError};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::{PAGES, intact};
use crate::query::{self, Visit};

/// Adds packages, in the order of their ids, with their packed terms.
pub(super) fn add(tx: &Connection, session: i64, packages: &[(PackageId, Vec<u8>)]) -> Result<()> {
    for ((term, page), added) in packed::posting_pages(packages, PAGES)? {
        let merged = match get(tx, session, &term, page)? {
            Some(there) => packed::merge_postings(&there, &added)?,
            None => added,
        };
        put(tx, session, &term, page, &merged)?;
    }
    Ok(())
}

/// All pages of a session.
pub(super) fn all(connection: &Connection, session: i64) -> Result<Pages> {
    let sql = "SELECT term, page, postings FROM posting_page WHERE session = ?1";
    let pages = query::all(connection, sql, [session], |row| {
        let mut columns = Columns::of(row);
        Ok(((columns.text()?, columns.int()?), columns.bytes()?.to_vec()))
    })?;
    Ok(pages.into_iter().collect())
}

/// Removes a package that has these packed terms.
pub(super) fn remove(tx: &Connection, session: i64, id: PackageId, packed: &[u8]) -> Result<()> {
    let page = PAGES.number(id);
    for entry in packed::unpack_terms(packed)? {
        let term = std::str::from_utf8(entry?.term)
            .map_err(|_| StoreError::Index(IndexError::Damaged { part: IndexPart::Terms }))?;
        if let Some(there) = get(tx, session, term, page)? {
            put(tx, session, term, page, &packed::without_posting(&there, id, PAGES)?)?;
        }
    }
    Ok(())
}

/// Visits the postings of each term, in order: those of the pages, then the `fresh` ones.
pub(super) fn each(
    connection: &Connection,
    session: i64,
    terms: &[String],
    fresh: &[Vec<Posting>],
    visit: &mut dyn FnMut(usize, &Postings),
) -> Result<()> {
    let sql = "SELECT page, postings, sum FROM posting_page WHERE session = ?1 AND term = ?2 ORDER BY page";
    let mut list = Postings::default();
    for (at_term, (term, newer)) in terms.iter().zip(fresh).enumerate() {
        list.clear();
        query::each(connection, sql, (session, term), |row| {
            let mut columns = Columns::of(row);
            let page = columns.int()?;
            let packed = intact(&mut columns, IndexPart::Postings, &key(session, term, page))?;
            list.push_page(PAGES.first(page), packed)?;
            Ok(Visit::Continue)
        })?;
        newer.iter().try_for_each(|posting| list.push(posting)).map_err(StoreError::Index)?;
        visit(at_term, &list);
    }
    Ok(())
}

fn key(session: i64, term: &str, page: i64) -> [ValueRef<'_>; 3] {
    [ValueRef::Integer(session), ValueRef::Text(term.as_bytes()), ValueRef::Integer(page)]
}

fn get(tx: &Connection, session: i64, term: &str, page: i64) -> Result<Option<Vec<u8>>> {
    let sql =
        "SELECT postings, sum FROM posting_page WHERE session = ?1 AND term = ?2 AND page = ?3";
    let key = key(session, term, page);
    let read =
        |row: &dyn Row| Ok(intact(&mut Columns::of(row), IndexPart::Postings, &key)?.to_vec());
    query::first(tx, sql, (session, term, page), read)
}

fn put(tx: &Connection, session: i64, term: &str, page: i64, packed: &[u8]) -> Result<()> {
    if packed.is_empty() {
        let sql = "DELETE FROM posting_page WHERE session = ?1 AND term = ?2 AND page = ?3";
        query::execute(tx, sql, (session, term, page))?;
    } else {
        let sql = "INSERT INTO posting_page (session, term, page, postings) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET postings = excluded.postings";
        query::execute(tx, sql, (session, term, page, packed))?;
    }
    Ok(())
}
