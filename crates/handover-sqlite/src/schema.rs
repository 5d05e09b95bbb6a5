//! Compares the tables, indexes and triggers of a file with those that our migrations create.
//!
//! A file may come from anyone, and a trigger or a view in it would run inside our own statements.

use std::collections::BTreeSet;
use std::path::Path;

use handover_store::{Result, StoreError};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::error::backend;
use crate::file::read_user_version;
use crate::sums;

/// The BLAKE3 hash of what all migrations create. A match saves creating it for comparison; a test
/// compares the two.
const FINGERPRINT: &str = "0caf9634ee8244527b608f354d63c323b88e1db7b04608e4ff069f5f7201b223";

/// How many migrations that are.
const FORMAT: usize = 1;

/// Tables that SQLite itself adds to a file.
const OF_SQLITE: [&str; 4] = ["sqlite_sequence", "sqlite_stat1", "sqlite_stat4", "sqlite_stat3"];

/// One row of the schema: type, name and statement.
type Entry = (String, String, String);

/// Neither the schema nor a statement may reach beyond the tables: no functions with side effects in
/// triggers, no writes to the schema itself.
pub(crate) fn protect(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    Ok(())
}

/// Refuses a file whose schema is not exactly what these migrations, the first ones of the list, create.
pub(crate) fn check(connection: &Connection, path: &Path, migrations: &[&str]) -> Result<()> {
    let found = entries(connection).map_err(backend)?;
    if migrations.len() == FORMAT && fingerprint(&found) == FINGERPRINT {
        return Ok(());
    }
    let expected = created_by(migrations).map_err(backend)?;
    let Some((kind, name, change)) = difference(&found, &expected) else { return Ok(()) };
    // A newer version may have migrated the file just now.
    if read_user_version(connection).map_err(backend)? != migrations.len() as i64 {
        return Ok(());
    }
    let what = format!("{kind} `{name}` {change}");
    Err(StoreError::Altered { path: path.to_owned(), what })
}

fn entries(connection: &Connection) -> rusqlite::Result<BTreeSet<Entry>> {
    // An index without a statement belongs to a UNIQUE or PRIMARY KEY of its table.
    let sql = "SELECT type, name, ifnull(sql, '') FROM sqlite_schema
        WHERE type <> 'index' OR sql IS NOT NULL";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let rows: BTreeSet<Entry> = rows.collect::<rusqlite::Result<_>>()?;
    let ours = |(kind, name, _): &Entry| kind != "table" || !OF_SQLITE.contains(&name.as_str());
    Ok(rows.into_iter().filter(ours).collect())
}

fn fingerprint(entries: &BTreeSet<Entry>) -> String {
    let mut hasher = blake3::Hasher::new();
    for (kind, name, sql) in entries {
        for text in [kind, name, sql] {
            hasher.update(&text.len().to_le_bytes());
            hasher.update(text.as_bytes());
        }
    }
    hasher.finalize().to_hex().to_string()
}

fn created_by(migrations: &[&str]) -> rusqlite::Result<BTreeSet<Entry>> {
    let connection = Connection::open_in_memory()?;
    sums::register(&connection)?;
    for sql in migrations {
        connection.execute_batch(sql)?;
    }
    entries(&connection)
}

/// The first entry that only one side has.
fn difference<'a>(
    found: &'a BTreeSet<Entry>,
    expected: &'a BTreeSet<Entry>,
) -> Option<(&'a str, &'a str, &'static str)> {
    let names = |entries: &BTreeSet<Entry>, (kind, name, _): &Entry| {
        entries.iter().any(|other| other.0 == *kind && other.1 == *name)
    };
    let unknown = found.difference(expected).map(|entry| {
        let change = if names(expected, entry) { "was changed" } else { "is not Handover's" };
        (entry, change)
    });
    let missing = expected.difference(found).map(|entry| (entry, "is missing"));
    let ((kind, name, _), change) = unknown.chain(missing).next()?;
    Some((kind, name, change))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use handover_store::OlderFormat;

    use super::*;
    use crate::connection::{PATIENCE, open_with};
    use crate::migrations::MIGRATIONS;

    fn file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        (folder, path)
    }

    /// Changes a store as another program would.
    fn changed(sql: &str) -> (tempfile::TempDir, PathBuf) {
        let (folder, path) = file();
        drop(open_with(&path, PATIENCE, MIGRATIONS, OlderFormat::Upgrade).unwrap());
        #[expect(clippy::disallowed_methods, reason = "the test changes what no store would")]
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        (folder, path)
    }

    /// The schemas of the formats that a release has written, the first one first: what made them never changes. A release adds
    /// that of its format; every format but the newest has to be here.
    const RELEASED: &[&str] = &[];

    #[test]
    fn released_formats_stay_as_they_are() {
        for (number, expected) in RELEASED.iter().enumerate() {
            let found = fingerprint(&created_by(&MIGRATIONS[..=number]).unwrap());
            assert_eq!(found, *expected, "format {}", number + 1);
        }
        assert!(RELEASED.len() + 1 >= MIGRATIONS.len(), "freeze the format before the new one");
    }

    #[test]
    fn the_fingerprint_is_that_of_the_migrations() {
        assert_eq!(fingerprint(&created_by(MIGRATIONS).unwrap()), FINGERPRINT);
        assert_eq!(MIGRATIONS.len(), FORMAT);
    }

    #[test]
    fn anything_that_no_migration_made_is_refused() {
        for (sql, what) in [
            (
                "CREATE TRIGGER t AFTER INSERT ON session BEGIN DELETE FROM session; END",
                "trigger `t` is not Handover's",
            ),
            ("CREATE VIEW v AS SELECT 1", "view `v` is not Handover's"),
            ("CREATE TABLE x (y)", "table `x` is not Handover's"),
            ("ALTER TABLE session ADD COLUMN extra TEXT", "table `session` was changed"),
        ] {
            let (_folder, path) = changed(sql);
            let error = open_with(&path, PATIENCE, MIGRATIONS, OlderFormat::Upgrade).unwrap_err();
            assert!(
                matches!(&error, StoreError::Altered { what: found, .. } if found == what),
                "{error}"
            );
        }
    }

    #[test]
    fn statistics_of_sqlite_are_no_change() {
        let (_folder, path) = changed("ANALYZE");
        open_with(&path, PATIENCE, MIGRATIONS, OlderFormat::Upgrade).unwrap();
    }

    #[test]
    fn a_file_to_be_migrated_is_compared_first() {
        let next = "CREATE TABLE later (x)";
        let (_folder, path) = changed("CREATE VIEW v AS SELECT 1");
        let later = [MIGRATIONS, &[next]].concat();
        let error = open_with(&path, PATIENCE, &later, OlderFormat::Upgrade).unwrap_err();
        assert!(matches!(error, StoreError::Altered { .. }), "{error}");
        let (_folder, path) = changed("PRAGMA user_version = 0");
        let error = open_with(&path, PATIENCE, &later, OlderFormat::Upgrade).unwrap_err();
        assert!(matches!(error, StoreError::Altered { .. }), "{error}");
    }

    #[test]
    fn the_schema_cannot_be_written() {
        let (_folder, path) = file();
        let (connection, _) = open_with(&path, PATIENCE, MIGRATIONS, OlderFormat::Upgrade).unwrap();
        connection.execute_batch("PRAGMA writable_schema = ON").unwrap();
        connection.execute("DELETE FROM sqlite_schema", []).unwrap_err();
    }
}
