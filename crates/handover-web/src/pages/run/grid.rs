//! The grid of stories and phases.

use std::collections::HashMap;

use handover_model::ReceiptId;
use maud::{Markup, html};

use crate::run_view::{ActiveWork, Phase, RunDocument, RunView, Story};
use crate::site::Site;
use crate::view::{
    Tone, badge, count, duration, excerpt, money, relative_time, single_line, state_tone,
};

/// The usual order of phases; unknown ones follow.
const ORDER: [&str; 8] = ["kickoff", "dev", "gates", "review", "fix", "analysis", "uat", "retro"];
/// Attempts of one phase that are shown.
const ATTEMPTS: usize = 4;

pub(super) fn grid(site: &Site<'_>, view: &RunView, document: &RunDocument) -> Markup {
    let active = view.active_work();
    let phases = phases(document, &active);
    let receipts: HashMap<(String, String, u64), (Option<ReceiptId>, String)> = view
        .finished_agents()
        .into_iter()
        .map(|agent| ((agent.story, agent.phase, agent.attempt), (agent.receipt, agent.summary)))
        .collect();
    html! {
        div class="scroll" tabindex="0" role="region" aria-label="Stories and phases, scrolls sideways" {
            table class="grid" {
                thead {
                    tr {
                        th { "Story" } th { "State" }
                        @for phase in &phases { th { (excerpt(phase, 30)) } }
                        th class="number" { "Time" } th class="number" { "Cost" } th { "Commit or branch" }
                    }
                }
                tbody {
                    @for story in document.units() {
                        tr {
                            th scope="row" {
                                (excerpt(&story.title, 80))
                                p class="muted" { code { (excerpt(&story.id, 60)) } }
                            }
                            td { (badge(state_tone(story.state()), &story.state)) }
                            @for phase in &phases {
                                td class="cell" { (cell(site, story, phase, &active, &receipts)) }
                            }
                            td class="number" { (duration(story.phases.iter().map(|phase| phase.duration_ms).sum())) }
                            td class="number" { (money(story.cost_usd)) }
                            td {
                                @match (&story.commit, &story.failed_branch) {
                                    (Some(commit), _) => code title=(single_line(commit)) { (commit.chars().take(10).collect::<String>()) },
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

fn phases(document: &RunDocument, active: &[ActiveWork]) -> Vec<String> {
    let mut phases: Vec<String> = vec!["dev".to_owned(), "gates".to_owned(), "review".to_owned()];
    let seen = document.units().flat_map(|story| &story.phases).map(|phase| &phase.phase);
    let now =
        active.iter().map(|active| &active.what).filter(|what| ORDER.contains(&what.as_str()));
    for phase in seen.chain(now) {
        if !phases.contains(phase) {
            phases.push(phase.clone());
        }
    }
    let rank =
        |phase: &String| ORDER.iter().position(|known| known == phase).unwrap_or(ORDER.len());
    phases.sort_by_key(rank);
    phases
}

type Receipts = HashMap<(String, String, u64), (Option<ReceiptId>, String)>;

fn cell(
    site: &Site<'_>,
    story: &Story,
    phase: &str,
    active: &[ActiveWork],
    receipts: &Receipts,
) -> Markup {
    let done: Vec<&Phase> = story.phases.iter().filter(|line| line.phase == phase).collect();
    let now = active.iter().find(|active| active.story == story.id && active.what == phase);
    let hidden = done.len().saturating_sub(ATTEMPTS);
    html! {
        @if hidden > 0 { p class="muted" { (count(hidden)) " earlier" } }
        @for line in done.iter().skip(hidden) {
            @let key = (story.id.clone(), phase.to_owned(), u64::from(line.attempt));
            @let known = receipts.get(&key);
            p title=[known.map(|(_, summary)| single_line(summary)).filter(|text| !text.is_empty())] {
                @match known.and_then(|(receipt, _)| receipt.as_ref()) {
                    Some(receipt) => a href={ "/receipts/" (receipt) } { (badge(tone(&line.verdict), &line.verdict)) },
                    None => (badge(tone(&line.verdict), &line.verdict)),
                }
                " " span class="muted" { (duration(line.duration_ms)) @if line.cost_usd > 0.0 { " " (money(line.cost_usd)) } }
            }
        }
        @if let Some(now) = now {
            p { (badge(Tone::Good, "at work")) " " span class="muted" { (relative_time(site.now, now.since)) } }
        }
    }
}

fn tone(verdict: &str) -> Tone {
    match verdict {
        "complete" | "passed" | "passed_with_fixes" => Tone::Good,
        "none" | "skip" => Tone::Calm,
        "blocked" | "escalate" | "retry" | "rate_limit" | "overloaded" | "network" => Tone::Warn,
        _ => Tone::Bad,
    }
}
