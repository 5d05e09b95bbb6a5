//! A whole index in memory, as an update needs it.

use std::collections::{BTreeSet, HashMap};

use super::codec::{Reader, put};
use super::container::{Contents, Section};
use super::inverted::Inverted;
use super::reverted::{self, Claim};
use super::tables::{
    self, CommitRow, DELETED, Document, NONE, Origin, PathHash, PathRow, RevertedRow, Stamp,
    path_hash,
};
use super::{files, former};

/// Everything that an index holds.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) origin: Origin,
    pub(super) documents: Vec<Document>,
    /// One for each document.
    pub(super) stamps: Vec<Stamp>,
    pub(super) symbols: Vec<u8>,
    pub(super) paths: Vec<PathRow>,
    pub(super) path_texts: Vec<u8>,
    pub(super) commits: Vec<CommitRow>,
    /// One for each commit.
    pub(super) commit_ids: Vec<[u8; 20]>,
    pub(super) subjects: Vec<u8>,
    pub(super) changes: Vec<u8>,
    pub(super) terms: Inverted,
    pub(super) words: Inverted,
    /// What commits say they take back, and what that comes to.
    pub(super) claims: Vec<Claim>,
    pub(super) reverted: Vec<RevertedRow>,
    /// Names that files do not define any more.
    pub(super) former: BTreeSet<String>,
    /// The numbers of all paths.
    by_text: HashMap<String, u32>,
}

/// A part of a text whose parts follow each other: row `at` ends where `end` says, and starts where the row
/// before ends.
pub(super) fn range(at: usize, end: impl Fn(usize) -> u32) -> std::ops::Range<usize> {
    let start = at.checked_sub(1).map_or(0, |before| end(before) as usize);
    start..(end(at) as usize).max(start)
}

impl Model {
    pub(super) fn new(origin: Origin) -> Self {
        Self { origin, ..Self::default() }
    }

    /// None if the sections do not belong together.
    pub(super) fn decode(contents: &Contents) -> Option<Self> {
        let owned = |section| contents.get(section).to_vec();
        let mut model = Self {
            origin: Origin::decode(contents.get(Section::Origin))?,
            documents: tables::decode(contents.get(Section::Documents))?,
            stamps: tables::decode(contents.get(Section::Stamps))?,
            symbols: owned(Section::Symbols),
            paths: tables::decode(contents.get(Section::Paths))?,
            path_texts: owned(Section::PathTexts),
            commits: tables::decode(contents.get(Section::Commits))?,
            commit_ids: contents.get(Section::CommitIds).as_chunks::<20>().0.to_vec(),
            subjects: owned(Section::Subjects),
            changes: owned(Section::Changes),
            terms: Inverted {
                index: owned(Section::TermIndex),
                terms: owned(Section::Terms),
                postings: owned(Section::Postings),
            },
            words: Inverted {
                index: owned(Section::WordIndex),
                terms: owned(Section::Words),
                postings: owned(Section::WordPostings),
            },
            claims: reverted::decode(contents.get(Section::Reverts))?,
            reverted: tables::decode(contents.get(Section::Reverted))?,
            former: former::decode(contents.get(Section::FormerSymbols))?,
            by_text: HashMap::new(),
        };
        let belong = model.documents.len() == model.stamps.len()
            && model.commits.len() == model.commit_ids.len()
            && model.documents.iter().all(|row| (row.path as usize) < model.paths.len());
        if !belong {
            return None;
        }
        for number in 0..model.paths.len() {
            let text = model.path_text(number as u32)?.to_owned();
            model.by_text.insert(text, number as u32);
        }
        Some(model)
    }

    /// Paths by the hash of a part.
    fn hashes(&self, part: impl Fn(&str) -> &str) -> Vec<PathHash> {
        let mut hashes: Vec<PathHash> = (0..self.paths.len() as u32)
            .filter_map(|path| {
                Some(PathHash { hash: path_hash(part(self.path_text(path)?)), path })
            })
            .collect();
        hashes.sort_unstable();
        hashes
    }

    pub(super) fn encode(self) -> Contents {
        let hashes = self.hashes(|path| path);
        let name_hashes = self.hashes(files::name);
        let mut contents = Contents::default();
        let sections = [
            (Section::Origin, self.origin.encode()),
            (Section::Documents, tables::encode(&self.documents)),
            (Section::Stamps, tables::encode(&self.stamps)),
            (Section::Symbols, self.symbols),
            (Section::Paths, tables::encode(&self.paths)),
            (Section::PathTexts, self.path_texts),
            (Section::PathHashes, tables::encode(&hashes)),
            (Section::Commits, tables::encode(&self.commits)),
            (Section::CommitIds, self.commit_ids.concat()),
            (Section::Subjects, self.subjects),
            (Section::Changes, self.changes),
            (Section::TermIndex, self.terms.index),
            (Section::Terms, self.terms.terms),
            (Section::Postings, self.terms.postings),
            (Section::WordIndex, self.words.index),
            (Section::Words, self.words.terms),
            (Section::WordPostings, self.words.postings),
            (Section::NameHashes, tables::encode(&name_hashes)),
            (Section::Reverts, reverted::encode(&self.claims)),
            (Section::Reverted, tables::encode(&self.reverted)),
            (Section::FormerSymbols, former::encode(&self.former)),
        ];
        for (section, bytes) in sections {
            contents.set(section, bytes);
        }
        contents
    }

    pub(super) fn path_text(&self, path: u32) -> Option<&str> {
        let at = path as usize;
        let range = (at < self.paths.len()).then(|| range(at, |at| self.paths[at].text_end))?;
        std::str::from_utf8(self.path_texts.get(range)?).ok()
    }

    pub(super) fn known_path(&self, text: &str) -> Option<u32> {
        self.by_text.get(text).copied()
    }

    /// The number of a path, which is new or known.
    pub(super) fn path(&mut self, text: &str) -> u32 {
        if let Some(known) = self.by_text.get(text) {
            return *known;
        }
        let number = self.paths.len() as u32;
        self.path_texts.extend_from_slice(text.as_bytes());
        let text_end = self.path_texts.len() as u32;
        self.paths.push(PathRow { text_end, document: NONE, renamed: NONE });
        self.by_text.insert(text.to_owned(), number);
        number
    }

    /// Takes the current version of a path out of the index. What it defined may be gone.
    pub(super) fn remove_document(&mut self, path: u32) {
        let at = self.paths[path as usize].document as usize;
        if at < self.documents.len() {
            self.documents[at].length = 0;
            let symbols = self.symbols.get(range(at, |at| self.documents[at].symbols_end));
            if let Ok(names) = std::str::from_utf8(symbols.unwrap_or_default()) {
                self.former.extend(names.lines().map(str::to_owned));
            }
        }
        self.paths[path as usize].document = NONE;
    }

    /// Notes that a file is not there any more; the history may say what became of it.
    pub(super) fn lose(&mut self, path: u32) {
        self.remove_document(path);
        let row = &mut self.paths[path as usize];
        if row.renamed == NONE {
            row.renamed = DELETED;
        }
    }

    /// Adds a version of a path and returns its number.
    pub(super) fn add_document(&mut self, document: Document, stamp: Stamp) -> u32 {
        self.remove_document(document.path);
        let number = self.documents.len() as u32;
        self.paths[document.path as usize].document = number;
        self.documents.push(document);
        self.stamps.push(stamp);
        number
    }

    pub(super) fn is_current(&self, document: usize) -> bool {
        let path = self.documents[document].path as usize;
        self.paths.get(path).is_some_and(|row| row.document as usize == document)
    }

    /// Drops versions that others have replaced, and returns the new numbers; none if there are too few of them.
    pub(super) fn compact_documents(&mut self) -> Option<Vec<Option<u32>>> {
        let replaced = (0..self.documents.len()).filter(|at| !self.is_current(*at)).count();
        if replaced < 500 || replaced * 4 < self.documents.len() {
            return None;
        }
        let mut numbers = vec![None; self.documents.len()];
        let (mut documents, mut stamps, mut symbols) = (Vec::new(), Vec::new(), Vec::new());
        for (at, number) in numbers.iter_mut().enumerate() {
            if self.is_current(at) {
                let mut row = self.documents[at];
                let range = range(at, |at| self.documents[at].symbols_end);
                symbols.extend_from_slice(self.symbols.get(range).unwrap_or_default());
                row.symbols_end = symbols.len() as u32;
                *number = Some(documents.len() as u32);
                documents.push(row);
                stamps.push(self.stamps[at]);
            }
        }
        for (at, row) in documents.iter().enumerate() {
            self.paths[row.path as usize].document = at as u32;
        }
        (self.documents, self.stamps, self.symbols) = (documents, stamps, symbols);
        Some(numbers)
    }

    /// The same for commits that are not part of the history any more, or among the oldest of too many.
    pub(super) fn compact_commits(&mut self, most: usize) -> Option<Vec<Option<u32>>> {
        let mut times: Vec<u32> =
            self.commits.iter().filter(|row| row.length > 0).map(|row| row.time).collect();
        let gone = self.commits.len() - times.len();
        if times.len() < most + most / 4 && (gone < 500 || gone * 4 < self.commits.len()) {
            return None;
        }
        times.sort_unstable_by(|a, b| b.cmp(a));
        let oldest = if times.len() > most { times[most - 1] } else { 0 };
        let mut numbers = vec![None; self.commits.len()];
        let (mut commits, mut ids) = (Vec::new(), Vec::new());
        let (mut subjects, mut changes) = (Vec::new(), Vec::new());
        for (at, number) in numbers.iter_mut().enumerate() {
            let mut row = self.commits[at];
            if row.length > 0 && row.time >= oldest {
                let subject = range(at, |at| self.commits[at].subject_end);
                let changed = range(at, |at| self.commits[at].changes_end);
                subjects.extend_from_slice(self.subjects.get(subject).unwrap_or_default());
                changes.extend_from_slice(self.changes.get(changed).unwrap_or_default());
                (row.subject_end, row.changes_end) = (subjects.len() as u32, changes.len() as u32);
                *number = Some(commits.len() as u32);
                commits.push(row);
                ids.push(self.commit_ids[at]);
            }
        }
        (self.commits, self.commit_ids) = (commits, ids);
        (self.subjects, self.changes) = (subjects, changes);
        Some(numbers)
    }

    /// Forgets the history.
    pub(super) fn drop_history(&mut self) {
        self.commits.clear();
        self.commit_ids.clear();
        self.subjects.clear();
        self.changes.clear();
        self.claims.clear();
        self.reverted.clear();
        self.words = Inverted::default();
        for row in &mut self.paths {
            row.renamed = NONE;
        }
        self.origin.head.clear();
        self.origin.base.clear();
        (self.origin.walked, self.origin.complete) = (0, false);
    }
}

/// Path numbers as distances.
pub(super) fn put_changes(out: &mut Vec<u8>, mut paths: Vec<u32>) {
    paths.sort_unstable();
    paths.dedup();
    let mut before = 0;
    for path in paths {
        put(out, u64::from(path - before));
        before = path;
    }
}

/// Reads them; damaged ones end the list.
pub(super) fn changes(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (mut reader, mut path) = (Reader::new(bytes), 0_u32);
    std::iter::from_fn(move || {
        path = path.checked_add(reader.small()?)?;
        Some(path)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::places::files::FileKind;

    fn document(model: &mut Model, text: &str, symbols: &str) -> u32 {
        let path = model.path(text);
        model.symbols.extend_from_slice(symbols.as_bytes());
        let symbols_end = model.symbols.len() as u32;
        let row = Document { length: 5, path, symbols_end, kind: FileKind::Code };
        model.add_document(row, Stamp::default())
    }

    #[test]
    fn replaced_versions_are_dropped_when_they_are_many() {
        let mut model = Model::default();
        for round in 0..600 {
            document(&mut model, "same.rs", &format!("symbol{round};"));
        }
        document(&mut model, "other.rs", "other;");
        let numbers = model.compact_documents().unwrap();
        assert_eq!(numbers.iter().flatten().count(), 2);
        assert_eq!((numbers[599], numbers[600]), (Some(0), Some(1)));
        assert_eq!(model.symbols, b"symbol599;other;");
        assert_eq!(model.paths.iter().map(|row| row.document).collect::<Vec<_>>(), [0, 1]);
        assert!(model.compact_documents().is_none());
    }

    #[test]
    fn only_the_newest_commits_are_kept() {
        let mut model = Model::default();
        for time in 0..30_u32 {
            model.subjects.extend_from_slice(format!("{time};").as_bytes());
            put_changes(&mut model.changes, vec![time]);
            model.commits.push(CommitRow {
                time,
                length: u32::from(time != 29),
                subject_end: model.subjects.len() as u32,
                changes_end: model.changes.len() as u32,
            });
            model.commit_ids.push([time as u8; 20]);
        }
        assert!(model.compact_commits(25).is_none());
        let numbers = model.compact_commits(3).unwrap();
        assert_eq!(numbers[26..], [Some(0), Some(1), Some(2), None]);
        assert_eq!(model.subjects, b"26;27;28;");
        assert_eq!(model.commit_ids[0], [26; 20]);
        assert_eq!(
            changes(&model.changes[range(1, |at| model.commits[at].changes_end)])
                .collect::<Vec<_>>(),
            [27]
        );
    }

    proptest! {
        #[test]
        fn a_model_is_read_as_written(texts in prop::collection::btree_set("[a-z/]{1,12}", 0..9)) {
            let mut model = Model::default();
            for text in &texts {
                document(&mut model, text, "x\n");
            }
            let (paths, documents) = (model.paths.clone(), model.documents.clone());
            let read = Model::decode(&model.encode()).unwrap();
            prop_assert_eq!(&read.paths, &paths);
            prop_assert_eq!(&read.documents, &documents);
            for text in &texts {
                let number = read.known_path(text).unwrap();
                prop_assert_eq!(read.path_text(number), Some(text.as_str()));
            }
        }

        #[test]
        fn changes_are_read_as_written(mut paths in prop::collection::vec(0_u32..5000, 0..20)) {
            let mut out = Vec::new();
            put_changes(&mut out, paths.clone());
            paths.sort_unstable();
            paths.dedup();
            prop_assert_eq!(changes(&out).collect::<Vec<_>>(), paths);
        }
    }
}
