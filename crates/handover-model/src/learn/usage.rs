//! Learning from use: what agents used of their briefs moves an item up or down, within bounds.
//!
//! A [`UseTally`] is what a store keeps of an item: how often it was judged and how often it was used, both fading
//! with time. [`UseRule`] turns tallies into factors of scores. Nothing else may: it is bounded by [`BOUND`], it
//! never lets anything overtake what is critical, it says nothing until there is enough to go by, and one brief in
//! [`HOLD_OUT`] does without it, so that its effect can be seen.

use serde::{Deserialize, Serialize};

use crate::{GroupId, ItemKind, Role, SessionId, Timestamp};

/// The most of its score that an item gains or loses.
pub const BOUND: f64 = 0.2;

/// After so many days what was seen counts half.
pub const HALF_LIFE_DAYS: f64 = 30.0;

/// So many judged items of a kind must be there, after fading: with fewer, the share that is used of the kind, which
/// every item is compared with, is not known to ten points (95 % of the time, a share of 100 is at most 9.8 off).
pub const ENOUGH: f64 = 100.0;

/// An item counts as if it had been judged so many times before, with the share of its kind: one brief says little.
const DOUBT: f64 = 4.0;

/// One brief in so many is assembled without it.
pub const HOLD_OUT: u64 = 20;

/// How often an item was judged and used, as of a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct UseTally {
    /// How often it was opened, named or echoed.
    pub used: f64,
    /// How often an agent that had received it was seen to its end.
    pub judged: f64,
    /// The time that both numbers are faded to.
    pub at: Timestamp,
}

impl UseTally {
    /// Whether items of a kind are tallied: of those that compete by score, and may come again.
    pub const fn counts(kind: ItemKind) -> bool {
        match kind {
            ItemKind::Package | ItemKind::Note => true,
            ItemKind::Reasoning | ItemKind::Error | ItemKind::Strategy | ItemKind::Verdict => false,
        }
    }

    /// Adds so much to both numbers, as of the time of a brief. What is older than the tally has faded by now.
    pub fn add(&mut self, used: f64, judged: f64, at: Timestamp) {
        let now = self.at.max(at);
        let (before, added) = (fading(self.at, now), fading(at, now));
        self.used = (self.used * before + used * added).max(0.0);
        self.judged = (self.judged * before + judged * added).max(self.used);
        self.at = now;
    }

    /// The tally faded to a later time.
    #[must_use]
    pub fn faded(self, now: Timestamp) -> Self {
        let left = fading(self.at, now);
        Self { used: self.used * left, judged: self.judged * left, at: self.at.max(now) }
    }
}

/// What is left at a time of something that was seen at an earlier one.
fn fading(seen: Timestamp, now: Timestamp) -> f64 {
    let micros = now.as_micros().saturating_sub(seen.as_micros()).max(0);
    (-(micros as f64) / (HALF_LIFE_DAYS * 86_400e6)).exp2()
}

/// The tallies of some items, and of their kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UseTallies {
    /// All items of the kind together; none if nothing was ever judged.
    pub of_kind: Option<UseTally>,
    /// Of each item that was asked for, in the same order.
    pub items: Vec<Option<UseTally>>,
}

/// How use moves items of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UseRule {
    /// The share that is used of the kind.
    share: f64,
    now: Timestamp,
}

impl UseRule {
    /// The rule for a kind; none if too little was seen of it lately.
    pub fn of(kind: Option<UseTally>, now: Timestamp) -> Option<Self> {
        let kind = kind?.faded(now);
        let share = kind.used / kind.judged;
        (kind.judged >= ENOUGH && share.is_finite())
            .then(|| Self { share: share.clamp(0.0, 1.0), now })
    }

    /// What the score of an item is multiplied by: from `1 - BOUND` for what is never used to `1 + BOUND` for what
    /// always is. What is critical gets all of it, so that nothing overtakes it because of its use.
    pub fn factor(&self, item: Option<UseTally>, critical: bool) -> f64 {
        if critical {
            return 1.0 + BOUND;
        }
        1.0 + BOUND * item.map_or(0.0, |item| self.lean(item))
    }

    /// How far the share of an item is from that of its kind, from -1 to 1.
    fn lean(&self, item: UseTally) -> f64 {
        let item = item.faded(self.now);
        let share = (item.used + DOUBT * self.share) / (item.judged + DOUBT);
        let away = share - self.share;
        let most = if away > 0.0 { 1.0 - self.share } else { self.share };
        if most <= 0.0 || !away.is_finite() { 0.0 } else { (away / most).clamp(-1.0, 1.0) }
    }
}

/// Whether a brief is assembled without learning from use, by the attempt that it is for.
pub fn is_held_out(
    session: &SessionId,
    group: Option<&GroupId>,
    role: &Role,
    iteration: u32,
) -> bool {
    let mut hasher = blake3::Hasher::new();
    for part in [session.as_str(), group.map_or("", GroupId::as_str), role.as_str()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.update(&iteration.to_le_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(bytes).is_multiple_of(HOLD_OUT)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 86_400;

    fn day(days: i64) -> Timestamp {
        Timestamp::default().plus_seconds(days * DAY)
    }

    fn tally(used: f64, judged: f64) -> UseTally {
        UseTally { used, judged, at: day(0) }
    }

    fn rule(share: f64) -> UseRule {
        UseRule::of(Some(tally(1_000.0 * share, 1_000.0)), day(0)).unwrap()
    }

    proptest! {
        #[test]
        fn no_item_moves_by_more_than_a_fifth(
            share in 0.0..=1.0_f64, used in 0.0..1e6_f64, more in 0.0..1e6_f64, days in 0..4_000_i64,
        ) {
            let rule = UseRule { now: day(days), ..rule(share) };
            let factor = rule.factor(Some(tally(used, used + more)), false);
            prop_assert!((1.0 - BOUND..=1.0 + BOUND).contains(&factor), "{}", factor);
        }

        #[test]
        fn nothing_overtakes_what_is_critical(
            share in 0.0..=1.0_f64, used in 0.0..1e3_f64, more in 0.0..1e3_f64,
            critical in 0.01..10.0_f64, behind in 0.0..=1.0_f64,
        ) {
            let rule = rule(share);
            let other = critical * behind;
            let moved = critical * rule.factor(Some(tally(0.0, more)), true);
            prop_assert!(moved >= other * rule.factor(Some(tally(used, used + more)), false));
        }

        #[test]
        fn what_was_seen_fades(
            share in 0.01..0.99_f64, used in 0.0..50.0_f64, more in 0.0..50.0_f64, days in 1..400_i64,
        ) {
            let item = tally(used, used + more);
            let at = |days| UseRule { now: day(days), ..rule(share) }.factor(Some(item), false) - 1.0;
            prop_assert!(at(days).abs() <= at(0).abs() + 1e-12);
            prop_assert!(at(days) * at(0) >= 0.0);
            prop_assert!(at(20_000).abs() < 1e-3);
        }

        #[test]
        fn the_order_in_which_briefs_are_judged_does_not_matter(
            mut briefs in proptest::collection::vec((0..2_u8, 0..90_i64), 1..20),
        ) {
            let sum = |briefs: &[(u8, i64)]| {
                let mut sum = UseTally::default();
                briefs.iter().for_each(|(used, days)| sum.add(f64::from(*used), 1.0, day(*days)));
                sum.faded(day(90))
            };
            let one = sum(&briefs);
            briefs.reverse();
            let other = sum(&briefs);
            prop_assert!((one.used - other.used).abs() < 1e-9 && (one.judged - other.judged).abs() < 1e-9);
            prop_assert!(one.used <= one.judged);
        }
    }

    #[test]
    fn half_is_left_after_a_month() {
        let faded = tally(8.0, 10.0).faded(day(30));
        assert!((faded.used - 4.0).abs() < 1e-9 && (faded.judged - 5.0).abs() < 1e-9);
        assert_eq!(tally(8.0, 10.0).faded(day(-30)), tally(8.0, 10.0));
    }

    #[test]
    fn the_rule_waits_for_enough_and_forgets_what_is_old() {
        assert_eq!(UseRule::of(None, day(0)), None);
        assert_eq!(UseRule::of(Some(tally(30.0, ENOUGH - 0.5)), day(0)), None);
        assert!(UseRule::of(Some(tally(30.0, ENOUGH)), day(0)).is_some());
        assert!(UseRule::of(Some(tally(60.0, 2.0 * ENOUGH)), day(29)).is_some());
        assert_eq!(UseRule::of(Some(tally(60.0, 2.0 * ENOUGH)), day(31)), None);
    }

    #[test]
    fn often_used_rises_and_never_used_sinks() {
        let rule = rule(0.4);
        let factor = |used, judged| rule.factor(Some(tally(used, judged)), false);
        assert_eq!(rule.factor(None, false), 1.0);
        assert!((factor(4.0, 10.0) - 1.0).abs() < 1e-9);
        assert!(factor(1.0, 1.0) < 1.05 && factor(5.0, 5.0) > 1.1 && factor(500.0, 500.0) > 1.19);
        assert!(factor(0.0, 1.0) > 0.95 && factor(0.0, 5.0) < 0.9 && factor(0.0, 500.0) < 0.81);
        for share in [0.0, 1.0] {
            let rule = self::rule(share);
            assert!(rule.factor(Some(tally(3.0, 6.0)), false).is_finite());
        }
    }

    #[test]
    fn one_brief_in_twenty_is_held_out() {
        let role = Role::new("developer").unwrap();
        let mut held_out = 0_u32;
        for session in 0..100 {
            let session = SessionId::new(format!("s{session}")).unwrap();
            for group in 0..20 {
                let group = GroupId::new(format!("g{group}")).unwrap();
                for iteration in 0..10 {
                    held_out += u32::from(is_held_out(&session, Some(&group), &role, iteration));
                }
            }
        }
        // Of 20,000: five standard deviations around 1,000.
        assert!((846..=1_154).contains(&held_out), "{held_out}");
        let (session, group) = (SessionId::new("s1").unwrap(), GroupId::new("g").unwrap());
        let by_parts = |iteration| is_held_out(&session, Some(&group), &role, iteration);
        assert_eq!(
            (0..99).map(by_parts).collect::<Vec<_>>(),
            (0..99).map(by_parts).collect::<Vec<_>>()
        );
    }
}
