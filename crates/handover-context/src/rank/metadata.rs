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
