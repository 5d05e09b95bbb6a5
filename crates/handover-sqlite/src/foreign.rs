//! Databases of other programs, read as they are: rows of named columns, whatever their format.

use std::collections::BTreeMap;
use std::path::Path;

use handover_store::archive::Value;
use handover_store::{Result, StoreError};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

use crate::error::backend;

/// A database of another program. Reading may leave files beside it: open a copy.
#[derive(Debug)]
pub struct ForeignDatabase {
    connection: Connection,
}

/// A row: what each column holds.
pub type ForeignRow = BTreeMap<String, Value>;

/// What could be read of a table.
#[derive(Debug, Default)]
pub struct ForeignTable {
    /// The rows, in the order in which they were written.
    pub rows: Vec<ForeignRow>,
    /// Why the rest could not be read, if something is broken.
    pub broken: Option<String>,
}

impl ForeignDatabase {
    /// Opens a file that is a SQLite database and has this table.
    pub fn open(path: &Path, table: &str) -> Result<Self> {
        let foreign = || StoreError::Foreign { path: path.to_owned() };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        #[expect(clippy::disallowed_methods, reason = "this crate opens databases")]
        let connection = Connection::open_with_flags(path, flags).map_err(backend)?;
        let database = Self { connection };
        match database.columns(table) {
            Ok(columns) if columns.is_empty() => Err(foreign()),
            Ok(_) => Ok(database),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
                Err(foreign())
            }
            Err(error) => Err(backend(error)),
        }
    }

    /// The rows of a table; none if there is no such table.
    pub fn table(&self, name: &str) -> ForeignTable {
        let mut table = ForeignTable::default();
        if let Err(error) = self.read(name, &mut table.rows) {
            table.broken = Some(error.to_string());
        }
        table
    }

    fn read(&self, name: &str, rows: &mut Vec<ForeignRow>) -> rusqlite::Result<()> {
        let columns = self.columns(name)?;
        if columns.is_empty() {
            return Ok(());
        }
        let mut statement =
            self.connection.prepare(&format!("SELECT * FROM {name} ORDER BY rowid"))?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let values = columns.iter().enumerate();
            rows.push(
                values
                    .map(|(at, column)| Ok((column.clone(), value(row, at)?)))
                    .collect::<rusqlite::Result<_>>()?,
            );
        }
        Ok(())
    }

    fn columns(&self, table: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
        statement.query_map([table], |row| row.get(0))?.collect()
    }
}

fn value(row: &Row<'_>, at: usize) -> rusqlite::Result<Value> {
    Ok(match row.get_ref(at)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Bytes(text.to_vec()),
        },
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(sql: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("theirs.db");
        #[expect(clippy::disallowed_methods, reason = "the test plays the other program")]
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        (folder, path)
    }

    #[test]
    fn rows_are_read_whatever_their_types() {
        let (_folder, path) = database(
            "CREATE TABLE sessions (id, what);
             INSERT INTO sessions VALUES (2, 'b'), (1, NULL), (0.5, x'01'), ('x', CAST(x'ff' AS TEXT));",
        );
        let found = ForeignDatabase::open(&path, "sessions").unwrap().table("sessions");
        assert_eq!(found.broken, None);
        let what = |n: usize| (found.rows[n]["id"].clone(), found.rows[n]["what"].clone());
        assert_eq!(what(0), (Value::Int(2), Value::Text("b".to_owned())));
        assert_eq!(what(1), (Value::Int(1), Value::Null));
        assert_eq!(what(2), (Value::Real(0.5), Value::Bytes(vec![1])));
        // A text that is not UTF-8 is bytes.
        assert_eq!(what(3), (Value::Text("x".to_owned()), Value::Bytes(vec![255])));
    }

    #[test]
    fn a_damaged_table_has_the_rows_that_can_be_read() {
        let (folder, path) = database(
            "CREATE TABLE sessions (id, what);
             WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400)
             INSERT INTO sessions SELECT n, printf('%.500c', 'x') FROM n;",
        );
        let whole = fs_err::read(&path).unwrap();
        let broken = folder.path().join("broken.db");
        for part in 3..8 {
            let mut bytes = whole.clone();
            let at = bytes.len() * part / 10 / 4096 * 4096;
            bytes[at..at + 4096].fill(0xff);
            fs_err::write(&broken, bytes).unwrap();
            let found = ForeignDatabase::open(&broken, "sessions").unwrap().table("sessions");
            assert!(found.broken.is_some(), "{part}");
            assert!((1..400).contains(&found.rows.len()), "{part}: {}", found.rows.len());
            for (row, number) in found.rows.iter().zip(1..) {
                assert_eq!(row["id"], Value::Int(number), "in their order, without a gap");
            }
        }
    }

    #[test]
    fn a_name_is_never_a_statement() {
        let (_folder, path) =
            database("CREATE TABLE sessions (id); INSERT INTO sessions VALUES (1)");
        let database = ForeignDatabase::open(&path, "sessions").unwrap();
        let hostile = "sessions; DROP TABLE sessions; --";
        assert_eq!(database.table(hostile).rows.len(), 0);
        let error = ForeignDatabase::open(&path, hostile).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        assert_eq!(database.table("sessions").rows.len(), 1);
    }

    #[test]
    fn a_missing_table_has_no_rows() {
        let (_folder, path) = database("CREATE TABLE sessions (id)");
        let found = ForeignDatabase::open(&path, "sessions").unwrap().table("events");
        assert_eq!((found.rows.len(), found.broken), (0, None));
    }

    #[test]
    fn other_files_are_refused() {
        let (folder, path) = database("CREATE TABLE something (id)");
        let text = folder.path().join("notes.txt");
        fs_err::write(&text, "not a database ".repeat(100)).unwrap();
        for path in [path, text] {
            let error = ForeignDatabase::open(&path, "sessions").unwrap_err();
            assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        }
        let missing = ForeignDatabase::open(&folder.path().join("none.db"), "sessions");
        assert!(matches!(missing, Err(StoreError::Backend { .. })));
    }
}
