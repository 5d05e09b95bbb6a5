//! All runs.

use handover_model::{Run, RunState};
use handover_store::RunFilter;
use maud::{Markup, html};

use crate::Site;
use crate::journal::Told;
use crate::layout::{Page, Part};
use crate::route::Shown;
use crate::show::{
    Tone, badge, count, duration, empty, meter, money, of, section, state_tone, when,
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
            @if runs.is_empty() { (nothing()) } @else { (table(site, &runs)) }
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
pub(crate) fn table(site: &Site<'_>, runs: &[Run]) -> Markup {
    html! {
        table class="rows" {
            thead {
                tr {
                    th { "Run" } th { "State" } th class="number" { "Stories done" } th class="wide" { span class="unseen" { "Stories done, as a bar" } }
                    th class="number" { "Cost" } th class="number" { "Time of agents" } th { "Begun" }
                }
            }
            tbody {
                @for run in runs {
                    @match Told::read(site.store, &run.id) {
                        Ok(told) => {
                            @let document = told.document.clone().unwrap_or_default();
                            @let all = document.stories.len();
                            @let done = document.stories.iter().filter(|story| story.state().as_str() == "done").count();
                            tr {
                                th scope="row" { a href={ "/runs/" (run.id) } { "Epic " (run.epic) } p class="muted" { (run.id) } }
                                td { (badge(state_tone(told.state()), word(told.state()))) }
                                td class="number" { (of(done, all)) }
                                td class="wide" { (meter(done as f64, all as f64, Tone::Good)) }
                                td class="number" { (money(document.cost_usd)) }
                                td class="number" { (duration(document.duration_ms)) }
                                td { (when(site.now, run.created_at)) }
                            }
                        }
                        Err(_) => tr {
                            th scope="row" { a href={ "/runs/" (run.id) } { "Epic " (run.epic) } p class="muted" { (run.id) } }
                            td { (badge(Tone::Bad, "unreadable")) }
                            td class="number" { "–" } td class="wide" {} td class="number" { "–" } td class="number" { (count(0_u64)) }
                            td { (when(site.now, run.created_at)) }
                        },
                    }
                }
            }
        }
    }
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
