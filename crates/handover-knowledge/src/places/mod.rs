//! Where to look: which files of a checkout a task is about, and why.
//!
//! The index follows git. It knows the terms of every tracked file that people write, the names that it defines,
//! and the history: messages, changed files, renames. It is one file per checkout below `.handover/`, a cache that
//! is rebuilt whenever it is missing or damaged. [`Index::update`] reads what changed; a query reads the few
//! parts that it needs. Content, paths and messages are the checkout's: callers must show them as data.

mod alive;
#[cfg(test)]
mod alive_tests;
mod codec;
mod commits;
mod container;
mod document;
mod files;
mod former;
mod history;
mod index;
mod inverted;
mod lookup;
mod model;
mod rank;
mod reverted;
mod scan;
mod tables;
#[cfg(test)]
mod tests;
mod update;
mod weights;
mod why;

use std::path::Path;

use handover_files::{FileError, Folder};
use handover_text::Redactor;

pub use alive::Names;
pub use index::{Index, Presence};
pub use weights::Weights;
pub use why::section;

use crate::{Git, GitError};

/// A file that the work will probably touch.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Relative to the root of the project.
    pub path: String,
    /// Comparable within one answer only.
    pub score: f64,
    /// Why, in a few words. Names and subjects in it are text of the checkout.
    pub why: String,
    /// Whether the reason quotes the subject of a commit, which anybody may have written.
    pub quotes: bool,
}

/// What a caller knows besides the task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// Files that somebody named for this work.
    pub named: Vec<Named>,
}

/// A file that somebody named.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Relative to the root of the project. It may have been renamed since.
    pub path: String,
    /// The reason to show, such as "named by the developer of attempt 1".
    pub why: String,
    /// 1 for what is certainly about this task, less for what is only near it.
    pub strength: f64,
}

/// Opens the index of a checkout for callers that may not start git.
pub trait IndexSource {
    /// The index, as current as a moment allows; none if there is no checkout, or git does not know it.
    fn index(&self) -> Option<Index>;
}

/// What an update did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Files in the index.
    pub files: usize,
    /// Files that were read.
    pub read: usize,
    /// Files that were dropped, because they are gone.
    pub removed: usize,
    /// Files that were left for the next time.
    pub unread: usize,
    /// Commits in the index.
    pub commits: usize,
    /// Whether the walk through the history is done.
    pub history_complete: bool,
}

impl Progress {
    /// Whether nothing is left for the next time.
    pub fn is_complete(&self) -> bool {
        self.unread == 0 && self.history_complete
    }
}

/// A checkout, and what an update needs to read it.
#[derive(Debug, Clone, Copy)]
pub struct Checkout<'a> {
    /// The root of the project in it.
    pub root: &'a Path,
    /// Its repository, opened for that root.
    pub git: &'a Git,
    /// Hides the secrets in texts and messages before their words go into the index.
    pub redactor: &'a Redactor,
}

/// How a caller follows an update.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Whether to stop as soon as possible.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Called with how many files have been read, of how many.
    pub seen: &'a (dyn Fn(usize, usize) + Sync),
}

impl Watch<'_> {
    /// Does everything, and reports nothing.
    pub const TO_THE_END: Self = Watch { stop: &|| false, seen: &|_, _| {} };
}

/// Why an index cannot be updated.
#[derive(Debug, thiserror::Error)]
pub enum PlacesError {
    /// The checkout cannot be read.
    #[error("cannot read the checkout")]
    Root(#[source] std::io::Error),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The index cannot be written.
    #[error(transparent)]
    Files(#[from] FileError),
    /// The index contradicts itself, even a new one.
    #[error("the index of files is damaged")]
    Damaged,
}

/// How the names of index files end.
const ENDING: &str = ".places";

/// Where the indexes of a project's checkouts are.
fn folder_of(project: &Folder) -> Folder {
    project.inside("places")
}

/// The file of a checkout: each worktree has its own, because its files differ.
fn file_name(root: &Path) -> String {
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes());
    format!("{}{ENDING}", &hash.to_hex()[..16])
}
