//! Databases of other programs, read as they are: rows of named columns, whatever their format.

use std::collections::BTreeMap;
use std::path::Path;

use handover_store::archive::Value;
use handover_store::{Result, StoreError};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

use crate::error::backend;

/// How long to wait for the other program.
const PEEK: std::time::Duration = std::time::Duration::from_millis(500);

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

    /// Opens a database that another program may be using, and never writes to it.
    pub fn peek(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        #[expect(clippy::disallowed_methods, reason = "this crate opens databases")]
        let connection = Connection::open_with_flags(path, flags).map_err(backend)?;
        connection.busy_timeout(PEEK).map_err(backend)?;
        Ok(Self { connection })
    }

    /// Visits some columns of a table, ordered by the first of them; only rows in which a column has a value,
    /// if one is given. What does not exist is null, and a table that does not exist has no rows.
    pub fn each_row(
        &self,
        table: &str,
        columns: &[&str],
        filter: Option<(&str, &str)>,
        visit: &mut dyn FnMut(&[Value]),
    ) -> Result<()> {
        let known = self.columns(table).map_err(backend)?;
        let is_known = |name: &str| known.iter().any(|known| known == name);
        if known.is_empty() || filter.is_some_and(|(column, _)| !is_known(column)) {
            return Ok(());
        }
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let list: Vec<String> = columns
            .iter()
            .map(|name| if is_known(name) { quoted(name) } else { "NULL".to_owned() })
            .collect();
        let only = match filter {
            Some((column, _)) => format!("WHERE {} = ?1", quoted(column)),
            None => String::new(),
        };
        let sql = format!("SELECT {} FROM {} {only} ORDER BY 1", list.join(", "), quoted(table));
        let mut statement = self.connection.prepare(&sql).map_err(backend)?;
        let value_of = filter.map(|(_, value)| value);
        let mut rows = statement.query(rusqlite::params_from_iter(value_of)).map_err(backend)?;
        let mut values = Vec::with_capacity(columns.len());
        while let Some(row) = rows.next().map_err(backend)? {
            values.clear();
            for at in 0..columns.len() {
                values.push(value(row, at).map_err(backend)?);
            }
            visit(&values);
        }
        Ok(())
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
    fn named_columns_are_read_without_writing() {
        let (folder, path) = database(
            "CREATE TABLE notes (id INTEGER, \"a b\" TEXT, project TEXT);
             INSERT INTO notes VALUES (2, 'two', 'p'), (1, 'one', 'p'), (3, 'three', 'q');",
        );
        let before = fs_err::read(&path).unwrap();
        let peeked = ForeignDatabase::peek(&path).unwrap();
        let mut rows = Vec::new();
        let columns = ["id", "a b", "missing"];
        peeked
            .each_row("notes", &columns, Some(("project", "p")), &mut |row| rows.push(row.to_vec()))
            .unwrap();
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(
            rows,
            [[Value::Int(1), text("one"), Value::Null], [Value::Int(2), text("two"), Value::Null]]
        );
        let mut count = 0;
        peeked.each_row("notes", &["id"], None, &mut |_| count += 1).unwrap();
        peeked.each_row("nowhere", &["id"], None, &mut |_| count += 100).unwrap();
        peeked.each_row("notes", &["id"], Some(("nothing", "x")), &mut |_| count += 100).unwrap();
        assert_eq!(count, 3);
        drop(peeked);
        assert_eq!(fs_err::read(&path).unwrap(), before);
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
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
