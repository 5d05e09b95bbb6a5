//! What happened in a session, told in sentences.

use handover_model::{PackageId, ReceiptState, Timestamp};
use maud::{Markup, html};

use super::scene::{From, Reach, Scene};
use crate::Site;
use crate::show::{Tone, badge, clock, count, day, moment, plural, role_name, short, state_tone};

/// How many sentences are told.
const SENTENCES: usize = 60;

struct Told {
    at: Timestamp,
    who: String,
    what: Markup,
}

/// The last sentences, in the order of time.
pub(super) fn tale(site: &Site<'_>, scene: &Scene) -> Markup {
    let mut told = Vec::new();
    // Only what may be among the last ones is put into words.
    let last = || scene.sent.iter().rev().take(SENTENCES);
    let ids: Vec<PackageId> = last().map(|sent| sent.id).collect();
    let packages = site.store.packages_by_id(&ids).unwrap_or_default();
    for (at, sent) in last().enumerate() {
        let to = match packages.get(at).map_or(&[][..], |package| &package.consumers) {
            [] => "everyone".to_owned(),
            roles => {
                roles.iter().map(|role| role_name(role.as_str())).collect::<Vec<_>>().join(", ")
            }
        };
        told.push(Told {
            at: sent.at,
            who: role_name(sent.producer.as_str()),
            what: html! {
                @if sent.version > 1 { "corrected " } @else { "wrote " }
                a href={ "/packages/" (sent.id) } { (short(&sent.title, 90)) }
                " for " (to)
                @if sent.is_latest && sent.reach == Reach::Nobody { " " (badge(Tone::Warn, "reached nobody")) }
                @if !sent.is_latest { " " (badge(Tone::Calm, "superseded")) }
            },
        });
    }
    for thought in scene.thoughts.iter().rev().take(SENTENCES) {
        told.push(Told {
            at: thought.at,
            who: role_name(thought.role.as_str()),
            what: html! { span class="muted" { (thought.phase) ": " } "“" (short(&thought.content, 160)) "”" },
        });
    }
    for (at, receipt) in scene.receipts.iter().enumerate().rev().take(SENTENCES) {
        let ways = scene.ways.iter().filter(|way| way.to == at);
        let (mut packages, mut thoughts) = (0, 0);
        for way in ways {
            match way.from {
                From::Sent(_) => packages += 1,
                From::Thought(_) => thoughts += 1,
            }
        }
        told.push(Told {
            at: receipt.created_at,
            who: role_name(receipt.role.as_str()),
            what: html! {
                a href={ "/receipts/" (receipt.id) } {
                    @match receipt.state {
                        ReceiptState::Assembled => "was to be given ",
                        ReceiptState::Delivered | ReceiptState::Confirmed => "was given ",
                        ReceiptState::Failed => "did not get ",
                    }
                    (plural(packages, "package", "packages"))
                    @if thoughts > 0 { " and " (plural(thoughts, "piece", "pieces")) " of reasoning" }
                }
                ", " (count(receipt.tokens)) " tokens "
                (badge(state_tone(receipt.state), receipt.state.as_str()))
            },
        });
    }
    for way in scene.ways.iter().rev().filter(|way| way.read_at.is_some()).take(SENTENCES) {
        let (Some(at), From::Sent(from)) = (way.read_at, way.from) else { continue };
        let (Some(sent), Some(receipt)) = (scene.sent.get(from), scene.receipts.get(way.to)) else {
            continue;
        };
        told.push(Told {
            at,
            who: role_name(receipt.role.as_str()),
            what: html! { "opened " a href={ "/packages/" (sent.id) } { (short(&sent.title, 90)) } },
        });
    }
    for event in scene.endings.iter().rev().take(SENTENCES) {
        let text = |key: &str| event.payload[key].as_str().unwrap_or_default();
        let who = [text("role"), text("phase")].into_iter().find(|word| !word.is_empty());
        told.push(Told {
            at: event.created_at,
            who: role_name(who.unwrap_or("handover")),
            what: html! {
                (event.kind.as_str()) " "
                @if !text("verdict").is_empty() { strong { (text("verdict").replace('_', " ")) } " " }
                (short(first(&[text("summary"), text("reason"), text("message")]), 160))
            },
        });
    }
    told.sort_by_key(|told| told.at);
    let hidden = told.len().saturating_sub(SENTENCES);
    let told = told.split_off(hidden);
    let mut last_day = String::new();
    html! {
        ol class="tale" {
            @for one in told {
                @let today = day(one.at);
                @if today != last_day { li class="day" { (today) } ({ last_day = today; "" }) }
                li {
                    time datetime=(one.at) title=(moment(one.at)) { (clock(one.at)) }
                    span class="who" { (one.who) }
                    span class="what" { (one.what) }
                }
            }
        }
    }
}

fn first<'t>(texts: &[&'t str]) -> &'t str {
    texts.iter().copied().find(|text| !text.is_empty()).unwrap_or_default()
}
