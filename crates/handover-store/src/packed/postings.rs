//! Which packages have a term. A page of postings contains, after the version, the offset in the block and
//! the counts of each package, in the order of their ids.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::PackageId;
use serde::{Deserialize, Serialize};

use super::terms::{self, Present, unpack_terms};
use super::{Blocks, VERSION, unversioned};
use crate::{IndexError, IndexPart, Posting, Result, StoreError};

const DAMAGED: IndexError = IndexError::Damaged { part: IndexPart::Postings };
const ORDER: IndexError = IndexError::Order { part: IndexPart::Postings };

/// The packages that have a term, by id. Kept packed as in the store: a frequent term is in every package
/// of a session, and most postings are read once.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Posting>", into = "Vec<Posting>")]
pub struct Postings {
    count: usize,
    last: Option<PackageId>,
    /// The first package id of each block, and where the block ends in `packed`.
    runs: Vec<(i64, usize)>,
    /// Offsets and counts, without versions.
    packed: Vec<u8>,
}

impl Postings {
    /// The block size for postings that are pushed one by one.
    const BLOCKS: Blocks = Blocks::pages(Blocks::MAX_PAGE);

    /// How many packages have the term.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Removes all postings and keeps the memory.
    pub fn clear(&mut self) {
        self.count = 0;
        self.last = None;
        self.runs.clear();
        self.packed.clear();
    }

    /// Appends a page as stored; `first` is the first package id of its block.
    pub fn push_page(&mut self, first: PackageId, packed: &[u8]) -> Result<()> {
        let content = unversioned(packed, IndexPart::Postings)?;
        let (mut count, mut ends) = (0, None);
        each(content, |offset, _| {
            count += 1;
            ends = Some((ends.map_or(offset, |(lowest, _)| lowest), offset));
        })?;
        let Some((lowest, highest)) = ends else { return Ok(()) };
        if self.last.is_some_and(|last| last >= at(first.0, lowest)) {
            return Err(StoreError::Index(ORDER));
        }
        self.count += count;
        self.last = Some(at(first.0, highest));
        self.packed.extend_from_slice(content);
        self.end_run(first.0);
        Ok(())
    }

    /// Appends a posting, which must have the highest id.
    pub fn push(&mut self, posting: &Posting) -> Result<(), IndexError> {
        if self.last.is_some_and(|last| last >= posting.package) {
            return Err(ORDER);
        }
        let block = Self::BLOCKS;
        self.packed.push(block.offset(posting.package));
        terms::pack(&posting.counts, &mut self.packed);
        self.end_run(block.first(block.number(posting.package)).0);
        self.count += 1;
        self.last = Some(posting.package);
        Ok(())
    }

    fn end_run(&mut self, first: i64) {
        match self.runs.last_mut() {
            Some(last) if last.0 == first => last.1 = self.packed.len(),
            _ => self.runs.push((first, self.packed.len())),
        }
    }

    /// Visits each package and the counts of the term there.
    #[inline]
    pub fn each(&self, mut visit: impl FnMut(PackageId, Present<'_>)) {
        let mut start = 0;
        for (first, end) in &self.runs {
            let mut packed = &self.packed[start..*end];
            // Order and length were checked when it was pushed.
            while let Some((offset, present)) = next(&mut packed) {
                visit(at(*first, offset), present);
            }
            start = *end;
        }
    }

    /// All postings, unpacked.
    pub fn list(&self) -> Vec<Posting> {
        let mut list = Vec::with_capacity(self.count);
        self.each(|package, present| list.push(Posting { package, counts: present.counts() }));
        list
    }
}

impl PartialEq for Postings {
    fn eq(&self, other: &Self) -> bool {
        // Blocks may be divided differently.
        self.count == other.count && self.list() == other.list()
    }
}

impl TryFrom<Vec<Posting>> for Postings {
    type Error = IndexError;

    fn try_from(list: Vec<Posting>) -> Result<Self, IndexError> {
        let mut postings = Self::default();
        list.iter().try_for_each(|posting| postings.push(posting))?;
        Ok(postings)
    }
}

impl From<Postings> for Vec<Posting> {
    fn from(postings: Postings) -> Self {
        postings.list()
    }
}

/// The packed page of each term and block number.
pub type Pages = BTreeMap<(String, i64), Vec<u8>>;

/// The pages of some packages, given in the order of their ids with their packed terms.
pub fn posting_pages(packages: &[(PackageId, Vec<u8>)], blocks: Blocks) -> Result<Pages> {
    if packages.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return Err(StoreError::Index(ORDER));
    }
    let mut pages = Pages::new();
    for (id, packed) in packages {
        for entry in unpack_terms(packed)? {
            let entry = entry?;
            let term = String::from_utf8(entry.term.to_vec())
                .map_err(|_| StoreError::Index(IndexError::Damaged { part: IndexPart::Terms }))?;
            let page = pages.entry((term, blocks.number(*id))).or_insert_with(|| vec![VERSION]);
            page.push(blocks.offset(*id));
            terms::pack(&entry.counts, page);
        }
    }
    Ok(pages)
}

/// Merges two pages of the same term and block.
pub fn merge_postings(one: &[u8], other: &[u8]) -> Result<Vec<u8>> {
    let mut postings = BTreeMap::new();
    for packed in [one, other] {
        each(unversioned(packed, IndexPart::Postings)?, |offset, present| {
            postings.insert(offset, present);
        })?;
    }
    Ok(page(postings.into_iter()))
}

/// A page without one package; empty if it was the only one.
pub fn without_posting(packed: &[u8], id: PackageId, blocks: Blocks) -> Result<Vec<u8>> {
    let mut kept = Vec::new();
    each(unversioned(packed, IndexPart::Postings)?, |offset, present| {
        if offset != blocks.offset(id) {
            kept.push((offset, present));
        }
    })?;
    Ok(if kept.is_empty() { Vec::new() } else { page(kept.into_iter()) })
}

fn page<'a>(postings: impl Iterator<Item = (u8, Present<'a>)>) -> Vec<u8> {
    let mut page = vec![VERSION];
    for (offset, present) in postings {
        page.push(offset);
        terms::pack(&present.counts(), &mut page);
    }
    page
}

/// The contribution of packages that are in no page yet to the postings of each term.
pub fn fresh_postings(
    fresh: &[(PackageId, Vec<u8>)],
    terms: &[String],
) -> Result<Vec<Vec<Posting>>> {
    let mut postings: Vec<Vec<Posting>> = vec![Vec::new(); terms.len()];
    for (id, packed) in fresh {
        for entry in unpack_terms(packed)? {
            let entry = entry?;
            if let Some(at) = terms.iter().position(|term| term.as_bytes() == entry.term) {
                postings[at].push(Posting { package: *id, counts: entry.counts });
            }
        }
    }
    Ok(postings)
}

/// Adds the words of packages that are in no page yet.
pub fn fresh_words(fresh: &[(PackageId, Vec<u8>)], words: &mut BTreeSet<String>) -> Result<()> {
    for (_, packed) in fresh {
        for entry in unpack_terms(packed)? {
            words.insert(String::from_utf8_lossy(entry?.term).into_owned());
        }
    }
    Ok(())
}

/// Made only when it is needed: there are thousands of postings in an assembly, and an error to be dropped for each
/// took as long as reading it.
#[cold]
fn damaged() -> StoreError {
    StoreError::Index(DAMAGED)
}

/// Visits the postings of a page, whose offsets must ascend.
#[inline]
fn each<'a>(mut packed: &'a [u8], mut visit: impl FnMut(u8, Present<'a>)) -> Result<()> {
    let mut last = None;
    while !packed.is_empty() {
        let (offset, present) = next(&mut packed).ok_or_else(damaged)?;
        if last.is_some_and(|last| last >= offset) {
            return Err(StoreError::Index(ORDER));
        }
        last = Some(offset);
        visit(offset, present);
    }
    Ok(())
}

/// Reads a posting from the front.
#[inline]
fn next<'a>(packed: &mut &'a [u8]) -> Option<(u8, Present<'a>)> {
    let (offset, rest) = packed.split_first()?;
    *packed = rest;
    Some((*offset, Present::read(packed)?))
}

#[inline]
fn at(first: i64, offset: u8) -> PackageId {
    PackageId(first.saturating_add(i64::from(offset)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::COLUMNS;
    use crate::packed::Terms;

    const BLOCKS: Blocks = Blocks::pages(128);

    fn posting(id: i64, counts: [u8; COLUMNS]) -> Posting {
        Posting { package: PackageId(id), counts }
    }

    fn postings() -> impl Strategy<Value = Vec<Posting>> {
        proptest::collection::btree_map(0_i64..2_000, any::<[u8; COLUMNS]>(), 0..60)
            .prop_map(|all| all.into_iter().map(|(id, counts)| posting(id, counts)).collect())
    }

    /// Pages as a store would have them.
    fn paged(list: &[Posting]) -> BTreeMap<i64, Vec<u8>> {
        let mut pages: BTreeMap<i64, Vec<u8>> = BTreeMap::new();
        for posting in list {
            let number = BLOCKS.number(posting.package);
            let page = pages.entry(number).or_insert_with(|| vec![VERSION]);
            page.push(BLOCKS.offset(posting.package));
            terms::pack(&posting.counts, page);
        }
        pages
    }

    proptest! {
        #[test]
        fn pages_and_single_postings_are_the_same(list in postings(), split in 0_usize..60) {
            let (paged_part, pushed_part) = list.split_at(split.min(list.len()));
            let mut mixed = Postings::default();
            for (number, page) in paged(paged_part) {
                mixed.push_page(BLOCKS.first(number), &page).unwrap();
            }
            for posting in pushed_part {
                mixed.push(posting).unwrap();
            }
            prop_assert_eq!(mixed.count(), list.len());
            prop_assert_eq!(mixed.list(), list.clone());
            let sent = serde_json::to_string(&mixed).unwrap();
            let received: Postings = serde_json::from_str(&sent).unwrap();
            prop_assert_eq!(&received, &mixed);
            mixed.clear();
            prop_assert_eq!(mixed, Postings::default());
        }

        #[test]
        fn merging_and_removing_are_inverse(
            one in proptest::collection::btree_map(0_i64..128, any::<[u8; COLUMNS]>(), 1..20),
            id in 0_i64..128,
            counts in any::<[u8; COLUMNS]>(),
        ) {
            prop_assume!(!one.contains_key(&id));
            let list: Vec<_> = one.into_iter().map(|(id, counts)| posting(id, counts)).collect();
            let page = paged(&list).remove(&0).unwrap();
            let added = paged(&[posting(id, counts)]).remove(&0).unwrap();
            let both = merge_postings(&page, &added).unwrap();
            prop_assert_eq!(&both, &merge_postings(&added, &page).unwrap());
            prop_assert_eq!(without_posting(&both, PackageId(id), BLOCKS).unwrap(), page);
            prop_assert_eq!(without_posting(&added, PackageId(id), BLOCKS).unwrap(), Vec::<u8>::new());
        }

        #[test]
        fn arbitrary_bytes_are_read_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            first in any::<i64>(),
        ) {
            let mut list = Postings::default();
            if list.push_page(PackageId(first), &bytes).is_ok() {
                prop_assert!(list.count() <= 256 && list.list().len() == list.count());
            }
            let _ = merge_postings(&bytes, &[VERSION]);
            let _ = without_posting(&bytes, PackageId(first), BLOCKS);
            let _ = fresh_postings(&[(PackageId(1), bytes.clone())], &["x".to_owned()]);
            let _ = posting_pages(&[(PackageId(1), bytes)], BLOCKS);
        }
    }

    #[test]
    fn terms_become_pages() {
        let terms = |text: &str| Terms::of([&[], &[], &[], &[text], &[]]).packed();
        let packages = [(PackageId(1), terms("zebra zebra")), (PackageId(130), terms("zebra ox"))];
        let pages = posting_pages(&packages, BLOCKS).unwrap();
        let keys: Vec<_> = pages.keys().map(|(term, number)| (term.as_str(), *number)).collect();
        assert_eq!(keys, [("ox", 1), ("zebra", 0), ("zebra", 1)]);
        let mut list = Postings::default();
        for ((_, number), page) in pages.iter().filter(|((term, _), _)| term == "zebra") {
            list.push_page(BLOCKS.first(*number), page).unwrap();
        }
        let expected = [posting(1, [0, 0, 0, 2, 0]), posting(130, [0, 0, 0, 1, 0])];
        assert_eq!(list.list(), expected);
        let fresh = fresh_postings(&packages, &["ox".to_owned(), "zebra".to_owned()]).unwrap();
        assert_eq!(fresh, [vec![posting(130, [0, 0, 0, 1, 0])], expected.to_vec()]);
    }

    fn refusal<T: std::fmt::Debug>(result: Result<T>) -> IndexError {
        let error = result.unwrap_err();
        let StoreError::Index(error) = error else { panic!("{error}") };
        error
    }

    #[test]
    fn ids_must_ascend() {
        let packed = Terms::of([&["x"], &[], &[], &[], &[]]).packed();
        let packages = [(PackageId(2), packed.clone()), (PackageId(1), packed)];
        assert_eq!(refusal(posting_pages(&packages, BLOCKS)), ORDER);
        let mut list = Postings::default();
        list.push(&posting(7, [1, 0, 0, 0, 0])).unwrap();
        assert_eq!(list.push(&posting(7, [1, 0, 0, 0, 0])), Err(ORDER));
        // Offset 7 of the first block is package 7 again, offset 8 is not.
        assert_eq!(refusal(list.push_page(PackageId(0), &[VERSION, 7, 1, 1])), ORDER);
        list.push_page(PackageId(0), &[VERSION, 8, 1, 1]).unwrap();
        assert_eq!(refusal(list.push_page(PackageId(128), &[VERSION, 5, 1, 1, 5, 1, 1])), ORDER);
        assert_eq!(list.count(), 2, "a refused page adds nothing");
        let backwards = serde_json::to_string(&[posting(2, [1; 5]), posting(1, [1; 5])]).unwrap();
        assert!(serde_json::from_str::<Postings>(&backwards).is_err());
    }

    #[test]
    fn other_versions_are_refused() {
        let expected = IndexError::Version { part: IndexPart::Postings, found: 9 };
        assert_eq!(refusal(Postings::default().push_page(PackageId(0), &[9, 1, 1, 1])), expected);
        assert_eq!(refusal(merge_postings(&[VERSION], &[9])), expected);
        assert_eq!(refusal(without_posting(&[9], PackageId(1), BLOCKS)), expected);
        assert_eq!(refusal(without_posting(&[], PackageId(1), BLOCKS)), DAMAGED);
        assert_eq!(refusal(Postings::default().push_page(PackageId(0), &[VERSION, 1])), DAMAGED);
    }
}
