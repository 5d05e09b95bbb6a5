//! What an experiment found, as data: for the terminal, for scripts and for a page.

use serde::Serialize;

use crate::stats::{self, LEVEL, WORTHWHILE, comparisons};
use crate::{Arm, Difference, Plan, Progress, TrialState, Verdict};

/// The whole result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The experiment.
    pub experiment: Experiment,
    /// What was seen in each arm.
    pub arms: Vec<ArmReport>,
    /// The comparisons, the most interesting first.
    pub differences: Vec<Difference>,
    /// What happened in each task.
    pub tasks: Vec<TaskReport>,
    /// The answer in one sentence.
    pub answer: String,
    /// What to keep in mind.
    pub warnings: Vec<String>,
}

/// The experiment itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Experiment {
    /// Its id.
    pub id: String,
    /// How many trials were judged.
    pub trials: usize,
    /// How many there should be.
    pub planned: usize,
    /// How many could not be done.
    pub dropped: usize,
    /// How many tasks it has.
    pub tasks: usize,
    /// How often each is done in each arm.
    pub repeat: u32,
    /// The agent program.
    pub host: String,
    /// The model, if one was chosen.
    pub model: Option<String>,
    /// What decided the order.
    pub seed: u64,
    /// What all agents cost; none if their program does not say.
    pub spent_usd: Option<f64>,
    /// The smallest difference of success that it would most likely see; none if there is no such difference.
    pub smallest_visible: Option<f64>,
    /// When it began.
    pub created_at: String,
}

/// What was seen in one arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmReport {
    /// Its name.
    pub name: Arm,
    /// How many trials were judged.
    pub trials: usize,
    /// How many of them passed.
    pub passed: usize,
    /// What they cost together; none if no program said so.
    pub cost_usd: Option<f64>,
    /// How many tokens they used together.
    pub tokens: Option<u64>,
    /// How many turns they took together.
    pub turns: Option<u64>,
    /// How many trials have a cost. A program may report it for some only.
    pub trials_with_cost: usize,
    /// How many have tokens.
    pub trials_with_tokens: usize,
    /// How many have turns.
    pub trials_with_turns: usize,
    /// How many trials of this arm could not be done.
    pub dropped: usize,
}

impl ArmReport {
    /// What a trial cost on average, of those that say so.
    pub fn cost_each(&self) -> Option<f64> {
        self.cost_usd.map(|sum| sum / self.trials_with_cost.max(1) as f64)
    }

    /// How many tokens a trial used on average, likewise.
    pub fn tokens_each(&self) -> Option<f64> {
        self.tokens.map(|sum| sum as f64 / self.trials_with_tokens.max(1) as f64)
    }

    /// How many turns a trial took on average, likewise.
    pub fn turns_each(&self) -> Option<f64> {
        self.turns.map(|sum| sum as f64 / self.trials_with_turns.max(1) as f64)
    }
}

/// What happened in one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskReport {
    /// Its name.
    pub id: String,
    /// For each arm, in their order: how many trials passed, and how many there were.
    pub passed: Vec<(usize, usize)>,
}

impl Report {
    /// The report of what a journal says.
    pub fn new(plan: &Plan, progress: &Progress) -> Self {
        let seen = progress.observations();
        let differences = stats::compare(&seen, &plan.arms, plan.seed);
        let arms: Vec<ArmReport> = plan.arms.iter().map(|arm| of_arm(progress, *arm)).collect();
        let tasks = plan.tasks.iter().enumerate().map(|(at, id)| TaskReport {
            id: id.clone(),
            passed: plan.arms.iter().map(|arm| of_task(progress, at, *arm)).collect(),
        });
        let experiment = Experiment {
            id: plan.id.clone(),
            trials: progress.judged(),
            planned: progress.trials.len(),
            dropped: progress.dropped(),
            tasks: plan.tasks.len(),
            repeat: plan.repeat,
            host: plan.host.to_string(),
            model: plan.model.clone(),
            seed: plan.seed,
            spent_usd: (progress.priced > 0).then_some(progress.spent_usd),
            smallest_visible: smallest_visible(plan),
            created_at: plan.created_at.to_string(),
        };
        Self {
            answer: match experiment.trials {
                0 => "No trial has been judged yet.".to_owned(),
                _ => answer(&differences),
            },
            warnings: warnings(&experiment, &arms, &differences, &failures(progress)),
            tasks: tasks.collect(),
            experiment,
            arms,
            differences,
        }
    }
}

/// The smallest difference of success that an experiment would most likely see.
pub fn smallest_visible(plan: &Plan) -> Option<f64> {
    let compared = comparisons(&plan.arms).len();
    stats::smallest_visible(plan.tasks.len(), plan.repeat, compared, plan.seed)
}

/// A difference of shares in points, for people: `+12`, `−3`, `0`.
pub fn in_points(share: f64) -> String {
    match (share * 100.0).round() {
        0.0 => "0".to_owned(),
        points => format!("{points:+.0}").replace('-', "\u{2212}"),
    }
}

/// A p-value, for people.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// What an experiment of this size can see, for people.
pub fn power_in_words(plan: &Plan) -> String {
    let size = format!("{} × {}", count(plan.tasks.len(), "task"), plan.repeat);
    match smallest_visible(plan) {
        Some(effect) => format!(
            "{size} can show a difference of {:.0} points or more; a smaller one is missed more often than once in five times.",
            effect * 100.0
        ),
        None => format!(
            "{size} cannot show any difference: chance alone could make the largest one. Add tasks; repetitions alone do not help."
        ),
    }
}

fn of_arm(progress: &Progress, arm: Arm) -> ArmReport {
    let own = || progress.trials.iter().filter(|(trial, _)| trial.arm == arm);
    let judged = || {
        own().filter_map(|(_, state)| match state {
            TrialState::Judged { passed, agent } => Some((*passed, agent)),
            TrialState::Waiting
            | TrialState::Running { .. }
            | TrialState::Unjudged { .. }
            | TrialState::Dropped { .. } => None,
        })
    };
    let sum = |known: &[u64]| (!known.is_empty()).then(|| known.iter().sum());
    let tokens: Vec<u64> = judged().filter_map(|(_, agent)| agent.tokens).collect();
    let turns: Vec<u64> = judged().filter_map(|(_, agent)| agent.turns.map(u64::from)).collect();
    let costs: Vec<f64> = judged().filter_map(|(_, agent)| agent.cost_usd).collect();
    ArmReport {
        name: arm,
        trials: judged().count(),
        passed: judged().filter(|(passed, _)| *passed).count(),
        cost_usd: (!costs.is_empty()).then(|| costs.iter().sum()),
        tokens: sum(&tokens),
        turns: sum(&turns),
        trials_with_cost: costs.len(),
        trials_with_tokens: tokens.len(),
        trials_with_turns: turns.len(),
        dropped: own().filter(|(_, state)| matches!(state, TrialState::Dropped { .. })).count(),
    }
}

fn of_task(progress: &Progress, task: usize, arm: Arm) -> (usize, usize) {
    let own = progress.trials.iter().filter(|(trial, _)| trial.task == task && trial.arm == arm);
    own.fold((0, 0), |(passed, all), (_, state)| match state {
        TrialState::Judged { passed: one, .. } => (passed + usize::from(*one), all + 1),
        TrialState::Waiting
        | TrialState::Running { .. }
        | TrialState::Unjudged { .. }
        | TrialState::Dropped { .. } => (passed, all),
    })
}

/// The main comparison as a sentence.
fn answer(differences: &[Difference]) -> String {
    let Some(main) = differences.first() else { return "There is nothing to compare.".to_owned() };
    let (a, b, points) = (main.a, main.b, (main.effect * 100.0).abs());
    let limits = format!("{} to {} points", in_points(main.low), in_points(main.high));
    match main.verdict {
        Verdict::Better => {
            format!(
                "It helps: agents with `{a}` passed {points:.0} points more often than with `{b}` ({limits})."
            )
        }
        Verdict::Worse => {
            format!(
                "It harms: agents with `{a}` passed {points:.0} points less often than with `{b}` ({limits})."
            )
        }
        Verdict::NoDifferenceFound => {
            format!("No difference was found between `{a}` and `{b}` ({limits}).")
        }
        Verdict::TooSmall => {
            format!(
                "The experiment is too small to say whether `{a}` differs from `{b}` ({limits})."
            )
        }
    }
}

/// What agents that did not end well reported, for trials that count.
fn failures(progress: &Progress) -> Vec<&str> {
    let failures = progress.trials.iter().filter_map(|(_, state)| match state {
        TrialState::Judged { agent, .. } => agent.failure.as_deref(),
        TrialState::Waiting
        | TrialState::Running { .. }
        | TrialState::Unjudged { .. }
        | TrialState::Dropped { .. } => None,
    });
    failures.collect()
}

fn warnings(
    experiment: &Experiment,
    arms: &[ArmReport],
    found: &[Difference],
    failures: &[&str],
) -> Vec<String> {
    let mut warnings = Vec::new();
    if failures.len() * 2 > experiment.trials {
        warnings.push(format!(
            "In {} of {} trials the agent program did not end well (such as {}). If it cannot work at all, nothing was measured; its output is in the logs of the experiment.",
            failures.len(),
            experiment.trials,
            failures.first().copied().unwrap_or_default()
        ));
    }
    let left = experiment.planned - experiment.trials - experiment.dropped;
    if left > 0 {
        warnings.push(format!(
            "{} of {} are still to be done; a result that was looked at before its end, and stopped because it looked good, is not one.",
            count(left, "trial"), experiment.planned
        ));
    }
    let dropped: Vec<usize> = arms.iter().map(|arm| arm.dropped).collect();
    if dropped.iter().any(|count| *count > 0) {
        let each: Vec<String> =
            arms.iter().map(|arm| format!("{} {}", arm.name, arm.dropped)).collect();
        warnings.push(format!(
            "Trials that could not be done do not count ({}). If arms differ in this, the comparison may be biased.",
            each.join(", ")
        ));
    }
    if !arms.iter().any(|arm| arm.name == Arm::Placebo) {
        warnings.push(
            "There is no placebo arm, so an effect may be that of any text of this length."
                .to_owned(),
        );
    }
    let same = |all: fn(&ArmReport) -> bool| arms.iter().all(|arm| arm.trials > 0 && all(arm));
    if same(|arm| arm.passed == 0) || same(|arm| arm.passed == arm.trials) {
        warnings.push(
            "Every trial ended the same way. Tasks that every agent passes, or none, say nothing about the arms.".to_owned(),
        );
    }
    if experiment.trials == 0 {
        return warnings;
    }
    let unclear = found.iter().filter(|one| one.verdict == Verdict::TooSmall).count();
    if unclear > 0 {
        warnings.push(format!(
            "Too small means that a difference of {:.0} points cannot be excluded. More tasks would tell; more repetitions help less.",
            WORTHWHILE * 100.0
        ));
    }
    let priced: usize = arms.iter().map(|arm| arm.trials_with_cost).sum();
    match priced {
        0 => warnings.push("The agent program does not report what it costs.".to_owned()),
        _ if priced < experiment.trials => warnings.push(format!(
            "The agent program reported a cost for {priced} of {} trials; costs are means over those.",
            experiment.trials
        )),
        _ => {}
    }
    warnings
}

/// How claims are made, for readers of a report.
pub fn method() -> String {
    format!(
        "Arms are compared within tasks; a task counts once, however often it was repeated. Success is tested by flipping the \
         sign of each task's difference in all possible ways (exact), corrected for the number of comparisons (Holm), at a level \
         of {:.0} %. Intervals hold 95 %: of success those of Agresti and Min over tasks, of cost, tokens and turns a bootstrap over tasks. \
         A difference to `bare` is claimed only if the placebo does not have it, too.",
        LEVEL * 100.0
    )
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use handover_model::{Host, ReceiptId, Timestamp};

    use super::*;
    use crate::{AgentEnd, Entry};

    fn plan(tasks: usize, repeat: u32) -> Plan {
        Plan {
            id: "x1".to_owned(),
            version: Plan::VERSION,
            file: "tasks.toml".into(),
            fingerprint: "f".to_owned(),
            tasks: (0..tasks).map(|at| format!("t{at}")).collect(),
            arms: Arm::USUAL.to_vec(),
            repeat,
            seed: 1,
            host: Host::COMMAND,
            model: None,
            max_cost: None,
            timeout: None,
            created_at: Timestamp::default(),
        }
    }

    /// All trials whose number is below `end`; only briefs pass.
    fn progress(plan: &Plan, end: usize) -> Progress {
        let mut progress = Progress::new(plan);
        for trial in 0..end {
            let at = Timestamp::default();
            let passed = progress.trials[trial].0.arm == Arm::Brief;
            let agent = AgentEnd { cost_usd: Some(0.5), turns: Some(2), ..AgentEnd::default() };
            let receipt = ReceiptId::new("r_1").unwrap();
            for entry in [
                Entry::Started { trial, receipt, clone: "/c".into(), at },
                Entry::Ended { trial, agent, at },
                Entry::Judged { trial, passed, judge: String::new(), at },
            ] {
                progress.add(entry).unwrap();
            }
        }
        progress
    }

    #[test]
    fn points_have_a_sign_unless_they_are_none() {
        assert_eq!([0.57, -0.004, 0.0, -0.2].map(in_points), ["+57", "0", "0", "\u{2212}20"]);
    }

    #[test]
    fn no_p_value_is_zero() {
        assert_eq!(
            [0.0, 0.000_4, 0.001, 0.25].map(p_value),
            ["< 0.001", "< 0.001", "0.001", "0.250"]
        );
    }

    #[test]
    fn a_clear_result_is_said_clearly() {
        let plan = plan(20, 1);
        let report = Report::new(&plan, &progress(&plan, 60));
        assert!(report.answer.starts_with("It helps"), "{}", report.answer);
        assert!(report.warnings.is_empty(), "{:?}", report.warnings);
        let brief = &report.arms[2];
        assert_eq!((brief.trials, brief.passed, brief.cost_usd), (20, 20, Some(10.0)));
        assert_eq!((brief.turns, brief.tokens), (Some(40), None));
        assert_eq!(report.tasks[3].passed, [(0, 1), (0, 1), (1, 1)]);
    }

    #[test]
    fn the_form_is_that_of_the_contract() {
        let plan = plan(6, 1);
        let json = serde_json::to_value(Report::new(&plan, &progress(&plan, 18))).unwrap();
        assert_eq!(json["experiment"]["id"], "x1");
        assert_eq!(json["experiment"]["trials"], 18);
        for key in ["name", "trials", "passed", "cost_usd", "tokens", "turns"] {
            assert!(json["arms"][0].get(key).is_some(), "{key}");
        }
        for key in ["a", "b", "effect", "low", "high", "verdict"] {
            assert!(json["differences"][0].get(key).is_some(), "{key}");
        }
        assert_eq!(json["differences"][0]["a"], "brief");
    }

    #[test]
    fn an_unfinished_experiment_warns() {
        let plan = plan(3, 1);
        let report = Report::new(&plan, &progress(&plan, 4));
        assert!(report.answer.contains("too small"), "{}", report.answer);
        assert!(report.warnings[0].starts_with("5 trials of 9"), "{:?}", report.warnings);
    }

    #[test]
    fn means_are_of_the_trials_that_have_the_figure() {
        let plan = plan(3, 1);
        let mut progress = progress(&plan, 9);
        let mut silent = 0;
        for (trial, state) in &mut progress.trials {
            if let TrialState::Judged { agent, .. } = state
                && trial.arm == Arm::Brief
                && trial.task != 1
            {
                (agent.cost_usd, agent.turns) = (None, None);
                silent += 1;
            }
        }
        assert_eq!(silent, 2);
        let report = Report::new(&plan, &progress);
        let brief = &report.arms[2];
        assert_eq!((brief.trials, brief.trials_with_cost), (3, 1));
        assert_eq!(
            (brief.cost_each(), brief.turns_each(), brief.tokens_each()),
            (Some(0.5), Some(2.0), None)
        );
        assert!(report.warnings.iter().any(|one| one.contains("for 7 of 9 trials")), "{report:?}");
        let nothing = Report::new(&plan, &Progress::new(&plan));
        assert_eq!(nothing.experiment.spent_usd, None, "unknown is not free");
    }

    #[test]
    fn a_program_that_cannot_work_is_named() {
        let plan = plan(3, 1);
        let mut progress = progress(&plan, 9);
        for (_, state) in &mut progress.trials {
            if let TrialState::Judged { agent, .. } = state {
                agent.failure = Some("exit_code".to_owned());
            }
        }
        let report = Report::new(&plan, &progress);
        assert!(report.warnings[0].contains("did not end well (such as exit_code)"), "{report:?}");
    }

    #[test]
    fn the_power_is_known_before_the_start() {
        assert!(power_in_words(&plan(3, 5)).contains("cannot show any difference"));
        let words = power_in_words(&plan(12, 3));
        assert!(words.starts_with("12 tasks × 3 can show a difference of "), "{words}");
    }
}
