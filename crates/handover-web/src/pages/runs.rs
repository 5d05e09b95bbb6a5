//! All runs.

use handover_model::{Run, RunState, StoryState};
use handover_store::RunFilter;
use maud::{Markup, html};

use crate::page::{Page, PageEntry, PageResult, Route};
use crate::run_view::RunView;
use crate::site::Site;
use crate::view::{
    Column, Row, Tone, badge, duration, empty_state, fraction, meter, money, relative_time,
    section, state_tone, table,
};

pub(crate) const PAGES: &[PageEntry] = &[PageEntry::in_nav("runs", "/runs", "Runs", render)];

/// Runs on the page.
const LISTED: u32 = 50;

fn render(site: &Site<'_>, _: &Route<'_>) -> PageResult {
    let runs = site.store.runs(&RunFilter { epic: None, limit: Some(LISTED) })?;
    let note =
        html! { "Newest first" @if runs.len() >= LISTED as usize { ", the latest " (LISTED) } "." };
    let body = html! {
        header class="page" {
            h1 { "Runs" }
            p class="lead" { "A run works through the stories of an epic: one agent develops, the project's own gates check, another agent reviews, and what passes is committed." }
        }
        (section("runs", "All runs", note, html! {
            @if runs.is_empty() { (no_runs()) } @else { (rows(site, &runs)) }
        }))
    };
    Ok(Page { title: "Runs".to_owned(), breadcrumbs: Vec::new(), body })
}

fn no_runs() -> Markup {
    empty_state(
        "No run yet.",
        "Write stories, look at the plan, and start:",
        "handover run 1 --dry-run\nhandover run 1",
    )
}

/// A table of runs.
pub(crate) fn rows(site: &Site<'_>, runs: &[Run]) -> Markup {
    use Column::{Graphic, Number, Text};
    let columns = [
        Text("Run"),
        Text("State"),
        Number("Stories done"),
        Graphic("Stories done, as a bar"),
        Number("Cost"),
        Number("Agent time"),
        Text("Started"),
    ];
    let row = |run: &Run| {
        let head = html! { a href={ "/runs/" (run.id) } { "Epic " (run.epic) } p class="muted" { (run.id) } };
        let view = RunView::read(site, &run.id).ok();
        let state = view.as_ref().map(RunView::state);
        let document = view.and_then(|view| view.document).unwrap_or_default();
        let all = document.stories.len();
        let done =
            document.stories.iter().filter(|story| story.state() == StoryState::Done).count();
        Row::new(
            head,
            [
                match state {
                    Some(state) => badge(state_tone(state), state_label(state)),
                    None => badge(Tone::Bad, "unreadable"),
                },
                html! { (fraction(done, all)) },
                meter(done as f64, all as f64, Tone::Good),
                html! { (money(document.cost_usd)) },
                html! { (duration(document.duration_ms)) },
                relative_time(site.now, run.created_at),
            ],
        )
    };
    table("", &columns, runs.iter().map(row))
}

pub(crate) const fn state_label(state: RunState) -> &'static str {
    match state {
        RunState::Budget => "out of budget",
        RunState::Environment => "stopped by its environment",
        RunState::Running
        | RunState::Interrupted
        | RunState::Done
        | RunState::Failed
        | RunState::Blocked => state.as_str(),
    }
}
