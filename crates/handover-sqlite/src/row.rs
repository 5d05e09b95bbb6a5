//! Reading columns as our types. A value that we cannot have written is reported as damage.
//!
//! A column is named, or numbered where thousands of rows are read: looking a name up costs as much
//! as reading a short value.

use std::str::FromStr;

use handover_model::Timestamp;
use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Connection, Params, Row, RowIndex};
use serde::de::DeserializeOwned;

use crate::error::backend;

type Result<T> = std::result::Result<T, rusqlite::Error>;

fn damaged(error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error))
}

/// Every row of a query.
pub(crate) fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> Result<T>,
) -> handover_store::Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql).map_err(backend)?;
    let rows = statement.query_map(params, read).map_err(backend)?;
    rows.collect::<Result<_>>().map_err(backend)
}

/// A column that holds the text form of an id or an enum.
pub(crate) fn parsed<T>(row: &Row<'_>, column: impl RowIndex) -> Result<T>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    text(row, column)?.parse().map_err(damaged)
}

/// The same for a column that may be empty.
pub(crate) fn parsed_opt<T>(row: &Row<'_>, column: impl RowIndex) -> Result<Option<T>>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    match row.get_ref(column)?.as_str_or_null().map_err(damaged)? {
        Some(text) => text.parse().map(Some).map_err(damaged),
        None => Ok(None),
    }
}

/// A column that holds JSON.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: impl RowIndex) -> Result<T> {
    serde_json::from_str(text(row, column)?).map_err(damaged)
}

/// A column that holds a JSON list, which is mostly empty.
pub(crate) fn list<T: DeserializeOwned>(row: &Row<'_>, column: impl RowIndex) -> Result<Vec<T>> {
    match text(row, column)? {
        "[]" => Ok(Vec::new()),
        list => serde_json::from_str(list).map_err(damaged),
    }
}

/// A column that holds a time.
pub(crate) fn time(row: &Row<'_>, column: impl RowIndex) -> Result<Timestamp> {
    Ok(Timestamp::from_micros(row.get(column)?))
}

/// The same for a column that may be empty.
pub(crate) fn time_opt(row: &Row<'_>, column: impl RowIndex) -> Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_micros))
}

/// A count.
pub(crate) fn count(row: &Row<'_>, column: impl RowIndex) -> Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| damaged(FromSqlError::OutOfRange(value)))
}

fn text<'r>(row: &'r Row<'_>, column: impl RowIndex) -> Result<&'r str> {
    row.get_ref(column)?.as_str().map_err(damaged)
}

/// A list or map as the text of a JSON column.
pub(crate) fn to_json(value: &impl serde::Serialize) -> String {
    // Our own plain data always serialises.
    serde_json::to_string(value).unwrap_or_default()
}
