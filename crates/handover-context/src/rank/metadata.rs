//! The part of a package's score that does not depend on its text.

use handover_model::{Priority, Timestamp};
use handover_store::Candidate;

/// The terms of the metadata score, as specified.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metadata {
    /// 4 to 16, in steps of 4 by priority.
    pub priority: f64,
    /// 2 if it came from the requesting group.
    pub same_group: f64,
    /// 1.5 if it is addressed to the requesting role.
    pub addressed: f64,
    /// 1 / (days + 1).
    pub recency: f64,
}

impl Metadata {
    /// The highest possible score.
    pub const MAX: f64 = 16.0 + 2.0 + 1.5 + 1.0;

    /// The terms of a candidate at a given time.
    pub fn of(candidate: &Candidate, now: Timestamp) -> Self {
        Self::new(
            candidate.priority,
            candidate.same_group,
            candidate.addressed,
            candidate.created_at,
            now,
        )
    }

    /// The terms of a candidate without regard to group and role.
    pub fn plain(candidate: &Candidate, now: Timestamp) -> Self {
        Self::new(candidate.priority, false, false, candidate.created_at, now)
    }

    fn new(
        priority: Priority,
        same_group: bool,
        addressed: bool,
        created_at: Timestamp,
        now: Timestamp,
    ) -> Self {
        let step = match priority {
            Priority::Low => 1.0,
            Priority::Medium => 2.0,
            Priority::High => 3.0,
            Priority::Critical => 4.0,
        };
        let days = now.as_micros().saturating_sub(created_at.as_micros()).max(0) as f64 / 86_400e6;
        Self {
            priority: 4.0 * step,
            same_group: if same_group { 2.0 } else { 0.0 },
            addressed: if addressed { 1.5 } else { 0.0 },
            recency: 1.0 / (days + 1.0),
        }
    }

    /// The sum of the terms.
    pub fn score(&self) -> f64 {
        self.priority + self.same_group + self.addressed + self.recency
    }

    /// The terms multiplied by a factor.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            priority: self.priority * factor,
            same_group: self.same_group * factor,
            addressed: self.addressed * factor,
            recency: self.recency * factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use handover_model::PackageId;
    use handover_store::COLUMNS;

    use super::*;

    const DAY: i64 = 86_400_000_000;

    fn candidate(priority: Priority, same_group: bool, addressed: bool) -> Candidate {
        Candidate {
            id: PackageId(1),
            version: 1,
            priority,
            same_group,
            global: true,
            addressed,
            restricted: false,
            created_at: Timestamp::from_micros(0),
            terms: [0; COLUMNS],
        }
    }

    fn terms(candidate: &Candidate, micros: i64) -> [f64; 4] {
        let terms = Metadata::of(candidate, Timestamp::from_micros(micros));
        [terms.priority, terms.same_group, terms.addressed, terms.recency]
    }

    #[test]
    fn terms_are_those_of_the_specification() {
        for (priority, expected) in [
            (Priority::Low, 4.0),
            (Priority::Medium, 8.0),
            (Priority::High, 12.0),
            (Priority::Critical, 16.0),
        ] {
            assert_eq!(terms(&candidate(priority, false, false), 0), [expected, 0.0, 0.0, 1.0]);
        }
        let best = candidate(Priority::Critical, true, true);
        assert_eq!(terms(&best, 0), [16.0, 2.0, 1.5, 1.0]);
        assert_eq!(Metadata::of(&best, Timestamp::from_micros(0)).score(), Metadata::MAX);
    }

    #[test]
    fn recency_halves_after_a_day_and_never_exceeds_one() {
        let candidate = candidate(Priority::Low, false, false);
        let recency = |micros| terms(&candidate, micros)[3];
        assert_eq!([recency(0), recency(DAY), recency(3 * DAY)], [1.0, 0.5, 0.25]);
        assert_eq!([recency(-DAY), recency(i64::MIN)], [1.0, 1.0]);
        assert!(recency(DAY / 2) > 0.6 && recency(DAY / 2) < 0.7);
        assert!(recency(i64::MAX) > 0.0);
    }

    #[test]
    fn plain_terms_ignore_group_and_role() {
        let now = Timestamp::from_micros(DAY);
        let plain = Metadata::plain(&candidate(Priority::High, true, true), now);
        assert_eq!(plain, Metadata::of(&candidate(Priority::High, false, false), now));
        assert_eq!(plain.score(), 12.5);
    }

    #[test]
    fn scaling_scales_every_term() {
        let terms =
            Metadata::of(&candidate(Priority::Medium, true, true), Timestamp::from_micros(DAY));
        let scaled = terms.scaled(0.5);
        assert_eq!(scaled.score(), terms.score() / 2.0);
        assert_eq!(
            [scaled.priority, scaled.same_group, scaled.addressed, scaled.recency],
            [4.0, 1.0, 0.75, 0.25]
        );
    }
}
