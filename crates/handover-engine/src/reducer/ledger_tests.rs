use handover_agents::Limits;
use handover_model::config::{Allowance, BudgetConfig};
use handover_model::{FailureClass, Profile, UatGate, Verdict};

use super::super::{PlannedStory, UnitKind};
use super::*;
use crate::data::ScenarioResult;
use crate::pipeline::Pipeline;

fn spent(usd: f64) -> Spent {
    Spent { cost_usd: usd, ..Spent::default() }
}

fn line(agent: Option<RunPhase>, spent: Spent) -> Line {
    Line {
        phase: agent.map_or("gates", RunPhase::as_str),
        agent,
        attempt: 1,
        voice: None,
        role: None,
        verdict: "complete",
        status: None,
        spent,
    }
}

fn story(id: &str, lines: Vec<Line>) -> StoryRun {
    let planned = PlannedStory {
        id: id.to_owned(),
        title: String::new(),
        path: String::new(),
        waits_for: Vec::new(),
        skip: None,
        earlier: None,
        done: None,
    };
    let pipeline = Pipeline::story(true, Profile::Edit);
    let mut story = StoryRun::new(planned, UnitKind::Story, &pipeline);
    story.lines = lines;
    story
}

fn budget(run: Allowance, story: Allowance) -> BudgetConfig {
    BudgetConfig { run, story, ..BudgetConfig::default() }
}

fn usd(most: f64) -> Allowance {
    Allowance { usd: Some(most), ..Allowance::default() }
}

fn refused(budget: &BudgetConfig, units: &[StoryRun], busy: &[InFlight<'_>]) -> Option<String> {
    let refused = refusal(budget, units.iter(), &units[0], RunPhase::Dev, busy)?;
    let (Refusal::Wait(reason) | Refusal::Run(reason) | Refusal::Story(reason)) = refused;
    Some(reason)
}

#[test]
fn without_limits_every_agent_may_start() {
    let units = [story("a", vec![line(Some(RunPhase::Dev), spent(1e9))])];
    let busy = [InFlight { story: "a", phase: RunPhase::Dev }];
    assert_eq!(refused(&BudgetConfig::default(), &units, &busy), None);
}

#[test]
fn money_may_be_used_up_exactly() {
    // 0.1 + 0.2 is not 0.3 in floating point.
    let lines = vec![line(Some(RunPhase::Dev), spent(0.1)), line(Some(RunPhase::Dev), spent(0.1))];
    let units = [story("a", lines)];
    assert_eq!(refused(&budget(usd(0.3), Allowance::default()), &units, &[]), None);
    let reason = refused(&budget(usd(0.29), Allowance::default()), &units, &[]).unwrap();
    assert_eq!(reason, "the run would exceed its limit of 0.29 USD (0.2000 spent)");
}

#[test]
fn a_used_up_budget_starts_nothing_even_if_agents_are_free() {
    let lines = vec![line(Some(RunPhase::Review), spent(1.0))];
    let free = line(Some(RunPhase::Dev), Spent::default());
    let units = [story("a", lines), story("b", vec![free])];
    assert!(refused(&budget(usd(1.0), Allowance::default()), &units, &[]).is_some());
    assert!(refused(&budget(usd(1.01), Allowance::default()), &units, &[]).is_none());
}

#[test]
fn the_limit_of_a_story_ignores_other_stories() {
    let lines = |usd| vec![line(Some(RunPhase::Dev), spent(usd))];
    let limit = budget(Allowance::default(), usd(1.0));
    assert_eq!(refused(&limit, &[story("a", lines(0.5)), story("b", lines(0.5))], &[]), None);
    let reason = refused(&limit, &[story("a", lines(0.6)), story("b", lines(0.1))], &[]).unwrap();
    assert!(reason.starts_with("it would exceed its limit of 1 USD"), "{reason}");
}

#[test]
fn tokens_and_turns_are_limited_like_money() {
    let used = Spent { tokens: 40, turns: 4, ..Spent::default() };
    let units = [story("a", vec![line(Some(RunPhase::Dev), used)])];
    for (most, is_refused) in [(80, false), (79, true), (40, true)] {
        let tokens = Allowance { tokens: Some(most), ..Allowance::default() };
        assert_eq!(refused(&budget(tokens, usd(9.0)), &units, &[]).is_some(), is_refused, "{most}");
        let turns = Allowance { turns: Some(most / 10), ..Allowance::default() };
        let is_refused = is_refused || most / 10 < 8;
        assert_eq!(refused(&budget(turns, usd(9.0)), &units, &[]).is_some(), is_refused, "{most}");
    }
}

#[test]
fn minutes_count_once_they_have_passed() {
    let used = Spent { duration_ms: 60_000, ..Spent::default() };
    let units = [story("a", vec![line(Some(RunPhase::Dev), used)])];
    let minutes = |most| Allowance { minutes: Some(most), ..Allowance::default() };
    assert!(refused(&budget(minutes(1.0), usd(1.0)), &units, &[]).is_some());
    assert!(refused(&budget(minutes(1.1), usd(1.0)), &units, &[]).is_none());
}

#[test]
fn gates_and_scenarios_cost_no_budget() {
    let units = [story("a", vec![line(None, spent(5.0)), line(Some(RunPhase::Dev), spent(0.1))])];
    assert_eq!(refused(&budget(usd(0.2), usd(0.2)), &units, &[]), None);
}

#[test]
fn agents_in_flight_are_expected_to_use_as_much_as_the_most_expensive_one() {
    let lines = vec![
        line(Some(RunPhase::Dev), spent(0.1)),
        line(Some(RunPhase::Dev), spent(0.3)),
        line(Some(RunPhase::Review), spent(0.9)),
    ];
    let units = [story("a", lines), story("b", Vec::new())];
    let busy = [
        InFlight { story: "b", phase: RunPhase::Dev },
        InFlight { story: "a", phase: RunPhase::Review },
        // Nothing is known about fixes, so the most expensive agent of all is assumed.
        InFlight { story: "b", phase: RunPhase::Fix },
    ];
    let (all, own) = expected(units.iter(), &busy, "b");
    assert!((all.cost_usd - 2.1).abs() < 1e-9, "{all:?}");
    assert!((own.cost_usd - 1.2).abs() < 1e-9, "{own:?}");
    // 1.3 spent, 2.1 expected, and 0.3 for the new one.
    assert!(refused(&budget(usd(3.7), Allowance::default()), &units, &busy).is_none());
    assert!(refused(&budget(usd(3.69), Allowance::default()), &units, &busy).is_some());
}

#[test]
fn the_first_agents_start_one_at_a_time_where_there_is_a_limit() {
    let units = [story("a", vec![line(None, spent(1.0))]), story("b", Vec::new())];
    let busy = [InFlight { story: "b", phase: RunPhase::Dev }];
    for limit in [
        usd(100.0),
        Allowance { tokens: Some(1_000), ..Allowance::default() },
        Allowance { turns: Some(1_000), ..Allowance::default() },
    ] {
        for budget in [budget(limit, Allowance::default()), budget(Allowance::default(), limit)] {
            assert!(refused(&budget, &units, &busy).is_some(), "{budget:?}");
            assert!(refused(&budget, &units, &[]).is_none(), "{budget:?}");
        }
    }
    // Time passes whatever agents do.
    let minutes = Allowance { minutes: Some(9.0), ..Allowance::default() };
    assert!(refused(&budget(minutes, minutes), &units, &busy).is_none());
}

#[test]
fn the_tightest_limit_is_what_is_left() {
    let left = |phase: Option<f64>, story: Option<f64>, run: Option<f64>| {
        let allowance = |usd| Allowance { usd, ..Allowance::default() };
        let budget =
            BudgetConfig { phase: allowance(phase), story: allowance(story), run: allowance(run) };
        AgentLimits::left(&budget, spent(3.0), spent(1.0)).usd.map(|(left, _)| left)
    };
    assert_eq!(left(None, None, None), None);
    assert_eq!(left(Some(2.0), None, None), Some(2.0));
    assert_eq!(left(Some(2.0), Some(2.5), None), Some(1.5));
    assert_eq!(left(Some(2.0), Some(2.5), Some(4.0)), Some(1.0));
    assert_eq!(left(None, None, Some(2.0)), Some(0.0), "never below zero");
}

#[test]
fn a_line_shows_the_verdict_or_else_the_failure() {
    let mut end: PhaseEnd = serde_json::from_value(serde_json::json!({
        "story": "a", "phase": "dev", "attempt": 2, "verdict": null, "summary": "", "findings": [],
        "failure": null, "tree": "t", "files": [], "restored": [],
        "spent": {"cost_usd": 0.5, "tokens": 1, "turns": 2, "duration_ms": 3}, "receipt": null
    }))
    .unwrap();
    assert_eq!(Line::agent(&end).verdict, "unclear");
    end.failure = Some(FailureClass::Overloaded);
    assert_eq!(Line::agent(&end).verdict, FailureClass::Overloaded.as_str());
    end.verdict = Some(Verdict::Complete);
    let line = Line::agent(&end);
    assert_eq!((line.phase, line.verdict, line.attempt), ("dev", "complete", 2));
    assert_eq!((line.spent.tokens, line.spent.turns), (1, 2));
}

#[test]
fn scenarios_pass_only_if_one_ran() {
    let result = |outcome: ScenarioOutcome| ScenarioResult {
        id: "S".to_owned(),
        criterion: String::new(),
        kind: handover_model::ScenarioKind::Auto,
        outcome,
        reason: String::new(),
        tail: String::new(),
        duration_ms: 0,
    };
    let verdict = |outcomes: &[ScenarioOutcome], problem: Option<&str>| {
        let results = outcomes.iter().map(|outcome| result(*outcome)).collect();
        let uat = Uat {
            gate: UatGate::Quick,
            results,
            problem: problem.map(str::to_owned),
            approvals: Vec::new(),
        };
        Line::uat(1, &uat, 7).verdict
    };
    use ScenarioOutcome::{Failed, NotRun, Passed, Refused};
    assert_eq!(verdict(&[Passed, NotRun], None), "passed");
    assert_eq!(verdict(&[NotRun], None), "none");
    assert_eq!(verdict(&[], None), "none");
    assert_eq!(verdict(&[Passed, Failed], None), "failed");
    assert_eq!(verdict(&[Passed, Refused], None), "failed");
    assert_eq!(verdict(&[], Some("missing")), "failed");
}

#[test]
fn an_agent_is_stopped_by_the_tightest_limit_and_it_is_named() {
    let tokens = |tokens| Allowance { tokens, ..Allowance::default() };
    let budget = BudgetConfig {
        phase: tokens(Some(900)),
        story: tokens(Some(1_000)),
        run: tokens(Some(5_000)),
    };
    let used = |tokens| Spent { tokens, ..Spent::default() };
    for (run, story, left, scope) in [
        (0, 0, 900, LimitScope::Phase),
        (300, 300, 700, LimitScope::Story),
        (4_900, 300, 100, LimitScope::Run),
        (9_000, 0, 0, LimitScope::Run),
    ] {
        let limits = AgentLimits::left(&budget, used(run), used(story));
        assert_eq!(limits.tokens, Some((left, scope)), "{run} {story}");
        let mut passed = Limits::default();
        limits.apply(&mut passed);
        assert_eq!((passed.tokens, passed.turns, passed.cost_usd), (Some(left), None, None));
    }
}
