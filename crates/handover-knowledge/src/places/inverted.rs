//! An inverted index in three sections: the first term of every block, the blocks of terms, the postings.
//!
//! Documents have ascending numbers, so a new document is appended to the postings of its terms; lists without a
//! new one are copied as they are. A posting is the distance to the document before it and one byte, whose
//! meaning is the caller's.

use std::collections::BTreeMap;

use super::codec::{Reader, put, put_bytes};

/// Terms in a block. A query reads a block for each of its terms.
const BLOCK: usize = 48;

/// New postings by term. Documents ascend.
pub(super) type Additions = BTreeMap<String, Vec<(u32, u8)>>;

/// The three sections.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Inverted {
    pub(super) index: Vec<u8>,
    pub(super) terms: Vec<u8>,
    pub(super) postings: Vec<u8>,
}

/// The same, borrowed.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) index: &'a [u8],
    pub(super) terms: &'a [u8],
    pub(super) postings: &'a [u8],
}

/// What the dictionary says of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// How many documents have it.
    pub(super) count: u32,
    /// The last of them.
    last: u32,
    /// Where its postings start and end.
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Where a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) start: u64,
    pub(super) end: u64,
    postings: u64,
}

/// The first term of every block.
#[derive(Debug, Default)]
pub(super) struct Directory {
    text: String,
    /// End of the first term in `text`, start of the block, start of its postings.
    blocks: Vec<(usize, u64, u64)>,
    /// The end of the last block.
    end: u64,
}

impl Directory {
    pub(super) fn decode(index: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(index);
        let mut directory = Self { end: reader.number()?, ..Self::default() };
        while !reader.is_empty() {
            directory.text.push_str(reader.text()?);
            directory.blocks.push((directory.text.len(), reader.number()?, reader.number()?));
        }
        Some(directory)
    }

    /// The block that a term would be in.
    pub(super) fn block(&self, term: &str) -> Option<Block> {
        let first = |at: usize| {
            let start = at.checked_sub(1).map_or(0, |before| self.blocks[before].0);
            &self.text[start..self.blocks[at].0]
        };
        let (mut low, mut high) = (0, self.blocks.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if first(middle) <= term { low = middle + 1 } else { high = middle }
        }
        let at = low.checked_sub(1)?;
        let end = self.blocks.get(low).map_or(self.end, |next| next.1);
        Some(Block { start: self.blocks[at].1, end, postings: self.blocks[at].2 })
    }
}

/// Calls `each` with the terms of a block, until it returns false.
pub(super) fn each_term(
    block: Block,
    bytes: &[u8],
    mut each: impl FnMut(&[u8], Entry) -> bool,
) -> Option<()> {
    let (mut reader, mut term, mut start) = (Reader::new(bytes), Vec::new(), block.postings);
    while !reader.is_empty() {
        let shared = usize::try_from(reader.number()?).ok()?;
        if shared > term.len() {
            return None;
        }
        term.truncate(shared);
        term.extend_from_slice(reader.bytes()?);
        let (count, last) = (reader.small()?, reader.small()?);
        let end = start.checked_add(reader.number()?)?;
        if !each(&term, Entry { count, last, start, end }) {
            return Some(());
        }
        start = end;
    }
    Some(())
}

/// Calls `each` with document and byte of every posting; damaged ones end the list.
pub(super) fn each_posting(bytes: &[u8], mut each: impl FnMut(u32, u8)) -> Option<()> {
    let (mut reader, mut document) = (Reader::new(bytes), 0_u32);
    while !reader.is_empty() {
        document = document.checked_add(reader.small()?)?;
        each(document, reader.byte()?);
    }
    Some(())
}

/// Whether the documents keep their numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Renumber<'a> {
    Keep,
    /// The new number of each document; none for one that is dropped. Numbers keep their order.
    To(&'a [Option<u32>]),
}

impl Inverted {
    pub(super) fn view(&self) -> View<'_> {
        View { index: &self.index, terms: &self.terms, postings: &self.postings }
    }

    /// An index with more documents, whose numbers are above all others; none if the old one is damaged.
    pub(super) fn merge(old: View<'_>, renumber: Renumber<'_>, added: &Additions) -> Option<Self> {
        let mut writer = Writer::default();
        let mut added = added.iter().peekable();
        if !old.index.is_empty() {
            let directory = Directory::decode(old.index)?;
            let ends = directory.blocks.iter().skip(1).map(|next| next.1).chain([directory.end]);
            for ((_, start, postings), end) in directory.blocks.iter().zip(ends) {
                let bytes =
                    old.terms.get(usize::try_from(*start).ok()?..usize::try_from(end).ok()?)?;
                let block = Block { start: *start, end, postings: *postings };
                let mut fine = true;
                each_term(block, bytes, |term, entry| {
                    while let Some((new, list)) = added.next_if(|(new, _)| new.as_bytes() < term) {
                        writer.term(new.as_bytes(), &List::default(), list);
                    }
                    let Some(kept) = List::read(old.postings, entry, renumber) else {
                        fine = false;
                        return false;
                    };
                    let same = added.next_if(|(new, _)| new.as_bytes() == term);
                    writer.term(term, &kept, same.map_or(&[], |(_, list)| list));
                    true
                })?;
                if !fine {
                    return None;
                }
            }
        }
        for (term, list) in added {
            writer.term(term.as_bytes(), &List::default(), list);
        }
        Some(writer.finish())
    }
}

/// The postings of a term as they are stored.
#[derive(Default)]
struct List<'a> {
    count: u32,
    last: u32,
    bytes: std::borrow::Cow<'a, [u8]>,
}

impl<'a> List<'a> {
    fn read(postings: &'a [u8], entry: Entry, renumber: Renumber<'_>) -> Option<Self> {
        let range = usize::try_from(entry.start).ok()?..usize::try_from(entry.end).ok()?;
        let bytes = postings.get(range)?;
        let Renumber::To(numbers) = renumber else {
            return Some(Self { count: entry.count, last: entry.last, bytes: bytes.into() });
        };
        let mut list = Self::default();
        let mut out = Vec::with_capacity(bytes.len());
        each_posting(bytes, |document, byte| {
            if let Some(new) = numbers.get(document as usize).copied().flatten() {
                put(&mut out, u64::from(new.saturating_sub(list.last)));
                out.push(byte);
                (list.count, list.last) = (list.count + 1, new);
            }
        })?;
        list.bytes = out.into();
        Some(list)
    }
}

#[derive(Default)]
struct Writer {
    made: Inverted,
    directory: Vec<u8>,
    /// The term before, and how many are in the open block.
    previous: Vec<u8>,
    in_block: usize,
}

impl Writer {
    fn term(&mut self, term: &[u8], kept: &List<'_>, added: &[(u32, u8)]) {
        let count = kept.count as usize + added.len();
        if count == 0 {
            return;
        }
        let start = self.made.postings.len();
        if self.in_block == 0 {
            put_bytes(&mut self.directory, term);
            put(&mut self.directory, self.made.terms.len() as u64);
            put(&mut self.directory, start as u64);
            self.previous.clear();
        }
        self.in_block = (self.in_block + 1) % BLOCK;
        self.made.postings.extend_from_slice(&kept.bytes);
        let mut last = kept.last;
        for (document, byte) in added {
            put(&mut self.made.postings, u64::from(document.saturating_sub(last)));
            self.made.postings.push(*byte);
            last = *document;
        }
        let shared = self.previous.iter().zip(term).take_while(|(a, b)| a == b).count();
        put(&mut self.made.terms, shared as u64);
        put_bytes(&mut self.made.terms, &term[shared..]);
        put(&mut self.made.terms, count as u64);
        put(&mut self.made.terms, u64::from(last));
        put(&mut self.made.terms, (self.made.postings.len() - start) as u64);
        self.previous.clear();
        self.previous.extend_from_slice(term);
    }

    fn finish(mut self) -> Inverted {
        put(&mut self.made.index, self.made.terms.len() as u64);
        self.made.index.append(&mut self.directory);
        self.made
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EMPTY: View<'static> = View { index: &[], terms: &[], postings: &[] };

    /// Everything in an index, found the way a query finds it.
    fn find(made: &Inverted, term: &str) -> Vec<(u32, u8)> {
        let directory = Directory::decode(&made.index).unwrap();
        let mut list = Vec::new();
        let Some(block) = directory.block(term) else { return list };
        let bytes = &made.terms[block.start as usize..block.end as usize];
        each_term(block, bytes, |found, entry| {
            if found == term.as_bytes() {
                let bytes = &made.postings[entry.start as usize..entry.end as usize];
                each_posting(bytes, |document, byte| list.push((document, byte))).unwrap();
                assert_eq!(list.len(), entry.count as usize);
                assert_eq!(list.last().map(|(last, _)| *last), Some(entry.last));
            }
            true
        })
        .unwrap();
        list
    }

    fn additions(documents: &[Vec<String>], first: u32) -> Additions {
        let mut added = Additions::new();
        for (number, terms) in (first..).zip(documents) {
            let mut terms = terms.clone();
            terms.sort();
            terms.dedup();
            for term in terms {
                added.entry(term).or_default().push((number, number as u8));
            }
        }
        added
    }

    fn documents(terms: &'static str) -> impl Strategy<Value = Vec<Vec<String>>> {
        prop::collection::vec(prop::collection::vec(terms, 0..12), 0..12)
    }

    proptest! {
        /// Merging in two steps is the same as building at once, and everything is found.
        #[test]
        fn appending_is_the_same_as_building(one in documents("[a-c]{1,3}"), two in documents("[a-d]{1,3}")) {
            let first = Inverted::merge(EMPTY, Renumber::Keep, &additions(&one, 0)).unwrap();
            let more = additions(&two, one.len() as u32);
            let merged = Inverted::merge(first.view(), Renumber::Keep, &more).unwrap();
            let all: Vec<_> = one.iter().chain(&two).cloned().collect();
            let expected = additions(&all, 0);
            let built = Inverted::merge(EMPTY, Renumber::Keep, &expected).unwrap();
            prop_assert_eq!(&merged, &built);
            for (term, list) in &expected {
                prop_assert_eq!(&find(&merged, term), list);
            }
            prop_assert!(find(&merged, "zz").is_empty());
        }

        /// Dropping documents is the same as never having added them.
        #[test]
        fn renumbering_drops_documents(all in documents("[a-c]{1,3}"), keep in prop::collection::vec(any::<bool>(), 12)) {
            let built = Inverted::merge(EMPTY, Renumber::Keep, &additions(&all, 0)).unwrap();
            let mut next = 0;
            let numbers: Vec<Option<u32>> = keep.iter().map(|keep| {
                keep.then(|| { next += 1; next - 1 })
            }).collect();
            let renumbered = Inverted::merge(built.view(), Renumber::To(&numbers), &Additions::new()).unwrap();
            let mut expected = Additions::new();
            for (term, list) in additions(&all, 0) {
                let list: Vec<_> = list.iter().filter_map(|(document, byte)| Some((numbers[*document as usize]?, *byte))).collect();
                if !list.is_empty() {
                    expected.insert(term, list);
                }
            }
            prop_assert_eq!(renumbered, Inverted::merge(EMPTY, Renumber::Keep, &expected).unwrap());
        }

        #[test]
        fn damaged_bytes_are_survived(
            all in documents("[a-c]{1,3}"),
            at in any::<prop::sample::Index>(),
            section in 0..3,
            change in 1_u8..,
        ) {
            let mut built = Inverted::merge(EMPTY, Renumber::Keep, &additions(&all, 0)).unwrap();
            let bytes = match section { 0 => &mut built.index, 1 => &mut built.terms, _ => &mut built.postings };
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] ^= change;
            }
            let _ = Inverted::merge(built.view(), Renumber::To(&[Some(0); 4]), &additions(&all, 20));
            if let Some(directory) = Directory::decode(&built.index) {
                for term in ["a", "abc", "zz"] {
                    let Some(block) = directory.block(term) else { continue };
                    let range = block.start as usize..block.end as usize;
                    let Some(bytes) = built.terms.get(range) else { continue };
                    let _ = each_term(block, bytes, |_, entry| {
                        let range = entry.start as usize..entry.end as usize;
                        let _ = built.postings.get(range).and_then(|bytes| each_posting(bytes, |_, _| {}));
                        true
                    });
                }
            }
        }
    }
}
