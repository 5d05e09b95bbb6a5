//! Known errors of the project, their solutions, and the confidence in them.

use handover_model::learn::Trust;
use handover_model::{Edit, ErrorIncident, ErrorPattern, ItemKind, RecordState, Timestamp};
use handover_store::ErrorFilter;
use maud::{Markup, html};

use super::knowledge::tabs;
use super::record::{self, RECIPIENTS};
use crate::error::PageError;
use crate::form::{Subject, Verb, button, retire_or_restore};
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Key, Order, Row, Tone, badge, count, empty_state, excerpt, fact, facts, kept_views,
    meter, ordered_table, plural, relative_time, retired, role_name, section, step_chart, table,
    untrusted,
};

pub(crate) const PAGES: &[PageEntry] = &[
    PageEntry::new("errors", "/errors", "/knowledge", list),
    PageEntry::new("error", "/errors/{error}", "/knowledge", one),
];

const LISTED: usize = 200;
const SIGHTINGS: usize = 60;
const DAY: i64 = 86_400_000_000;

const COLUMNS: [Column; 6] = [
    Column::Text("Error"),
    Column::Text("What solved it"),
    Column::Text("Confidence"),
    Column::Graphic("Confidence as a bar"),
    Column::Number("Seen"),
    Column::Text("Last"),
];

fn key(pattern: &ErrorPattern, column: usize) -> Key {
    match column {
        0 => Key::text(&pattern.signature.message),
        1 => Key::text(pattern.solution.as_deref().unwrap_or_default()),
        2 => Key::Number(value(pattern.confidence)),
        4 => Key::Number(pattern.occurrences as f64),
        _ => Key::Number(pattern.last_seen.as_micros() as f64),
    }
}

fn list(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let order = Order::read(route, &COLUMNS);
    let mut patterns = site.store.errors(site.project, &ErrorFilter::default())?;
    order.apply(&mut patterns, key);
    let all = patterns.len();
    patterns.truncate(LISTED);
    let note = html! { (plural(all, "pattern", "patterns")) @if !order.is_chosen() { ", highest confidence first" } ". Agents see those above " (Trust::RECALL_ABOVE) "." };
    let body = html! {
        header class="page" {
            h1 { "Errors" }
            p class="lead" { "Errors that the project has seen before, with their solutions. An error is recognized even if paths and numbers in it change." }
            (tabs("/errors"))
        }
        (kept_views())
        (section("errors", "Known errors", note, html! {
            @if patterns.is_empty() {
                (empty_state("No errors yet.", "Agents report them in their debriefs; or record what solved one:", "handover error resolve --message \"connect ECONNREFUSED 127.0.0.1:5432\" --solution \"docker compose up -d db\""))
            } @else {
                (rows(site, &patterns, &order))
            }
        }))
    };
    Ok(Page { title: "Errors".to_owned(), breadcrumbs: Vec::new(), body })
}

fn rows(site: &Site<'_>, patterns: &[ErrorPattern], order: &Order) -> Markup {
    let row = |pattern: &ErrorPattern| {
        Row::new(
            html! {
                a href={ "/errors/" (pattern.hash) } { (excerpt(&pattern.signature.message, 110)) }
                p class="muted" {
                    (excerpt(&pattern.signature.kind, 40))
                    @if let Some(language) = &pattern.language { " · " (excerpt(language, 30)) }
                }
                (retired(pattern.state, pattern.reason.as_deref()))
            },
            [
                solution(pattern),
                trust(site.now, pattern),
                meter(value(pattern.confidence), 1.0, Tone::Good),
                html! { (count(pattern.occurrences)) },
                relative_time(site.now, pattern.last_seen),
            ],
        )
    };
    ordered_table("", &COLUMNS, Some(order), patterns.iter().map(row))
}

fn solution(pattern: &ErrorPattern) -> Markup {
    match &pattern.solution {
        Some(solution) => excerpt(solution, 140),
        None => html! { span class="muted" { "nothing yet" } },
    }
}

fn value(trust: Trust) -> f64 {
    trust.thousandths() as f64 / 1_000.0
}

/// The confidence in the solution, and whether agents see it.
fn trust(now: Timestamp, pattern: &ErrorPattern) -> Markup {
    let age = now.as_micros().saturating_sub(pattern.last_seen.as_micros());
    let expired = age > i64::from(pattern.ttl_days).saturating_mul(DAY);
    let (tone, word) = if pattern.solution.is_none() {
        (Tone::Warn, "unsolved")
    } else if expired {
        (Tone::Calm, "expired")
    } else if pattern.confidence > Trust::RECALL_ABOVE {
        (Tone::Good, "shown to agents")
    } else {
        (Tone::Calm, "not shown yet")
    };
    html! { strong class="number" { (pattern.confidence) } " " (badge(tone, word)) }
}

/// The page of one pattern, found by a prefix of its hash.
fn one(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let hash = route.param("error");
    let patterns = site.store.errors(site.project, &ErrorFilter::default())?;
    let mut matching = patterns.into_iter().filter(|pattern| pattern.hash.starts_with(hash));
    let (Some(pattern), None) = (matching.next(), matching.next()) else {
        return Err(PageError::not_found("error pattern", hash));
    };
    let history = site.store.error_trust(site.project, &pattern.hash)?;
    let given = site.store.given(site.project, ItemKind::Error, &pattern.hash, RECIPIENTS)?;
    let changed = record::history(
        site,
        |edit| matches!(edit, Edit::Error { id, .. } if *id == pattern.hash),
    )?;
    let incidents = site.store.error_incidents(site.project, &pattern.hash)?;
    let body = html! {
        header class="page" {
            h1 { (excerpt(&pattern.signature.message, 200)) }
            @match &pattern.solution {
                Some(solution) => p class="lead" { "Solved by: " (untrusted(solution)) },
                None => p class="lead" { "Nobody has solved it yet." },
            }
            (retired(pattern.state, pattern.reason.as_deref()))
            (acts(site, &pattern))
            (facts(html! {
                (fact("Type", html! { code { (excerpt(&pattern.signature.kind, 60)) } }))
                (fact("Confidence", trust(site.now, &pattern)))
                (fact("Seen", html! { (plural(usize::try_from(pattern.occurrences).unwrap_or(usize::MAX), "time", "times")) ", first " (relative_time(site.now, pattern.first_seen)) ", last " (relative_time(site.now, pattern.last_seen)) }))
                (fact("Expires", html! { "after " (count(u64::from(pattern.ttl_days))) " days without a sighting" }))
                (fact("Hash", html! { code { (pattern.hash) } }))
            }))
        }
        (section("trust", "Confidence over time", html! { "It rises with every use that helped and falls with every use that did not; above the line, agents see the solution." }, html! {
            @if history.is_empty() { p class="muted" { "No history." } }
            @else {
                (step_chart(&history.iter().map(|point| value(point.confidence)).collect::<Vec<_>>(), value(Trust::RECALL_ABOVE), "shown to agents above", &format!("Confidence, now {}", pattern.confidence)))
                ol class="points" {
                    @for point in history.iter().rev().take(12) { li { strong { (point.confidence) } span class="muted" { " since " (relative_time(site.now, point.at)) } } }
                }
            }
        }))
        (section("sightings", "Sightings", html! { (plural(incidents.len(), "time", "times")) @if incidents.len() > SIGHTINGS { ", the latest " (SIGHTINGS) } "." }, html! {
            (sightings(site, &incidents))
        }))
        (section("readers", "Who got it", html! { "And whether they used it." }, record::recipients(site, &given)))
        (changed)
    };
    Ok(Page {
        title: "Error".to_owned(),
        breadcrumbs: vec![("/errors".to_owned(), "Errors".to_owned())],
        body,
    })
}

/// What can be done with it. A person who tried the solution says whether it worked.
fn acts(site: &Site<'_>, pattern: &ErrorPattern) -> Markup {
    let (id, back) = (pattern.hash.as_str(), format!("/errors/{}", pattern.hash));
    let is_retired = pattern.state == RecordState::Retired;
    html! {
        div class="acts" {
            @if pattern.solution.is_some() && !is_retired {
                (button(site, Verb::Confirm, Subject::Error, id, &back))
                (button(site, Verb::Reject, Subject::Error, id, &back))
            }
            (retire_or_restore(site, is_retired, Subject::Error, id, &back))
        }
    }
}

fn sightings(site: &Site<'_>, incidents: &[ErrorIncident]) -> Markup {
    use Column::Text;
    let row = |incident: &ErrorIncident| {
        let who =
            incident.role.as_ref().map_or_else(|| "–".to_owned(), |role| role_name(role.as_str()));
        Row::new(
            relative_time(site.now, incident.created_at),
            [
                html! { (who) },
                html! { @match &incident.session { Some(session) => a href={ "/sessions/" (session) } { (session) }, None => "–" } },
                html! { @match &incident.command { Some(command) => code { (excerpt(command, 120)) }, None => "–" } },
            ],
        )
    };
    let columns = [Text("When"), Text("Who"), Text("Session"), Text("Command")];
    table("", &columns, incidents.iter().take(SIGHTINGS).map(row))
}
