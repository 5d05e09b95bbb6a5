//! A small epic for the tests of pure modules.

use handover_model::config::BudgetConfig;
use handover_model::{EpicId, Host, PersonaId, Profile, Role, RunPhase, SessionId, Verdict};

use crate::data::{Contribution, Finding, Spent};
use crate::persona::Persona;
use crate::pipeline::Pipeline;
use crate::reducer::{Event, Options, PhaseEnd, Plan, PlannedStory, State};

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
        max_fixes: 2,
        uat_blocking: false,
        max_retries: 1,
        budget: BudgetConfig::default(),
    }
}

pub(crate) fn plan(pipeline: Pipeline, stories: &[&str]) -> Plan {
    let story = |id: &&str| PlannedStory {
        id: (*id).to_owned(),
        title: format!("Title of {id}"),
        path: format!("docs/stories/{id}.md"),
        waits_for: Vec::new(),
        skip: None,
        earlier: None,
        done: None,
    };
    Plan {
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
        stories: stories.iter().map(story).collect(),
        not_stories: Vec::new(),
    }
}

pub(crate) fn started(pipeline: Pipeline, stories: &[&str]) -> Event {
    let (plan, options) = (Box::new(plan(pipeline, stories)), Box::new(options()));
    Event::Started { plan, options }
}

pub(crate) fn start(pipeline: Pipeline, stories: &[&str]) -> State {
    State::start(&started(pipeline, stories)).unwrap()
}

/// Development, gates, review, commit.
pub(crate) fn story() -> Pipeline {
    Pipeline::story(true, Profile::Edit)
}

pub(crate) fn opened(story: &str) -> Event {
    Event::Opened { story: story.to_owned(), base: "base".to_owned(), tree: "t0".to_owned() }
}

pub(crate) fn ended(story: &str, phase: RunPhase, verdict: Option<Verdict>) -> PhaseEnd {
    PhaseEnd {
        story: story.to_owned(),
        phase,
        attempt: 1,
        voice: None,
        role: None,
        verdict,
        status: None,
        summary: format!("{phase} of {story}"),
        findings: Vec::new(),
        contribution: Contribution::default(),
        notes: crate::data::WorkNotes::default(),
        failure: None,
        over: None,
        waits_until: None,
        tree: "t1".to_owned(),
        files: vec!["src/a.rs".to_owned()],
        restored: Vec::new(),
        test_setup: Vec::new(),
        spent: Spent::default(),
        receipt: None,
        retro: None,
    }
}

pub(crate) fn event(end: PhaseEnd) -> Event {
    Event::PhaseEnded(Box::new(end))
}

pub(crate) fn finding(severity: &str, place: &str, text: &str) -> Finding {
    Finding { severity: severity.into(), place: place.into(), kind: None, text: text.into() }
}

pub(crate) fn persona(id: &str) -> Persona {
    Persona {
        id: PersonaId::new(id).unwrap(),
        name: id.to_uppercase(),
        title: format!("Expert of {id}"),
        role: Role::new("tech_lead").unwrap(),
        focus: "everything".to_owned(),
        style: "plain".to_owned(),
        model: None,
        permissions: Profile::ReadOnly,
    }
}
