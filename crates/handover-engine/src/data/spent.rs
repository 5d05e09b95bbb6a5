//! What agents and tools used: money, tokens, turns, time.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// Money, tokens, turns and time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Cost in US dollars.
    pub cost_usd: f64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Turns of the model.
    pub turns: u64,
    /// Wall-clock time.
    pub duration_ms: u64,
}

impl Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cost_usd: self.cost_usd + other.cost_usd,
            tokens: self.tokens.saturating_add(other.tokens),
            turns: self.turns.saturating_add(other.turns),
            duration_ms: self.duration_ms.saturating_add(other.duration_ms),
        }
    }
}

impl Sum for Spent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}
