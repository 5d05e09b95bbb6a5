//! What an experiment may claim.
//!
//! Arms are compared within tasks: the unit is the task, not the trial, because repetitions of one task are not
//! independent. A difference of success is claimed only if an exact test and an interval agree, after a correction
//! for the number of comparisons; and a difference to `bare` only if the placebo does not have it, too. What the
//! experiment was too small to see is called that, and not "no difference".

mod exact;
mod interval;
mod power;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use exact::{holm, sign_flip};
pub use interval::{Interval, of_mean, of_success};
pub use power::smallest_visible;

use crate::{Arm, Trial};

/// How often a claim may be false.
pub const LEVEL: f64 = 0.05;

/// The smallest difference of success that is worth knowing about. An experiment that cannot exclude it is too small
/// to say that there is none.
pub const WORTHWHILE: f64 = 0.2;

/// With fewer tasks it is never said that there is no difference: an arm that changes one task in five would be missed
/// altogether in more than one of forty experiments.
const LEAST_TASKS_FOR_NONE: usize = 17;

/// How a trial ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether the judge was content.
    pub passed: bool,
    /// What the agent cost, if its program says so.
    pub cost_usd: Option<f64>,
    /// How many tokens it used, likewise.
    pub tokens: Option<f64>,
    /// How many turns it took, likewise.
    pub turns: Option<f64>,
}

/// A trial and how it ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// The trial.
    pub trial: Trial,
    /// How it ended.
    pub outcome: Outcome,
}

/// What may be said about one arm compared with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The first passes more often.
    Better,
    /// The first passes less often.
    Worse,
    /// A worthwhile difference would most likely have been seen.
    NoDifferenceFound,
    /// The experiment cannot tell.
    TooSmall,
}

impl Verdict {
    /// Its word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoDifferenceFound => "no_difference_found",
            Self::TooSmall => "too_small",
        }
    }

    /// Whether it claims a difference.
    pub fn is_claim(self) -> bool {
        matches!(self, Self::Better | Self::Worse)
    }
}

/// One arm compared with another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The arm that the verdict is about.
    pub a: Arm,
    /// The arm that it is compared with.
    pub b: Arm,
    /// The share of trials that pass in A, minus that in B.
    pub effect: f64,
    /// The lower limit of the effect, with 95 % confidence.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
    /// What may be said.
    pub verdict: Verdict,
    /// Why it is not more, or what to keep in mind.
    pub reason: String,
    /// The chance of such a difference if there is none.
    pub p: f64,
    /// The same, corrected for the number of comparisons.
    pub p_adjusted: f64,
    /// How many tasks were done in both arms.
    pub tasks: usize,
    /// How many pairs of trials that were.
    pub pairs: usize,
    /// The difference of cost per trial, in dollars.
    pub cost_usd: Option<Interval>,
    /// The difference of tokens per trial.
    pub tokens: Option<Interval>,
    /// The difference of turns per trial.
    pub turns: Option<Interval>,
}

/// The comparisons of an experiment with these arms, in the order of interest.
pub fn comparisons(arms: &[Arm]) -> Vec<(Arm, Arm)> {
    let has = |arm: Arm| arms.contains(&arm);
    let mut pairs = Vec::new();
    let mut add = |a: Arm, b: Arm| {
        if has(a) && has(b) {
            pairs.push((a, b));
        }
    };
    add(Arm::Brief, Arm::Bare);
    add(Arm::Brief, Arm::Placebo);
    add(Arm::Placebo, Arm::Bare);
    for without in arms.iter().copied().filter(|arm| matches!(arm, Arm::Without(_))) {
        if has(Arm::Brief) {
            add(Arm::Brief, without);
        } else {
            add(without, Arm::Bare);
            add(without, Arm::Placebo);
        }
    }
    pairs
}

/// The trials of two arms, paired by task and repetition.
struct Pairs(BTreeMap<usize, Vec<(Outcome, Outcome)>>);

impl Pairs {
    fn of(seen: &[Observation], a: Arm, b: Arm) -> Self {
        let of = |arm: Arm| -> BTreeMap<(usize, u32), Outcome> {
            let own = seen.iter().filter(|one| one.trial.arm == arm);
            own.map(|one| ((one.trial.task, one.trial.repetition), one.outcome)).collect()
        };
        let (of_a, of_b) = (of(a), of(b));
        let mut tasks: BTreeMap<usize, Vec<(Outcome, Outcome)>> = BTreeMap::new();
        for (key, one) in of_a {
            if let Some(other) = of_b.get(&key) {
                tasks.entry(key.0).or_default().push((one, *other));
            }
        }
        Self(tasks)
    }

    /// The net wins of A in each task.
    fn wins(&self) -> Vec<i64> {
        let wins = |pairs: &Vec<(Outcome, Outcome)>| {
            pairs.iter().map(|(a, b)| i64::from(a.passed) - i64::from(b.passed)).sum()
        };
        self.0.values().map(wins).collect()
    }

    /// The mean difference in each task, of what both trials of a pair have.
    fn means(&self, of: impl Fn(&Outcome) -> Option<f64>) -> Vec<f64> {
        let mean = |pairs: &Vec<(Outcome, Outcome)>| {
            let both: Vec<f64> = pairs.iter().filter_map(|(a, b)| Some(of(a)? - of(b)?)).collect();
            (!both.is_empty()).then(|| both.iter().sum::<f64>() / both.len() as f64)
        };
        self.0.values().filter_map(mean).collect()
    }
}

/// Compares the arms.
pub fn compare(seen: &[Observation], arms: &[Arm], seed: u64) -> Vec<Difference> {
    let compared = comparisons(arms);
    let mut differences: Vec<Difference> =
        compared.iter().map(|(a, b)| measured(seen, *a, *b, seed)).collect();
    let chances: Vec<f64> = differences.iter().map(|one| one.p).collect();
    for (difference, adjusted) in differences.iter_mut().zip(holm(&chances)) {
        difference.p_adjusted = adjusted;
    }
    let judged: Vec<(Verdict, String)> = differences.iter().map(judge).collect();
    for (difference, (verdict, reason)) in differences.iter_mut().zip(judged) {
        (difference.verdict, difference.reason) = (verdict, reason);
    }
    // The placebo is asked last: it takes claims away and never adds one.
    let placebo = arms.contains(&Arm::Placebo);
    for difference in &mut differences {
        let Difference { a, b, verdict, .. } = *difference;
        if !(verdict.is_claim() && b == Arm::Bare && a.is_treated()) {
            continue;
        }
        if !placebo {
            difference.reason =
                "without a placebo arm it may be any text of this length that does it".to_owned();
        } else if !beats_placebo(seen, a, verdict) {
            difference.verdict = unclaimed(difference);
            difference.reason = format!(
                "it differs from {b}, but not clearly from the placebo: the effect may be that of any text of this length"
            );
        }
    }
    differences
}

/// The difference, without what it may be called.
fn measured(seen: &[Observation], a: Arm, b: Arm, seed: u64) -> Difference {
    let pairs = Pairs::of(seen, a, b);
    let success = of_success(&pairs.means(|one| Some(f64::from(u8::from(one.passed)))));
    let success = success.unwrap_or(Interval { effect: 0.0, low: -1.0, high: 1.0 });
    Difference {
        a,
        b,
        effect: success.effect,
        low: success.low,
        high: success.high,
        verdict: Verdict::TooSmall,
        reason: String::new(),
        p: sign_flip(&pairs.wins()),
        p_adjusted: 1.0,
        tasks: pairs.0.len(),
        pairs: pairs.0.values().map(Vec::len).sum(),
        cost_usd: of_mean(&pairs.means(|one| one.cost_usd), seed),
        tokens: of_mean(&pairs.means(|one| one.tokens), seed),
        turns: of_mean(&pairs.means(|one| one.turns), seed),
    }
}

fn judge(one: &Difference) -> (Verdict, String) {
    let certain = one.p_adjusted <= LEVEL;
    if certain && one.low > 0.0 {
        return (Verdict::Better, String::new());
    }
    if certain && one.high < 0.0 {
        return (Verdict::Worse, String::new());
    }
    let points = (WORTHWHILE * 100.0).round();
    match unclaimed(one) {
        Verdict::TooSmall => {
            let reason = format!("a difference of {points} points or more cannot be excluded");
            (Verdict::TooSmall, reason)
        }
        verdict @ (Verdict::NoDifferenceFound | Verdict::Better | Verdict::Worse) => {
            (verdict, format!("a difference of {points} points or more is unlikely"))
        }
    }
}

/// What to say if there is no claim: whether a worthwhile difference would have been seen.
fn unclaimed(one: &Difference) -> Verdict {
    let excluded =
        one.tasks >= LEAST_TASKS_FOR_NONE && one.low > -WORTHWHILE && one.high < WORTHWHILE;
    if excluded { Verdict::NoDifferenceFound } else { Verdict::TooSmall }
}

/// Whether an arm differs from the placebo in the same direction. No correction is needed: both this and the
/// corrected difference to `bare` must hold.
fn beats_placebo(seen: &[Observation], arm: Arm, verdict: Verdict) -> bool {
    let pairs = Pairs::of(seen, arm, Arm::Placebo);
    let wins = pairs.wins();
    let net: i64 = wins.iter().sum();
    let same = if verdict == Verdict::Better { net > 0 } else { net < 0 };
    same && sign_flip(&wins) <= LEVEL
}
