//! The end of an epic with real programs: scenarios that agents write, runs of them, and fixes.

use handover_engine::pipeline::{Closing, Pipeline, UatStep};
use handover_engine::reducer::State;
use handover_engine::report;
use handover_model::{EpicId, Profile, RunState, ScenarioOutcome, StoryState, UatGate};

use crate::stage::{Stage, result};

const BRANCH: &str = "handover/epic-1";
const DATA: &str = "docs/uat/epic-1-uat.json";
const DOCUMENT: &str = "docs/uat/epic-1-uat.md";

/// `app.py` prints what the file contains.
const APP: &str = "import sys\nprint(open(sys.argv[1]).read())\n";

fn closed(heal: u32) -> Pipeline {
    let uat = Some(UatStep { gate: UatGate::Quick, heal });
    let closing = Closing { generate: true, uat, retro: false, commit: true };
    Pipeline::story(false, Profile::Edit).closed_with(closing)
}

fn scenario(expected: &str) -> String {
    format!(
        "{{\"id\":\"S1\",\"criterion\":\"1-1-a AC1\",\"kind\":\"auto\",\"argv\":[\"python3\",\"app.py\",\
         \"1-1-a.txt\"],\"expect\":{{\"text\":\"{expected}\"}}}}"
    )
}

fn writes(scenarios: &str) -> String {
    let more = format!(",\"scenarios\":[{scenarios}]");
    format!("epic-1 uat * | {}", result("epic-1", "uat", "complete", &more))
}

fn stage(script: &str) -> Stage {
    let stage = Stage::new(&["1-1-a"], script);
    stage.env.write("app.py", APP);
    stage.commit("app");
    stage
}

fn verdicts(state: &State) -> Vec<(&'static str, &'static str)> {
    let closing = state.closing.as_ref().unwrap();
    closing.lines.iter().map(|line| (line.phase, line.verdict)).collect()
}

#[test]
fn scenarios_are_written_run_and_committed_with_their_document() {
    let stage = stage(&writes(&scenario("work")));
    let (_, state) = stage.run(closed(0));
    assert_eq!(state.state, RunState::Done, "{:?}", state.stopped);
    assert_eq!(verdicts(&state), [("uat", "complete"), ("scenarios", "passed")]);
    let data = stage.show(BRANCH, DATA);
    assert!(data.contains("\"schema\": 1") && data.contains("\"epic\": \"1\""), "{data}");
    let document = stage.show(BRANCH, DOCUMENT);
    assert!(document.contains("# Acceptance of epic 1: Shop"), "{document}");
    assert!(document.contains("| 1-1-a AC1 | S1 | auto | passed |"), "{document}");
    let log = stage.git(&["log", "-1", "--format=%s", BRANCH]);
    assert_eq!(log, "docs(epic-1): close epic 1");
    let uat = report::uat(&state).unwrap();
    assert_eq!((&uat["state"], &uat["passed"]), (&"passed".into(), &1.into()));
    // They can be found again, on the branch and at any commit.
    let epic = EpicId::new("1").unwrap();
    let found = stage.with_engine(|engine| engine.scenarios(&epic, None)).unwrap().unwrap();
    assert_eq!(found.scenarios.len(), 1);
    let main = stage.git(&["rev-parse", "main"]);
    assert!(stage.with_engine(|engine| engine.scenarios(&epic, Some(&main))).unwrap().is_none());
}

#[test]
fn invalid_scenarios_are_corrected_by_their_author() {
    let stage = stage("");
    let prompt = stage.env.folder().join("prompt");
    let wrong = ",\"scenarios\":[{\"id\":\"S1\",\"kind\":\"auto\",\"argv\":\"ls\"}]";
    let right = format!(",\"scenarios\":[{}]", scenario("work"));
    stage.script(&format!(
        "epic-1 uat 1 | {}\nepic-1 uat 2 | echo-prompt {} {}",
        result("epic-1", "uat", "complete", wrong),
        prompt.display(),
        result("epic-1", "uat", "complete", &right),
    ));
    let (_, state) = stage.run(closed(0));
    assert_eq!(verdicts(&state), [("uat", "retry"), ("uat", "complete"), ("scenarios", "passed")]);
    let prompt = fs_err::read_to_string(prompt).unwrap();
    assert!(prompt.contains("scenarios[0].argv: a list of words is expected"), "{prompt}");
}

#[test]
fn scenarios_may_be_in_the_file_instead_of_the_result() {
    let stage = stage("");
    let file = stage.env.folder().join("scenarios.json");
    fs_err::write(&file, format!("{{\"scenarios\":[{}]}}", scenario("work"))).unwrap();
    stage.script(&format!(
        "epic-1 uat * | run \"mkdir -p docs/uat\" run \"cp {} {DATA}\" write sneaked.txt x \
         print \"UAT GENERATED: {DOCUMENT}\"",
        file.display()
    ));
    let (_, state) = stage.run(closed(0));
    assert_eq!(verdicts(&state), [("uat", "complete"), ("scenarios", "passed")]);
    let files = stage.git(&["ls-tree", "-r", "--name-only", BRANCH]);
    assert!(files.contains(DOCUMENT) && !files.contains("sneaked"), "{files}");
}

#[test]
fn an_author_who_writes_nothing_has_not_succeeded() {
    let stage = stage("epic-1 uat * | print \"UAT GENERATED: somewhere\"");
    let (_, state) = stage.run(closed(0));
    // Writing scenarios is optional, but running none is reported as a failure.
    assert_eq!(state.state, RunState::Done);
    assert_eq!(verdicts(&state), [("uat", "unclear"), ("scenarios", "failed")]);
    let uat = report::uat(&state).unwrap();
    assert_eq!(uat["state"], "failed");
    assert!(uat["reason"].as_str().unwrap().contains("there are no scenarios"), "{uat}");
}

#[test]
fn a_failing_scenario_is_fixed_and_run_again() {
    let script = format!(
        "{}\nepic-1 fix * | append 1-1-a.txt \" fixed\" print \"IMPLEMENTATION COMPLETE: epic-1\"",
        writes(&scenario("fixed"))
    );
    let stage = stage(&script);
    let mut request = stage.request(closed(1));
    request.overrides.uat_blocking = true;
    let (state, _) = stage.warned(&request);
    assert_eq!(state.state, RunState::Done, "{:?}", state.closing);
    assert_eq!(stage.show(BRANCH, "1-1-a.txt"), "work fixed");
    let log = stage.git(&["log", "-1", "--format=%s", BRANCH]);
    assert_eq!(log, "fix(epic-1): fix acceptance failures");
    assert!(stage.show(BRANCH, DOCUMENT).contains("| passed |"));
}

#[test]
fn a_fix_that_does_not_help_is_dropped() {
    let script = format!(
        "{}\nepic-1 fix * | append 1-1-a.txt useless write {DATA} gone print \"IMPLEMENTATION COMPLETE: epic-1\"",
        writes(&scenario("perfect"))
    );
    let stage = stage(&script);
    let mut request = stage.request(closed(1));
    request.overrides.uat_blocking = true;
    let (state, _) = stage.warned(&request);
    assert_eq!(state.state, RunState::Failed);
    let closing = state.closing.as_ref().unwrap();
    assert_eq!((closing.state, closing.fixes()), (StoryState::Done, 1));
    let uat = closing.uat.as_ref().unwrap();
    assert_eq!(uat.count(ScenarioOutcome::Failed), 1);
    assert!(uat.results[0].reason.contains("did not print `perfect`"), "{:?}", uat.results);
    // The scenarios are committed, the useless fix is not.
    assert_eq!(stage.show(BRANCH, "1-1-a.txt"), "work");
    assert!(stage.show(BRANCH, DATA).contains("perfect"));
    let log = stage.git(&["log", "-1", "--format=%s", BRANCH]);
    assert_eq!(log, "docs(epic-1): close epic 1");
}

#[test]
fn a_scenario_cannot_start_arbitrary_programs() {
    let evil = "{\"id\":\"S1\",\"criterion\":\"AC1\",\"kind\":\"auto\",\"argv\":[\"sh\",\"-c\",\"touch pwned\"]}";
    let stage = stage(&writes(evil));
    let (_, state) = stage.run(closed(0));
    let uat = state.closing.unwrap().uat.unwrap();
    assert_eq!(uat.results[0].outcome, ScenarioOutcome::Refused);
    let files = stage.git(&["ls-tree", "-r", "--name-only", BRANCH]);
    assert!(!files.contains("pwned"), "{files}");
}

#[test]
fn only_the_programs_of_the_configuration_may_be_started() {
    let mut stage = stage(&writes(&scenario("work")));
    stage.config.uat.allow = Some(vec!["cargo".to_owned()]);
    let (_, state) = stage.run(closed(0));
    let uat = state.closing.unwrap().uat.unwrap();
    assert_eq!(uat.results[0].outcome, ScenarioOutcome::Refused);
    assert!(uat.results[0].reason.contains("(cargo)"), "{:?}", uat.results);
}

#[test]
fn closing_an_epic_never_changes_its_stories() {
    let script = format!(
        "{}\nepic-1 retro * | write docs/stories/1-1-a.md gone write 1-1-a.txt gone print \"RETRO COMPLETE: Epic 1\"",
        writes(&scenario("work"))
    );
    let stage = stage(&script);
    let uat = Some(UatStep { gate: UatGate::Quick, heal: 0 });
    let closing = Closing { generate: true, uat, retro: true, commit: true };
    let (_, state) = stage.run(Pipeline::story(false, Profile::Edit).closed_with(closing));
    assert_eq!(state.state, RunState::Done);
    let retro = &state.closing.as_ref().unwrap().record.iter().last().unwrap();
    assert_eq!(retro.restored, ["docs/stories/1-1-a.md", "1-1-a.txt"]);
    assert_eq!(stage.show(BRANCH, "1-1-a.txt"), "work");
    assert!(stage.show(BRANCH, "docs/stories/1-1-a.md").contains("Status: done"));
}

#[test]
fn a_retrospective_that_an_agent_wrote_itself_stays() {
    let script = "epic-1 retro * | run \"mkdir -p docs/sprints\" write docs/sprints/epic-1-retro.md \"# Ours\" \
                  print \"RETRO COMPLETE: Epic 1\"";
    let stage = stage(script);
    let closing = Closing { retro: true, commit: true, ..Closing::default() };
    let (_, state) = stage.run(Pipeline::story(false, Profile::Edit).closed_with(closing));
    assert_eq!(state.state, RunState::Done);
    assert_eq!(stage.show(BRANCH, "docs/sprints/epic-1-retro.md"), "# Ours");
    // The missing handoff is generated.
    assert!(stage.show(BRANCH, "docs/handoffs/epic-1-handoff.md").contains("# Handoff of epic 1"));
}
