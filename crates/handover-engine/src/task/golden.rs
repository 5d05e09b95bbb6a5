//! The whole prompt of every kind of agent that the other tests do not show. Read them aloud after a change.

use handover_model::{Profile, RunPhase, TeamStatus, Verdict};

use super::tests::{begun, closing, composed, gates, party, phase, team_at, voice};
use super::*;
use crate::data::{Analysis, Contribution, Lesson, Retro, ScenarioResult, Topic};
use crate::pipeline::{EVERYBODY, Pipeline, Step, UatStep, agent_step};
use crate::reducer::{Event, GateOutcome, PhaseEnd, Skip};
use crate::testing::{ended, event, finding, opened, start, story};

const STORY: &str = "1-1-login";

fn said(phase: RunPhase, verdict: Verdict, summary: &str) -> PhaseEnd {
    PhaseEnd { summary: summary.to_owned(), ..ended(STORY, phase, Some(verdict)) }
}

fn committed(id: &str) -> Event {
    Event::Committed { story: id.to_owned(), commit: format!("commit of {id}") }
}

/// Another story has changed the same lines, and its agents have fixed it before.
#[test]
fn a_conflict_with_another_story() {
    let mut state = start(story(), &["1-1-login", "1-2-logout"]);
    for id in [STORY, "1-2-logout"] {
        state.apply(&opened(id));
        let mut dev = ended(id, RunPhase::Dev, Some(Verdict::Complete));
        dev.notes.decisions = vec![format!("one session for {id}")];
        state.apply(&event(dev));
        state.apply(&Event::GatesEnded {
            story: id.to_owned(),
            attempt: 1,
            outcome: GateOutcome::Passed,
            failures: Vec::new(),
            detail: String::new(),
            duration_ms: 1,
        });
        state.apply(&event(ended(id, RunPhase::Review, Some(Verdict::Passed))));
    }
    state.apply(&committed("1-2-logout"));
    state.apply(&Event::Rebased {
        story: STORY.to_owned(),
        base: "commit of 1-2-logout".to_owned(),
        tree: "merged".to_owned(),
        conflicts: vec!["src/a.rs".to_owned()],
    });
    let text = composed(&state, STORY, None, "+<<<<<<<\n");
    assert_eq!(text.matches("1-2-logout: Title of 1-2-logout").count(), 1, "told once: {text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_developer_whose_question_was_answered() {
    let mut state = begun(story());
    state.apply(&event(said(RunPhase::Dev, Verdict::Escalate, "Which port?")));
    state.apply(&Event::Parked {
        story: STORY.to_owned(),
        branch: Some("handover/failed/1-1-login".to_owned()),
    });
    state.apply(&Event::Answered { story: STORY.to_owned(), answer: "8080".to_owned(), by: None });
    insta::assert_snapshot!(composed(&state, STORY, None, ""));
}

/// A later run: 1-2 was done by an earlier one, and what it recorded is known.
#[test]
fn a_developer_after_an_earlier_run() {
    let mut plan = crate::testing::plan(story(), &["1-1-login", "1-2-logout"]);
    plan.stories[1].skip = Some(Skip::Done);
    plan.stories[1].done = Some(crate::data::Account {
        built: vec!["Logging out.".to_owned(), "Also in other windows.".to_owned()],
        notes: WorkNotes {
            decisions: vec!["sessions are rows".to_owned()],
            tests: vec!["logs_out_everywhere".to_owned()],
            for_reviewer: Vec::new(),
        },
        files: vec!["src/session.rs".to_owned()],
        review: "Good.".to_owned(),
    });
    let options = Box::new(crate::testing::options());
    let mut state = State::start(&Event::Started { plan: Box::new(plan), options }).unwrap();
    state.apply(&opened(STORY));
    insta::assert_snapshot!(composed(&state, STORY, None, ""));
}

/// What the developer said stays known after a fix that says nothing.
#[test]
fn a_second_review_after_a_silent_fix() {
    let mut state = begun(story());
    let mut dev = said(RunPhase::Dev, Verdict::Complete, "A form.");
    dev.notes.decisions = vec!["no library".to_owned()];
    dev.notes.tests = vec!["rejects_empty".to_owned()];
    state.apply(&event(dev));
    state.apply(&gates(1, GateOutcome::Passed));
    let mut review = said(RunPhase::Review, Verdict::Failed, "No limit.");
    review.findings = vec![finding("high", "src/a.rs:3", "no limit")];
    state.apply(&event(review));
    state.apply(&event(said(RunPhase::Fix, Verdict::Complete, "")));
    state.apply(&gates(2, GateOutcome::Passed));
    let text = composed(&state, STORY, None, "+fn login() {}\n");
    assert!(text.contains("A form.") && text.contains("rejects_empty"), "{text}");
    insta::assert_snapshot!(text);
    assert!(known::told(state.story(STORY).unwrap()).contains("Decided: no library"));
}

#[test]
fn a_fix_of_scenarios() {
    let mut pipeline = story();
    let uat = UatStep { gate: handover_model::UatGate::Quick, heal: 1 };
    pipeline.closing = vec![Step::Gates, Step::Uat(uat), Step::Commit];
    let mut state = begun(pipeline);
    state.apply(&phase(RunPhase::Dev, Verdict::Complete));
    state.apply(&gates(1, GateOutcome::Passed));
    state.apply(&phase(RunPhase::Review, Verdict::Passed));
    state.apply(&committed(STORY));
    state.apply(&opened("epic-1"));
    state.apply(&Event::GatesEnded {
        story: "epic-1".to_owned(),
        attempt: 1,
        outcome: GateOutcome::Passed,
        failures: Vec::new(),
        detail: String::new(),
        duration_ms: 1,
    });
    state.apply(&Event::UatEnded {
        story: "epic-1".to_owned(),
        attempt: 1,
        gate: handover_model::UatGate::Quick,
        results: vec![ScenarioResult {
            id: "UAT-1".to_owned(),
            criterion: "1-1-login AC1".to_owned(),
            kind: handover_model::ScenarioKind::Auto,
            outcome: handover_model::ScenarioOutcome::Failed,
            reason: "it did not print `welcome`".to_owned(),
            tail: "hello".to_owned(),
            duration_ms: 5,
        }],
        problem: None,
        tree: "tree".to_owned(),
        duration_ms: 5,
    });
    insta::assert_snapshot!(composed(&state, "epic-1", None, "+fn login() {}\n"));
}

#[test]
fn one_agent_that_plays_a_party() {
    let mut pipeline = story();
    pipeline.steps[2] = Step::Party(PartyStep { solo: true, rounds: 1, ..party(RunPhase::Review) });
    let mut state = begun(pipeline);
    state.apply(&phase(RunPhase::Dev, Verdict::Complete));
    state.apply(&gates(1, GateOutcome::Passed));
    insta::assert_snapshot!(composed(&state, STORY, Some(&voice(EVERYBODY, 1)), "+x\n"));
}

fn of_voice(name: &str, end: PhaseEnd) -> Event {
    event(PhaseEnd { voice: Some(voice(name, 1)), ..end })
}

#[test]
fn a_voice_of_an_analysis() {
    let pipeline = Pipeline { on_failure: Some(Step::Party(party(RunPhase::Analysis))), ..story() };
    let mut state = begun(pipeline);
    state.apply(&event(said(RunPhase::Dev, Verdict::Failed, "the port is taken")));
    insta::assert_snapshot!(
        "analysis_round_1",
        composed(&state, STORY, Some(&voice("ann", 1)), "+x\n")
    );
    for (name, cause) in [("ann", "another server runs"), ("bob", "the port is fixed")] {
        let mut end = said(RunPhase::Analysis, Verdict::Retry, "try again");
        end.contribution.analysis = Some(Analysis {
            root_cause: cause.to_owned(),
            remediation: vec![format!("{name} would choose a free port")],
            adds: true,
            ..Analysis::default()
        });
        state.apply(&of_voice(name, end));
    }
    insta::assert_snapshot!(
        "analysis_round_2",
        composed(&state, STORY, Some(&voice("ann", 2)), "+x\n")
    );
}

/// In the second round a voice sees its own lessons and those of the others.
#[test]
fn a_voice_of_a_retrospective() {
    let mut state = closing(RunPhase::Retro);
    state.plan.pipeline.closing =
        vec![Step::Party(PartyStep { rounds: 2, ..party(RunPhase::Retro) }), Step::Commit];
    insta::assert_snapshot!(
        "retro_round_1",
        composed(&state, "epic-1", Some(&voice("ann", 1)), "")
    );
    for name in ["ann", "bob"] {
        let mut end = ended("epic-1", RunPhase::Retro, Some(Verdict::Complete));
        end.voice = Some(voice(name, 1));
        let lesson = |text: &str| Lesson::new(format!("{text} of {name}"));
        end.retro = Some(Box::new(Retro {
            went_well: vec![lesson("success")],
            gotchas: vec![Lesson { file: "src/a.rs".to_owned(), ..lesson("gotcha") }],
            ..Retro::default()
        }));
        state.apply(&event(end));
    }
    let text = composed(&state, "epic-1", Some(&voice("ann", 2)), "");
    for part in ["- Gotcha: gotcha of ann (src/a.rs)", "- Gotcha: gotcha of bob (src/a.rs)"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    insta::assert_snapshot!("retro_round_2", text);
}

#[test]
fn the_second_round_of_a_kickoff() {
    let mut pipeline = story();
    pipeline.steps.insert(0, Step::Party(party(RunPhase::Kickoff)));
    let mut state = begun(pipeline);
    for name in ["ann", "bob"] {
        let mut end = said(RunPhase::Kickoff, Verdict::Complete, &format!("{name} has looked"));
        let notes = [(Topic::Risks, vec![format!("a risk that {name} sees")])];
        end.contribution = Contribution { notes: notes.into(), ..Contribution::default() };
        state.apply(&of_voice(name, end));
    }
    insta::assert_snapshot!(composed(&state, STORY, Some(&voice("ann", 2)), ""));
}

#[test]
fn every_member_of_a_team() {
    let built = (RunPhase::Dev, "developer", TeamStatus::ReadyForQa, Verdict::Complete);
    let passed = (RunPhase::Review, "qa_expert", TeamStatus::Pass, Verdict::Passed);
    let harder = (RunPhase::Dev, "developer", TeamStatus::EscalateSenior, Verdict::Escalate);
    let stuck = (RunPhase::Dev, "developer", TeamStatus::SpawnInvestigator, Verdict::Blocked);
    let member = |codes: &[_]| composed(&team_at(codes), STORY, None, "+x\n");
    insta::assert_snapshot!("team_developer", member(&[]));
    insta::assert_snapshot!("team_senior", member(&[harder]));
    insta::assert_snapshot!("team_lead", member(&[built, passed]));
    insta::assert_snapshot!("team_investigator", member(&[stuck]));
    let mut state = begun(Pipeline::team(Profile::Edit, handover_model::TestingMode::Full));
    state.apply(&committed(STORY));
    state.apply(&opened("epic-1"));
    insta::assert_snapshot!("team_manager", composed(&state, "epic-1", None, ""));
}

/// An earlier run did not finish the story, and its kickoff still holds.
#[test]
fn a_developer_after_an_earlier_run_failed() {
    let mut plan = crate::testing::plan(story(), &[STORY]);
    plan.stories[0].earlier = Some(crate::data::Earlier {
        branch: "handover/failed/1-1-login".to_owned(),
        reason: "review 2: no limit on attempts".to_owned(),
        kickoff: Some("Identified Risks:\n- passwords in logs (ann)\n".to_owned()),
        records: "review 2 failed:\n- [high] src/a.rs:3: no limit on attempts\n".to_owned(),
    });
    let options = Box::new(crate::testing::options());
    let mut state = State::start(&Event::Started { plan: Box::new(plan), options }).unwrap();
    state.apply(&opened(STORY));
    insta::assert_snapshot!(composed(&state, STORY, None, ""));
}

/// The voices of a kickoff have looked, the first attempt has failed, and an analyst has said why.
#[test]
fn a_developer_after_a_kickoff_and_a_failed_attempt() {
    let mut pipeline = super::tests::with_analysis();
    pipeline.steps.insert(0, Step::Party(PartyStep { rounds: 1, ..party(RunPhase::Kickoff) }));
    let mut state = begun(pipeline);
    for (name, topic) in [("ann", Topic::Risks), ("bob", Topic::Testing)] {
        let mut end = said(RunPhase::Kickoff, Verdict::Complete, "I have looked");
        let notes = [(topic, vec![format!("what {name} would mind")])];
        end.contribution = Contribution { notes: notes.into(), ..Contribution::default() };
        state.apply(&of_voice(name, end));
    }
    state.apply(&event(said(RunPhase::Dev, Verdict::Failed, "the port is taken")));
    let mut analysis = said(RunPhase::Analysis, Verdict::Retry, "try another port");
    analysis.contribution.analysis = Some(Analysis {
        root_cause: "another server runs".to_owned(),
        remediation: vec!["choose a free port".to_owned()],
        adds: true,
        ..Analysis::default()
    });
    state.apply(&event(analysis));
    insta::assert_snapshot!(composed(&state, STORY, None, ""));
}

/// The developer changed how its work is tested, and one test fails without the work.
#[test]
fn a_reviewer_of_changed_tests() {
    let mut state = begun(story());
    state.apply(&Event::BaseChecked {
        failing: vec!["cargo: clock_is_right".to_owned()],
        variables: Vec::new(),
        duration_ms: 1,
    });
    let mut dev = said(RunPhase::Dev, Verdict::Complete, "A form.");
    dev.test_setup = vec!["Cargo.toml: `[lib] test` is now false".to_owned()];
    state.apply(&event(dev));
    state.apply(&gates(1, GateOutcome::Passed));
    insta::assert_snapshot!(composed(&state, STORY, None, "+test = false\n"));
}

#[test]
fn a_reviewer_in_a_project_without_checks() {
    let mut state = begun(story());
    state.apply(&event(said(RunPhase::Dev, Verdict::Complete, "A form.")));
    state.apply(&gates(1, GateOutcome::None));
    insta::assert_snapshot!(super::tests::checked_by(&[], &state, STORY, None, "+fn login() {}\n"));
}

#[test]
fn the_author_of_scenarios_that_were_wrong() {
    let mut state = closing(RunPhase::Uat);
    let mut retry = ended("epic-1", RunPhase::Uat, Some(Verdict::Retry));
    retry.summary = "scenarios[0].argv: a list of words is expected".to_owned();
    state.apply(&event(retry));
    insta::assert_snapshot!(composed(&state, "epic-1", None, ""));
}

#[test]
fn an_agent_that_forgot_its_verdict() {
    let step = agent_step(RunPhase::Dev, "developer", Profile::Edit);
    insta::assert_snapshot!(reminder(STORY, &step, "n1", Path::new("/run/result.json")));
}

/// Those who may run what they judge are told so, and the others are not told the opposite.
#[test]
fn a_prompt_does_not_contradict_its_permissions() {
    let built = (RunPhase::Dev, "developer", TeamStatus::ReadyForQa, Verdict::Complete);
    let passed = (RunPhase::Review, "qa_expert", TeamStatus::Pass, Verdict::Passed);
    let stuck = (RunPhase::Dev, "developer", TeamStatus::SpawnInvestigator, Verdict::Blocked);
    for (codes, runs, result) in [
        (&[built][..], true, "They have passed."),
        (&[built, passed], false, "They have passed."),
        (&[stuck], true, "They have not run on it."),
    ] {
        let state = team_at(codes);
        let step = state.agent_of(state.story(STORY).unwrap(), None).unwrap();
        assert_eq!(step.profile != Profile::ReadOnly, runs, "{}", step.role);
        assert!(!step.keeps_changes(), "{}", step.role);
        let text = composed(&state, STORY, None, "+x\n");
        assert_eq!(text.contains("You may only read"), !runs, "{text}");
        assert_eq!(text.contains("You cannot run anything yourself"), !runs, "{text}");
        let checks = format!("These commands check the work: `cargo test`. {result}");
        assert!(text.contains(&checks), "{text}");
    }
    assert!(agent_step(RunPhase::Fix, "developer", Profile::Edit).keeps_changes());
}
