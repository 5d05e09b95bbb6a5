use std::path::PathBuf;

use handover_model::{Profile, Role, TeamStatus, TestingMode, Verdict};

use super::*;
use crate::pipeline::{PartyRules, Pipeline, Step, Voice, agent_step};
use crate::reducer::{Event, GateOutcome};
use crate::testing::{self, ended, event, finding, opened, persona, start, story};
use crate::verdict::allowed;

pub(super) const STORY_TEXT: &str = "# Story 1.1: Login\n\nStatus: ready\n\n- [ ] a form\n";

pub(super) fn documents() -> Documents {
    let criterion =
        |id: &str, text: &str| crate::story::Criterion { id: id.to_owned(), text: text.to_owned() };
    Documents {
        epic: "# Epic 1: Accounts\n\nPeople can log in.\n".to_owned(),
        pointers: vec!["docs/architecture.md".to_owned()],
        criteria: vec![("1-1-login".to_owned(), vec![criterion("AC1", "wrong passwords fail")])],
    }
}

/// The task of the agent that a story is at.
pub(super) fn composed(state: &State, id: &str, voice: Option<&Voice>, patch: &str) -> String {
    checked_by(&["cargo test".to_owned()], state, id, voice, patch)
}

/// The task in a project with these checks.
pub(super) fn checked_by(
    gates: &[String],
    state: &State,
    id: &str,
    voice: Option<&Voice>,
    patch: &str,
) -> String {
    let story = state.story(id).unwrap();
    let step = state.agent_of(story, voice).expect("an agent is next");
    let result = PathBuf::from("/run/result.json");
    let documents = documents();
    let parts = TaskParts {
        state,
        story,
        step: &step,
        text: match story.kind {
            UnitKind::Story => STORY_TEXT,
            UnitKind::Closing => &documents.epic,
        },
        patch,
        nonce: "n1",
        result: &result,
        gates,
        documents: &documents,
    };
    format!("{}\n=====\n{}", role_text(&step, state.party_of(story)), task(&parts))
}

pub(super) fn begun(pipeline: Pipeline) -> State {
    let mut state = start(pipeline, &["1-1-login"]);
    state.apply(&opened("1-1-login"));
    state
}

pub(super) fn phase(phase: RunPhase, verdict: Verdict) -> Event {
    event(ended("1-1-login", phase, Some(verdict)))
}

pub(super) fn gates(attempt: u32, outcome: GateOutcome) -> Event {
    Event::GatesEnded {
        story: "1-1-login".to_owned(),
        attempt,
        outcome,
        failures: vec!["cargo: login_rejects_empty".to_owned()],
        // Gates that pass only say which of them ran far fewer tests.
        detail: match outcome {
            GateOutcome::Failed => "assertion failed: status 500".to_owned(),
            GateOutcome::Passed | GateOutcome::None => String::new(),
        },
        duration_ms: 1,
    }
}

pub(super) fn with_analysis() -> Pipeline {
    let analyst = agent_step(RunPhase::Analysis, "investigator", Profile::ReadOnly);
    Pipeline { on_failure: Some(Step::Agent(analyst)), ..story() }
}

pub(super) fn party(phase: RunPhase) -> PartyStep {
    PartyStep {
        agent: agent_step(phase, "tech_lead", Profile::ReadOnly),
        personas: vec![persona("ann"), persona("bob")],
        rounds: 2,
        solo: false,
        rules: PartyRules::default(),
    }
}

pub(super) fn voice(persona: &str, round: u32) -> Voice {
    Voice { persona: persona.to_owned(), round }
}

#[test]
fn a_developer_is_shown_the_story() {
    let state = begun(story());
    insta::assert_snapshot!(composed(&state, "1-1-login", None, "unused"));
}

#[test]
fn a_fix_is_shown_findings_and_what_the_gates_printed() {
    let mut state = begun(story());
    state.apply(&phase(RunPhase::Dev, Verdict::Complete));
    state.apply(&gates(1, GateOutcome::Failed));
    insta::assert_snapshot!(composed(&state, "1-1-login", None, "unused"));
}

#[test]
fn a_reviewer_is_shown_the_work_and_the_developers_summary() {
    let mut state = begun(story());
    state.apply(&phase(RunPhase::Dev, Verdict::Complete));
    state.apply(&gates(1, GateOutcome::None));
    insta::assert_snapshot!(composed(&state, "1-1-login", None, "+fn login() {}\n"));
}

#[test]
fn an_analyst_is_shown_how_it_failed_and_what_was_tried() {
    let mut state = begun(with_analysis());
    state.apply(&phase(RunPhase::Dev, Verdict::Failed));
    let mut analysis = ended("1-1-login", RunPhase::Analysis, Some(Verdict::Retry));
    let advice = crate::data::Analysis {
        root_cause: "the port is taken".to_owned(),
        adds: true,
        ..Default::default()
    };
    analysis.contribution.analysis = Some(advice);
    state.apply(&event(analysis));
    // The next developer is shown what the analysis found.
    let dev = composed(&state, "1-1-login", None, "");
    assert!(
        dev.contains("### What earlier attempts taught\n\n```text\nCause: the port is taken\n```"),
        "{dev}"
    );
    let mut second = ended("1-1-login", RunPhase::Dev, Some(Verdict::Failed));
    second.summary = "another failure: no database".to_owned();
    state.apply(&event(second));
    insta::assert_snapshot!(composed(&state, "1-1-login", None, "+fn login() {}\n"));
}

#[test]
fn an_answer_is_passed_on_with_its_question() {
    let mut state = begun(story());
    let mut asks = ended("1-1-login", RunPhase::Dev, Some(Verdict::Escalate));
    asks.summary = "Which port?".to_owned();
    state.apply(&event(asks));
    let parked = Event::Parked {
        story: "1-1-login".to_owned(),
        branch: Some("handover/failed/1-1-login".to_owned()),
    };
    state.apply(&parked);
    let answer =
        Event::Answered { story: "1-1-login".to_owned(), answer: "8080".to_owned(), by: None };
    state.apply(&answer);
    let text = composed(&state, "1-1-login", None, "");
    for part in [
        "### What a person was asked\n\n```text\nWhich port?\n```",
        "### What the person answered\n\n```text\n8080\n```",
        "The folder holds the work so far. Continue it.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("What earlier attempts taught"), "{text}");
}

#[test]
fn a_kickoff_reaches_the_developer() {
    let mut pipeline = story();
    pipeline.steps.insert(0, Step::Party(party(RunPhase::Kickoff)));
    let mut state = begun(pipeline);
    insta::assert_snapshot!(
        "a_voice_of_a_kickoff",
        composed(&state, "1-1-login", Some(&voice("ann", 1)), "")
    );
    for round in [1, 2] {
        for name in ["ann", "bob"] {
            let mut end = ended("1-1-login", RunPhase::Kickoff, Some(Verdict::Complete));
            end.voice = Some(voice(name, round));
            end.summary = format!("{name} says: mind the lock");
            state.apply(&event(end));
        }
    }
    // Two rounds have passed, so a developer is next.
    let text = composed(&state, "1-1-login", None, "");
    assert!(
        text.contains("### Story Kickoff Insights\n\n```text\nImplementation Strategy:\n"),
        "{text}"
    );
    assert!(text.contains("- ann says: mind the lock (ann)"), "{text}");
}

#[test]
fn the_second_round_of_a_review_shows_the_others_findings() {
    let mut pipeline = story();
    pipeline.steps[2] = Step::Party(party(RunPhase::Review));
    let mut state = begun(pipeline);
    state.apply(&phase(RunPhase::Dev, Verdict::Complete));
    state.apply(&gates(1, GateOutcome::None));
    let first = composed(&state, "1-1-login", Some(&voice("ann", 1)), "+x\n");
    assert!(!first.contains("What the others say"), "{first}");
    for (name, text) in [("ann", "no check"), ("bob", "no test")] {
        let mut end = ended("1-1-login", RunPhase::Review, Some(Verdict::Failed));
        end.voice = Some(voice(name, 1));
        end.findings = vec![finding("high", &format!("{name}.rs:1"), text)];
        state.apply(&event(end));
    }
    insta::assert_snapshot!(composed(&state, "1-1-login", Some(&voice("ann", 2)), "+x\n"));
}

#[test]
fn a_second_round_without_findings_says_so() {
    let mut pipeline = story();
    pipeline.steps[2] = Step::Party(party(RunPhase::Review));
    let mut state = begun(pipeline);
    state.apply(&phase(RunPhase::Dev, Verdict::Complete));
    state.apply(&gates(1, GateOutcome::None));
    for (name, verdict) in [("ann", Verdict::Passed), ("bob", Verdict::Failed)] {
        let mut end = ended("1-1-login", RunPhase::Review, Some(verdict));
        end.voice = Some(voice(name, 1));
        state.apply(&event(end));
    }
    let text = composed(&state, "1-1-login", Some(&voice("bob", 2)), "+x\n");
    assert!(
        text.contains("### What the others say\n\n```text\nThey found nothing.\n```"),
        "{text}"
    );
}

#[test]
fn one_agent_plays_a_whole_party() {
    let mut pipeline = story();
    let solo = PartyStep { solo: true, rounds: 1, ..party(RunPhase::Review) };
    pipeline.steps[2] = Step::Party(solo);
    let mut state = begun(pipeline);
    state.apply(&phase(RunPhase::Dev, Verdict::Complete));
    state.apply(&gates(1, GateOutcome::None));
    let text = composed(&state, "1-1-login", Some(&voice(crate::pipeline::EVERYBODY, 1)), "+x\n");
    for part in [
        "You play several people who discuss this.",
        "- ANN, Expert of ann: looks at everything; speaks plain\n",
        "- BOB, Expert of bob: looks at everything; speaks plain\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// A state of a team in which the member with this role is next.
pub(super) fn team_at(codes: &[(RunPhase, &str, TeamStatus, Verdict)]) -> State {
    let mut state = begun(Pipeline::team(Profile::Edit, TestingMode::Full));
    let mut checks = 0;
    for (phase, role, status, verdict) in codes {
        let mut end = ended("1-1-login", *phase, Some(*verdict));
        end.role = Some(Role::new(*role).unwrap());
        end.status = Some(*status);
        end.findings = vec![finding("medium", "a.rs:4", &format!("{role} saw it"))];
        state.apply(&event(end));
        let unit = state.story("1-1-login").unwrap();
        if state.agent_of(unit, None).is_none() {
            checks += 1;
            state.apply(&gates(checks, GateOutcome::Passed));
        }
    }
    state
}

#[test]
fn team_members_are_shown_what_the_others_report() {
    let built = (RunPhase::Dev, "developer", TeamStatus::ReadyForQa, Verdict::Complete);
    let qa = composed(&team_at(&[built]), "1-1-login", None, "+x\n");
    insta::assert_snapshot!("a_teams_qa_expert", qa);
    let passed = (RunPhase::Review, "qa_expert", TeamStatus::Pass, Verdict::Passed);
    let lead = composed(&team_at(&[built, passed]), "1-1-login", None, "+x\n");
    for part in [
        "You work as a tech lead. You lead a team and decide",
        "### What the developer says\n\n```text\nREADY_FOR_QA: dev of 1-1-login\n\nFiles:\nsrc/a.rs\n- [medium] a.rs:4: developer saw it\n```",
        "### What the QA expert says\n\n```text\nPASS: review of 1-1-login",
        "\"status\": \"<APPROVED|APPROVED_WITH_NOTES|CHANGES_REQUESTED|",
        "`<status code>: <story id> - <why>`",
    ] {
        assert!(lead.contains(part), "{part}\n{lead}");
    }
    let stuck = (RunPhase::Dev, "developer", TeamStatus::Blocked, Verdict::Blocked);
    let investigator = composed(&team_at(&[stuck]), "1-1-login", None, "+x\n");
    assert!(investigator.contains("Find out what blocks one story of epic 1"), "{investigator}");
    assert!(!investigator.contains("What the checks printed"), "{investigator}");
}

#[test]
fn only_the_latest_report_of_a_member_is_shown() {
    let built = (RunPhase::Dev, "developer", TeamStatus::ReadyForQa, Verdict::Complete);
    let fails = (RunPhase::Review, "qa_expert", TeamStatus::Fail, Verdict::Failed);
    let again = (RunPhase::Fix, "developer", TeamStatus::ReadyForQa, Verdict::Complete);
    let text = composed(&team_at(&[built, fails, again]), "1-1-login", None, "+x\n");
    assert!(!text.contains("dev of 1-1-login"), "{text}");
    assert_eq!(text.matches("### What the developer says").count(), 1, "{text}");
    assert!(text.contains("fix of 1-1-login"), "{text}");
}

/// An epic whose only story is done and that is closed with these phases.
pub(super) fn closing(phase: RunPhase) -> State {
    let mut pipeline = story();
    pipeline.closing =
        vec![Step::Agent(agent_step(phase, "project_manager", Profile::Edit)), Step::Commit];
    let mut state = begun(pipeline);
    state.apply(&testing::event(ended("1-1-login", RunPhase::Dev, Some(Verdict::Complete))));
    state.apply(&gates(1, GateOutcome::None));
    state.apply(&testing::event(ended("1-1-login", RunPhase::Review, Some(Verdict::Passed))));
    state.apply(&Event::Committed { story: "1-1-login".to_owned(), commit: "c1".to_owned() });
    state.apply(&opened("epic-1"));
    state
}

#[test]
fn a_retrospective_is_shown_how_every_story_went() {
    insta::assert_snapshot!(composed(&closing(RunPhase::Retro), "epic-1", None, ""));
}

#[test]
fn the_author_of_scenarios_gets_the_rules_and_what_was_wrong() {
    let mut state = closing(RunPhase::Uat);
    insta::assert_snapshot!(composed(&state, "epic-1", None, ""));
    let mut retry = ended("epic-1", RunPhase::Uat, Some(Verdict::Retry));
    retry.summary = "scenarios[0].argv: a list of words is expected".to_owned();
    state.apply(&event(retry));
    let text = composed(&state, "epic-1", None, "");
    assert!(
        text.contains(
            "### What was wrong with the scenarios before\n\n```text\n- scenarios[0].argv: a list"
        ),
        "{text}"
    );
}

#[test]
fn a_teams_manager_compares_the_stories_with_the_epic() {
    let mut state = begun(Pipeline::team(Profile::Edit, TestingMode::Full));
    state.apply(&Event::Committed { story: "1-1-login".to_owned(), commit: "c1".to_owned() });
    state.apply(&opened("epic-1"));
    let text = composed(&state, "epic-1", None, "");
    assert!(text.contains("Close epic 1: all of its stories are settled."), "{text}");
    assert!(text.contains("### The epic\n"), "{text}");
    assert!(text.contains("\"status\": \"<BAZINGA|"), "{text}");
}

#[test]
fn every_kind_of_task_says_who_the_agent_is_and_how_to_end() {
    for phase in RunPhase::ALL {
        let step = agent_step(*phase, "developer", Profile::Edit);
        let kind = kind(&step);
        assert!(!kind.who.is_empty() && !kind.what.is_empty(), "{phase}");
        let text = ending("1-1-a", &step, "n9", Path::new("/r.json"));
        assert!(text.contains("`/r.json`") && text.contains("\"nonce\": \"n9\""), "{text}");
        for verdict in allowed(*phase) {
            assert!(text.contains(verdict.as_str()), "{phase}: {verdict}\n{text}");
        }
        assert!(text.contains(kind.signals), "{phase}");
    }
}

#[test]
fn reviewers_see_code_cold_and_who_continues_work_sees_it() {
    use RunPhase::{Analysis, Dev, Fix, Kickoff, Retro, Review, Uat};
    let cold = |phase| kind(&agent_step(phase, "developer", Profile::Edit)).is_cold;
    let sees = |phase| kind(&agent_step(phase, "developer", Profile::Edit)).sees_work;
    assert!(cold(Review));
    assert!([Dev, Fix, Kickoff, Analysis, Retro, Uat].iter().all(|phase| !cold(*phase)));
    assert!(sees(Review) && sees(Analysis) && sees(Fix));
    assert!([Dev, Kickoff, Retro, Uat].iter().all(|phase| !sees(*phase)));
}

#[test]
fn a_role_is_a_team_members_kind_only_in_a_team() {
    let alone = agent_step(RunPhase::Review, "tech_lead", Profile::ReadOnly);
    assert!(kind(&alone).is_cold);
    let member = AgentStep { statuses: vec![(TeamStatus::Approved, Verdict::Passed)], ..alone };
    assert!(!kind(&member).is_cold);
    for role in ["qa_expert", "tech_lead", "investigator", "project_manager"] {
        let step = agent_step(RunPhase::Review, role, Profile::ReadOnly);
        let member = AgentStep { statuses: member.statuses.clone(), ..step };
        assert_ne!(kind(&member).who, review::KIND.who, "{role}");
    }
}

#[test]
fn data_cannot_close_its_fence_and_is_cut() {
    let mut out = String::new();
    section(&mut out, "Data", "text", "a\n````\n## Fake\n```", 100);
    assert_eq!(out, "### Data\n\n`````text\na\n````\n## Fake\n```\n`````\n\n");
    let mut out = String::new();
    section(&mut out, "Data", "text", &"word ".repeat(100), 50);
    assert!(out.contains("(Truncated; read the files.)\n"), "{out}");
    let mut out = String::new();
    section(&mut out, "Data", "text", "short  \n\n", 50);
    assert_eq!(out, "### Data\n\n```text\nshort\n```\n\n");
}

#[test]
fn findings_are_a_list() {
    let list =
        [finding("high", "a.rs:1", "broken"), finding("", "", "odd"), finding("", "b.rs", "x")];
    assert_eq!(findings(&list), "- [high] a.rs:1: broken\n- odd\n- b.rs: x\n");
    assert_eq!(findings(&[]), "");
}

#[test]
fn a_voice_asks_for_the_fields_of_its_round() {
    let step = |phase: RunPhase, round: u32| AgentStep {
        voice: Some(voice("ann", round)),
        ..agent_step(phase, "tech_lead", Profile::ReadOnly)
    };
    assert!(!fields(&step(RunPhase::Review, 1)).contains("stances"));
    assert!(fields(&step(RunPhase::Review, 2)).contains("stances"));
    assert!(fields(&step(RunPhase::Kickoff, 1)).contains("\"insights\": {\"architecture\""));
    assert!(fields(&step(RunPhase::Analysis, 1)).contains("\"root_cause\""));
    // A single reviewer has no kinds of findings to name, a single analyst has an analysis.
    let alone = |phase| agent_step(phase, "tech_lead", Profile::ReadOnly);
    assert!(!fields(&alone(RunPhase::Review)).contains("\"kind\""));
    assert!(fields(&alone(RunPhase::Analysis)).contains("\"root_cause\""));
    assert!(fields(&alone(RunPhase::Dev)).contains("for_reviewer"));
}
