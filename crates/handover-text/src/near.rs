//! How alike texts are, by their words.

use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasher as _;

use foldhash::quality::FixedState;

use crate::sentences::sentences;

/// The share of common words from which two texts say the same.
const SAME: f64 = 0.8;

/// With three words each, unrelated texts hardly ever share one of ten signs, and those that are 80 % alike
/// nearly always do.
const SIGNS: usize = 10;
const WORDS_OF_SIGN: usize = 3;

/// Shorter texts have too little to tell whether they repeat each other.
const LEAST_WORDS: usize = 8;

/// The words of a text, to be compared.
#[derive(Debug, Clone, Default)]
pub struct Likeness {
    words: HashSet<u64>,
    /// Of the words that name something.
    names: u64,
}

impl Likeness {
    /// Of a text.
    pub fn of(text: &str) -> Self {
        Self { words: words(text), names: names(text) }
    }

    /// Whether there are enough words to tell whether another text repeats them.
    pub fn is_telling(&self) -> bool {
        self.words.len() >= LEAST_WORDS
    }

    /// Whether one text repeats the other. Differences in numbers and names matter, however alike the rest is.
    pub fn repeats(&self, other: &Self) -> bool {
        self.is_telling() && other.is_telling() && self.names == other.names && self.is_near(other)
    }

    /// What most texts that say nearly the same share one of: the smallest words in a few orders, some together.
    pub fn signs(&self) -> [u64; SIGNS] {
        let mut signs = [0_u64; SIGNS];
        for (at, sign) in signs.iter_mut().enumerate() {
            for order in 0..WORDS_OF_SIGN {
                // Odd numbers permute: no two words become one.
                let factor = ((at * WORDS_OF_SIGN + order) as u64 * 2 + 1)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let place =
                    |word: &u64| word.wrapping_mul(factor).rotate_left(29).wrapping_mul(factor);
                let least = self.words.iter().map(place).min().unwrap_or_default();
                *sign = sign.rotate_left(21).wrapping_add(least);
            }
        }
        signs
    }

    /// Whether two texts say nearly the same.
    pub fn is_near(&self, other: &Self) -> bool {
        are_near(&self.words, &other.words)
    }
}

/// Whether everything that one text says is also in the other, sentence by sentence. Two long texts can have nearly
/// all words in common and still differ in the one sentence that matters.
pub fn covers(text: &str, other: &str) -> bool {
    let said: Vec<HashSet<u64>> = sentences(text).into_iter().map(words).collect();
    sentences(other)
        .into_iter()
        .map(words)
        .all(|sentence| sentence.is_empty() || said.iter().any(|said| are_near(said, &sentence)))
}

fn words(text: &str) -> HashSet<u64> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| FixedState::default().hash_one(word.to_lowercase()))
        .collect()
}

fn are_near(one: &HashSet<u64>, other: &HashSet<u64>) -> bool {
    let (least, most) = (one.len().min(other.len()), one.len().max(other.len()));
    // Too different in length to have enough in common.
    if least == 0 || (least as f64) < SAME * most as f64 {
        return false;
    }
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    common as f64 >= SAME * all as f64
}

/// A hash of the words that name something: paths, numbers, and words with an underscore or a capital letter inside.
fn names(text: &str) -> u64 {
    let names: BTreeSet<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| {
            word.chars().any(|c| c.is_numeric() || matches!(c, '_' | '/' | '.' | ':'))
                || word.chars().skip(1).any(char::is_uppercase)
        })
        .collect();
    FixedState::default().hash_one(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_the_same_is_near() {
        let near = |a: &str, b: &str| Likeness::of(a).is_near(&Likeness::of(b));
        assert!(near("Use WAL for the settings database.", "use wal for the settings-database"));
        assert!(!near("Use WAL for the settings database", "Use DELETE for the other tables"));
        assert!(!near("", "") && !near("Keep 15 minutes", "Keep 30 minutes"));
    }

    #[test]
    fn numbers_and_names_tell_texts_apart() {
        let text =
            "A payment waits 30 seconds for the gateway, then it is cancelled by `retry_later`.";
        let repeats = |other: &str| Likeness::of(text).repeats(&Likeness::of(other));
        assert!(repeats(&text.replace("then", "and then")));
        assert!(
            !repeats(&text.replace("30", "60"))
                && !repeats(&text.replace("retry_later", "give_up"))
        );
        let path =
            "The payment gateway retries in `src/pay.rs` after a timeout, and then it gives up.";
        assert!(!Likeness::of(path).repeats(&Likeness::of(&path.replace("pay", "old"))));
        assert!(!Likeness::of("All green.").repeats(&Likeness::of("All green.")));
    }

    #[test]
    fn one_sentence_that_is_missing_is_not_covered() {
        let (long, decision) =
            ("We spoke about the budget at length.\n".repeat(40), "Webhooks are retried.\n");
        assert!(
            covers(&format!("{long}{decision}"), &long)
                && !covers(&long, &format!("{long}{decision}"))
        );
        assert!(covers(
            "It waits for the gateway and then it is cancelled.",
            "It waits for the gateway, then it is cancelled."
        ));
    }
}
