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
            let counts = Present::read(&mut rest)?.counts();
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

/// How many columns a mask has: faster than to count them.
const PRESENT: [u8; 1 << COLUMNS] = {
    let mut counts = [0; 1 << COLUMNS];
    let mut mask = 0;
    while mask < counts.len() {
        counts[mask] = mask.count_ones() as u8;
        mask += 1;
    }
    counts
};

/// In which columns a term is, and how often.
#[derive(Debug, Clone, Copy)]
pub struct Present<'a> {
    mask: u8,
    /// One for each column of the mask.
    counts: &'a [u8],
}

impl<'a> Present<'a> {
    /// Reads one off the front; none if the bytes are not one.
    #[inline]
    pub(super) fn read(packed: &mut &'a [u8]) -> Option<Self> {
        let (mask, rest) = packed.split_first()?;
        let (counts, rest) = rest.split_at_checked((*PRESENT.get(usize::from(*mask))?).into())?;
        *packed = rest;
        Some(Self { mask: *mask, counts })
    }

    /// The columns that have it, in order, with how often.
    #[inline]
    pub fn columns(self) -> impl Iterator<Item = (usize, u8)> + 'a {
        let mut mask = self.mask;
        self.counts.iter().map(move |count| {
            let column = mask.trailing_zeros() as usize;
            mask &= mask.wrapping_sub(1);
            (column, *count)
        })
    }

    pub(super) fn counts(self) -> Counts {
        let mut counts = [0; COLUMNS];
        self.columns().for_each(|(column, count)| counts[column] = count);
        counts
    }
}
