//! What a person can do with a run from its pages: skip a story, give the whole run up, approve what only a person
//! can check. Answers have their own form.

use handover_engine::EngineError;
use handover_engine::control::Control;
use handover_model::{
    EventType, RunId, RunState, ScenarioKind, ScenarioOutcome, StoryState, Timestamp,
};
use handover_store::{EventFilter, EventKey, NewEvent, StoreError};
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::error::PageError;
use crate::form::{REASON, token_field};
use crate::page::{FormOutcome, Route};
use crate::pages::changes::refused;
use crate::run_view::{RunView, Story};
use crate::site::Site;
use crate::steps::escaped;
use crate::view::{Tone, badge, excerpt, plural, relative_time, section, single_line, untrusted};

/// The events in which approvals are kept.
const APPROVAL: &str = "uat_approval";

/// Handles every form about a run but the answer.
pub(super) fn submit(site: &Site<'_>, route: &Route<'_>) -> Result<FormOutcome, PageError> {
    let id: RunId = route.id("run")?;
    let field = |name: &str| route.request.form_field(name).unwrap_or_default();
    let story = field("story");
    let reason: String = field("reason").chars().take(REASON).collect();
    let control = Control {
        store: site.store,
        redactor: site.redactor,
        config: site.config,
        machine: site.machine,
        author: site.author,
        now: site.now,
    };
    let (done, path) = match field("do") {
        "skip" => (
            control.skip(&id, story, &reason),
            format!("/runs/{id}/stories?story={}", escaped(story)),
        ),
        "abandon" => (control.abandon(&id, &reason), format!("/runs/{id}")),
        "approve" | "object" => {
            approve(site, &id, field("scenario"), field("do") == "approve", &reason)?;
            return Ok(FormOutcome::Redirect(format!("/runs/{id}#approvals")));
        }
        _ => return Ok(refused(400, "The form asks for something that does not exist.", route)),
    };
    match done {
        Ok(()) => Ok(FormOutcome::Redirect(path)),
        Err(EngineError::Store(
            error @ (StoreError::Locked { .. } | StoreError::Fenced { .. }),
        )) => Ok(refused(409, &format!("The run is at work: {error}."), route)),
        Err(error @ (EngineError::NothingUnfinished { .. } | EngineError::NothingAsked { .. })) => {
            Ok(refused(409, &format!("{error}."), route))
        }
        Err(error) => Err(error.into()),
    }
}

fn form(site: &Site<'_>, run: &RunId, fields: &[(&str, &str)], label: &str, ask: &str) -> Markup {
    let unique: String = fields.iter().map(|(_, value)| escaped(value)).collect();
    html! {
        form class="inline" method="post" action={ "/runs/" (run) "/act" } {
            (token_field(site))
            @for (name, value) in fields { input type="hidden" name=(name) value=(single_line(value)); }
            input type="hidden" name="back" value={ "/runs/" (run) };
            label for={ "why-" (unique) } { (ask) }
            input id={ "why-" (unique) } type="text" name="reason" maxlength=(REASON) placeholder="optional";
            button { (label) }
        }
    }
}

/// Whether the run waits, so that its journal can be written.
fn waits(view: &RunView) -> bool {
    let folded = handover_engine::fold(&view.run.id, &view.entries).ok().flatten();
    if folded.is_none_or(|folded| folded.state.is_over()) {
        return false;
    }
    match view.state() {
        RunState::Interrupted | RunState::Budget | RunState::Environment | RunState::Blocked => {
            true
        }
        RunState::Running | RunState::Done | RunState::Failed => false,
    }
}

/// What can be done with a story.
pub(super) fn story_forms(site: &Site<'_>, view: &RunView, story: &Story) -> Markup {
    let epic = &view.run.epic;
    let open = match story.state() {
        StoryState::Pending | StoryState::Running | StoryState::Blocked => true,
        StoryState::Done | StoryState::Failed | StoryState::Skipped => false,
    };
    html! {
        @if site.may_write && open && waits(view) {
            (section("act", "Skip it", html! { "The run continues without it; its work is kept on a branch of its own." },
                form(site, &view.run.id, &[("do", "skip"), ("story", &story.id)], "Skip this story", "Why")))
        }
        @if story.state() == StoryState::Failed {
            (section("act", "Retry it", html! { "A new run takes up what is not done; it knows what was found before." },
                html! { pre { code { "handover run " (epic) " --start-from " (single_line(&story.id)) } } }))
        }
    }
}

/// What can be done with the whole run.
pub(super) fn run_forms(site: &Site<'_>, view: &RunView) -> Markup {
    let approvals = approvals(site, view);
    html! {
        (approvals)
        @if site.may_write && waits(view) {
            details class="act" id="give-up" {
                summary { "Give this run up" }
                p class="note" { "Unfinished stories end. " code { "handover run " (view.run.epic) " --resume" } " then puts their work on branches of its own and ends the run." }
                (form(site, &view.run.id, &[("do", "abandon")], "Give up", "Why"))
            }
        }
    }
}

/// The scenarios that only a person can check, and what people said about them.
fn approvals(site: &Site<'_>, view: &RunView) -> Markup {
    let run = &view.run.id;
    let Ok(Some(folded)) = handover_engine::fold(run, &view.entries) else { return html! {} };
    let results = folded.state.closing.as_ref().and_then(|closing| closing.uat.as_ref());
    let human: Vec<_> = results
        .iter()
        .flat_map(|uat| &uat.results)
        .filter(|one| one.outcome == ScenarioOutcome::NotRun && one.kind != ScenarioKind::Auto)
        .collect();
    if human.is_empty() {
        return html! {};
    }
    let said = said(site, view);
    section(
        "approvals",
        "For a person to check",
        html! { (plural(human.len(), "scenario", "scenarios")) ", which no program can run. The steps are in the epic’s acceptance document." },
        html! {
            ul class="list" {
                @for one in human {
                    @let verdict = said.iter().find(|(scenario, ..)| *scenario == one.id);
                    li {
                        p { strong { (excerpt(&one.id, 60)) } " " (excerpt(&one.criterion, 300)) }
                        @if let Some((_, holds, why, by, at)) = verdict {
                            p {
                                (badge(if *holds { Tone::Good } else { Tone::Bad }, if *holds { "approved" } else { "rejected" }))
                                " " @if !why.is_empty() { (untrusted(why)) " " } span class="muted" { (excerpt(by, 80)) ", " (relative_time(site.now, *at)) }
                            }
                        }
                        @if site.may_write {
                            (form(site, run, &[("do", "approve"), ("scenario", &one.id)], "It holds", "Note"))
                            (form(site, run, &[("do", "object"), ("scenario", &one.id)], "It does not", "What is wrong"))
                        }
                    }
                }
            }
        },
    )
}

type Approval = (String, bool, String, String, Timestamp);

/// The last word on each scenario, newest first.
fn said(site: &Site<'_>, view: &RunView) -> Vec<Approval> {
    let Ok(kind) = EventType::new(APPROVAL) else { return Vec::new() };
    let filter = EventFilter { kind: Some(kind), ..EventFilter::default() };
    let events = site.store.events(&view.run.session, &filter).unwrap_or_default();
    let mut said: Vec<Approval> = events
        .into_iter()
        .filter(|event| event.payload["run"] == view.run.id.as_str())
        .map(|event| {
            let text = |key: &str| event.payload[key].as_str().unwrap_or_default().to_owned();
            let holds = event.payload["holds"] == Value::Bool(true);
            (text("scenario"), holds, text("note"), text("author"), event.created_at)
        })
        .collect();
    said.sort_by_key(|(.., at)| std::cmp::Reverse(*at));
    said
}

fn approve(
    site: &Site<'_>,
    id: &RunId,
    scenario: &str,
    holds: bool,
    note: &str,
) -> Result<(), PageError> {
    let run = site.store.run_record(id)?;
    let scenario: String = scenario.chars().take(200).collect();
    let payload = json!({
        "run": id, "scenario": scenario, "holds": holds, "note": note, "author": site.author,
    });
    let kind = EventType::new(APPROVAL).map_err(|_| PageError::not_found("event", APPROVAL))?;
    // The same form sent twice is one approval.
    let key = EventKey::new(&format!("{id}/{scenario}/{}", site.operation), site.redactor);
    site.store.log_event(&NewEvent {
        session: run.session,
        group: None,
        kind,
        payload: site.redactor.clean_json(payload),
        key: Some(key),
        now: site.now,
    })?;
    Ok(())
}
