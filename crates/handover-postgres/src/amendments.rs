//! Decisions about replacements.

use handover_model::{Amendment, ProjectId};
use handover_store::rows::{self, AMENDMENT};
use handover_store::{Amendments, Result};

use crate::PostgresStore;
use crate::value::params;

impl Amendments for PostgresStore {
    fn decide_amendment(&self, new: &Amendment) -> Result<()> {
        self.write(|| {
            self.change(
                "INSERT INTO amendment
                    (project, earlier_kind, earlier, later_kind, later, decision, decided_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7)
                 ON CONFLICT (project, earlier_kind, earlier, later_kind, later)
                    DO UPDATE SET decision = excluded.decision, decided_at = excluded.decided_at",
                params![
                    new.project.as_str(),
                    new.earlier.kind.as_str(),
                    &new.earlier.id,
                    new.later.kind.as_str(),
                    &new.later.id,
                    new.decision.as_str(),
                    new.decided_at,
                ],
            )?;
            Ok(())
        })
    }

    fn amendments(&self, project: &ProjectId) -> Result<Vec<Amendment>> {
        self.all(
            &format!(
                "SELECT {AMENDMENT} FROM amendment WHERE project = $1
                 ORDER BY decided_at DESC, earlier_kind COLLATE \"C\", earlier, later_kind COLLATE \"C\", later"
            ),
            params![project.as_str()],
            rows::amendment,
        )
    }
}
