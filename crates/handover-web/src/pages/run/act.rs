//! What a person can do with a run from its pages: skip or retry a story, give the whole run up, approve what only a person
//! can check. Answers have their own form.

use handover_engine::EngineError;
use handover_engine::control::{Control, may_abandon, may_retry, may_skip, to_check};
use handover_engine::reducer::{Approval, State};
use handover_model::{RunId, RunState};
use handover_store::StoreError;
use maud::{Markup, html};

use crate::error::PageError;
use crate::form::{REASON, token_field};
use crate::page::{FormOutcome, Route};
use crate::pages::changes::refused;
use crate::run_view::{RunView, Story};
use crate::site::Site;
use crate::steps::escaped;
use crate::view::{Tone, badge, excerpt, plural, relative_time, section, single_line, untrusted};

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
        "retry" => (
            control.retry(&id, story, &reason),
            format!("/runs/{id}/stories?story={}", escaped(story)),
        ),
        word @ ("approve" | "object") => (
            control.approve(&id, field("scenario"), word == "approve", &reason),
            format!("/runs/{id}#approvals"),
        ),
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

/// What the engine allows for the run; nothing while it is at work.
fn state(view: &RunView) -> Option<State> {
    match view.state() {
        RunState::Running => return None,
        RunState::Interrupted
        | RunState::Budget
        | RunState::Environment
        | RunState::Blocked
        | RunState::Failed
        | RunState::Done => {}
    }
    Some(handover_engine::fold(&view.run.id, &view.entries).ok().flatten()?.state)
}

/// What can be done with a story.
pub(super) fn story_forms(site: &Site<'_>, view: &RunView, story: &Story) -> Markup {
    let (epic, id) = (&view.run.epic, story.id.as_str());
    let Some(state) = state(view) else { return html! {} };
    let fields = |verb: &'static str| [("do", verb), ("story", id)];
    html! {
        @if may_skip(&state, id) && site.may_write {
            (section("act", "Skip it", html! { "The run continues without it; its work is kept on a branch of its own." },
                form(site, &view.run.id, &fields("skip"), "Skip this story", "Why")))
        }
        @if may_retry(&state, id) {
            (section("retry", "Retry it", html! { code { "handover run " (epic) " --resume" } " then tries it again; it knows what was found before." },
                html! { @if site.may_write { (form(site, &view.run.id, &fields("retry"), "Retry this story", "What the next agent should know")) } }))
        }
    }
}

/// What can be done with the whole run.
pub(super) fn run_forms(site: &Site<'_>, view: &RunView) -> Markup {
    let approvals = approvals(site, view);
    html! {
        (approvals)
        @if site.may_write && state(view).is_some_and(|state| may_abandon(&state)) {
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
    let human = to_check(&folded.state);
    if human.is_empty() {
        return html! {};
    }
    let uat = folded.state.closing.as_ref().and_then(|closing| closing.uat.as_ref());
    let said = uat.map(|uat| uat.approvals.as_slice()).unwrap_or_default();
    section(
        "approvals",
        "For a person to check",
        html! { (plural(human.len(), "scenario", "scenarios")) ", which no program can run. The steps are in the epic’s acceptance document." },
        html! {
            ul class="list" {
                @for one in human {
                    @let verdict = said.iter().find(|said| said.scenario == one.id);
                    li {
                        p { strong { (excerpt(&one.id, 60)) } " " (excerpt(&one.criterion, 300)) }
                        @if let Some(Approval { holds, note, by, at, .. }) = verdict {
                            p {
                                (badge(if *holds { Tone::Good } else { Tone::Bad }, if *holds { "approved" } else { "rejected" }))
                                " " @if !note.is_empty() { (untrusted(note)) " " } span class="muted" { (excerpt(by.as_deref().unwrap_or_default(), 80)) ", " (relative_time(site.now, *at)) }
                            }
                        }
                        @if site.may_write {
                            (form(site, run, &[("do", "approve"), ("scenario", &one.id)], "Passed", "Note"))
                            (form(site, run, &[("do", "object"), ("scenario", &one.id)], "Failed", "What is wrong"))
                        }
                    }
                }
            }
        },
    )
}
