//! The packed text index: the byte formats that both backends store in their own tables, so that a package
//! is found and ranked alike in each. This module handles bytes; the backends read and write rows.
//!
//! - **Candidates**: what ranking needs to know about each package, delta-encoded, many to a *sheet*.
//! - **Terms**: the distinct terms of one package and their counts.
//! - **Postings**: which packages have a term, many to a *page*.
//!
//! Every packed value starts with [`VERSION`]. Package ids ascend within sheets and pages; readers verify
//! it. New packages are kept out of the postings until there are [`FRESH`] of them: the words of one
//! package are spread over the whole index, and many packages touch little more of it than one.

mod blocks;
mod candidates;
mod check;
mod entry;
mod notes;
mod postings;
mod predecessors;
mod terms;

pub use blocks::Blocks;
pub use candidates::{add_candidate, read_candidates, without_candidate};
pub use check::IndexCheck;
pub use entry::Entry;
pub use notes::{NOTE_PAGES, NoteEdit, SPOKEN, note_terms, note_weight};
pub use postings::{
    Pages, Postings, fresh_postings, fresh_words, merge_postings, posting_pages, without_posting,
};
pub use predecessors::{Predecessors, Registration};
pub use terms::{Counts, PackedTerm, Present, Terms, unpack_terms};

use crate::{IndexError, IndexPart, Result, StoreError};

/// The first byte of every packed value. It changes with the format of the bytes after it.
pub const VERSION: u8 = 1;

/// How many packages may be kept out of the postings.
pub const FRESH: usize = 64;

/// The bytes after the version.
fn unversioned(packed: &[u8], part: IndexPart) -> Result<&[u8]> {
    match packed.split_first() {
        Some((&VERSION, content)) => Ok(content),
        Some((&found, _)) => Err(StoreError::Index(IndexError::Version { part, found })),
        None => Err(StoreError::Index(IndexError::Damaged { part })),
    }
}
