//! What comes next, without executing anything.

use handover_engine::Spent;
use handover_engine::data::Finding;
use handover_engine::data::{Contribution, WorkNotes};
use handover_engine::persona::Persona;
use handover_engine::pipeline::Pipeline;
use handover_engine::reducer::{
    Effect, Event, GateOutcome, Options, PhaseEnd, Plan, PlannedStory, State,
};
use handover_model::config::BudgetConfig;
use handover_model::{
    EpicId, FailureClass, Host, PersonaId, Profile, Role, RunPhase, RunState, SessionId,
    StoryState, Verdict,
};

pub(crate) fn personas(names: &[&str]) -> Vec<Persona> {
    let persona = |name: &&str| Persona {
        id: PersonaId::new(*name).unwrap(),
        name: (*name).to_owned(),
        title: "Somebody".to_owned(),
        role: Role::new("tech_lead").unwrap(),
        focus: "everything".to_owned(),
        style: "plain".to_owned(),
        model: None,
        permissions: Profile::ReadOnly,
    };
    names.iter().map(persona).collect()
}

pub(crate) fn start(stories: &[(&str, &[&str])], options: Options) -> State {
    start_with(Pipeline::story(true, Profile::Edit), stories, options)
}

pub(crate) fn start_with(
    pipeline: Pipeline,
    stories: &[(&str, &[&str])],
    options: Options,
) -> State {
    let stories = stories
        .iter()
        .map(|(id, waits_for)| PlannedStory {
            id: (*id).to_owned(),
            title: (*id).to_owned(),
            path: format!("{id}.md"),
            waits_for: waits_for.iter().map(|&on| on.to_owned()).collect(),
            skip: None,
            earlier: None,
            done: None,
        })
        .collect();
    let plan = Plan {
        epic: EpicId::new("1").unwrap(),
        epic_file: None,
        records_in: SessionId::new("epic-1").unwrap(),
        base: "base".to_owned(),
        user_branch: None,
        branch: "handover/epic-1".to_owned(),
        continues: false,
        checks_base: false,
        closes_anyway: false,
        pipeline,
        stories,
        not_stories: Vec::new(),
    };
    State::start(&Event::Started { plan: Box::new(plan), options: Box::new(options) }).unwrap()
}

pub(crate) fn options() -> Options {
    Options {
        host: Host::COMMAND,
        command: None,
        model: None,
        no_commit: false,
        merge: false,
        parallel: 1,
        phase_timeout: 1,
        idle_timeout: 1,
        max_fixes: 1,
        uat_blocking: false,
        max_retries: 2,
        budget: BudgetConfig::default(),
    }
}

pub(crate) fn opened(story: &str) -> Event {
    Event::Opened { story: story.to_owned(), base: "base".to_owned(), tree: "t0".to_owned() }
}

pub(crate) fn ended(
    story: &str,
    phase: RunPhase,
    attempt: u32,
    verdict: Option<Verdict>,
) -> PhaseEnd {
    PhaseEnd {
        story: story.to_owned(),
        phase,
        attempt,
        voice: None,
        role: None,
        verdict,
        status: None,
        summary: "so".to_owned(),
        findings: Vec::new(),
        contribution: Contribution::default(),
        notes: WorkNotes::default(),
        failure: None,
        over: None,
        waits_until: None,
        tree: "t1".to_owned(),
        files: vec!["a".to_owned()],
        restored: Vec::new(),
        test_setup: Vec::new(),
        spent: Spent::default(),
        receipt: None,
        retro: None,
    }
}

pub(crate) fn phase(story: &str, phase: RunPhase, attempt: u32, verdict: Verdict) -> Event {
    Event::PhaseEnded(Box::new(ended(story, phase, attempt, Some(verdict))))
}

pub(crate) fn gates(story: &str, attempt: u32, outcome: GateOutcome) -> Event {
    Event::GatesEnded {
        story: story.to_owned(),
        attempt,
        outcome,
        failures: vec!["t: x".to_owned()],
        detail: String::new(),
        duration_ms: 1,
    }
}

pub(crate) fn committed(story: &str) -> Event {
    Event::Committed { story: story.to_owned(), commit: format!("commit of {story}") }
}

pub(crate) fn agent(story: &str, phase: RunPhase, attempt: u32) -> Vec<Effect> {
    vec![Effect::Agent { story: story.to_owned(), phase, attempt, voice: None }]
}

pub(crate) fn open(story: &str) -> Effect {
    Effect::Open { story: story.to_owned() }
}

pub(crate) fn park(story: &str) -> Effect {
    Effect::Park { story: story.to_owned() }
}

#[test]
fn a_story_passes_through_its_pipeline() {
    use RunPhase::{Dev, Fix, Review};
    let mut state = start(&[("a", &[])], options());
    assert_eq!(state.ready(), [open("a")]);
    assert_eq!(state.handle(&opened("a")), agent("a", Dev, 1));
    let next = state.handle(&phase("a", Dev, 1, Verdict::Complete));
    assert_eq!(next, [Effect::Gates { story: "a".to_owned(), attempt: 1 }]);
    assert_eq!(state.handle(&gates("a", 1, GateOutcome::Failed)), agent("a", Fix, 1));
    let next = state.handle(&phase("a", Fix, 1, Verdict::Complete));
    assert_eq!(next, [Effect::Gates { story: "a".to_owned(), attempt: 2 }]);
    assert_eq!(state.handle(&gates("a", 2, GateOutcome::Passed)), agent("a", Review, 1));
    let next = state.handle(&phase("a", Review, 1, Verdict::Passed));
    assert_eq!(next, [Effect::Commit { story: "a".to_owned() }]);
    assert_eq!(state.handle(&committed("a")), [Effect::Finish]);
    assert_eq!(state.verdict(), RunState::Done);
    assert_eq!(state.head, "commit of a");
    assert_eq!(state.handle(&Event::Ended { state: RunState::Done }), []);
}

#[test]
fn fixes_are_bounded() {
    let mut state = start(&[("a", &[])], options());
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Complete));
    state.apply(&gates("a", 1, GateOutcome::Failed));
    state.apply(&phase("a", RunPhase::Fix, 1, Verdict::Complete));
    let next = state.handle(&gates("a", 2, GateOutcome::Failed));
    assert_eq!(next, [park("a")]);
    assert_eq!(state.stories[0].state, StoryState::Failed);
    let parked = Event::Parked { story: "a".to_owned(), branch: Some("b".to_owned()) };
    assert_eq!(state.handle(&parked), [Effect::Finish]);
    assert_eq!(state.verdict(), RunState::Failed);
}

#[test]
fn dependents_of_failed_stories_are_blocked() {
    let mut state = start(&[("a", &[]), ("b", &["a"]), ("c", &["b"]), ("d", &[])], options());
    state.apply(&opened("a"));
    let next = state.handle(&phase("a", RunPhase::Dev, 1, Verdict::Blocked));
    assert_eq!(next, [park("a"), open("d")]);
    let next = state.handle(&Event::Parked { story: "a".to_owned(), branch: None });
    assert_eq!(next, [open("d")]);
    let states: Vec<StoryState> = state.stories.iter().map(|story| story.state).collect();
    use StoryState::{Blocked, Pending};
    assert_eq!(states, [Blocked, Blocked, Blocked, Pending]);
    assert_eq!(state.stories[2].reason, "waits for `b`");
}

#[test]
fn unreachable_models_are_retried_a_bounded_number_of_times() {
    let mut state = start(&[("a", &[])], options());
    state.apply(&opened("a"));
    let unreachable = |attempt| {
        let mut end = ended("a", RunPhase::Dev, attempt, None);
        end.failure = Some(FailureClass::Overloaded);
        Event::PhaseEnded(Box::new(end))
    };
    assert_eq!(state.handle(&unreachable(1)), agent("a", RunPhase::Dev, 2));
    assert_eq!(state.handle(&unreachable(2)), agent("a", RunPhase::Dev, 3));
    assert_eq!(state.handle(&unreachable(3)), [park("a")]);
}

#[test]
fn a_stopped_run_can_be_resumed() {
    let mut state = start(&[("a", &[])], options());
    state.apply(&opened("a"));
    let stop = Event::Stopped { state: RunState::Interrupted, reason: "x".to_owned() };
    assert_eq!(state.handle(&stop), []);
    let resumed = Event::Resumed { options: Box::new(options()) };
    assert_eq!(state.handle(&resumed), agent("a", RunPhase::Dev, 1));
}

#[test]
fn findings_reach_the_fix() {
    let mut state = start(&[("a", &[])], options());
    state.apply(&opened("a"));
    state.apply(&phase("a", RunPhase::Dev, 1, Verdict::Complete));
    state.apply(&gates("a", 1, GateOutcome::None));
    let mut end = ended("a", RunPhase::Review, 1, Some(Verdict::Failed));
    end.findings = vec![Finding { text: "no greeting".to_owned(), ..Finding::default() }];
    let next = state.handle(&Event::PhaseEnded(Box::new(end)));
    assert_eq!(next, agent("a", RunPhase::Fix, 1));
    assert_eq!(state.stories[0].findings[0].text, "no greeting");
}

/// Events that make no sense in the current state are handled without a panic, and the next effect can
/// always be performed.
#[test]
fn any_order_of_events_is_handled() {
    let verdicts = Verdict::ALL.iter().copied().map(Some).chain([None]);
    let mut events =
        vec![opened("a"), opened("nobody"), committed("a"), gates("a", 1, GateOutcome::Failed)];
    for verdict in verdicts {
        for of in [RunPhase::Dev, RunPhase::Fix, RunPhase::Review, RunPhase::Retro] {
            events.push(Event::PhaseEnded(Box::new(ended("a", of, 1, verdict))));
        }
    }
    for one in &events {
        for two in &events {
            for three in &events {
                let mut state = start(&[("a", &[]), ("b", &["a"])], options());
                for event in [one, two, three] {
                    state.handle(event);
                }
            }
        }
    }
}
