//! Properties of the reducer over random runs: they end, they replay, and the order in which workers
//! finish makes no difference.

use handover_engine::data::{Analysis, Contribution, Finding, ScenarioResult, Spent};
use handover_engine::party::Parties;
use handover_engine::pipeline::{Closing, Pipeline, UatStep};
use handover_engine::reducer::{Effect, Event, GateOutcome, PhaseEnd, State, StoryRun};
use handover_engine::verdict::allowed;
use handover_model::config::PartyConfig;
use handover_model::{
    FailureClass, PartyPhase, Profile, RunPhase, RunState, ScenarioKind, ScenarioOutcome,
    StoryState, TestingMode, UatGate, Verdict,
};
use proptest::prelude::*;

use crate::reducer::{options, personas, start_with};

/// A stream of choices. Once it is used up, everything goes well.
struct Choices {
    left: Vec<u8>,
}

impl Choices {
    fn one_of(&mut self, most: usize) -> usize {
        let choice = usize::from(self.left.pop().unwrap_or(0));
        choice % most.max(1)
    }

    /// Rarely true.
    fn is_unlucky(&mut self) -> bool {
        self.one_of(8) == 7
    }
}

fn pipeline(which: usize) -> Pipeline {
    let uat = Some(UatStep { gate: UatGate::Quick, heal: 1 });
    let closing = Closing { generate: true, uat, retro: true, commit: true };
    let story = Pipeline::story(true, Profile::Edit);
    match which {
        0 => story,
        1 => story.closed_with(closing),
        2 => Pipeline::team(Profile::Edit, TestingMode::Full),
        3 => Parties::new(true).join(story),
        _ => {
            let mut parties = Parties::new(true);
            for phase in [PartyPhase::Kickoff, PartyPhase::Review, PartyPhase::Failure] {
                let config = PartyConfig::default();
                parties.invite(phase, personas(&["ann", "bob"]), false, &config, Profile::Edit);
            }
            parties.join(story)
        }
    }
}

/// Four stories, of which one waits for another.
fn begin(which: usize, parallel: u32) -> State {
    let mut options = options();
    options.parallel = parallel;
    options.merge = which == 0;
    start_with(pipeline(which), &[("a", &[]), ("b", &["a"]), ("c", &[]), ("d", &[])], options)
}

/// What an agent could report where the story is.
fn agent_end(state: &State, effect: &Effect, number: u32, choices: &mut Choices) -> PhaseEnd {
    let Effect::Agent { story, phase, attempt, voice } = effect else { panic!("{effect:?}") };
    let unit = state.story(story).unwrap();
    let step = state.agent_of(unit, voice.as_ref()).unwrap();
    let mut end = crate::reducer::ended(story, *phase, *attempt, None);
    end.voice.clone_from(voice);
    end.role = Some(step.role.clone());
    end.tree = format!("tree {number}");
    end.summary = format!("{phase} {number}");
    end.spent = Spent { cost_usd: 0.125, unpriced: 0, tokens: 3, turns: 1, duration_ms: 10 };
    if choices.is_unlucky() {
        let classes = [
            FailureClass::Overloaded,
            FailureClass::Crashed,
            FailureClass::ExitCode,
            FailureClass::Quota,
        ];
        let class = classes[choices.one_of(classes.len())];
        end.failure = Some(class);
        // A usage limit is waited for.
        // Whole milliseconds, as in a journal.
        let until = handover_model::Timestamp::from_micros(i64::from(number) * 1_000);
        end.waits_until = (class == FailureClass::Quota).then_some(until);
        return end;
    }
    if step.statuses.is_empty() {
        let verdicts = allowed(*phase);
        end.verdict = Some(verdicts[choices.one_of(verdicts.len())]);
    } else {
        let (status, verdict) = step.statuses[choices.one_of(step.statuses.len())];
        (end.status, end.verdict) = (Some(status), Some(verdict));
    }
    if choices.is_unlucky() {
        end.files.clear();
    }
    if matches!(end.verdict, Some(Verdict::Failed | Verdict::PassedWithFixes)) {
        end.findings = vec![Finding { text: format!("found {number}"), ..Finding::default() }];
    }
    if *phase == RunPhase::Analysis {
        let analysis = Analysis { adds: !choices.is_unlucky(), ..Analysis::default() };
        end.contribution = Contribution { analysis: Some(analysis), ..Contribution::default() };
    }
    end
}

fn scenario(outcome: ScenarioOutcome) -> ScenarioResult {
    ScenarioResult {
        id: "S1".to_owned(),
        criterion: "AC1".to_owned(),
        kind: ScenarioKind::Auto,
        outcome,
        reason: String::new(),
        tail: String::new(),
        duration_ms: 1,
    }
}

/// An event that answers an effect.
fn answer(state: &State, effect: &Effect, number: u32, choices: &mut Choices) -> Event {
    let tree = format!("tree {number}");
    match effect {
        Effect::Open { story } => {
            Event::Opened { story: story.clone(), base: state.head.clone(), tree }
        }
        Effect::Agent { .. } => {
            Event::PhaseEnded(Box::new(agent_end(state, effect, number, choices)))
        }
        Effect::GiveUp { story, reason } => {
            Event::GaveUp { story: story.clone(), reason: reason.clone(), by: None }
        }
        Effect::Wait { until } => Event::WaitEnded { until: *until },
        Effect::CheckBase => {
            let failing = vec!["old".to_owned()];
            Event::BaseChecked { failing, variables: Vec::new(), duration_ms: 3 }
        }
        Effect::Gates { story, attempt } => {
            let outcomes = [GateOutcome::Passed, GateOutcome::None, GateOutcome::Failed];
            Event::GatesEnded {
                story: story.clone(),
                attempt: *attempt,
                outcome: outcomes[choices.one_of(outcomes.len())],
                failures: vec![format!("test {number}")],
                detail: "boom".to_owned(),
                duration_ms: 5,
            }
        }
        Effect::Rebase { story, onto } => {
            let conflicts = if choices.is_unlucky() { vec!["a.rs".to_owned()] } else { Vec::new() };
            Event::Rebased { story: story.clone(), base: onto.clone(), tree, conflicts }
        }
        Effect::Uat { story, attempt } => {
            use ScenarioOutcome::{Failed, NotRun, Passed, Refused};
            let outcome = [Passed, Failed, Refused, NotRun][choices.one_of(4)];
            Event::UatEnded {
                story: story.clone(),
                attempt: *attempt,
                gate: UatGate::Quick,
                results: vec![scenario(outcome)],
                problem: None,
                tree,
                duration_ms: 5,
            }
        }
        Effect::Forgo { story, phase, attempt, voice, reason } => {
            let mut end = crate::reducer::ended(story, *phase, *attempt, None);
            end.voice.clone_from(voice);
            end.summary.clone_from(reason);
            Event::PhaseEnded(Box::new(end))
        }
        Effect::Commit { story } if choices.is_unlucky() => {
            Event::Refused { story: story.clone(), problems: vec![format!("secret {number}")] }
        }
        Effect::Commit { story } => {
            Event::Committed { story: story.clone(), commit: format!("commit {number}") }
        }
        Effect::Park { story } => Event::Parked { story: story.clone(), branch: None },
        Effect::Merge => Event::Merged { refused: None },
        Effect::Ask => Event::Stopped { state: RunState::Blocked, reason: "asks".to_owned() },
        Effect::Halt { reason } => {
            Event::Stopped { state: RunState::Budget, reason: reason.clone() }
        }
        Effect::Finish => Event::Ended { state: state.verdict() },
    }
}

/// What must hold whenever effects are in flight.
fn check(state: &State, in_flight: &[Effect]) {
    let most = state.options.parallel.max(1) as usize;
    let widest = state.plan.pipeline.widest();
    let long = in_flight.iter().filter(|effect| effect.is_long()).count();
    assert!(long <= most.max(widest), "{in_flight:?}");
    // Stories that got their answers continue together, but their agents take turns.
    let is_open =
        |story: &&StoryRun| story.state == StoryState::Running && story.answers.is_empty();
    assert!(state.stories.iter().filter(is_open).count() <= most, "too many stories at once");
    for (at, effect) in in_flight.iter().enumerate() {
        assert!(!in_flight[at + 1..].contains(effect), "twice: {effect:?}");
    }
    for story in &state.stories {
        assert!(story.fixes() <= state.options.max_fixes, "{}", story.fixes());
        let settled = matches!(story.state, StoryState::Done | StoryState::Skipped);
        assert!(!settled || story.question.is_none());
        assert_eq!(story.state == StoryState::Done, story.commit.is_some());
    }
}

/// Runs to the end and returns all events and the last state.
fn walk(which: usize, parallel: u32, choices: &mut Choices) -> (Vec<Event>, State) {
    let mut state = begin(which, parallel);
    let (mut events, mut in_flight, mut number) = (Vec::new(), Vec::<Effect>::new(), 0);
    for _ in 0..5_000 {
        let next = state.next(&in_flight);
        // Start something, unless nothing can start or the random choice asks for a result first.
        let starts = in_flight.is_empty() || (next.is_some() && choices.one_of(2) == 0);
        if starts {
            let effect = next.unwrap_or_else(|| panic!("nothing to do: {:?}", state.stories));
            in_flight.push(effect);
            check(&state, &in_flight);
            continue;
        }
        number += 1;
        let effect = in_flight.remove(choices.one_of(in_flight.len()));
        let event = answer(&state, &effect, number, choices);
        assert!(event.answers(&effect), "{event:?} {effect:?}");
        state.apply(&event);
        events.push(event.clone());
        match event {
            Event::Ended { .. } => return (events, state),
            Event::Stopped { .. } => {
                // A person answers, and the run is resumed.
                for (story, _) in state.questions() {
                    let answer = format!("answer {number}");
                    events.push(Event::Answered { story, answer, by: None });
                    state.apply(&events[events.len() - 1]);
                }
                events.push(Event::Resumed { options: Box::new(state.options.clone()) });
                state.apply(&events[events.len() - 1]);
            }
            Event::Started { .. }
            | Event::Resumed { .. }
            | Event::Opened { .. }
            | Event::PhaseEnded(_)
            | Event::BaseChecked { .. }
            | Event::GatesEnded { .. }
            | Event::Rebased { .. }
            | Event::UatEnded { .. }
            | Event::WaitEnded { .. }
            | Event::GaveUp { .. }
            | Event::Refused { .. }
            | Event::Committed { .. }
            | Event::Parked { .. }
            | Event::Answered { .. }
            | Event::Retried { .. }
            | Event::Approved { .. }
            | Event::Merged { .. } => {}
        }
    }
    panic!("it does not end: {:?}", events.iter().rev().take(6).collect::<Vec<_>>());
}

/// The state after these events, read back from their JSON as from a journal.
fn replayed(which: usize, parallel: u32, events: &[Event]) -> State {
    let mut state = begin(which, parallel);
    for event in events {
        let text = serde_json::to_string(event).unwrap();
        state.apply(&serde_json::from_str(&text).unwrap());
    }
    state
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Whatever agents, gates and people do, a run ends, and its state is the fold of its events.
    #[test]
    fn every_run_ends_and_replays(
        left in prop::collection::vec(any::<u8>(), 0..400),
        which in 0..5_usize,
        parallel in 1..4_u32,
    ) {
        let (events, state) = walk(which, parallel, &mut Choices { left });
        prop_assert_eq!(&replayed(which, parallel, &events), &state);
        prop_assert!(state.is_over());
        prop_assert_eq!(state.ready(), []);
        prop_assert!(state.stories.iter().all(|story| story.is_settled()));
        // Its head is the last commit.
        let commits = events.iter().rev().find_map(|event| {
            if let Event::Committed { commit, .. } = event { Some(commit.clone()) } else { None }
        });
        prop_assert_eq!(&state.head, &commits.unwrap_or_else(|| "base".to_owned()));
        prop_assert_eq!(state.state, state.verdict());
    }

    /// A run that is cut off anywhere continues exactly as if it had not been.
    #[test]
    fn a_prefix_of_a_journal_is_deterministic(
        left in prop::collection::vec(any::<u8>(), 0..200),
        which in 0..5_usize,
        cut in any::<prop::sample::Index>(),
    ) {
        let (events, state) = walk(which, 2, &mut Choices { left });
        let at = cut.index(events.len() + 1);
        let mut one = replayed(which, 2, &events[..at]);
        let other = replayed(which, 2, &events[..at]);
        prop_assert_eq!(&one, &other);
        prop_assert_eq!(one.ready(), other.ready());
        for event in &events[at..] {
            one.apply(event);
        }
        prop_assert_eq!(one, state);
    }

    /// Results of workers on different stories lead to the same state in any order.
    #[test]
    fn the_order_in_which_workers_finish_makes_no_difference(
        left in prop::collection::vec(any::<u8>(), 0..120),
        which in 0..5_usize,
        reversed in any::<bool>(),
    ) {
        let mut choices = Choices { left };
        let mut state = begin(which, 3);
        // Some steps into the run, without waiting for anything.
        for number in 0..20 {
            let mut in_flight: Vec<Effect> = Vec::new();
            while let Some(effect) = state.next(&in_flight) {
                in_flight.push(effect);
            }
            let workers: Vec<&Effect> = in_flight.iter().filter(|effect| effect.is_long()).collect();
            let events: Vec<Event> = workers
                .iter()
                .zip(0..)
                .map(|(effect, n)| answer(&state, effect, number * 10 + n, &mut choices))
                .collect();
            let mut one = state.clone();
            events.iter().for_each(|event| one.apply(event));
            let mut other = state.clone();
            // Voices of one party keep their order among themselves: they are compared elsewhere.
            let mut order: Vec<&Event> = events.iter().collect();
            if reversed {
                order.reverse();
            } else {
                order.rotate_left(events.len() / 2);
            }
            order.iter().for_each(|event| other.apply(event));
            if which != 4 {
                prop_assert_eq!(&one, &other);
            }
            prop_assert_eq!(one.ready(), other.ready());
            state = one;
            let Some(effect) = state.next(&[]) else { break };
            if !effect.is_long() {
                let event = answer(&state, &effect, number * 10 + 9, &mut choices);
                state.apply(&event);
            }
            if state.state != RunState::Running {
                break;
            }
        }
    }
}

/// An event that nothing waits for is recorded and changes nothing else.
#[test]
fn late_and_unrelated_events_change_nothing() {
    let mut state = begin(0, 1);
    state.apply(&crate::reducer::opened("a"));
    let ready = state.ready();
    for event in [
        crate::reducer::opened("nobody"),
        crate::reducer::phase("nobody", RunPhase::Dev, 1, Verdict::Complete),
        crate::reducer::committed("nobody"),
        Event::Parked { story: "nobody".to_owned(), branch: None },
        Event::Answered { story: "a".to_owned(), answer: "to nothing".to_owned(), by: None },
    ] {
        let head = state.head.clone();
        state.apply(&event);
        state.head = head;
        assert_eq!(state.ready(), ready, "{event:?}");
    }
    // A voice where no party is, and an agent while the gates run.
    let mut voice = crate::reducer::ended("a", RunPhase::Dev, 1, Some(Verdict::Complete));
    voice.voice = Some(handover_engine::pipeline::Voice { persona: "ann".to_owned(), round: 1 });
    state.apply(&Event::PhaseEnded(Box::new(voice)));
    assert_eq!(state.ready(), ready);
    assert!(state.stories[0].record.is_empty());
    assert_eq!(state.stories[0].lines.len(), 1, "it is on the bill");
}
