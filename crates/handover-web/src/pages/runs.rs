//! All runs.

use handover_model::{Run, RunState, StoryState};
use handover_store::RunFilter;
use maud::{Markup, html};

use crate::Site;
use crate::journal::Told;
use crate::layout::{Page, Part};
use crate::route::Shown;
use crate::show::{
    Column, Row, Tone, badge, duration, empty, meter, money, of, section, state_tone, table, when,
};

/// How many are listed.
const LISTED: u32 = 50;

pub(crate) fn page(site: &Site<'_>) -> Shown {
    let runs = site.store.runs(&RunFilter { epic: None, limit: Some(LISTED) })?;
    let note =
        html! { "Newest first" @if runs.len() >= LISTED as usize { ", the latest " (LISTED) } "." };
    let body = html! {
        header class="page" {
            h1 { "Runs" }
            p class="lead" { "A run takes the stories of an epic one by one: a fresh agent develops, the project's own tests check, another reviews, and what holds is committed." }
        }
        (section("runs", "All runs", note, html! {
            @if runs.is_empty() { (nothing()) } @else { (rows(site, &runs)) }
        }))
    };
    Ok(Page { title: "Runs".to_owned(), part: Part::Runs, above: Vec::new(), body })
}

/// There are no runs.
pub(crate) fn nothing() -> Markup {
    empty(
        "No run yet.",
        "Write stories, look at the plan, and start:",
        "handover run 1 --dry-run\nhandover run 1",
    )
}

/// Runs as rows.
pub(crate) fn rows(site: &Site<'_>, runs: &[Run]) -> Markup {
    use Column::{Drawn, Number, Text};
    let columns = [
        Text("Run"),
        Text("State"),
        Number("Stories done"),
        Drawn("Stories done, as a bar"),
        Number("Cost"),
        Number("Time of agents"),
        Text("Begun"),
    ];
    let row = |run: &Run| {
        let head = html! { a href={ "/runs/" (run.id) } { "Epic " (run.epic) } p class="muted" { (run.id) } };
        let told = Told::read(site, &run.id).ok();
        let state = told.as_ref().map(Told::state);
        let document = told.and_then(|told| told.document).unwrap_or_default();
        let all = document.stories.len();
        let done =
            document.stories.iter().filter(|story| story.state() == StoryState::Done).count();
        Row::new(
            head,
            [
                match state {
                    Some(state) => badge(state_tone(state), word(state)),
                    None => badge(Tone::Bad, "unreadable"),
                },
                html! { (of(done, all)) },
                meter(done as f64, all as f64, Tone::Good),
                html! { (money(document.cost_usd)) },
                html! { (duration(document.duration_ms)) },
                when(site.now, run.created_at),
            ],
        )
    };
    table("", &columns, runs.iter().map(row))
}

/// A state in words.
pub(crate) const fn word(state: RunState) -> &'static str {
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
