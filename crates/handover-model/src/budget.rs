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
/// What evidence about the project leaves to the specialization, in percent.
pub(crate) const SPECIALIZATION_FLOOR: u64 = 25;

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
    /// The share for the specialization, which is not part of an assembly.
    #[serde(skip)]
    pub specialization: u64,
    /// The share for the task, which is not part of one either.
    #[serde(skip)]
    pub task: u64,
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
            specialization: share(rules.specialization_percent),
            task: share(rules.task_percent),
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
    use proptest::prelude::*;

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
        assert_eq!((budget.specialization, budget.task), (29_750, 74_375));
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

    #[test]
    fn percentage_never_rounds_into_the_next_zone() {
        // 59.96 % of 170,000 would round to 60.0, which is the next zone.
        assert_eq!(budget(101_932).usage_percent(101_932), 59.9);
        assert_eq!(budget(102_000).usage_percent(102_000), 60.0);
        assert_eq!(budget(161_449).usage_percent(161_449), 94.9);
        assert_eq!(budget(170_000).usage_percent(170_000), 100.0);
    }

    #[test]
    fn an_empty_window_is_an_emergency() {
        let rules = RoleRules::of(&Role::new("developer").unwrap());
        for budget in [Budget::new(0, 150, 0, &rules), Budget::new(200_000, 1_000, 0, &rules)] {
            assert_eq!((budget.effective, budget.remaining), (0, 0));
            assert_eq!((budget.context, budget.errors), (0, 0));
            assert_eq!(budget.zone(0), Zone::Emergency);
            assert_eq!(budget.usage_percent(0), 100.0);
        }
        assert_eq!(Budget::new(100, 2_000, 0, &rules).effective, 0);
    }

    #[test]
    fn summaries_shrink_from_zone_to_zone() {
        let chars: Vec<usize> = Zone::ALL.iter().map(|zone| zone.summary_chars()).collect();
        assert_eq!(chars, [400, 200, 100, 60, 0]);
    }

    proptest! {
        #[test]
        fn shares_stay_within_what_remains(
            window: u64, margin in 0..2_000_u64, current: u64, role in "[a-z]{1,8}|developer|tech_lead"
        ) {
            let rules = RoleRules::of(&Role::new(role).unwrap());
            let budget = Budget::new(window, margin, current, &rules);
            prop_assert!(budget.effective <= window);
            prop_assert!(budget.remaining <= budget.effective.saturating_sub(current));
            prop_assert!(u128::from(budget.context) + u128::from(budget.errors) <= budget.remaining.into());
        }

        #[test]
        fn usage_never_leaves_its_zone(window in 1..10_000_000_u64, current in 0..20_000_000_u64) {
            let rules = RoleRules::of(&Role::new("developer").unwrap());
            let budget = Budget::new(window, 150, current, &rules);
            let percent = budget.usage_percent(current);
            let zone = match percent {
                p if p >= 95.0 => Zone::Emergency,
                p if p >= 85.0 => Zone::WrapUp,
                p if p >= 75.0 => Zone::Conservative,
                p if p >= 60.0 => Zone::SoftWarning,
                _ => Zone::Normal,
            };
            prop_assert_eq!(budget.zone(current), zone);
        }

        #[test]
        fn zones_only_rise_with_usage(current in 0..400_000_u64, more in 0..100_000_u64) {
            let budget = budget(0);
            prop_assert!(budget.zone(current) <= budget.zone(current + more));
        }
    }
}
