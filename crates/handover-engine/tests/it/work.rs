//! What an agent leaves in its worktree: changes that count, and changes that are reverted.

use handover_engine::pipeline::{Closing, Pipeline};
use handover_engine::reducer::State;
use handover_model::{
    GroupStatus, Profile, RunPhase, RunState, SessionId, SessionStatus, StoryState,
};
use handover_store::{Groups as _, Sessions as _};

use crate::stage::{NO_GATES, Stage, result};

const BRANCH: &str = "handover/epic-1";

fn plain() -> Pipeline {
    Pipeline::story(false, Profile::Edit)
}

/// The files that agents of a phase were not allowed to change.
fn restored(state: &State, phase: RunPhase) -> Vec<String> {
    let ends = state.units().flat_map(|unit| &unit.record);
    ends.filter(|end| end.phase == phase).flat_map(|end| end.restored.clone()).collect()
}

#[test]
fn what_a_read_only_agent_changes_is_reverted() {
    let script =
        "* review * | write sneaked.txt x append 1-1-a.txt y print \"REVIEW PASSED: 1-1-a\"";
    let stage = Stage::new(&["1-1-a"], script);
    let (_, state) = stage.run(Pipeline::story(true, Profile::Edit));
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(restored(&state, RunPhase::Review), ["1-1-a.txt", "sneaked.txt"]);
    assert_eq!(stage.show(BRANCH, "1-1-a.txt"), "work");
    let files = stage.git(&["ls-tree", "-r", "--name-only", BRANCH]);
    assert!(!files.contains("sneaked"), "{files}");
    // None of it is in the user's checkout.
    assert!(!stage.env.path("1-1-a.txt").exists());
}

#[test]
fn stories_belong_to_their_authors() {
    let stage = Stage::new(&["1-1-a", "1-2-b"], "");
    let mine = stage.env.folder().join("mine.md");
    fs_err::write(&mine, "# Story 1-1-a\n\n- [x] do 1-1-a\n").unwrap();
    stage.script(&format!(
        "1-1-a dev * | write a.txt x run \"cp {} docs/stories/1-1-a.md\" print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         1-2-b dev * | write b.txt x write docs/stories/1-2-b.md gone write docs/stories/1-1-a.md gone \
         write docs/epics/epic-1-shop.md gone print \"IMPLEMENTATION COMPLETE: 1-2-b\"",
        mine.display()
    ));
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories);
    // Boxes may be ticked; everything else is reverted.
    assert_eq!(restored(&state, RunPhase::Dev).len(), 3, "{:?}", restored(&state, RunPhase::Dev));
    let first = stage.show(BRANCH, "docs/stories/1-1-a.md");
    assert!(first.contains("- [x] do 1-1-a") && first.contains("Status: done"), "{first}");
    let second = stage.show(BRANCH, "docs/stories/1-2-b.md");
    assert!(second.contains("- [ ] do 1-2-b"), "{second}");
    assert!(second.contains("## Dev Agent Record") && second.contains("### Restored"), "{second}");
    assert_eq!(stage.show(BRANCH, "docs/epics/epic-1-shop.md"), "# Epic 1: Shop");
}

#[test]
fn changing_only_the_story_is_not_work() {
    let stage = Stage::new(&["1-1-a"], "");
    let mine = stage.env.folder().join("mine.md");
    fs_err::write(&mine, "# Story 1-1-a\n\n- [x] do 1-1-a\n").unwrap();
    stage.script(&format!(
        "* dev * | run \"cp {} docs/stories/1-1-a.md\" print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        mine.display()
    ));
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Failed);
    assert_eq!(state.stories[0].reason, "dev reports completion and changed nothing");
    assert_eq!(stage.git(&["branch", "--list", "handover/*"]), "");
}

#[test]
fn a_worktree_that_git_cannot_read_is_restored() {
    let script = "1-1-a dev 1 | write a.txt x run \"git init --quiet inner\" write inner/b.txt x \
                  print \"IMPLEMENTATION COMPLETE: 1-1-a\"";
    let stage = Stage::new(&["1-1-a"], script);
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Failed);
    assert!(
        state.stories[0].reason.contains("git cannot read the worktree"),
        "{}",
        state.stories[0].reason
    );
}

#[test]
fn branches_that_an_agent_checks_out_are_removed_and_others_reported() {
    let script = "1-1-a dev * | run \"git checkout --quiet -b mine\" run \"git branch other\" write a.txt x \
                  print \"IMPLEMENTATION COMPLETE: 1-1-a\"";
    let stage = Stage::new(&["1-1-a"], script);
    let (state, warnings) = stage.warned(&stage.request(plain()));
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(stage.show(BRANCH, "a.txt"), "x");
    assert_eq!(
        warnings,
        [
            NO_GATES,
            "1-1-a: removed `refs/heads/mine`, which its agent created",
            "`refs/heads/other` appeared while 1-1-a dev was working; it is left alone",
        ]
    );
    let branches = stage.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    assert_eq!(branches.lines().collect::<Vec<_>>(), [BRANCH, "main", "other"]);
}

#[test]
fn commits_of_agents_are_work_like_any_other() {
    let script = "1-1-a dev * | write a.txt x run \"git add .\" \
                  run \"git -c user.name=a -c user.email=a@a commit --quiet -m sneaky\" write b.txt y \
                  print \"IMPLEMENTATION COMPLETE: 1-1-a\"";
    let stage = Stage::new(&["1-1-a"], script);
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(
        (stage.show(BRANCH, "a.txt"), stage.show(BRANCH, "b.txt")),
        ("x".into(), "y".into())
    );
    let log = stage.git(&["log", "--format=%s", &format!("main..{BRANCH}")]);
    assert_eq!(log, "feat(epic-1): complete 1-1-a");
}

#[test]
fn a_story_is_worked_on_as_its_author_last_saved_it() {
    let stage = Stage::new(&["1-1-a"], "");
    stage.env.write("docs/stories/1-1-a.md", "# Story 1-1-a\n\n- [ ] do it by night\n");
    let prompt = stage.env.folder().join("prompt");
    stage.script(&format!(
        "* dev * | echo-prompt {} write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        prompt.display()
    ));
    let (state, warnings) = stage.warned(&stage.request(plain()));
    assert_eq!((state.state, warnings), (RunState::Done, vec![NO_GATES.to_owned()]));
    assert!(fs_err::read_to_string(prompt).unwrap().contains("do it by night"));
    let text = stage.show(BRANCH, "docs/stories/1-1-a.md");
    assert!(text.contains("do it by night"), "{text}");
    // The checkout keeps its uncommitted file.
    let own = fs_err::read_to_string(stage.env.path("docs/stories/1-1-a.md")).unwrap();
    assert_eq!(own, "# Story 1-1-a\n\n- [ ] do it by night\n");
}

#[test]
fn the_branch_of_the_run_wins_over_a_later_change_of_the_author() {
    let append = "* dev * | append log.txt x print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"";
    let stage = Stage::new(&["1-1-a"], append);
    stage.run(plain());
    stage.env.write("docs/stories/1-1-a.md", "# Story 1-1-a\n\nAnother text.\n");
    let mut request = stage.request(plain());
    request.all = true;
    let (state, warnings) = stage.warned(&request);
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(
        warnings,
        [
            NO_GATES,
            "`docs/stories/1-1-a.md` was changed here and on the branch of the run; the branch wins"
        ]
    );
    assert_eq!(stage.show(BRANCH, "log.txt"), "xx");
    assert!(!stage.show(BRANCH, "docs/stories/1-1-a.md").contains("Another text"));
}

#[test]
fn the_sprint_status_follows_the_stories() {
    let status = "development_status:\n  epic-1: backlog # soon\n  1-1-a: ready\n  1-2-b: ready\n";
    let stage = Stage::new(&["1-1-a", "1-2-b"], "1-2-b dev * | exit 1");
    stage.env.write("docs/sprints/sprint-status.yaml", status);
    stage.commit("status");
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Failed);
    assert_eq!(
        stage.show(BRANCH, "docs/sprints/sprint-status.yaml"),
        "development_status:\n  epic-1: in-progress # soon\n  1-1-a: done\n  1-2-b: ready"
    );
    // The epic is done with its last story.
    stage.script("");
    let request = stage.request(plain());
    let (state, _) = stage.warned(&request);
    assert_eq!(state.state, RunState::Done);
    assert_eq!(state.stories[0].state, StoryState::Skipped);
    assert_eq!(
        stage.show(BRANCH, "docs/sprints/sprint-status.yaml"),
        "development_status:\n  epic-1: done # soon\n  1-1-a: done\n  1-2-b: done"
    );
}

#[test]
fn groups_and_the_session_follow_the_run() {
    let stage = Stage::new(&["1-1-a", "1-2-b"], "1-2-b dev * | exit 1");
    stage.run(plain());
    let (store, session) = (stage.store(), SessionId::new("epic-1").unwrap());
    let status = |id: &str| {
        let group = handover_model::GroupId::new(id).unwrap();
        store.group(&session, &group).unwrap().status
    };
    assert_eq!(status("1-1-a"), GroupStatus::Completed);
    assert_eq!(status("1-2-b"), GroupStatus::Failed);
    assert_eq!(store.session(&session).unwrap().status, SessionStatus::Failed);
    // A new run opens the session again and completes it.
    stage.script("");
    let request = stage.request(plain());
    stage.warned(&request);
    assert_eq!(status("1-2-b"), GroupStatus::Completed);
    assert_eq!(store.session(&session).unwrap().status, SessionStatus::Completed);
}

#[test]
fn a_session_that_the_user_named_is_theirs_to_close() {
    let stage = Stage::new(&["1-1-a"], "");
    let mut request = stage.request(plain());
    let session = SessionId::new("mine").unwrap();
    request.session = Some(session.clone());
    stage.warned(&request);
    assert_eq!(stage.store().session(&session).unwrap().status, SessionStatus::Active);
}

#[test]
fn agents_get_what_identifies_their_work_and_nothing_of_ours() {
    let stage = Stage::new(&["1-1-a"], "");
    let file = stage.env.folder().join("env");
    stage.script(&format!(
        "* dev * | env {} write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        file.display()
    ));
    let (run, _) = stage.run(plain());
    let text = fs_err::read_to_string(file).unwrap();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("{name} is missing in {text}")).to_owned()
    };
    assert_eq!(value("HANDOVER_RUN"), run.as_str());
    assert_eq!(value("HANDOVER_STORY"), "1-1-a");
    assert_eq!((value("HANDOVER_PHASE"), value("HANDOVER_ATTEMPT")), ("dev".into(), "1".into()));
    assert_eq!(
        (value("HANDOVER_ROLE"), value("HANDOVER_GROUP")),
        ("developer".into(), "1-1-a".into())
    );
    assert_eq!(value("HANDOVER_SESSION"), "epic-1");
    let result = value("HANDOVER_RESULT");
    assert!(result.contains("/1-1-a/") && !result.ends_with("/dev-1.result.json"), "{result}");
    assert!(value("CARGO_TARGET_DIR").ends_with(".handover/runs/cargo-target/1"));
    assert!(!text.contains("HANDOVER_PERSONA") && !text.contains("CARGO_PKG_NAME"), "{text}");
    // Logs and results are kept, worktrees are not.
    let folder = stage.env.path(".handover/runs").join(run.as_str());
    assert!(folder.join("1-1-a/dev-1.log").exists());
    assert!(!folder.join("worktrees").exists());
}

#[test]
fn a_program_that_cannot_be_started_stops_the_run_without_failing_a_story() {
    let mut stage = Stage::new(&["1-1-a", "1-2-b"], "");
    let good = stage.options.command.replace(stage.broken_program());
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Environment);
    assert!(state.stopped.as_ref().unwrap().contains("broken-agent"), "{:?}", state.stopped);
    assert_eq!(state.stories[0].state, StoryState::Running);
    assert_eq!(state.stories[1].state, StoryState::Pending);
    // Once it can be started, the run continues where it was.
    let mut request = stage.request(plain());
    request.resume = true;
    request.overrides.host = Some((stage.options.host, good));
    let (state, _) = stage.warned(&request);
    assert_eq!(state.state, RunState::Done);
}

#[test]
fn a_cancelled_run_can_be_resumed() {
    let stage = Stage::new(&["1-1-a"], "");
    let request = stage.request(plain());
    let (_, state) = stage
        .with_engine(|engine| {
            engine.cancel.cancel();
            engine.run(&request, &mut |_, _| {})
        })
        .unwrap();
    assert_eq!(
        (state.state, state.stopped.as_deref()),
        (RunState::Interrupted, Some("interrupted"))
    );
    let resume = handover_engine::RunRequest { resume: true, ..request };
    assert_eq!(stage.warned(&resume).0.state, RunState::Done);
    // Once more, and there is nothing left to do.
    let (state, warnings) = stage.warned(&resume);
    assert_eq!(state.state, RunState::Done);
    assert!(warnings[0].contains("is finished; omit `--resume`"), "{warnings:?}");
}

#[test]
fn a_budget_stops_the_run_and_more_money_continues_it() {
    let costly = result("{HANDOVER_STORY}", "dev", "complete", ",\"usage\":{\"cost_usd\":0.6}");
    let stage = Stage::new(&["1-1-a", "1-2-b"], &format!("* dev * | append log.txt x {costly}"));
    let mut request = stage.request(plain());
    request.overrides.max_cost = Some(1.0);
    let (state, _) = stage.warned(&request);
    assert_eq!(state.state, RunState::Budget);
    assert_eq!(
        state.stopped.as_deref(),
        Some("the run would exceed its limit of 1 USD (0.6000 spent)")
    );
    assert_eq!(state.stories[0].state, StoryState::Done);
    request.resume = true;
    request.overrides.max_cost = Some(2.0);
    let (state, _) = stage.warned(&request);
    assert_eq!(state.state, RunState::Done);
    assert!((state.spent().cost_usd - 1.2).abs() < 1e-9);
}

#[test]
fn closing_alone_may_leave_everything_as_it_is() {
    let stage = Stage::new(&["1-1-a"], "");
    stage.run(plain());
    let before = stage.git(&["rev-parse", BRANCH]);
    let uat = handover_engine::pipeline::UatStep { gate: handover_model::UatGate::Quick, heal: 0 };
    let closing = Closing { uat: Some(uat), ..Closing::default() };
    let mut request = stage.request(plain().closed_with(closing));
    request.only_closing = true;
    let (state, _) = stage.warned(&request);
    assert_eq!(state.state, RunState::Done);
    let uat = state.closing.unwrap().uat.unwrap();
    assert!(uat.problem.unwrap().contains("there are no scenarios"));
    assert_eq!(stage.git(&["rev-parse", BRANCH]), before);
}
