//! Notes in the index. They have numbers as packages have ids, and pages of postings in the same format.
//!
//! A project has tens of thousands of notes, and every assembly asks for them, so nothing is read but the
//! postings of the words of the task: the count of a term is its weight in the note, in which repetition,
//! column and length are settled already. Notes are short, so they go into the pages at once.

use std::collections::BTreeMap;

use handover_model::{NoteKind, PackageId};

use super::postings::{Pages, merge_postings, posting_pages, without_posting};
use super::{Blocks, Terms, unpack_terms};
use crate::{Column, IndexError, IndexPart, Result, StoreError};

/// How the postings of a term are divided into rows: the largest that fit on a leaf.
pub const NOTE_PAGES: Blocks = Blocks::pages(Blocks::MAX_PAGE);

/// Saturation of repetitions.
const K1: f64 = 1.6;
/// Normalization by length.
const B: f64 = 0.6;
/// The weight of a word in a title, in a path or symbol, and in the text; and how many words those usually
/// have. Fixed, so that the weights of a note do not depend on other notes.
const COLUMNS: [(f64, f64); 3] = [(1.6, 7.0), (1.0, 12.0), (1.0, 90.0)];
/// The weight that fills the byte.
const FULL: f64 = 255.0 / (K1 + 1.0);

/// The column of statements in a conversation. Other notes have theirs in the column of texts, so the index
/// tells them apart without reading a note.
pub const SPOKEN: usize = Column::Context as usize;

/// The terms of a note with their weights.
pub fn note_terms(kind: NoteKind, title: &str, names: &[&str], text: &str) -> Terms {
    let mut frequencies: BTreeMap<String, f64> = BTreeMap::new();
    let columns = [&[title][..], names, &[text]].map(|texts| {
        texts.iter().flat_map(|text| handover_text::words::terms(text)).collect::<Vec<String>>()
    });
    for (terms, (weight, usual)) in columns.into_iter().zip(COLUMNS) {
        let damping = 1.0 - B + B * terms.len() as f64 / usual;
        for term in terms {
            *frequencies.entry(term).or_default() += weight / damping.max(0.5);
        }
    }
    let column = match kind {
        NoteKind::Conversation => Column::Context,
        NoteKind::Doc | NoteKind::Commit | NoteKind::Memory | NoteKind::Manual => Column::Body,
    };
    let weights = frequencies.into_iter().map(|(term, frequency)| {
        let weight = frequency * (K1 + 1.0) / (frequency + K1);
        (term, (weight * FULL).round().clamp(1.0, 255.0) as u8)
    });
    Terms::weighted(column, weights)
}

/// The weight that a posting stands for; the rarity of its term is still to be multiplied with it.
#[inline]
pub fn note_weight(counts: u8) -> f64 {
    WEIGHTS[usize::from(counts)]
}

/// Looked up, because there are tens of thousands of postings in an assembly.
static WEIGHTS: [f64; 256] = {
    let (mut weights, mut at) = ([0.0; 256], 0);
    while at < weights.len() {
        weights[at] = at as f64 / FULL;
        at += 1;
    }
    weights
};

/// Notes that enter and leave the index: which pages that changes, and into what.
#[derive(Debug)]
pub struct NoteEdit {
    pages: BTreeMap<(String, i64), Change>,
}

#[derive(Debug, Default)]
struct Change {
    /// A page of the notes that enter; empty if there are none.
    added: Vec<u8>,
    gone: Vec<PackageId>,
}

impl NoteEdit {
    /// Takes the packed terms of the notes, by number.
    pub fn new(added: &[(PackageId, Vec<u8>)], gone: &[(PackageId, Vec<u8>)]) -> Result<Self> {
        let mut pages: BTreeMap<(String, i64), Change> = BTreeMap::new();
        let new: Pages = posting_pages(added, NOTE_PAGES)?;
        for (key, page) in new {
            pages.entry(key).or_default().added = page;
        }
        for (id, packed) in gone {
            for entry in unpack_terms(packed)? {
                let term = String::from_utf8(entry?.term.to_vec()).map_err(|_| {
                    StoreError::Index(IndexError::Damaged { part: IndexPart::Terms })
                })?;
                pages.entry((term, NOTE_PAGES.number(*id))).or_default().gone.push(*id);
            }
        }
        Ok(Self { pages })
    }

    /// The term and number of each page that changes.
    pub fn keys(&self) -> impl Iterator<Item = &(String, i64)> {
        self.pages.keys()
    }

    /// What becomes of a page that changes; empty if no note is left on it.
    pub fn apply(&self, key: &(String, i64), there: Option<&[u8]>) -> Result<Vec<u8>> {
        let mut page = there.unwrap_or_default().to_vec();
        let Some(change) = self.pages.get(key) else { return Ok(page) };
        for id in &change.gone {
            if !page.is_empty() {
                page = without_posting(&page, *id, NOTE_PAGES)?;
            }
        }
        match (page.is_empty(), change.added.is_empty()) {
            (_, true) => Ok(page),
            (true, false) => Ok(change.added.clone()),
            (false, false) => merge_postings(&page, &change.added),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::Postings;

    fn weight(terms: &Terms, term: &str) -> u8 {
        let packed = terms.packed();
        let entries = unpack_terms(&packed).unwrap();
        let found = entries.map(Result::unwrap).find(|entry| entry.term == term.as_bytes());
        found.map_or(0, |entry| entry.counts.iter().sum())
    }

    #[test]
    fn titles_repetition_and_brevity_add_weight() {
        let plain = weight(&note_terms(NoteKind::Doc, "", &[], "retry the gateway"), "retri");
        assert!(plain > 0);
        assert!(weight(&note_terms(NoteKind::Doc, "retry", &[], "the gateway"), "retri") > plain);
        assert!(
            weight(&note_terms(NoteKind::Doc, "", &[], "retry, retry the gateway"), "retri")
                > plain
        );
        let long = format!("retry the gateway {}", "other words entirely ".repeat(60));
        assert!(weight(&note_terms(NoteKind::Doc, "", &[], &long), "retri") < plain);
        let all = "retry ".repeat(2_000);
        assert!(weight(&note_terms(NoteKind::Doc, &all, &[&all], &all), "retri") > 200);
        assert!((note_weight(255) - (K1 + 1.0)).abs() < 1e-9);
    }

    #[test]
    fn statements_have_a_column_of_their_own() {
        let column = |kind| {
            let packed = note_terms(kind, "", &[], "gateway").packed();
            let entry = unpack_terms(&packed).unwrap().next().unwrap().unwrap();
            entry.counts.iter().position(|count| *count > 0).unwrap()
        };
        assert_eq!(column(NoteKind::Conversation), SPOKEN);
        for kind in [NoteKind::Doc, NoteKind::Commit, NoteKind::Memory, NoteKind::Manual] {
            assert_ne!(column(kind), SPOKEN);
        }
    }

    #[test]
    fn notes_enter_and_leave_pages() {
        let note = |id: i64, text: &str| {
            (PackageId(id), note_terms(NoteKind::Doc, "", &[], text).packed())
        };
        let (one, two) = (note(1, "gateway retry"), note(300, "gateway"));
        let edit = NoteEdit::new(&[one.clone(), two], &[]).unwrap();
        let mut pages = Pages::new();
        for key in edit.keys() {
            pages.insert(key.clone(), edit.apply(key, None).unwrap());
        }
        assert_eq!(pages.keys().filter(|(term, _)| term == "gateway").count(), 2);
        // The first one leaves while another one enters the same page.
        let three = note(2, "gateway");
        let edit = NoteEdit::new(&[three], &[one]).unwrap();
        for key in edit.keys() {
            let page = edit.apply(key, pages.get(key).map(Vec::as_slice)).unwrap();
            pages.insert(key.clone(), page);
        }
        let mut list = Postings::default();
        for ((_, number), page) in pages.iter().filter(|((term, _), _)| term == "gateway") {
            list.push_page(NOTE_PAGES.first(*number), page).unwrap();
        }
        let numbers: Vec<i64> = list.list().iter().map(|posting| posting.package.0).collect();
        assert_eq!(numbers, [2, 300]);
        assert_eq!(pages[&("retri".to_owned(), 0)], [0_u8; 0]);
    }
}
