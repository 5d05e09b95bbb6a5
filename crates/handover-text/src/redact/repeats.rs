//! A secret that was recognized once is hidden wherever it stands after that: beside the name that gives it away, and in
//! the command, the address or the log line that repeats it without.
//!
//! Only what cannot be an ordinary word counts, as a whole word. Secrets are remembered by their hashes, so that none stays
//! in memory; one pass over the words of the text finds them, however many there are.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use super::{Hit, usernames};

/// The rule of a secret that is known from elsewhere in the text.
const RULE: &str = "repeated";

/// Shorter ones are too often ordinary words, longer ones are structures of their own.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=512;

/// A secret without digits is hidden elsewhere only from this length on.
const LONG: usize = 20;

/// The most secrets that are remembered, and the most that share their longest word.
const REMEMBERED: usize = 4096;
const ALIKE: usize = 8;

/// The secrets of a text or a stream.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// By the hash of the longest word in them.
    known: HashMap<u64, Vec<Known>>,
    hashes: RandomState,
    count: usize,
}

/// A secret: its hash, its length, and where its longest word begins.
#[derive(Debug, PartialEq, Eq)]
struct Known {
    hash: u64,
    len: usize,
    word: usize,
}

impl Repeats {
    /// Remembers a secret that was found.
    pub(super) fn learn(&mut self, text: &str, hit: &Hit<'_>) {
        let secret = &text.as_bytes()[hit.start..hit.end];
        if hit.rule == usernames::RULE || self.count == REMEMBERED || !is_worth_it(secret) {
            return;
        }
        let Some((word, end)) = words(secret).max_by_key(|(start, end)| end - start) else {
            return;
        };
        let known = Known { hash: self.hashes.hash_one(secret), len: secret.len(), word };
        let alike = self.known.entry(self.hashes.hash_one(&secret[word..end])).or_default();
        if alike.len() < ALIKE && !alike.contains(&known) {
            alike.push(known);
            self.count += 1;
        }
    }

    /// Adds where secrets stand again, after they were found here or were known before. What stood before is left: of a
    /// stream it has been released.
    pub(super) fn find<'r>(&self, text: &str, hits: &mut Vec<Hit<'r>>) {
        if hits.is_empty() && self.count == 0 {
            return;
        }
        let bytes = text.as_bytes();
        let (mut here, mut next) = (Self::default(), 0);
        let mut found: Vec<Hit<'r>> = Vec::new();
        for (start, end) in words(bytes) {
            while let Some(hit) = hits.get(next).filter(|hit| hit.end <= start) {
                here.learn(text, hit);
                next += 1;
            }
            // What is hidden already is most of what is looked up.
            if hits.get(next).is_some_and(|hit| hit.start < end) {
                continue;
            }
            let whole = [self, &here].iter().find_map(|known| known.at_word(bytes, start, end));
            let is_free = |(from, to): &(usize, usize)| {
                let next = hits.partition_point(|hit| hit.end <= *from);
                hits.get(next).is_none_or(|hit| hit.start >= *to)
                    && found.last().is_none_or(|last| last.end <= *from)
            };
            if let Some((from, to)) = whole.filter(is_free) {
                found.push(Hit::new(RULE, from, to));
            }
        }
        if !found.is_empty() {
            hits.extend(found);
            hits.sort_by_key(|hit| hit.start);
        }
    }

    /// The known secret around this word.
    fn at_word(&self, text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
        if self.count == 0 {
            return None;
        }
        let alike = self.known.get(&self.hashes.hash_one(&text[start..end]))?;
        alike.iter().find_map(|known| self.at(text, start, known))
    }

    /// The secret whose longest word is at `start`, if it is there as a whole.
    fn at(&self, text: &[u8], start: usize, known: &Known) -> Option<(usize, usize)> {
        let from = start.checked_sub(known.word)?;
        let to = from + known.len;
        let secret = text.get(from..to)?;
        let is_word = |at: Option<usize>| {
            at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_alphanumeric)
        };
        let cuts_before = secret[0].is_ascii_alphanumeric() && is_word(from.checked_sub(1));
        let cuts_after = secret[known.len - 1].is_ascii_alphanumeric() && is_word(Some(to));
        let is_it = !cuts_before && !cuts_after && self.hashes.hash_one(secret) == known.hash;
        is_it.then_some((from, to))
    }
}

fn is_worth_it(secret: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| secret.iter().any(is);
    LENGTHS.contains(&secret.len())
        && secret.is_ascii()
        && !has(u8::is_ascii_control)
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || secret.len() >= LONG)
}

/// Letters and digits in a row, as ranges.
fn words(text: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].iter().position(u8::is_ascii_alphanumeric)?;
        let rest = &text[start..];
        let len = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
        at = start + len;
        Some((start, at))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;

    #[track_caller]
    fn hides(text: &str, expected: &str) {
        let clean = Redactor::default().redact_bytes(text.as_bytes());
        assert_eq!(String::from_utf8(clean).unwrap(), expected);
    }

    #[test]
    fn a_secret_is_hidden_wherever_it_stands_again() {
        hides(
            "password: tr0ub4dor&3x\nlogged in with tr0ub4dor&3x, then (tr0ub4dor&3x)\n",
            "password: [REDACTED-1]\nlogged in with [REDACTED-1], then ([REDACTED-1])\n",
        );
        hides(
            "DB_PASSWORD=q7Yp2LmV\nsent q7Yp2LmV\n",
            "DB_PASSWORD=[REDACTED-1]\nsent [REDACTED-1]\n",
        );
    }

    #[test]
    fn ordinary_words_and_parts_of_words_stay() {
        for text in [
            "password: postgres\nthe database postgres is up\n",
            "password: q7Yp2LmV\nbut q7Yp2LmVx and xq7Yp2LmV are others\n",
            "user: ann2024x password: q7Yp2LmV\nann2024x has logged in\n",
        ] {
            let clean = Redactor::default().redact_bytes(text.as_bytes());
            let clean = String::from_utf8(clean).unwrap();
            let (_, rest) = text.split_once('\n').unwrap();
            assert!(clean.ends_with(rest), "{clean}");
        }
    }
}
