//! The terms of one package, and how they are packed: for each distinct term its length, its bytes,
//! and its counts. Counts are a mask of the columns that have it and one byte for each of those.

use std::collections::BTreeMap;

use handover_text::words;

use crate::{COLUMNS, Result, StoreError};

/// How often a term occurs in each column; more than 255 is 255.
pub type Counts = [u8; COLUMNS];

/// The distinct terms of a package, and how many each column has with repetitions.
#[derive(Debug)]
pub struct Terms {
    counts: BTreeMap<String, Counts>,
    /// How many terms each column has.
    pub lengths: [u32; COLUMNS],
}

impl Terms {
    /// The terms of the texts of each column.
    pub fn of(columns: [&[&str]; COLUMNS]) -> Self {
        let mut terms = Self { counts: BTreeMap::new(), lengths: [0; COLUMNS] };
        for (column, texts) in columns.iter().enumerate() {
            for term in texts.iter().flat_map(|text| words::terms(text)) {
                terms.lengths[column] = terms.lengths[column].saturating_add(1);
                if u8::try_from(term.len()).is_ok() {
                    let count = &mut terms.counts.entry(term).or_default()[column];
                    *count = count.saturating_add(1);
                }
            }
        }
        terms
    }

    /// Them as one packed list, in their order.
    pub fn packed(&self) -> Vec<u8> {
        let mut packed = Vec::with_capacity(self.counts.len() * 10);
        for (term, counts) in &self.counts {
            packed.push(term.len() as u8);
            packed.extend_from_slice(term.as_bytes());
            pack(counts, &mut packed);
        }
        packed
    }
}

/// A term of a packed list.
#[derive(Debug)]
pub struct PackedTerm<'a> {
    /// Its bytes.
    pub term: &'a [u8],
    /// How often it occurs.
    pub counts: Counts,
}

/// Reads a packed list.
pub fn unpack_terms(mut packed: &[u8]) -> impl Iterator<Item = Result<PackedTerm<'_>>> {
    std::iter::from_fn(move || {
        let (length, rest) = packed.split_first()?;
        let entry = rest.split_at_checked(usize::from(*length)).and_then(|(term, mut rest)| {
            let counts = read(&mut rest)?;
            packed = rest;
            Some(PackedTerm { term, counts })
        });
        if entry.is_none() {
            packed = &[];
        }
        Some(entry.ok_or_else(|| StoreError::damaged("a list of terms ends early")))
    })
}

/// Puts counts behind what is packed already.
pub(super) fn pack(counts: &Counts, packed: &mut Vec<u8>) {
    let present = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    packed.push(present.clone().fold(0, |mask, (column, _)| mask | 1 << column));
    packed.extend(present.map(|(_, count)| *count));
}

/// Reads counts off the front; none if the bytes end early.
#[inline]
pub(super) fn read(packed: &mut &[u8]) -> Option<Counts> {
    let (mask, mut rest) = packed.split_first()?;
    let mut counts = [0; COLUMNS];
    for (column, slot) in counts.iter_mut().enumerate() {
        if mask & 1 << column != 0 {
            let (count, after) = rest.split_first()?;
            (*slot, rest) = (*count, after);
        }
    }
    *packed = rest;
    Some(counts)
}
