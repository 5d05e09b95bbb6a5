//! The two exact counters: a pre-tokenizer and a vocabulary each.

use super::vocabulary::{CL100K, O200K, Vocabulary};
use super::{merge, split};

/// Tokens of a text in o200k.
pub(crate) fn count_o200k(text: &str, limit: u64) -> u64 {
    count(&O200K, split::o200k, text, limit)
}

/// Tokens of a text in cl100k.
pub(crate) fn count_cl100k(text: &str, limit: u64) -> u64 {
    count(&CL100K, split::cl100k, text, limit)
}

/// Counts until the text ends or the limit is passed.
#[inline]
fn count(
    vocabulary: &Vocabulary,
    split: impl Fn(&str, usize) -> usize,
    text: &str,
    limit: u64,
) -> u64 {
    let mut tokens = 0;
    let mut start = 0;
    while start < text.len() && tokens <= limit {
        let end = split(text, start);
        tokens += merge::count(vocabulary, text.as_bytes(), start, end);
        start = end;
    }
    tokens
}
