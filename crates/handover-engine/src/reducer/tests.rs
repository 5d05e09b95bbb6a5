use handover_model::{
    Profile, Role, ScenarioKind, ScenarioOutcome, TeamStatus, TestingMode, UatGate, Verdict,
};

use super::*;
use crate::data::{Analysis, Contribution, Lesson, Retro, ScenarioResult, Topic};
use crate::pipeline::{Closing, PartyRules, Pipeline, Step, Transition, UatStep, agent_step};
use crate::testing::{self, ended, event, finding, opened, persona, start};

fn party_step(phase: RunPhase, rounds: u32) -> PartyStep {
    PartyStep {
        agent: agent_step(phase, "tech_lead", Profile::ReadOnly),
        personas: vec![persona("ann"), persona("bob")],
        rounds,
        solo: false,
        rules: PartyRules::default(),
    }
}

fn voice(persona: &str, round: u32) -> Voice {
    Voice { persona: persona.to_owned(), round }
}

fn spoke(phase: RunPhase, who: &str, round: u32, verdict: Option<Verdict>) -> PhaseEnd {
    PhaseEnd {
        voice: Some(voice(who, round)),
        summary: format!("{who} in round {round}"),
        ..ended("a", phase, verdict)
    }
}

#[test]
fn a_round_starts_when_the_previous_one_is_complete() {
    let party = party_step(RunPhase::Review, 2);
    let passed = |who: &str| spoke(RunPhase::Review, who, 1, Some(Verdict::Passed));
    assert_eq!(party::missing(&party, &[passed("ann"), passed("bob")]), [], "they agree");
    let spoke = |who: &str, round| spoke(RunPhase::Review, who, round, Some(Verdict::Failed));
    assert_eq!(party::missing(&party, &[]), [voice("ann", 1), voice("bob", 1)]);
    assert_eq!(party::missing(&party, &[spoke("bob", 1)]), [voice("ann", 1)]);
    let first = [spoke("bob", 1), spoke("ann", 1)];
    assert_eq!(party::missing(&party, &first), [voice("ann", 2), voice("bob", 2)]);
    let all = [spoke("bob", 1), spoke("ann", 1), spoke("ann", 2), spoke("bob", 2)];
    assert_eq!(party::missing(&party, &all), []);
    let solo = PartyStep { solo: true, rounds: 1, ..party };
    assert_eq!(party::missing(&solo, &[]), [voice("party", 1)]);
}

#[test]
fn the_outcome_of_a_party_is_the_end_of_one_agent() {
    let party = party_step(RunPhase::Review, 1);
    let mut bob = spoke(RunPhase::Review, "bob", 1, Some(Verdict::Failed));
    bob.findings = vec![finding("high", "a.rs:1", "broken")];
    bob.receipt = Some("r_bob".to_owned());
    let mut ann = spoke(RunPhase::Review, "ann", 1, Some(Verdict::Passed));
    ann.receipt = Some("r_ann".to_owned());
    ann.restored = vec!["x".to_owned()];
    let record = party::outcome(&party, vec![bob, ann]).unwrap();
    let order: Vec<&str> =
        record.voices.iter().map(|end| end.voice.as_ref().unwrap().persona.as_str()).collect();
    assert_eq!(order, ["ann", "bob"]);
    let outcome = &record.outcome;
    assert_eq!((outcome.verdict, &outcome.voice), (Some(Verdict::Failed), &None));
    assert_eq!(outcome.receipt.as_deref(), Some("r_bob"));
    assert_eq!(outcome.findings[0].text, "broken");
    assert!(outcome.files.is_empty() && outcome.restored.is_empty());
    assert_eq!(record.statements().len(), 2);
    assert!(party::outcome(&party, Vec::new()).is_none());
}

#[test]
fn each_phase_settles_in_its_own_way() {
    use Verdict::{Complete, Failed, Retry};
    // A kickoff is complete if any voice contributes something.
    let party = party_step(RunPhase::Kickoff, 1);
    let mut ann = spoke(RunPhase::Kickoff, "ann", 1, Some(Complete));
    ann.contribution.notes.insert(Topic::Risks, vec!["the limit".to_owned()]);
    let settled = settle_party(&party, &[ann.clone()]);
    assert_eq!(settled.verdict, Some(Complete));
    assert_eq!(settled.summary, "Identified Risks:\n- the limit (ann)\n");
    ann.verdict = None;
    assert_eq!(settle_party(&party, &[ann]).verdict, None);
    // An analysis has a joint cause, steps and questions.
    let party = party_step(RunPhase::Analysis, 1);
    let analyzed = |who: &str, question: Option<&str>| {
        let analysis = Analysis {
            root_cause: "the port".to_owned(),
            remediation: vec!["bind".to_owned()],
            question: question.map(str::to_owned),
            adds: true,
            ..Analysis::default()
        };
        let contribution = Contribution { analysis: Some(analysis), ..Contribution::default() };
        PhaseEnd { contribution, ..spoke(RunPhase::Analysis, who, 1, Some(Retry)) }
    };
    let settled = settle_party(&party, &[analyzed("ann", Some("Which?")), analyzed("bob", None)]);
    assert_eq!((settled.verdict, settled.summary.as_str()), (Some(Retry), "the port"));
    let analysis = settled.contribution.analysis.unwrap();
    assert_eq!(analysis.question.as_deref(), Some("Which?"));
    assert_eq!(analysis.remediation, ["bind"]);
    assert!(analysis.adds);
    let settled = settle_party(&party, &[analyzed("bob", None)]);
    assert_eq!(settled.contribution.analysis.unwrap().question, None);
    // Other phases are complete if one voice is; their summaries follow the order of the personas.
    let party = party_step(RunPhase::Retro, 2);
    let ends = [
        spoke(RunPhase::Retro, "bob", 2, Some(Complete)),
        spoke(RunPhase::Retro, "bob", 1, Some(Complete)),
        spoke(RunPhase::Retro, "ann", 1, Some(Failed)),
        spoke(RunPhase::Retro, "ann", 2, Some(Complete)),
    ];
    let settled = settle_party(&party, &ends);
    assert_eq!(settled.verdict, Some(Complete));
    assert_eq!(settled.summary, "ann: ann in round 2\nbob: bob in round 1\nbob: bob in round 2");
    assert_eq!(settle_party(&party, &ends[2..3]).verdict, None);
}

#[test]
fn the_last_lessons_of_each_persona_are_joined() {
    let party = party_step(RunPhase::Retro, 2);
    let taught = |who: &str, round, text: &str| {
        let retro = Retro { gotchas: vec![Lesson::new(text)], ..Retro::default() };
        PhaseEnd {
            retro: Some(Box::new(retro)),
            ..spoke(RunPhase::Retro, who, round, Some(Verdict::Complete))
        }
    };
    let silent = spoke(RunPhase::Retro, "bob", 2, None);
    let ends =
        vec![taught("ann", 1, "old"), taught("bob", 1, "bobs"), taught("ann", 2, "new"), silent];
    let retro = party::outcome(&party, ends).unwrap().outcome.retro.unwrap();
    let texts: Vec<&str> = retro.gotchas.iter().map(|lesson| lesson.text.as_str()).collect();
    assert_eq!(texts, ["bobs", "new"]);
    let none = vec![spoke(RunPhase::Retro, "ann", 1, None)];
    assert!(party::outcome(&party, none).unwrap().outcome.retro.is_none());
}

#[test]
fn the_agent_of_a_story_depends_on_where_it_is() {
    let mut pipeline = testing::story();
    pipeline.steps[2] = Step::Party(party_step(RunPhase::Review, 1));
    let mut state = start(pipeline, &["a"]);
    state.apply(&opened("a"));
    let phase = |state: &State, voice: Option<&Voice>| {
        let story = state.story("a").unwrap();
        state.agent_of(story, voice).map(|step| (step.phase, step.voice))
    };
    assert_eq!(phase(&state, None), Some((RunPhase::Dev, None)));
    assert_eq!(phase(&state, Some(&voice("ann", 1))), None, "no party is at work");
    assert!(state.party_of(state.story("a").unwrap()).is_none());
    state.apply(&event(ended("a", RunPhase::Dev, Some(Verdict::Complete))));
    assert_eq!(phase(&state, None), None, "the gates are no agent");
    let gates = Event::GatesEnded {
        story: "a".to_owned(),
        attempt: 1,
        outcome: GateOutcome::None,
        failures: Vec::new(),
        detail: String::new(),
        duration_ms: 1,
    };
    state.apply(&gates);
    assert_eq!(phase(&state, None), None, "a party has voices");
    let ann = voice("ann", 1);
    assert_eq!(phase(&state, Some(&ann)), Some((RunPhase::Review, Some(ann.clone()))));
    assert_eq!(state.party_of(state.story("a").unwrap()).unwrap().personas.len(), 2);
}

fn with_uat(heal: u32) -> State {
    let uat = Some(UatStep { gate: UatGate::Quick, heal });
    let closing = Closing { generate: false, uat, retro: false, commit: true };
    let mut state = start(testing::story().closed_with(closing), &["a"]);
    state.apply(&Event::Committed { story: "a".to_owned(), commit: "c1".to_owned() });
    state.apply(&Event::Opened {
        story: "epic-1".to_owned(),
        base: "c1".to_owned(),
        tree: "t0".to_owned(),
    });
    state
}

fn result(id: &str, outcome: ScenarioOutcome, tail: &str) -> ScenarioResult {
    ScenarioResult {
        id: id.to_owned(),
        criterion: "AC".to_owned(),
        kind: ScenarioKind::Auto,
        outcome,
        reason: format!("{id} reason"),
        tail: tail.to_owned(),
        duration_ms: 1,
    }
}

fn tried(attempt: u32, results: Vec<ScenarioResult>, problem: Option<&str>) -> Event {
    Event::UatEnded {
        story: "epic-1".to_owned(),
        attempt,
        gate: UatGate::Quick,
        results,
        problem: problem.map(str::to_owned),
        tree: format!("tried {attempt}"),
        duration_ms: 7,
    }
}

#[test]
fn acceptance_fails_if_a_scenario_does_or_none_could_run() {
    use ScenarioOutcome::{Failed, NotRun, Passed, Refused};
    let uat = |outcomes: &[ScenarioOutcome], problem: Option<&str>| Uat {
        gate: UatGate::Quick,
        results: outcomes.iter().map(|outcome| result("S", *outcome, "")).collect(),
        problem: problem.map(str::to_owned),
        approvals: Vec::new(),
    };
    assert!(!uat(&[Passed, NotRun], None).is_failure());
    assert!(!uat(&[], None).is_failure());
    for wrong in [Failed, Refused] {
        assert!(uat(&[Passed, wrong], None).is_failure(), "{wrong}");
    }
    assert!(uat(&[], Some("there are none")).is_failure());
    let mixed = uat(&[Passed, Failed, Passed], None);
    assert_eq!((mixed.count(Passed), mixed.count(Failed), mixed.count(NotRun)), (2, 1, 0));
}

#[test]
fn failures_of_scenarios_are_findings_with_their_output() {
    use ScenarioOutcome::{Failed, Passed};
    let mut state = with_uat(1);
    state.apply(&Event::GatesEnded {
        story: "epic-1".to_owned(),
        attempt: 1,
        outcome: GateOutcome::Passed,
        failures: Vec::new(),
        detail: String::new(),
        duration_ms: 1,
    });
    state.apply(&tried(1, vec![result("S1", Passed, ""), result("S2", Failed, "boom")], None));
    let closing = state.closing.as_ref().unwrap();
    assert_eq!(closing.findings.len(), 1);
    assert_eq!(closing.findings[0].text, "scenario S2 (AC): S2 reason");
    assert_eq!(closing.gate_detail, "S2 printed:\nboom\n\n");
    assert!(!closing.fixes_failed(), "nothing was fixed yet");
    // A fix that fails ends the healing, and the earlier result counts.
    state.apply(&event(PhaseEnd {
        tree: "broken".to_owned(),
        ..ended("epic-1", RunPhase::Fix, Some(Verdict::Failed))
    }));
    let closing = state.closing.as_ref().unwrap();
    assert_eq!((closing.fixes(), closing.tree.as_deref()), (1, Some("tried 1")));
    assert!(closing.fixes_failed());
    assert_eq!(state.ready(), [Effect::Commit { story: "epic-1".to_owned() }]);
}

#[test]
fn without_fixes_a_failure_is_only_reported() {
    let mut state = with_uat(0);
    let problem = "there are no scenarios";
    state.apply(&tried(1, Vec::new(), Some(problem)));
    assert_eq!(state.ready(), [Effect::Commit { story: "epic-1".to_owned() }]);
    assert_eq!(state.verdict(), RunState::Done);
    state.options.uat_blocking = true;
    assert_eq!(state.verdict(), RunState::Failed);
    // Without scenarios there is nothing to accept.
    state.plan.pipeline.closing.clear();
    assert_eq!(state.verdict(), RunState::Done);
}

#[test]
fn a_blocking_acceptance_that_did_not_take_place_fails() {
    let mut state = with_uat(0);
    state.options.uat_blocking = true;
    assert_eq!(state.verdict(), RunState::Failed);
    state.apply(&tried(1, vec![result("S1", ScenarioOutcome::Passed, "")], None));
    assert_eq!(state.verdict(), RunState::Done);
    state.closing.as_mut().unwrap().state = StoryState::Blocked;
    assert_eq!(state.verdict(), RunState::Failed);
}

/// A team whose developer has just built something that the gates passed.
fn team_at_qa() -> State {
    let mut state = start(Pipeline::team(Profile::Edit, TestingMode::Full), &["a"]);
    state.apply(&opened("a"));
    say(&mut state, RunPhase::Dev, "developer", TeamStatus::ReadyForQa, Verdict::Complete);
    check(&mut state, GateOutcome::Passed);
    state
}

fn say(state: &mut State, phase: RunPhase, role: &str, status: TeamStatus, verdict: Verdict) {
    let mut end = ended("a", phase, Some(verdict));
    end.role = Some(Role::new(role).unwrap());
    end.status = Some(status);
    end.summary = format!("{role} says {status}");
    state.apply(&event(end));
}

fn check(state: &mut State, outcome: GateOutcome) {
    let Some(Effect::Gates { attempt, .. }) = state.ready().pop() else {
        panic!("{:?}", state.ready())
    };
    state.apply(&Event::GatesEnded {
        story: "a".to_owned(),
        attempt,
        outcome,
        failures: vec!["t".to_owned()],
        detail: String::new(),
        duration_ms: 1,
    });
}

fn role(state: &State) -> Option<String> {
    let story = state.story("a").unwrap();
    state.agent_of(story, None).map(|step| step.role.to_string())
}

#[test]
fn a_teams_senior_gets_the_findings_and_others_look_themselves() {
    let mut state = team_at_qa();
    assert_eq!(role(&state).as_deref(), Some("qa_expert"));
    assert!(state.stories[0].findings.is_empty());
    say(&mut state, RunPhase::Review, "qa_expert", TeamStatus::FailEscalate, Verdict::Failed);
    assert_eq!(role(&state).as_deref(), Some("senior_software_engineer"));
    assert_eq!(state.stories[0].findings[0].text, "qa_expert says FAIL_ESCALATE");
    // Once the senior has taken over, rejected work goes back to the senior.
    let senior = "senior_software_engineer";
    say(&mut state, RunPhase::Fix, senior, TeamStatus::ReadyForReview, Verdict::Complete);
    check(&mut state, GateOutcome::Passed);
    say(&mut state, RunPhase::Review, "tech_lead", TeamStatus::ChangesRequested, Verdict::Failed);
    assert_eq!(role(&state).as_deref(), Some(senior));
    assert_eq!(state.stories[0].fixes(), 1);
}

#[test]
fn a_member_is_repeated_only_so_often() {
    let mut state = team_at_qa();
    let flow = state.plan.pipeline.flow.clone().unwrap();
    for _ in 0..flow.patience {
        let mut unclear = ended("a", RunPhase::Review, None);
        unclear.summary = "hm".to_owned();
        state.apply(&event(unclear));
        assert_eq!(role(&state).as_deref(), Some("qa_expert"));
    }
    state
        .apply(&event(PhaseEnd { summary: "hm".to_owned(), ..ended("a", RunPhase::Review, None) }));
    assert_eq!(state.stories[0].state, StoryState::Failed);
    assert_eq!(state.stories[0].reason, "qa_expert did not finish: hm");
}

#[test]
fn approval_without_work_is_a_failure() {
    let mut state = start(Pipeline::team(Profile::Edit, TestingMode::Full), &["a"]);
    state.apply(&opened("a"));
    say(&mut state, RunPhase::Dev, "developer", TeamStatus::Blocked, Verdict::Blocked);
    assert_eq!(role(&state).as_deref(), Some("investigator"));
    say(&mut state, RunPhase::Analysis, "investigator", TeamStatus::RootCauseFound, Verdict::Retry);
    assert_eq!(role(&state).as_deref(), Some("tech_lead"));
    // The developer has changed nothing.
    let mut approval = ended("a", RunPhase::Review, Some(Verdict::Passed));
    approval.status = Some(TeamStatus::Approved);
    approval.role = Some(Role::new("tech_lead").unwrap());
    let mut lazy = state.clone();
    lazy.stories[0].team = flow::TeamState::default();
    lazy.apply(&event(approval));
    assert_eq!(lazy.stories[0].state, StoryState::Failed);
    assert_eq!(lazy.stories[0].reason, "work was approved, but nothing was changed");
}

#[test]
fn a_team_has_a_largest_number_of_agents() {
    let mut state = start(Pipeline::team(Profile::Edit, TestingMode::Full), &["a"]);
    state.options.max_fixes = 1_000;
    state.apply(&opened("a"));
    let flow = state.plan.pipeline.flow.clone().unwrap();
    let mut agents = 0;
    while state.stories[0].state == StoryState::Running {
        let now = role(&state).unwrap();
        agents += 1;
        let phase = if agents == 1 { RunPhase::Dev } else { RunPhase::Fix };
        say(&mut state, phase, &now, TeamStatus::Incomplete, Verdict::Failed);
    }
    assert_eq!(agents, flow.most);
    assert!(state.stories[0].reason.contains("the team did not finish with 30 agents"));
}

#[test]
fn a_transition_of_every_kind_is_used() {
    let flow = Pipeline::team(Profile::Edit, TestingMode::Full).flow.unwrap();
    let has = |wanted: fn(&Transition) -> bool| flow.rules.iter().any(|rule| wanted(&rule.to));
    assert!(has(|to| matches!(to, Transition::Hand { .. })));
    assert!(has(|to| matches!(to, Transition::Check { .. })));
    assert!(has(|to| matches!(to, Transition::Rework)));
    assert!(has(|to| matches!(to, Transition::Resume)));
    assert!(has(|to| matches!(to, Transition::Again)));
    assert!(has(|to| matches!(to, Transition::Keep)));
    assert!(has(|to| matches!(to, Transition::Stop { .. })));
}

#[test]
fn a_retry_returns_to_the_step_that_failed() {
    let mut pipeline = testing::story();
    let analyst = agent_step(RunPhase::Analysis, "investigator", Profile::ReadOnly);
    pipeline.on_failure = Some(Step::Agent(analyst));
    let retry = || {
        let analysis = Analysis { adds: true, root_cause: "x".to_owned(), ..Analysis::default() };
        let contribution = Contribution { analysis: Some(analysis), ..Contribution::default() };
        event(PhaseEnd { contribution, ..ended("a", RunPhase::Analysis, Some(Verdict::Retry)) })
    };
    let phase =
        |state: &State| state.agent_of(state.story("a").unwrap(), None).map(|step| step.phase);
    // A review that crashed is repeated as a review.
    let mut state = start(pipeline.clone(), &["a"]);
    state.apply(&opened("a"));
    state.apply(&event(ended("a", RunPhase::Dev, Some(Verdict::Complete))));
    check(&mut state, GateOutcome::Passed);
    state.apply(&event(ended("a", RunPhase::Review, None)));
    assert_eq!(phase(&state), Some(RunPhase::Analysis));
    state.apply(&retry());
    assert_eq!(phase(&state), Some(RunPhase::Review));
    assert_eq!(state.stories[0].failures[0].advice.as_deref(), Some("Cause: x\n"));
    // Work that has used up its fixes gets one more.
    let mut state = start(pipeline, &["a"]);
    state.options.max_fixes = 1;
    state.apply(&opened("a"));
    state.apply(&event(ended("a", RunPhase::Dev, Some(Verdict::Complete))));
    check(&mut state, GateOutcome::Failed);
    state.apply(&event(ended("a", RunPhase::Fix, Some(Verdict::Complete))));
    check(&mut state, GateOutcome::Failed);
    assert_eq!(phase(&state), Some(RunPhase::Analysis));
    state.apply(&retry());
    assert_eq!((phase(&state), state.stories[0].fixes()), (Some(RunPhase::Fix), 0));
    state.apply(&event(ended("a", RunPhase::Fix, Some(Verdict::Complete))));
    assert_eq!(state.stories[0].fixes(), 1);
    check(&mut state, GateOutcome::Failed);
    assert_eq!(state.stories[0].state, StoryState::Blocked, "the same failure twice is a question");
}

#[test]
fn helpers_make_room_for_more_stories() {
    let mut state = start(testing::story(), &["a", "b", "c"]);
    assert_eq!(state.ready().len(), 1);
    state.helpers = 1;
    assert_eq!(state.ready().len(), 2);
    state.helpers = u32::MAX;
    assert_eq!(state.ready().len(), 3);
}

#[test]
fn the_money_of_agents_in_flight_is_expected() {
    let mut state = start(testing::story(), &["a", "b"]);
    state.options.parallel = 2;
    state.apply(&opened("a"));
    state.apply(&opened("b"));
    let mut end = ended("a", RunPhase::Dev, Some(Verdict::Complete));
    end.spent = Spent { cost_usd: 0.5, unpriced: 0, tokens: 8, turns: 2, duration_ms: 3 };
    state.apply(&event(end));
    let dev =
        Effect::Agent { story: "b".to_owned(), phase: RunPhase::Dev, attempt: 1, voice: None };
    let gates = Effect::Gates { story: "a".to_owned(), attempt: 1 };
    let (all, of_b) = state.expected(&[dev.clone(), gates.clone()], "b");
    assert_eq!((all.cost_usd, of_b.tokens), (0.5, 8));
    let (all, of_a) = state.expected(&[dev, gates], "a");
    assert_eq!((all.turns, of_a), (2, Spent::default()));
    assert_eq!(state.spent().cost_usd, 0.5);
}

#[test]
fn an_epic_whose_stories_are_all_skipped_is_not_closed() {
    let closing = Closing { retro: true, commit: true, ..Closing::default() };
    let mut plan = testing::plan(testing::story().closed_with(closing), &["a"]);
    let start = |plan: &Plan| {
        let options = Box::new(testing::options());
        State::start(&Event::Started { plan: Box::new(plan.clone()), options }).unwrap()
    };
    assert!(start(&plan).closing.is_some());
    plan.stories[0].skip = Some(Skip::Done);
    let state = start(&plan);
    assert!(state.closing.is_none());
    assert_eq!(state.ready(), [Effect::Finish]);
    assert_eq!(state.stories[0].reason, "done already");
    // A run that only closes has no stories at all.
    plan.stories.clear();
    assert!(start(&plan).closing.is_some());
    assert_eq!(start(&plan).closing.unwrap().planned.title, "Epic 1");
    assert!(State::start(&Event::Merged { refused: None }).is_none());
}
