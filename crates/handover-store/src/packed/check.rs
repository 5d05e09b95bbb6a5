//! Compares the index of a session with the packages it was built from.

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

    /// Adds a sheet of candidates as stored.
    pub fn sheet(&mut self, number: i64, packed: &[u8]) {
        let first = self.sheets.first(number);
        let read = candidates::each(packed, |record, _| {
            let id = PackageId(first.0.saturating_add(i64::from(record.offset())));
            self.candidates.insert(id, record.in_full());
        });
        self.note(read);
    }

    /// Adds the terms of a package as stored.
    pub fn terms(&mut self, id: PackageId, packed: Vec<u8>) {
        self.terms.insert(id, packed);
    }

    /// Compares the postings with the added terms: those of all packages but the fresh ones. Comes after
    /// [`terms`](Self::terms) and before [`package`](Self::package).
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

    /// The differences, once every latest package has been compared.
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

#[cfg(test)]
mod tests {
    use handover_model::{Priority, Role, Scope, Timestamp};

    use super::super::{add_candidate, without_candidate};
    use super::*;

    const SHEETS: Blocks = Blocks::sheets(32);
    const PAGES: Blocks = Blocks::pages(256);

    /// Three packages and their index.
    struct Index {
        role: Role,
        ids: Vec<PackageId>,
        sheet: Vec<u8>,
        terms: BTreeMap<PackageId, Vec<u8>>,
        pages: Pages,
    }

    fn entry<'a>(role: &'a Role, id: PackageId, body: &'a str) -> Entry<'a> {
        Entry {
            id,
            version: 1,
            priority: Priority::Medium,
            scope: Scope::Global,
            group: None,
            producer: role,
            consumers: &[],
            created_at: Timestamp::from_micros(1_700_000_000_000_000),
            title: "",
            summary: "about dragons",
            files: vec!["docs/a.md"],
            body,
        }
    }

    impl Index {
        fn new() -> Self {
            let role = Role::new("developer").unwrap();
            let ids: Vec<PackageId> = [1, 2, 3].map(PackageId).to_vec();
            let (mut sheet, mut terms) = (Vec::new(), BTreeMap::new());
            for id in &ids {
                let entry = entry(&role, *id, "unicorns");
                add_candidate(&mut sheet, &entry, &entry.terms(None), SHEETS).unwrap();
                terms.insert(*id, entry.terms(None).packed());
            }
            let all: Vec<(PackageId, Vec<u8>)> = terms.clone().into_iter().collect();
            let pages = posting_pages(&all, PAGES).unwrap();
            Self { role, ids, sheet, terms, pages }
        }

        /// The problems of this index, given these texts of its packages.
        fn problems(&self, fresh: &[i64], bodies: &[&str]) -> Vec<String> {
            let mut check = IndexCheck::new(SHEETS, PAGES);
            check.sheet(0, &self.sheet);
            self.terms.iter().for_each(|(id, terms)| check.terms(*id, terms.clone()));
            check.postings(&fresh.iter().copied().map(PackageId).collect(), &self.pages);
            for (id, body) in self.ids.iter().zip(bodies) {
                check.package(&entry(&self.role, *id, body), None);
            }
            check.finish()
        }
    }

    const SAME: [&str; 3] = ["unicorns"; 3];

    #[test]
    fn a_sound_index_has_no_problems() {
        assert_eq!(Index::new().problems(&[], &SAME), [""; 0]);
    }

    #[test]
    fn a_changed_text_is_detected() {
        let problems = Index::new().problems(&[], &["unicorns", "gryphons fly", "unicorns"]);
        assert_eq!(
            problems,
            [
                "the candidate of package 2 is out of date",
                "the terms of package 2 are not those of its text"
            ]
        );
        // As long as before: only the terms differ.
        let problems = Index::new().problems(&[], &["unicorns", "gryphons", "unicorns"]);
        assert_eq!(problems, ["the terms of package 2 are not those of its text"]);
    }

    #[test]
    fn missing_and_stale_packages_are_detected() {
        let mut index = Index::new();
        index.sheet = without_candidate(&index.sheet, PackageId(2), SHEETS).unwrap();
        assert_eq!(index.problems(&[], &SAME), ["package 2 is not a candidate"]);
        let mut index = Index::new();
        index.terms.remove(&PackageId(3));
        let problems = index.problems(&[], &SAME);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("pages of postings differ, the first for `"), "{problems:?}");
        assert_eq!(problems[1], "package 3 has no terms");
        let mut index = Index::new();
        index.ids.pop();
        assert_eq!(index.problems(&[], &SAME), ["package 3 should not be in the index"]);
    }

    #[test]
    fn postings_that_differ_are_counted() {
        let mut index = Index::new();
        let keys: Vec<(String, i64)> = index.pages.keys().cloned().collect();
        index.pages.remove(&keys[0]);
        index.pages.insert(("zzz".to_owned(), 0), Vec::new());
        let expected = format!("2 pages of postings differ, the first for `{}`", keys[0].0);
        assert_eq!(index.problems(&[], &SAME), [expected]);
    }

    #[test]
    fn fresh_packages_are_not_in_the_postings_yet() {
        let mut index = Index::new();
        let problems = index.problems(&[3], &SAME);
        assert_eq!(problems.len(), 1, "{problems:?}");
        let settled: Vec<(PackageId, Vec<u8>)> =
            index.terms.clone().into_iter().filter(|(id, _)| id.0 != 3).collect();
        index.pages = posting_pages(&settled, PAGES).unwrap();
        assert_eq!(index.problems(&[3], &SAME), [""; 0]);
    }

    #[test]
    fn damaged_bytes_are_a_problem_not_a_panic() {
        let mut index = Index::new();
        index.sheet[0] = 99;
        let problems = index.problems(&[], &SAME);
        assert!(
            problems[0].contains("candidates of the text index have version 99"),
            "{problems:?}"
        );
        let mut index = Index::new();
        index.terms.insert(PackageId(2), Vec::new());
        let problems = index.problems(&[], &SAME);
        assert_eq!(problems[0], "the terms of the text index are damaged");
    }
}
