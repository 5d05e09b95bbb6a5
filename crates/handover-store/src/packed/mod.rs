//! The packed text index: what both backends keep as pages in tables of their own, so that a package
//! is found and ranked alike wherever it is. Only bytes here; reading and writing pages is theirs.
//!
//! Postings are packed into pages of [`PAGE`] packages, what ranking needs to know of each package into
//! sheets of [`SHEET`]. A package's terms wait outside of the
//! postings until [`FRESH`] packages have gathered: a package has words all over the index, and many
//! packages touch little more of it than one.

mod candidates;
mod old_pages;
mod postings;
mod terms;

use handover_model::{GroupId, Package, PackageId, Priority, Role, Scope, Timestamp};
use handover_text::Clean;

use crate::NewPackage;

pub use candidates::{add_candidate, read_candidates, without_candidate};
pub use old_pages::sheets_of_page;
pub use postings::{Pages, Postings, fresh_postings, posting_pages, without_posting};
pub use terms::{Counts, PackedTerm, Present, Terms, unpack_terms};

/// Packages to a page. The postings of a term that all of them have still fit into a leaf of the
/// tree.
pub const PAGE: i64 = 128;

/// Packages to a sheet. Few, because a row that does not fit into a quarter of a leaf is read from
/// elsewhere, twice.
pub const SHEET: i64 = 32;

/// So many packages may wait outside of the postings.
pub const FRESH: usize = 64;

/// The page of a package and its place there.
pub fn place(id: PackageId) -> (i64, u8) {
    (id.0.div_euclid(PAGE), id.0.rem_euclid(PAGE) as u8)
}

/// The sheet of a package and its place there.
pub fn on_sheet(id: PackageId) -> (i64, u8) {
    (id.0.div_euclid(SHEET), id.0.rem_euclid(SHEET) as u8)
}

/// The package at a place.
pub(crate) fn at(page: i64, local: u8) -> PackageId {
    PackageId(page * PAGE + i64::from(local))
}

/// What the index takes of a package.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The package.
    pub id: PackageId,
    /// Its version.
    pub version: u32,
    /// How much it matters.
    pub priority: Priority,
    /// Who gets it.
    pub scope: Scope,
    /// Its group.
    pub group: Option<&'a GroupId>,
    /// Who wrote it.
    pub producer: &'a Role,
    /// Whom it is for.
    pub consumers: &'a [Role],
    /// When it was made.
    pub created_at: Timestamp,
    /// Its title; empty for none.
    pub title: &'a str,
    /// Its summary.
    pub summary: &'a str,
    /// The paths that it is about, its own included.
    pub files: Vec<&'a str>,
    /// Its text.
    pub body: &'a str,
}

impl<'a> Entry<'a> {
    /// What the index takes of a package that is in the store.
    pub fn of(package: &'a Package, body: &'a str) -> Self {
        Self {
            id: package.id,
            version: package.version,
            priority: package.priority,
            scope: package.scope,
            group: package.group.as_ref(),
            producer: &package.producer,
            consumers: &package.consumers,
            created_at: package.created_at,
            title: package.title.as_deref().unwrap_or_default(),
            summary: &package.summary,
            files: package.files.iter().chain([&package.path]).map(String::as_str).collect(),
            body,
        }
    }

    /// What the index takes of a package that is being registered.
    pub fn new(id: PackageId, version: u32, new: &'a NewPackage) -> Self {
        Self {
            id,
            version,
            priority: new.priority,
            scope: new.scope,
            group: new.group.as_ref(),
            producer: &new.producer,
            consumers: &new.consumers,
            created_at: new.created_at,
            title: new.title.as_ref().map_or("", Clean::as_str),
            summary: new.summary.as_str(),
            files: new.files.iter().map(Clean::as_str).chain([new.path.as_str()]).collect(),
            body: new.body.as_str(),
        }
    }

    /// Its terms, given the summary of the package before it in its group. A short note is often
    /// only found by what it answers. A package without a group stands alone.
    pub fn terms(&self, before: Option<&str>) -> Terms {
        let context = match self.group {
            Some(_) => {
                let (author, day) = (self.producer, self.created_at.day_in_words());
                format!("{author} {day} {}", before.unwrap_or_default())
            }
            None => String::new(),
        };
        Terms::of([&[self.title], &[self.summary], &self.files, &[self.body], &[&context]])
    }
}
