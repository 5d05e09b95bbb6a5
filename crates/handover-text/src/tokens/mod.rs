//! Token counts.
//!
//! Exact for the OpenAI families (o200k, cl100k), from tables embedded in the binary that need no
//! initialisation; an estimate for Claude; the nearest family for all others. [`Tokenizer::exact`] says
//! which, and [`handover_model::models`] maps models to tokenizers.

mod bpe;
mod classes;
mod claude;
mod hash;
mod lines;
mod merge;
mod split;
mod vocabulary;

pub use handover_model::Tokenizer;
use handover_model::models::Model;
use serde::Serialize;

/// A token count and its provenance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The number of tokens.
    pub tokens: u64,
    /// The tokenizer that was used.
    pub tokenizer: Tokenizer,
    /// Whether the vendor's own count is the same.
    pub exact: bool,
}

impl Count {
    /// Counts the tokens of a text.
    pub fn of(tokenizer: Tokenizer, text: &str) -> Self {
        Self { tokens: count(tokenizer, text), tokenizer, exact: tokenizer.exact() }
    }
}

/// The tokenizer of a model; of the default model for `None`.
pub fn for_model(model: Option<&str>) -> Tokenizer {
    Model::named(model).tokenizer
}

/// Longer texts are no parts of a brief, so their lines are not remembered.
const LONG: usize = 1 << 16;

/// The tokens of a text, without what an agent program adds around a message.
pub fn count(tokenizer: Tokenizer, text: &str) -> u64 {
    thread_local! {
        static COSTS: [lines::Costs; Tokenizer::ALL.len()] = Default::default();
    }
    if text.len() > LONG {
        return measure(tokenizer, text, u64::MAX).tokens;
    }
    COSTS.with(|costs| {
        let of = |line: &dyn Fn(&str) -> u64| costs[tokenizer as usize].of(text, line);
        match tokenizer {
            Tokenizer::O200k | Tokenizer::Nearest | Tokenizer::Cl100k => {
                of(&|line| measure(tokenizer, line, u64::MAX).tokens)
            }
            Tokenizer::Claude => claude::tokens(of(&|line| claude::cost(&claude::CLAUDE, line))),
            Tokenizer::ClaudeNew => {
                claude::tokens(of(&|line| claude::cost(&claude::CLAUDE_NEW, line)))
            }
        }
    })
}

/// The tokens of a text, for the default model.
pub fn estimate(text: &str) -> u64 {
    count(for_model(None), text)
}

/// An upper bound of [`count`], without counting.
pub fn upper_bound(tokenizer: Tokenizer, text: &str) -> u64 {
    let bytes = text.len() as u64;
    match tokenizer {
        // Every token is at least one byte.
        Tokenizer::O200k | Tokenizer::Cl100k | Tokenizer::Nearest => bytes,
        Tokenizer::Claude | Tokenizer::ClaudeNew => bytes.saturating_mul(claude::MOST_PER_BYTE),
    }
}

/// Whether a text has at most `limit` tokens. Short texts are not counted, long ones only up to the
/// limit.
pub fn fits(tokenizer: Tokenizer, text: &str, limit: u64) -> bool {
    upper_bound(tokenizer, text) <= limit
        || (text.len() <= most_bytes(limit) && measure(tokenizer, text, limit).tokens <= limit)
}

/// The most bytes a text with this many tokens can have: a token has at most 128 bytes, and the lowest
/// estimate for one is two fifths of a token.
pub(crate) fn most_bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(512)).unwrap_or(usize::MAX)
}

/// The result of counting up to a limit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measure {
    /// The tokens counted.
    pub(crate) tokens: u64,
    /// Start of the last piece; everything before it is within the limit.
    pub(crate) fitting: usize,
    /// End of the last piece.
    pub(crate) end: usize,
}

/// Counts until the text ends or the limit is exceeded.
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
    fn counts_known_texts() {
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
        /// However often a text is counted, and whatever was counted before it.
        #[test]
        fn remembered_lines_change_no_count(
            text in "([ \\n\\r\\t/.'a-zA-Z0-9é世\u{a0}-]{0,12}|some words of a line that is long enough|(?s).{0,9}){0,9}",
        ) {
            for &tokenizer in Tokenizer::ALL {
                let plain = measure(tokenizer, &text, u64::MAX).tokens;
                prop_assert_eq!(count(tokenizer, &text), plain, "{}", tokenizer);
                prop_assert_eq!(count(tokenizer, &text), plain, "{}", tokenizer);
            }
        }

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
