//! What the user agreed to, in one small file per checkout below the user's state folder.
//!
//! The name of a file is the hash of the checkout's path, so looking a checkout up opens one file, however
//! many there are. Only the user may read or write them; a file of somebody else does not count.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use handover_files::{Folder, Sync};
use handover_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::Want;
use crate::env;
use crate::error::{CommandError, Exit, io};

/// The folder below the user's state folder.
const FOLDER: &str = "trust";

/// How the names of records end.
const END: &str = ".json";

/// The lock file that is held while a record changes.
const LOCK: &str = ".lock";

/// The size limit of a record.
const MAX_BYTES: u64 = 1024 * 1024;

/// How many agreements are kept per checkout; the ones for values that are gone go first.
const MAX_AGREEMENTS: usize = 4_000;

/// How many checkouts are listed.
const MAX_LISTED: usize = 10_000;

/// What the user agreed to in one checkout.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The checkout, as far as it can be written as text.
    pub(crate) root: String,
    /// When the user last agreed to something.
    pub(crate) at: Timestamp,
    /// By fingerprint, the key or file that it is about.
    pub(crate) agreed: BTreeMap<String, String>,
}

impl Record {
    pub(super) fn into_fingerprints(self) -> impl Iterator<Item = String> {
        self.agreed.into_keys()
    }
}

/// The record of a checkout. What cannot be read is not trusted.
pub(super) fn read(root: &Path) -> Option<Record> {
    read_file(&folder()?, &name_of(root))
}

/// Adds to what the user agreed to in a checkout.
pub(crate) fn remember(root: &Path, wants: &[Want], now: Timestamp) -> Result<(), CommandError> {
    let folder = folder().ok_or_else(homeless)?;
    // Two commands at once would otherwise overwrite each other's agreements.
    let lock = lock(&folder)?;
    let name = name_of(root);
    let mut agreed: BTreeMap<String, String> =
        wants.iter().map(|want| (want.fingerprint.clone(), want.key.clone())).collect();
    let earlier = read_file(&folder, &name).map(|record| record.agreed).unwrap_or_default();
    let room = MAX_AGREEMENTS.saturating_sub(agreed.len());
    agreed.extend(earlier.into_iter().take(room));
    let record = Record { root: root.display().to_string(), at: now, agreed };
    let text = serde_json::to_vec(&record).map_err(|error| io(&error.into()))?;
    folder.replace(&name, &text, Sync::Yes)?;
    drop(lock);
    Ok(())
}

/// Forgets a checkout; says whether there was anything to forget.
pub(crate) fn forget(root: &Path) -> Result<bool, CommandError> {
    let Some(folder) = folder() else { return Ok(false) };
    let name = name_of(root);
    let was_there = folder.has(&name);
    folder.remove(&name)?;
    Ok(was_there)
}

/// Every checkout in which the user agreed to something, by path.
pub(crate) fn all() -> Vec<Record> {
    let Some(folder) = folder() else { return Vec::new() };
    let entries = folder.entries().unwrap_or_default();
    let names = entries.into_iter().map(|entry| entry.name).filter(|name| name.ends_with(END));
    let mut records: Vec<Record> =
        names.take(MAX_LISTED).filter_map(|name| read_file(&folder, &name)).collect();
    records.sort_by(|a, b| a.root.cmp(&b.root));
    records
}

fn folder() -> Option<Folder> {
    Some(Folder::at(env::user_state_folder()?).inside(FOLDER))
}

fn name_of(root: &Path) -> String {
    format!("{}{END}", blake3::hash(root.as_os_str().as_bytes()).to_hex())
}

fn read_file(folder: &Folder, name: &str) -> Option<Record> {
    let data = fs_err::symlink_metadata(folder.path().join(name)).ok()?;
    let mine = data.uid() == rustix::process::geteuid().as_raw();
    let bytes = folder.read(name, MAX_BYTES).ok()?.filter(|_| mine)?;
    serde_json::from_slice(&bytes).ok()
}

fn lock(folder: &Folder) -> Result<std::fs::File, CommandError> {
    let state = env::user_state_folder().ok_or_else(homeless)?;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(state)
        .map_err(|error| io(&error))?;
    folder.create()?;
    let file = folder.append(LOCK)?;
    file.lock().map_err(|error| io(&error))?;
    Ok(file)
}

fn homeless() -> CommandError {
    let message = "there is no home folder to remember this in";
    CommandError::new(Exit::Environment, "no_home", message)
        .hinted(format!("Set HOME or XDG_STATE_HOME; for one call, set {}=1 instead.", env::TRUST))
}
