//! What agents and tools used: money, tokens, turns, time.

use std::fmt::{self, Display, Formatter};
use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Money, tokens, turns and time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Cost in US dollars, of the agents that report it.
    pub cost_usd: f64,
    /// Agents of which nobody reports what they cost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced: u64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Turns of the model.
    pub turns: u64,
    /// Wall-clock time.
    pub duration_ms: u64,
}

impl Spent {
    /// The cost as people read it.
    pub fn price(&self) -> Price {
        Price::new(self.cost_usd, self.unpriced)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cost_usd: self.cost_usd + other.cost_usd,
            unpriced: self.unpriced.saturating_add(other.unpriced),
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

/// What agents cost, some of which may report nothing: `0.1250 USD`, `at least 0.1250 USD`, `cost unknown`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Price {
    usd: f64,
    unpriced: u64,
}

impl Price {
    /// The cost of the agents that report it, and how many do not.
    pub fn new(usd: f64, unpriced: u64) -> Self {
        Self { usd, unpriced }
    }

    /// As the documents of runs, chains and stories have it.
    pub fn of(document: &Value) -> Self {
        let unpriced = document["unpriced"].as_u64().unwrap_or_default();
        Self::new(document["cost_usd"].as_f64().unwrap_or_default(), unpriced)
    }

    /// For a little space: `$0.12`, `$0.12+`, `$?`.
    pub fn short(self) -> String {
        self.said(|usd| format!("${usd:.2}")).unwrap_or_else(|| "$?".to_owned())
    }

    /// For a column of dollars: `0.1250`, `0.1250+`, `?`.
    pub fn cell(self) -> String {
        self.said(|usd| format!("{usd:.4}")).unwrap_or_else(|| "?".to_owned())
    }

    /// A sum in the given form, marked if it is only a part; none if nothing is known.
    pub fn said(self, form: impl Fn(f64) -> String) -> Option<String> {
        match self.unpriced {
            0 => Some(form(self.usd)),
            _ if self.usd > 0.0 => Some(format!("{}+", form(self.usd))),
            _ => None,
        }
    }
}

impl Sum for Price {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            usd: sum.usd + one.usd,
            unpriced: sum.unpriced.saturating_add(one.unpriced),
        })
    }
}

impl Display for Price {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.unpriced {
            0 => write!(f, "{:.4} USD", self.usd),
            _ if self.usd > 0.0 => write!(f, "at least {:.4} USD", self.usd),
            _ => f.write_str("cost unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_is_not_zero() {
        let priced = Spent { cost_usd: 0.125, ..Spent::default() };
        let unpriced = Spent { unpriced: 1, ..Spent::default() };
        let said =
            |spent: Spent| (spent.price().to_string(), spent.price().short(), spent.price().cell());
        let words = |all: [&str; 3]| (all[0].to_owned(), all[1].to_owned(), all[2].to_owned());
        assert_eq!(said(Spent::default()), words(["0.0000 USD", "$0.00", "0.0000"]));
        assert_eq!(said(priced), words(["0.1250 USD", "$0.12", "0.1250"]));
        assert_eq!(said(unpriced), words(["cost unknown", "$?", "?"]));
        assert_eq!(said(priced + unpriced), words(["at least 0.1250 USD", "$0.12+", "0.1250+"]));
    }

    #[test]
    fn journals_of_priced_agents_stay_as_they_were() {
        let json = serde_json::to_string(&Spent::default()).unwrap();
        assert_eq!(json, r#"{"cost_usd":0.0,"tokens":0,"turns":0,"duration_ms":0}"#);
        assert_eq!(serde_json::from_str::<Spent>(&json).unwrap(), Spent::default());
    }
}
