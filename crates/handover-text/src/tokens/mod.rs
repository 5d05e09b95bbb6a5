//! How many tokens a text costs.
//!
//! Exact for the OpenAI families (o200k, cl100k), from tables that lie in the binary and cost
//! nothing at start; an estimate for Claude's; the nearest family for the others.
//! [`Tokenizer::exact`] says which. Which model counts how is in [`handover_model::models`].

mod bpe;
mod classes;
mod claude;
mod hash;
mod merge;
mod split;
mod vocabulary;

pub use handover_model::Tokenizer;
use handover_model::models::Model;
use serde::Serialize;

/// A number of tokens, and how it came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The number.
    pub tokens: u64,
    /// Who counted.
    pub tokenizer: Tokenizer,
    /// Whether the vendor counts the same.
    pub exact: bool,
}

impl Count {
    /// Counts a text.
    pub fn of(tokenizer: Tokenizer, text: &str) -> Self {
        Self { tokens: count(tokenizer, text), tokenizer, exact: tokenizer.exact() }
    }
}

/// The tokenizer of a model, or of the default model.
pub fn for_model(model: Option<&str>) -> Tokenizer {
    Model::named(model).tokenizer
}

/// The tokens of a text, without what a host adds around a message.
pub fn count(tokenizer: Tokenizer, text: &str) -> u64 {
    measure(tokenizer, text, u64::MAX).tokens
}

/// The tokens of a text for the default model.
pub fn estimate(text: &str) -> u64 {
    count(for_model(None), text)
}

/// At least as many tokens as [`count`] finds, without counting.
pub fn upper_bound(tokenizer: Tokenizer, text: &str) -> u64 {
    let bytes = text.len() as u64;
    match tokenizer {
        // Every token is at least one byte.
        Tokenizer::O200k | Tokenizer::Cl100k | Tokenizer::Nearest => bytes,
        Tokenizer::Claude | Tokenizer::ClaudeNew => bytes.saturating_mul(claude::MOST_PER_BYTE),
    }
}

/// Whether a text has at most `limit` tokens. Short texts are not counted, and long ones only as
/// far as the limit.
pub fn fits(tokenizer: Tokenizer, text: &str, limit: u64) -> bool {
    upper_bound(tokenizer, text) <= limit
        || (text.len() <= most_bytes(limit) && measure(tokenizer, text, limit).tokens <= limit)
}

/// No text with so many tokens is longer: a token has at most 128 bytes, and the cheapest estimate
/// of one is two fifths.
pub(crate) fn most_bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(512)).unwrap_or(usize::MAX)
}

/// How far a count went.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measure {
    /// The tokens found.
    pub(crate) tokens: u64,
    /// Where the last piece begins; all before it is within the limit.
    pub(crate) fitting: usize,
    /// Where the last piece ends.
    pub(crate) end: usize,
}

/// Counts until the text ends or the limit is passed.
pub(crate) fn measure(tokenizer: Tokenizer, text: &str, limit: u64) -> Measure {
    match tokenizer {
        Tokenizer::O200k | Tokenizer::Nearest => bpe::o200k(text, limit),
        Tokenizer::Cl100k => bpe::cl100k(text, limit),
        Tokenizer::Claude => claude::measure(&claude::CLAUDE, text, limit),
        Tokenizer::ClaudeNew => claude::measure(&claude::CLAUDE_NEW, text, limit),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_counts() {
        assert_eq!(count(Tokenizer::O200k, ""), 0);
        assert_eq!(count(Tokenizer::O200k, "hello world"), 2);
        assert_eq!(count(Tokenizer::Cl100k, "hello world"), 2);
        assert_eq!(count(Tokenizer::Claude, ""), 0);
        let count = Count::of(for_model(Some("claude-opus-4-8")), "hello, world");
        assert_eq!(
            serde_json::to_value(count).unwrap(),
            serde_json::json!({"tokens": 5, "tokenizer": "claude-4.7", "exact": false})
        );
    }

    proptest! {
        #[test]
        fn bounds_hold(text in "\\PC{0,60}|[ \\n\\t~!a-zA-Z]{0,60}|(?s).{0,40}", limit in 0_u64..80) {
            for &tokenizer in Tokenizer::ALL {
                let tokens = count(tokenizer, &text);
                prop_assert!(tokens <= upper_bound(tokenizer, &text));
                prop_assert_eq!(fits(tokenizer, &text, limit), tokens <= limit);
            }
        }
    }
}
