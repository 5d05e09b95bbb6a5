//! Runs with real journals: the engine's own reducer decides what comes next, the test decides how each
//! step ends.

use handover_engine::Spent;
use handover_engine::data::{Contribution, Finding, ScenarioResult, WorkNotes};
use handover_engine::pipeline::{Closing, Pipeline, UatStep};
use handover_engine::reducer::{
    Effect, Event, GateOutcome, Options, PhaseEnd, Plan, PlannedStory, State,
};
use handover_model::config::BudgetConfig;
use handover_model::{
    Host, JournalKind, Profile, RunId, RunPhase, RunState, ScenarioKind, ScenarioOutcome, UatGate,
    Verdict,
};
use handover_store::ReceiptStep;
use serde_json::Value;

use crate::fixture::Fixture;

/// The stories of the epic: id and title.
pub(crate) const STORIES: [(&str, &str); 2] =
    [("1-1-login", "Sign in with OAuth"), ("1-2-logout", "Sign out everywhere")];

/// How an agent's phase ends.
#[derive(Clone, Copy)]
pub(crate) enum Ends {
    With(Verdict),
    /// The agent is still working.
    Never,
}

/// Plays a run until it is over or an agent never ends.
pub(crate) fn play(
    fixture: &Fixture,
    id: &str,
    stories: &[(&str, &str)],
    script: impl Fn(&str, RunPhase, u32) -> Ends,
) -> RunId {
    Scene { fixture, said: None, script: &script }.play(id, stories)
}

/// The same with something to read wherever a step says anything, all of it this text: the first gates fail, reviews
/// have a finding, and scenarios close the epic. Its agents are Claude's.
pub(crate) fn play_saying(
    fixture: &Fixture,
    id: &str,
    stories: &[(&str, &str)],
    said: &str,
    script: impl Fn(&str, RunPhase, u32) -> Ends,
) -> RunId {
    Scene { fixture, said: Some(said), script: &script }.play(id, stories)
}

struct Scene<'a> {
    fixture: &'a Fixture,
    said: Option<&'a str>,
    script: &'a dyn Fn(&str, RunPhase, u32) -> Ends,
}

impl Scene<'_> {
    fn play(&self, id: &str, stories: &[(&str, &str)]) -> RunId {
        let fixture = self.fixture;
        // An engine on another machine may be at work; one on this machine is dead.
        let run = fixture.run_on("elsewhere", id, "1");
        let mut plan = plan(fixture, stories);
        let mut options = options();
        if self.said.is_some() {
            let uat = Some(UatStep { gate: UatGate::Quick, heal: 0 });
            plan.pipeline = plan.pipeline.closed_with(Closing { uat, ..Closing::default() });
            options.host = Host::CLAUDE;
        }
        let started = Event::Started { plan: Box::new(plan), options: Box::new(options) };
        let mut state = State::start(&started).unwrap();
        record(fixture, &run, &started);
        // Enough for any script that ends.
        for _ in 0..1_000 {
            let Some(effect) = state.next(&[]) else { break };
            fixture.append(&run, JournalKind::Intent, value(&effect), None);
            let Some(event) = self.outcome(&state, &effect) else { break };
            record(fixture, &run, &event);
            state.apply(&event);
        }
        run
    }

    fn outcome(&self, state: &State, effect: &Effect) -> Option<Event> {
        let text = |text: &str| text.to_owned();
        Some(match effect {
            Effect::Open { story } => {
                Event::Opened { story: story.clone(), base: state.head.clone(), tree: text("t0") }
            }
            Effect::Agent { story, phase, attempt, .. } => {
                let Ends::With(verdict) = (self.script)(story, *phase, *attempt) else {
                    return None;
                };
                let mut end = ended(self.fixture, story, *phase, *attempt, verdict);
                if let Some(said) = self.said {
                    end.summary = said.to_owned();
                    end.findings =
                        if *phase == RunPhase::Review { vec![finding(said)] } else { Vec::new() };
                    end.files = vec![said.to_owned()];
                    end.restored = vec![said.to_owned()];
                    end.test_setup = vec![said.to_owned()];
                }
                Event::PhaseEnded(Box::new(end))
            }
            Effect::Gates { story, attempt } => {
                let failing = self.said.filter(|_| *attempt == 1);
                Event::GatesEnded {
                    story: story.clone(),
                    attempt: *attempt,
                    outcome: if failing.is_some() {
                        GateOutcome::Failed
                    } else {
                        GateOutcome::Passed
                    },
                    failures: failing.into_iter().map(str::to_owned).collect(),
                    detail: failing.unwrap_or_default().to_owned(),
                    duration_ms: 1_500,
                }
            }
            Effect::Uat { story, attempt } => Event::UatEnded {
                story: story.clone(),
                attempt: *attempt,
                gate: UatGate::Quick,
                results: self.said.into_iter().flat_map(scenarios).collect(),
                problem: None,
                tree: text("t9"),
                duration_ms: 2_000,
            },
            Effect::Commit { story } => {
                Event::Committed { story: story.clone(), commit: format!("c0ffee1234-{story}") }
            }
            Effect::Park { story } => Event::Parked {
                story: story.clone(),
                branch: Some(format!("handover/epic-1-{story}")),
            },
            Effect::Merge => Event::Merged { refused: Some(text("main has moved on")) },
            Effect::Ask => {
                Event::Stopped { state: RunState::Blocked, reason: text("a story has a question") }
            }
            Effect::Halt { reason } => {
                Event::Stopped { state: RunState::Budget, reason: reason.clone() }
            }
            Effect::Finish => Event::Ended { state: state.verdict() },
            Effect::GiveUp { .. }
            | Effect::Wait { .. }
            | Effect::CheckBase
            | Effect::Rebase { .. }
            | Effect::Forgo { .. } => {
                panic!("{effect:?} is not part of this pipeline")
            }
        })
    }
}

/// Appends an event; the end of a run is also in its record, as the engine writes it.
fn record(fixture: &Fixture, run: &RunId, event: &Event) {
    let state = if let Event::Stopped { state, .. } | Event::Ended { state } = event {
        Some(*state)
    } else {
        None
    };
    fixture.append(run, JournalKind::Result, value(event), state);
}

fn finding(said: &str) -> Finding {
    let said = said.to_owned();
    Finding { severity: said.clone(), place: said.clone(), kind: None, text: said }
}

/// One that passed and one that did not.
fn scenarios(said: &str) -> Vec<ScenarioResult> {
    let scenario = |outcome| ScenarioResult {
        id: said.to_owned(),
        criterion: said.to_owned(),
        kind: ScenarioKind::Auto,
        outcome,
        reason: said.to_owned(),
        tail: said.to_owned(),
        duration_ms: 1_000,
    };
    [ScenarioOutcome::Passed, ScenarioOutcome::Failed].map(scenario).into()
}

fn ended(
    fixture: &Fixture,
    story: &str,
    phase: RunPhase,
    attempt: u32,
    verdict: Verdict,
) -> PhaseEnd {
    // A time of its own, and so a receipt of its own.
    let seconds = 1_000 + i64::try_from(fixture.receipts()).unwrap();
    let role = if phase == RunPhase::Review { "tech_lead" } else { "developer" };
    let receipt = fixture.assemble(seconds, role, &[], "brief");
    fixture.advance(&receipt, seconds, &ReceiptStep::Delivered { host: None });
    let blocked = verdict == Verdict::Blocked;
    PhaseEnd {
        story: story.to_owned(),
        phase,
        attempt,
        voice: None,
        role: None,
        verdict: Some(verdict),
        status: None,
        summary: if blocked {
            "Which port?".to_owned()
        } else {
            format!("{phase} said {verdict}.")
        },
        findings: Vec::new(),
        contribution: Contribution::default(),
        notes: WorkNotes::default(),
        failure: None,
        over: None,
        waits_until: None,
        tree: format!("t{attempt}"),
        files: vec!["src/auth.rs".to_owned()],
        restored: Vec::new(),
        test_setup: Vec::new(),
        spent: Spent { cost_usd: 0.25, unpriced: 0, tokens: 12_000, turns: 7, duration_ms: 65_000 },
        receipt: Some(receipt.to_string()),
        retro: None,
    }
}

fn plan(fixture: &Fixture, stories: &[(&str, &str)]) -> Plan {
    let story = |(id, title): &(&str, &str)| PlannedStory {
        id: (*id).to_owned(),
        title: (*title).to_owned(),
        path: format!("docs/{id}.md"),
        waits_for: Vec::new(),
        skip: None,
        earlier: None,
        done: None,
    };
    Plan {
        epic: "1".parse().unwrap(),
        epic_file: None,
        records_in: fixture.session.clone(),
        base: "base".to_owned(),
        user_branch: Some("main".to_owned()),
        branch: "handover/epic-1".to_owned(),
        continues: false,
        checks_base: false,
        closes_anyway: false,
        pipeline: Pipeline::story(true, Profile::Edit),
        stories: stories.iter().map(story).collect(),
        not_stories: Vec::new(),
    }
}

fn options() -> Options {
    Options {
        host: Host::COMMAND,
        command: None,
        model: None,
        no_commit: false,
        merge: true,
        parallel: 1,
        phase_timeout: 60,
        idle_timeout: 60,
        max_fixes: 1,
        uat_blocking: false,
        max_retries: 0,
        budget: BudgetConfig::default(),
    }
}

fn value(entry: &impl serde::Serialize) -> Value {
    serde_json::to_value(entry).unwrap()
}
