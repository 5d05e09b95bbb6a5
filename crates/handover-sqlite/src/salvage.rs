//! Repairing a store: whatever can be read of it, row by row, in a new one.
//!
//! Records are taken from several copies, the best first: the store with its log made readable as far as
//! possible, the store as SQLite reads it, and the last good copy. A record counts only if it matches its
//! checksum. What others refer to and nobody has is replaced by a stand-in, so that nothing readable is
//! left out.

use std::path::{Path, PathBuf};

use handover_store::archive::{KINDS, Kind};
use handover_store::rows::Columns;
use handover_store::{Fault, Result, Store, StoreError};
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use crate::archive::{columns, put_readable};
use crate::durability::Patience;
use crate::error::backend;
use crate::file::{create_private, log_of, sync_folder};
use crate::{SqliteStore, index, log_check, query, sums, tallies};

/// How many numbers between readable rows are tried one by one.
const TRIED: i64 = 200_000;

/// What a repair found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Records in the new store.
    pub records: u64,
    /// How many of them only the last good copy had.
    pub from_copy: u64,
    /// Records that could not be read, as far as their keys are known, and stand-ins.
    pub lost: Vec<String>,
}

/// Builds a new store at `target` out of the files in `damaged` (a folder with copies of the store, its
/// log and its index under their names) and the last good copy. `scratch` is an empty folder.
pub fn salvage(
    damaged: &Path,
    last_good: Option<&Path>,
    target: &Path,
    scratch: &Path,
) -> Result<Repaired> {
    create_private(target).map_err(io)?;
    let store = SqliteStore::open(target)?;
    store.connection.execute_batch("PRAGMA foreign_keys = OFF").map_err(backend)?;
    let mut repaired = Repaired::default();
    store.write(|tx| {
        for (number, fix_log) in [true, false].into_iter().enumerate() {
            let folder = scratch.join(number.to_string());
            if let Some(copy) = working_copy(damaged, &folder, fix_log).map_err(io)? {
                repaired.records += take(tx, &copy, &mut repaired.lost);
            }
        }
        if let Some(good) = last_good {
            let folder = scratch.join("good");
            if let Some(copy) = working_copy(good, &folder, false).map_err(io)? {
                repaired.from_copy = take(tx, &copy, &mut Vec::new());
                repaired.records += repaired.from_copy;
            }
        }
        stand_in(tx, &mut repaired.lost)?;
        let sessions = query::all(tx, "SELECT key FROM session", [], |row| Columns::of(row).int())?;
        index::rebuild(tx, &sessions)?;
        index::notes::rebuild(tx)?;
        tallies::rebuild(tx)?;
        Ok(())
    })?;
    forget_found(&store.connection, &mut repaired.lost)?;
    let broken = store.check()?.into_iter().any(|check| !check.problems.is_empty());
    if broken {
        return Err(StoreError::damaged("the repaired store does not pass its own checks"));
    }
    Ok(repaired)
}

/// Replaces the content of a store by that of another file, in one transaction, while nobody else has it
/// open. `unchanged` says whether it is still what the other file was made of.
pub fn replace(store: &Path, by: &Path, unchanged: &dyn Fn() -> bool) -> Result<()> {
    if !store.exists() {
        // Unless somebody creates it meanwhile.
        forget_log(store)?;
        fs_err::hard_link(by, store).map_err(io)?;
        return sync_folder(store).map_err(io);
    }
    match replace_in_place(store, by, unchanged) {
        Err(StoreError::Backend { fault: Fault::Corrupt, .. } | StoreError::Foreign { .. }) => {
            // Nobody can use it as it is, so nobody notices that it is another file.
            forget_log(store)?;
            fs_err::rename(by, store).map_err(io)?;
            sync_folder(store).map_err(io)
        }
        other => other,
    }
}

/// Deletes the log of a store that is replaced: it must not be applied to the new one.
fn forget_log(store: &Path) -> Result<()> {
    match fs_err::remove_file(log_of(store)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn replace_in_place(store: &Path, by: &Path, unchanged: &dyn Fn() -> bool) -> Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    #[expect(clippy::disallowed_methods, reason = "this crate opens databases")]
    let mut live = Connection::open_with_flags(store, flags).map_err(backend)?;
    live.busy_timeout(Patience::new(std::time::Duration::from_secs(2)).slice()).map_err(backend)?;
    // Others that come now wait, and find the repaired content.
    live.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
        .map_err(backend)?;
    if !unchanged() {
        let message = "somebody has written to the store meanwhile";
        return Err(StoreError::Backend { fault: Fault::Busy, source: message.into() });
    }
    let new = open_copy(by)?;
    let copied =
        Backup::new(&new, &mut live).and_then(|backup| backup.step(-1)).map_err(backend)?;
    if copied == rusqlite::backup::StepResult::Done {
        // Alone with the store, SQLite has no use for the index of the log, and this one is out of date.
        let _ = fs_err::remove_file(log_check::index_of(store));
        return Ok(());
    }
    Err(StoreError::Backend { fault: Fault::Busy, source: "the copy was cut short".into() })
}

fn io(error: std::io::Error) -> StoreError {
    StoreError::Backend { fault: Fault::Io, source: Box::new(error) }
}

/// Copies a store into a folder of its own, where reading it may change it. `None` if there is no store.
fn working_copy(from: &Path, folder: &Path, fix_log: bool) -> std::io::Result<Option<PathBuf>> {
    let copy = folder.join("store.db");
    if !from.is_file() {
        return Ok(None);
    }
    fs_err::create_dir_all(folder)?;
    fs_err::copy(from, &copy)?;
    match fs_err::read(log_of(from)) {
        Ok(mut log) => {
            if fix_log {
                log_check::repair(&mut log);
            }
            fs_err::write(log_of(&copy), log)?;
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(Some(copy))
}

pub(crate) fn open_copy(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    #[expect(clippy::disallowed_methods, reason = "this crate opens databases")]
    let connection = Connection::open_with_flags(path, flags).map_err(backend)?;
    sums::register(&connection).map_err(backend)?;
    Ok(connection)
}

/// Takes over every readable record that the new store does not have; returns how many.
fn take(tx: &Connection, copy: &Path, lost: &mut Vec<String>) -> u64 {
    let Ok(source) = open_copy(copy) else { return 0 };
    let mut taken = 0;
    for kind in KINDS {
        if let Err(error) = take_kind(tx, &source, kind, &mut taken, lost) {
            lost.push(format!("{}: {error}", kind.name));
        }
    }
    taken
}

fn take_kind(
    tx: &Connection,
    source: &Connection,
    kind: &'static Kind,
    taken: &mut u64,
    lost: &mut Vec<String>,
) -> Result<()> {
    let key: Vec<&str> = kind.columns[..kind.key].iter().map(|column| column.name).collect();
    let intact = sums::intact(kind.name, kind.name);
    let select = format!("SELECT {}, {intact} FROM {} NOT INDEXED", columns(kind), kind.name);
    // Along the table itself: an index may be damaged, too.
    let has_rowid = source.prepare(&format!("SELECT rowid FROM {}", kind.name)).is_ok();
    let order = |way: &str| match has_rowid {
        true => format!("{select} ORDER BY rowid {way}"),
        false => {
            let key: Vec<String> = key.iter().map(|column| format!("{column} {way}")).collect();
            format!("{select} ORDER BY {}", key.join(", "))
        }
    };
    let mut scan = |sql: &str| put_readable(tx, source, kind, sql, taken, lost);
    let Err(broken) = scan(&order("ASC")) else { return Ok(()) };
    // From the other end, and what lies between by its number.
    let _ = scan(&order("DESC"));
    if has_rowid {
        let upper: Option<i64> = query::first(
            source,
            "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1
                OR NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
            [kind.name],
            |row| Columns::of(row).int(),
        )?;
        for number in 1..=upper.unwrap_or(0).min(TRIED) {
            let _ = scan(&format!("{select} WHERE rowid = {number}"));
        }
    }
    Err(broken)
}

/// Records that could not be read in one copy but were found in another are not lost.
fn forget_found(connection: &Connection, lost: &mut Vec<String>) -> Result<()> {
    lost.sort();
    lost.dedup();
    let mut left = Vec::new();
    for name in lost.drain(..) {
        let there = match name.split_once(' ') {
            Some((kind, key)) => Kind::named(kind).map(|kind| has(connection, kind, key)),
            None => None,
        };
        match there.transpose()? {
            Some(true) => {}
            Some(false) | None => left.push(name),
        }
    }
    *lost = left;
    Ok(())
}

fn has(connection: &Connection, kind: &Kind, key: &str) -> Result<bool> {
    let names: Vec<&str> = kind.columns[..kind.key].iter().map(|column| column.name).collect();
    let sql = format!("SELECT 1 FROM {} WHERE {} = ?1", kind.name, names.join(" || '/' || "));
    Ok(query::first(connection, &sql, [key], |_| Ok(()))?.is_some())
}

/// The text in place of a package's body that nobody has.
const NO_BODY: &str = "The text of this package was lost with a damaged store.";

/// Stands in for what is missing.
const STAND_INS: &[&str] = &[
    "INSERT OR IGNORE INTO session (key, id, project, status, metadata, created_at)
     SELECT session, 'recovered-' || session,
        ifnull((SELECT project FROM session ORDER BY key DESC LIMIT 1), 'recovered'),
        'completed', '{}', min(created_at)
     FROM (SELECT session, created_at FROM task_group UNION ALL
        SELECT session, created_at FROM package UNION ALL
        SELECT session, created_at FROM reasoning UNION ALL
        SELECT session, created_at FROM skill_output UNION ALL
        SELECT session, created_at FROM event UNION ALL
        SELECT session, created_at FROM receipt)
     WHERE session NOT IN (SELECT key FROM session) GROUP BY session",
    "INSERT OR IGNORE INTO task_group (session, id, created_at)
     SELECT session, group_id, min(created_at) FROM (
        SELECT session, group_id, created_at FROM package UNION ALL
        SELECT session, group_id, created_at FROM reasoning UNION ALL
        SELECT session, group_id, 0 FROM group_counter)
     WHERE group_id IS NOT NULL GROUP BY session, group_id",
    "UPDATE OR IGNORE package SET superseded_by = NULL
     WHERE superseded_by NOT IN (SELECT id FROM package)",
    "UPDATE package SET supersedes = NULL WHERE supersedes NOT IN (SELECT id FROM package)",
    "DELETE FROM package WHERE superseded_by NOT IN (SELECT id FROM package)",
];

/// What is gone although others refer to it, and nothing can stand in for it.
const GONE: &str = "
    SELECT 'package ' || package FROM package_body WHERE package NOT IN (SELECT id FROM package) UNION
    SELECT 'package ' || package FROM package_consumer WHERE package NOT IN (SELECT id FROM package) UNION
    SELECT 'receipt ' || receipt FROM receipt_item WHERE receipt NOT IN (SELECT id FROM receipt) UNION
    SELECT 'receipt ' || receipt FROM ticket WHERE receipt NOT IN (SELECT id FROM receipt) UNION
    SELECT 'run ' || run FROM run_journal WHERE run NOT IN (SELECT key FROM run) UNION
    SELECT 'strategy ' || strategy FROM strategy_source
        WHERE strategy NOT IN (SELECT id FROM strategy) UNION
    SELECT 'error_pattern ' || project || '/' || hash FROM error_incident
        WHERE (project, hash) NOT IN (SELECT project, hash FROM error_pattern) UNION
    SELECT 'error_pattern ' || project || '/' || hash FROM error_solution
        WHERE (project, hash) NOT IN (SELECT project, hash FROM error_pattern)";

/// Removes what refers to it.
const REMOVALS: &[&str] = &[
    "DELETE FROM package_consumer WHERE package NOT IN (SELECT id FROM package)",
    "DELETE FROM package_body WHERE package NOT IN (SELECT id FROM package)",
    "DELETE FROM group_reference WHERE package NOT IN (SELECT id FROM package)
        OR (session, group_id) NOT IN (SELECT session, id FROM task_group)",
    "DELETE FROM group_counter
     WHERE (session, group_id) NOT IN (SELECT session, id FROM task_group)",
    "DELETE FROM error_trust WHERE (project, hash) NOT IN (SELECT project, hash FROM error_pattern)",
    "DELETE FROM error_solution
     WHERE (project, hash) NOT IN (SELECT project, hash FROM error_pattern)",
    "DELETE FROM error_incident
     WHERE (project, hash) NOT IN (SELECT project, hash FROM error_pattern)",
    "UPDATE error_incident SET session = NULL WHERE session NOT IN (SELECT key FROM session)",
    "DELETE FROM strategy_source WHERE strategy NOT IN (SELECT id FROM strategy)",
    "DELETE FROM receipt_item WHERE receipt NOT IN (SELECT id FROM receipt)",
    "DELETE FROM ticket WHERE receipt NOT IN (SELECT id FROM receipt)",
    "DELETE FROM run_journal WHERE run NOT IN (SELECT key FROM run)",
    "DELETE FROM host_binding WHERE session NOT IN (SELECT key FROM session)",
    "DELETE FROM operation WHERE session NOT IN (SELECT key FROM session)",
];

fn stand_in(tx: &Connection, lost: &mut Vec<String>) -> Result<()> {
    for sql in STAND_INS {
        query::execute(tx, sql, [])?;
    }
    lost.extend(query::all(tx, GONE, [], |row| Columns::of(row).text())?);
    for sql in REMOVALS {
        query::execute(tx, sql, [])?;
    }
    let sql = "SELECT id FROM package WHERE id NOT IN (SELECT package FROM package_body)";
    for id in query::all(tx, sql, [], |row| Columns::of(row).int::<i64>())? {
        query::execute(
            tx,
            "INSERT INTO package_body (package, body) VALUES (?1, ?2)",
            (id, NO_BODY),
        )?;
        lost.push(format!("the text of package {id}"));
    }
    Ok(())
}
