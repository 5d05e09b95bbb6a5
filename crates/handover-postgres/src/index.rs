//! The text index over the latest versions of packages, and what ranking needs to know about each: the
//! packed values of [`handover_store::packed`] in tables. Many of them go to the server in one statement.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::{GroupId, PackageId, Role, SessionId, Timestamp};
use handover_store::packed::{self, Blocks, Entry, FRESH, Pages, Postings};
use handover_store::rows::{self, Columns};
use handover_store::{Candidate, IndexError, Reindexed, Result, StoreError, TextIndex};
use handover_text::typos;
use tokio_postgres::Row;

use crate::link::Statement;
use crate::value::numbers;
use crate::value::{self, Param, PgRow, columns, params, row};
use crate::{OF_SESSION, PostgresStore};

/// How candidates are divided into rows; the same as in the embedded store, as there is no reason to differ.
pub(crate) const SHEETS: Blocks = Blocks::sheets(32);
/// How the postings of a term are divided into rows.
pub(crate) const PAGES: Blocks = Blocks::pages(128);

pub(crate) const SELECT_SHEETS: &str = "SELECT sheet, candidates FROM candidate_sheet";

/// The predecessor of a package in its group.
pub(crate) struct Predecessor {
    pub(crate) created_at: Timestamp,
    pub(crate) summary: String,
}

impl PostgresStore {
    /// Adds packages to the index of their session, given the summary of the predecessor of each. Their
    /// ids are higher than those in the index.
    pub(crate) fn index(
        &self,
        session: i64,
        entries: &[Entry<'_>],
        predecessors: &[Option<String>],
    ) -> Result<()> {
        let mut sheets: BTreeMap<i64, Vec<u8>> = BTreeMap::new();
        let mut packed = Vec::with_capacity(entries.len());
        for (entry, predecessor) in entries.iter().zip(predecessors) {
            let terms = entry.terms(predecessor.as_deref());
            let sheet = sheets.entry(SHEETS.number(entry.id)).or_default();
            packed::add_candidate(sheet, entry, &terms, SHEETS)?;
            packed.push((entry.id.0, terms.packed()));
        }
        let sheets = columns(sheets.iter().map(|(sheet, added)| row![session, *sheet, &added[..]]));
        let terms = columns(packed.iter().map(|(id, terms)| row![session, *id, &terms[..]]));
        self.change_all(&[
            Statement {
                sql: "INSERT INTO candidate_sheet AS c (session, sheet, candidates)
                      SELECT * FROM unnest($1, $2, $3)
                      ON CONFLICT (session, sheet)
                        DO UPDATE SET candidates = c.candidates || substr(excluded.candidates, 2)",
                params: &sheets,
            },
            Statement {
                sql: "WITH n AS (SELECT * FROM unnest($1, $2, $3) AS n (session, package, terms)),
                        kept AS (INSERT INTO package_terms (package, terms)
                            SELECT package, terms FROM n)
                      INSERT INTO fresh_package (session, package) SELECT session, package FROM n",
                params: &terms,
            },
        ])
    }

    /// Moves fresh packages into the postings once there are enough.
    pub(crate) fn settle(&self, session: i64) -> Result<()> {
        let fresh = self.all(
            &format!(
                "{FRESH_TERMS} WHERE f.session = $1
                    AND (SELECT count(*) FROM fresh_package WHERE session = $1) >= $2
                 ORDER BY f.package"
            ),
            params![session, FRESH as i64],
            read_terms,
        )?;
        if fresh.is_empty() {
            return Ok(());
        }
        let pages = packed::posting_pages(&fresh, PAGES)?;
        // Their ids are the highest, so they are appended to the page, without their version byte.
        self.change_all(&[
            Statement {
                sql: "INSERT INTO posting_page AS p (session, term, page, postings)
                      SELECT * FROM unnest($1, $2, $3, $4)
                      ON CONFLICT (session, term, page)
                        DO UPDATE SET postings = p.postings || substr(excluded.postings, 2)",
                params: &posting_columns(session, &pages),
            },
            Statement {
                sql: "DELETE FROM fresh_package WHERE session = $1",
                params: params![session],
            },
        ])
    }

    /// Removes packages from the index.
    pub(crate) fn unindex(&self, session: i64, gone: &[PackageId]) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let sheets: BTreeSet<i64> = gone.iter().map(|id| SHEETS.number(*id)).collect();
        let sheets: Vec<i64> = sheets.into_iter().collect();
        let mut kept = Vec::new();
        for row in self.rows(
            &format!("{SELECT_SHEETS} WHERE session = $1 AND sheet = ANY($2)"),
            params![session, sheets.clone()],
        )? {
            let sheet: i64 = value::int(&row, "sheet")?;
            let mut left = value::bytes(&row, "candidates")?.to_vec();
            for id in gone.iter().filter(|id| SHEETS.number(**id) == sheet) {
                // An empty sheet has nothing left to remove.
                if !left.is_empty() {
                    left = packed::without_candidate(&left, *id, SHEETS)?;
                }
            }
            kept.push((sheet, left));
        }
        let kept = columns(kept.iter().map(|(sheet, left)| row![session, *sheet, &left[..]]));
        let (candidates, empty, fresh) = (
            "UPDATE candidate_sheet s SET candidates = n.candidates
             FROM unnest($1, $2, $3) AS n (session, sheet, candidates)
             WHERE s.session = n.session AND s.sheet = n.sheet",
            "DELETE FROM candidate_sheet WHERE session = $1 AND sheet = ANY($2) AND candidates = ''",
            "DELETE FROM fresh_package WHERE session = $1 AND package = ANY($2) RETURNING package",
        );
        let mut statements = Vec::new();
        if !kept.is_empty() {
            statements.push(Statement { sql: candidates, params: &kept });
        }
        let sheets = params![session, sheets];
        let ids = params![session, numbers(gone)];
        statements.push(Statement { sql: empty, params: sheets });
        statements.push(Statement { sql: fresh, params: ids });
        let were_fresh = self.ask(|link| link.queries(&statements))?.pop().unwrap_or_default();
        let were_fresh: BTreeSet<i64> =
            were_fresh.iter().map(|row| value::int(row, "package")).collect::<Result<_>>()?;
        let settled: Vec<PackageId> =
            gone.iter().copied().filter(|id| !were_fresh.contains(&id.0)).collect();
        self.remove_postings(session, &settled)?;
        self.change("DELETE FROM package_terms WHERE package = ANY($1)", params![numbers(gone)])?;
        Ok(())
    }

    fn remove_postings(&self, session: i64, gone: &[PackageId]) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let terms = self.all(
            "SELECT package, terms FROM package_terms WHERE package = ANY($1) ORDER BY package",
            params![numbers(gone)],
            read_terms,
        )?;
        let known: BTreeSet<PackageId> = terms.iter().map(|(id, _)| *id).collect();
        if let Some(missing) = gone.iter().find(|id| !known.contains(id)) {
            return Err(StoreError::Index(IndexError::Missing { package: *missing }));
        }
        let touched = packed::posting_pages(&terms, PAGES)?;
        let (mut kept, mut empty) = (Pages::new(), Pages::new());
        for row in self.rows(
            "SELECT p.term, p.page, p.postings
             FROM unnest($1, $2, $3, $4) AS n (session, term, page, postings)
                JOIN posting_page p ON p.session = n.session AND p.term = n.term COLLATE \"C\"
                    AND p.page = n.page",
            &posting_columns(session, &touched),
        )? {
            let page = value::int(&row, "page")?;
            let mut left = value::bytes(&row, "postings")?.to_vec();
            for id in gone.iter().filter(|id| PAGES.number(**id) == page) {
                if !left.is_empty() {
                    left = packed::without_posting(&left, *id, PAGES)?;
                }
            }
            let pages = if left.is_empty() { &mut empty } else { &mut kept };
            pages.insert((value::text(&row, "term")?, page), left);
        }
        let (kept, empty) = (posting_columns(session, &kept), posting_columns(session, &empty));
        let statements: [(&str, &[Param<'_>]); 2] = [
            (
                "UPDATE posting_page p SET postings = n.postings
                 FROM unnest($1, $2, $3, $4) AS n (session, term, page, postings)
                 WHERE p.session = n.session AND p.term = n.term COLLATE \"C\" AND p.page = n.page",
                &kept,
            ),
            (
                "DELETE FROM posting_page p
                 USING unnest($1, $2, $3, $4) AS n (session, term, page, postings)
                 WHERE p.session = n.session AND p.term = n.term COLLATE \"C\" AND p.page = n.page",
                &empty,
            ),
        ];
        let statements: Vec<Statement<'_>> = statements
            .into_iter()
            .filter(|(_, params)| !params.is_empty())
            .map(|(sql, params)| Statement { sql, params })
            .collect();
        self.change_all(&statements)
    }

    /// The predecessor of each entry among the stored packages, as if the entries were written one after
    /// the other: anything superseded by an entry or an earlier one does not count. The same result as
    /// [`packed::Predecessors`] computes later.
    pub(crate) fn predecessors(
        &self,
        session: i64,
        entries: &[Entry<'_>],
        formers: &[Option<PackageId>],
    ) -> Result<Vec<Option<Predecessor>>> {
        let mut before: Vec<Option<Predecessor>> = entries.iter().map(|_| None).collect();
        if entries.iter().all(|entry| entry.group.is_none()) {
            return Ok(before);
        }
        let asked = columns(entries.iter().zip(formers).map(|(entry, former)| {
            let group = entry.group.map(GroupId::as_str);
            row![session, group, entry.created_at, entry.id.0, former.map(|former| former.0)]
        }));
        for row in self.rows(
            "SELECT q.place, p.created_at, p.summary
             FROM unnest($1, $2, $3, $4) WITH ORDINALITY
                AS q (session, group_id, created_at, id, place)
             CROSS JOIN LATERAL (
                SELECT created_at, summary FROM package p WHERE p.session = q.session
                    AND coalesce(p.group_id, '') = q.group_id COLLATE \"C\"
                    AND p.superseded_by IS NULL AND p.id <> q.id AND p.created_at <= q.created_at
                    AND coalesce(array_position($5, p.id) > q.place, true)
                ORDER BY p.created_at DESC, p.id DESC LIMIT 1
             ) p",
            &asked,
        )? {
            let place: usize = value::int(&row, "place")?;
            let (created_at, summary) =
                (value::time(&row, "created_at")?, value::text(&row, "summary")?);
            if let Some(slot) = before.get_mut(place - 1) {
                *slot = Some(Predecessor { created_at, summary });
            }
        }
        Ok(before)
    }
}

/// The packages that are not in the postings yet, with their terms.
pub(crate) const FRESH_TERMS: &str = "SELECT f.package, t.terms FROM fresh_package f
    JOIN package_terms t ON t.package = f.package";

pub(crate) fn read_terms(row: &dyn rows::Row) -> Result<(PackageId, Vec<u8>)> {
    let mut columns = Columns::of(row);
    Ok((PackageId(columns.int()?), columns.bytes()?.to_vec()))
}

/// All packages of sheets, as a role of a group sees them.
pub(crate) fn read_sheets(
    sheets: &[Row],
    group: Option<&GroupId>,
    role: Option<&Role>,
) -> Result<Vec<Candidate>> {
    let mut found = Vec::new();
    for row in sheets {
        let (sheet, packed) = (value::int(row, "sheet")?, value::bytes(row, "candidates")?);
        packed::read_candidates(SHEETS.first(sheet), packed, group, role, &mut found)?;
    }
    Ok(found)
}

/// Pages of postings as rows: session, term, page, postings.
fn posting_columns(session: i64, pages: &Pages) -> Vec<Param<'_>> {
    columns(
        pages
            .iter()
            .map(|((term, page), postings)| row![session, term.as_str(), *page, &postings[..]]),
    )
}

impl TextIndex for PostgresStore {
    fn each_postings(
        &self,
        session: &SessionId,
        terms: &[String],
        visit: &mut dyn FnMut(usize, &Postings),
    ) -> Result<()> {
        // One query for all terms: a round trip costs more than the pages.
        let asked = Param::Texts(terms.iter().map(|term| Some(term.as_str().into())).collect());
        let (fresh, postings) = (
            format!("{FRESH_TERMS} WHERE f.{OF_SESSION} ORDER BY f.package"),
            format!(
                "SELECT q.place, p.page, p.postings
                 FROM unnest($2) WITH ORDINALITY AS q (term, place)
                    JOIN posting_page p ON p.{OF_SESSION} AND p.term = q.term COLLATE \"C\"
                 ORDER BY q.place, p.page"
            ),
        );
        let mut answers = self.rows_of(
            session,
            &[
                Statement { sql: &fresh, params: params![session.as_str()] },
                Statement { sql: &postings, params: params![session.as_str(), asked] },
            ],
        )?;
        let (fresh, rows) =
            (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
        let fresh: Vec<_> =
            fresh.iter().map(|row| read_terms(&PgRow(row))).collect::<Result<_>>()?;
        let newer = packed::fresh_postings(&fresh, terms)?;
        let mut rows = rows.iter().peekable();
        let mut list = Postings::default();
        for (at, newer) in newer.iter().enumerate() {
            list.clear();
            while let Some(row) = rows.peek() {
                if value::int::<i64>(row, "place")? != at as i64 + 1 {
                    break;
                }
                let (page, packed) = (value::int(row, "page")?, value::bytes(row, "postings")?);
                list.push_page(PAGES.first(page), packed)?;
                rows.next();
            }
            newer.iter().try_for_each(|posting| list.push(posting)).map_err(StoreError::Index)?;
            visit(at, &list);
        }
        Ok(())
    }

    fn words_like(&self, session: &SessionId, word: &str, slips: u32) -> Result<Vec<String>> {
        let (shortest, longest) = typos::stem_lengths(word, slips);
        let fresh = format!("{FRESH_TERMS} WHERE f.{OF_SESSION} ORDER BY f.package");
        let terms = format!(
            "SELECT DISTINCT term FROM posting_page p
             WHERE p.{OF_SESSION} AND length(term) BETWEEN $2 AND $3"
        );
        let mut answers = self.rows_of(
            session,
            &[
                Statement { sql: &fresh, params: params![session.as_str()] },
                Statement {
                    sql: &terms,
                    params: params![session.as_str(), i64::from(shortest), i64::from(longest)],
                },
            ],
        )?;
        let (fresh, rows) =
            (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
        let fresh: Vec<_> =
            fresh.iter().map(|row| read_terms(&PgRow(row))).collect::<Result<_>>()?;
        let mut words =
            rows.iter().map(|row| value::text(row, "term")).collect::<Result<BTreeSet<_>>>()?;
        packed::fresh_words(&fresh, &mut words)?;
        Ok(typos::nearest(word, slips, words))
    }

    fn reindex(&self, session: Option<&SessionId>) -> Result<Reindexed> {
        self.write(|| {
            let sessions = match session {
                Some(session) => vec![self.session_key(session)?],
                None => self.all("SELECT key FROM session ORDER BY key", &[], |row| {
                    Columns::of(row).int()
                })?,
            };
            let rebuilt = self.rebuild(&sessions)?;
            if session.is_none() {
                self.rebuild_notes()?;
                self.rebuild_tallies()?;
            }
            Ok(rebuilt)
        })
    }
}
