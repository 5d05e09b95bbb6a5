//! The terms of one package. Packed form, after the version: for each distinct term its length, its bytes
//! and its counts. Counts are a mask of the columns that have the term, and one byte for each of those.

use std::collections::BTreeMap;

use handover_text::words;

use super::{VERSION, unversioned};
use crate::{COLUMNS, Column, IndexError, IndexPart, Result, StoreError};

/// How often a term occurs in each column, capped at 255.
pub type Counts = [u8; COLUMNS];

/// The distinct terms of a package, and how many terms each column has.
#[derive(Debug)]
pub struct Terms {
    counts: BTreeMap<String, Counts>,
    /// How many terms each column has, including repetitions.
    pub lengths: [u32; COLUMNS],
}

impl Terms {
    /// Splits the texts of each column into terms.
    pub fn of(columns: [&[&str]; COLUMNS]) -> Self {
        let mut terms = Self { counts: BTreeMap::new(), lengths: [0; COLUMNS] };
        for (column, texts) in columns.iter().enumerate() {
            for term in texts.iter().flat_map(|text| words::terms(text)) {
                terms.lengths[column] = terms.lengths[column].saturating_add(1);
                // The length of a packed term is one byte. No one searches for longer ones.
                if u8::try_from(term.len()).is_ok() {
                    let count = &mut terms.counts.entry(term).or_default()[column];
                    *count = count.saturating_add(1);
                }
            }
        }
        terms
    }

    /// Terms with weights instead of counts, all in one column.
    pub(super) fn weighted(column: Column, weights: impl Iterator<Item = (String, u8)>) -> Self {
        let mut counts = BTreeMap::new();
        for (term, weight) in weights.filter(|(term, _)| u8::try_from(term.len()).is_ok()) {
            let mut at = Counts::default();
            at[column as usize] = weight;
            counts.insert(term, at);
        }
        Self { counts, lengths: [0; COLUMNS] }
    }

    /// The packed form, in the order of the terms.
    pub fn packed(&self) -> Vec<u8> {
        let mut packed = Vec::with_capacity(1 + self.counts.len() * 10);
        packed.push(VERSION);
        for (term, counts) in &self.counts {
            packed.push(term.len() as u8);
            packed.extend_from_slice(term.as_bytes());
            pack(counts, &mut packed);
        }
        packed
    }
}

/// A term and its counts, as [`unpack_terms`] finds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedTerm<'a> {
    /// UTF-8, unless the bytes are damaged.
    pub term: &'a [u8],
    /// How often it occurs.
    pub counts: Counts,
}

/// Reads packed terms. Stops after an error.
pub fn unpack_terms(packed: &[u8]) -> Result<impl Iterator<Item = Result<PackedTerm<'_>>>> {
    let mut packed = unversioned(packed, IndexPart::Terms)?;
    Ok(std::iter::from_fn(move || {
        let (length, rest) = packed.split_first()?;
        let entry = rest.split_at_checked(usize::from(*length)).and_then(|(term, mut rest)| {
            let counts = Present::read(&mut rest)?.counts();
            packed = rest;
            Some(PackedTerm { term, counts })
        });
        if entry.is_none() {
            packed = &[];
        }
        let damaged = IndexError::Damaged { part: IndexPart::Terms };
        Some(entry.ok_or(StoreError::Index(damaged)))
    }))
}

/// Appends packed counts.
pub(super) fn pack(counts: &Counts, packed: &mut Vec<u8>) {
    let present = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    packed.push(present.clone().fold(0, |mask, (column, _)| mask | 1 << column));
    packed.extend(present.map(|(_, count)| *count));
}

/// The number of columns in a mask; looking it up is faster than counting bits.
const PRESENT: [u8; 1 << COLUMNS] = {
    let mut counts = [0; 1 << COLUMNS];
    let mut mask = 0;
    while mask < counts.len() {
        counts[mask] = mask.count_ones() as u8;
        mask += 1;
    }
    counts
};

/// The counts of a term in packed form.
#[derive(Debug, Clone, Copy)]
pub struct Present<'a> {
    mask: u8,
    /// One for each column of the mask.
    counts: &'a [u8],
}

impl<'a> Present<'a> {
    /// Reads packed counts from the front; none if the bytes are damaged.
    #[inline]
    pub(super) fn read(packed: &mut &'a [u8]) -> Option<Self> {
        let (mask, rest) = packed.split_first()?;
        let (counts, rest) = rest.split_at_checked((*PRESENT.get(usize::from(*mask))?).into())?;
        *packed = rest;
        Some(Self { mask: *mask, counts })
    }

    /// The columns that have the term, in order, and how often.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpacked(packed: &[u8]) -> Result<Vec<(String, Counts)>> {
        unpack_terms(packed)?
            .map(|entry| {
                let entry = entry?;
                Ok((String::from_utf8_lossy(entry.term).into_owned(), entry.counts))
            })
            .collect()
    }

    proptest! {
        #[test]
        fn terms_survive_packing(texts in proptest::array::uniform5(".{0,60}")) {
            let columns = texts.each_ref().map(|text| [text.as_str()]);
            let terms = Terms::of(columns.each_ref().map(<[&str; 1]>::as_slice));
            let expected: Vec<_> = terms.counts.clone().into_iter().collect();
            prop_assert_eq!(unpacked(&terms.packed()).unwrap(), expected);
        }

        #[test]
        fn counts_survive_packing(counts in any::<Counts>(), tail in any::<[u8; 3]>()) {
            let mut packed = Vec::new();
            pack(&counts, &mut packed);
            packed.extend(tail);
            let mut rest = packed.as_slice();
            prop_assert_eq!(Present::read(&mut rest).unwrap().counts(), counts);
            prop_assert_eq!(rest, tail.as_slice());
        }

        #[test]
        fn arbitrary_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            // Every entry takes at least two bytes, so this also bounds how much is read.
            if let Ok(terms) = unpack_terms(&bytes) {
                prop_assert!(terms.count() <= bytes.len() / 2 + 1);
            }
        }
    }

    #[test]
    fn other_versions_are_refused() {
        let terms = Terms::of([&[], &["a token"], &[], &[], &[]]);
        let mut packed = terms.packed();
        packed[0] = VERSION + 1;
        let error = unpacked(&packed).unwrap_err();
        let expected = IndexError::Version { part: IndexPart::Terms, found: VERSION + 1 };
        assert!(matches!(error, StoreError::Index(found) if found == expected));
        let error = unpacked(&[]).unwrap_err();
        let expected = IndexError::Damaged { part: IndexPart::Terms };
        assert!(matches!(error, StoreError::Index(found) if found == expected));
    }

    #[test]
    fn truncated_terms_are_refused() {
        let packed = Terms::of([&["zebra"], &[], &[], &["zebra"], &[]]).packed();
        assert_eq!(unpacked(&packed).unwrap(), [("zebra".to_owned(), [1, 0, 0, 1, 0])]);
        for length in 2..packed.len() {
            assert!(unpacked(&packed[..length]).is_err(), "{length}");
        }
        // A column that does not exist.
        assert!(unpacked(&[VERSION, 1, b'x', 1 << COLUMNS, 1]).is_err());
    }

    #[test]
    fn counts_and_lengths_saturate_or_skip() {
        let many = "zebra ".repeat(300);
        let long = "x".repeat(300);
        let terms = Terms::of([&[&many], &[&long], &[], &[], &[]]);
        assert_eq!(terms.lengths[0], 300);
        assert_eq!(terms.counts["zebra"], [255, 0, 0, 0, 0]);
        assert!(terms.counts.keys().all(|term| term.len() < 256));
    }
}
