//! Which packages have a term. A page of postings is, for each package in order, its place on the
//! page and its counts.

use std::collections::BTreeMap;

use handover_model::PackageId;

use super::terms::{self, Counts, unpack_terms};
use super::{at, place};
use crate::{Posting, Result, StoreError};

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
    each(packed, |local, counts| {
        if local != gone {
            kept.push(local);
            terms::pack(&counts, &mut kept);
        }
    })?;
    Ok(kept)
}

/// Adds the postings of a page.
pub fn read_postings(page: i64, packed: &[u8], list: &mut Vec<Posting>) -> Result<()> {
    each(packed, |local, counts| list.push(Posting { package: at(page, local), counts }))
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
fn each(mut packed: &[u8], mut visit: impl FnMut(u8, Counts)) -> Result<()> {
    while let Some((local, rest)) = packed.split_first() {
        packed = rest;
        let early = || StoreError::damaged("a page of postings ends early");
        visit(*local, terms::read(&mut packed).ok_or_else(early)?);
    }
    Ok(())
}
