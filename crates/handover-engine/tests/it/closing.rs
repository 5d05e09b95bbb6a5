//! Closing an epic, without executing anything: what comes next, and what is recorded.

use handover_engine::data::{Contribution, Retro, ScenarioResult, WorkNotes};
use handover_engine::pipeline::{Closing, Pipeline, UatStep};
use handover_engine::reducer::{
    Effect, Event, GateOutcome, Options, PhaseEnd, Plan, PlannedStory, State,
};
use handover_engine::retro::{self, Handoff, Section};
use handover_engine::verdict::read_retro;
use handover_engine::{Spent, report};
use handover_model::config::{Allowance, BudgetConfig};
use handover_model::{
    EpicId, Host, Profile, RunPhase, RunState, ScenarioKind, ScenarioOutcome, SessionId,
    StoryState, Timestamp, UatGate, Verdict,
};
use handover_text::tokens;
use serde_json::json;

const EPIC: &str = "epic-1";

fn start(stories: usize, heal: u32, blocking: bool, budget: BudgetConfig) -> State {
    let planned = |n: usize| PlannedStory {
        id: format!("1-{n}-story"),
        title: format!("The story number {n} of a long epic"),
        path: format!("docs/stories/1-{n}-story.md"),
        waits_for: Vec::new(),
        skip: None,
        earlier: None,
        done: None,
    };
    let uat = Some(UatStep { gate: UatGate::Quick, heal });
    let closing = Closing { generate: true, uat, retro: true, commit: true };
    let plan = Plan {
        epic: EpicId::new("1").unwrap(),
        epic_file: None,
        records_in: SessionId::new(EPIC).unwrap(),
        base: "base".to_owned(),
        user_branch: None,
        branch: "handover/epic-1".to_owned(),
        continues: false,
        checks_base: false,
        closes_anyway: false,
        pipeline: Pipeline::story(true, Profile::Edit).closed_with(closing),
        stories: (1..=stories).map(planned).collect(),
        not_stories: Vec::new(),
    };
    let options = Options {
        host: Host::COMMAND,
        command: None,
        model: None,
        no_commit: false,
        merge: false,
        parallel: 1,
        phase_timeout: 1,
        idle_timeout: 1,
        max_fixes: 1,
        uat_blocking: blocking,
        max_retries: 1,
        budget,
    };
    State::start(&Event::Started { plan: Box::new(plan), options: Box::new(options) }).unwrap()
}

fn opened(story: &str) -> Event {
    Event::Opened { story: story.to_owned(), base: "base".to_owned(), tree: "t0".to_owned() }
}

fn ended(story: &str, phase: RunPhase, verdict: Option<Verdict>, summary: &str) -> PhaseEnd {
    PhaseEnd {
        story: story.to_owned(),
        phase,
        attempt: 1,
        voice: None,
        role: None,
        status: None,
        verdict,
        summary: summary.to_owned(),
        findings: Vec::new(),
        contribution: Contribution::default(),
        notes: WorkNotes::default(),
        failure: None,
        over: None,
        waits_until: None,
        tree: format!("{phase}"),
        files: vec!["src/shared.rs".to_owned(), format!("src/{story}.rs")],
        restored: Vec::new(),
        test_setup: Vec::new(),
        spent: Spent { cost_usd: 0.25, ..Spent::default() },
        receipt: None,
        retro: None,
    }
}

fn phase(story: &str, phase: RunPhase, verdict: Option<Verdict>) -> Event {
    Event::PhaseEnded(Box::new(ended(story, phase, verdict, "so it was")))
}

fn gates(story: &str, outcome: GateOutcome) -> Event {
    let (failures, detail) = (vec!["unit: x".to_owned()], String::new());
    Event::GatesEnded {
        story: story.to_owned(),
        attempt: 1,
        outcome,
        failures,
        detail,
        duration_ms: 1,
    }
}

/// All stories are done, and the closing is open.
fn closing(stories: usize, heal: u32, blocking: bool, budget: BudgetConfig) -> State {
    let mut state = start(stories, heal, blocking, budget);
    for n in 1..=stories {
        let id = format!("1-{n}-story");
        state.apply(&opened(&id));
        state.apply(&phase(&id, RunPhase::Dev, Some(Verdict::Complete)));
        state.apply(&gates(&id, GateOutcome::None));
        state.apply(&phase(&id, RunPhase::Review, Some(Verdict::Passed)));
        state.apply(&Event::Committed { story: id, commit: format!("c{n}") });
    }
    assert_eq!(state.next(&[]), Some(Effect::Open { story: EPIC.to_owned() }));
    state.apply(&opened(EPIC));
    state
}

fn tried(attempt: u32, outcome: ScenarioOutcome) -> Event {
    let result = ScenarioResult {
        id: "S1".to_owned(),
        criterion: "AC1".to_owned(),
        kind: ScenarioKind::Auto,
        outcome,
        reason: "exit code 1 instead of 0".to_owned(),
        tail: "oh no".to_owned(),
        duration_ms: 1,
    };
    Event::UatEnded {
        story: EPIC.to_owned(),
        attempt,
        gate: UatGate::Quick,
        results: vec![result],
        problem: None,
        tree: format!("tried {attempt}"),
        duration_ms: 2,
    }
}

/// The next effect, in a word.
fn next(state: &State) -> String {
    match state.next(&[]).unwrap() {
        Effect::Agent { phase, .. } => phase.to_string(),
        Effect::Gates { .. } => "gates".to_owned(),
        Effect::Uat { attempt, .. } => format!("scenarios {attempt}"),
        Effect::Forgo { phase, .. } => format!("no {phase}"),
        Effect::Commit { .. } => "commit".to_owned(),
        other @ (Effect::CheckBase
        | Effect::GiveUp { .. }
        | Effect::Open { .. }
        | Effect::Rebase { .. }
        | Effect::Park { .. }
        | Effect::Merge
        | Effect::Ask
        | Effect::Halt { .. }
        | Effect::Wait { .. }
        | Effect::Finish) => format!("{other:?}"),
    }
}

#[test]
fn an_epic_is_closed_step_by_step() {
    use ScenarioOutcome::Passed;
    let mut state = closing(1, 0, true, BudgetConfig::default());
    assert_eq!(next(&state), "uat");
    state.apply(&phase(EPIC, RunPhase::Uat, Some(Verdict::Complete)));
    assert_eq!(next(&state), "scenarios 1");
    state.apply(&tried(1, Passed));
    assert_eq!(next(&state), "retro");
    state.apply(&phase(EPIC, RunPhase::Retro, None));
    assert_eq!(next(&state), "commit");
    state.apply(&Event::Committed { story: EPIC.to_owned(), commit: "end".to_owned() });
    assert_eq!((state.next(&[]), state.verdict()), (Some(Effect::Finish), RunState::Done));
    assert_eq!(state.head, "end");
    assert_eq!(report::uat(&state).unwrap()["state"], "passed");
}

#[test]
fn failing_scenarios_are_fixed_and_useless_fixes_dropped() {
    use ScenarioOutcome::{Failed, Passed};
    let mut state = closing(1, 2, true, BudgetConfig::default());
    state.apply(&phase(EPIC, RunPhase::Uat, Some(Verdict::Complete)));
    assert_eq!(next(&state), "gates");
    state.apply(&gates(EPIC, GateOutcome::Passed));
    state.apply(&tried(1, Failed));
    assert_eq!(next(&state), "fix");
    let found = &state.closing.as_ref().unwrap().findings[0].text;
    assert!(found.contains("S1") && found.contains("exit code 1"), "{found}");
    state.apply(&phase(EPIC, RunPhase::Fix, Some(Verdict::Complete)));
    assert_eq!(next(&state), "gates");
    let fixed = state.clone();
    // The second time it passes.
    state.apply(&gates(EPIC, GateOutcome::Passed));
    state.apply(&tried(2, Passed));
    assert_eq!((next(&state).as_str(), state.verdict()), ("retro", RunState::Done));
    assert_eq!(state.closing.as_ref().unwrap().tree.as_deref(), Some("tried 2"));
    // Or a gate breaks, and no fix helps: the earlier state counts.
    let mut state = fixed;
    state.apply(&gates(EPIC, GateOutcome::Failed));
    assert_eq!(next(&state), "fix");
    state.apply(&phase(EPIC, RunPhase::Fix, Some(Verdict::Complete)));
    state.apply(&gates(EPIC, GateOutcome::Passed));
    state.apply(&tried(2, Failed));
    assert_eq!((next(&state).as_str(), state.verdict()), ("retro", RunState::Failed));
    assert_eq!(state.closing.as_ref().unwrap().tree.as_deref(), Some("tried 1"));
    assert!(state.stories.iter().all(|story| story.state == StoryState::Done));
}

#[test]
fn an_exhausted_budget_does_not_stop_the_closing() {
    let usd = |usd| BudgetConfig {
        run: Allowance { usd: Some(usd), ..Allowance::default() },
        ..BudgetConfig::default()
    };
    let mut state = closing(1, 0, false, usd(0.6));
    assert_eq!(next(&state), "no uat");
    state.apply(&phase(EPIC, RunPhase::Uat, None));
    state.apply(&Event::UatEnded {
        story: EPIC.to_owned(),
        attempt: 1,
        gate: UatGate::Quick,
        results: Vec::new(),
        problem: Some("there are none".to_owned()),
        tree: "t0".to_owned(),
        duration_ms: 0,
    });
    assert_eq!(next(&state), "no retro");
    state.apply(&phase(EPIC, RunPhase::Retro, None));
    assert_eq!((next(&state).as_str(), state.verdict()), ("commit", RunState::Done));
}

#[test]
fn a_digest_of_thirty_stories_fits_the_budget() {
    let state = closing(30, 0, false, BudgetConfig::default());
    let tokenizer = tokens::for_model(None);
    let all = retro::digest(&state, &[], tokenizer, 100_000);
    for part in ["30 done", "15.0000 USD", "1-30-story", "dev 1 complete", "src/shared.rs"] {
        assert!(all.contains(part), "{part} is missing in {all}");
    }
    for budget in [3_000, 1_000, 400] {
        let text = retro::digest(&state, &[], tokenizer, budget);
        assert!(tokens::count(tokenizer, &text) <= budget, "{budget}");
        assert_eq!(text, retro::digest(&state, &[], tokenizer, budget));
    }
    let text = retro::digest(&state, &[], tokenizer, 1_500);
    for n in 1..=30 {
        assert!(text.contains(&format!("1-{n}-story")), "{n} is missing in {text}");
    }
}

#[test]
fn a_handoff_reads_back_from_agents_and_from_facts() {
    let state = closing(2, 0, false, BudgetConfig::default());
    let facts = retro::factual(&state);
    assert_eq!(facts.files[0].text, "src/shared.rs");
    assert_eq!(facts.went_well.len(), 2);
    let said = read_retro(&json!({
        "summary": "Two stories,\none lesson.",
        "gotchas": [{"text": "## [not] a *heading* <!-- x -->", "file": "src/a_b.rs"}, "plain"],
        "decisions": [{"decision": "SQLite", "rationale": "one file"}],
    }));
    let taught = said.completed_by(facts);
    let about = retro::RetroInfo {
        run: "run_1",
        by: "somebody",
        at: Timestamp::from_micros(1_700_000_000_000_000),
    };
    let text = retro::handoff(&taught, &state, &about);
    let handoff = Handoff::parse(&text);
    assert_eq!(handoff.summary, "Two stories, one lesson.");
    let of = |section: Section| {
        let entries = handoff.entries.iter().filter(|entry| entry.section == section);
        entries.map(|entry| (entry.text.as_str(), entry.file.as_deref())).collect::<Vec<_>>()
    };
    let gotchas = of(Section::Gotchas);
    assert_eq!(gotchas[1], ("plain", None));
    assert!(gotchas[0].0.starts_with("## [not] a *heading*"), "{gotchas:?}");
    assert_eq!(gotchas[0].1, Some("src/a_b.rs"));
    assert_eq!(of(Section::Decisions), [("SQLite: one file", None)]);
    assert_eq!(of(Section::Files)[0].1, Some("src/shared.rs"));
    let headings = text.lines().filter(|line| line.starts_with('#')).count();
    assert_eq!(headings, 5, "{text}");
    let page = retro::retrospective(&taught, &state, &about);
    assert!(
        page.contains("| 1-1-story | done | 0 | 0.5000 |") && page.contains("2023-11-14"),
        "{page}"
    );
    // Handoffs written by hand are read as far as possible.
    for odd in
        ["", "---\nno end", "## Gotchas\n- ", "```\n## Gotchas\n- x\n```", &"- x\n".repeat(100_000)]
    {
        assert_eq!(Handoff::parse(odd).entries, []);
    }
    let flood = format!("## Gotchas\n{}", "- x\n".repeat(100_000));
    assert_eq!(Handoff::parse(&flood).entries.len(), 60);
    assert!(Retro::default().is_empty());
}
