//! Finished and unfinished work in git: commits, rebases, parked branches, the user's branch.

use handover_engine::pipeline::Pipeline;
use handover_engine::question::{self, AnswerContext};
use handover_engine::reducer::State;
use handover_model::{Profile, RunState, StoryState, Timestamp};
use handover_text::Redactor;

use crate::stage::{Stage, result};

const BRANCH: &str = "handover/epic-1";

fn plain() -> Pipeline {
    Pipeline::story(false, Profile::Edit)
}

fn exists(stage: &Stage, name: &str) -> bool {
    !stage.git(&["rev-parse", "--verify", "--quiet", name]).is_empty()
}

#[test]
fn a_commit_names_epic_story_run_and_receipt() {
    let stage = Stage::new(&["1-1-a"], "");
    let (run, state) = stage.run(plain());
    let message = stage.git(&["log", "-1", "--format=%B", BRANCH]);
    assert!(
        message.starts_with("feat(epic-1): complete 1-1-a\n\nEpic: 1\nStory: 1-1-a\n"),
        "{message}"
    );
    assert!(message.contains(&format!("Run: {run}\nReceipt: r_")), "{message}");
    assert_eq!(stage.git(&["rev-parse", BRANCH]), state.head);
    assert_eq!(state.stories[0].commit.as_ref(), Some(&state.head));
    // Its time is that of the intent, so that repeating it gives the same commit.
    let times = stage.git(&["log", "-1", "--format=%at %ct", BRANCH]);
    assert!(times.split(' ').all(|time| time == "1700000000"), "{times}");
    assert_eq!(stage.git(&["for-each-ref", "refs/handover"]), "");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn stories_at_once_land_one_after_the_other() {
    let mut stage = Stage::new(&["1-1-a", "1-2-b", "1-3-c"], "");
    stage.options.parallel = 3;
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories);
    let log = stage.git(&["log", "--format=%s %p", &format!("main..{BRANCH}")]);
    assert_eq!(log.lines().count(), 3, "{log}");
    // One parent each: rebased, not merged.
    assert!(log.lines().all(|line| line.split(' ').count() == 4), "{log}");
    for id in ["1-1-a", "1-2-b", "1-3-c"] {
        assert_eq!(stage.show(BRANCH, &format!("{id}.txt")), "work");
    }
}

#[test]
fn conflicts_are_fixed_with_both_stories_in_view() {
    let mut stage = Stage::new(&["1-1-a", "1-2-b"], "");
    stage.options.parallel = 2;
    let prompt = stage.env.folder().join("prompt");
    let seen = stage.env.folder().join("seen");
    stage.script(&format!(
        "* dev * | write shared.txt {{HANDOVER_STORY}} print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"\n\
         * fix * | echo-prompt {} run \"cp shared.txt {}\" write shared.txt both \
         print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"",
        prompt.display(),
        seen.display()
    ));
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories);
    // It is nobody's fault, so it does not count.
    assert_eq!(state.stories.iter().map(|story| story.fixes()).sum::<u32>(), 0);
    assert_eq!(stage.show(BRANCH, "shared.txt"), "both");
    let prompt = fs_err::read_to_string(prompt).unwrap();
    assert!(prompt.contains("- shared.txt: another story changed the same lines"), "{prompt}");
    assert!(prompt.contains("### The other story in these files"), "{prompt}");
    assert!(prompt.contains("docs/stories/1-1-a.md") && prompt.contains("docs/stories/1-2-b.md"));
    let seen = fs_err::read_to_string(seen).unwrap();
    assert!(seen.contains("<<<<<<<") && seen.contains("1-1-a") && seen.contains("1-2-b"), "{seen}");
}

#[test]
fn conflict_markers_are_not_committed() {
    let mut stage = Stage::new(&["1-1-a", "1-2-b"], "");
    stage.options.parallel = 2;
    stage.script(
        "* dev * | write shared.txt {HANDOVER_STORY} print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"\n\
         * fix * | write other.txt x print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"",
    );
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Failed);
    let lost = state.stories.iter().find(|story| story.state == StoryState::Failed).unwrap();
    assert!(lost.reason.contains("still has conflict markers"), "{}", lost.reason);
    assert!(!stage.show(BRANCH, "shared.txt").contains("<<<<"));
}

#[test]
fn unfinished_work_is_parked_with_its_reason() {
    let script = "1-1-a dev * | write half.txt x print \"IMPLEMENTATION BLOCKED: 1-1-a - no key\"";
    let stage = Stage::new(&["1-1-a"], script);
    let (run, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Blocked);
    let branch = state.stories[0].failed_branch.as_deref().unwrap();
    assert_eq!(branch, "handover/failed/1-1-a");
    assert_eq!(stage.show(branch, "half.txt"), "x");
    assert!(stage.show(branch, "docs/stories/1-1-a.md").contains("Status: blocked"));
    let message = stage.git(&["log", "-1", "--format=%B", branch]);
    let expected =
        format!("wip(epic-1): 1-1-a blocked\n\nReason: no key\nEpic: 1\nStory: 1-1-a\nRun: {run}");
    assert_eq!(message.trim_end(), expected);
    assert!(!exists(&stage, BRANCH));
    // The work of a later run does not replace that of an earlier one.
    let first = stage.git(&["rev-parse", branch]);
    stage.script(
        "1-1-a dev * | write half.txt y print \"IMPLEMENTATION BLOCKED: 1-1-a - still none\"",
    );
    stage.run(plain());
    assert_eq!(stage.show(branch, "half.txt"), "y");
    assert_eq!(stage.git(&["rev-parse", &format!("{branch}^2")]), first);
}

#[test]
fn a_story_without_work_leaves_no_branch() {
    let stage =
        Stage::new(&["1-1-a"], "1-1-a dev * | print \"IMPLEMENTATION BLOCKED: 1-1-a - no key\"");
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Blocked);
    assert_eq!(state.stories[0].failed_branch, None);
    assert_eq!(stage.git(&["branch", "--list", "handover/*"]), "");
}

fn answer(stage: &Stage, text: &str) {
    let store = stage.store();
    let redactor = Redactor::new(&stage.config.redaction).unwrap();
    let context = AnswerContext {
        store: &store,
        redactor: &redactor,
        config: &stage.config,
        machine: "here",
        author: "someone",
        now: Timestamp::from_micros(1_700_000_000_500_000),
    };
    let asked = question::meant(question::open(&store, None).unwrap(), None).unwrap();
    context.answer(&asked, text).unwrap();
}

fn resumed(stage: &Stage) -> State {
    let mut request = stage.request(plain());
    request.resume = true;
    stage.warned(&request).0
}

#[test]
fn a_branch_that_waited_for_an_answer_is_dropped_with_the_commit() {
    let asks = result("1-1-a", "dev", "escalate", ",\"summary\":\"Which key?\"");
    let stage = Stage::new(&["1-1-a"], "");
    let prompt = stage.env.folder().join("prompt");
    stage.script(&format!(
        "1-1-a dev 1 | write half.txt x {asks}\n\
         1-1-a dev 2 | echo-prompt {} append half.txt y print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        prompt.display()
    ));
    let (_, state) = stage.run(plain());
    assert_eq!((state.state, state.is_over()), (RunState::Blocked, false));
    assert_eq!(state.stopped.as_deref(), Some("a person must answer for 1-1-a"));
    assert_eq!(stage.show("handover/failed/1-1-a", "half.txt"), "x");
    assert!(exists(&stage, "refs/handover/run_n0x1/1-1-a"), "its tree is kept");
    answer(&stage, "the blue one");
    let state = resumed(&stage);
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(stage.show(BRANCH, "half.txt"), "xy", "its work was continued");
    assert!(!exists(&stage, "handover/failed/1-1-a"));
    assert!(fs_err::read_to_string(prompt).unwrap().contains("the blue one"));
    let text = stage.show(BRANCH, "docs/stories/1-1-a.md");
    assert!(text.contains("Which key? → the blue one"), "{text}");
}

#[test]
fn a_new_run_abandons_one_that_waits_for_an_answer() {
    let asks = result("1-1-a", "dev", "escalate", ",\"summary\":\"Which key?\"");
    let stage = Stage::new(&["1-1-a"], &format!("1-1-a dev 1 | write half.txt x {asks}"));
    let (first, _) = stage.run(plain());
    stage.script("");
    let (second, state) = stage.run(plain());
    assert_ne!(first, second);
    assert_eq!(state.state, RunState::Done);
    assert_eq!(stage.git(&["for-each-ref", "refs/handover"]), "");
    assert_eq!(stage.show("handover/failed/1-1-a", "half.txt"), "x", "parked work stays");
    assert!(question::open(&stage.store(), None).unwrap().is_empty());
}

#[test]
fn without_commits_no_branch_is_moved() {
    let mut stage = Stage::new(&["1-1-a", "1-2-b"], "");
    stage.options.no_commit = true;
    let (run, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Done);
    assert!(!exists(&stage, BRANCH));
    let work = format!("refs/handover/{run}/1-2-b");
    assert_eq!(stage.show(&work, "1-2-b.txt"), "work");
    // The second story starts from the first.
    assert_eq!(stage.show(&work, "1-1-a.txt"), "work");
    assert_eq!(stage.git(&["rev-parse", &work]), state.head);
}

#[test]
fn the_users_branch_is_fast_forwarded_if_asked_for() {
    let mut stage = Stage::new(&["1-1-a"], "");
    stage.options.merge = true;
    let (_, state) = stage.run(plain());
    assert_eq!(state.merged, Some(None));
    assert_eq!(stage.git(&["rev-parse", "main"]), state.head);
    assert_eq!(fs_err::read_to_string(stage.env.path("1-1-a.txt")).unwrap(), "work");
}

#[test]
fn a_merge_that_would_lose_something_is_refused() {
    let mut stage = Stage::new(&["1-1-a"], "");
    stage.options.merge = true;
    stage.env.write("1-1-a.txt", "mine");
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Done);
    let refused = state.merged.unwrap().unwrap();
    assert!(refused.contains("1-1-a.txt"), "{refused}");
    assert_eq!(fs_err::read_to_string(stage.env.path("1-1-a.txt")).unwrap(), "mine");
    // Nor is anything merged into a detached head.
    let mut stage = Stage::new(&["1-1-a"], "");
    stage.options.merge = true;
    stage.env.git("", &["checkout", "--quiet", "--detach"]);
    let (_, state) = stage.run(plain());
    assert_eq!(state.merged, Some(Some("another branch is checked out now".to_owned())));
}

#[test]
fn a_branch_moved_by_another_process_stops_the_run() {
    let stage = Stage::new(&["1-1-a", "1-2-b"], "");
    let path = stage.env.path("");
    stage.script(&format!(
        "1-2-b dev * | run \"git -C {} branch --force {BRANCH} main\" write b.txt x \
         print \"IMPLEMENTATION COMPLETE: 1-2-b\"",
        path.display()
    ));
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Environment);
    let reason = state.stopped.unwrap();
    assert_eq!(reason, format!("branch `{BRANCH}` was moved by another process"));
}

#[test]
fn a_project_may_be_a_folder_of_a_repository() {
    let mut stage = Stage::new(&["1-1-a"], "");
    // The same project, one folder further down.
    let root = stage.env.folder().join("project");
    let inner = root.join("inner");
    fs_err::create_dir_all(&inner).unwrap();
    for name in ["docs", ".gitignore"] {
        fs_err::rename(root.join(name), inner.join(name)).unwrap();
    }
    stage.commit("moved");
    stage.inner = "inner".into();
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(stage.show(BRANCH, "inner/1-1-a.txt"), "work");
    assert!(stage.show(BRANCH, "inner/docs/stories/1-1-a.md").contains("Status: done"));
}
