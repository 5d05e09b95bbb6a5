//! Whole runs with pipelines of any shape: real git, real processes, a real store.

use std::cell::Cell;
use std::path::PathBuf;

use handover_agents::CancelToken;
use handover_context::package_file::ProjectPaths;
use handover_context::specialize::Templates;
use handover_context::stack::Stack;
use handover_engine::party::{Parties, Rules};
use handover_engine::pipeline::{PartyStep, Pipeline, Step, agent_step};
use handover_engine::reducer::{Options, State};
use handover_engine::{Engine, Given, Request, fold};
use handover_handoff::{Handoffs, Technology};
use handover_model::config::{BudgetConfig, Config, PartyConfig};
use handover_model::{
    EpicId, Host, PartyPhase, Profile, ProjectId, RunId, RunPhase, RunState, StoryState, Timestamp,
};
use handover_sqlite::SqliteStore;
use handover_store::Runs as _;
use handover_testkit::{FakeAgent, TestEnv};
use handover_text::Redactor;

/// A repository with an epic, and an agent that does what its script says.
struct Stage {
    env: TestEnv,
    script: PathBuf,
}

const GOOD: &str = r#"
* dev * | write {HANDOVER_STORY}.txt work print "IMPLEMENTATION COMPLETE: {HANDOVER_STORY}"
* fix * | append {HANDOVER_STORY}.txt mended print "IMPLEMENTATION COMPLETE: {HANDOVER_STORY}"
* review * | print "REVIEW PASSED: {HANDOVER_STORY}"
"#;

impl Stage {
    fn new(stories: &[&str], script: &str) -> Self {
        let env = TestEnv::empty("git");
        env.git("", &["init", "--quiet"]);
        env.write(".gitignore", ".handover\n");
        env.write("docs/epics/epic-1-shop.md", "# Epic 1: Shop\n");
        for id in stories {
            env.write(&format!("docs/stories/{id}.md"), format!("# Story {id}\n\n- [ ] do {id}\n"));
        }
        env.git("", &["add", "--all"]);
        env.git("", &["commit", "--quiet", "--message", "base"]);
        let path = env.folder().join("script");
        fs_err::write(&path, format!("{script}\n{GOOD}")).unwrap();
        Self { env, script: path }
    }

    fn run(&self, pipeline: Pipeline) -> (RunId, State) {
        let project = fs_err::canonicalize(self.env.path("")).unwrap();
        fs_err::create_dir_all(project.join(".handover")).unwrap();
        let store = SqliteStore::open(&project.join(".handover/store.db")).unwrap();
        let config = Config::default();
        let redactor = Redactor::new(&config.redaction).unwrap();
        let paths = ProjectPaths::new(&project, &[]).unwrap();
        let technology =
            Technology { stack: Stack::default(), templates: Templates::load(None, None) };
        let (time, number) = (Cell::new(1_700_000_000_000_000), Cell::new(0));
        let engine = Engine {
            store: &store,
            redactor: &redactor,
            config: &config,
            handoffs: Handoffs {
                store: Ok(&store),
                redactor: &redactor,
                config: &config,
                paths: &paths,
                technology: &technology,
                spool: None,
                overrides: &[],
            },
            project,
            project_id: ProjectId::new("p").unwrap(),
            environment: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
            machine: "here".to_owned(),
            now: &|| {
                time.set(time.get() + 1);
                Timestamp::from_micros(time.get())
            },
            unique: &|| {
                number.set(number.get() + 1);
                format!("n{}", number.get())
            },
            cancel: CancelToken::default(),
            death: None,
        };
        let command =
            format!("{} --script {}", FakeAgent::program().display(), self.script.display());
        let request = Request {
            epic: EpicId::new("1").unwrap(),
            session: None,
            resume: false,
            start_from: None,
            skip_done: false,
            pipeline,
            only_closing: false,
            from: None,
            defaults: Options {
                host: Host::COMMAND,
                command: Some(command),
                model: None,
                no_commit: false,
                merge: false,
                parallel: 1,
                phase_timeout: 60,
                idle_timeout: 60,
                max_fixes: 1,
                uat_blocking: false,
                max_retries: 1,
                budget: BudgetConfig::default(),
            },
            given: Given::default(),
        };
        let (run, state) = engine.run(&request, &mut |_, _| {}).unwrap();
        // What was lived through is what is read back.
        let folded = fold(&run, &store.journal(&run, 1).unwrap()).unwrap().unwrap();
        assert_eq!(folded.state, state);
        (run, state)
    }

    fn git(&self, args: &[&str]) -> String {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(self.env.path(""))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }
}

fn party(of: RunPhase, personas: &[&str]) -> Step {
    Step::Party(PartyStep {
        agent: agent_step(of, "tech_lead", Profile::ReadOnly),
        personas: crate::reducer::personas(personas),
        rounds: 2,
        solo: false,
        rules: Rules::default(),
    })
}

/// Each voice waits until all of its round are there: they do speak at once. In the second round it is
/// told what the others found, and in the first nothing of it.
#[test]
fn a_party_speaks_at_once_and_is_heard() {
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
    assert!(prompt("ann2").contains("found by bob") && !prompt("ann2").contains("found by ann"));
    assert!(prompt("bob2").contains("found by ann"));
    let story = &state.stories[0];
    assert_eq!(story.parties.len(), 2);
    assert_eq!(story.lines.iter().filter(|line| line.voice.is_some()).count(), 8);
    let files = stage.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(!files.contains("sneaked"), "{files}");
    assert_eq!(stage.git(&["show", "handover/epic-1:1-1-a.txt"]), "workmended");
}

#[test]
fn an_epic_is_closed_by_a_commit_of_its_own() {
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
    // It writes what it is there for, and nothing else.
    let files = stage.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(
        files.contains("docs/sprints/epic-1-retro.md") && !files.contains("\nretro.md"),
        "{files}"
    );

    // A closing that fails is put aside and changes nothing about the stories.
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
fn a_failure_that_is_analysed_is_tried_again_with_what_was_said() {
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

/// Several look back on an epic: what they say is heard, and whatever they do wrong stops nothing.
#[test]
fn a_retro_by_several_never_blocks() {
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
