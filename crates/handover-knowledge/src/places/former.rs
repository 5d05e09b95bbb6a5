//! Names that files defined once and that no code has any more.
//!
//! Whenever a version of a file is replaced, the names that it defined become candidates; those that are still
//! anywhere in the code drop out again.

use std::collections::BTreeSet;

use handover_text::words;

use super::document::Occurrence;
use super::files::FileKind;
use super::inverted::{Directory, each_posting, each_term};
use super::model::Model;

/// At most so many names are kept.
const MOST: usize = 16_000;
/// Shorter ones are words of everybody.
pub(super) const LEAST: usize = 4;

/// Drops the names that the code has.
pub(super) fn settle(model: &mut Model) {
    let mut former = std::mem::take(&mut model.former);
    let dictionary = Dictionary::of(model);
    former.retain(|name| {
        name.len() >= LEAST && dictionary.as_ref().is_some_and(|all| all.lacks(name) == Some(true))
    });
    while former.len() > MOST {
        former.pop_last();
    }
    model.former = former;
}

pub(super) fn encode(names: &BTreeSet<String>) -> Vec<u8> {
    let mut out = String::new();
    for name in names {
        out.push_str(name);
        out.push('\n');
    }
    out.into_bytes()
}

pub(super) fn decode(bytes: &[u8]) -> Option<BTreeSet<String>> {
    let text = std::str::from_utf8(bytes).ok()?;
    Some(text.lines().map(str::to_owned).collect())
}

/// The terms of all files.
struct Dictionary<'m> {
    model: &'m Model,
    directory: Directory,
}

impl<'m> Dictionary<'m> {
    fn of(model: &'m Model) -> Option<Self> {
        let index = &model.terms.index;
        let directory =
            if index.is_empty() { Directory::default() } else { Directory::decode(index)? };
        Some(Self { model, directory })
    }

    /// Whether no code has the name; none if that is unknown.
    fn lacks(&self, name: &str) -> Option<bool> {
        // The first term of an identifier is all of it.
        let whole = words::terms(name).into_iter().next()?;
        let Some(block) = self.directory.block(&whole) else { return Some(true) };
        let part = |bytes: &'m [u8], start: u64, end: u64| {
            bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
        };
        let mut entry = None;
        each_term(block, part(&self.model.terms.terms, block.start, block.end)?, |term, found| {
            if term == whole.as_bytes() {
                entry = Some(found);
            }
            term < whole.as_bytes()
        })?;
        let Some(entry) = entry else { return Some(true) };
        let mut lacks = true;
        each_posting(
            part(&self.model.terms.postings, entry.start, entry.end)?,
            |document, byte| {
                let found = Occurrence(byte);
                if let Some(row) = self.model.documents.get(document as usize)
                    && row.length > 0
                    && row.kind != FileKind::Prose
                    && found.text() + found.symbols() > 0
                {
                    lacks = false;
                }
            },
        )?;
        Some(lacks)
    }
}
