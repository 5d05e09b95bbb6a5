//! What learning from use does: whether it is on, and how briefs with it fared beside those that were held out.

use std::collections::BTreeMap;

use handover_model::learn::{ENOUGH_USES, UseTally};
use handover_model::{ItemKind, ProjectId, Receipt, Timestamp, UseLearning, Verdict};
use handover_store::{Result, Store};
use serde::Serialize;

use super::estimate::{Difference, Share};
use super::uses::use_of;

/// Learning from use, so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Learning {
    /// Whether it counts, by kind of item.
    pub kinds: BTreeMap<ItemKind, LearningState>,
    /// The briefs that it moved.
    pub applied: Arm,
    /// The briefs that were assembled without it, to compare.
    pub held_out: Arm,
    /// How much more of a brief was used with it; none until both have enough briefs.
    pub use_difference: Option<Difference>,
    /// How many more agents succeeded with it.
    pub verdict_difference: Option<Difference>,
}

/// How much there is to learn from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LearningState {
    /// Whether there is enough.
    pub enough: bool,
    /// How many items agents were seen with, those of a month ago counting half.
    pub judged: f64,
    /// How many are enough.
    pub needed: f64,
    /// The share that was used.
    pub used: f64,
}

/// How briefs of one sort fared.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Arm {
    /// How many were delivered.
    pub briefs: u64,
    /// Of how many the agent was seen to its end.
    pub judged: u64,
    /// The mean share of a brief's tokens that was used.
    pub used: Option<f64>,
    /// Of how many the agent gave a verdict.
    pub verdicts: u64,
    /// In how many of them the work succeeded.
    pub succeeded: u64,
    /// The share of them.
    pub success: Option<Share>,
    /// The share that was used, per brief.
    #[serde(skip)]
    shares: Vec<f64>,
}

impl Arm {
    fn count(&mut self, receipt: &Receipt, verdict: Option<Verdict>) {
        self.briefs += 1;
        if let Some(uses) = use_of(receipt).filter(|uses| uses.tokens > 0) {
            self.judged += 1;
            self.shares.push(uses.used_tokens as f64 / uses.tokens as f64);
        }
        match verdict {
            Some(Verdict::Complete | Verdict::Passed | Verdict::PassedWithFixes) => {
                self.verdicts += 1;
                self.succeeded += 1;
            }
            Some(Verdict::Failed | Verdict::Retry | Verdict::Blocked | Verdict::Escalate) => {
                self.verdicts += 1;
            }
            Some(Verdict::Skip) | None => {}
        }
    }

    fn sum_up(&mut self) {
        let shares = &self.shares;
        self.used = (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
        self.success = Share::of(self.succeeded, self.verdicts);
    }
}

impl Learning {
    pub(super) fn count(&mut self, receipt: &Receipt, verdict: Option<Verdict>) {
        match receipt.provided.use_learning {
            Some(UseLearning::Applied) => self.applied.count(receipt, verdict),
            Some(UseLearning::HeldOut) => self.held_out.count(receipt, verdict),
            None => {}
        }
    }

    /// Sums up what was counted, and looks at what there is to learn from.
    pub(super) fn look(
        &mut self,
        store: &dyn Store,
        project: &ProjectId,
        now: Timestamp,
    ) -> Result<()> {
        for kind in ItemKind::ALL.iter().copied().filter(|kind| UseTally::counts(*kind)) {
            let Some(tally) = store.use_tallies(project, kind, &[])?.of_kind else { continue };
            let UseTally { used, judged, .. } = tally.faded(now);
            let state = LearningState {
                enough: judged >= ENOUGH_USES,
                judged: rounded(judged),
                needed: ENOUGH_USES,
                used: if judged > 0.0 { rounded(used / judged) } else { 0.0 },
            };
            self.kinds.insert(kind, state);
        }
        self.applied.sum_up();
        self.held_out.sum_up();
        let (with, without) = (&self.applied, &self.held_out);
        self.use_difference = Difference::of_means(&with.shares, &without.shares);
        self.verdict_difference = Difference::of_shares(with.success, without.success);
        Ok(())
    }
}

/// To hundredths: what has faded since a moment ago is nobody's concern.
fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A receipt whose only item has so many tokens, and this use.
    fn receipt(tokens: u64, used: Option<&str>) -> Receipt {
        let item = json!({
            "kind": "package", "id": "7", "version": 1, "form": "short", "score": 1.0, "terms": {}, "tokens": tokens,
            "read_at": null, "trust": "project", "use": used,
        });
        let receipt = json!({
            "id": "r1", "session": "s1", "group": null, "role": "developer", "iteration": 0, "model": null,
            "tokenizer": "o200k", "zone": "normal", "state": "confirmed", "host": null, "tokens": tokens,
            "prompt_hash": "h", "sections": [], "items": [item], "left_out": [], "left_out_counts": {},
            "redactions": {}, "trimmed": [], "task": null, "text": null, "failure": null,
            "provided": {"context": {"state": "present"}, "specialization": {"state": "present"}},
            "created_at": "2026-01-01T00:00:00Z", "delivered_at": null, "confirmed_at": null,
        });
        serde_json::from_value(receipt).unwrap()
    }

    #[test]
    fn only_briefs_whose_agent_was_seen_have_a_share() {
        let mut arm = Arm::default();
        arm.count(&receipt(100, Some("opened")), Some(Verdict::Complete));
        arm.count(&receipt(300, Some("unused")), Some(Verdict::Failed));
        arm.count(&receipt(100, None), Some(Verdict::Skip));
        arm.count(&receipt(0, Some("opened")), None);
        arm.sum_up();
        assert_eq!((arm.briefs, arm.judged, arm.used), (4, 2, Some(0.5)), "a mean over briefs");
        assert_eq!((arm.verdicts, arm.succeeded), (2, 1));
    }
}
