//! Whole runs with pipelines of any shape: real git, real processes, a real store.

use handover_engine::party::Parties;
use handover_engine::pipeline::{PartyRules, PartyStep, Pipeline, Step, agent_step};
use handover_model::config::PartyConfig;
use handover_model::{PartyPhase, Profile, RunPhase, RunState, StoryState};

use crate::stage::{GOOD, Stage};

fn party(of: RunPhase, personas: &[&str]) -> Step {
    Step::Party(PartyStep {
        agent: agent_step(of, "tech_lead", Profile::ReadOnly),
        personas: crate::reducer::personas(personas),
        rounds: 2,
        solo: false,
        rules: PartyRules::default(),
    })
}

/// Each voice waits for all others of its round, so they must run concurrently. Only the second round
/// contains what the others found.
#[test]
fn voices_run_at_once_and_know_the_others_in_round_two() {
    let stage = Stage::new(&["1-1-a"], "");
    let place = stage.env.folder().join("voices");
    fs_err::create_dir_all(&place).unwrap();
    let at = place.display();
    let result = "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"review\",\"verdict\":\"failed\",\"findings\":[\"found by {HANDOVER_PERSONA}\"]}'";
    let here = "{HANDOVER_PERSONA}{HANDOVER_ROUND}";
    let both = "wait-for {at}/ann{HANDOVER_ROUND} wait-for {at}/bob{HANDOVER_ROUND}"
        .replace("{at}", &at.to_string());
    let lines = format!(
        "* review 1 | echo-prompt {at}/{here} {both} write sneaked.txt x {result}\n\
         * review 2 | print \"REVIEW PASSED: 1-1-a\"\n{GOOD}"
    );
    fs_err::write(&stage.script, lines).unwrap();
    let mut pipeline = Pipeline::story(true, Profile::Edit);
    pipeline.steps[2] = party(RunPhase::Review, &["ann", "bob"]);
    let (_, state) = stage.run(pipeline);
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0]);
    let prompt = |name: &str| fs_err::read_to_string(place.join(name)).unwrap();
    assert!(!prompt("ann1").contains("found by"));
    assert!(
        prompt("ann2").contains("found by bob")
            && prompt("ann2").contains("What you said in the first round")
    );
    assert!(prompt("bob2").contains("found by ann"));
    let story = &state.stories[0];
    assert_eq!(story.parties.len(), 2);
    // The second review leaves nothing to discuss.
    assert_eq!(story.lines.iter().filter(|line| line.voice.is_some()).count(), 6);
    let files = stage.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(!files.contains("sneaked"), "{files}");
    assert_eq!(stage.git(&["show", "handover/epic-1:1-1-a.txt"]), "workfixed");
}

#[test]
fn an_epic_is_closed_by_its_own_commit() {
    let script = "epic-1 retro 1 | write retro.md lessons print \"RETRO COMPLETE: Epic 1\"";
    let stage = Stage::new(&["1-1-a"], script);
    let mut pipeline = Pipeline::story(true, Profile::Edit);
    pipeline.closing = vec![
        Step::Agent(agent_step(RunPhase::Retro, "project_manager", Profile::Edit)),
        Step::Commit,
    ];
    let (_, state) = stage.run(pipeline);
    assert_eq!(state.state, RunState::Done);
    let log = stage.git(&["log", "--format=%s", "main..handover/epic-1"]);
    assert_eq!(log, "docs(epic-1): close epic 1\nfeat(epic-1): complete 1-1-a");
    // It may write its own files and nothing else.
    let files = stage.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(
        files.contains("docs/sprints/epic-1-retro.md") && !files.contains("\nretro.md"),
        "{files}"
    );

    // A failed closing is parked and does not change the stories.
    let stage = Stage::new(&["1-1-a"], "epic-1 dev 1 | write half.md x exit 1");
    let mut pipeline = Pipeline::story(true, Profile::Edit);
    pipeline.closing =
        vec![Step::Agent(agent_step(RunPhase::Dev, "developer", Profile::Edit)), Step::Commit];
    let (_, state) = stage.run(pipeline);
    assert_eq!(state.state, RunState::Done);
    assert_eq!(state.closing.unwrap().state, StoryState::Failed);
    assert_eq!(stage.git(&["log", "--format=%s", "main..handover/epic-1"]).lines().count(), 1);
    assert_eq!(stage.git(&["show", "handover/failed/epic-1:half.md"]), "x");
}

#[test]
fn a_failure_is_retried_with_the_advice_of_its_analysis() {
    let stage = Stage::new(&["1-1-a"], "");
    let prompt = stage.env.folder().join("prompt");
    let lines = format!(
        "* dev 1 | exit 1\n\
         * analysis 1 | print \"ANALYSIS COMPLETE: 1-1-a - Retry: the key is in the vault\"\n\
         * dev 2 | echo-prompt {} write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n{GOOD}",
        prompt.display()
    );
    fs_err::write(&stage.script, lines).unwrap();
    let mut pipeline = Pipeline::story(true, Profile::Edit);
    let analyst = agent_step(RunPhase::Analysis, "investigator", Profile::ReadOnly);
    pipeline.on_failure = Some(Step::Agent(analyst));
    let (_, state) = stage.run(pipeline);
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0]);
    assert!(fs_err::read_to_string(prompt).unwrap().contains("the key is in the vault"));
}

/// Whatever goes wrong with the voices of a retrospective, the epic is closed.
#[test]
fn a_party_retro_never_blocks() {
    let said = "print \"RETRO COMPLETE: Epic 1\"";
    for (script, heard) in [
        (format!("epic-1 retro * | write sneaked.md x {said}"), true),
        (format!("epic-1 retro * bob | crash\nepic-1 retro * | {said}"), true),
        ("epic-1 retro * | exit 1".to_owned(), false),
        ("epic-1 retro * | print \"RETRO COMPLETE: Epic 2\"".to_owned(), false),
        ("epic-1 retro * | err 'invalid api key' kill-self".to_owned(), false),
    ] {
        let stage = Stage::new(&["1-1-a"], &script);
        let mut parties = Parties::new(false);
        let config = PartyConfig::default();
        let who = crate::reducer::personas(&["bob", "mary"]);
        parties.invite(PartyPhase::Retro, who, false, &config, Profile::Edit);
        let mut pipeline = Pipeline::story(true, Profile::Edit);
        let retro = agent_step(RunPhase::Retro, "project_manager", Profile::Edit);
        pipeline.closing = vec![Step::Agent(retro), Step::Commit];
        let (_, state) = stage.run(parties.join(pipeline));
        assert_eq!(state.state, RunState::Done, "{script}");
        let closing = state.closing.unwrap();
        assert_eq!(closing.state, StoryState::Done, "{script}");
        assert_eq!(closing.parties.len(), 1, "{script}");
        assert_eq!(closing.parties[0].voices.len(), 4, "{script}");
        assert_eq!(closing.parties[0].outcome.verdict.is_some(), heard, "{script}");
        let files = stage.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
        assert!(!files.contains("sneaked"), "{script}");
    }
}
