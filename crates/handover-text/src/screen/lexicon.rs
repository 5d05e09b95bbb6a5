//! The words of all rules, and the rules by the word that they start with. Built once per process, on first use.

use std::collections::HashMap;

use handover_model::ScreenFlag;

use super::pattern::Pattern;
use super::rules::{self, Row};

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
    numbers: HashMap<&'static [u8], Word>,
    rules: Vec<Rule>,
    /// By word: the rules that start with it.
    starts: Vec<Vec<u16>>,
}

impl Lexicon {
    pub(super) fn build() -> Self {
        let mut lexicon = Self { numbers: HashMap::new(), rules: Vec::new(), starts: Vec::new() };
        for Row { name, flag, strong, patterns, .. } in rules::all() {
            for text in *patterns {
                let pattern = Pattern::parse(text, &mut |word| lexicon.number(word));
                lexicon.rules.push(Rule { name, flag: *flag, strong: *strong, pattern });
            }
        }
        lexicon.starts = vec![Vec::new(); lexicon.numbers.len() + 1];
        for (at, rule) in lexicon.rules.iter().enumerate() {
            for word in rule.pattern.first_words() {
                lexicon.starts[usize::from(word.0)].push(at as u16);
            }
        }
        lexicon
    }

    fn number(&mut self, word: &'static str) -> Word {
        let next = Word(self.numbers.len() as u16 + 1);
        *self.numbers.entry(word.as_bytes()).or_insert(next)
    }

    /// The word that bytes spell, in lower case.
    pub(super) fn word(&self, bytes: &[u8]) -> Word {
        self.numbers.get(bytes).copied().unwrap_or(Word::UNKNOWN)
    }

    /// The rules that start with a word.
    pub(super) fn starting_with(&self, word: Word) -> impl Iterator<Item = &Rule> {
        self.starts[usize::from(word.0)].iter().map(|at| &self.rules[usize::from(*at)])
    }
}
