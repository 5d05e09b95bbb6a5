//! Whether the store can be written, and whether its log is complete.

use std::io::Write;
use std::path::Path;

use handover_model::{EpicId, LockOwner};
use handover_sqlite::check_log;
use handover_store::{LockClaim, Store, StoreError};

use super::Check;
use crate::app::App;
use crate::env;
use crate::error::CommandError;
use crate::store::StoreLocation;

/// The name of the check of the log.
pub(super) const LOG: &str = "store log";

/// How much is written to try a disk: more than what a full one gives away to small files.
const TRIED_BYTES: usize = 128 * 1024;

/// How long the lock would last that is tried to write.
const LOCK_SECONDS: i64 = 1;

/// Checks the log of a store in a file. Opening the store would hide what is wrong with it.
pub(super) fn log(place: &StoreLocation) -> Option<Check> {
    let StoreLocation::File(path) = place else { return None };
    Some(match check_log(path) {
        Ok(None) => Check::fine(LOG, "complete"),
        Ok(Some(damage)) => Check::wrong(
            LOG,
            format!("{damage}: records that were written last may be lost"),
            "Run `handover doctor --fix` before anything else writes: it keeps a copy of the files and restores what can be read.",
        ),
        Err(error) => Check::wrong(LOG, error.to_string(), "Make the store's files readable."),
    })
}

/// Tries to write, to the disk and to the store, and leaves nothing behind.
pub(super) fn writing(app: &App, store: &dyn Store) -> Result<Check, CommandError> {
    let folder = app.project()?.folder().path();
    let place = app.store_location()?;
    let mut folders = vec![folder.as_path()];
    if let StoreLocation::File(path) = &place
        && let Some(parent) = path.parent().filter(|parent| *parent != folder)
    {
        folders.push(parent);
    }
    for folder in folders {
        if let Err(error) = try_folder(folder) {
            return Ok(Check::wrong(
                "writing",
                format!("{}: {error}", folder.display()),
                "Free some disk space, or make the folder writable; until then nothing new is stored.",
            ));
        }
    }
    Ok(match try_store(app, store)? {
        None => Check::fine("writing", "the disk and the store can be written"),
        Some(StoreError::Denied { .. }) => {
            Check::fine("writing", "skipped; requires a token with the scope write")
        }
        Some(error) => Check::failed("writing", error.into()),
    })
}

fn try_folder(folder: &Path) -> std::io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".doctor-").tempfile_in(folder)?;
    file.write_all(&vec![0x5A; TRIED_BYTES])?;
    file.as_file().sync_all()
}

/// Writes to the store in a transaction that is rolled back.
fn try_store(app: &App, store: &dyn Store) -> Result<Option<StoreError>, CommandError> {
    let now = app.now();
    let claim = LockClaim {
        epic: EpicId::new("handover-doctor")?,
        owner: LockOwner {
            host: env::machine(),
            pid: std::process::id(),
            started: None,
            boot: None,
        },
        until: now.plus_seconds(LOCK_SECONDS),
        over: None,
        now,
    };
    let tried = store.exclusively(&mut |store| {
        store.lock_epic(&claim)?;
        Err(StoreError::Aborted)
    });
    Ok(match tried {
        Ok(()) | Err(StoreError::Aborted) => None,
        Err(error) => Some(error),
    })
}
