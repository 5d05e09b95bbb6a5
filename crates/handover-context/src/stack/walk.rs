//! Finds manifests: a bounded walk that respects `.gitignore` and skips dependencies, build output and links.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ignore::WalkBuilder;
use serde::{Deserialize, Serialize};

use super::Note;
use super::manifests::{self, Reader};
use crate::ignore_files;

/// The deepest level that is searched.
const MOST_DEPTH: usize = 6;
/// The most files and folders that are visited.
const MOST_ENTRIES: usize = 50_000;
/// The most manifests that are read.
const MOST_MANIFESTS: usize = 1_000;
/// The size limit of a manifest.
pub(super) const MOST_BYTES: u64 = 1024 * 1024;

/// Folders of dependencies, build outputs, tools and test data.
const SKIPPED: &[&str] = &[
    ".bundle",
    ".cache",
    ".dart_tool",
    ".eggs",
    ".git",
    ".gradle",
    ".handover",
    ".hg",
    ".idea",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".nox",
    ".pnpm-store",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".svn",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".vs",
    ".yarn",
    "Carthage",
    "DerivedData",
    "Pods",
    "__fixtures__",
    "__pycache__",
    "_build",
    "bower_components",
    "build",
    "coverage",
    "deps",
    "dist",
    "fixtures",
    "node_modules",
    "obj",
    "out",
    "site-packages",
    "target",
    "testdata",
    "vendor",
    "venv",
    "virtualenv",
];

/// The result of the walk.
#[derive(Default)]
pub(super) struct Walk {
    /// The manifests, by path.
    pub(super) manifests: Vec<Found>,
    /// Every visited folder by path; `.` is the root.
    pub(super) folders: BTreeMap<String, Folder>,
    /// The ignore files.
    pub(super) ignores: BTreeMap<String, Stamp>,
    /// The limits that were reached.
    pub(super) notes: Vec<Note>,
}

/// A manifest that was found.
pub(super) struct Found {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    pub(super) reader: &'static Reader,
    pub(super) stamp: Stamp,
}

/// The timestamps and size of a file or folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    modified: i64,
    changed: i64,
    size: u64,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let nanos =
            |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.size(),
        }
    }

    /// The later of the two timestamps.
    pub(super) fn latest(&self) -> i64 {
        self.modified.max(self.changed)
    }
}

/// A visited folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Folder {
    pub(super) stamp: Stamp,
    /// A hash of its relevant contents: folders, manifests, ignore files.
    pub(super) contents: u64,
}

/// Walks a project.
pub(super) fn walk(root: &Path) -> Walk {
    let mut walk = Walk::default();
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .max_depth(Some(MOST_DEPTH))
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_below = is_folder && entry.depth() > 0;
            let is_skipped = is_skipped(&entry.file_name().to_string_lossy());
            !is_below || (!is_skipped && ignore_files::are_readable(entry.path()))
        });
    if !ignore_files::are_readable(root) {
        builder.ignore(false).git_ignore(false).git_exclude(false);
    }
    let mut seen = 0;
    for entry in builder.build() {
        let Ok(entry) = entry else { continue };
        seen += 1;
        if seen > MOST_ENTRIES {
            walk.note(format!("only the first {MOST_ENTRIES} files and folders were looked at"));
            break;
        }
        let (Some(kind), Some(path)) = (entry.file_type(), relative(root, entry.path())) else {
            continue;
        };
        if kind.is_dir() {
            if entry.depth() < MOST_DEPTH
                && let Ok(metadata) = fs_err::symlink_metadata(entry.path())
            {
                let stamp = Stamp::of(&metadata);
                let contents = contents(entry.path());
                walk.folders.insert(path, Folder { stamp, contents });
            }
        } else if kind.is_file() {
            let name = file_name(&path);
            if is_ignore_file(name) {
                walk.ignores.insert(path, stamp_of(entry.path()));
            } else if let Some(reader) = manifests::reader(&path) {
                if walk.manifests.len() == MOST_MANIFESTS {
                    walk.note(format!("only the first {MOST_MANIFESTS} manifests were read"));
                    break;
                }
                let stamp = stamp_of(entry.path());
                walk.manifests.push(Found { path, reader, stamp });
            }
        }
    }
    walk
}

impl Walk {
    fn note(&mut self, message: String) {
        self.notes.push(Note { file: ".".to_owned(), message });
    }
}

/// A hash of the relevant contents of a folder, which a new source file does not change.
pub(super) fn contents(folder: &Path) -> u64 {
    let Ok(entries) = fs_err::read_dir(folder) else { return 0 };
    let mut names: Vec<String> = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !is_skipped(&name) {
            names.push(format!("{name}/"));
        } else if is_ignore_file(&name) || manifests::might_be(&name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    let hash = blake3::hash(names.join("\0").as_bytes());
    let bytes = hash.as_bytes();
    u64::from_le_bytes([
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
    ])
}

/// The stamp of a file; zero if it does not exist.
pub(super) fn stamp_of(path: &Path) -> Stamp {
    fs_err::symlink_metadata(path).map_or_else(|_| Stamp::default(), |data| Stamp::of(&data))
}

fn is_skipped(name: &str) -> bool {
    SKIPPED.contains(&name)
}

fn is_ignore_file(name: &str) -> bool {
    matches!(name, ".gitignore" | ".ignore")
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn relative(root: &Path, path: &Path) -> Option<String> {
    let path = path.strip_prefix(root).ok()?.to_str()?;
    Some(if path.is_empty() { ".".to_owned() } else { path.to_owned() })
}
