//! The feed. Triggers write it, so that no write can forget to.

use handover_model::Change;
use handover_store::{Feed, FeedSpan, Result};

use crate::error::backend;
use crate::{SqliteStore, row};

impl Feed for SqliteStore {
    fn changes(&self, after: u64, limit: u32) -> Result<Vec<Change>> {
        row::all(
            &self.connection,
            "SELECT id, kind, project, nullif(session, ''), subject, detail, at FROM change
             WHERE id > ?1 ORDER BY id LIMIT ?2",
            (i64::try_from(after).unwrap_or(i64::MAX), limit),
            |r| {
                Ok(Change {
                    id: row::count(r, 0)?,
                    kind: row::parsed(r, 1)?,
                    project: row::parsed(r, 2)?,
                    session: row::parsed_opt(r, 3)?,
                    subject: r.get(4)?,
                    detail: r.get(5)?,
                    at: row::time(r, 6)?,
                })
            },
        )
    }

    fn feed_span(&self) -> Result<FeedSpan> {
        self.connection
            .prepare_cached(
                "SELECT ifnull(min(id), 0), ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'change'), 0)
                 FROM change",
            )
            .and_then(|mut s| {
                s.query_row([], |r| {
                    let (first, last) = (row::count(r, 0)?, row::count(r, 1)?);
                    Ok(FeedSpan { first: if first == 0 { last + 1 } else { first }, last })
                })
            })
            .map_err(backend)
    }
}
