//! The operation log.

use handover_model::{NoteId, Operation, OperationId, ProjectId, Timestamp};
use handover_store::rows::{self, OPERATION, to_json};
use handover_store::{NewOperation, OperationFilter, Operations, Result};
use handover_text::Clean;

use crate::PostgresStore;
use crate::value::params;

impl PostgresStore {
    /// Deletes the entries about a note that is erased.
    pub(crate) fn forget_operations(&self, project: &ProjectId, id: &NoteId) -> Result<()> {
        // Ids have no characters that JSON escapes.
        self.change(
            "DELETE FROM operation WHERE project = $1 AND strpos(changes, $2) > 0",
            params![project.as_str(), format!("\"{id}\"")],
        )?;
        Ok(())
    }
}

impl Operations for PostgresStore {
    fn log_operation(&self, new: &NewOperation) -> Result<()> {
        self.write(|| {
            let session = new.session.as_ref().map(|id| self.session_key(id)).transpose()?;
            self.change(
                "INSERT INTO operation (id, project, session, action, changes, undoes, trust, author,
                    created_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                params![
                    new.id.as_str(),
                    new.project.as_str(),
                    session,
                    new.action.as_str(),
                    to_json(new.changes.value()),
                    new.undoes.as_ref().map(OperationId::as_str),
                    new.trust.as_str(),
                    new.author.as_ref().map(Clean::as_str),
                    new.now,
                ],
            )?;
            Ok(())
        })
    }

    fn operations(&self, project: &ProjectId, filter: &OperationFilter) -> Result<Vec<Operation>> {
        let since = filter.since.map_or(i64::MIN, Timestamp::as_micros);
        self.all(
            &format!(
                "SELECT {OPERATION} FROM operation o LEFT JOIN session s ON s.key = o.session
                 WHERE o.project = $1 AND o.created_at >= $2
                 ORDER BY o.created_at DESC, o.id DESC LIMIT $3"
            ),
            params![project.as_str(), since, filter.limit],
            rows::operation,
        )
    }

    fn drop_operations(&self, project: &ProjectId, before: Timestamp) -> Result<u64> {
        self.write(|| {
            self.change(
                "DELETE FROM operation WHERE project = $1 AND created_at < $2",
                params![project.as_str(), before],
            )
        })
    }
}
