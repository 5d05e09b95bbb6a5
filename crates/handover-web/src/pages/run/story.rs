//! One story of a run: its steps in order, with the reason of each as text.

use handover_model::RunId;
use handover_text::cut::cut;
use maud::{Markup, html};

use super::step::{PATCH, diff, verdict};
use crate::error::PageError;
use crate::page::{Page, PageResult, Route};
use crate::run_view::{RunView, Story};
use crate::site::Site;
use crate::steps::{RunStep, steps};
use crate::view::{
    Room, badge, count, duration, empty_state, excerpt, fact, facts, money, plural, price,
    relative_time, section, state_tone, with_code,
};

/// Bytes of the list of steps, as it is sent.
const STEPS: usize = 80_000;

pub(super) fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    if route.query("story").is_none() {
        return super::render(site, route);
    }
    let id: RunId = route.id("run")?;
    let view = RunView::read(site, &id)?;
    let asked = route.query("story").unwrap_or_default();
    let units = view.document.iter().flat_map(|document| document.units());
    let Some(story) = units.into_iter().find(|unit| unit.id == asked) else {
        return Err(PageError::not_found("story", &cut(asked, 200)));
    };
    let all: Vec<RunStep> =
        steps(&view.entries).into_iter().filter(|step| step.story == story.id).collect();
    let shown = Room::new(STEPS).fill_from_end(all.iter().map(|step| line(site, &id, step)));
    let note = html! {
        (plural(all.len(), "step", "steps")) ", in order"
        @if shown.len() < all.len() { ", the last " (count(shown.len())) }
        "."
    };
    let body = html! {
        header class="page" id="head" data-live {
            h1 { (excerpt(&story.title, 140)) " " (badge(state_tone(story.state()), &story.state)) }
            @if let Some(reason) = &story.reason { p class="lead" { (with_code(reason, 1_000)) } }
            (story_facts(story))
        }
        @if !story.test_setup.is_empty() {
            div class="notice warn" { p { "It changed how it is tested:" } ul { @for line in &story.test_setup { li { (excerpt(line, 400)) } } } }
        }
        (super::act::story_forms(site, &view, story))
        (section("steps", "Steps", note, html! {
            @if all.is_empty() { (empty_state("Nothing was started for it yet.", "The run works on other stories, or has ended before.", "")) }
            ol class="timeline" { @for step in &shown { (step) } }
        }))
        (landed(site, &view, story))
    };
    Ok(Page {
        title: format!("Story {}", story.id),
        breadcrumbs: vec![
            ("/runs".to_owned(), "Runs".to_owned()),
            (format!("/runs/{id}"), format!("Epic {}", view.run.epic)),
        ],
        body,
    })
}

fn story_facts(story: &Story) -> Markup {
    facts(html! {
        (fact("Story", html! { code { (excerpt(&story.id, 80)) } }))
        (fact("Cost", html! { (price(story.price())) ", " (duration(story.phases.iter().map(|phase| phase.duration_ms).sum())) }))
        @if let Some(commit) = &story.commit { (fact("Commit", html! { a href="#landed" { code { (excerpt(commit, 60)) } } })) }
        @if let Some(branch) = &story.failed_branch { (fact("Kept on", html! { code { (excerpt(branch, 100)) } })) }
    })
}

/// The commit with all of its work, if the run made one.
fn landed(site: &Site<'_>, view: &RunView, story: &Story) -> Markup {
    let Some((before, commit)) = view.landed(&story.id) else { return html! {} };
    let patch = (site.patch)(&before, &commit, PATCH).filter(|patch| !patch.trim().is_empty());
    let note = html! {
        "Commit " code { (excerpt(&commit, 60)) }
        @if let Some(document) = &view.document { " on " code { (excerpt(&document.branch, 100)) } }
        "."
    };
    section(
        "landed",
        "What landed",
        note,
        html! {
            @match &patch {
                Some(patch) => (diff(site, patch)),
                None => p class="muted" { "This machine does not have the commit. " code { "git show " (excerpt(&commit, 60)) } " shows it where it is." },
            }
        },
    )
}

fn line(site: &Site<'_>, run: &RunId, step: &RunStep) -> Markup {
    let why = step.failures.len() + step.findings.len();
    html! {
        li {
            p class="meta" {
                a href=(step.path(run)) data-drawer { strong { (excerpt(&step.name(), 60)) } }
                " " (verdict(step))
                span class="muted" {
                    @if step.duration_ms > 0 { " " (duration(step.duration_ms)) }
                    @if step.cost_usd > 0.0 { ", " (money(step.cost_usd)) }
                    @if let Some(at) = step.started { ", " (relative_time(site.now, at)) }
                }
            }
            @if !step.summary.is_empty() { p class="words" { (excerpt(&step.summary, 400)) } }
            @for finding in step.findings.iter().take(3) { p class="muted" { (excerpt(&finding.line(), 240)) } }
            @for failure in step.failures.iter().take(3) { p class="muted" { code { (excerpt(failure, 240)) } } }
            @if why > 3 { p class="muted" { "and " (why - 3) " more" } }
        }
    }
}
