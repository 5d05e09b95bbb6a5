//! Bringing a project's schema to the current format, safe when many clients try at once.
//!
//! Migrations are numbered and never edited. The format is looked at without a lock (the usual case:
//! nothing to do), and again under an advisory lock that all projects of the database share.

use handover_model::ProjectId;
use handover_store::packed;
use handover_store::{Fault, Result, StoreError};
use tokio_postgres::Row;

use crate::error::{Failure, backend};
use crate::link::Link;
use crate::value::{self, columns, params, row};

const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_records.sql"),
    include_str!("../migrations/0002_service.sql"),
    include_str!("../migrations/0003_bulk.sql"),
    include_str!("../migrations/0004_learned_feed.sql"),
    include_str!("../migrations/0005_sheets.sql"),
    include_str!("../migrations/0006_receipts.sql"),
];

/// The format from which on candidates are on sheets.
const SHEETS: usize = 5;

/// The format of a schema, and whose it is.
const FORMAT: &str = "SELECT format, project FROM handover_store";

/// The format that this version writes.
pub(crate) const CURRENT: i64 = MIGRATIONS.len() as i64;

/// The lock of all migrations in a database ("HNDVMIGR").
const LOCK: i64 = 0x484E_4456_4D49_4752;

/// The schema of a project: its name as far as a schema can have it, and a hash that tells projects
/// apart whose names look alike.
pub(crate) fn schema(project: &ProjectId) -> String {
    let name = project.as_str().chars().take(32).map(|c| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '_',
    });
    let hash = blake3::hash(project.as_str().as_bytes()).to_hex();
    format!("handover_{}_{}", name.collect::<String>(), &hash[..10])
}

/// Looks whether the schema has the current format, and brings it there if not.
pub(crate) fn ensure(
    link: &mut Link,
    schema: &str,
    project: &ProjectId,
    place: &dyn std::fmt::Display,
) -> Result<(), Failure> {
    match link.query(FORMAT, &[]) {
        Ok(rows) => {
            if check(&rows, project, place)? == CURRENT {
                return Ok(());
            }
        }
        Err(lost @ Failure::Lost(_)) => return Err(lost),
        // Most likely there is no such table yet; if it is anything else, it will be so again.
        Err(Failure::Refused(_)) => {}
    }
    link.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK})"))?;
    let migrated = migrate(link, schema, project, place);
    match migrated {
        Ok(()) => link.batch("COMMIT"),
        Err(failure) => {
            // If this fails too, the connection is gone and the server undoes it.
            let _ = link.batch("ROLLBACK");
            Err(failure)
        }
    }
}

fn migrate(
    link: &mut Link,
    schema: &str,
    project: &ProjectId,
    place: &dyn std::fmt::Display,
) -> Result<(), Failure> {
    let tables = link.query(
        "SELECT c.relname, current_setting('server_encoding') AS encoding
         FROM (SELECT 1) one LEFT JOIN pg_class c ON c.relnamespace = to_regnamespace($1)::oid
            AND c.relkind = 'r'",
        params![schema],
    )?;
    let mut names = Vec::new();
    for row in &tables {
        let encoding = value::text(row, "encoding").map_err(Failure::Refused)?;
        if encoding != "UTF8" {
            let words = format!("the database has the encoding {encoding}; it must be UTF8");
            return Err(Failure::Refused(backend(Fault::Refused, words)));
        }
        names.extend(value::text_opt(row, "relname").map_err(Failure::Refused)?);
    }
    let from = if names.iter().any(|name| name == "handover_store") {
        check(&link.query(FORMAT, &[])?, project, place)?
    } else if names.is_empty() {
        link.batch(&format!("CREATE SCHEMA IF NOT EXISTS {schema}"))?;
        0
    } else {
        let path = format!("{place} (schema {schema})").into();
        return Err(Failure::Refused(StoreError::Foreign { path }));
    };
    let done = usize::try_from(from).unwrap_or(0);
    for sql in MIGRATIONS.iter().skip(done) {
        link.batch(sql)?;
    }
    if done < SHEETS {
        move_to_sheets(link)?;
    }
    link.execute(
        "INSERT INTO handover_store (format, project) VALUES ($1, $2)
         ON CONFLICT (one) DO UPDATE SET format = excluded.format",
        params![CURRENT, project.as_str()],
    )?;
    Ok(())
}

/// Moves what is on pages of before to sheets.
fn move_to_sheets(link: &mut Link) -> Result<(), Failure> {
    let sheets = |row: &Row| -> Result<_> {
        let session: i64 = value::int(row, "session")?;
        let (page, packed) = (value::int(row, "page")?, value::bytes(row, "candidates")?);
        Ok((session, packed::sheets_of_page(page, packed)?))
    };
    for row in link.query("SELECT session, page, candidates FROM candidate_page", &[])? {
        let (session, sheets) = sheets(&row).map_err(Failure::Refused)?;
        if sheets.is_empty() {
            continue;
        }
        let sheets =
            columns(sheets.iter().map(|(sheet, packed)| row![session, *sheet, &packed[..]]));
        link.execute("INSERT INTO candidate_sheet SELECT * FROM unnest($1, $2, $3)", &sheets)?;
    }
    link.batch("DROP TABLE candidate_page")
}

/// The format of the schema, if it is the project's and not newer than we are.
fn check(rows: &[Row], project: &ProjectId, place: &dyn std::fmt::Display) -> Result<i64, Failure> {
    let read = || -> Result<i64> {
        let Some(row) = rows.first() else {
            return Err(StoreError::damaged("the schema does not say its format"));
        };
        let owner = value::text(row, "project")?;
        if owner != project.as_str() {
            let path = format!("{place} (schema of project {owner})").into();
            return Err(StoreError::Foreign { path });
        }
        let found = value::int(row, "format")?;
        if found > CURRENT {
            return Err(StoreError::Newer { location: place.to_string(), found, known: CURRENT });
        }
        Ok(found)
    };
    read().map_err(Failure::Refused)
}
