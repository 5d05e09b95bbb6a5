//! A story's path through a team: every state is reached, there are no dead ends, and every path terminates.

use std::collections::BTreeSet;

use handover_engine::pipeline::{AgentStep, Flow, Pipeline, Step, Transition};
use handover_engine::reducer::{Effect, Event, GateOutcome, State};
use handover_engine::verdict::allowed;
use handover_model::{Profile, RunPhase, StoryState, TeamStatus, TestingMode, Verdict};

use crate::reducer::{committed, ended, gates, opened, options, start_with};

fn team() -> Pipeline {
    Pipeline::team(Profile::Edit, TestingMode::Full)
}

fn flow() -> Flow {
    team().flow.unwrap()
}

/// Every member, including the one who closes the epic.
fn members() -> Vec<AgentStep> {
    let pipeline = team();
    let closing = pipeline.closing.iter().filter_map(|step| match step {
        Step::Agent(step) => Some(step.clone()),
        Step::Party(_) | Step::Uat(_) | Step::Gates | Step::Commit => None,
    });
    flow().members.into_iter().map(|member| member.agent).chain(closing).collect()
}

#[test]
fn every_code_of_every_role_leads_somewhere() {
    let flow = flow();
    let mut used = BTreeSet::new();
    for member in members() {
        assert!(!member.statuses.is_empty(), "{}", member.role);
        for (status, verdict) in &member.statuses {
            used.insert(*status);
            // Its verdict is one of its phase, and a specific rule decides the transition.
            assert!(allowed(member.phase).contains(verdict), "{} {status}", member.role);
            let rule = flow
                .rules
                .iter()
                .find(|rule| rule.from == member.role && rule.status == Some(*status));
            match &rule.unwrap().to {
                Transition::Hand { next } | Transition::Check { next } => {
                    assert!(flow.position(next).is_some(), "{} {status} {next}", member.role);
                }
                Transition::Rework
                | Transition::Resume
                | Transition::Again
                | Transition::Keep
                | Transition::Stop { .. } => {}
            }
        }
        // A bare verdict, or none at all, is also handled.
        for verdict in allowed(member.phase) {
            let code = member.statuses.iter().find(|(_, of)| of == verdict);
            assert!(code.is_some(), "{} cannot say {verdict}", member.role);
        }
        let unclear =
            flow.rules.iter().any(|rule| rule.from == member.role && rule.status.is_none());
        assert!(unclear, "{}", member.role);
    }
    assert_eq!(used.len(), TeamStatus::ALL.len(), "a code that no role can report");
    for name in [&flow.start, &flow.builder, &flow.senior] {
        assert!(flow.position(name).is_some(), "{name}");
    }
}

/// From everywhere there is a path to accepted work, and every member can be reached.
#[test]
fn there_is_no_dead_end() {
    let flow = flow();
    let next = |name: &str| -> (Vec<String>, bool) {
        let member = &flow.members[flow.position(name).unwrap()];
        let mut reached = Vec::new();
        let mut kept = false;
        for rule in flow.rules.iter().filter(|rule| rule.from == member.agent.role) {
            match &rule.to {
                Transition::Hand { next } | Transition::Check { next } => {
                    reached.push(next.clone());
                }
                Transition::Rework | Transition::Resume => {
                    reached.extend([flow.builder.clone(), flow.senior.clone()]);
                }
                Transition::Again => reached.push(name.to_owned()),
                Transition::Keep => kept = true,
                Transition::Stop { .. } => {}
            }
        }
        (reached, kept)
    };
    let walk = |from: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
        let mut kept = false;
        while let Some(name) = open.pop() {
            if seen.insert(name.clone()) {
                let (more, keeps) = next(&name);
                open.extend(more);
                kept |= keeps;
            }
        }
        (seen, kept)
    };
    for member in &flow.members {
        assert!(walk(&member.name).1, "no way from {} to the end", member.name);
    }
    let (seen, _) = walk(&flow.start);
    let all: BTreeSet<String> = flow.members.iter().map(|member| member.name.clone()).collect();
    assert_eq!(seen, all);
}

fn begin() -> State {
    let mut state = start_with(team(), &[("a", &[])], options());
    state.options.max_fixes = 3;
    state.apply(&opened("a"));
    state
}

/// The role whose turn it is, or what else is to be done.
fn who(state: &State) -> String {
    match state.ready().as_slice() {
        [Effect::Agent { voice, .. }] => {
            let unit = state.units().find(|unit| unit.state == StoryState::Running).unwrap();
            state.agent_of(unit, voice.as_ref()).unwrap().role.to_string()
        }
        [Effect::Gates { .. }] => "gates".to_owned(),
        [Effect::Commit { .. }] => "commit".to_owned(),
        [Effect::Park { .. }] => "park".to_owned(),
        [Effect::Open { story }] => format!("open {story}"),
        other => format!("{other:?}"),
    }
}

/// The member whose turn it is reports something.
fn say(state: &mut State, status: Option<TeamStatus>) {
    let ready = state.ready();
    let Some(Effect::Agent { story, phase, attempt, .. }) = ready.first() else {
        panic!("no agent is ready: {ready:?}");
    };
    let unit = state.story(story).unwrap();
    let step = state.agent_of(unit, None).unwrap();
    let code = step.statuses.iter().find(|(of, _)| Some(*of) == status);
    let mut end = ended(story, *phase, *attempt, code.map(|(_, verdict)| *verdict));
    end.role = Some(step.role.clone());
    end.status = status;
    end.summary = format!("{} says {status:?}", step.role);
    state.apply(&Event::PhaseEnded(Box::new(end)));
}

fn check(state: &mut State, outcome: GateOutcome) {
    let ready = state.ready();
    let [Effect::Gates { attempt, .. }] = ready.as_slice() else { panic!("{ready:?}") };
    state.apply(&gates("a", *attempt, outcome));
}

#[test]
fn the_default_flow() {
    use TeamStatus::{Approved, Bazinga, Pass, ReadyForQa};
    let mut state = begin();
    assert_eq!(who(&state), "developer");
    say(&mut state, Some(ReadyForQa));
    check(&mut state, GateOutcome::Passed);
    assert_eq!(who(&state), "qa_expert");
    say(&mut state, Some(Pass));
    assert_eq!(who(&state), "tech_lead");
    say(&mut state, Some(Approved));
    assert_eq!(who(&state), "commit");
    state.apply(&committed("a"));
    assert_eq!(who(&state), "open epic-1");
    state.apply(&opened("epic-1"));
    assert_eq!(who(&state), "project_manager");
    say(&mut state, Some(Bazinga));
    assert_eq!(who(&state), "commit");
}

#[test]
fn rejected_work_goes_to_the_developer_and_then_to_a_senior() {
    use TeamStatus::{ChangesRequested, Fail, Pass, ReadyForQa, ReadyForReview};
    let mut state = begin();
    say(&mut state, Some(ReadyForQa));
    check(&mut state, GateOutcome::None);
    say(&mut state, Some(Fail));
    assert_eq!(who(&state), "developer");
    assert!(state.stories[0].findings[0].text.contains("qa_expert says"));
    assert!(matches!(state.ready()[0], Effect::Agent { phase: RunPhase::Fix, attempt: 1, .. }));
    say(&mut state, Some(ReadyForQa));
    check(&mut state, GateOutcome::None);
    say(&mut state, Some(Pass));
    say(&mut state, Some(ChangesRequested));
    assert_eq!(who(&state), "senior_software_engineer");
    say(&mut state, Some(ReadyForReview));
    check(&mut state, GateOutcome::Failed);
    assert_eq!(who(&state), "senior_software_engineer");
    say(&mut state, Some(ReadyForQa));
    check(&mut state, GateOutcome::Failed);
    assert_eq!(who(&state), "park");
    assert!(state.stories[0].reason.contains("after 3 fixes"), "{}", state.stories[0].reason);
}

#[test]
fn unexplained_failures_go_to_the_investigator() {
    use TeamStatus::{Blocked, RootCauseFound, UnblockingGuidance};
    let mut state = begin();
    say(&mut state, Some(Blocked));
    assert_eq!(who(&state), "investigator");
    say(&mut state, Some(TeamStatus::NeedMoreAnalysis));
    assert_eq!(who(&state), "investigator");
    say(&mut state, Some(RootCauseFound));
    assert_eq!(who(&state), "tech_lead");
    say(&mut state, Some(UnblockingGuidance));
    assert_eq!(who(&state), "developer");
    assert!(state.stories[0].findings[0].text.contains("tech_lead says"));
    assert_eq!(state.stories[0].fixes(), 0);
}

#[test]
fn only_checked_work_is_committed() {
    use TeamStatus::{Approved, Blocked, ReadyForQa, RootCauseFound};
    // The lead approves work the developer gave up on: the gates check it first.
    let mut state = begin();
    say(&mut state, Some(Blocked));
    say(&mut state, Some(RootCauseFound));
    say(&mut state, Some(Approved));
    assert_eq!(who(&state), "gates");
    check(&mut state, GateOutcome::Failed);
    assert_eq!(who(&state), "developer");
    // A claim of completion without changes is a failure.
    let mut state = begin();
    let mut end = ended("a", RunPhase::Dev, 1, Some(Verdict::Complete));
    (end.status, end.files) = (Some(ReadyForQa), Vec::new());
    state.apply(&Event::PhaseEnded(Box::new(end)));
    assert_eq!(who(&state), "developer");
    assert_eq!(state.stories[0].fixes(), 1);
}

#[test]
fn without_full_testing_there_is_no_qa() {
    let pipeline = Pipeline::team(Profile::Edit, TestingMode::Minimal);
    let mut state = start_with(pipeline, &[("a", &[])], options());
    state.apply(&opened("a"));
    say(&mut state, Some(TeamStatus::ReadyForQa));
    check(&mut state, GateOutcome::None);
    assert_eq!(who(&state), "tech_lead");
}

/// Whatever the members report, the story ends within its limit.
#[test]
fn every_path_ends() {
    let most = flow().most;
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    let (mut kept, mut given_up) = (0, 0);
    for _ in 0..3_000 {
        let mut state = begin();
        // Some members repeat themselves.
        let stubborn = random(2) == 0;
        let mut habits: std::collections::BTreeMap<String, usize> = Default::default();
        let mut agents = 0;
        loop {
            match who(&state).as_str() {
                "gates" => {
                    let outcome =
                        if random(3) == 0 { GateOutcome::Failed } else { GateOutcome::Passed };
                    check(&mut state, outcome);
                }
                "commit" => {
                    kept += 1;
                    break;
                }
                "park" => {
                    given_up += 1;
                    break;
                }
                role => {
                    agents += 1;
                    let step = state.agent_of(&state.stories[0], None).unwrap();
                    let any = random(step.statuses.len() + 1);
                    let any =
                        if stubborn { *habits.entry(role.to_owned()).or_insert(any) } else { any };
                    say(&mut state, step.statuses.get(any).map(|(status, _)| *status));
                }
            }
            assert!(agents <= most, "{agents} agents");
        }
    }
    assert!(kept > 100 && given_up > 100, "{kept} {given_up}");
}
