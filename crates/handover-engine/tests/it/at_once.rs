//! What may be started at the same time, without executing anything: stories, parties, budgets, and closing
//! an epic.

use handover_engine::Spent;
use handover_engine::data::Finding;
use handover_engine::data::{Analysis, Contribution};
use handover_engine::pipeline::{PartyRules, PartyStep, Pipeline, Step, Voice, agent_step};
use handover_engine::reducer::{Effect, Event, GateOutcome, PhaseEnd, State, settle_party};
use handover_model::{Profile, RunPhase, RunState, StoryState, Verdict};

use crate::reducer::{
    agent, committed, ended, gates, open, opened, options, park, phase, start, start_with,
};

/// Starts everything that may start next to what is in flight, and returns what is then in flight.
fn begin(state: &State, mut busy: Vec<Effect>) -> (Vec<Effect>, Vec<Effect>) {
    let mut begun = Vec::new();
    while let Some(effect) = state.next(&busy) {
        begun.push(effect.clone());
        busy.push(effect);
    }
    (begun, busy)
}

fn three(parallel: u32) -> State {
    let mut options = options();
    options.parallel = parallel;
    start(&[("a", &[]), ("b", &[]), ("c", &["a"]), ("d", &[])], options)
}

#[test]
fn stories_are_opened_side_by_side_and_dependents_wait() {
    let mut state = three(3);
    assert_eq!(state.ready(), [open("a"), open("b"), open("d")]);
    for story in ["a", "b", "d"] {
        state.apply(&opened(story));
    }
    let dev = |story| agent(story, RunPhase::Dev, 1).remove(0);
    assert_eq!(state.ready(), [dev("a"), dev("b"), dev("d")]);
    let (begun, busy) = begin(&state, vec![dev("a")]);
    assert_eq!(begun, [dev("b"), dev("d")]);
    assert_eq!(state.next(&busy), None);
    // A failed story frees its slot, and its dependents are blocked.
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Failed));
    assert_eq!(state.ready(), [park("a"), dev("b"), dev("d")]);
    assert_eq!(state.story("c").unwrap().state, StoryState::Blocked);
}

#[test]
fn without_parallelism_one_agent_runs_at_a_time() {
    let mut state = three(1);
    assert_eq!(state.ready(), [open("a")]);
    state.apply(&opened("a"));
    let (begun, busy) = begin(&state, Vec::new());
    assert_eq!((begun, busy.len()), (agent("a", RunPhase::Dev, 1), 1));
}

/// An agent that has cost something.
fn costly(story: &str, of: RunPhase, usd: f64) -> Event {
    let mut end = ended(story, of, 1, Some(Verdict::Complete));
    end.spent = Spent { cost_usd: usd, ..Spent::default() };
    Event::PhaseEnded(Box::new(end))
}

#[test]
fn agents_in_flight_count_against_the_budget() {
    let mut options = options();
    options.parallel = 3;
    options.budget.run.usd = Some(1.0);
    let mut state = start(&[("a", &[]), ("b", &[]), ("c", &[])], options);
    for story in ["a", "b", "c"] {
        state.apply(&opened(story));
    }
    let dev = |story| agent(story, RunPhase::Dev, 1).remove(0);
    // As long as the cost of an agent is unknown, only one runs.
    assert_eq!(begin(&state, Vec::new()).0, [dev("a")]);
    state.apply(&costly("a", RunPhase::Dev, 0.4));
    state.apply(&gates("a", 1, GateOutcome::None));
    // 0.4 are spent and another 0.4 expected; a third would be too much, so it waits …
    let (begun, busy) = begin(&state, Vec::new());
    assert_eq!(begun, agent("a", RunPhase::Review, 1));
    assert_eq!(state.next(&busy), None);
    // … and the run stops once no agent is left.
    state.apply(&costly("a", RunPhase::Review, 0.4));
    state.apply(&committed("a"));
    assert!(matches!(state.next(&[]), Some(Effect::Halt { .. })), "{:?}", state.next(&[]));
}

fn party(of: RunPhase, personas: &[&str], rounds: u32) -> Step {
    Step::Party(PartyStep {
        agent: agent_step(of, "tech_lead", Profile::ReadOnly),
        personas: crate::reducer::personas(personas),
        rounds,
        solo: false,
        rules: PartyRules::default(),
    })
}

/// A pipeline whose review is a party of two.
fn with_party() -> Pipeline {
    let mut pipeline = Pipeline::story(true, Profile::Edit);
    pipeline.steps[2] = party(RunPhase::Review, &["ann", "bob"], 2);
    pipeline
}

fn voice(persona: &str, round: u32) -> Voice {
    Voice { persona: persona.to_owned(), round }
}

fn spoke(persona: &str, round: u32, verdict: Option<Verdict>, found: &str) -> PhaseEnd {
    let mut end = ended("a", RunPhase::Review, 1, verdict);
    end.voice = Some(voice(persona, round));
    end.summary = format!("{persona} {round}");
    if !found.is_empty() {
        end.findings = vec![Finding { text: found.to_owned(), ..Finding::default() }];
    }
    end
}

fn speaks(persona: &str, round: u32) -> Effect {
    let voice = Some(voice(persona, round));
    Effect::Agent { story: "a".to_owned(), phase: RunPhase::Review, attempt: 1, voice }
}

/// A story that has reached its review.
fn before_review(pipeline: Pipeline) -> State {
    let mut state = start_with(pipeline, &[("a", &[])], options());
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Complete));
    state.apply(&gates("a", 1, GateOutcome::None));
    state
}

#[test]
fn a_party_settles_the_same_in_any_order() {
    use Verdict::{Failed, Passed};
    let rounds = [
        [spoke("ann", 1, Some(Passed), ""), spoke("bob", 1, Some(Failed), "no test")],
        [spoke("ann", 2, Some(Failed), "no greeting"), spoke("bob", 2, Some(Failed), "no test")],
    ];
    let mut ends = Vec::new();
    for order in [[0, 1], [1, 0]] {
        let mut state = before_review(with_party());
        let (begun, _) = begin(&state, Vec::new());
        assert_eq!(begun, [speaks("ann", 1), speaks("bob", 1)]);
        for round in &rounds {
            for at in order {
                state.apply(&Event::PhaseEnded(Box::new(round[at].clone())));
            }
        }
        let story = &state.stories[0];
        let found: Vec<&str> = story.findings.iter().map(|found| found.text.as_str()).collect();
        assert_eq!(found, ["no greeting", "no test"]);
        assert_eq!(state.ready(), agent("a", RunPhase::Fix, 1));
        let record = story.parties.clone();
        assert_eq!(record[0].voices.len(), 4);
        ends.push(record);
    }
    assert_eq!(ends[0], ends[1]);
}

#[test]
fn the_second_round_waits_for_the_first_and_sees_it() {
    let mut state = before_review(with_party());
    state.apply(&Event::PhaseEnded(Box::new(spoke("bob", 1, Some(Verdict::Passed), ""))));
    assert_eq!(state.ready(), [speaks("ann", 1)]);
    // A voice without a clear statement counts as silent.
    state.apply(&Event::PhaseEnded(Box::new(spoke("ann", 1, None, ""))));
    assert_eq!(state.ready(), [speaks("ann", 2), speaks("bob", 2)]);
    let words = state.stories[0].statements();
    let heard: Vec<(&str, u32)> = words.iter().map(|w| (w.persona.as_str(), w.round)).collect();
    assert_eq!(heard, [("bob", 1), ("ann", 1)]);
}

#[test]
fn the_strictest_vote_wins_and_silence_is_not_approval() {
    let Step::Party(party) = party(RunPhase::Review, &["ann", "bob"], 1) else { unreachable!() };
    let verdict = |one, two| {
        settle_party(&party, &[spoke("ann", 1, one, "x"), spoke("bob", 1, two, "x")]).verdict
    };
    use Verdict::{Failed, Passed, PassedWithFixes};
    assert_eq!(verdict(Some(Passed), Some(Failed)), Some(Failed));
    assert_eq!(verdict(Some(Passed), Some(PassedWithFixes)), Some(Passed));
    // One of two is not a majority.
    assert_eq!(verdict(Some(Passed), None), None);
    assert_eq!(verdict(None, None), None);
    let both = settle_party(
        &party,
        &[spoke("ann", 1, Some(Failed), "x"), spoke("bob", 1, Some(Failed), "x")],
    );
    assert_eq!(both.findings.len(), 1);
}

fn with_analysis() -> Pipeline {
    let mut pipeline = Pipeline::story(true, Profile::Edit);
    let analyst = agent_step(RunPhase::Analysis, "investigator", Profile::ReadOnly);
    pipeline.on_failure = Some(Step::Agent(analyst));
    pipeline
}

/// An analysis that does or does not add something new.
fn analyzed(attempt: u32, verdict: Verdict, adds: bool) -> Event {
    let mut end = ended("a", RunPhase::Analysis, attempt, Some(verdict));
    let question = (verdict == Verdict::Escalate).then(|| "Which key?".to_owned());
    let analysis = Analysis { adds, question, ..Analysis::default() };
    end.contribution = Contribution { analysis: Some(analysis), ..Contribution::default() };
    Event::PhaseEnded(Box::new(end))
}

fn failed(attempt: u32, summary: &str) -> Event {
    let mut end = ended("a", RunPhase::Dev, attempt, Some(Verdict::Failed));
    end.summary = summary.to_owned();
    Event::PhaseEnded(Box::new(end))
}

#[test]
fn a_failure_is_analyzed_and_the_verdict_followed() {
    use RunPhase::{Analysis, Dev};
    use Verdict::{Escalate, Retry, Skip};
    for (verdict, adds, expected, question) in [
        (Retry, true, None, None),
        (Retry, false, Some(StoryState::Blocked), Some("What should be done?")),
        (Skip, false, Some(StoryState::Skipped), None),
        (Escalate, false, Some(StoryState::Blocked), Some("Which key?")),
    ] {
        let mut state = start_with(with_analysis(), &[("a", &[]), ("b", &["a"])], options());
        state.apply(&opened("a"));
        let ready = state.handle(&phase("a", Dev, 1, Verdict::Failed));
        assert_eq!(ready, agent("a", Analysis, 1));
        let ready = state.handle(&analyzed(1, verdict, adds));
        let asked = state.stories[0].question.clone();
        assert_eq!(asked.is_some(), question.is_some());
        assert!(asked.unwrap_or_default().starts_with(question.unwrap_or_default()));
        match expected {
            None => assert_eq!(ready, agent("a", Dev, 2)),
            Some(settled) => {
                assert_eq!(ready, [park("a")]);
                assert_eq!(state.stories[0].state, settled);
                // Its dependents wait for an answer, otherwise they are blocked.
                let waits =
                    if question.is_some() { StoryState::Pending } else { StoryState::Blocked };
                assert_eq!(state.stories[1].state, waits);
            }
        }
    }
}

#[test]
fn retries_after_an_analysis_are_bounded() {
    use RunPhase::{Analysis, Dev};
    // A different failure every time, until no retries are left.
    let mut state = start_with(with_analysis(), &[("a", &[])], options());
    state.apply(&opened("a"));
    for (attempt, summary) in [(1, "no socket"), (2, "no file"), (3, "no greeting")] {
        assert_eq!(state.handle(&failed(attempt, summary)), agent("a", Analysis, attempt));
        state.apply(&analyzed(attempt, Verdict::Retry, true));
    }
    assert_eq!(state.ready(), [park("a")]);
    assert!(state.stories[0].question.is_some());
    // The same failure again is not even analyzed.
    let mut state = start_with(with_analysis(), &[("a", &[])], options());
    state.apply(&opened("a"));
    state.apply(&failed(1, "no socket at /tmp/x1, 3 tries"));
    state.apply(&analyzed(1, Verdict::Retry, true));
    assert_eq!(state.ready(), agent("a", Dev, 2));
    assert_eq!(state.handle(&failed(2, "no socket at /tmp/y2, 4 tries")), [park("a")]);
    assert!(state.stories[0].question.as_ref().unwrap().contains("twice in the same way"));
}

#[test]
fn a_run_waits_for_an_answer_and_continues() {
    let mut state =
        start_with(with_analysis(), &[("a", &[]), ("b", &["a"]), ("c", &[])], options());
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Blocked));
    state.apply(&analyzed(1, Verdict::Escalate, false));
    state.apply(&Event::Parked { story: "a".to_owned(), branch: Some("failed/a".to_owned()) });
    // Independent stories continue; then the run stops and can be resumed.
    assert_eq!(state.ready(), [open("c")]);
    let mut moved = state.clone();
    for event in [opened("c"), phase("c", RunPhase::Dev, 1, Verdict::Complete)] {
        moved.apply(&event);
    }
    moved.apply(&committed("c"));
    assert_eq!(moved.ready(), [Effect::Ask]);
    let reason = "asked".to_owned();
    moved.apply(&Event::Stopped { state: RunState::Blocked, reason });
    assert!(moved.ready().is_empty() && !moved.is_over());
    let answer =
        Event::Answered { story: "a".to_owned(), answer: "the blue one".to_owned(), by: None };
    moved.apply(&answer);
    assert!(moved.questions().is_empty());
    moved.apply(&Event::Resumed { options: Box::new(options()) });
    // The head has moved, so its work is merged with it first; otherwise it continues where it was.
    let rebase = Effect::Rebase { story: "a".to_owned(), onto: "commit of c".to_owned() };
    assert_eq!(moved.ready(), [rebase]);
    assert_eq!(state.handle(&answer)[0], agent("a", RunPhase::Dev, 2)[0]);
    // An answer without a question changes nothing.
    let before = state.clone();
    state.apply(&answer);
    assert_eq!(state, before);
}

#[test]
fn an_epic_is_closed_once_its_stories_are_settled() {
    let mut pipeline = Pipeline::story(false, Profile::Edit);
    pipeline.closing = vec![
        Step::Agent(agent_step(RunPhase::Retro, "project_manager", Profile::Edit)),
        Step::Commit,
    ];
    let mut state = start_with(pipeline, &[("a", &[]), ("b", &[])], options());
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Blocked));
    assert_eq!(state.ready(), [park("a"), open("b")]);
    state.apply(&Event::Parked { story: "a".to_owned(), branch: None });
    state.apply(&opened("b"));
    state.apply(&phase("b", RunPhase::Dev, 1, Verdict::Complete));
    state.apply(&gates("b", 1, GateOutcome::None));
    assert_eq!(state.handle(&committed("b")), [open("epic-1")]);
    assert_eq!(state.handle(&opened("epic-1")), agent("epic-1", RunPhase::Retro, 1));
    // It may fail, and nothing fixes it; the run's state depends on its stories.
    let ready = state.handle(&phase("epic-1", RunPhase::Retro, 1, Verdict::Failed));
    assert_eq!(ready, [park("epic-1")]);
    let parked = Event::Parked { story: "epic-1".to_owned(), branch: None };
    assert_eq!(state.handle(&parked), [Effect::Finish]);
    assert_eq!(state.verdict(), RunState::Blocked);
}
