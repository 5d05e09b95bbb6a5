//! Pipelines as data: steps, permissions, parties and how an epic is closed.

use handover_engine::data::{Lesson, Retro, Spent, kind_of, severity_of};
use handover_engine::pipeline::{
    Closing, EVERYBODY, PartyRules, PartyStep, Pipeline, Step, Transition, UatStep, agent_step,
};
use handover_model::{
    FindingKind, Phase, Profile, Role, RunPhase, Severity, TeamStatus, TestingMode, UatGate,
};

fn phases(steps: &[Step]) -> Vec<String> {
    steps
        .iter()
        .map(|step| match step {
            Step::Agent(agent) => agent.phase.to_string(),
            Step::Party(party) => format!("party {}", party.agent.phase),
            Step::Gates => "gates".to_owned(),
            Step::Uat(_) => "scenarios".to_owned(),
            Step::Commit => "commit".to_owned(),
        })
        .collect()
}

fn profile(pipeline: &Pipeline, phase: RunPhase) -> Profile {
    let agents = pipeline.steps.iter().filter_map(|step| match step {
        Step::Agent(agent) => Some(agent),
        Step::Party(_) | Step::Gates | Step::Uat(_) | Step::Commit => None,
    });
    agents.chain([&pipeline.fix]).find(|agent| agent.phase == phase).unwrap().profile
}

#[test]
fn a_story_is_developed_checked_reviewed_and_committed() {
    let pipeline = Pipeline::story(true, Profile::Full);
    assert_eq!(phases(&pipeline.steps), ["dev", "gates", "review", "commit"]);
    assert_eq!(pipeline.steps[pipeline.after_fix], Step::Gates);
    assert_eq!(profile(&pipeline, RunPhase::Dev), Profile::Full);
    assert_eq!(profile(&pipeline, RunPhase::Fix), Profile::Full);
    assert_eq!(profile(&pipeline, RunPhase::Review), Profile::ReadOnly);
    let pipeline = Pipeline::story(false, Profile::Edit);
    assert_eq!(phases(&pipeline.steps), ["dev", "gates", "commit"]);
    assert!(pipeline.closing.is_empty() && !pipeline.keeps_closing());
}

#[test]
fn closing_steps_come_in_a_fixed_order() {
    let closed =
        |closing| phases(&Pipeline::story(true, Profile::Edit).closed_with(closing).closing);
    let uat = |heal| Some(UatStep { gate: UatGate::Quick, heal });
    assert!(closed(Closing::default()).is_empty());
    assert!(closed(Closing { commit: true, ..Closing::default() }).is_empty(), "nothing to commit");
    let all = Closing { generate: true, uat: uat(0), retro: true, commit: true };
    assert_eq!(closed(all), ["uat", "scenarios", "retro", "commit"]);
    // Fixes pass the gates before the scenarios run again.
    let healing = Closing { uat: uat(2), ..all };
    assert_eq!(closed(healing), ["uat", "gates", "scenarios", "retro", "commit"]);
    let pipeline = Pipeline::story(true, Profile::Edit).closed_with(healing);
    assert_eq!(pipeline.uat().unwrap().heal, 2);
    assert!(pipeline.closes_with(RunPhase::Retro) && !pipeline.closes_with(RunPhase::Dev));
    assert!(pipeline.keeps_closing());
}

#[test]
fn a_teams_manager_closes_last_and_writes_no_retrospective() {
    let team = Pipeline::team(Profile::Edit, TestingMode::Full);
    assert!(!team.closes_with(RunPhase::Retro));
    let closing = Closing { retro: true, commit: true, ..Closing::default() };
    let closed = team.closed_with(closing);
    assert_eq!(phases(&closed.closing), ["retro", "retro", "commit"]);
    let Step::Agent(last) = &closed.closing[1] else { panic!() };
    assert!(!last.statuses.is_empty(), "the manager");
    assert!(closed.closes_with(RunPhase::Retro));
}

#[test]
fn without_full_testing_there_is_no_qa() {
    let next = |testing, status| {
        let team = Pipeline::team(Profile::Edit, testing);
        let flow = team.flow.unwrap();
        flow.rule(&Role::new("developer").unwrap(), Some(status)).clone()
    };
    let check = |name: &str| Transition::Check { next: name.to_owned() };
    assert_eq!(next(TestingMode::Full, TeamStatus::ReadyForQa), check("qa_expert"));
    assert_eq!(next(TestingMode::Minimal, TeamStatus::ReadyForQa), check("tech_lead"));
    assert_eq!(next(TestingMode::Full, TeamStatus::ReadyForReview), check("tech_lead"));
}

#[test]
fn an_unknown_status_counts_as_unclear() {
    let team = Pipeline::team(Profile::Edit, TestingMode::Full);
    let flow = team.flow.unwrap();
    let role = |name: &str| Role::new(name).unwrap();
    // A developer cannot approve.
    let unclear = flow.rule(&role("developer"), None);
    assert_eq!(flow.rule(&role("developer"), Some(TeamStatus::Approved)), unclear);
    assert_eq!(*unclear, Transition::Rework);
    assert_eq!(*flow.rule(&role("tech_lead"), None), Transition::Again);
    assert_eq!(*flow.rule(&role("stranger"), None), Transition::Rework);
    assert_eq!(flow.position("nobody"), None);
}

fn party(personas: &[&str], solo: bool) -> PartyStep {
    PartyStep {
        agent: agent_step(RunPhase::Review, "tech_lead", Profile::Edit),
        personas: crate::reducer::personas(personas),
        rounds: 2,
        solo,
        rules: PartyRules::default(),
    }
}

#[test]
fn a_voice_never_has_more_rights_than_its_party() {
    let mut party = party(&["ann", "bob"], false);
    party.personas[0].permissions = Profile::Full;
    assert_eq!(party.voice("ann", 1).profile, Profile::Edit);
    assert_eq!(party.voice("bob", 1).profile, Profile::ReadOnly);
    assert_eq!(party.voice("stranger", 1).profile, Profile::ReadOnly);
    assert_eq!(party.voice("ann", 2).voice.unwrap().round, 2);
}

#[test]
fn the_widest_step_decides_how_many_agents_work_at_once() {
    let mut pipeline = Pipeline::story(true, Profile::Edit);
    assert_eq!(pipeline.widest(), 1);
    pipeline.on_failure = Some(Step::Party(party(&["a", "b", "c"], false)));
    assert_eq!(pipeline.widest(), 3);
    pipeline.on_failure = Some(Step::Party(party(&["a", "b", "c"], true)));
    assert_eq!(pipeline.widest(), 1, "one agent plays them all");
    assert_eq!(party(&["a", "b"], true).speakers(), [EVERYBODY]);
    assert_eq!(party(&["b", "a"], false).speakers(), ["b", "a"]);
}

#[test]
fn roles_are_found_by_phase() {
    let pipeline = Pipeline::story(true, Profile::Edit);
    let role = |phase| pipeline.role_in(phase).map(ToString::to_string);
    assert_eq!(role(RunPhase::Dev).as_deref(), Some("developer"));
    assert_eq!(role(RunPhase::Review).as_deref(), Some("tech_lead"));
    assert_eq!(role(RunPhase::Fix).as_deref(), Some("developer"));
    assert_eq!(role(RunPhase::Retro), None);
}

#[test]
fn pipelines_survive_the_journal() {
    let mut story = Pipeline::story(true, Profile::Edit);
    story.on_failure = Some(Step::Party(party(&["a"], false)));
    for pipeline in [story, Pipeline::team(Profile::Edit, TestingMode::Full)] {
        let json = serde_json::to_string(&pipeline).unwrap();
        assert_eq!(serde_json::from_str::<Pipeline>(&json).unwrap(), pipeline);
    }
}

#[test]
fn reviewers_words_have_a_severity_and_a_kind() {
    for (word, severity) in [
        ("CRITICAL", Severity::High),
        ("p1", Severity::High),
        ("nit", Severity::Low),
        ("info", Severity::Low),
        ("medium", Severity::Medium),
        ("whatever", Severity::Medium),
    ] {
        assert_eq!(severity_of(word), severity, "{word}");
    }
    for (word, kind) in [
        ("security", FindingKind::Security),
        ("bug", FindingKind::Correctness),
        ("Error-Handling", FindingKind::ErrorHandling),
        ("readability", FindingKind::Style),
        ("speed", FindingKind::Performance),
        ("comments", FindingKind::Docs),
        ("architecture", FindingKind::Design),
        ("?", FindingKind::Other),
    ] {
        assert_eq!(kind_of(word), kind, "{word}");
    }
}

#[test]
fn lessons_are_completed_by_facts_where_agents_said_nothing() {
    let said = Retro { gotchas: vec![Lesson::new("UTC")], ..Retro::default() };
    let facts = Retro {
        summary: "1 of 1".to_owned(),
        gotchas: vec![Lesson::new("from the journal")],
        went_well: vec![Lesson::new("done")],
        actions: vec![Lesson::new("never a fact")],
        ..Retro::default()
    };
    let whole = said.completed_by(facts);
    assert_eq!(whole.summary, "1 of 1");
    assert_eq!(whole.gotchas, [Lesson::new("UTC")]);
    assert_eq!(whole.went_well, [Lesson::new("done")]);
    assert!(whole.actions.is_empty());
    assert!(Retro::default().is_empty() && !whole.is_empty());
}

#[test]
fn lessons_become_strategies_of_their_phase() {
    let lesson = Lesson {
        text: "Errors are enums.".to_owned(),
        why: "one per module".to_owned(),
        ..Lesson::default()
    };
    assert_eq!(lesson.line(), "Errors are enums: one per module");
    let retro = Retro {
        patterns: vec![lesson],
        decisions: vec![Lesson::new("SQLite")],
        test_conventions: vec![Lesson::new("real files")],
        gotchas: vec![Lesson::new("not a strategy")],
        ..Retro::default()
    };
    let strategies = retro.strategies();
    let phases: Vec<Phase> = strategies.iter().map(|(phase, _)| *phase).collect();
    assert_eq!(phases, [Phase::Completion, Phase::Decisions, Phase::Approach]);
    assert_eq!(strategies[1].1, "SQLite");
}

#[test]
fn sums_do_not_overflow() {
    let most =
        Spent { cost_usd: 1.5, unpriced: 0, tokens: u64::MAX, turns: 1, duration_ms: u64::MAX };
    let sum: Spent = [most, most].into_iter().sum();
    assert_eq!((sum.tokens, sum.turns, sum.duration_ms), (u64::MAX, 2, u64::MAX));
    assert!((sum.cost_usd - 3.0).abs() < 1e-9);
}
