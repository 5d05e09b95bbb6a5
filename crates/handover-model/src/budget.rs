//! Token budgets: the model's window, its zones, the shares of a role.

use serde::Serialize;

use crate::Zone;
use crate::roles::RoleRules;

/// Tokens for context and specialization together in a brief, for a small model.
pub(crate) const PREFACE_SMALL: u64 = 900;
/// The same for a medium model.
pub(crate) const PREFACE_MEDIUM: u64 = 1_200;
/// The same for a large model.
pub(crate) const PREFACE_LARGE: u64 = 1_800;
/// The share of the specialization.
pub(crate) const SPECIALIZATION_PERCENT: u64 = 60;

/// The token budget of one assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// The model's context window.
    pub window: u64,
    /// The window without the safety margin.
    pub effective: u64,
    /// What is left of `effective` after current usage.
    pub remaining: u64,
    /// The share for packages and reasoning.
    pub context: u64,
    /// The share for error patterns and strategies.
    pub errors: u64,
}

impl Budget {
    /// The budget of a role. `margin` is the safety margin in thousandths.
    pub fn new(window: u64, margin: u64, current: u64, rules: &RoleRules) -> Self {
        let effective = (u128::from(window) * u128::from(1_000 - margin.min(1_000)) / 1_000) as u64;
        let remaining = effective.saturating_sub(current);
        let share = |percent: u64| (u128::from(remaining) * u128::from(percent) / 100) as u64;
        Self {
            window,
            effective,
            remaining,
            context: share(rules.context_percent),
            errors: share(rules.errors_percent),
        }
    }

    /// The zone for the current usage, without rounding.
    pub fn zone(&self, current: u64) -> Zone {
        let used = |percent: u64| {
            u128::from(current) * 100 >= u128::from(self.effective) * u128::from(percent)
        };
        if used(95) {
            Zone::Emergency
        } else if used(85) {
            Zone::WrapUp
        } else if used(75) {
            Zone::Conservative
        } else if used(60) {
            Zone::SoftWarning
        } else {
            Zone::Normal
        }
    }

    /// The usage as a percentage with one decimal.
    pub fn usage_percent(&self, current: u64) -> f64 {
        if self.effective == 0 {
            return 100.0;
        }
        let tenths = current as f64 / self.effective as f64 * 1_000.0;
        let rounded = tenths.round() / 10.0;
        // The displayed percentage must not belong to the next zone.
        let crosses =
            [60.0, 75.0, 85.0, 95.0].iter().any(|at| rounded >= *at && tenths < at * 10.0);
        if crosses { tenths.floor() / 10.0 } else { rounded }
    }
}

impl Zone {
    /// The longest summary that is included in this zone.
    pub const fn summary_chars(self) -> usize {
        match self {
            Self::Normal => 400,
            Self::SoftWarning => 200,
            Self::Conservative => 100,
            Self::WrapUp => 60,
            Self::Emergency => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    fn budget(current: u64) -> Budget {
        Budget::new(200_000, 150, current, &RoleRules::of(&Role::new("developer").unwrap()))
    }

    #[test]
    fn shares_what_remains() {
        let budget = budget(21_250);
        assert_eq!((budget.effective, budget.remaining), (170_000, 148_750));
        assert_eq!((budget.context, budget.errors), (29_750, 14_875));
        assert_eq!(budget.usage_percent(21_250), 12.5);
    }

    #[test]
    fn zones_start_exactly_at_their_percentage() {
        for (current, zone) in [
            (0, Zone::Normal),
            (101_999, Zone::Normal),
            (102_000, Zone::SoftWarning),
            (127_499, Zone::SoftWarning),
            (127_500, Zone::Conservative),
            (144_499, Zone::Conservative),
            (144_500, Zone::WrapUp),
            (161_499, Zone::WrapUp),
            (161_500, Zone::Emergency),
            (u64::MAX, Zone::Emergency),
        ] {
            assert_eq!(budget(current).zone(current), zone, "{current}");
        }
        assert_eq!(budget(u64::MAX).remaining, 0);
    }
}
