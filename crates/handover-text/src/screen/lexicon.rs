//! The words of all rules, and the rules by the word that they start with. Built once per process, on first use.

use std::sync::Arc;

use foldhash::HashMap;
use handover_model::ScreenFlag;

use super::pattern::Pattern;
use super::rules::{self, Row, SETS};

/// A word that a rule knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Word(u16);

impl Word {
    /// No rule knows it.
    pub(super) const UNKNOWN: Self = Self(0);
}

/// A rule, ready to be matched.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) flag: ScreenFlag,
    pub(super) strong: bool,
    pub(super) pattern: Pattern,
}

/// All words and rules.
#[derive(Debug)]
pub(super) struct Lexicon {
    words: Words,
    rules: Vec<Rule>,
    /// By word: the rules that start with it.
    starts: Vec<Vec<u16>>,
}

/// The words of all lists by their number. Every spawn builds it once and waits for it, so it is a plain table with a
/// plain hash: the words are ours, and nobody can choose them to collide.
#[derive(Debug)]
pub(super) struct Words {
    /// By hash, the number of a word; 0 for none. Those that collide follow each other.
    slots: Box<[u16; SLOTS]>,
    /// By number, from 1.
    words: Vec<&'static [u8]>,
    lists: HashMap<&'static str, Arc<[Word]>>,
}

/// A power of two, and several times as many as there are words.
const SLOTS: usize = 4_096;

/// About as many words and lists as there are.
const WORDS: usize = 1_024;
const LISTS: usize = 448;

impl Default for Words {
    fn default() -> Self {
        let (words, mut lists) = (Vec::with_capacity(WORDS), HashMap::default());
        lists.reserve(LISTS);
        Self { slots: Box::new([0; SLOTS]), words, lists }
    }
}

impl Lexicon {
    pub(super) fn build() -> Self {
        let mut words = Words::default();
        let mut rules = Vec::new();
        for Row { name, flag, strong, patterns, .. } in rules::all() {
            for text in *patterns {
                let pattern = Pattern::parse(text, &mut words);
                rules.push(Rule { name, flag: *flag, strong: *strong, pattern });
            }
        }
        let mut starts = vec![Vec::new(); words.words.len() + 1];
        for (at, rule) in rules.iter().enumerate() {
            for word in rule.pattern.first_words() {
                starts[usize::from(word.0)].push(at as u16);
            }
        }
        Self { words, rules, starts }
    }

    /// The word that bytes spell, in lower case.
    pub(super) fn word(&self, bytes: &[u8]) -> Word {
        match self.words.slot_of(bytes) {
            Slot::Of(word) => word,
            Slot::Free(_) => Word::UNKNOWN,
        }
    }

    /// The rules that start with a word.
    pub(super) fn starting_with(&self, word: Word) -> impl Iterator<Item = &Rule> {
        self.starts[usize::from(word.0)].iter().map(|at| &self.rules[usize::from(*at)])
    }
}

impl Words {
    /// The words of a list such as `run|execute|@launch`, sorted.
    pub(super) fn of_list(&mut self, list: &'static str) -> Arc<[Word]> {
        if let Some(known) = self.lists.get(list) {
            return known.clone();
        }
        // Words have at least three letters and a bar, most of them.
        let mut all = Vec::with_capacity(list.len() / 4 + 1);
        for word in list.as_bytes().split(|byte| *byte == b'|') {
            match word {
                [b'@', name @ ..] => {
                    let set = SETS.iter().find(|(of, _)| of.as_bytes() == name);
                    let words = set.map_or("", |(_, words)| *words).split_ascii_whitespace();
                    all.extend(words.map(|word| self.number(word.as_bytes())));
                }
                word => all.push(self.number(word)),
            }
        }
        all.sort_unstable();
        all.dedup();
        let all: Arc<[Word]> = all.into();
        self.lists.insert(list, all.clone());
        all
    }

    fn number(&mut self, word: &'static [u8]) -> Word {
        match self.slot_of(word) {
            Slot::Of(known) => known,
            Slot::Free(slot) => {
                self.words.push(word);
                self.slots[slot] = self.words.len() as u16;
                Word(self.slots[slot])
            }
        }
    }

    /// Where a word is, or would be.
    fn slot_of(&self, word: &[u8]) -> Slot {
        let mut slot = hash(word) % SLOTS;
        loop {
            let number = self.slots[slot];
            match usize::from(number).checked_sub(1).and_then(|at| self.words.get(at)) {
                None => return Slot::Free(slot),
                Some(known) if *known == word => return Slot::Of(Word(number)),
                Some(_) => slot = (slot + 1) % SLOTS,
            }
        }
    }
}

enum Slot {
    Of(Word),
    Free(usize),
}

/// FNV-1a, folded.
fn hash(word: &[u8]) -> usize {
    let hash = word.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ hash >> 32) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_word_has_a_number_of_its_own_and_there_is_room() {
        let lexicon = Lexicon::build();
        let words = &lexicon.words.words;
        assert!(words.len() * 2 < SLOTS, "{}", words.len());
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
        for (at, word) in words.iter().enumerate() {
            assert_eq!(lexicon.word(word), Word(at as u16 + 1));
        }
        for unknown in ["", "@lead", "zebra", "ignorance"] {
            assert_eq!(lexicon.word(unknown.as_bytes()), Word::UNKNOWN, "{unknown}");
        }
    }
}
