//! The text index over the latest versions of packages, and what ranking needs to know about each: the
//! packed values of [`handover_store::packed`] in tables. And the one over notes, see `notes`.

mod candidates;
pub(crate) mod notes;
mod postings;
mod rebuild;

use std::collections::BTreeSet;

use handover_model::{PackageId, SessionId};
use handover_store::packed::{self, Blocks, Entry, FRESH, Postings};
use handover_store::rows::{Columns, Row};
use handover_store::{IndexError, IndexPart, Reindexed, Result, StoreError, TextIndex};
use handover_text::typos;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

pub(crate) use candidates::slice;
pub(crate) use rebuild::{problems, rebuild};

use crate::{SqliteStore, query, session_key, sums, tallies};

/// In a table without rowids the whole row is the key, and a key that does not fit into a quarter of a
/// leaf (4 KiB) continues on overflow pages, which are read again for every comparison. So sheets are
/// small enough for their candidates to stay on the leaf.
const SHEETS: Blocks = Blocks::sheets(32);

/// The postings of a term that every package of the page has still fit on a leaf.
const PAGES: Blocks = Blocks::pages(128);

/// Adds a package that is being registered to the index of its session.
pub(crate) fn add(tx: &Connection, session: i64, entry: &Entry<'_>) -> Result<()> {
    let predecessor = predecessor(tx, session, entry)?;
    add_after(tx, session, entry, predecessor.as_deref())
}

fn add_after(
    tx: &Connection,
    session: i64,
    entry: &Entry<'_>,
    predecessor: Option<&str>,
) -> Result<()> {
    let terms = entry.terms(predecessor);
    candidates::add(tx, session, entry, &terms)?;
    let sql = "INSERT INTO package_terms (package, terms) VALUES (?1, ?2)";
    query::execute(tx, sql, (entry.id.0, terms.packed()))?;
    let sql = "INSERT INTO fresh_package (session, package) VALUES (?1, ?2)";
    query::execute(tx, sql, (session, entry.id.0))?;
    Ok(())
}

/// Moves fresh packages into the postings once enough have gathered.
pub(crate) fn settle(tx: &Connection, session: i64) -> Result<()> {
    let fresh = fresh(tx, session)?;
    if fresh.len() < FRESH {
        return Ok(());
    }
    postings::add(tx, session, &fresh)?;
    query::execute(tx, "DELETE FROM fresh_package WHERE session = ?1", [session])?;
    Ok(())
}

/// Removes a package from the index.
pub(crate) fn remove(tx: &Connection, session: i64, id: PackageId) -> Result<()> {
    candidates::remove(tx, session, id)?;
    let sql = "DELETE FROM fresh_package WHERE session = ?1 AND package = ?2";
    let was_fresh = query::execute(tx, sql, (session, id.0))?;
    if was_fresh == 0 {
        postings::remove(tx, session, id, &terms_of(tx, id)?)?;
    }
    query::execute(tx, "DELETE FROM package_terms WHERE package = ?1", [id.0])?;
    Ok(())
}

fn terms_of(connection: &Connection, id: PackageId) -> Result<Vec<u8>> {
    let sql = "SELECT terms, sum FROM package_terms WHERE package = ?1";
    let key = [ValueRef::Integer(id.0)];
    let read = |row: &dyn Row| Ok(intact(&mut Columns::of(row), IndexPart::Terms, &key)?.to_vec());
    query::first(connection, sql, [id.0], read)?
        .ok_or(StoreError::Index(IndexError::Missing { package: id }))
}

fn package_and_bytes(row: &dyn Row) -> Result<(PackageId, Vec<u8>)> {
    let mut columns = Columns::of(row);
    let package = PackageId(columns.int()?);
    let key = [ValueRef::Integer(package.0)];
    Ok((package, intact(&mut columns, IndexPart::Terms, &key)?.to_vec()))
}

/// The next column, packed, if it and the key match the sum in the column after it. There are thousands of
/// them in an assembly, so they are not compared by SQLite.
fn intact<'r>(
    columns: &mut Columns<'r>,
    part: IndexPart,
    key: &[ValueRef<'_>],
) -> Result<&'r [u8]> {
    let packed = columns.bytes()?;
    let sum = sums::sum(key.iter().copied().chain([ValueRef::Blob(packed)]));
    match columns.int::<i64>()? == sum {
        true => Ok(packed),
        false => Err(StoreError::Index(IndexError::Damaged { part })),
    }
}

/// The packages that are not in the postings yet, with their terms.
fn fresh(connection: &Connection, session: i64) -> Result<Vec<(PackageId, Vec<u8>)>> {
    query::all(
        connection,
        "SELECT f.package, t.terms, t.sum FROM fresh_package f JOIN package_terms t ON t.package = f.package
         WHERE f.session = ?1 ORDER BY f.package",
        [session],
        package_and_bytes,
    )
}

/// The summary of the package that precedes this one in its group. It is the newest, so none of those
/// that are latest now were superseded before it; [`packed::Predecessors`] finds the same one later.
fn predecessor(tx: &Connection, session: i64, entry: &Entry<'_>) -> Result<Option<String>> {
    let Some(group) = entry.group else { return Ok(None) };
    query::first(
        tx,
        "SELECT summary FROM package WHERE session = ?1 AND ifnull(group_id, '') = ?2
            AND superseded_by IS NULL AND id <> ?3 AND created_at <= ?4
         ORDER BY created_at DESC, id DESC LIMIT 1",
        (session, group.as_str(), entry.id.0, entry.created_at.as_micros()),
        |row| Columns::of(row).text(),
    )
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

    fn words_like(&self, session: &SessionId, word: &str, slips: u32) -> Result<Vec<String>> {
        let session = session_key(&self.connection, session)?;
        let (shortest, longest) = typos::stem_lengths(word, slips);
        let sql = "SELECT DISTINCT term FROM posting_page
             WHERE session = ?1 AND length(term) BETWEEN ?2 AND ?3";
        let mut words: BTreeSet<String> =
            query::all(&self.connection, sql, (session, shortest, longest), |row| {
                Columns::of(row).text()
            })?
            .into_iter()
            .collect();
        packed::fresh_words(&fresh(&self.connection, session)?, &mut words)?;
        Ok(typos::nearest(word, slips, words))
    }

    fn reindex(&self, session: Option<&SessionId>) -> Result<Reindexed> {
        self.write(|tx| {
            let sessions = match session {
                Some(session) => vec![session_key(tx, session)?],
                None => {
                    let sql = "SELECT key FROM session ORDER BY key";
                    query::all(tx, sql, [], |row| Columns::of(row).int())?
                }
            };
            let rebuilt = rebuild(tx, &sessions)?;
            if session.is_none() {
                notes::rebuild(tx)?;
                tallies::rebuild(tx)?;
            }
            Ok(rebuilt)
        })
    }
}
