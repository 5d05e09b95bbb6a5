//! What the model charges for its responses.

/// Tokens of one response, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Input, cached or not.
    pub input: u64,
    /// The part of `input` that came from a cache.
    pub cached: u64,
    /// Output, including reasoning.
    pub output: u64,
}

impl Tokens {
    /// The part of `output` that is reasoning, where a protocol reports it.
    pub(super) const REASONING: u64 = 2;

    /// Those of a response: no two of a server are alike, so that a sum shows which ones were counted.
    pub(super) fn of_response(number: u64) -> Self {
        Self { input: 11 + number, cached: 3, output: 7 + number * number }
    }

    /// Input and output together.
    pub fn total(&self) -> u64 {
        self.input + self.output
    }
}

impl std::ops::Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input + other.input,
            cached: self.cached + other.cached,
            output: self.output + other.output,
        }
    }
}
