//! A session: its graph, its timeline, and undelivered packages.

mod drawing;
mod falls;
pub(crate) mod graph;
mod layout;
pub(crate) mod picture;
mod timeline;

use handover_model::{Group, Session, SessionId, SessionStatus};
use handover_store::RunFilter;
use maud::{Markup, html};

use self::graph::{Reach, SessionGraph};
use crate::form::{Subject, Verb, button};
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Row, Tone, badge, count, empty_state, excerpt, fraction, plural, relative_time,
    role_name, section, share, stat, state_tone, table, utc_note,
};

pub(crate) const PAGES: &[PageEntry] =
    &[PageEntry::new("session", "/sessions/{session}", "/sessions", render)];

/// Undelivered packages that are listed.
const LISTED: usize = 8;

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let id: &SessionId = &route.id("session")?;
    let (session, groups, graph) = site.store.reading(|store| {
        Ok((store.session(id)?, store.groups(id)?, SessionGraph::read(store, id)?))
    })?;
    let is_empty =
        graph.packages.is_empty() && graph.reasoning.is_empty() && graph.receipts.is_empty();
    let (tale, is_cut) = timeline::render(site, &graph);
    let body = html! {
        (heading(site, &session, "picture"))
        (share(&format!("/sessions/{id}")))
        @if is_empty {
            (empty_state(
                "Nothing has happened here yet.",
                "Add a package or assemble a brief:",
                &format!("handover package add docs/notes.md --session {id}\nhandover assemble --role developer --task \"…\" --session {id} --deliver"),
            ))
        } @else {
            (figures(site, id, &graph))
            (picture::render(id, &graph, route))
            (falls::render(site, &session, &graph)?)
            (undelivered(id, &graph, site))
            (section("tale", "What happened", html! { "In order of time" @if is_cut { ", the latest " (timeline::ENTRIES) } "." (utc_note()) }, tale))
        }
        @if !groups.is_empty() {
            (section("groups", "Groups", html! { "Parallel streams of work." }, group_table(&groups)))
        }
    };
    Ok(Page {
        title: format!("Session {id}"),
        breadcrumbs: vec![("/sessions".to_owned(), "Sessions".to_owned())],
        body,
    })
}

fn group_table(groups: &[Group]) -> Markup {
    use Column::Text;
    let row = |group: &Group| {
        Row::new(
            html! { (group.id) },
            [
                badge(state_tone(group.status), group.status.as_str()),
                excerpt(group.title.as_deref().unwrap_or("–"), 100),
                html! {
                    @if group.counters.is_empty() { "–" }
                    @for (name, times) in &group.counters { (excerpt(&name.replace('_', " "), 40)) " " (times) " " }
                },
            ],
        )
    };
    let columns = [Text("Group"), Text("State"), Text("About"), Text("Counted")];
    table("", &columns, groups.iter().map(row))
}

/// The header and tabs of every page of a session.
pub(crate) fn heading(site: &Site<'_>, session: &Session, here: &str) -> Markup {
    let id = &session.id;
    let counts = site.store.session_counts(id).unwrap_or_default();
    let runs = site.store.runs(&RunFilter::default()).unwrap_or_default();
    let run = runs.iter().find(|run| run.session == *id);
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
                "Started " (relative_time(site.now, session.created_at))
                @if let Some(end) = session.ended_at { ", ended " (relative_time(site.now, end)) }
                @if let Some(run) = run { " · " a href={ "/runs/" (run.id) } { "Run of epic " (run.epic) } }
                @for (name, value) in session.metadata.as_object().into_iter().flatten().take(6) {
                    " · " (excerpt(name, 40)) ": "
                    (excerpt(&value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned), 60))
                }
            }
            (acts(site, session))
            nav class="tabs" aria-label="Session" {
                @for (name, link, text) in tabs {
                    a href=(link) aria-current=[(name == here).then_some("page")] { (text) }
                }
            }
        }
    }
}

/// What can be done with it.
fn acts(site: &Site<'_>, session: &Session) -> Markup {
    let (id, back) = (session.id.as_str(), format!("/sessions/{}", session.id));
    html! {
        @if site.may_write {
            div class="acts" {
                @if session.status == SessionStatus::Active {
                    (button(site, Verb::Close, Subject::Session, id, &back))
                    (button(site, Verb::Fail, Subject::Session, id, &back))
                } @else {
                    (button(site, Verb::Reopen, Subject::Session, id, &back))
                }
            }
        }
    }
}

fn figures(site: &Site<'_>, id: &SessionId, graph: &SessionGraph) -> Markup {
    let all = graph.latest().count();
    let lost = all - graph.reached(Reach::Delivered);
    let confirmed = graph.receipts.iter().filter(|receipt| receipt.confirmed_at.is_some()).count();
    let failed = graph
        .receipts
        .iter()
        .filter(|receipt| graph::reach_of(receipt.state) == Reach::Undelivered)
        .count();
    let tokens: u64 = graph
        .receipts
        .iter()
        .filter(|receipt| graph::reach_of(receipt.state) > Reach::Undelivered)
        .map(|receipt| receipt.tokens)
        .sum();
    html! {
        dl class="stats" id="figures" data-live {
            (stat("Packages", count(all), html! {
                @if all == 0 { "none yet" } @else { "in their latest version" }
                @if let Some(since) = graph.since { ", since " (relative_time(site.now, since)) }
            }))
            (stat("Reached someone", fraction(graph.reached(Reach::Delivered), all), html! { (count(graph.reached(Reach::Read))) " read" }))
            (stat("Reached nobody", html! { span class=(if lost > 0 { "warn" } else { "" }) { (count(lost)) } },
                html! { @if lost > 0 { a href={ "/sessions/" (id) "/packages?reach=nobody" } { "which?" } } @else { "nothing is lost" } }))
            (stat("Agents briefed", count(graph.receipts.len()), html! { (count(confirmed)) " confirmed" @if failed > 0 { ", " span class="warn" { (count(failed)) " without effect" } } }))
            (stat("Context delivered", count(tokens), "tokens"))
        }
    }
}

/// Packages that nobody received: the first thing to look at.
fn undelivered(id: &SessionId, graph: &SessionGraph, site: &Site<'_>) -> Markup {
    let lost: Vec<_> =
        graph.latest().filter(|package| package.reach == Reach::Undelivered).collect();
    if lost.is_empty() {
        return html! {};
    }
    section(
        "lost",
        "Reached nobody",
        html! { "Written, but in no brief that arrived." },
        html! {
            ul class="list" {
                @for package in lost.iter().rev().take(LISTED) {
                    li {
                        a href={ "/packages/" (package.id) } { (excerpt(&package.title, 110)) }
                        span class="muted" { " by " (role_name(package.producer.as_str())) ", " (relative_time(site.now, package.at)) }
                    }
                }
                @if lost.len() > LISTED {
                    li { a href={ "/sessions/" (id) "/packages?reach=nobody" } { "and " (plural(lost.len() - LISTED, "other", "others")) } }
                }
            }
        },
    )
}

/// A badge for how far a package got.
pub(crate) fn reach_badge(reach: Reach) -> Markup {
    let tone = match reach {
        Reach::Undelivered => Tone::Warn,
        Reach::Delivered => Tone::Calm,
        Reach::Confirmed | Reach::Read => Tone::Good,
    };
    badge(tone, reach.label())
}
