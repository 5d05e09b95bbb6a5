//! Decisions about replacements.

use handover_model::{Amendment, ProjectId};
use handover_store::rows::{self, AMENDMENT};
use handover_store::{Amendments, Result};

use crate::error::backend;
use crate::{SqliteStore, query, sums};

impl Amendments for SqliteStore {
    fn decide_amendment(&self, new: &Amendment) -> Result<()> {
        self.write(|tx| {
            tx.execute(
                "INSERT INTO amendment
                    (project, earlier_kind, earlier, later_kind, later, decision, decided_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (project, earlier_kind, earlier, later_kind, later)
                    DO UPDATE SET decision = excluded.decision, decided_at = excluded.decided_at",
                (
                    new.project.as_str(),
                    new.earlier.kind.as_str(),
                    &new.earlier.id,
                    new.later.kind.as_str(),
                    &new.later.id,
                    new.decision.as_str(),
                    new.decided_at.as_micros(),
                ),
            )
            .map_err(backend)?;
            Ok(())
        })
    }

    fn amendments(&self, project: &ProjectId) -> Result<Vec<Amendment>> {
        let intact = sums::intact("amendment", "amendment");
        let sql = format!(
            "SELECT {AMENDMENT}, {intact} FROM amendment WHERE project = ?1
             ORDER BY decided_at DESC, earlier_kind, earlier, later_kind, later"
        );
        query::records(&self.connection, &sql, [project.as_str()], rows::amendment)
    }
}
