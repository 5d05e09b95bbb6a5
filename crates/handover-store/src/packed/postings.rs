//! Which packages have a term. A page of postings is, for each package in order, its place on the
//! page and its counts.

use std::collections::BTreeMap;

use handover_model::PackageId;
use serde::{Deserialize, Serialize};

use super::terms::{self, Present, unpack_terms};
use super::{at, place};
use crate::{Posting, Result, StoreError};

/// Where a term occurs, by package. As packed as in the store: a frequent term is in every package of a
/// session, and most of them are looked at once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Posting>", into = "Vec<Posting>")]
pub struct Postings {
    count: usize,
    /// Pages, and where what is on them ends.
    runs: Vec<(i64, usize)>,
    packed: Vec<u8>,
}

impl Postings {
    /// How many packages have the term.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.count = 0;
        self.runs.clear();
        self.packed.clear();
    }

    /// Adds a page as a store has it.
    pub fn push_page(&mut self, page: i64, packed: &[u8]) -> Result<()> {
        each(packed, |_, _| self.count += 1)?;
        self.packed.extend_from_slice(packed);
        self.end_run(page);
        Ok(())
    }

    /// Adds one.
    pub fn push(&mut self, posting: &Posting) {
        let (page, local) = place(posting.package);
        self.packed.push(local);
        terms::pack(&posting.counts, &mut self.packed);
        self.end_run(page);
        self.count += 1;
    }

    fn end_run(&mut self, page: i64) {
        match self.runs.last_mut() {
            Some(last) if last.0 == page => last.1 = self.packed.len(),
            _ => self.runs.push((page, self.packed.len())),
        }
    }

    /// Shows each package, and in which columns the term is how often.
    #[inline]
    pub fn each(&self, mut visit: impl FnMut(PackageId, Present<'_>)) {
        let mut start = 0;
        for (page, end) in &self.runs {
            // Looked through when it was added.
            let _ =
                each(&self.packed[start..*end], |local, present| visit(at(*page, local), present));
            start = *end;
        }
    }

    /// All of them, unpacked.
    pub fn list(&self) -> Vec<Posting> {
        let mut list = Vec::with_capacity(self.count);
        self.each(|package, present| list.push(Posting { package, counts: present.counts() }));
        list
    }
}

impl From<Vec<Posting>> for Postings {
    fn from(list: Vec<Posting>) -> Self {
        let mut postings = Self::default();
        list.iter().for_each(|posting| postings.push(posting));
        postings
    }
}

impl From<Postings> for Vec<Posting> {
    fn from(postings: Postings) -> Self {
        postings.list()
    }
}

/// The packed postings of each page of each term.
pub type Pages = BTreeMap<(Vec<u8>, i64), Vec<u8>>;

/// The pages that packages alone would have, given in the order of their ids with their packed terms.
pub fn posting_pages(packages: &[(PackageId, Vec<u8>)]) -> Result<Pages> {
    let mut pages = Pages::new();
    for (id, packed) in packages {
        let (page, local) = place(*id);
        for entry in unpack_terms(packed) {
            let entry = entry?;
            let postings = pages.entry((entry.term.to_vec(), page)).or_default();
            postings.push(local);
            terms::pack(&entry.counts, postings);
        }
    }
    Ok(pages)
}

/// A page of postings without one package.
pub fn without_posting(packed: &[u8], id: PackageId) -> Result<Vec<u8>> {
    let (_, gone) = place(id);
    let mut kept = Vec::new();
    each(packed, |local, present| {
        if local != gone {
            kept.push(local);
            terms::pack(&present.counts(), &mut kept);
        }
    })?;
    Ok(kept)
}

/// What packages that are in no page yet add to the list of each term; they are the newest, so lists
/// with them behind stay in order.
pub fn fresh_postings(
    fresh: &[(PackageId, Vec<u8>)],
    terms: &[String],
) -> Result<Vec<Vec<Posting>>> {
    let mut newer: Vec<Vec<Posting>> = vec![Vec::new(); terms.len()];
    for (id, packed) in fresh {
        for entry in unpack_terms(packed) {
            let entry = entry?;
            if let Some(at) = terms.iter().position(|term| term.as_bytes() == entry.term) {
                newer[at].push(Posting { package: *id, counts: entry.counts });
            }
        }
    }
    Ok(newer)
}

/// Shows the postings of a page in their order.
#[inline]
fn each<'a>(mut packed: &'a [u8], mut visit: impl FnMut(u8, Present<'a>)) -> Result<()> {
    while let Some((local, rest)) = packed.split_first() {
        packed = rest;
        let early = || StoreError::damaged("a page of postings ends early");
        visit(*local, Present::read(&mut packed).ok_or_else(early)?);
    }
    Ok(())
}
