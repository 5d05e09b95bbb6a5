//! What each step of a run used, and whether the budget allows one more agent.

use handover_agents::{Ended, Exceeded, Limits, Outcome};
use handover_model::config::{Allowance, BudgetConfig};
use handover_model::{FailureClass, Role, RunPhase, ScenarioOutcome, TeamStatus, Verdict};
use serde::{Deserialize, Serialize};

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

/// Why one more agent must not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It must wait for others.
    Wait(String),
    /// The run would exceed a limit.
    Run(String),
    /// Its story would exceed a limit.
    Story(String),
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
) -> Option<Refusal> {
    let guess = guess(units.clone(), phase);
    if guess.is_none() && !busy.is_empty() && (is_limit(&budget.run) || is_limit(&budget.story)) {
        return Some(Refusal::Wait("the cost of an agent is not known yet".to_owned()));
    }
    let guess = guess.unwrap_or_default();
    let (expected, of_story) = expected(units.clone(), busy, &story.planned.id);
    let run: Spent = units.map(agents_of).sum::<Spent>() + expected;
    let own = agents_of(story) + of_story;
    exceeded(&budget.run, run, guess)
        .map(|what| Refusal::Run(format!("the run would exceed its limit of {what}")))
        .or_else(|| {
            let what = exceeded(&budget.story, own, guess)?;
            Some(Refusal::Story(format!("it would exceed its limit of {what}")))
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
        unpriced: a.unpriced.max(b.unpriced),
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

/// Whose limit an agent may not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitScope {
    /// That of one agent.
    Phase,
    /// That of its story, which ends then.
    Story,
    /// That of the run, which stops then.
    Run,
}

/// What is left for one more agent, and by whose limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct AgentLimits {
    usd: Option<(f64, LimitScope)>,
    tokens: Option<(u64, LimitScope)>,
    turns: Option<(u64, LimitScope)>,
}

impl AgentLimits {
    /// What the budget leaves after what the run and the story used.
    pub(crate) fn left(budget: &BudgetConfig, run: Spent, story: Spent) -> Self {
        let scopes = [
            (budget.phase, Spent::default(), LimitScope::Phase),
            (budget.story, story, LimitScope::Story),
            (budget.run, run, LimitScope::Run),
        ];
        let count = |most: fn(&Allowance) -> Option<u64>, used: fn(&Spent) -> u64| {
            let left = |(allowed, spent, scope): &(Allowance, Spent, LimitScope)| {
                Some((most(allowed)?.saturating_sub(used(spent)), *scope))
            };
            scopes.iter().filter_map(left).min_by_key(|(left, _)| *left)
        };
        let usd = scopes.iter().filter_map(|(allowed, spent, scope)| {
            Some(((allowed.usd? - spent.cost_usd).max(0.0), *scope))
        });
        Self {
            usd: usd.min_by(|a, b| a.0.total_cmp(&b.0)),
            tokens: count(|allowed| allowed.tokens, |spent| spent.tokens),
            turns: count(|allowed| allowed.turns, |spent| spent.turns),
        }
    }

    /// Passes them on to the supervisor.
    pub(crate) fn apply(&self, limits: &mut Limits) {
        limits.cost_usd = self.usd.map(|(most, _)| most);
        limits.tokens = self.tokens.map(|(most, _)| most);
        limits.turns = self.turns.map(|(most, _)| u32::try_from(most).unwrap_or(u32::MAX));
    }

    /// Whose limit stopped an agent, and what is said about it.
    pub(crate) fn passed(&self, outcome: &Outcome, spent: Spent) -> Option<(LimitScope, String)> {
        let what = match (outcome.ended, outcome.failure.as_ref().map(|failure| failure.class)) {
            (Ended::OverLimit(what), _) => what,
            // Some programs stop by themselves.
            (_, Some(FailureClass::MaxBudget)) => Exceeded::Cost,
            (_, Some(FailureClass::MaxTurns)) => Exceeded::Turns,
            _ => return None,
        };
        let (used, most, scope) = match what {
            Exceeded::Cost => {
                let (most, scope) = self.usd?;
                (format!("{:.4} USD", spent.cost_usd), format!("{most:.4}"), scope)
            }
            Exceeded::Tokens => {
                let (most, scope) = self.tokens?;
                (format!("{} tokens", spent.tokens), most.to_string(), scope)
            }
            Exceeded::Turns => {
                let (most, scope) = self.turns?;
                (format!("{} turns", spent.turns), most.to_string(), scope)
            }
        };
        let rule = match scope {
            LimitScope::Phase => "budget.phase allows",
            LimitScope::Story => "budget.story leaves",
            LimitScope::Run => "the budget of the run leaves",
        };
        Some((scope, format!("it was stopped after {used}: {rule} {most}")))
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
