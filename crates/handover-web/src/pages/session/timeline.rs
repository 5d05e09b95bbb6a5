//! The latest activity of a session, in sentences.

use handover_model::{PackageId, ReceiptState, Timestamp};
use maud::{Markup, html};

use super::graph::{EdgeSource, PackageNode, Reach, SessionGraph};
use crate::site::Site;
use crate::view::{Tone, badge, clock, count, excerpt, plural, role_name, short_date, state_tone};

/// Entries of the timeline.
pub(super) const ENTRIES: usize = 40;

struct TimelineEntry {
    at: Timestamp,
    who: String,
    what: Markup,
}

/// The latest entries in chronological order, and whether there are more.
pub(super) fn render(site: &Site<'_>, graph: &SessionGraph) -> (Markup, bool) {
    // Of each kind, only what can be among the latest entries.
    let mut entries = packages(site, graph);
    entries.extend(reasoning(graph));
    entries.extend(receipts(graph));
    entries.extend(opened(graph));
    entries.extend(outcomes(graph));
    entries.sort_by_key(|entry| entry.at);
    let hidden = entries.len().saturating_sub(ENTRIES);
    let latest = entries.split_off(hidden);
    let mut last_day = String::new();
    let list = html! {
        ol class="tale" {
            @for entry in latest {
                @let today = short_date(entry.at);
                @if today != last_day { li class="day" { (today) } ({ last_day = today; "" }) }
                li {
                    (clock(entry.at))
                    span class="who" { (entry.who) }
                    span class="what" { (entry.what) }
                }
            }
        }
    };
    (list, hidden > 0)
}

/// Who wrote which package for whom.
fn packages(site: &Site<'_>, graph: &SessionGraph) -> Vec<TimelineEntry> {
    let last = || graph.packages.iter().rev().take(ENTRIES);
    let ids: Vec<PackageId> = last().map(|package| package.id).collect();
    let packages = site.store.packages_by_id(&ids).unwrap_or_default();
    let entry = |(at, package): (usize, &PackageNode)| {
        let to = match packages.get(at).map_or(&[][..], |package| &package.consumers) {
            [] => "everyone".to_owned(),
            roles => {
                roles.iter().map(|role| role_name(role.as_str())).collect::<Vec<_>>().join(", ")
            }
        };
        TimelineEntry {
            at: package.at,
            who: role_name(package.producer.as_str()),
            what: html! {
                @if package.version > 1 { "corrected " } @else { "wrote " }
                a href={ "/packages/" (package.id) } { (excerpt(&package.title, 90)) }
                " for " (to)
                @if package.is_latest && package.reach == Reach::Undelivered { " " (badge(Tone::Warn, "reached nobody")) }
                @if !package.is_latest { " " (badge(Tone::Calm, "superseded")) }
            },
        }
    };
    last().enumerate().map(entry).collect()
}

fn reasoning(graph: &SessionGraph) -> impl Iterator<Item = TimelineEntry> {
    graph.reasoning.iter().rev().take(ENTRIES).map(|entry| TimelineEntry {
        at: entry.at,
        who: role_name(entry.role.as_str()),
        what: html! { span class="muted" { (entry.phase) ": " } "“" (excerpt(&entry.content, 160)) "”" },
    })
}

/// Who was given how much.
fn receipts(graph: &SessionGraph) -> impl Iterator<Item = TimelineEntry> {
    graph.receipts.iter().enumerate().rev().take(ENTRIES).map(|(at, receipt)| {
        let (mut packages, mut reasoning) = (0, 0);
        for edge in graph.edges.iter().filter(|edge| edge.to == at) {
            match edge.from {
                EdgeSource::Package(_) => packages += 1,
                EdgeSource::Reasoning(_) => reasoning += 1,
            }
        }
        TimelineEntry {
            at: receipt.created_at,
            who: role_name(receipt.role.as_str()),
            what: html! {
                a href={ "/receipts/" (receipt.id) } {
                    @match receipt.state {
                        ReceiptState::Assembled => "brief assembled: ",
                        ReceiptState::Delivered | ReceiptState::Confirmed => "brief delivered: ",
                        ReceiptState::Failed => "brief failed: ",
                    }
                    (plural(packages, "package", "packages"))
                    @if reasoning > 0 { " and " (plural(reasoning, "piece", "pieces")) " of reasoning" }
                }
                ", " (count(receipt.tokens)) " tokens "
                (badge(state_tone(receipt.state), receipt.state.as_str()))
            },
        }
    })
}

/// Who opened which package.
fn opened(graph: &SessionGraph) -> impl Iterator<Item = TimelineEntry> {
    let read = graph.edges.iter().rev().filter(|edge| edge.read_at.is_some()).take(ENTRIES);
    read.filter_map(|edge| {
        let (Some(at), EdgeSource::Package(from)) = (edge.read_at, edge.from) else { return None };
        let (package, receipt) = (graph.packages.get(from)?, graph.receipts.get(edge.to)?);
        Some(TimelineEntry {
            at,
            who: role_name(receipt.role.as_str()),
            what: html! { "opened " a href={ "/packages/" (package.id) } { (excerpt(&package.title, 90)) } },
        })
    })
}

/// How agents and phases ended.
fn outcomes(graph: &SessionGraph) -> impl Iterator<Item = TimelineEntry> {
    graph.outcomes.iter().rev().take(ENTRIES).map(|event| {
        let text = |key: &str| event.payload[key].as_str().unwrap_or_default();
        let reasons = event.payload["reasons"].as_array().into_iter().flatten();
        let reasons: Vec<&str> = reasons.filter_map(|reason| reason.as_str()).collect();
        let reasons = reasons.join("; ");
        let who = [text("role"), text("phase")].into_iter().find(|word| !word.is_empty());
        TimelineEntry {
            at: event.created_at,
            who: role_name(who.unwrap_or("handover")),
            what: html! {
                @if event.payload["allowed"] == false { "refused by the guard " } @else { (event.kind.as_str()) " " }
                @if !text("verdict").is_empty() { strong { (text("verdict").replace('_', " ")) } " " }
                (excerpt(first_non_empty(&[text("summary"), text("reason"), text("message"), &reasons]), 160))
            },
        }
    })
}

fn first_non_empty<'t>(texts: &[&'t str]) -> &'t str {
    texts.iter().copied().find(|text| !text.is_empty()).unwrap_or_default()
}
