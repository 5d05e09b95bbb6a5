use super::*;
use crate::pipeline::Step;
use crate::plan::preview::first_agents;
use crate::reducer::{Options, UnitKind};
use crate::testing;
use handover_model::{Host, Profile, RunPhase, TestingMode};

fn request() -> RunRequest {
    RunRequest {
        epic: EpicId::new("1").unwrap(),
        session: None,
        resume: false,
        abandon: false,
        start_from: None,
        all: false,
        check_base: false,
        close: false,
        pipeline: testing::story(),
        only_closing: false,
        from: None,
        defaults: testing::options(),
        overrides: Overrides::default(),
    }
}

fn starts(word: &str, id: &str, number: Option<u64>) -> bool {
    is_start(id, number, &RunRequest { start_from: Some(word.to_owned()), ..request() })
}

#[test]
fn a_story_is_named_by_its_id_or_by_numbers() {
    for word in ["1-2-login", "2", "1.2", "1-2", "story-1-2", "story-1.2"] {
        assert!(starts(word, "1-2-login", Some(2)), "{word}");
    }
    for word in ["3", "2.2", "2-2", "1-3", "login", "", "1-2-log", "x-1-2"] {
        assert!(!starts(word, "1-2-login", Some(2)), "{word}");
    }
    // A story without a number can only be named by its id.
    assert!(starts("intro", "intro", None));
    assert!(!starts("1", "intro", None));
    assert!(is_start("any", None, &request()), "without a wish every story is the start");
}

#[test]
fn the_group_of_a_story_is_derived_from_its_id() {
    let group = |story: &str| group_of(story).unwrap().to_string();
    assert_eq!(group("1-2-login"), "1-2-login");
    assert_eq!(group("epic-1"), "epic-1");
    let exact = "x".repeat(64);
    assert_eq!(group(&exact), exact);
    let long = group(&"x".repeat(65));
    assert_eq!(long.len(), 64, "{long}");
    assert!(long.starts_with(&"x".repeat(55)) && long != group(&"x".repeat(66)));
    // Any id becomes a valid group, and different ids become different groups.
    let odd = ["a b", "a/b", "ä", "_x", "x.lock"];
    let groups: std::collections::BTreeSet<String> = odd.iter().map(|id| group(id)).collect();
    assert_eq!(groups.len(), odd.len(), "{groups:?}");
}

#[test]
fn the_runs_of_an_epic_share_a_session() {
    assert_eq!(own_session(&EpicId::new("7").unwrap()).unwrap().as_str(), "epic-7");
}

fn overridden(overrides: Overrides) -> Options {
    RunRequest { overrides, ..request() }.options()
}

#[test]
fn each_option_can_be_overridden_alone() {
    let plain = testing::options();
    assert_eq!(overridden(Overrides::default()), plain);
    let host = Some((Host::COMMAND, Some("agent".to_owned())));
    let changed = overridden(Overrides { host, ..Overrides::default() });
    assert_eq!(changed, Options { command: Some("agent".to_owned()), ..plain.clone() });
    let changed = overridden(Overrides { model: Some("m".into()), ..Overrides::default() });
    assert_eq!(changed, Options { model: Some("m".to_owned()), ..plain.clone() });
    let changed = overridden(Overrides { no_commit: true, ..Overrides::default() });
    assert_eq!(changed, Options { no_commit: true, ..plain.clone() });
    let changed = overridden(Overrides { merge: true, ..Overrides::default() });
    assert_eq!(changed, Options { merge: true, ..plain.clone() });
    let changed = overridden(Overrides { parallel: Some(4), ..Overrides::default() });
    assert_eq!(changed, Options { parallel: 4, ..plain.clone() });
    let changed = overridden(Overrides { phase_timeout: Some(9), ..Overrides::default() });
    assert_eq!(changed, Options { phase_timeout: 9, ..plain.clone() });
    let changed = overridden(Overrides { idle_timeout: Some(8), ..Overrides::default() });
    assert_eq!(changed, Options { idle_timeout: 8, ..plain.clone() });
    let changed = overridden(Overrides { max_fixes: Some(7), ..Overrides::default() });
    assert_eq!(changed, Options { max_fixes: 7, ..plain.clone() });
    let changed = overridden(Overrides { uat_blocking: true, ..Overrides::default() });
    assert_eq!(changed, Options { uat_blocking: true, ..plain });
    let changed = overridden(Overrides { max_cost: Some(2.5), ..Overrides::default() });
    assert_eq!(changed.budget.run.usd, Some(2.5));
}

#[test]
fn a_resumed_run_keeps_its_options_and_takes_the_current_budget() {
    let mut before = testing::options();
    before.max_fixes = 9;
    before.command = Some("agent".to_owned());
    before.budget.run.usd = Some(1.0);
    before.budget.run.tokens = Some(5);
    let mut request = request();
    request.defaults.budget.run.turns = Some(3);
    let resumed = request.resumed(&before).unwrap();
    assert_eq!((resumed.max_fixes, resumed.command.as_deref()), (9, Some("agent")));
    // Money once granted stays granted; other limits are the current ones.
    assert_eq!(resumed.budget.run.usd, Some(1.0));
    assert_eq!((resumed.budget.run.tokens, resumed.budget.run.turns), (None, Some(3)));
    request.defaults.budget.run.usd = Some(2.0);
    assert_eq!(request.resumed(&before).unwrap().budget.run.usd, Some(2.0));
    request.overrides.max_cost = Some(3.0);
    assert_eq!(request.resumed(&before).unwrap().budget.run.usd, Some(3.0));
}

#[test]
fn a_redacted_command_must_be_named_again() {
    let mut before = testing::options();
    before.command = Some("agent --key [REDACTED-1]".to_owned());
    let mut request = request();
    let error = request.resumed(&before).unwrap_err();
    assert!(matches!(error, EngineError::RedactedCommand), "{error}");
    request.overrides.host = Some((Host::COMMAND, Some("agent".to_owned())));
    assert_eq!(request.resumed(&before).unwrap().command.as_deref(), Some("agent"));
}

#[test]
fn a_preview_shows_the_agents_of_a_run_without_failures() {
    let phases = |pipeline: &crate::pipeline::Pipeline, kind| -> Vec<(RunPhase, Option<String>)> {
        let agents = first_agents(pipeline, kind);
        let voice = |step: &crate::pipeline::AgentStep| {
            step.voice.as_ref().map(|voice| format!("{} {}", voice.persona, voice.round))
        };
        agents.into_iter().map(|(step, _)| (step.phase, voice(&step))).collect()
    };
    let mut story = testing::story();
    let reviewed = vec![(RunPhase::Dev, None), (RunPhase::Review, None)];
    assert_eq!(phases(&story, UnitKind::Story), reviewed);
    assert_eq!(phases(&story, UnitKind::Closing), []);
    story.steps[2] = Step::Party(crate::pipeline::PartyStep {
        agent: crate::pipeline::agent_step(RunPhase::Review, "tech_lead", Profile::ReadOnly),
        personas: vec![testing::persona("ann"), testing::persona("bob")],
        rounds: 2,
        solo: false,
        rules: crate::pipeline::PartyRules::default(),
    });
    assert_eq!(
        phases(&story, UnitKind::Story),
        [
            (RunPhase::Dev, None),
            (RunPhase::Review, Some("ann 1".to_owned())),
            (RunPhase::Review, Some("bob 1".to_owned())),
        ]
    );
    let team = crate::pipeline::Pipeline::team(Profile::Edit, TestingMode::Full);
    let roles: Vec<String> = first_agents(&team, UnitKind::Story)
        .into_iter()
        .map(|(step, _)| format!("{} {}", step.phase, step.role))
        .collect();
    assert_eq!(
        roles,
        [
            "dev developer",
            "fix developer",
            "fix senior_software_engineer",
            "review qa_expert",
            "review tech_lead",
            "analysis investigator",
        ]
    );
    let analyst = crate::pipeline::agent_step(RunPhase::Analysis, "tech_lead", Profile::ReadOnly);
    let analyzed =
        crate::pipeline::Pipeline { on_failure: Some(Step::Agent(analyst)), ..testing::story() };
    assert_eq!(phases(&analyzed, UnitKind::Story).last(), Some(&(RunPhase::Analysis, None)));
    assert_eq!(phases(&team, UnitKind::Closing), [(RunPhase::Retro, None)]);
}
