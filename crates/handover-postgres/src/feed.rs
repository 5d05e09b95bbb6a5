//! The feed. Triggers write it, so that no write can forget to.

use handover_model::Change;
use handover_store::{Feed, FeedSpan, Result};

use crate::PostgresStore;
use crate::value::{self, params};

impl Feed for PostgresStore {
    fn changes(&self, after: u64, limit: u32) -> Result<Vec<Change>> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        self.all(
            "SELECT id, kind, project, nullif(session, '') AS session, subject, detail, at FROM change
             WHERE id > $1 ORDER BY id LIMIT $2",
            params![after, i64::from(limit)],
            |r| {
                Ok(Change {
                    id: value::int(r, "id")?,
                    kind: value::parsed(r, "kind")?,
                    project: value::parsed(r, "project")?,
                    session: value::parsed_opt(r, "session")?,
                    subject: value::text(r, "subject")?,
                    detail: value::text(r, "detail")?,
                    at: value::time(r, "at")?,
                })
            },
        )
    }

    fn feed_span(&self) -> Result<FeedSpan> {
        let span = self.first(
            "SELECT coalesce(min(id), 1) AS first, coalesce(max(id), 0) AS last FROM change",
            params![],
            |r| Ok(FeedSpan { first: value::int(r, "first")?, last: value::int(r, "last")? }),
        )?;
        Ok(span.unwrap_or_default())
    }
}
