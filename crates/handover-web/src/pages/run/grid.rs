//! The grid of stories and phases.

use handover_model::{RunId, RunState};
use maud::{Markup, html};

use super::step::verdict;
use crate::run_view::{RunDocument, RunView, Story};
use crate::site::Site;
use crate::steps::{RunStep, escaped, steps};
use crate::view::{
    Tone, badge, count, duration, excerpt, money, price, relative_time, single_line, state_tone,
    with_code,
};

/// The usual order of phases; unknown ones follow.
const ORDER: [&str; 8] = ["kickoff", "dev", "gates", "review", "fix", "analysis", "uat", "retro"];
/// Attempts of one phase that are shown.
const ATTEMPTS: usize = 4;

pub(super) fn grid(site: &Site<'_>, view: &RunView, document: &RunDocument) -> Markup {
    let steps = steps(&view.entries);
    let phases = phases(&steps);
    let run = &view.run.id;
    html! {
        div class="scroll" tabindex="0" role="region" aria-label="Stories and phases, scrolls sideways" {
            table class="grid" {
                thead {
                    tr {
                        th scope="col" { "Story" } th scope="col" { "State" }
                        @for phase in &phases { th scope="col" { (excerpt(phase, 30)) } }
                        th scope="col" class="number" { "Time" } th scope="col" class="number" { "Cost" } th scope="col" { "Commit or branch" }
                    }
                }
                tbody {
                    @for story in document.units() {
                        tr {
                            th scope="row" {
                                a href={ "/runs/" (run) "/stories?story=" (escaped(&story.id)) } { (excerpt(&story.title, 80)) }
                                p class="muted" { code { (excerpt(&story.id, 60)) } }
                                @if let Some(reason) = &story.reason { p class="reason" { (with_code(reason, 160)) } }
                            }
                            td { (badge(state_tone(story.state()), &story.state)) }
                            @for phase in &phases {
                                td class="cell" { (cell(site, view, story, phase, &steps)) }
                            }
                            td class="number" { (duration(story.phases.iter().map(|phase| phase.duration_ms).sum())) }
                            td class="number" { (price(story.price())) }
                            td {
                                @match (&story.commit, &story.failed_branch) {
                                    (Some(commit), _) => a href={ "/runs/" (run) "/stories?story=" (escaped(&story.id)) "#landed" } { code title=(single_line(commit)) { (commit.chars().take(10).collect::<String>()) } },
                                    (None, Some(branch)) => code { (excerpt(branch, 60)) },
                                    (None, None) => "–",
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn phases(steps: &[RunStep]) -> Vec<String> {
    let mut phases: Vec<String> = vec!["dev".to_owned(), "gates".to_owned(), "review".to_owned()];
    for step in steps {
        if !phases.contains(&step.phase) {
            phases.push(step.phase.clone());
        }
    }
    let rank =
        |phase: &String| ORDER.iter().position(|known| known == phase).unwrap_or(ORDER.len());
    phases.sort_by_key(rank);
    phases
}

fn cell(site: &Site<'_>, view: &RunView, story: &Story, phase: &str, steps: &[RunStep]) -> Markup {
    let own: Vec<&RunStep> =
        steps.iter().filter(|step| step.story == story.id && step.phase == phase).collect();
    let hidden = own.len().saturating_sub(ATTEMPTS);
    html! {
        @if hidden > 0 { p class="muted" { (count(hidden)) " earlier" } }
        @for step in own.iter().skip(hidden) { (entry(site, view, &view.run.id, step)) }
    }
}

/// One attempt, which leads to its cause.
fn entry(site: &Site<'_>, view: &RunView, run: &RunId, step: &RunStep) -> Markup {
    let stopped = step.verdict.is_none() && view.state() != RunState::Running;
    html! {
        p {
            a href=(step.path(run)) data-drawer {
                @if stopped { (badge(Tone::Warn, "stopped")) } @else { (verdict(step)) }
                @if let Some(voice) = &step.voice { span class="unseen" { " " (excerpt(&voice.persona, 30)) } }
            }
            " " span class="muted" {
                @match (step.ended, step.started) {
                    (None, Some(since)) => (relative_time(site.now, since)),
                    _ => { (duration(step.duration_ms)) @if step.cost_usd > 0.0 { " " (money(step.cost_usd)) } },
                }
            }
        }
    }
}
