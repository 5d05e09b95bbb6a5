//! The waterfall of a run: each step as a bar from its beginning to its end.

use std::collections::BTreeMap;

use handover_model::RunState;
use maud::{Markup, html};

use crate::pages::receipt::outcome::word_tone;
use crate::run_view::RunView;
use crate::site::Site;
use crate::steps::{RunStep, steps};
use crate::view::{Lane, Span, Tone, count, duration, single_line, waterfall};

/// Steps that are drawn.
const DRAWN: usize = 400;

pub(super) fn run(site: &Site<'_>, view: &RunView) -> Markup {
    let mut steps = steps(&view.entries);
    let hidden = steps.len().saturating_sub(DRAWN);
    steps.drain(..hidden);
    let is_running = view.state() == RunState::Running;
    let mut lanes: Vec<Lane> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for step in &steps {
        let Some(span) = span(site, view, step, is_running) else { continue };
        let at = *places.entry(step.story.clone()).or_insert_with(|| {
            lanes.push(Lane { name: single_line(&step.story), spans: Vec::new() });
            lanes.len() - 1
        });
        if let Some(lane) = lanes.get_mut(at) {
            lane.spans.push(span);
        }
    }
    html! {
        @if lanes.is_empty() { p class="muted" { "Nothing has started yet." } }
        @else { (waterfall("The steps of the run over time", &lanes)) }
        @if hidden > 0 { p class="note" { (count(hidden)) " earlier steps are not drawn." } }
    }
}

fn span(site: &Site<'_>, view: &RunView, step: &RunStep, is_running: bool) -> Option<Span> {
    let from = step.started?;
    let to = match step.ended {
        Some(ended) => ended,
        None if is_running => site.now,
        None => view.run.updated_at,
    };
    let tone = match &step.verdict {
        Some(word) => word_tone(word),
        None if is_running => Tone::Calm,
        None => Tone::Warn,
    };
    let took = duration(u64::try_from((to.as_micros() - from.as_micros()) / 1_000).unwrap_or(0));
    let verdict = step.verdict.as_deref().unwrap_or(if is_running { "at work" } else { "stopped" });
    Some(Span {
        from,
        to,
        tone,
        name: single_line(&step.phase),
        note: single_line(&format!("{}: {verdict}, {took}", step.name())),
        link: Some(step.path(&view.run.id)),
        grows: is_running && step.ended.is_none(),
    })
}
