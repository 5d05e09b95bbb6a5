//! What a project learns from a run: strategies of accepted work, solved errors, packages.

use handover_engine::party::Parties;
use handover_engine::pipeline::{Closing, Pipeline};
use handover_model::config::PartyConfig;
use handover_model::{
    PackageKind, PartyPhase, Phase, Profile, ProjectId, RunState, SessionId, Topic,
};
use handover_store::{
    ErrorFilter, ErrorPatterns as _, PackageFilter, Packages as _, ReasoningFilter,
    Reasonings as _, ReceiptFilter, Receipts as _, Strategies as _, StrategyFilter,
};

use crate::stage::{NO_GATES, Stage, result};

fn project() -> ProjectId {
    ProjectId::new("p").unwrap()
}

fn session() -> SessionId {
    SessionId::new("epic-1").unwrap()
}

fn reviewed() -> Pipeline {
    Pipeline::story(true, Profile::Edit)
}

fn insights(stage: &Stage) -> Vec<(Topic, String)> {
    let all = stage.store().strategies(&project(), &StrategyFilter::default()).unwrap();
    let mut all: Vec<(Topic, String)> =
        all.into_iter().map(|strategy| (strategy.topic, strategy.insight)).collect();
    all.sort();
    all
}

fn reasoned(phase: &str, text: &str) -> String {
    let more = format!(
        ",\"summary\":\"{phase} done\",\"reasoning\":{{\"decisions\":\"{text}\",\"completion\":\"{text}, and it holds\"}}"
    );
    result("{HANDOVER_STORY}", phase, "complete", &more)
}

#[test]
fn work_that_was_rejected_teaches_nothing() {
    let stage = Stage::new(&["1-1-a"], "");
    let failed = result("1-1-a", "review", "failed", ",\"findings\":[\"no lock\"]");
    stage.script(&format!(
        "* dev * | write a.txt x {}\n* fix * | write a.txt y {}\n\
         * review 1 | {failed}\n* review 2 | print \"REVIEW PASSED: 1-1-a\"",
        reasoned("dev", "trust the caller"),
        reasoned("fix", "take a lock"),
    ));
    let (_, state) = stage.run(reviewed());
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    // Both reasoned, and both are kept for the agents of the story …
    let all = stage.store().reasoning(&session(), &ReasoningFilter::default()).unwrap();
    let decisions: Vec<&str> = all
        .iter()
        .filter(|entry| entry.phase == Phase::Decisions)
        .map(|entry| entry.content.as_str())
        .collect();
    assert_eq!(decisions.len(), 2, "{decisions:?}");
    // … but only the accepted attempt teaches the project.
    let learned = insights(&stage);
    assert_eq!(learned.len(), 2, "{learned:?}");
    assert!(learned.iter().all(|(_, insight)| insight.contains("take a lock")), "{learned:?}");
}

#[test]
fn work_that_passes_at_once_teaches_its_reasoning() {
    let stage = Stage::new(&["1-1-a", "1-2-b"], "");
    stage.script(&format!(
        "1-1-a dev * | write a.txt x {}\n1-2-b dev * | exit 1",
        reasoned("dev", "one file per story")
    ));
    let (_, state) = stage.run(reviewed());
    assert_eq!(state.state, RunState::Failed);
    let learned = insights(&stage);
    assert_eq!(learned.len(), 2, "{learned:?}");
    assert!(learned.iter().all(|(_, insight)| insight.contains("one file per story")));
}

#[test]
fn work_that_was_never_committed_teaches_nothing() {
    let stage = Stage::new(&["1-1-a"], "");
    let failed = result("1-1-a", "review", "failed", ",\"findings\":[\"no lock\"]");
    stage.script(&format!(
        "* dev * | write a.txt x {}\n* fix * | append a.txt y {}\n* review * | {failed}",
        reasoned("dev", "trust the caller"),
        reasoned("fix", "trust the caller more"),
    ));
    let (_, state) = stage.run(reviewed());
    assert_eq!(state.state, RunState::Failed);
    assert_eq!(insights(&stage), []);
}

#[test]
fn findings_that_were_fixed_are_solved_errors() {
    let stage = Stage::new(&["1-1-a"], "");
    let failed =
        result("1-1-a", "review", "failed", ",\"findings\":[\"rows are lost without a lock\"]");
    stage.script(&format!(
        "* fix * | append 1-1-a.txt y {}\n* review 1 | {failed}\n* review 2 | print \"REVIEW PASSED: 1-1-a\"",
        result("1-1-a", "fix", "complete", ",\"summary\":\"took a lock\"")
    ));
    let (_, state) = stage.run(reviewed());
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    let errors = stage.store().errors(&project(), &ErrorFilter::default()).unwrap();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].solution.as_deref(), Some("took a lock"));
    assert!(errors[0].signature.message.contains("rows are lost"), "{:?}", errors[0].signature);
}

#[test]
fn failures_that_an_analysis_resolved_are_solved_errors() {
    let stage = Stage::new(&["1-1-a"], "");
    let advice = ",\"summary\":\"retry\",\"analysis\":{\"root_cause\":\"the handler unwraps a missing header\",\
                  \"remediation\":[\"return status 400 instead\"]}";
    stage.script(&format!(
        "* dev 1 | {}\n* analysis * | {}",
        result("1-1-a", "dev", "failed", ",\"summary\":\"a test does not end\""),
        result("1-1-a", "analysis", "retry", advice),
    ));
    let (_, state) = stage.run(Parties::new(true).join(reviewed()));
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0]);
    let errors = stage.store().errors(&project(), &ErrorFilter::default()).unwrap();
    assert_eq!(errors.len(), 1, "{errors:?}");
    let solution = errors[0].solution.as_deref().unwrap();
    assert!(solution.contains("return status 400"), "{solution}");
    let text = stage.show("handover/epic-1", "docs/stories/1-1-a.md");
    assert!(text.contains("## Failure Analysis Record"), "{text}");
    assert!(text.contains("- **Failure:** dev 1: a test does not end"), "{text}");
}

fn packages(stage: &Stage) -> Vec<String> {
    let found = stage.store().packages(&session(), &PackageFilter::default()).unwrap();
    found.into_iter().map(|package| package.path).collect()
}

const PACKAGE: &str = ",\"packages\":[{\"path\":\"docs/notes.md\",\"kind\":\"research\",\"summary\":\"by the agent\"}]";

#[test]
fn a_developers_package_is_the_file_of_its_worktree() {
    let stage = Stage::new(&["1-1-a"], "");
    stage.env.write("docs/notes.md", "# Notes of the user\n");
    stage.commit("notes");
    stage.script(&format!(
        "* dev * | write a.txt x write docs/notes.md \"# Notes of the agent\" {}",
        result("1-1-a", "dev", "complete", PACKAGE)
    ));
    stage.run(Pipeline::story(false, Profile::Edit));
    assert_eq!(packages(&stage), ["docs/notes.md"]);
}

/// The folder of a voice is discarded before its ending is stored. The project has a file of the same name,
/// which is not the one the voice wrote.
#[test]
fn a_voice_does_not_register_a_file_of_the_project() {
    let stage = Stage::new(&["1-1-a"], "");
    stage.env.write("docs/notes.md", "# Notes of the user\n");
    stage.commit("notes");
    stage.script(&format!(
        "* review * | write docs/notes.md \"# Notes of the voice\" {}",
        result("1-1-a", "review", "passed", PACKAGE)
    ));
    let mut parties = Parties::new(false);
    let who = crate::reducer::personas(&["ann"]);
    parties.invite(PartyPhase::Review, who, false, &PartyConfig::default(), Profile::Edit);
    let request = stage.request(parties.join(reviewed()));
    let (state, warnings) = stage.warned(&request);
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(packages(&stage), [""; 0]);
    assert_eq!(
        warnings,
        [NO_GATES, "1-1-a: package `docs/notes.md`: the folder that it was in is discarded"]
    );
}

#[test]
fn a_debrief_block_ends_an_agent_of_a_run() {
    let play = |receipt: &str| {
        let stage = Stage::new(&["1-1-a"], "");
        let block = stage.env.folder().join("block");
        let text = format!(
            "```handover\nreceipt: {receipt}\nverdict: complete\nsummary: built it\nreasoning:\n  \
             decisions: small steps\n```\n"
        );
        fs_err::write(&block, text).unwrap();
        stage.script(&format!("* dev * | write a.txt x run \"cat {}\"", block.display()));
        let (_, state) = stage.run(Pipeline::story(false, Profile::Edit));
        (stage, state)
    };
    // Another agent's receipt does not end anything.
    let (stage, state) = play("r_other");
    assert_eq!(state.state, RunState::Failed);
    assert!(state.stories[0].reason.contains("it gave no verdict"), "{}", state.stories[0].reason);
    // Every stage generates the same ids; the first receipt is the developer's.
    let receipts = stage.store().receipts(&ReceiptFilter::default()).unwrap();
    let (_stage, state) = play(receipts.last().unwrap().id.as_str());
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(state.stories[0].record[0].summary, "built it");
}

#[test]
fn a_retrospective_teaches_the_project_and_the_next_epic() {
    let lessons = ",\"summary\":\"A good epic.\",\"retro\":{\"summary\":\"One story, one lesson.\",\
                   \"patterns\":[\"errors are enums\"],\"gotchas\":[{\"text\":\"times are UTC\",\"file\":\"src/time.rs\"}]}";
    let stage = Stage::new(&["1-1-a", "2-1-b"], "");
    stage.env.write("docs/epics/epic-2.md", "# Epic 2\nDepends on: Epic 1\n");
    stage.commit("epic 2");
    stage.script(&format!("epic-1 retro * | {}", result("epic-1", "retro", "complete", lessons)));
    let closing = Closing { retro: true, commit: true, ..Closing::default() };
    let pipeline = Pipeline::story(false, Profile::Edit).closed_with(closing);
    let (run, state) = stage.run(pipeline.clone());
    assert_eq!(state.state, RunState::Done);
    let branch = "handover/epic-1";
    let retro = stage.show(branch, "docs/sprints/epic-1-retro.md");
    assert!(
        retro.contains("One story, one lesson.") && retro.contains("agents who looked back"),
        "{retro}"
    );
    assert!(
        retro.contains("## What went well"),
        "the journal completes what agents leave out: {retro}"
    );
    let handoff = stage.show(branch, "docs/handoffs/epic-1-handoff.md");
    assert!(handoff.contains(&format!("run: {run}\n")), "{handoff}");
    assert!(handoff.contains("- times are UTC · in src/time.rs"), "{handoff}");
    assert!(insights(&stage).iter().any(|(_, insight)| insight == "errors are enums"));
    // The next epic starts from it, and its agents get the entries as packages.
    let mut request = stage.request(pipeline);
    request.epic = handover_model::EpicId::new("2").unwrap();
    request.from = Some(stage.git(&["rev-parse", branch]));
    let prompt = stage.env.folder().join("prompt");
    stage.script(&format!(
        "2-1-b dev * | echo-prompt {} write b.txt x print \"IMPLEMENTATION COMPLETE: 2-1-b\"",
        prompt.display()
    ));
    let (state, _) = stage.warned(&request);
    assert_eq!(state.state, RunState::Done, "{:?}", state.stopped);
    let session = SessionId::new("epic-2").unwrap();
    let found = stage.store().packages(&session, &PackageFilter::default()).unwrap();
    let kinds: Vec<PackageKind> = found.iter().map(|package| package.kind).collect();
    assert_eq!(kinds, [PackageKind::Handoff; 4], "the whole, a pattern, a gotcha and the files");
    let prompt = fs_err::read_to_string(prompt).unwrap();
    assert!(prompt.contains("One story, one lesson."), "{prompt}");
}

#[test]
fn an_epic_without_lessons_is_described_by_its_journal() {
    let stage = Stage::new(&["1-1-a", "1-2-b"], "1-2-b dev * | exit 1\nepic-1 retro * | exit 1");
    let closing = Closing { retro: true, commit: true, ..Closing::default() };
    let (_, state) = stage.run(Pipeline::story(false, Profile::Edit).closed_with(closing));
    assert_eq!(state.state, RunState::Failed);
    let retro = stage.show("handover/epic-1", "docs/sprints/epic-1-retro.md");
    assert!(retro.contains("- **By:** the journal"), "{retro}");
    assert!(retro.contains("1 of 2 stories are done"), "{retro}");
    assert!(retro.contains("- 1-2-b failed"), "{retro}");
    assert_eq!(insights(&stage), [], "there is no reasoning");
    assert_eq!(state.closing.unwrap().record.len(), 0);
}
