//! The operation log.

use handover_model::{NoteId, Operation, OperationId, ProjectId, Timestamp};
use handover_store::rows::{self, OPERATION, to_json};
use handover_store::{NewOperation, OperationFilter, Operations, Result};
use handover_text::Clean;
use rusqlite::Connection;

use crate::{SqliteStore, query, session_key, sums};

/// Deletes the entries about a note that is erased.
pub(crate) fn forget_note(tx: &Connection, project: &ProjectId, id: &NoteId) -> Result<()> {
    // Ids have no characters that JSON escapes.
    let sql = "DELETE FROM operation WHERE project = ?1 AND instr(changes, ?2) > 0";
    query::execute(tx, sql, (project.as_str(), format!("\"{id}\"")))?;
    Ok(())
}

impl Operations for SqliteStore {
    fn log_operation(&self, new: &NewOperation) -> Result<()> {
        self.write(|tx| {
            let session = new.session.as_ref().map(|id| session_key(tx, id)).transpose()?;
            query::execute(
                tx,
                "INSERT INTO operation (id, project, session, action, changes, undoes, trust, author,
                    created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                (
                    new.id.as_str(),
                    new.project.as_str(),
                    session,
                    new.action.as_str(),
                    to_json(new.changes.value()),
                    new.undoes.as_ref().map(OperationId::as_str),
                    new.trust.as_str(),
                    new.author.as_ref().map(Clean::as_str),
                    new.now.as_micros(),
                ),
            )?;
            Ok(())
        })
    }

    fn operations(&self, project: &ProjectId, filter: &OperationFilter) -> Result<Vec<Operation>> {
        let intact = sums::intact("operation", "o");
        let sql = format!(
            "SELECT {OPERATION}, {intact} FROM operation o LEFT JOIN session s ON s.key = o.session
             WHERE o.project = ?1 AND o.created_at >= ?2
             ORDER BY o.created_at DESC, o.id DESC LIMIT ?3"
        );
        let since = filter.since.map_or(i64::MIN, Timestamp::as_micros);
        let limit = filter.limit.map_or(-1, i64::from);
        query::records(&self.connection, &sql, (project.as_str(), since, limit), rows::operation)
    }

    fn drop_operations(&self, project: &ProjectId, before: Timestamp) -> Result<u64> {
        self.write(|tx| {
            let sql = "DELETE FROM operation WHERE project = ?1 AND created_at < ?2";
            Ok(query::execute(tx, sql, (project.as_str(), before.as_micros()))? as u64)
        })
    }
}
