//! The terms of one file, each with the one byte that its posting keeps: how often it occurs in the text, among
//! the names that the file defines, and in its path.

use std::collections::HashMap;

use handover_text::{Redactor, words};

use super::{files, scan};

/// How much of a file is read.
pub(super) const MAX_READ: u64 = 512 << 10;
/// Larger files are no source.
pub(super) const MAX_FILE: u64 = 4 << 20;

/// Frequencies that four bits can say.
const STEPS: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 34, 50, 80];

/// The byte of a posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Occurrence(pub(super) u8);

impl Occurrence {
    fn new(counts: Counts) -> Self {
        let text = STEPS.partition_point(|step| *step <= counts.text).saturating_sub(1);
        Self((text as u8) | (counts.symbols.min(3) as u8) << 4 | (counts.path as u8) << 6)
    }

    /// How often it is in the text, roughly.
    pub(super) fn text(self) -> u32 {
        STEPS[usize::from(self.0 & 15)]
    }

    /// In how many names that the file defines, up to 3.
    pub(super) fn symbols(self) -> u32 {
        u32::from(self.0 >> 4 & 3)
    }

    pub(super) fn path(self) -> InPath {
        match self.0 >> 6 {
            0 => InPath::No,
            1 => InPath::Folder,
            _ => InPath::Name,
        }
    }
}

/// Where in a path a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum InPath {
    #[default]
    No,
    Folder,
    Name,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    text: u32,
    symbols: u32,
    path: InPath,
}

/// A file as it goes into the index.
#[derive(Debug)]
pub(super) struct Indexed {
    /// How many terms its text has.
    pub(super) length: u32,
    /// The names that it defines, a line each.
    pub(super) symbols: String,
    /// Numbers of [`Vocabulary`], each once.
    pub(super) terms: Vec<(u32, Occurrence)>,
}

/// Terms by number. A word is split and stemmed once, however often it occurs.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    numbers: HashMap<String, u32>,
    words: HashMap<String, Vec<u32>>,
}

/// Words that are remembered; a repository of data must not fill the memory.
const MAX_WORDS: usize = 1 << 20;

impl Vocabulary {
    fn of_word(&mut self, word: &str) -> &[u32] {
        if !self.words.contains_key(word) {
            if self.words.len() >= MAX_WORDS {
                self.words.clear();
            }
            let numbers = &mut self.numbers;
            let mut number = |term: String| {
                let next = numbers.len() as u32;
                *numbers.entry(term).or_insert(next)
            };
            let terms = words::terms(word).into_iter().map(&mut number).collect();
            self.words.insert(word.to_owned(), terms);
        }
        self.words.get(word).map_or(&[], Vec::as_slice)
    }

    /// Every term with its number.
    pub(super) fn into_terms(self) -> impl Iterator<Item = (String, u32)> {
        self.numbers.into_iter()
    }

    fn each(&mut self, text: &str, mut count: impl FnMut(u32)) {
        // The separators of `words::terms`, so that a word has the terms that it has in a text.
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            if (2..=64).contains(&word.len()) {
                for term in self.of_word(word) {
                    count(*term);
                }
            }
        }
    }

    /// The terms of a file without its secrets; none if its content is none that people write.
    pub(super) fn index(
        &mut self,
        path: &str,
        bytes: &[u8],
        redactor: &Redactor,
    ) -> Option<Indexed> {
        if !files::is_written_by_people(bytes) {
            return None;
        }
        let bytes = redactor.redact_bytes(bytes);
        let text = String::from_utf8_lossy(&bytes);
        let mut counts: HashMap<u32, Counts> = HashMap::new();
        let mut length = 0;
        self.each(&text, |term| {
            counts.entry(term).or_default().text += 1;
            length += 1;
        });
        let end = files::end(path).unwrap_or_default();
        let symbols = scan::symbols(&end, &text).join("\n");
        self.each(&symbols, |term| counts.entry(term).or_default().symbols += 1);
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.each(folders, |term| counts.entry(term).or_default().path = InPath::Folder);
        self.each(name, |term| counts.entry(term).or_default().path = InPath::Name);
        let mut terms: Vec<_> =
            counts.into_iter().map(|(term, counts)| (term, Occurrence::new(counts))).collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        // An empty file still has a path.
        Some(Indexed { length: length.max(1), symbols, terms })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_posting_says_where_a_term_is() {
        let mut vocabulary = Vocabulary::default();
        let text = "fn refresh_token() {}\nfn other() { token(); token() }\n";
        let indexed =
            vocabulary.index("src/auth/token.rs", text.as_bytes(), &Redactor::default()).unwrap();
        assert_eq!(indexed.symbols, "refresh_token\nother");
        let terms: HashMap<String, u32> = vocabulary.into_terms().collect();
        let of = |term: &str| {
            let number = terms[term];
            let found = indexed.terms.iter().find(|(term, _)| *term == number).unwrap().1;
            (found.text(), found.symbols(), found.path())
        };
        assert_eq!(of("token"), (3, 1, InPath::Name));
        assert_eq!(of("refreshtoken"), (1, 1, InPath::No));
        assert_eq!(of("auth"), (0, 0, InPath::Folder));
        assert_eq!(indexed.length, words::terms(text).len() as u32);
    }

    #[test]
    fn what_people_do_not_write_has_no_terms() {
        assert!(Vocabulary::default().index("a.rs", b"\0\0", &Redactor::default()).is_none());
        assert_eq!(
            Vocabulary::default().index("a.rs", b"", &Redactor::default()).unwrap().length,
            1
        );
    }

    proptest! {
        #[test]
        fn frequencies_are_kept_roughly(text in 0_u32..200, symbols in 0_u32..9) {
            let kept = Occurrence::new(Counts { text, symbols, path: InPath::Folder });
            prop_assert!(kept.text() <= text && kept.text() * 2 >= text.min(80));
            prop_assert_eq!((kept.symbols(), kept.path()), (symbols.min(3), InPath::Folder));
        }

        /// A text has the terms that a search for it has.
        #[test]
        fn terms_are_those_of_queries(text in "[a-zA-Z_ éß./(){}0-9]{0,80}") {
            let redactor = Redactor::default();
            // A secret has no terms.
            prop_assume!(redactor.redact_bytes(text.as_bytes()) == text.as_bytes());
            let mut vocabulary = Vocabulary::default();
            let indexed = vocabulary.index("", text.as_bytes(), &redactor).unwrap();
            let mut expected: Vec<String> = text
                .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .filter(|word| word.len() > 1)
                .flat_map(words::terms)
                .collect();
            expected.sort();
            expected.dedup();
            let known: Vec<u32> = indexed.terms.iter().map(|(term, _)| *term).collect();
            let mut found: Vec<String> = vocabulary.into_terms().filter(|(_, n)| known.contains(n)).map(|(term, _)| term).collect();
            found.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
