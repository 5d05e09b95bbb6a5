//! Patterns over words.
//!
//! A pattern is a row of parts, separated by spaces:
//! - `run|execute`: one of these words; `@name` inserts a set of `rules::SETS`
//! - `?the|all`: the same, or nothing
//! - `..3`: up to three other words
//! - `^` in front: only where a demand starts: a sentence, a clause, or behind a word such as "please" or "must"
//!
//! A match never crosses the end of a sentence.

use std::sync::Arc;

use super::lexicon::{Word, Words};
use super::words::Token;

/// How many words a match may span.
const SPAN: usize = 63;

/// One part of a pattern.
#[derive(Debug)]
struct Part {
    /// Sorted.
    words: Arc<[Word]>,
    optional: bool,
    /// How many other words may stand before it.
    gap: usize,
}

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    demands: bool,
    parts: Vec<Part>,
    /// Words behind which a demand may start.
    leads: Arc<[Word]>,
}

impl Pattern {
    pub(super) fn parse(text: &'static str, words: &mut Words) -> Self {
        let (demands, text) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mut parts, mut gap) = (Vec::new(), 0);
        for part in text.split_ascii_whitespace() {
            if let Some(count) = part.strip_prefix("..") {
                gap = count.parse().unwrap_or_default();
                continue;
            }
            let (optional, list) = match part.strip_prefix('?') {
                Some(rest) => (true, rest),
                None => (false, part),
            };
            let words = words.of_list(list);
            parts.push(Part { words, optional, gap: std::mem::take(&mut gap) });
        }
        let leads = if demands { words.of_list("@lead") } else { Arc::default() };
        Self { demands, parts, leads }
    }

    /// The words that a match can start with.
    pub(super) fn first_words(&self) -> &[Word] {
        self.parts.first().map(|part| &*part.words).unwrap_or_default()
    }

    /// Whether the words from a position on match.
    pub(super) fn matches(&self, tokens: &[Token], at: usize) -> bool {
        if self.demands && !self.may_start(tokens, at) {
            return false;
        }
        // Bit n: the next part may start n words behind `at`.
        let mut reached: u64 = 1;
        let within = within_sentence(tokens, at);
        for part in &self.parts {
            let mut next = if part.optional { reached } else { 0 };
            // With a gap, later positions are reached from earlier ones.
            let mut open = reached;
            for _ in 0..part.gap {
                open |= open << 1;
            }
            for offset in 0..within {
                if open >> offset & 1 == 1
                    && part.words.binary_search(&tokens[at + offset].word).is_ok()
                {
                    next |= 1 << (offset + 1);
                }
            }
            if next == 0 {
                return false;
            }
            reached = next;
        }
        true
    }

    fn may_start(&self, tokens: &[Token], at: usize) -> bool {
        let token = tokens[at];
        token.opens
            || token.after_mark
            || at == 0
            || self.leads.binary_search(&tokens[at - 1].word).is_ok()
    }
}

/// How many words from a position on belong to its sentence, as far as a match can reach.
fn within_sentence(tokens: &[Token], at: usize) -> usize {
    let rest = &tokens[at + 1..tokens.len().min(at + SPAN)];
    1 + rest.iter().take_while(|token| !token.opens).count()
}
