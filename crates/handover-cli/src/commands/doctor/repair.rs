//! `handover doctor --fix`, and the last good copy that it falls back to.
//!
//! Only a store in a file is repaired here; a database server has backups of its own.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use handover_model::Timestamp;
use handover_sqlite::{Opening, SqliteStore, check_log, replace, salvage};
use handover_store::{CheckedPart, Fault, OlderFormat, Store, StoreError, TextIndex};

use super::Check;
use crate::app::App;
use crate::error::{CommandError, Exit, io};
use crate::store::StoreLocation;
use crate::store_file;
use crate::ui::count;

/// The folder beside a store for its last good copy, and for damaged files that were replaced.
const FOLDER: &str = "backup";

/// How old the last good copy may become before a command renews it.
const AGE_SECONDS: i64 = 24 * 60 * 60;

/// Larger stores are only copied on request: copying takes too long to wait for.
const SMALL_BYTES: u64 = 16 << 20;

/// How many damaged stores are kept.
const KEPT: usize = 5;

/// Where the last good copy of a store is.
pub(crate) fn copy_of(store: &Path) -> PathBuf {
    folder_of(store).join(store.file_name().unwrap_or_default())
}

fn folder_of(store: &Path) -> PathBuf {
    store.parent().unwrap_or_else(|| Path::new(".")).join(FOLDER)
}

/// Renews the last good copy.
pub(crate) fn back_up(store: &Path) -> Result<PathBuf, CommandError> {
    let copy = copy_of(store);
    own_folder(&folder_of(store))?;
    if copy.is_symlink() {
        return Err(not_ours(&copy));
    }
    SqliteStore::open(store)?.back_up(&copy)?;
    Ok(copy)
}

/// Renews the last good copy, if there is one, after something was erased that must not survive in it.
pub(crate) fn erase_from_copy(app: &App) -> Result<(), CommandError> {
    let StoreLocation::File(store) = app.store_location()? else { return Ok(()) };
    if copy_of(&store).exists() {
        back_up(&store)?;
    }
    Ok(())
}

/// Renews the last good copy of a small store once a day, after a command that wrote to it. A store that is
/// damaged keeps its old one.
pub(crate) fn back_up_daily(app: &App, started: Timestamp) {
    let Ok(StoreLocation::File(store)) = app.store_location() else { return };
    if modified(&with_ending(&store, "-wal")).is_none_or(|written| written < started) {
        return;
    }
    let is_small = fs_err::metadata(&store).is_ok_and(|file| file.len() <= SMALL_BYTES);
    let since = modified(&copy_of(&store)).or_else(|| {
        // The first one is made when the project is a day old.
        modified(&app.project().ok()?.folder().path().join(".gitignore"))
    });
    let is_due = since.is_some_and(|since| since.plus_seconds(AGE_SECONDS) < started);
    if is_small
        && is_due
        && let Err(error) = back_up(&store)
    {
        tracing::warn!(error = %error.message, "the store was not backed up");
    }
}

fn modified(path: &Path) -> Option<Timestamp> {
    let since = fs_err::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_micros(since.as_micros().try_into().ok()?))
}

/// Repairs the store of the project if that is necessary; returns what was done.
pub(super) fn fix(app: &App) -> Result<Vec<Check>, CommandError> {
    let StoreLocation::File(store) = app.store_location()? else {
        return Ok(vec![Check::fine("fix", "skipped; only stores in files are repaired")]);
    };
    for file in [store.clone(), copy_of(&store)].iter().filter(|file| file.exists()) {
        // Nothing is restored from a file that the checkout brought.
        store_file::check(app.project()?, file)?;
    }
    match diagnose(&store)? {
        Diagnosis::Sound => Ok(vec![Check::fine("fix", "nothing to repair")]),
        Diagnosis::Index => {
            let rebuilt = SqliteStore::open(&store)?.reindex(None)?;
            let detail =
                format!("rebuilt the text index of {}", count(rebuilt.packages, "package"));
            Ok(vec![Check::fine("fix", detail)])
        }
        Diagnosis::Damaged => rebuild(app, &store).map(|check| vec![check]),
    }
}

/// What has to be done.
enum Diagnosis {
    Sound,
    Index,
    Damaged,
}

fn diagnose(path: &Path) -> Result<Diagnosis, CommandError> {
    // Before the store is opened: that hides what is wrong with its log.
    if check_log(path).map_err(|error| io(&error))?.is_some() {
        return Ok(Diagnosis::Damaged);
    }
    if !path.exists() {
        let has_copy = copy_of(path).is_file();
        return Ok(if has_copy { Diagnosis::Damaged } else { Diagnosis::Sound });
    }
    let opening = Opening { older: OlderFormat::Keep, ..Opening::USUAL };
    let checks = match SqliteStore::open_for(path, opening).and_then(|store| store.check()) {
        Ok(checks) => checks,
        Err(StoreError::Backend { fault: Fault::Corrupt, .. }) => return Ok(Diagnosis::Damaged),
        // A file of something else is not ours to replace, unless we know what was there.
        Err(StoreError::Foreign { .. }) if copy_of(path).is_file() => {
            return Ok(Diagnosis::Damaged);
        }
        // The index of the text could not even be read.
        Err(StoreError::Index(_)) => return Ok(Diagnosis::Index),
        Err(error) => return Err(error.into()),
    };
    let wrong = |part| checks.iter().any(|check| check.part == part && !check.problems.is_empty());
    let records = [CheckedPart::Integrity, CheckedPart::Records, CheckedPart::References];
    Ok(if records.into_iter().any(wrong) {
        Diagnosis::Damaged
    } else if wrong(CheckedPart::TextIndex) {
        Diagnosis::Index
    } else {
        Diagnosis::Sound
    })
}

/// Builds a new store out of what can be read, and keeps the damaged files.
fn rebuild(app: &App, store: &Path) -> Result<Check, CommandError> {
    let folder = folder_of(store);
    own_folder(&folder)?;
    let stamp = stamp(store);
    let aside = folder.join(format!("damaged-{}", app.now().as_micros()));
    fs_err::create_dir(&aside).map_err(|error| io(&error))?;
    let name = store.file_name().unwrap_or_default();
    for end in ["", "-wal", "-shm"] {
        let from = with_ending(store, end);
        if from.is_file() {
            let to = with_ending(&aside.join(name), end);
            fs_err::copy(from, to).map_err(|error| io(&error))?;
        }
    }
    let scratch = tempfile::tempdir_in(&folder).map_err(|error| io(&error))?;
    let new = scratch.path().join("new.db");
    let copy = Some(copy_of(store)).filter(|copy| copy.is_file());
    let repaired = salvage(&aside.join(name), copy.as_deref(), &new, scratch.path())?;
    replace(store, &new, &|| self::stamp(store) == stamp)?;
    keep_newest(&folder);
    let mut detail = format!("restored {}", count(repaired.records, "record"));
    if repaired.from_copy > 0 {
        let _ = write!(detail, ", {} of them from the last good copy", repaired.from_copy);
    }
    if let Some(first) = repaired.lost.first() {
        let _ = write!(detail, "; {} could not be read, first: {first}", repaired.lost.len());
    }
    Ok(Check::fine("fix", format!("{detail}; the damaged files are in {}", aside.display())))
}

/// What tells that somebody has written to a store.
fn stamp(store: &Path) -> Vec<Option<(u64, SystemTime)>> {
    let of = |path: PathBuf| {
        // Opening creates an empty file where there was none.
        let file = fs_err::metadata(path).ok().filter(|file| file.len() > 0)?;
        Some((file.len(), file.modified().ok()?))
    };
    ["", "-wal"].iter().map(|end| of(with_ending(store, end))).collect()
}

fn with_ending(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Deletes the oldest damaged stores.
fn keep_newest(folder: &Path) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    let mut damaged: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir() && !path.is_symlink())
        .filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("damaged-"))
        })
        .collect();
    damaged.sort();
    let old = damaged.len().saturating_sub(KEPT);
    for path in &damaged[..old] {
        let _ = fs_err::remove_dir_all(path);
    }
}

/// Creates a folder, unless a link stands in its place.
fn own_folder(folder: &Path) -> Result<(), CommandError> {
    if folder.is_symlink() {
        return Err(not_ours(folder));
    }
    fs_err::create_dir_all(folder).map_err(|error| io(&error))
}

fn not_ours(path: &Path) -> CommandError {
    let message = format!("{} is a link", path.display());
    CommandError::new(Exit::Environment, "io", message)
        .hinted("Remove the link; the copy of a store is never written through one.")
}
