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
