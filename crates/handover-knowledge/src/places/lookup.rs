//! Finds terms in the dictionaries of an index, reading only the blocks that they are in.

use super::container::{Pieces, Section};
use super::inverted::{Block, Directory, Entry, each_term};

/// The shortest word in which a typing mistake is forgiven: shorter ones have too many neighbors.
const MIN_FORGIVEN: usize = 5;

/// One of the two dictionaries.
pub(super) struct Lexicon<'a> {
    pieces: &'a Pieces,
    directory: Directory,
    terms: Section,
    postings: Section,
}

impl<'a> Lexicon<'a> {
    /// The terms of files.
    pub(super) fn of_files(pieces: &'a Pieces) -> Option<Self> {
        Self::open(pieces, Section::TermIndex, Section::Terms, Section::Postings)
    }

    /// The terms of messages.
    pub(super) fn of_messages(pieces: &'a Pieces) -> Option<Self> {
        Self::open(pieces, Section::WordIndex, Section::Words, Section::WordPostings)
    }

    fn open(pieces: &'a Pieces, index: Section, terms: Section, postings: Section) -> Option<Self> {
        let index = pieces.section(index)?;
        let directory =
            if index.is_empty() { Directory::default() } else { Directory::decode(&index)? };
        Some(Self { pieces, directory, terms, postings })
    }

    /// What the dictionary says of each of these terms, which are sorted: a block is read once.
    pub(super) fn find<T: AsRef<str>>(&self, terms: &[T]) -> Vec<Option<Entry>> {
        let mut read: Option<(Block, Vec<u8>)> = None;
        let mut find = |term: &str| {
            let block = self.directory.block(term)?;
            if read.as_ref().is_none_or(|(known, _)| *known != block) {
                read = Some((block, self.pieces.piece(self.terms, block.start, block.end)?));
            }
            let mut found = None;
            let (_, bytes) = read.as_ref()?;
            each_term(block, bytes, |other, entry| {
                if other == term.as_bytes() {
                    found = Some(entry);
                }
                other < term.as_bytes()
            })?;
            found
        };
        terms.iter().map(|term| find(term.as_ref())).collect()
    }

    /// The postings of a term.
    pub(super) fn postings(&self, entry: Entry) -> Option<Vec<u8>> {
        self.pieces.piece(self.postings, entry.start, entry.end)
    }

    /// The most frequent term that differs from an unknown one by one letter.
    pub(super) fn near(&self, term: &str) -> Option<(String, Entry)> {
        let neighbors = neighbors(term);
        let found = self.find(&neighbors);
        let known =
            neighbors.into_iter().zip(found).filter_map(|(term, entry)| Some((term, entry?)));
        known.max_by_key(|(_, entry)| entry.count)
    }
}

/// Every word that one typing mistake turns into this one, sorted. The first letter is taken to be right.
fn neighbors(term: &str) -> Vec<String> {
    if term.len() < MIN_FORGIVEN || !term.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for at in 1..term.len() {
        let (before, after) = term.split_at(at);
        all.push(format!("{before}{}", &after[1..]));
        if let [first, second, ..] = after.as_bytes() {
            all.push(format!("{before}{}{}{}", *second as char, *first as char, &after[2..]));
        }
        for letter in 'a'..='z' {
            all.push(format!("{before}{letter}{}", &after[1..]));
            all.push(format!("{before}{letter}{after}"));
        }
    }
    all.extend(('a'..='z').map(|letter| format!("{term}{letter}")));
    all.sort_unstable();
    all.dedup();
    all.retain(|other| other != term);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mistake_is_forgiven_in_long_words() {
        let near = neighbors("token");
        for word in ["toke", "tokens", "toekn", "taken", "tocken", "tken"] {
            assert!(near.contains(&word.to_owned()), "{word}");
        }
        for word in ["token", "oken", "tk", "tokenss"] {
            assert!(!near.contains(&word.to_owned()), "{word}");
        }
        assert!(neighbors("auth").is_empty());
        assert!(neighbors("größe").is_empty());
        assert!(near.is_sorted());
    }
}
