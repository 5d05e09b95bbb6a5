//! Notes as rows: what learning, changing states and reindexing share.

use handover_model::{Note, NoteId, ProjectId};
use handover_store::rows::{self, NOTE};
use handover_store::{RecordKind, Result, StoreError};
use rusqlite::{Connection, Params};

use crate::{query, sums};

/// Notes with their numbers; the query continues behind `FROM note`.
pub(crate) fn select(
    connection: &Connection,
    rest: &str,
    params: impl Params,
) -> Result<Vec<(i64, Note)>> {
    let intact = sums::intact("note", "note");
    let sql = format!("SELECT {NOTE}, {intact} FROM note {rest}");
    query::records(connection, &sql, params, rows::note)
}

pub(crate) fn get(
    connection: &Connection,
    project: &ProjectId,
    id: &NoteId,
) -> Result<(i64, Note)> {
    let found =
        select(connection, "WHERE project = ?1 AND id = ?2", (project.as_str(), id.as_str()));
    found?.pop().ok_or_else(|| StoreError::not_found(RecordKind::Note, id))
}
