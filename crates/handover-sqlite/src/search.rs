//! The full-text index: FTS5 holds the postings, handover-text makes the terms.

use std::fmt::Write;

use handover_model::{PackageId, SessionId};
use handover_store::{Column, IndexSize, NewPackage, Posting, Result, TextIndex};
use handover_text::words;
use rusqlite::{Connection, OptionalExtension};

use crate::error::backend;
use crate::{SqliteStore, row, session_key};

/// Puts a package into the index of its session.
pub(crate) fn index(tx: &Connection, session: i64, id: PackageId, new: &NewPackage) -> Result<()> {
    let title = Terms::new(session, [new.title.as_ref().map_or("", |t| t.as_str())]);
    let summary = Terms::new(session, [new.summary.as_str()]);
    let paths = new.files.iter().map(|f| f.as_str()).chain([new.path.as_str()]);
    let files = Terms::new(session, paths);
    let body = Terms::new(session, [new.body.as_str()]);
    tx.prepare_cached(
        "INSERT INTO package_term (rowid, title, summary, files, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )
    .and_then(|mut s| s.execute((id.0, &title.text, &summary.text, &files.text, &body.text)))
    .map_err(backend)?;
    tx.prepare_cached(
        "INSERT INTO package_term_count (package, title, summary, files, body)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )
    .and_then(|mut s| s.execute((id.0, title.count, summary.count, files.count, body.count)))
    .map_err(backend)?;
    tx.prepare_cached(
        "INSERT INTO index_size (session, packages, title, summary, files, body)
         VALUES (?1, 1, ?2, ?3, ?4, ?5) ON CONFLICT (session) DO UPDATE SET
            packages = packages + 1, title = title + excluded.title,
            summary = summary + excluded.summary, files = files + excluded.files,
            body = body + excluded.body",
    )
    .and_then(|mut s| s.execute((session, title.count, summary.count, files.count, body.count)))
    .map_err(backend)?;
    Ok(())
}

/// Takes a package out of the index.
pub(crate) fn forget(tx: &Connection, session: i64, id: PackageId) -> Result<()> {
    for sql in [
        "UPDATE index_size SET packages = packages - 1, title = index_size.title - c.title,
            summary = index_size.summary - c.summary, files = index_size.files - c.files,
            body = index_size.body - c.body
         FROM package_term_count c WHERE c.package = ?1 AND index_size.session = ?2",
        "DELETE FROM package_term_count WHERE package = ?1 AND ?2",
        "DELETE FROM package_term WHERE rowid = ?1 AND ?2",
    ] {
        tx.prepare_cached(sql).and_then(|mut s| s.execute((id.0, session))).map_err(backend)?;
    }
    Ok(())
}

/// Takes all packages of a session out of the index.
pub(crate) fn forget_session(tx: &Connection, session: i64) -> Result<()> {
    tx.execute(
        "DELETE FROM package_term WHERE rowid IN
            (SELECT id FROM package WHERE session = ?1 AND superseded_by IS NULL)",
        [session],
    )
    .map_err(backend)?;
    Ok(())
}

/// The terms of one column, each with its session's key, as FTS5 takes them.
struct Terms {
    text: String,
    count: i64,
}

impl Terms {
    fn new<'t>(session: i64, texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut terms = Self { text: String::new(), count: 0 };
        for term in texts.into_iter().flat_map(words::terms) {
            let _ = write!(terms.text, "{session}_{term} ");
            terms.count += 1;
        }
        terms
    }
}

fn column(name: &str) -> Option<Column> {
    match name {
        "title" => Some(Column::Title),
        "summary" => Some(Column::Summary),
        "files" => Some(Column::Files),
        "body" => Some(Column::Body),
        _ => None,
    }
}

impl TextIndex for SqliteStore {
    fn index_size(&self, session: &SessionId) -> Result<IndexSize> {
        let key = session_key(&self.connection, session)?;
        let size = self
            .connection
            .prepare_cached(
                "SELECT packages, title, summary, files, body FROM index_size WHERE session = ?1",
            )
            .and_then(|mut s| {
                s.query_row([key], |r| {
                    Ok(IndexSize { packages: row::count(r, "packages")?, terms: counts(r)? })
                })
                .optional()
            })
            .map_err(backend)?;
        Ok(size.unwrap_or_default())
    }

    fn postings(&self, session: &SessionId, terms: &[String]) -> Result<Vec<Vec<Posting>>> {
        let key = session_key(&self.connection, session)?;
        let mut statement = self
            .connection
            .prepare_cached("SELECT doc, col FROM package_posting WHERE term = ?1")
            .map_err(backend)?;
        let mut all = Vec::with_capacity(terms.len());
        for term in terms {
            let mut postings: Vec<Posting> = Vec::new();
            let mut rows = statement.query([format!("{key}_{term}")]).map_err(backend)?;
            // One row per occurrence, in the order of package and column.
            while let Some(r) = rows.next().map_err(backend)? {
                let package = PackageId(r.get(0).map_err(backend)?);
                let name = r.get_ref(1).map_err(backend)?;
                let Some(column) = name.as_str().ok().and_then(column) else {
                    continue;
                };
                match postings.last_mut() {
                    Some(last) if last.package == package && last.column == column => {
                        last.count += 1;
                    }
                    _ => postings.push(Posting { package, column, count: 1 }),
                }
            }
            all.push(postings);
        }
        Ok(all)
    }

    fn term_counts(&self, packages: &[PackageId]) -> Result<Vec<[u64; 4]>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT title, summary, files, body FROM package_term_count WHERE package = ?1",
            )
            .map_err(backend)?;
        packages
            .iter()
            .map(|id| {
                let found = statement.query_row([id.0], counts).optional().map_err(backend)?;
                Ok(found.unwrap_or_default())
            })
            .collect()
    }
}

fn counts(r: &rusqlite::Row<'_>) -> rusqlite::Result<[u64; 4]> {
    Ok([
        row::count(r, "title")?,
        row::count(r, "summary")?,
        row::count(r, "files")?,
        row::count(r, "body")?,
    ])
}
