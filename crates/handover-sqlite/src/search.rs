//! The full-text index: FTS5 holds the postings, handover-text makes the terms.

use std::fmt::Write;

use handover_model::{PackageId, SessionId};
use handover_store::{COLUMNS, Column, IndexSize, NewPackage, Posting, Result, TextIndex};
use handover_text::words;
use rusqlite::{Connection, OptionalExtension};

use crate::error::backend;
use crate::{SqliteStore, row, session_key};

/// Puts a package into the index of its session.
pub(crate) fn index(tx: &Connection, session: i64, id: PackageId, new: &NewPackage) -> Result<()> {
    let context = context(tx, session, id, new)?;
    let paths: Vec<&str> =
        new.files.iter().map(|f| f.as_str()).chain([new.path.as_str()]).collect();
    let columns = [
        Terms::new(session, [new.title.as_ref().map_or("", |t| t.as_str())]),
        Terms::new(session, [new.summary.as_str()]),
        Terms::new(session, paths),
        Terms::new(session, [new.body.as_str()]),
        Terms::new(session, [context.as_str()]),
    ];
    let [title, summary, files, body, context] = &columns;
    tx.prepare_cached(
        "INSERT INTO package_term (rowid, title, summary, files, body, context)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .and_then(|mut s| {
        s.execute((id.0, &title.text, &summary.text, &files.text, &body.text, &context.text))
    })
    .map_err(backend)?;
    let counts = (title.count, summary.count, files.count, body.count, context.count);
    let (t, s, f, b, c) = counts;
    tx.prepare_cached(
        "INSERT INTO package_term_count (package, title, summary, files, body, context)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .and_then(|mut statement| statement.execute((id.0, t, s, f, b, c)))
    .map_err(backend)?;
    tx.prepare_cached(
        "INSERT INTO index_size (session, packages, title, summary, files, body, context)
         VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (session) DO UPDATE SET
            packages = packages + 1, title = title + excluded.title,
            summary = summary + excluded.summary, files = files + excluded.files,
            body = body + excluded.body, context = context + excluded.context",
    )
    .and_then(|mut statement| statement.execute((session, t, s, f, b, c)))
    .map_err(backend)?;
    Ok(())
}

/// Where a package stands in its group: its author, its day, and the summary of the package before
/// it. A short note is often only found by what it answers. A package without a group stands alone.
fn context(tx: &Connection, session: i64, id: PackageId, new: &NewPackage) -> Result<String> {
    let Some(group) = &new.group else { return Ok(String::new()) };
    let before: Option<String> = tx
        .prepare_cached(
            "SELECT summary FROM package WHERE session = ?1 AND ifnull(group_id, '') = ?2
                AND superseded_by IS NULL AND id <> ?3 AND created_at <= ?4
             ORDER BY created_at DESC, id DESC LIMIT 1",
        )
        .and_then(|mut s| {
            let at = new.created_at.as_micros();
            s.query_row((session, group.as_str(), id.0, at), |r| r.get(0)).optional()
        })
        .map_err(backend)?;
    let (author, day) = (&new.producer, new.created_at.day_in_words());
    Ok(format!("{author} {day} {}", before.unwrap_or_default()))
}

/// Takes a package out of the index.
pub(crate) fn forget(tx: &Connection, session: i64, id: PackageId) -> Result<()> {
    tx.prepare_cached(
        "UPDATE index_size SET packages = packages - 1, title = index_size.title - c.title,
            summary = index_size.summary - c.summary, files = index_size.files - c.files,
            body = index_size.body - c.body, context = index_size.context - c.context
         FROM package_term_count c WHERE c.package = ?1 AND index_size.session = ?2",
    )
    .and_then(|mut s| s.execute((id.0, session)))
    .map_err(backend)?;
    for sql in [
        "DELETE FROM package_term_count WHERE package = ?1",
        "DELETE FROM package_term WHERE rowid = ?1",
    ] {
        tx.prepare_cached(sql).and_then(|mut s| s.execute([id.0])).map_err(backend)?;
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
        "context" => Some(Column::Context),
        _ => None,
    }
}

impl TextIndex for SqliteStore {
    fn index_size(&self, session: &SessionId) -> Result<IndexSize> {
        let key = session_key(&self.connection, session)?;
        let size = self
            .connection
            .prepare_cached(
                "SELECT packages, title, summary, files, body, context FROM index_size WHERE session = ?1",
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

    fn term_counts(&self, packages: &[PackageId]) -> Result<Vec<[u64; COLUMNS]>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT title, summary, files, body, context FROM package_term_count WHERE package = ?1",
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

fn counts(r: &rusqlite::Row<'_>) -> rusqlite::Result<[u64; COLUMNS]> {
    Ok([
        row::count(r, "title")?,
        row::count(r, "summary")?,
        row::count(r, "files")?,
        row::count(r, "body")?,
        row::count(r, "context")?,
    ])
}
