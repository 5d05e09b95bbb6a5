//! The change feed. Triggers write it, so that no write can skip it.

use handover_model::Change;
use handover_store::rows::{self, CHANGE, Columns};
use handover_store::{Feed, FeedSpan, Result};

use crate::PostgresStore;
use crate::value::params;

impl Feed for PostgresStore {
    fn changes(&self, after: u64, limit: u32) -> Result<Vec<Change>> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let sql = format!("SELECT {CHANGE} FROM change WHERE id > $1 ORDER BY id LIMIT $2");
        self.all(&sql, params![after, i64::from(limit)], rows::change)
    }

    fn feed_span(&self) -> Result<FeedSpan> {
        let span = self.first(
            "SELECT coalesce(min(id), 1) AS first, coalesce(max(id), 0) AS last FROM change",
            params![],
            |row| {
                let mut columns = Columns::of(row);
                Ok(FeedSpan { first: columns.int()?, last: columns.int()? })
            },
        )?;
        Ok(span.unwrap_or_default())
    }
}
