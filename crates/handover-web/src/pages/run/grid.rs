//! Stories and phases as a grid.

use std::collections::HashMap;

use handover_model::ReceiptId;
use maud::{Markup, html};

use crate::Site;
use crate::journal::{Document, Doing, Phase, Story, Told};
use crate::show::{Tone, badge, count, duration, money, plain, short, state_tone, when};

/// The order in which phases usually come; what else there is comes behind.
const ORDER: [&str; 8] = ["kickoff", "dev", "gates", "review", "fix", "analysis", "uat", "retro"];
/// How many attempts of one phase are named.
const ATTEMPTS: usize = 4;

pub(super) fn grid(site: &Site<'_>, told: &Told, document: &Document) -> Markup {
    let doing = told.doing();
    let phases = phases(document, &doing);
    let receipts: HashMap<(String, String, u64), (Option<ReceiptId>, String)> = told
        .ended()
        .into_iter()
        .map(|end| ((end.story, end.phase, end.attempt), (end.receipt, end.summary)))
        .collect();
    html! {
        div class="scroll" tabindex="0" role="region" aria-label="Stories and phases, scrolls sideways" {
            table class="grid" {
                thead {
                    tr {
                        th { "Story" } th { "State" }
                        @for phase in &phases { th { (short(phase, 30)) } }
                        th class="number" { "Time" } th class="number" { "Cost" } th { "Kept in" }
                    }
                }
                tbody {
                    @for story in document.units() {
                        tr {
                            th scope="row" {
                                (short(&story.title, 80))
                                p class="muted" { code { (short(&story.id, 60)) } }
                            }
                            td { (badge(state_tone(story.state()), &story.state)) }
                            @for phase in &phases {
                                td class="cell" { (cell(site, story, phase, &doing, &receipts)) }
                            }
                            td class="number" { (duration(story.phases.iter().map(|phase| phase.duration_ms).sum())) }
                            td class="number" { (money(story.cost_usd)) }
                            td {
                                @match (&story.commit, &story.failed_branch) {
                                    (Some(commit), _) => code title=(plain(commit)) { (commit.chars().take(10).collect::<String>()) },
                                    (None, Some(branch)) => code { (short(branch, 60)) },
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

fn phases(document: &Document, doing: &[Doing]) -> Vec<String> {
    let mut phases: Vec<String> = vec!["dev".to_owned(), "gates".to_owned(), "review".to_owned()];
    let seen = document.units().flat_map(|story| &story.phases).map(|phase| &phase.phase);
    let now = doing.iter().map(|doing| &doing.what).filter(|what| ORDER.contains(&what.as_str()));
    for phase in seen.chain(now) {
        if !phases.contains(phase) {
            phases.push(phase.clone());
        }
    }
    let place =
        |phase: &String| ORDER.iter().position(|known| known == phase).unwrap_or(ORDER.len());
    phases.sort_by_key(place);
    phases
}

type Receipts = HashMap<(String, String, u64), (Option<ReceiptId>, String)>;

fn cell(
    site: &Site<'_>,
    story: &Story,
    phase: &str,
    doing: &[Doing],
    receipts: &Receipts,
) -> Markup {
    let done: Vec<&Phase> = story.phases.iter().filter(|line| line.phase == phase).collect();
    let now = doing.iter().find(|doing| doing.story == story.id && doing.what == phase);
    let hidden = done.len().saturating_sub(ATTEMPTS);
    html! {
        @if hidden > 0 { p class="muted" { (count(hidden)) " earlier" } }
        @for line in done.iter().skip(hidden) {
            @let key = (story.id.clone(), phase.to_owned(), u64::from(line.attempt));
            @let known = receipts.get(&key);
            p title=[known.map(|(_, summary)| plain(summary)).filter(|text| !text.is_empty())] {
                @match known.and_then(|(receipt, _)| receipt.as_ref()) {
                    Some(receipt) => a href={ "/receipts/" (receipt) } { (badge(tone(&line.verdict), &line.verdict)) },
                    None => (badge(tone(&line.verdict), &line.verdict)),
                }
                " " span class="muted" { (duration(line.duration_ms)) @if line.cost_usd > 0.0 { " " (money(line.cost_usd)) } }
            }
        }
        @if let Some(now) = now {
            p { (badge(Tone::Good, "at work")) " " span class="muted" { (when(site.now, now.since)) } }
        }
    }
}

/// How a verdict is meant.
fn tone(verdict: &str) -> Tone {
    match verdict {
        "complete" | "passed" | "passed_with_fixes" => Tone::Good,
        "none" | "skip" => Tone::Calm,
        "blocked" | "escalate" | "retry" | "rate_limit" | "overloaded" | "network" => Tone::Warn,
        _ => Tone::Bad,
    }
}
