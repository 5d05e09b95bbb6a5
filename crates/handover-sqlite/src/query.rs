//! Running statements: prepared once per connection, rows read through [`handover_store::rows`].

use std::borrow::Cow;

use handover_store::rows::Row;
use handover_store::{Fault, Result, StoreError};
use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Params};

use crate::error::backend;
use crate::sums;

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
    each_row(connection, sql, params, |row| visit(&SqliteRow(row)))
}

fn each_row(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    mut visit: impl FnMut(&rusqlite::Row<'_>) -> Result<Visit>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(sql).map_err(backend)?;
    let mut rows = statement.query(params).map_err(backend)?;
    while let Some(row) = rows.next().map_err(backend)? {
        if visit(row)? == Visit::Stop {
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

/// Visits records; the last column of the query is [`sums::intact`].
pub(crate) fn each_record(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    mut visit: impl FnMut(&dyn Row) -> Result<Visit>,
) -> Result<()> {
    each_row(connection, sql, params, |row| {
        sums::check(row)?;
        visit(&SqliteRow(row))
    })
}

/// All records of a query, whose last column is [`sums::intact`].
pub(crate) fn records<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    mut read: impl FnMut(&dyn Row) -> Result<T>,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    each_record(connection, sql, params, |row| {
        all.push(read(row)?);
        Ok(Visit::Continue)
    })?;
    Ok(all)
}

/// The first record of a query, whose last column is [`sums::intact`].
pub(crate) fn record<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&dyn Row) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql).map_err(backend)?;
    let mut rows = statement.query(params).map_err(backend)?;
    let Some(row) = rows.next().map_err(backend)? else { return Ok(None) };
    sums::check(row)?;
    read(&SqliteRow(row)).map(Some)
}

/// Changes rows; returns how many.
pub(crate) fn execute(connection: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    connection.prepare_cached(sql).and_then(|mut s| s.execute(params)).map_err(backend)
}

#[cfg(test)]
mod tests {
    use handover_store::rows::Columns;

    use super::*;

    fn memory() -> Connection {
        #[expect(clippy::disallowed_methods, reason = "a database without a file")]
        let connection = Connection::open(":memory:").unwrap();
        connection
            .execute_batch(
                "CREATE TABLE t (id INTEGER, text TEXT, bytes BLOB, real REAL) STRICT;
                 INSERT INTO t VALUES (1, 'a', x'01ff', 0.5), (2, NULL, NULL, NULL), (3, 'c', x'', 2);",
            )
            .unwrap();
        connection
    }

    #[test]
    fn columns_have_their_types() {
        let row = first(&memory(), "SELECT id, text, bytes, real FROM t", [], |row| {
            let mut c = Columns::of(row);
            Ok((c.int::<u8>()?, c.text()?, c.bytes()?.to_vec(), c.real()?))
        });
        assert_eq!(row.unwrap(), Some((1, "a".to_owned(), vec![1, 255], 0.5)));
        let nulls = first(&memory(), "SELECT text, bytes, real FROM t WHERE id = 2", [], |row| {
            Ok((row.text(0)?.is_none(), row.bytes(1)?.is_none(), row.real(2)?.is_none()))
        });
        assert_eq!(nulls.unwrap(), Some((true, true, true)));
    }

    #[test]
    fn another_type_is_damage() {
        let reads: [fn(&dyn Row) -> Result<()>; 4] = [
            |row| row.text(0).map(drop),
            |row| row.int(1).map(drop),
            |row| row.real(1).map(drop),
            |row| row.bytes(1).map(drop),
        ];
        for read in reads {
            let error = first(&memory(), "SELECT id, text FROM t", [], read).unwrap_err();
            assert!(
                matches!(error, StoreError::Backend { fault: Fault::Corrupt, .. }),
                "{error:?}"
            );
        }
    }

    #[test]
    fn visits_until_asked_to_stop() {
        let (connection, mut seen) = (memory(), Vec::new());
        each(&connection, "SELECT id FROM t ORDER BY id", [], |row| {
            let id: i64 = Columns::of(row).int()?;
            seen.push(id);
            Ok(if id == 2 { Visit::Stop } else { Visit::Continue })
        })
        .unwrap();
        assert_eq!(seen, [1, 2]);
        let all = all(&connection, "SELECT id FROM t WHERE id > ?1", [1], |row| {
            Columns::of(row).int::<i64>()
        });
        assert_eq!(all.unwrap(), [2, 3]);
        let none = first(&connection, "SELECT id FROM t WHERE id > 3", [], |_| Ok(()));
        assert_eq!(none.unwrap(), None);
    }

    #[test]
    fn counts_the_rows_that_changed() {
        let connection = memory();
        assert_eq!(execute(&connection, "DELETE FROM t WHERE id < ?1", [3]).unwrap(), 2);
        assert_eq!(execute(&connection, "DELETE FROM t WHERE id < ?1", [3]).unwrap(), 0);
    }
}
