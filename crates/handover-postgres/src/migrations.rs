//! Migrates a project's schema to the current format, even if many clients try at once.
//!
//! A migration is SQL, numbered from 1 and never edited once released. The format is read first without
//! a lock (usually there is nothing to do), then again under an advisory lock that all projects of the
//! database share. A schema is shared, so only who was asked to upgrades it.

use handover_model::ProjectId;
use handover_store::{Fault, OldStore, OlderFormat, Result, StoreError, Upgraded};
use tokio_postgres::Row;

use crate::error::{Failure, backend};
use crate::link::Link;
use crate::value::{self, params};

/// Migration `n` brings a schema from format `n - 1` to format `n`.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_initial.sql")];

/// The format of a schema and the project that owns it.
const FORMAT: &str = "SELECT format, project FROM handover_format";

/// The same in a schema of Handover 0.1.0.
const FORMAT_0_1_0: &str = "SELECT format, project FROM handover_store";

/// The lock of all migrations in a database ("HNDVMIGR").
const LOCK: i64 = 0x484E_4456_4D49_4752;

/// The schema of a project: as much of its name as a schema name can hold, and a hash that keeps
/// projects with similar names apart.
pub(crate) fn schema(project: &ProjectId) -> String {
    let name = project.as_str().chars().take(32).map(|c| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '_',
    });
    let hash = blake3::hash(project.as_str().as_bytes()).to_hex();
    format!("handover_{}_{}", name.collect::<String>(), &hash[..10])
}

/// The schema that is opened, for checks and for errors that name it.
pub(crate) struct Target<'a> {
    pub(crate) schema: &'a str,
    pub(crate) project: &'a ProjectId,
    /// The database, without its password.
    pub(crate) database: &'a dyn std::fmt::Display,
    pub(crate) migrations: &'a [&'a str],
    pub(crate) older: OlderFormat,
}

impl Target<'_> {
    fn format(&self) -> i64 {
        self.migrations.len() as i64
    }

    /// Creates or migrates the schema unless it has the current format. None unless it had an older one.
    pub(crate) fn ensure(&self, link: &mut Link) -> Result<Option<Upgraded>, Failure> {
        match link.query(FORMAT, &[]) {
            Ok(rows) => {
                if self.check(&rows).map_err(Failure::Refused)? == self.format() {
                    return Ok(None);
                }
            }
            Err(lost @ Failure::Lost(_)) => return Err(lost),
            // Most likely the table does not exist yet; any other error will recur.
            Err(Failure::Refused(_)) => {}
        }
        link.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK})"))?;
        match self.migrate(link) {
            Ok(upgraded) => link.batch("COMMIT").map(|()| upgraded),
            Err(failure) => {
                // If this fails too, the connection is gone and the server rolls back.
                let _ = link.batch("ROLLBACK");
                Err(failure)
            }
        }
    }

    fn migrate(&self, link: &mut Link) -> Result<Option<Upgraded>, Failure> {
        let tables = self.tables(link)?;
        let has = |name: &str| tables.iter().any(|table| table == name);
        let from = if has("handover_format") {
            self.check(&link.query(FORMAT, &[])?).map_err(Failure::Refused)?
        } else if has("handover_store") {
            let rows = link.query(FORMAT_0_1_0, &[])?;
            return Err(Failure::Refused(self.outdated(&rows)));
        } else if tables.is_empty() {
            link.batch(&format!("CREATE SCHEMA IF NOT EXISTS {}", self.schema))?;
            0
        } else {
            let path = format!("{} (schema {})", self.database, self.schema).into();
            return Err(Failure::Refused(StoreError::Foreign { path }));
        };
        for sql in self.migrations.iter().skip(usize::try_from(from).unwrap_or(0)) {
            link.batch(sql)?;
        }
        link.execute(
            "INSERT INTO handover_format (format, project) VALUES ($1, $2)
             ON CONFLICT (one) DO UPDATE SET format = excluded.format",
            params![self.format(), self.project.as_str()],
        )?;
        let to = self.format();
        tracing::debug!(schema = self.schema, from, to, "migrated store");
        Ok((from > 0 && from < to).then_some(Upgraded { from, to, copy: None }))
    }

    /// The tables of the schema, if the database has the right encoding.
    fn tables(&self, link: &mut Link) -> Result<Vec<String>, Failure> {
        let rows = link.query(
            "SELECT c.relname, current_setting('server_encoding') AS encoding
             FROM (SELECT 1) one LEFT JOIN pg_class c ON c.relnamespace = to_regnamespace($1)::oid
                AND c.relkind = 'r'",
            params![self.schema],
        )?;
        let mut names = Vec::new();
        for row in &rows {
            let encoding = value::text(row, "encoding").map_err(Failure::Refused)?;
            if encoding != "UTF8" {
                let message = format!("the database has the encoding {encoding}; it must be UTF8");
                return Err(Failure::Refused(backend(Fault::Refused, message)));
            }
            names.extend(value::text_opt(row, "relname").map_err(Failure::Refused)?);
        }
        Ok(names)
    }

    /// The format of the schema, if the project owns it and this version may use or upgrade it.
    fn check(&self, rows: &[Row]) -> Result<i64> {
        let Some(row) = rows.first() else {
            return Err(StoreError::damaged("the schema does not say which format it has"));
        };
        let owner = value::text(row, "project")?;
        if owner != self.project.as_str() {
            let path = format!("{} (schema of project {owner})", self.database).into();
            return Err(StoreError::Foreign { path });
        }
        let (found, known) = (value::int(row, "format")?, self.format());
        if found > known {
            return Err(StoreError::Newer { location: self.database.to_string(), found, known });
        }
        if found < known && self.older == OlderFormat::Keep {
            return Err(StoreError::Older { location: self.database.to_string(), found, known });
        }
        Ok(found)
    }

    fn outdated(&self, rows: &[Row]) -> StoreError {
        let format = rows.first().map_or(Ok(0), |row| value::int(row, "format"));
        format.map_or_else(
            |error| error,
            |found| StoreError::Outdated {
                store: OldStore::Schema {
                    database: self.database.to_string(),
                    schema: self.schema.to_owned(),
                },
                found,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Patience;
    use crate::{Location, Opening, PostgresStore};

    const LATER: &[&str] =
        &[MIGRATIONS[0], "ALTER TABLE write_token ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'"];
    const BROKEN: &[&str] = &[MIGRATIONS[0], "DROP TABLE token; SELECT nonsense FROM nowhere"];

    /// A project that is removed at the end.
    struct Project(Location, ProjectId);

    impl Project {
        fn fresh() -> Self {
            let id = format!("migrations-{}", uuid::Uuid::new_v4().simple());
            Self(handover_testkit::postgres().parse().unwrap(), ProjectId::new(id).unwrap())
        }

        fn open(&self, migrations: &'static [&'static str]) -> Result<PostgresStore> {
            let opening = Opening { migrations, ..Opening::within(Patience::LONG) };
            PostgresStore::open_with(&self.0, &self.1, opening)
        }

        fn upgrade(&self, migrations: &'static [&'static str]) -> Result<PostgresStore> {
            let older = OlderFormat::Upgrade;
            let opening = Opening { migrations, older, ..Opening::within(Patience::LONG) };
            PostgresStore::open_with(&self.0, &self.1, opening)
        }
    }

    impl Drop for Project {
        fn drop(&mut self) {
            let _ = PostgresStore::destroy(&self.0, &self.1);
        }
    }

    #[test]
    fn many_clients_apply_a_later_migration_once() {
        let project = Project::fresh();
        drop(project.open(MIGRATIONS).unwrap());
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| project.upgrade(LATER).map(drop))).collect();
            for thread in threads {
                thread.join().unwrap().unwrap();
            }
        });
        let store = project.open(LATER).unwrap();
        store.rows("SELECT colour FROM write_token", &[]).unwrap();
        let error = project.open(MIGRATIONS).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 2, known: 1, .. }), "{error}");
    }

    /// Others use the schema, too, and may still have the version before.
    #[test]
    fn an_older_schema_is_upgraded_only_on_request() {
        let project = Project::fresh();
        drop(project.open(MIGRATIONS).unwrap());
        let error = project.open(LATER).unwrap_err();
        assert!(matches!(error, StoreError::Older { found: 1, known: 2, .. }), "{error}");
        drop(project.open(MIGRATIONS).unwrap());
        let upgraded = project.upgrade(LATER).unwrap().upgraded();
        assert_eq!(upgraded, Some(Upgraded { from: 1, to: 2, copy: None }));
        let again = project.upgrade(LATER).unwrap().upgraded();
        assert_eq!(again, None);
        project.open(LATER).unwrap().rows("SELECT colour FROM write_token", &[]).unwrap();
    }

    #[test]
    fn a_failed_migration_changes_nothing() {
        let project = Project::fresh();
        drop(project.open(MIGRATIONS).unwrap());
        project.upgrade(BROKEN).unwrap_err();
        let store = project.open(MIGRATIONS).unwrap();
        store.rows("SELECT id FROM token", &[]).unwrap();
    }

    #[test]
    fn schema_names_are_valid_and_distinct() {
        let name = |id: &str| schema(&ProjectId::new(id).unwrap());
        let long = "a".repeat(60);
        assert_ne!(name("Shop"), name("shop"));
        assert!(name("my.shop-2").starts_with("handover_my_shop_2_"));
        assert!(name(&long).len() <= 63, "PostgreSQL cuts longer names");
        assert!(
            name("my.shop-2")
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        );
    }
}
