//! What each step of a run used, and whether the budget allows one more agent.

use handover_model::config::{Allowance, BudgetConfig};
use handover_model::{Role, RunPhase, ScenarioOutcome, TeamStatus, Verdict};

use super::{GateOutcome, PhaseEnd, StoryRun, Uat};
use crate::data::Spent;
use crate::pipeline::Voice;

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// An agent's phase, or `gates`.
    pub phase: &'static str,
    /// The phase, if the line is an agent's.
    pub agent: Option<RunPhase>,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// Which voice of a party it was, if any.
    pub voice: Option<Voice>,
    /// The role, if the line is an agent's.
    pub role: Option<Role>,
    /// The verdict, or the failure in its place.
    pub verdict: &'static str,
    /// The status code of a team member.
    pub status: Option<TeamStatus>,
    /// What it used.
    pub spent: Spent,
}

impl Line {
    pub(crate) fn agent(end: &PhaseEnd) -> Self {
        let verdict = end.verdict.map(Verdict::as_str);
        let failure = end.failure.map(handover_model::FailureClass::as_str);
        Self {
            phase: end.phase.as_str(),
            agent: Some(end.phase),
            attempt: end.attempt,
            voice: end.voice.clone(),
            role: end.role.clone(),
            verdict: verdict.or(failure).unwrap_or("unclear"),
            status: end.status,
            spent: end.spent,
        }
    }

    pub(crate) fn uat(attempt: u32, uat: &Uat, duration_ms: u64) -> Self {
        let verdict = if uat.is_failure() {
            "failed"
        } else if uat.count(ScenarioOutcome::Passed) == 0 {
            "none"
        } else {
            "passed"
        };
        let spent = Spent { duration_ms, ..Spent::default() };
        Self {
            phase: "scenarios",
            agent: None,
            attempt,
            voice: None,
            role: None,
            verdict,
            status: None,
            spent,
        }
    }

    pub(crate) fn gates(attempt: u32, outcome: GateOutcome, duration_ms: u64) -> Self {
        let verdict = match outcome {
            GateOutcome::Passed => "passed",
            GateOutcome::None => "none",
            GateOutcome::Failed => "failed",
        };
        let spent = Spent { duration_ms, ..Spent::default() };
        Self {
            phase: "gates",
            agent: None,
            attempt,
            voice: None,
            role: None,
            verdict,
            status: None,
            spent,
        }
    }
}

/// An agent that is running.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight<'a> {
    pub(crate) story: &'a str,
    pub(crate) phase: RunPhase,
}

/// Why one more agent must not start, if it must not. Each running agent and the new one are assumed to use
/// as much as the most expensive one of their phase so far, or else of any phase. Until a cost is known,
/// agents start one at a time if there is a limit.
pub(crate) fn refusal<'s>(
    budget: &BudgetConfig,
    units: impl Iterator<Item = &'s StoryRun> + Clone,
    story: &StoryRun,
    phase: RunPhase,
    busy: &[InFlight<'_>],
) -> Option<String> {
    let guess = guess(units.clone(), phase);
    if guess.is_none() && !busy.is_empty() && (is_limit(&budget.run) || is_limit(&budget.story)) {
        return Some("the cost of an agent is not known yet".to_owned());
    }
    let guess = guess.unwrap_or_default();
    let (expected, of_story) = expected(units.clone(), busy, &story.planned.id);
    let run: Spent = units.map(agents_of).sum::<Spent>() + expected;
    let own = agents_of(story) + of_story;
    exceeded(&budget.run, run, guess)
        .map(|what| format!("the run would exceed its limit of {what}"))
        .or_else(|| {
            let what = exceeded(&budget.story, own, guess)?;
            Some(format!("story `{}` would exceed its limit of {what}", story.planned.id))
        })
}

/// What running agents are expected to use: all of them, and those of one story.
pub(crate) fn expected<'s>(
    units: impl Iterator<Item = &'s StoryRun> + Clone,
    busy: &[InFlight<'_>],
    story: &str,
) -> (Spent, Spent) {
    let of = |agent: &InFlight<'_>| guess(units.clone(), agent.phase).unwrap_or_default();
    let own = busy.iter().filter(|agent| agent.story == story);
    (busy.iter().map(of).sum(), own.map(of).sum())
}

/// What an agent of a phase is assumed to use; none before the first one has ended.
fn guess<'s>(units: impl Iterator<Item = &'s StoryRun> + Clone, phase: RunPhase) -> Option<Spent> {
    let agents =
        || units.clone().flat_map(|story| &story.lines).filter(|line| line.agent.is_some());
    let same = agents().filter(|line| line.agent == Some(phase)).map(|line| line.spent);
    most_expensive(same).or_else(|| most_expensive(agents().map(|line| line.spent)))
}

fn agents_of(story: &StoryRun) -> Spent {
    story.lines.iter().filter(|line| line.agent.is_some()).map(|line| line.spent).sum()
}

fn is_limit(allowed: &Allowance) -> bool {
    allowed.usd.is_some() || allowed.tokens.is_some() || allowed.turns.is_some()
}

fn most_expensive(all: impl Iterator<Item = Spent>) -> Option<Spent> {
    all.reduce(|a, b| Spent {
        cost_usd: a.cost_usd.max(b.cost_usd),
        tokens: a.tokens.max(b.tokens),
        turns: a.turns.max(b.turns),
        duration_ms: a.duration_ms.max(b.duration_ms),
    })
}

/// The limit that would be exceeded. Money is compared in millionths, because sums of tenths are not
/// exact in floating point.
fn exceeded(allowed: &Allowance, spent: Spent, guess: Spent) -> Option<String> {
    let after = spent + guess;
    let micros = |usd: f64| (usd * 1e6).round();
    if let Some(most) = allowed.usd
        && (micros(after.cost_usd) > micros(most) || micros(spent.cost_usd) >= micros(most))
    {
        return Some(format!("{most} USD ({:.4} spent)", spent.cost_usd));
    }
    if let Some(most) = allowed.tokens
        && (after.tokens > most || spent.tokens >= most)
    {
        return Some(format!("{most} tokens ({} used)", spent.tokens));
    }
    if let Some(most) = allowed.turns
        && (after.turns > most || spent.turns >= most)
    {
        return Some(format!("{most} turns ({} taken)", spent.turns));
    }
    let minutes = spent.duration_ms as f64 / 60_000.0;
    if let Some(most) = allowed.minutes
        && minutes >= most
    {
        return Some(format!("{most} minutes ({minutes:.1} gone)"));
    }
    None
}

/// The money that is left for one more agent, for programs that accept a limit.
pub(crate) fn money_left(budget: &BudgetConfig, run: Spent, story: Spent) -> Option<f64> {
    let left = |allowed: Option<f64>, spent: f64| allowed.map(|most| (most - spent).max(0.0));
    [
        left(budget.phase.usd, 0.0),
        left(budget.story.usd, story.cost_usd),
        left(budget.run.usd, run.cost_usd),
    ]
    .into_iter()
    .flatten()
    .reduce(f64::min)
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
