//! Caches the detected stack, so that a brief does not walk an unchanged project again.
//!
//! The file records times and sizes of every manifest and every visited folder. A changed folder is listed
//! again; the project is only walked anew if a folder, a manifest or an ignore file was added or removed.
//! Changes at the moment the file was written are not trusted, because file systems count time in ticks.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use handover_files::{Folder as PrivateFolder, Sync};
use serde::{Deserialize, Serialize};

use super::walk::{self, Folder, Stamp, Walk};
use super::{Stack, components};

/// The name of the cache inside `.handover/`, whose `.gitignore` covers it.
pub(super) const CACHE_FILE: &str = "stack-cache.json";

/// Invalidates caches of another layout or other tables.
const FORMAT: &str = concat!("1 ", env!("CARGO_PKG_VERSION"));

/// Two changes within this many nanoseconds may have the same timestamp.
const TICK: i64 = 20_000_000;

/// The size limit of a cache file.
const MOST_BYTES: u64 = 32 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Cache {
    format: String,
    root: String,
    files: BTreeMap<String, Stamp>,
    folders: BTreeMap<String, Folder>,
    stack: Stack,
}

/// Like [`detect`](super::detect), from the cache while it is valid. Reading and writing the cache is best
/// effort: if anything is wrong with it, the project is read instead.
pub fn detect_cached(root: &Path, private: &PrivateFolder) -> Stack {
    if let Some((mut cache, written)) = read(root, private) {
        match check(root, &cache, written) {
            Check::Holds => return cache.stack,
            Check::Refreshed(folders) => {
                cache.folders = folders;
                write(private, &cache);
                return cache.stack;
            }
            Check::Broken => {}
        }
    }
    let walk = walk::walk(root);
    let stack = components::build(root, &walk);
    let Walk { manifests, folders, ignores, .. } = walk;
    let mut files = ignores;
    files.extend(manifests.into_iter().map(|found| (found.path, found.stamp)));
    let root = root.to_string_lossy().into_owned();
    let cache = Cache { format: FORMAT.to_owned(), root, files, folders, stack };
    write(private, &cache);
    cache.stack
}

/// The validity of a cache.
enum Check {
    /// Nothing has changed.
    Holds,
    /// Folders have changed, but nothing relevant in them.
    Refreshed(BTreeMap<String, Folder>),
    /// The project must be read again.
    Broken,
}

fn check(root: &Path, cache: &Cache, written: i64) -> Check {
    let settled = |stamp: &Stamp| stamp.latest() < written - TICK;
    for (path, stamp) in &cache.files {
        if walk::stamp_of(&root.join(path)) != *stamp || !settled(stamp) {
            return Check::Broken;
        }
    }
    let mut fresh: Option<BTreeMap<String, Folder>> = None;
    for (path, folder) in &cache.folders {
        let place = root.join(path);
        let stamp = walk::stamp_of(&place);
        if stamp == folder.stamp && settled(&stamp) {
            continue;
        }
        if stamp == Stamp::default() || walk::contents(&place) != folder.contents {
            return Check::Broken;
        }
        let fresh = fresh.get_or_insert_with(|| cache.folders.clone());
        fresh.insert(path.clone(), Folder { stamp, contents: folder.contents });
    }
    fresh.map_or(Check::Holds, Check::Refreshed)
}

/// The cache and when it was written, if it belongs to this project.
fn read(root: &Path, private: &PrivateFolder) -> Option<(Cache, i64)> {
    let file = private.open_file(CACHE_FILE).ok()??;
    let metadata = file.metadata().ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let cache: Cache = serde_json::from_slice(&bytes).ok()?;
    let ours = cache.format == FORMAT && cache.root == root.to_string_lossy();
    ours.then(|| (cache, Stamp::of(&metadata).latest()))
}

/// Writes atomically; a missing or read-only folder means no cache.
fn write(private: &PrivateFolder, cache: &Cache) {
    if let Ok(bytes) = serde_json::to_vec(cache)
        && private.path().is_dir()
    {
        let _ = private.replace(CACHE_FILE, &bytes, Sync::No);
    }
}
