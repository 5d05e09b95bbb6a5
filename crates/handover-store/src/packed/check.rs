//! Comparing the index of a session with the packages that it was made from.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::PackageId;

use super::candidates::{self, Record, consumer_list};
use super::{Blocks, Entry, Pages, posting_pages};
use crate::Result;

/// Collects what a session's index holds, compares it with the texts, and lists the differences.
#[derive(Debug)]
pub struct IndexCheck {
    sheets: Blocks,
    pages: Blocks,
    /// Records in full form.
    candidates: BTreeMap<PackageId, Vec<u8>>,
    terms: BTreeMap<PackageId, Vec<u8>>,
    problems: Vec<String>,
}

impl IndexCheck {
    /// A check of an index with these blocks.
    pub fn new(sheets: Blocks, pages: Blocks) -> Self {
        Self {
            sheets,
            pages,
            candidates: BTreeMap::new(),
            terms: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// Takes a sheet of candidates as the store has it.
    pub fn sheet(&mut self, number: i64, packed: &[u8]) {
        let first = self.sheets.first(number);
        let read = candidates::each(packed, |record, _| {
            let id = PackageId(first.0.saturating_add(i64::from(record.offset())));
            self.candidates.insert(id, record.in_full());
        });
        self.note(read);
    }

    /// Takes the terms of a package as the store has them.
    pub fn terms(&mut self, id: PackageId, packed: Vec<u8>) {
        self.terms.insert(id, packed);
    }

    /// Compares the postings with the terms that were taken: those of all packages but the fresh ones.
    /// Comes after [`terms`](Self::terms) and before [`package`](Self::package).
    pub fn postings(&mut self, fresh: &BTreeSet<PackageId>, found: &Pages) {
        let settled: Vec<(PackageId, Vec<u8>)> = self
            .terms
            .iter()
            .filter(|(id, _)| !fresh.contains(id))
            .map(|(id, terms)| (*id, terms.clone()))
            .collect();
        match posting_pages(&settled, self.pages) {
            Ok(expected) if expected == *found => {}
            Ok(expected) => {
                let keys: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
                let differ = keys.into_iter().filter(|key| expected.get(key) != found.get(key));
                let (count, first) =
                    differ.fold((0, None), |(n, first), key| (n + 1, first.or(Some(key))));
                let term = first.map_or("", |(term, _)| term.as_str());
                self.problems
                    .push(format!("{count} pages of postings differ, the first for `{term}`"));
            }
            Err(error) => self.problems.push(error.to_string()),
        }
    }

    /// Compares the index of a package with its text.
    pub fn package(&mut self, entry: &Entry<'_>, predecessor: Option<&str>) {
        let (id, terms) = (entry.id, entry.terms(predecessor));
        let consumers = consumer_list(entry.consumers);
        let expected = Record::of(entry, &terms, &consumers, self.sheets).in_full();
        match self.candidates.remove(&id) {
            Some(found) if found == expected => {}
            Some(_) => self.problems.push(format!("the candidate of package {id} is out of date")),
            None => self.problems.push(format!("package {id} is not a candidate")),
        }
        match self.terms.remove(&id) {
            Some(found) if found == terms.packed() => {}
            Some(_) => {
                self.problems.push(format!("the terms of package {id} are not those of its text"));
            }
            None => self.problems.push(format!("package {id} has no terms")),
        }
    }

    /// The differences, once every latest package was compared.
    pub fn finish(mut self) -> Vec<String> {
        let left: BTreeSet<PackageId> =
            self.candidates.into_keys().chain(self.terms.into_keys()).collect();
        let stale = left.into_iter().map(|id| format!("package {id} should not be in the index"));
        self.problems.extend(stale);
        self.problems
    }

    fn note(&mut self, result: Result<()>) {
        self.problems.extend(result.err().map(|error| error.to_string()));
    }
}
