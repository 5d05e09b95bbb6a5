//! Trust in a solution, in thousandths so that steps add up exactly.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trust(i64);

impl Trust {
    /// The trust in a new pattern.
    pub const START: Self = Self(500);
    /// The highest trust.
    pub const MAX: Self = Self(1_000);
    /// The lowest trust a rejected pattern can reach.
    pub const MIN: Self = Self(100);
    /// Thousandths gained by a confirmed reuse.
    pub const CONFIRM_STEP: i64 = 100;
    /// Thousandths lost by a failed reuse.
    pub const REJECT_STEP: i64 = 200;
    /// Only patterns with more trust are included in prompts.
    pub const RECALL_ABOVE: Self = Self(700);

    /// From thousandths, as stored; clamped to 0–1000.
    pub const fn from_thousandths(value: i64) -> Self {
        Self(if value < 0 {
            0
        } else if value > 1_000 {
            1_000
        } else {
            value
        })
    }

    /// The value in thousandths, as stored.
    pub const fn thousandths(self) -> i64 {
        self.0
    }

    /// The trust after a confirmed reuse.
    pub fn confirmed(self) -> Self {
        Self((self.0 + Self::CONFIRM_STEP).min(Self::MAX.0))
    }

    /// The trust after a failed reuse.
    pub fn rejected(self) -> Self {
        Self((self.0 - Self::REJECT_STEP).max(Self::MIN.0))
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:.1}", self.0 as f64 / 1_000.0))
    }
}

impl Serialize for Trust {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0 as f64 / 1_000.0)
    }
}

impl<'de> Deserialize<'de> for Trust {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Ok(Self::from_thousandths((value * 1_000.0).round() as i64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_are_exact_and_bounded() {
        let mut trust = Trust::START;
        let mut seen = vec![trust.to_string()];
        for _ in 0..6 {
            trust = trust.confirmed();
            seen.push(trust.to_string());
        }
        assert_eq!(seen, ["0.5", "0.6", "0.7", "0.8", "0.9", "1.0", "1.0"]);
        for expected in ["0.8", "0.6", "0.4", "0.2", "0.1", "0.1"] {
            trust = trust.rejected();
            assert_eq!(trust.to_string(), expected);
        }
    }

    #[test]
    fn three_confirmations_make_a_pattern_recallable() {
        let twice = Trust::START.confirmed().confirmed();
        assert!(twice <= Trust::RECALL_ABOVE && twice.confirmed() > Trust::RECALL_ABOVE);
    }

    #[test]
    fn values_are_clamped_and_read_back() {
        assert_eq!(Trust::from_thousandths(-1).thousandths(), 0);
        assert_eq!(Trust::from_thousandths(0).thousandths(), 0);
        assert_eq!(Trust::from_thousandths(1_000), Trust::MAX);
        assert_eq!(Trust::from_thousandths(1_001), Trust::MAX);
        for trust in [Trust::MIN, Trust::START, Trust::RECALL_ABOVE, Trust::MAX] {
            let json = serde_json::to_string(&trust).unwrap();
            assert_eq!(serde_json::from_str::<Trust>(&json).unwrap(), trust, "{json}");
        }
        assert_eq!(serde_json::to_string(&Trust::START).unwrap(), "0.5");
        assert_eq!(serde_json::from_str::<Trust>("7").unwrap(), Trust::MAX);
        assert_eq!(format!("[{:>5}]", Trust::START), "[  0.5]");
    }

    #[test]
    fn low_trust_rises_and_does_not_fall_below_the_minimum() {
        let lowest = Trust::from_thousandths(0);
        assert_eq!(lowest.rejected(), Trust::MIN);
        assert_eq!(lowest.confirmed().thousandths(), 100);
        assert_eq!(Trust::MAX.confirmed(), Trust::MAX);
    }

    proptest! {
        #[test]
        fn trust_stays_within_its_bounds(start in -500_i64..1_500, steps in prop::collection::vec(any::<bool>(), 0..40)) {
            let mut trust = Trust::from_thousandths(start);
            for confirmed in steps {
                let before = trust;
                trust = if confirmed { trust.confirmed() } else { trust.rejected() };
                prop_assert!((0..=1_000).contains(&trust.thousandths()));
                prop_assert!(trust <= Trust::MAX);
                if confirmed {
                    prop_assert!(trust >= before);
                    prop_assert!(trust.thousandths() - before.thousandths() <= Trust::CONFIRM_STEP);
                } else {
                    prop_assert!(trust >= Trust::MIN);
                    prop_assert!(before.thousandths() - trust.thousandths() <= Trust::REJECT_STEP);
                }
            }
        }

        #[test]
        fn every_thousandth_survives_json(thousandths in 0_i64..=1_000) {
            let trust = Trust::from_thousandths(thousandths);
            let json = serde_json::to_string(&trust).unwrap();
            prop_assert_eq!(serde_json::from_str::<Trust>(&json).unwrap(), trust, "{}", json);
        }

        /// A failure costs twice what a success earns: one of each never gains.
        #[test]
        fn a_failure_outweighs_a_success(thousandths in 0_i64..=1_000) {
            let trust = Trust::from_thousandths(thousandths);
            let both = trust.confirmed().rejected();
            prop_assert!(both < trust || both == Trust::MIN);
        }
    }

    #[test]
    fn rejects_invalid_json() {
        for wrong in ["\"0.5\"", "null", "[]", "{}"] {
            assert!(serde_json::from_str::<Trust>(wrong).is_err(), "{wrong}");
        }
        assert_eq!(serde_json::from_str::<Trust>("-3").unwrap().thousandths(), 0);
        assert_eq!(serde_json::from_str::<Trust>("0.4999").unwrap().thousandths(), 500);
    }
}
