//! The change feed. Triggers write it, so that no write can forget to.

use handover_model::Change;
use handover_store::rows::{self, CHANGE, Columns};
use handover_store::{Feed, FeedSpan, Result};

use crate::{SqliteStore, query};

impl Feed for SqliteStore {
    fn changes(&self, after: u64, limit: u32) -> Result<Vec<Change>> {
        query::all(
            &self.connection,
            &format!("SELECT {CHANGE} FROM change WHERE id > ?1 ORDER BY id LIMIT ?2"),
            (i64::try_from(after).unwrap_or(i64::MAX), limit),
            rows::change,
        )
    }

    fn feed_span(&self) -> Result<FeedSpan> {
        let span = query::first(
            &self.connection,
            "SELECT min(id), ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'change'), 0)
             FROM change",
            [],
            |row| {
                let mut columns = Columns::of(row);
                let (first, last): (Option<u64>, u64) = (columns.int_opt()?, columns.int()?);
                Ok(FeedSpan { first: first.unwrap_or(last + 1), last })
            },
        )?;
        Ok(span.unwrap_or_default())
    }
}
