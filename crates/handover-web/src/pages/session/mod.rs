//! A session: its picture, what happened, and what never arrived.

mod picture;
pub(crate) mod scene;
mod tale;

use handover_model::{Group, Session, SessionId};
use maud::{Markup, html};

use self::scene::{Reach, Scene};
use crate::Site;
use crate::layout::{Page, Part};
use crate::route::Shown;
use crate::show::{
    Column, Row, Tone, badge, count, empty, of, plural, role_name, section, short, stat,
    state_tone, table, when,
};

/// How many packages that reached nobody are named.
const NAMED: usize = 8;

pub(crate) fn page(site: &Site<'_>, id: &SessionId) -> Shown {
    let (session, groups, scene) = site
        .store
        .reading(|store| Ok((store.session(id)?, store.groups(id)?, Scene::read(store, id)?)))?;
    let nothing = scene.sent.is_empty() && scene.thoughts.is_empty() && scene.receipts.is_empty();
    let body = html! {
        (heading(site, &session, "picture"))
        @if nothing {
            (empty(
                "Nothing has happened here yet.",
                "An agent's notes, a decision or a brief make the first mark:",
                &format!("handover package add docs/notes.md --session {id}\nhandover assemble --role developer --task \"…\" --session {id} --deliver"),
            ))
        } @else {
            (figures(id, &scene))
            (section("picture", "Who knew what, and from whom", html! { "Time runs to the right. Lines lead from whoever made something to whoever was given it." },
                html! { (picture::legend()) (picture::picture(id, &scene)) }))
            (lost(id, &scene, site))
            (section("tale", "What happened", html! { "Times are UTC." }, tale::tale(site, &scene)))
        }
        @if !groups.is_empty() {
            (section("groups", "Groups", html! { "Parallel streams of work." }, groups_of(&groups)))
        }
    };
    Ok(Page {
        title: format!("Session {id}"),
        part: Part::Sessions,
        above: vec![("/sessions".to_owned(), "Sessions".to_owned())],
        body,
    })
}

fn groups_of(groups: &[Group]) -> Markup {
    use Column::Text;
    let row = |group: &Group| {
        Row::new(
            html! { (group.id) },
            [
                badge(state_tone(group.status), group.status.as_str()),
                short(group.title.as_deref().unwrap_or("–"), 100),
                html! {
                    @if group.counters.is_empty() { "–" }
                    @for (name, times) in &group.counters { (short(&name.replace('_', " "), 40)) " " (times) " " }
                },
            ],
        )
    };
    let columns = [Text("Group"), Text("State"), Text("About"), Text("Counted")];
    table("", &columns, groups.iter().map(row))
}

/// The head of every page of a session.
pub(crate) fn heading(site: &Site<'_>, session: &Session, here: &str) -> Markup {
    let id = &session.id;
    let counts = site.store.session_counts(id).unwrap_or_default();
    let tabs = [
        ("picture", format!("/sessions/{id}"), "Picture".to_owned()),
        (
            "packages",
            format!("/sessions/{id}/packages"),
            format!("Packages {}", count(counts.packages)),
        ),
        (
            "reasoning",
            format!("/sessions/{id}/reasoning"),
            format!("Reasoning {}", count(counts.reasoning)),
        ),
        (
            "receipts",
            format!("/sessions/{id}/receipts"),
            format!("Receipts {}", count(counts.receipts)),
        ),
    ];
    html! {
        header class="page" {
            h1 { "Session " (id) " " (badge(state_tone(session.status), session.status.as_str())) }
            p class="muted" {
                "Begun " (when(site.now, session.created_at))
                @if let Some(end) = session.ended_at { ", ended " (when(site.now, end)) }
                @for (name, value) in session.metadata.as_object().into_iter().flatten().take(6) {
                    " · " (short(name, 40)) ": "
                    (short(&value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned), 60))
                }
            }
            nav class="tabs" aria-label="Session" {
                @for (name, link, text) in tabs {
                    a href=(link) aria-current=[(name == here).then_some("page")] { (text) }
                }
            }
        }
    }
}

fn figures(id: &SessionId, scene: &Scene) -> Markup {
    let all = scene.latest().count();
    let lost = all - scene.reached(Reach::Delivered);
    let confirmed = scene.receipts.iter().filter(|receipt| receipt.confirmed_at.is_some()).count();
    let failed = scene
        .receipts
        .iter()
        .filter(|receipt| scene::reach_of(receipt.state) == Reach::Nobody)
        .count();
    let tokens: u64 = scene
        .receipts
        .iter()
        .filter(|receipt| scene::reach_of(receipt.state) > Reach::Nobody)
        .map(|receipt| receipt.tokens)
        .sum();
    html! {
        dl class="stats" id="figures" data-live {
            (stat("Packages", count(all), if all == 0 { "none yet" } else { "in their latest version" }))
            (stat("Reached someone", of(scene.reached(Reach::Delivered), all), html! { (count(scene.reached(Reach::Read))) " seen being read" }))
            (stat("Reached nobody", html! { span class=(if lost > 0 { "warn" } else { "" }) { (count(lost)) } },
                html! { @if lost > 0 { a href={ "/sessions/" (id) "/packages?reach=nobody" } { "which?" } } @else { "nothing is lost" } }))
            (stat("Agents briefed", count(scene.receipts.len()), html! { (count(confirmed)) " confirmed" @if failed > 0 { ", " span class="warn" { (count(failed)) " without effect" } } }))
            (stat("Context given", count(tokens), "tokens"))
        }
    }
}

/// What never arrived: the first thing that somebody should see.
fn lost(id: &SessionId, scene: &Scene, site: &Site<'_>) -> Markup {
    let lost: Vec<_> = scene.latest().filter(|sent| sent.reach == Reach::Nobody).collect();
    if lost.is_empty() {
        return html! {};
    }
    section(
        "lost",
        "Reached nobody",
        html! { "Written, but in no brief that arrived." },
        html! {
            ul class="list" {
                @for sent in lost.iter().rev().take(NAMED) {
                    li {
                        a href={ "/packages/" (sent.id) } { (short(&sent.title, 110)) }
                        span class="muted" { " by " (role_name(sent.producer.as_str())) ", " (when(site.now, sent.at)) }
                    }
                }
                @if lost.len() > NAMED {
                    li { a href={ "/sessions/" (id) "/packages?reach=nobody" } { "and " (plural(lost.len() - NAMED, "other", "others")) } }
                }
            }
        },
    )
}

/// A word for how far a package came.
pub(crate) fn reach_badge(reach: Reach) -> Markup {
    let tone = match reach {
        Reach::Nobody => Tone::Warn,
        Reach::Delivered => Tone::Calm,
        Reach::Confirmed | Reach::Read => Tone::Good,
    };
    badge(tone, reach.words())
}
