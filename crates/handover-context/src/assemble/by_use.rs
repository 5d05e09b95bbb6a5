//! Learning from use: what agents used of earlier briefs moves the items of this one, by the rule in
//! `handover_model::learn`.
//!
//! Only with a task, and only for candidates that may go in: their tallies are read together.

use std::cell::Cell;

use handover_model::learn::{UseRule, is_held_out};
use handover_model::{ItemKind, PackageId, Priority, ProjectId, Timestamp, UseLearning};
use handover_store::{Result, Store};

use super::offer::Offer;
use super::{ContextRequest, Sources, Terms};
use crate::rank::Key;

/// How many candidates behind those that the limit admits may come before them because of their use.
pub(super) const BEHIND: usize = 16;

/// How many of the best notes are looked up: those behind them seldom go in.
const NOTES: usize = 32;

/// What is known about use, for one request.
pub(super) struct ByUse<'a> {
    store: &'a dyn Store,
    project: &'a ProjectId,
    now: Timestamp,
    /// Whether it counts at all.
    counts: bool,
    held_out: bool,
    /// What the receipt says: nothing until something was found.
    learning: Cell<Option<UseLearning>>,
}

impl<'a> ByUse<'a> {
    pub(super) fn new(
        sources: Sources<'a>,
        request: &ContextRequest,
        project: &'a ProjectId,
    ) -> Self {
        let has_task = request.task.as_deref().is_some_and(|task| !task.trim().is_empty());
        let counts = has_task && sources.config.learn_from_use;
        let ContextRequest { session, group, role, iteration, .. } = request;
        Self {
            store: sources.store,
            project,
            now: request.now,
            counts,
            held_out: counts && is_held_out(session, group.as_ref(), role, *iteration),
            learning: Cell::new(None),
        }
    }

    pub(super) fn learning(&self) -> Option<UseLearning> {
        self.learning.get()
    }

    /// The factors of some items; none if use does not count.
    fn factors(
        &self,
        kind: ItemKind,
        ids: impl Iterator<Item = String>,
        is_protected: impl Fn(usize) -> bool,
    ) -> Result<Option<Vec<f64>>> {
        if !self.counts {
            return Ok(None);
        }
        // What is held out only needs to know whether it would have counted.
        let ids: Vec<String> = if self.held_out { Vec::new() } else { ids.collect() };
        let tallies = self.store.use_tallies(self.project, kind, &ids)?;
        let Some(rule) = UseRule::of(tallies.of_kind, self.now) else { return Ok(None) };
        if self.held_out {
            self.learning.set(Some(UseLearning::HeldOut));
            return Ok(None);
        }
        self.learning.set(Some(UseLearning::Applied));
        let items = tallies.items.into_iter().enumerate();
        Ok(Some(items.map(|(at, item)| rule.factor(item, is_protected(at))).collect()))
    }

    /// Moves the best packages, given best last, and says by how much. Tiers stay as they are.
    pub(super) fn order(
        &self,
        keys: &mut [Key],
        report: Option<PackageId>,
    ) -> Result<Vec<(PackageId, f64)>> {
        let ids = keys.iter().map(|key| key.candidate.id.to_string());
        let is_protected = |at: usize| {
            let Key { candidate, .. } = &keys[at];
            candidate.priority == Priority::Critical || report == Some(candidate.id)
        };
        let Some(factors) = self.factors(ItemKind::Package, ids, is_protected)? else {
            return Ok(Vec::new());
        };
        let factors: Vec<(PackageId, f64)> =
            keys.iter().map(|key| key.candidate.id).zip(factors).collect();
        let moved = |key: &Key| Key { score: key.score * factor_of(&factors, key), ..*key };
        keys.sort_by_key(moved);
        Ok(factors)
    }

    /// Moves the best notes, given best first. The caller orders them anew.
    pub(super) fn move_notes(&self, found: &mut [super::known::Found]) -> Result<()> {
        let looked_up = NOTES.min(found.len());
        let best = &mut found[..looked_up];
        if best.is_empty() {
            return Ok(());
        }
        let ids = best.iter().map(|one| one.note.id.to_string());
        if let Some(factors) = self.factors(ItemKind::Note, ids, |_| false)? {
            for (one, factor) in best.iter_mut().zip(factors) {
                one.terms.weigh(factor);
            }
        }
        Ok(())
    }
}

fn factor_of(factors: &[(PackageId, f64)], key: &Key) -> f64 {
    let known = factors.iter().find(|(id, _)| *id == key.candidate.id);
    known.map_or(1.0, |(_, factor)| *factor)
}

/// Moves offers whose texts have been valued.
pub(super) fn weigh(offers: &mut [Offer], factors: &[(PackageId, f64)]) {
    if factors.is_empty() {
        return;
    }
    for offer in offers {
        let factor = factor_of(factors, &offer.key);
        offer.package.score = offer.package.terms.weigh(factor);
        offer.value *= factor;
        for passage in &mut offer.passages {
            passage.score *= factor;
        }
    }
}

impl Terms {
    /// Adds what an item gains or loses by its use. Returns the sum.
    fn weigh(&mut self, factor: f64) -> f64 {
        self.used += self.sum().max(0.0) * (factor - 1.0);
        self.sum()
    }
}

#[cfg(test)]
mod tests {
    use handover_model::Timestamp;
    use handover_model::learn::{ENOUGH_USES, USE_BOUND, UseTallies, UseTally};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_term_is_within_the_bound_of_what_it_moves() {
        let mut terms = Terms { task: 0.5, recency: 0.1, stale: -0.2, ..Terms::default() };
        assert!((terms.weigh(1.0 + USE_BOUND) - 0.48).abs() < 1e-12);
        assert!((terms.used - 0.08).abs() < 1e-12);
        let mut nothing = Terms { stale: -0.2, ..Terms::default() };
        assert_eq!(nothing.weigh(1.0 - USE_BOUND), -0.2);
    }

    proptest! {
        #[test]
        fn a_score_moves_by_at_most_a_fifth(
            task in 0.0..10.0_f64, stale in -1.0..0.0_f64, used in 0.0..99.0_f64, more in 0.0..99.0_f64,
        ) {
            let kind = UseTally { used: 40.0, judged: ENOUGH_USES, at: Timestamp::default() };
            let tallies = UseTallies { of_kind: Some(kind), items: Vec::new() };
            let rule = UseRule::of(tallies.of_kind, Timestamp::default()).unwrap();
            let item = UseTally { used, judged: used + more, at: Timestamp::default() };
            let mut terms = Terms { task, stale: task * stale * 0.4, ..Terms::default() };
            let before = terms.sum();
            let after = terms.weigh(rule.factor(Some(item), false));
            prop_assert!((after - before).abs() <= before * USE_BOUND + 1e-12);
        }
    }
}
