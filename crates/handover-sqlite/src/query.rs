//! Running statements: prepared once per connection, rows read through [`handover_store::rows`].

use std::borrow::Cow;

use handover_store::rows::Row;
use handover_store::{Fault, Result, StoreError};
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Params};

use crate::error::backend;

/// A row of SQLite.
struct SqliteRow<'a, 's>(&'a rusqlite::Row<'s>);

fn damaged(error: FromSqlError) -> StoreError {
    StoreError::Backend { fault: Fault::Corrupt, source: Box::new(error) }
}

impl Row for SqliteRow<'_, '_> {
    fn text(&self, column: usize) -> Result<Option<Cow<'_, str>>> {
        let value = self.0.get_ref(column).map_err(backend)?;
        Ok(value.as_str_or_null().map_err(damaged)?.map(Cow::Borrowed))
    }

    fn int(&self, column: usize) -> Result<Option<i64>> {
        self.0.get_ref(column).map_err(backend)?.as_i64_or_null().map_err(damaged)
    }

    fn real(&self, column: usize) -> Result<Option<f64>> {
        self.0.get_ref(column).map_err(backend)?.as_f64_or_null().map_err(damaged)
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>> {
        self.0.get_ref(column).map_err(backend)?.as_blob_or_null().map_err(damaged)
    }
}

/// Visits the rows of a query until the visitor has seen enough.
pub(crate) fn each(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    mut visit: impl FnMut(&dyn Row) -> Result<Visit>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(sql).map_err(backend)?;
    let mut rows = statement.query(params).map_err(backend)?;
    while let Some(row) = rows.next().map_err(backend)? {
        if visit(&SqliteRow(row))? == Visit::Stop {
            break;
        }
    }
    Ok(())
}

/// Whether a visitor wants the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    Continue,
    Stop,
}

/// All rows of a query.
pub(crate) fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    mut read: impl FnMut(&dyn Row) -> Result<T>,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    each(connection, sql, params, |row| {
        all.push(read(row)?);
        Ok(Visit::Continue)
    })?;
    Ok(all)
}

/// The first row of a query, if it has one.
pub(crate) fn first<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&dyn Row) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql).map_err(backend)?;
    let mut rows = statement.query(params).map_err(backend)?;
    rows.next().map_err(backend)?.map(|row| read(&SqliteRow(row))).transpose()
}

/// Changes rows; returns how many.
pub(crate) fn execute(connection: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    connection.prepare_cached(sql).and_then(|mut s| s.execute(params)).map_err(backend)
}
