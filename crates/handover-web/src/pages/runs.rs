//! All runs.

use handover_engine::Price;
use handover_model::{Run, RunState, StoryState};
use handover_store::RunFilter;
use maud::{Markup, html};

use crate::page::{Page, PageEntry, PageResult, Route};
use crate::run_view::RunView;
use crate::site::Site;
use crate::view::{
    Column, Key, Order, Paging, Row, Tone, badge, duration, empty_state, fraction, kept_views,
    meter, ordered_table, price, relative_time, section, short_id, state_tone,
};

pub(crate) const PAGES: &[PageEntry] = &[PageEntry::in_nav("runs", "/runs", "Runs", render)];

/// Runs per page: the journal of each is read.
const LISTED: u32 = 20;

const COLUMNS: [Column; 7] = [
    Column::Text("Run"),
    Column::Text("State"),
    Column::Number("Stories done"),
    Column::Graphic("Stories done, as a bar"),
    Column::Number("Cost"),
    Column::Number("Agent time"),
    Column::Text("Started"),
];

/// What a row shows.
struct Listed {
    run: Run,
    /// None if its journal cannot be read.
    state: Option<RunState>,
    done: usize,
    stories: usize,
    price: Price,
    cost_usd: f64,
    duration_ms: u64,
}

impl Listed {
    fn new(site: &Site<'_>, run: &Run) -> Self {
        let view = RunView::read(site, &run.id).ok();
        let state = view.as_ref().map(RunView::state);
        let document = view.and_then(|view| view.document).unwrap_or_default();
        let done = document.stories.iter().filter(|story| story.state() == StoryState::Done);
        Self {
            run: run.clone(),
            state,
            done: done.count(),
            stories: document.stories.len(),
            price: document.price(),
            cost_usd: document.cost_usd,
            duration_ms: document.duration_ms,
        }
    }

    fn key(&self, column: usize) -> Key {
        match column {
            0 => Key::text(self.run.epic.as_str()),
            1 => Key::text(self.state.map_or("unreadable", state_label)),
            2 => Key::Number(self.done as f64 / self.stories.max(1) as f64),
            4 => Key::Number(self.cost_usd),
            5 => Key::Number(self.duration_ms as f64),
            _ => Key::Number(self.run.created_at.as_micros() as f64),
        }
    }
}

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let order = Order::read(route, &COLUMNS);
    let mut paging = Paging::read(route, LISTED);
    let limit = paging.from.saturating_add(paging.limit());
    let all = site.store.runs(&RunFilter { epic: None, limit: Some(limit) })?;
    let runs = paging.of(&all);
    let note = html! { @if order.is_chosen() { "Sorted" } @else { "Newest first" } @if let Some(place) = paging.place(runs.len()) { ", " (place) } "." };
    let body = html! {
        header class="page" {
            h1 { "Runs" }
            p class="lead" { "A run works through the stories of an epic: one agent develops, the project's own gates check, another agent reviews, and what passes is committed." }
        }
        (kept_views())
        (section("runs", "All runs", note, html! {
            @if all.is_empty() { (no_runs()) } @else { (ordered(site, runs, Some(&order))) (paging.links("runs")) }
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
    ordered(site, runs, None)
}

fn ordered(site: &Site<'_>, runs: &[Run], order: Option<&Order>) -> Markup {
    let mut listed: Vec<Listed> = runs.iter().map(|run| Listed::new(site, run)).collect();
    if let Some(order) = order {
        order.apply(&mut listed, Listed::key);
    }
    let row = |one: &Listed| {
        let Listed { run, state, done, stories, price: paid, duration_ms, .. } = one;
        Row::new(
            html! { a href={ "/runs/" (run.id) } { "Epic " (run.epic) } p class="muted" { (short_id(run.id.as_str())) } },
            [
                match state {
                    Some(state) => badge(state_tone(*state), state_label(*state)),
                    None => badge(Tone::Bad, "unreadable"),
                },
                html! { (fraction(*done, *stories)) },
                meter(*done as f64, *stories as f64, Tone::Good),
                html! { (price(*paid)) },
                html! { (duration(*duration_ms)) },
                relative_time(site.now, run.created_at),
            ],
        )
    };
    ordered_table("", &COLUMNS, order, listed.iter().map(row))
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
