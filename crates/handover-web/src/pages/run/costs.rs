//! Cost charts: by story, by phase, by role.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::error::PageError;
use crate::run_view::{RunDocument, RunView};
use crate::site::Site;
use crate::view::{Bar, bars, count, duration, money, role_name, single_line};

/// Bars of one chart.
const BARS: usize = 24;

pub(super) fn charts(
    site: &Site<'_>,
    view: &RunView,
    document: &RunDocument,
) -> Result<Markup, PageError> {
    let stories: Vec<Bar> = document
        .units()
        .filter(|story| !story.phases.is_empty())
        .map(|story| {
            bar(&story.id, story.cost_usd, {
                let tokens: u64 = story.phases.iter().map(|phase| phase.tokens).sum();
                format!("{} tokens", count(tokens))
            })
        })
        .collect();
    let mut by_phase: BTreeMap<&str, (f64, u64)> = BTreeMap::new();
    for phase in document.units().flat_map(|story| &story.phases) {
        let sum = by_phase.entry(&phase.phase).or_default();
        sum.0 += phase.cost_usd;
        sum.1 += phase.duration_ms;
    }
    let phases: Vec<Bar> =
        by_phase.into_iter().map(|(phase, (cost, ms))| bar(phase, cost, duration(ms))).collect();
    let roles: Vec<Bar> = view
        .cost_by_role(site.store)?
        .into_iter()
        .map(|(role, cost)| bar(&role_name(&role), cost, String::new()))
        .collect();
    if stories.is_empty() {
        return Ok(html! { p class="muted" { "No cost yet." } });
    }
    Ok(html! {
        div class="charts" {
            @for (name, list) in [("By story", stories), ("By phase", phases), ("By role", roles)] {
                @if !list.is_empty() { (bars(name, &largest(list))) }
            }
        }
    })
}

fn bar(name: &str, cost: f64, note: String) -> Bar {
    Bar { name: single_line(name), link: None, value: cost, label: money(cost), note }
}

/// Merges the smallest bars into one if there are too many.
fn largest(mut list: Vec<Bar>) -> Vec<Bar> {
    if list.len() > BARS {
        list.sort_by(|a, b| b.value.total_cmp(&a.value));
        let rest: f64 = list.iter().skip(BARS - 1).map(|bar| bar.value).sum();
        let hidden = list.len() - BARS + 1;
        list.truncate(BARS - 1);
        list.push(bar(&format!("{hidden} others"), rest, String::new()));
    }
    list
}
