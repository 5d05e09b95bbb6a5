//! What a run would work on: stories, base commit, branch, and previews that leave no trace.

use handover_engine::git::GitError;
use handover_engine::pipeline::{Closing, Pipeline};
use handover_engine::reducer::Skip;
use handover_engine::{EngineError, Overrides, Preview, RunRequest};
use handover_model::{Profile, RunPhase, RunState, SessionId, StoryState};
use handover_store::{RunFilter, Runs as _};

use crate::stage::Stage;

fn pipeline() -> Pipeline {
    Pipeline::story(false, Profile::Edit)
}

fn preview(stage: &Stage, request: &RunRequest) -> Result<Preview, EngineError> {
    stage.with_engine(|engine| engine.plan(request))
}

fn three() -> Stage {
    Stage::new(&["1-1-a", "1-2-b", "1-3-c"], "")
}

fn skipped(preview: &Preview) -> Vec<Option<&str>> {
    preview.plan.stories.iter().map(|story| story.skip.map(Skip::as_str)).collect()
}

#[test]
fn a_preview_shows_prompts_and_leaves_no_trace() {
    let stage = Stage::new(&["1-1-a"], "");
    stage.env.write("go.mod", "module x\n");
    let refs = stage.git(&["for-each-ref"]);
    let preview = preview(&stage, &stage.request(Pipeline::story(true, Profile::Edit))).unwrap();
    assert_eq!(preview.plan.branch, "handover/epic-1");
    assert!(!preview.plan.continues);
    assert_eq!(preview.gates, ["go"]);
    let phases: Vec<RunPhase> = preview.prompts.iter().map(|prompt| prompt.phase).collect();
    assert_eq!(phases, [RunPhase::Dev, RunPhase::Review]);
    assert!(preview.prompts[0].text.contains("- [ ] do 1-1-a"), "{}", preview.prompts[0].text);
    assert_eq!(stage.git(&["for-each-ref"]), refs);
    assert!(stage.store().runs(&RunFilter::default()).unwrap().is_empty());
}

#[test]
fn work_can_start_at_a_story_by_id_or_number() {
    let stage = three();
    for word in ["1-2-b", "2", "1.2", "1-2", "story-1-2"] {
        let mut request = stage.request(pipeline());
        request.start_from = Some(word.to_owned());
        let preview = preview(&stage, &request).unwrap();
        let before = Some("before the story to start from");
        assert_eq!(skipped(&preview), [before, None, None], "{word}");
    }
    for word in ["9", "2.2", "1-2-x", ""] {
        let mut request = stage.request(pipeline());
        request.start_from = Some(word.to_owned());
        let error = preview(&stage, &request).unwrap_err();
        assert!(
            matches!(&error, EngineError::NoSuchStory { stories, .. } if stories.len() == 3),
            "{word}: {error}"
        );
    }
}

#[test]
fn a_story_waits_for_a_draft_and_for_nothing_that_is_done() {
    let stage = three();
    stage.env.write("docs/stories/1-1-a.md", "# A\nStatus: Draft\n");
    stage.env.write("docs/stories/1-2-b.md", "# B\nDepends on: 1.1\n");
    stage.env.write("docs/stories/1-3-c.md", "# C\nDepends on: 1.2\n");
    let request = stage.request(pipeline());
    let draft = preview(&stage, &request).unwrap();
    let waits = "waits for `1-1-a`, which is a draft".to_owned();
    let blocked =
        vec![("1-2-b".to_owned(), waits), ("1-3-c".to_owned(), "waits for `1-2-b`".into())];
    assert_eq!(draft.blocked, blocked);
    assert!(draft.prompts.is_empty());
    let (_, state) = stage.run(pipeline());
    assert_eq!(state.state, RunState::Blocked);
    assert!(state.stories.iter().all(|story| story.lines.is_empty()), "no agent was paid");
    stage.env.write("docs/stories/1-1-a.md", "# A\nStatus: Done\n");
    assert_eq!(preview(&stage, &request).unwrap().blocked, []);
    // A story before the first one is as good as it is.
    let mut request = stage.request(pipeline());
    request.start_from = Some("2".to_owned());
    let found = preview(&stage, &request).unwrap();
    assert_eq!(
        (skipped(&found), &found.blocked),
        (vec![Some("done already"), None, None], &vec![])
    );
    stage.env.write("docs/stories/1-1-a.md", "# A\nStatus: ready\n");
    let blocked = preview(&stage, &request).unwrap().blocked;
    assert!(blocked[0].1.contains("comes before the story to start from"), "{blocked:?}");
}

#[test]
fn done_stories_and_drafts_are_skipped_unless_asked_for() {
    let stage = three();
    stage.env.write("docs/stories/1-1-a.md", "# A\nStatus: done\n");
    stage.env.write("docs/stories/1-2-b.md", "# B\nStatus: Draft\n");
    let mut request = stage.request(pipeline());
    let (done, draft) = (Some("done already"), Some("not ready yet"));
    assert_eq!(skipped(&preview(&stage, &request).unwrap()), [done, draft, None]);
    stage.env.write("docs/stories/1-3-c.md", "# C\nStatus: Blocked\n");
    assert_eq!(skipped(&preview(&stage, &request).unwrap()), [done, draft, Some("blocked")]);
    request.all = true;
    assert_eq!(skipped(&preview(&stage, &request).unwrap()), [None, None, None]);
}

#[test]
fn a_second_run_continues_the_branch_of_the_first() {
    let stage = Stage::new(&["1-1-a"], "");
    let (_, first) = stage.run(pipeline());
    assert_eq!(first.state, RunState::Done);
    let request = stage.request(pipeline());
    let plan = preview(&stage, &request).unwrap().plan;
    assert!(plan.continues);
    assert_eq!(plan.base, first.head);
    // The branch says that the story is done, although the checkout does not.
    assert_eq!(plan.stories[0].skip, Some(Skip::Done));
}

#[test]
fn a_branch_that_the_user_has_overtaken_is_fast_forwarded_by_a_run_only() {
    let stage = Stage::new(&["1-1-a"], "");
    let old = stage.git(&["rev-parse", "HEAD"]);
    stage.git(&["branch", "handover/epic-1"]);
    stage.env.write("new.txt", "x");
    stage.commit("newer");
    let new = stage.git(&["rev-parse", "HEAD"]);
    let plan = preview(&stage, &stage.request(pipeline())).unwrap().plan;
    assert_eq!(plan.base, new);
    assert_eq!(stage.git(&["rev-parse", "handover/epic-1"]), old);
    let (_, state) = stage.run(pipeline());
    assert_eq!(state.plan.base, new);
    assert_eq!(stage.git(&["rev-parse", "handover/epic-1~1"]), new);
}

#[test]
fn diverged_and_checked_out_branches_are_refused() {
    let stage = Stage::new(&["1-1-a"], "");
    stage.git(&["checkout", "-q", "-b", "handover/epic-1"]);
    let error = preview(&stage, &stage.request(pipeline())).unwrap_err();
    assert!(matches!(error, EngineError::Git(GitError::CheckedOut { .. })), "{error}");
    stage.env.write("theirs.txt", "x");
    stage.commit("theirs");
    stage.git(&["checkout", "-q", "-"]);
    stage.env.write("ours.txt", "x");
    stage.commit("ours");
    let error = preview(&stage, &stage.request(pipeline())).unwrap_err();
    assert!(matches!(error, EngineError::Git(GitError::Diverged { .. })), "{error}");
}

#[test]
fn a_run_can_start_from_a_given_commit() {
    let stage = Stage::new(&["1-1-a"], "");
    let old = stage.git(&["rev-parse", "HEAD"]);
    stage.env.write("new.txt", "x");
    stage.commit("newer");
    let mut request = stage.request(pipeline());
    request.from = Some(old.clone());
    assert_eq!(preview(&stage, &request).unwrap().plan.base, old);
}

#[test]
fn records_go_to_the_epics_session_unless_the_user_names_one() {
    let stage = Stage::new(&["1-1-a"], "");
    let mut request = stage.request(pipeline());
    assert_eq!(preview(&stage, &request).unwrap().plan.records_in.as_str(), "epic-1");
    request.session = Some(SessionId::new("mine").unwrap());
    assert_eq!(preview(&stage, &request).unwrap().plan.records_in.as_str(), "mine");
}

#[test]
fn names_that_look_like_secrets_are_refused() {
    let stage = Stage::new(&["1-1-ghp_a8Fk2LmQ9xWz4TnRvB7cYd1EoUiP3sJhG5tN"], "");
    let error = preview(&stage, &stage.request(pipeline())).unwrap_err();
    assert!(matches!(error, EngineError::SecretName { .. }), "{error}");
}

#[test]
fn closing_alone_needs_no_stories() {
    let stage = Stage::new(&[], "");
    let closing = Closing { retro: true, commit: true, ..Closing::default() };
    let mut request = stage.request(pipeline().closed_with(closing));
    assert!(preview(&stage, &request).is_err());
    request.only_closing = true;
    let preview = preview(&stage, &request).unwrap();
    assert!(preview.plan.stories.is_empty());
    let phases: Vec<RunPhase> = preview.prompts.iter().map(|prompt| prompt.phase).collect();
    assert_eq!(phases, [RunPhase::Retro]);
}

#[test]
fn overrides_replace_the_configured_options() {
    let stage = Stage::new(&["1-1-a"], "1-1-a dev 1 | exit 1");
    let mut request = stage.request(pipeline());
    request.overrides = Overrides {
        max_fixes: Some(0),
        parallel: Some(3),
        max_cost: Some(2.5),
        model: Some("m".to_owned()),
        ..Overrides::default()
    };
    let (_, state) = stage.try_run(&request).unwrap();
    let options = &state.options;
    assert_eq!((options.max_fixes, options.parallel), (0, 3));
    assert_eq!(options.budget.run.usd, Some(2.5));
    assert_eq!(options.model.as_deref(), Some("m"));
    assert_eq!(options.phase_timeout, stage.options.phase_timeout);
    assert_eq!(state.stories[0].state, StoryState::Failed);
}

#[test]
fn a_finished_run_is_not_resumed_and_a_new_one_may_start() {
    let stage = Stage::new(&["1-1-a"], "");
    let (first, _) = stage.run(pipeline());
    let mut request = stage.request(pipeline());
    request.resume = true;
    let (resumed, state) = stage.try_run(&request).unwrap();
    assert_eq!((resumed, state.state), (first.clone(), RunState::Done));
    request.resume = false;
    let (second, state) = stage.try_run(&request).unwrap();
    assert_ne!(second, first);
    assert_eq!(state.stories[0].state, StoryState::Skipped);
}

#[test]
fn an_unfinished_run_must_be_resumed() {
    let script = "1-1-a dev 1 | print \"IMPLEMENTATION COMPLETE: 1-1-a\" write a.txt x";
    let mut stage = Stage::new(&["1-1-a"], script);
    // The agent program is missing, which stops the run without failing the story.
    let good = stage.options.command.replace(stage.broken_program());
    let (first, state) = stage.try_run(&stage.request(pipeline())).unwrap();
    assert_eq!(state.state, RunState::Environment);
    stage.options.command = good;
    let error = stage.try_run(&stage.request(pipeline())).unwrap_err();
    assert!(matches!(error, EngineError::Unfinished { .. }), "{error}");
    let mut request = stage.request(pipeline());
    request.resume = true;
    request.overrides.host = Some((stage.options.host, stage.options.command.clone()));
    let (resumed, state) = stage.try_run(&request).unwrap();
    assert_eq!((resumed, state.state), (first, RunState::Done));
}
