//! What the reducer decides after each kind of verdict, refusal and answer.

use handover_engine::data::{Analysis, Contribution, Finding};
use handover_engine::pipeline::{Pipeline, Step, agent_step};
use handover_engine::reducer::{Effect, Event, GateOutcome, PhaseEnd, State};
use handover_model::{FailureClass, Profile, RunPhase, RunState, StoryState, Verdict};

use crate::reducer::{
    agent, committed, ended, gates, open, opened, options, park, phase, start, start_with,
};

fn end(event: PhaseEnd) -> Event {
    Event::PhaseEnded(Box::new(event))
}

/// A story whose developer has ended like this.
fn after_dev(verdict: Verdict) -> State {
    let mut state = start(&[("a", &[])], options());
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, verdict));
    state
}

/// A story that is at its review.
fn at_review() -> State {
    let mut state = after_dev(Verdict::Complete);
    state.apply(&gates("a", 1, GateOutcome::Passed));
    state
}

fn commit(story: &str) -> Effect {
    Effect::Commit { story: story.to_owned() }
}

fn finding(text: &str) -> Finding {
    Finding { text: text.to_owned(), ..Finding::default() }
}

#[test]
fn a_developers_verdict_decides_the_state_of_the_story() {
    for (verdict, expected) in [
        (Verdict::Complete, StoryState::Running),
        (Verdict::Blocked, StoryState::Blocked),
        (Verdict::Failed, StoryState::Failed),
        (Verdict::Skip, StoryState::Skipped),
        (Verdict::Escalate, StoryState::Blocked),
    ] {
        let state = after_dev(verdict);
        assert_eq!(state.stories[0].state, expected, "{verdict}");
        assert_eq!(state.questions().is_empty(), verdict != Verdict::Escalate, "{verdict}");
    }
}

#[test]
fn completion_without_changes_is_a_failure() {
    let mut state = start(&[("a", &[])], options());
    state.apply(&opened("a"));
    let mut lazy = ended("a", RunPhase::Dev, 1, Some(Verdict::Complete));
    lazy.files.clear();
    state.apply(&end(lazy));
    assert_eq!(state.stories[0].state, StoryState::Failed);
    assert!(state.stories[0].reason.contains("changed nothing"), "{}", state.stories[0].reason);
    // A review need not change anything.
    let mut state = at_review();
    let mut review = ended("a", RunPhase::Review, 1, Some(Verdict::Passed));
    review.files.clear();
    assert_eq!(state.handle(&end(review)), [commit("a")]);
}

#[test]
fn an_agent_may_ask_for_retries_until_they_are_used_up() {
    let mut state = start(&[("a", &[])], options());
    state.apply(&opened("a"));
    let retries = agent_step(RunPhase::Dev, "developer", Profile::Edit).retries;
    for attempt in 1..=retries {
        let next = state.handle(&phase("a", RunPhase::Dev, attempt, Verdict::Retry));
        assert_eq!(next, agent("a", RunPhase::Dev, attempt + 1));
        assert_eq!(state.stories[0].retries(None), 0, "asking for it needs no back-off");
    }
    state.apply(&phase("a", RunPhase::Dev, retries + 1, Verdict::Retry));
    assert_eq!(state.stories[0].state, StoryState::Failed);
}

#[test]
fn back_off_grows_while_the_model_cannot_be_reached_and_ends_with_a_success() {
    let mut state = start(&[("a", &[])], options());
    state.apply(&opened("a"));
    let unreachable = |attempt| {
        let mut end = ended("a", RunPhase::Dev, attempt, None);
        end.failure = Some(FailureClass::RateLimit);
        self::end(end)
    };
    state.apply(&unreachable(1));
    assert_eq!(state.stories[0].retries(None), 1);
    state.apply(&unreachable(2));
    assert_eq!(state.stories[0].retries(None), 2);
    state.apply(&phase("a", RunPhase::Dev, 3, Verdict::Complete));
    assert_eq!(state.stories[0].retries(None), 0);
    assert_eq!(state.stories[0].state, StoryState::Running);
}

#[test]
fn other_failures_of_the_program_are_not_retried() {
    let mut state = start(&[("a", &[])], options());
    state.apply(&opened("a"));
    let mut crash = ended("a", RunPhase::Dev, 1, None);
    crash.failure = Some(FailureClass::Crashed);
    assert_eq!(state.handle(&end(crash)), [park("a")]);
}

#[test]
fn a_failed_review_is_fixed_and_reviewed_again() {
    let mut state = at_review();
    let mut review = ended("a", RunPhase::Review, 1, Some(Verdict::Failed));
    review.findings = vec![finding("one"), finding("two")];
    assert_eq!(state.handle(&end(review)), agent("a", RunPhase::Fix, 1));
    assert_eq!(state.stories[0].findings.len(), 2);
    let next = state.handle(&phase("a", RunPhase::Fix, 1, Verdict::Complete));
    assert_eq!(next, [Effect::Gates { story: "a".to_owned(), attempt: 2 }]);
    let next = state.handle(&gates("a", 2, GateOutcome::Passed));
    assert_eq!(next, agent("a", RunPhase::Review, 2));
    assert_eq!(state.stories[0].fixes(), 1);
}

#[test]
fn a_review_that_fails_without_a_reason_fails_the_story() {
    let mut state = at_review();
    let mut review = ended("a", RunPhase::Review, 1, Some(Verdict::Failed));
    review.summary.clear();
    state.apply(&end(review));
    assert_eq!(state.stories[0].state, StoryState::Failed);
    // The summary counts as a finding.
    let mut state = at_review();
    state.apply(&phase("a", RunPhase::Review, 1, Verdict::Failed));
    assert_eq!(state.stories[0].findings, [finding("so")]);
}

#[test]
fn passed_with_fixes_is_fixed_once_and_then_passes() {
    let with_findings = |attempt| {
        let mut review = ended("a", RunPhase::Review, attempt, Some(Verdict::PassedWithFixes));
        review.findings = vec![finding("nit")];
        end(review)
    };
    let mut options = options();
    options.max_fixes = 5;
    let mut state = start(&[("a", &[])], options);
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Complete));
    state.apply(&gates("a", 1, GateOutcome::Passed));
    assert_eq!(state.handle(&with_findings(1)), agent("a", RunPhase::Fix, 1));
    state.apply(&phase("a", RunPhase::Fix, 1, Verdict::Complete));
    state.apply(&gates("a", 2, GateOutcome::Passed));
    assert_eq!(state.handle(&with_findings(2)), [commit("a")]);
}

#[test]
fn passed_with_fixes_without_findings_passes() {
    let mut state = at_review();
    let next = state.handle(&phase("a", RunPhase::Review, 1, Verdict::PassedWithFixes));
    assert_eq!(next, [commit("a")]);
    // What a read-only reviewer changed itself is fixed by a developer.
    let mut state = at_review();
    let mut review = ended("a", RunPhase::Review, 1, Some(Verdict::PassedWithFixes));
    review.restored = vec!["src/a.rs".to_owned()];
    assert_eq!(state.handle(&end(review)), agent("a", RunPhase::Fix, 1));
}

#[test]
fn work_that_must_not_be_committed_is_fixed() {
    let mut state = at_review();
    state.apply(&phase("a", RunPhase::Review, 1, Verdict::Passed));
    let refused = Event::Refused { story: "a".to_owned(), problems: vec!["a secret".to_owned()] };
    assert_eq!(state.handle(&refused), agent("a", RunPhase::Fix, 1));
    assert_eq!(state.stories[0].findings, [finding("a secret")]);
    state.apply(&phase("a", RunPhase::Fix, 1, Verdict::Complete));
    state.apply(&gates("a", 2, GateOutcome::Passed));
    state.apply(&phase("a", RunPhase::Review, 2, Verdict::Passed));
    // The only fix is used up.
    assert_eq!(state.handle(&refused), [park("a")]);
    assert!(state.stories[0].reason.contains("after 1 fix: a secret"));
}

#[test]
fn without_fixes_the_first_failure_is_the_last() {
    let mut options = options();
    options.max_fixes = 0;
    let mut state = start(&[("a", &[])], options);
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Complete));
    assert_eq!(state.handle(&gates("a", 1, GateOutcome::Failed)), [park("a")]);
}

#[test]
fn a_project_without_gates_continues_with_the_review() {
    let mut state = after_dev(Verdict::Complete);
    assert_eq!(state.handle(&gates("a", 1, GateOutcome::None)), agent("a", RunPhase::Review, 1));
}

#[test]
fn work_lands_on_the_current_head_one_story_at_a_time() {
    let mut options = options();
    options.parallel = 2;
    let pipeline = Pipeline::story(false, Profile::Edit);
    let mut state = start_with(pipeline, &[("a", &[]), ("b", &[])], options);
    for story in ["a", "b"] {
        state.apply(&opened(story));
        state.apply(&phase(story, RunPhase::Dev, 1, Verdict::Complete));
        state.apply(&gates(story, 1, GateOutcome::Passed));
    }
    assert_eq!(state.ready(), [commit("a"), commit("b")]);
    state.apply(&committed("a"));
    let rebase = Effect::Rebase { story: "b".to_owned(), onto: "commit of a".to_owned() };
    assert_eq!(state.ready(), [rebase]);
    let rebased = |conflicts: &[&str]| Event::Rebased {
        story: "b".to_owned(),
        base: "commit of a".to_owned(),
        tree: "merged".to_owned(),
        conflicts: conflicts.iter().map(|&path| path.to_owned()).collect(),
    };
    let mut clean = state.clone();
    assert_eq!(clean.handle(&rebased(&[])), [Effect::Gates { story: "b".to_owned(), attempt: 2 }]);
    assert_eq!(clean.handle(&gates("b", 2, GateOutcome::Passed)), [commit("b")]);
    assert_eq!(state.handle(&rebased(&["x.rs"])), agent("b", RunPhase::Fix, 1));
    assert_eq!(state.stories[1].findings[0].place, "x.rs");
    assert_eq!(state.stories[1].tree.as_deref(), Some("merged"));
}

#[test]
fn dependents_wait_until_a_story_is_done() {
    let mut options = options();
    options.parallel = 3;
    let pipeline = Pipeline::story(false, Profile::Edit);
    let mut state = start_with(pipeline, &[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])], options);
    assert_eq!(state.ready(), [open("a")]);
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Complete));
    assert!(!state.ready().contains(&open("b")));
    state.apply(&gates("a", 1, GateOutcome::Passed));
    assert_eq!(state.handle(&committed("a")), [open("b")]);
}

#[test]
fn only_stories_skipped_by_an_agent_block_their_dependents() {
    let mut state = start(&[("a", &[]), ("b", &["a"])], options());
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Skip));
    assert_eq!(state.stories[1].state, StoryState::Blocked);
    state.apply(&Event::Parked { story: "a".to_owned(), branch: None });
    assert_eq!(state.verdict(), RunState::Failed);
}

#[test]
fn a_dependency_outside_the_plan_does_not_block() {
    let state = start(&[("a", &["elsewhere"])], options());
    assert_eq!(state.ready(), [open("a")]);
}

#[test]
fn questions_stop_the_run_once_nothing_else_is_left() {
    let mut state = start(&[("a", &[]), ("b", &[]), ("c", &["a"])], options());
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Escalate));
    state.apply(&Event::Parked { story: "a".to_owned(), branch: None });
    assert_eq!(state.questions(), [("a".to_owned(), "so".to_owned())]);
    // `c` may still become possible.
    assert_eq!(state.stories[2].state, StoryState::Pending);
    assert_eq!(state.ready(), [open("b")]);
    state.apply(&opened("b"));
    state.apply(&phase("b", RunPhase::Dev, 1, Verdict::Failed));
    state.apply(&Event::Parked { story: "b".to_owned(), branch: None });
    assert_eq!(state.ready(), [Effect::Ask]);
}

#[test]
fn an_answer_restarts_the_story_with_its_advice() {
    let mut state = after_dev(Verdict::Escalate);
    let answered =
        |text: &str| Event::Answered { story: "a".to_owned(), answer: text.to_owned(), by: None };
    assert_eq!(state.handle(&answered("use port 0")), agent("a", RunPhase::Dev, 2));
    assert!(state.questions().is_empty());
    let story = &state.stories[0];
    assert_eq!(story.state, StoryState::Running);
    assert_eq!((story.answers.len(), story.answers[0].text.as_str()), (1, "use port 0"));
    // Without a question an answer changes nothing.
    let before = state.clone();
    state.apply(&answered("again"));
    assert_eq!(state, before);
}

#[test]
fn an_answer_after_the_head_has_moved_continues_with_merged_work() {
    let mut state = start(&[("a", &[]), ("b", &[])], options());
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Escalate));
    state.apply(&opened("b"));
    state.apply(&committed("b"));
    state.apply(&Event::Answered { story: "a".to_owned(), answer: "yes".to_owned(), by: None });
    let onto = state.head.clone();
    assert_eq!(state.ready(), [Effect::Rebase { story: "a".to_owned(), onto: onto.clone() }]);
    // Conflicts are the developer's to resolve.
    let (tree, conflicts) = ("merged".to_owned(), vec!["x.rs".to_owned()]);
    state.apply(&Event::Rebased { story: "a".to_owned(), base: onto, tree, conflicts });
    assert_eq!(state.stories[0].tree.as_deref(), Some("merged"));
    assert_eq!(state.stories[0].findings[0].place, "x.rs");
    let ready = state.ready();
    assert!(matches!(&ready[..], [Effect::Agent { phase: RunPhase::Dev, .. }]), "{ready:?}");
}

/// A pipeline with an analyst of failures.
fn analyzed() -> State {
    let mut pipeline = Pipeline::story(false, Profile::Edit);
    let analyst = agent_step(RunPhase::Analysis, "investigator", Profile::ReadOnly);
    pipeline.on_failure = Some(Step::Agent(analyst));
    let mut options = options();
    options.max_retries = 1;
    let mut state = start_with(pipeline, &[("a", &[])], options);
    state.apply(&opened("a"));
    state
}

fn analysis(attempt: u32, verdict: Option<Verdict>, adds: bool) -> Event {
    let mut end = ended("a", RunPhase::Analysis, attempt, verdict);
    let analysis = Analysis {
        root_cause: "the port is taken".to_owned(),
        remediation: vec!["use port 0".to_owned()],
        adds,
        ..Analysis::default()
    };
    end.contribution = Contribution { analysis: Some(analysis), ..Contribution::default() };
    self::end(end)
}

#[test]
fn a_failure_is_retried_with_new_advice_only() {
    let mut state = analyzed();
    let next = state.handle(&phase("a", RunPhase::Dev, 1, Verdict::Failed));
    assert_eq!(next, agent("a", RunPhase::Analysis, 1));
    let mut old = state.clone();
    old.apply(&analysis(1, Some(Verdict::Retry), false));
    assert!(old.questions()[0].1.contains("with nothing new"), "{:?}", old.questions());
    assert_eq!(
        state.handle(&analysis(1, Some(Verdict::Retry), true)),
        agent("a", RunPhase::Dev, 2)
    );
    let advice = state.stories[0].failures[0].advice.as_deref().unwrap();
    assert!(advice.contains("use port 0"), "{advice}");
}

#[test]
fn retries_are_bounded() {
    let mut state = analyzed();
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Failed));
    state.apply(&analysis(1, Some(Verdict::Retry), true));
    let mut other = ended("a", RunPhase::Dev, 2, Some(Verdict::Failed));
    other.summary = "something else entirely".to_owned();
    state.apply(&end(other));
    state.apply(&analysis(2, Some(Verdict::Retry), true));
    assert!(state.questions()[0].1.contains("No retries are left"), "{:?}", state.questions());
}

#[test]
fn the_same_failure_twice_is_a_question_without_another_analysis() {
    let mut state = analyzed();
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Failed));
    state.apply(&analysis(1, Some(Verdict::Retry), true));
    let mut same = ended("a", RunPhase::Dev, 2, Some(Verdict::Failed));
    same.summary = "so".to_owned();
    state.apply(&end(same));
    assert!(state.questions()[0].1.starts_with("It failed twice in the same way"));
}

#[test]
fn an_analysis_may_skip_escalate_or_change_nothing() {
    let failed = || {
        let mut state = analyzed();
        state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Blocked));
        state
    };
    let mut state = failed();
    state.apply(&analysis(1, Some(Verdict::Skip), false));
    assert_eq!(state.stories[0].state, StoryState::Skipped);
    let mut state = failed();
    state.apply(&analysis(1, Some(Verdict::Escalate), false));
    assert_eq!(state.stories[0].state, StoryState::Blocked);
    assert_eq!(state.questions().len(), 1);
    // Without a clear verdict the story keeps the state of its failure.
    let mut state = failed();
    state.apply(&analysis(1, None, false));
    assert_eq!(state.stories[0].state, StoryState::Blocked);
    assert!(state.questions().is_empty());
}

#[test]
fn an_unreachable_model_is_not_analyzed() {
    let mut state = analyzed();
    for attempt in 1..=3 {
        let mut unreachable = ended("a", RunPhase::Dev, attempt, None);
        unreachable.failure = Some(FailureClass::Overloaded);
        state.apply(&end(unreachable));
    }
    assert_eq!(state.stories[0].state, StoryState::Failed);
    assert_eq!(state.ready(), [park("a")]);
}

#[test]
fn the_worst_story_decides_how_a_run_ends() {
    let verdict = |ends: &[Verdict]| {
        let ids = ["a", "b"];
        let stories: Vec<(&str, &[&str])> = ids.iter().map(|id| (*id, [].as_slice())).collect();
        let mut state = start(&stories, options());
        for (id, end) in ids.iter().zip(ends) {
            state.apply(&opened(id));
            if *end == Verdict::Complete {
                state.apply(&committed(id));
            } else {
                state.apply(&phase(id, RunPhase::Dev, 1, *end));
            }
        }
        state.verdict()
    };
    use Verdict::{Blocked, Complete, Failed, Skip};
    assert_eq!(verdict(&[Complete, Complete]), RunState::Done);
    assert_eq!(verdict(&[Complete, Blocked]), RunState::Blocked);
    assert_eq!(verdict(&[Failed, Blocked]), RunState::Failed);
    assert_eq!(verdict(&[Skip, Complete]), RunState::Failed);
}

#[test]
fn the_users_branch_is_merged_once_and_only_if_there_is_something() {
    let mut options = options();
    options.merge = true;
    let mut state = start(&[("a", &[])], options);
    state.apply(&opened("a"));
    let mut empty = state.clone();
    empty.apply(&phase("a", RunPhase::Dev, 1, Verdict::Failed));
    empty.apply(&Event::Parked { story: "a".to_owned(), branch: None });
    assert_eq!(empty.ready(), [Effect::Finish], "nothing was committed");
    assert_eq!(state.handle(&committed("a")), [Effect::Merge]);
    let refused = Event::Merged { refused: Some("dirty".to_owned()) };
    assert_eq!(state.handle(&refused), [Effect::Finish]);
    assert_eq!(state.merged, Some(Some("dirty".to_owned())));
}

#[test]
fn events_answer_their_own_effects_only() {
    let effects = [
        open("a"),
        agent("a", RunPhase::Dev, 1).remove(0),
        agent("a", RunPhase::Dev, 2).remove(0),
        Effect::Gates { story: "a".to_owned(), attempt: 1 },
        Effect::Gates { story: "b".to_owned(), attempt: 1 },
        commit("a"),
        park("a"),
        Effect::Merge,
        Effect::Ask,
        Effect::Finish,
    ];
    let answered = |event: &Event| -> Vec<usize> {
        (0..effects.len()).filter(|n| event.answers(&effects[*n])).collect()
    };
    assert_eq!(answered(&opened("a")), [0]);
    assert_eq!(answered(&phase("a", RunPhase::Dev, 1, Verdict::Complete)), [1]);
    assert_eq!(answered(&phase("a", RunPhase::Dev, 2, Verdict::Complete)), [2]);
    assert!(answered(&phase("a", RunPhase::Fix, 1, Verdict::Complete)).is_empty());
    assert_eq!(answered(&gates("b", 1, GateOutcome::Passed)), [4]);
    assert_eq!(answered(&committed("a")), [5]);
    let refused = Event::Refused { story: "a".to_owned(), problems: Vec::new() };
    assert_eq!(answered(&refused), [5]);
    assert_eq!(answered(&Event::Parked { story: "a".to_owned(), branch: None }), [6]);
    assert_eq!(answered(&Event::Merged { refused: None }), [7]);
    let stopped = Event::Stopped { state: RunState::Blocked, reason: String::new() };
    assert_eq!(answered(&stopped), [8]);
    assert_eq!(answered(&Event::Ended { state: RunState::Done }), [9]);
}

#[test]
fn effects_are_named_as_the_journal_spells_them() {
    for effect in [
        open("a"),
        agent("a", RunPhase::Dev, 1).remove(0),
        commit("a"),
        park("a"),
        Effect::Merge,
        Effect::Ask,
        Effect::Halt { reason: "x".to_owned() },
        Effect::Wait { until: handover_model::Timestamp::from_micros(1_000) },
        Effect::Finish,
    ] {
        let json = serde_json::to_value(&effect).unwrap();
        assert_eq!(json["effect"], effect.name());
        assert_eq!(json.get("story").and_then(|story| story.as_str()), effect.story());
        let back: Effect = serde_json::from_value(json).unwrap();
        assert_eq!(back, effect);
    }
}
