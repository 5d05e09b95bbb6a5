//! The oracle: planted effects are found and ranked, absent ones are not claimed.

use super::*;
use crate::{BriefSection, Rng, schedule};

const WITHOUT: Arm = Arm::Without(BriefSection::Notes);

/// An experiment with scripted agents: tasks of different difficulty, and what each arm adds to the chance of success.
struct Scripted<'a> {
    tasks: usize,
    repeat: u32,
    arms: &'a [(Arm, f64)],
    /// How much the effect of an arm differs between tasks.
    uneven: f64,
    /// The easiest and the hardest task, by the chance of success.
    range: (f64, f64),
}

impl Scripted<'_> {
    fn arms(&self) -> Vec<Arm> {
        self.arms.iter().map(|(arm, _)| *arm).collect()
    }

    fn run(&self, seed: u64) -> Vec<Observation> {
        let mut rng = Rng::new(seed);
        let (low, high) = self.range;
        let base: Vec<f64> = (0..self.tasks).map(|_| low + (high - low) * rng.unit()).collect();
        // What an arm does to a task is the same in each repetition.
        let own: Vec<Vec<f64>> = (0..self.tasks)
            .map(|_| self.arms.iter().map(|_| self.uneven * (2.0 * rng.unit() - 1.0)).collect())
            .collect();
        schedule(self.tasks, &self.arms(), self.repeat, seed)
            .into_iter()
            .map(|trial| {
                let at = self.arms.iter().position(|(arm, _)| *arm == trial.arm).unwrap();
                let chance = base[trial.task] + self.arms[at].1 + own[trial.task][at];
                let passed = rng.happens(chance);
                let outcome = Outcome { passed, ..Outcome::default() };
                Observation { trial, outcome }
            })
            .collect()
    }

    fn compared(&self, seed: u64) -> Vec<Difference> {
        compare(&self.run(seed), &self.arms(), seed)
    }

    /// The share of experiments that claim anything.
    fn claims(&self, rounds: u64) -> f64 {
        let claims = |seed: &u64| self.compared(*seed).iter().any(|one| one.verdict.is_claim());
        (0..rounds).filter(claims).count() as f64 / rounds as f64
    }
}

const NONE: &[(Arm, f64)] =
    &[(Arm::Bare, 0.0), (Arm::Placebo, 0.0), (Arm::Brief, 0.0), (WITHOUT, 0.0)];

#[test]
fn absent_effects_are_not_claimed() {
    // 2,000 experiments: few and many tasks, none and many repetitions, easy and hard ones, and arms that change
    // single tasks for better or worse without any effect on the whole.
    let shapes = [
        (3, 1, 0.0, (0.2, 0.8)),
        (5, 8, 0.0, (0.1, 0.9)),
        (8, 3, 0.3, (0.3, 0.7)),
        (12, 3, 0.0, (0.2, 0.8)),
        (12, 10, 0.4, (0.4, 0.6)),
        (20, 1, 0.0, (0.45, 0.55)),
        (30, 3, 0.2, (0.2, 0.8)),
        (40, 2, 0.0, (0.0, 0.1)),
        (40, 5, 0.3, (0.3, 0.7)),
        (60, 3, 0.0, (0.5, 1.0)),
    ];
    let (mut claims, rounds) = (0.0, 200);
    for (at, (tasks, repeat, uneven, range)) in shapes.into_iter().enumerate() {
        let scripted = Scripted { tasks, repeat, arms: NONE, uneven, range };
        let own = (0..rounds).filter(|round| {
            let seed = at as u64 * 1_000 + round;
            scripted.compared(seed).iter().any(|one| one.verdict.is_claim())
        });
        claims += own.count() as f64;
    }
    let share = claims / 2_000.0;
    println!("claims without an effect: {share}");
    assert!(share <= 0.06, "{share}");
}

#[test]
fn the_worst_case_holds_too() {
    // Many repetitions of tasks on which arms have strong effects of either sign: counting trials instead of
    // tasks claims something almost every time.
    let scripted =
        Scripted { tasks: 15, repeat: 20, arms: &NONE[..3], uneven: 0.5, range: (0.5, 0.5) };
    let share = scripted.claims(1_000);
    println!("claims in the worst case: {share}");
    assert!(share <= 0.06, "{share}");
}

#[test]
fn a_single_comparison_of_two_arms_holds_its_level() {
    let arms = [(Arm::Bare, 0.0), (Arm::Brief, 0.0)];
    let scripted = Scripted { tasks: 25, repeat: 3, arms: &arms, uneven: 0.2, range: (0.2, 0.8) };
    let share = scripted.claims(2_000);
    println!("claims of two arms: {share}");
    assert!((0.005..=0.06).contains(&share), "{share}: a test that never claims anything is none");
}

#[test]
fn planted_effects_are_ranked_right() {
    // The part of a section is planted, too: without it, half of the effect is left.
    let (mut right, mut covered) = (0, 0);
    for round in 0..20_u64 {
        let effect = 0.2 + 0.2 * round as f64 / 19.0;
        let arms =
            [(Arm::Bare, 0.0), (Arm::Placebo, 0.0), (Arm::Brief, effect), (WITHOUT, effect / 2.0)];
        let scripted =
            Scripted { tasks: 80, repeat: 5, arms: &arms, uneven: 0.1, range: (0.15, 0.45) };
        let found = scripted.compared(round);
        let of = |a, b| found.iter().find(|one| one.a == a && one.b == b).unwrap();
        let helps = of(Arm::Brief, Arm::Bare);
        let ranked = helps.effect > of(Arm::Brief, WITHOUT).effect
            && helps.effect > of(Arm::Placebo, Arm::Bare).effect
            && of(Arm::Brief, WITHOUT).effect > 0.0;
        let claimed = helps.verdict == Verdict::Better
            && of(Arm::Brief, Arm::Placebo).verdict == Verdict::Better
            && !of(Arm::Placebo, Arm::Bare).verdict.is_claim();
        right += u32::from(ranked && claimed);
        covered += u32::from(helps.low <= effect && effect <= helps.high);
    }
    assert_eq!(right, 20);
    // Of twenty intervals that hold 95 %, fewer than seventeen are right in less than 2 % of all cases.
    println!("intervals that hold the planted effect: {covered} of 20");
    assert!(covered >= 17, "{covered}");
}

#[test]
fn harm_is_found_like_help() {
    let arms = [(Arm::Bare, 0.0), (Arm::Placebo, 0.0), (Arm::Brief, -0.4)];
    let scripted = Scripted { tasks: 40, repeat: 3, arms: &arms, uneven: 0.0, range: (0.5, 0.9) };
    let found = scripted.compared(4);
    assert_eq!((found[0].a, found[0].b, found[0].verdict), (Arm::Brief, Arm::Bare, Verdict::Worse));
    assert!(found[0].high < 0.0);
}

#[test]
fn what_the_placebo_has_too_is_never_claimed() {
    let arms = [(Arm::Bare, 0.0), (Arm::Placebo, 0.35), (Arm::Brief, 0.35)];
    let scripted = Scripted { tasks: 60, repeat: 3, arms: &arms, uneven: 0.0, range: (0.2, 0.5) };
    let mut claimed = 0;
    for seed in 0..200 {
        let found = scripted.compared(seed);
        claimed += u32::from(found[0].verdict.is_claim());
        assert!(found[0].verdict.is_claim() || found[0].reason.contains("placebo"), "{found:?}");
    }
    // Only as often as brief and placebo differ by chance.
    assert!(claimed <= 12, "{claimed}");
}

#[test]
fn without_a_placebo_the_claim_says_so() {
    let arms = [(Arm::Bare, 0.0), (Arm::Brief, 0.5)];
    let scripted = Scripted { tasks: 20, repeat: 3, arms: &arms, uneven: 0.0, range: (0.2, 0.4) };
    let found = scripted.compared(1);
    assert_eq!(found[0].verdict, Verdict::Better);
    assert!(found[0].reason.contains("without a placebo"));
}

#[test]
fn few_tasks_are_too_small_and_many_say_that_there_is_nothing() {
    let verdict = |tasks, repeat| {
        let scripted = Scripted { tasks, repeat, arms: &NONE[..3], uneven: 0.0, range: (0.3, 0.7) };
        scripted.compared(11)[0].verdict
    };
    assert_eq!(verdict(3, 1), Verdict::TooSmall);
    assert_eq!(verdict(5, 1), Verdict::TooSmall);
    assert_eq!(verdict(80, 5), Verdict::NoDifferenceFound);
    // Ten tasks that nobody passes are no evidence, however often they are repeated.
    let hopeless = |tasks| {
        let range = (0.0, 0.0);
        let scripted = Scripted { tasks, repeat: 9, arms: &NONE[..3], uneven: 0.0, range };
        scripted.compared(1)[0].verdict
    };
    assert_eq!((hopeless(16), hopeless(40)), (Verdict::TooSmall, Verdict::NoDifferenceFound));
    let nothing = compare(&[], &Arm::USUAL, 1);
    assert!(nothing.iter().all(|one| one.verdict == Verdict::TooSmall && one.tasks == 0));
}

#[test]
fn trials_without_a_partner_do_not_count() {
    let trial = |task, arm| Trial { task, repetition: 0, arm };
    let seen = |task, arm, passed, cost: f64| Observation {
        trial: trial(task, arm),
        outcome: Outcome { passed, cost_usd: Some(cost), ..Outcome::default() },
    };
    let mut all = Vec::new();
    for task in 0..6 {
        all.push(seen(task, Arm::Bare, false, 1.0));
        all.push(seen(task, Arm::Brief, true, 3.0));
    }
    all.push(seen(7, Arm::Bare, true, 100.0));
    let found = compare(&all, &[Arm::Bare, Arm::Brief], 1);
    assert_eq!((found[0].tasks, found[0].pairs), (6, 6));
    assert!((found[0].effect - 1.0).abs() < 1e-12);
    assert_eq!(found[0].cost_usd.map(|cost| cost.effect), Some(2.0));
    assert_eq!(found[0].tokens, None);
}

#[test]
fn comparisons_follow_from_the_arms() {
    use Arm::{Bare, Brief, Placebo};
    assert_eq!(comparisons(&Arm::USUAL), [(Brief, Bare), (Brief, Placebo), (Placebo, Bare)]);
    assert_eq!(comparisons(&[Brief, WITHOUT]), [(Brief, WITHOUT)]);
    assert_eq!(comparisons(&[Bare, WITHOUT]), [(WITHOUT, Bare)]);
    let other = Arm::Without(BriefSection::Places);
    assert_eq!(comparisons(&[WITHOUT, other]), []);
}
