//! The words of all rules, and the rules by the word that they start with. Built once per process, on first use.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
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

/// Every assembly builds it once: the words are ours, so a fast hash is safe, and no list is read twice.
#[derive(Debug, Default)]
pub(super) struct Words {
    numbers: HashMap<&'static [u8], Word, FixedState>,
    lists: HashMap<&'static str, Arc<[Word]>, FixedState>,
}

/// About as many as there are.
const WORDS: usize = 2_048;

impl Lexicon {
    pub(super) fn build() -> Self {
        let mut words = Words::default();
        words.numbers.reserve(WORDS);
        let mut rules = Vec::new();
        for Row { name, flag, strong, patterns, .. } in rules::all() {
            for text in *patterns {
                let pattern = Pattern::parse(text, &mut words);
                rules.push(Rule { name, flag: *flag, strong: *strong, pattern });
            }
        }
        let mut starts = vec![Vec::new(); words.numbers.len() + 1];
        for (at, rule) in rules.iter().enumerate() {
            for word in rule.pattern.first_words() {
                starts[usize::from(word.0)].push(at as u16);
            }
        }
        Self { words, rules, starts }
    }

    /// The word that bytes spell, in lower case.
    pub(super) fn word(&self, bytes: &[u8]) -> Word {
        self.words.numbers.get(bytes).copied().unwrap_or(Word::UNKNOWN)
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
        let mut all = Vec::new();
        for word in list.split('|') {
            match word.strip_prefix('@') {
                Some(name) => {
                    let set = SETS.iter().find(|(of, _)| *of == name).map(|(_, words)| *words);
                    let words = set.unwrap_or_default().split_ascii_whitespace();
                    all.extend(words.map(|word| self.number(word)));
                }
                None => all.push(self.number(word)),
            }
        }
        all.sort_unstable();
        all.dedup();
        let all: Arc<[Word]> = all.into();
        self.lists.insert(list, all.clone());
        all
    }

    fn number(&mut self, word: &'static str) -> Word {
        let next = Word(self.numbers.len() as u16 + 1);
        *self.numbers.entry(word.as_bytes()).or_insert(next)
    }
}
