//! How many tokens a text costs.
//!
//! Exact for the OpenAI families (o200k, cl100k), from tables that lie in the binary and cost
//! nothing at start; an estimate for the others, and [`Tokenizer::exact`] says which.

mod bpe;
mod classes;
mod hash;
mod merge;
mod split;
mod vocabulary;

/// A way of counting, one for each family of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Tokenizer {
    /// GPT-4o, GPT-4.1, GPT-5, the o series, Codex.
    #[default]
    O200k,
    /// GPT-3.5 and GPT-4.
    Cl100k,
}

impl Tokenizer {
    /// The name as it is reported.
    pub fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Cl100k => "cl100k",
        }
    }

    /// Whether the count is what the vendor counts.
    pub fn exact(self) -> bool {
        match self {
            Self::O200k | Self::Cl100k => true,
        }
    }
}

/// The tokens of a text.
pub fn count(tokenizer: Tokenizer, text: &str) -> u64 {
    match tokenizer {
        Tokenizer::O200k => bpe::count_o200k(text, u64::MAX),
        Tokenizer::Cl100k => bpe::count_cl100k(text, u64::MAX),
    }
}

/// The tokens of a text for the default tokenizer.
pub fn estimate(text: &str) -> u64 {
    count(Tokenizer::default(), text)
}
