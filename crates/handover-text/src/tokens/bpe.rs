//! The exact counters: a pre-tokenizer and a vocabulary each.

use super::vocabulary::{CL100K, O200K, Vocabulary};
use super::{Measure, merge, split};

/// Counts o200k tokens, up to the limit.
pub(super) fn o200k(text: &str, limit: u64) -> Measure {
    measure(&O200K, split::o200k, text, limit)
}

/// Counts cl100k tokens, up to the limit.
pub(super) fn cl100k(text: &str, limit: u64) -> Measure {
    measure(&CL100K, split::cl100k, text, limit)
}

#[inline]
fn measure(
    vocabulary: &Vocabulary,
    split: impl Fn(&str, usize) -> usize,
    text: &str,
    limit: u64,
) -> Measure {
    let mut measure = Measure::default();
    while measure.end < text.len() && measure.tokens <= limit {
        measure.fitting = measure.end;
        measure.end = split(text, measure.fitting);
        measure.tokens += merge::count(vocabulary, text.as_bytes(), measure.fitting, measure.end);
    }
    measure
}
