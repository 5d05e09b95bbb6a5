//! Errors that the project has met: what solved them, how far that is trusted, and how it came to that.

use handover_model::learn::Trust;
use handover_model::{ErrorIncident, ErrorPattern, Timestamp};
use handover_store::ErrorFilter;
use maud::{Markup, html};

use crate::Site;
use crate::layout::{Page, Part};
use crate::route::{Shown, Trouble};
use crate::show::{
    Column, Row, Tone, badge, count, empty, fact, facts, meter, plural, role_name, said, section,
    short, steps, table, when,
};

/// How many patterns are listed, and how many sightings of one.
const LISTED: usize = 200;
const SIGHTINGS: usize = 60;
const DAY: i64 = 86_400_000_000;

pub(crate) fn page(site: &Site<'_>) -> Shown {
    let mut patterns = site.store.errors(site.project, &ErrorFilter::default())?;
    let all = patterns.len();
    patterns.truncate(LISTED);
    let note = html! { (plural(all, "pattern", "patterns")) ", most trusted first. Agents are told those above " (Trust::RECALL_ABOVE) "." };
    let body = html! {
        header class="page" {
            h1 { "Errors" }
            p class="lead" { "What the project has met before. However paths and numbers change, the same error is known again, with what solved it." }
        }
        (section("errors", "Known errors", note, html! {
            @if patterns.is_empty() {
                (empty("No errors yet.", "Agents report them in their debriefs; or record what solved one:", "handover error resolve --message \"connect ECONNREFUSED 127.0.0.1:5432\" --solution \"docker compose up -d db\""))
            } @else {
                (rows(site, &patterns))
            }
        }))
    };
    Ok(Page { title: "Errors".to_owned(), part: Part::Errors, above: Vec::new(), body })
}

fn rows(site: &Site<'_>, patterns: &[ErrorPattern]) -> Markup {
    use Column::{Drawn, Number, Text};
    let columns = [
        Text("Error"),
        Text("What solved it"),
        Text("Trust"),
        Drawn("Trust as a bar"),
        Number("Seen"),
        Text("Last"),
    ];
    let row = |pattern: &ErrorPattern| {
        Row::new(
            html! {
                a href={ "/errors/" (pattern.hash) } { (short(&pattern.signature.message, 110)) }
                p class="muted" {
                    (short(&pattern.signature.kind, 40))
                    @if let Some(language) = &pattern.language { " · " (short(language, 30)) }
                }
            },
            [
                solution(pattern),
                trust(site.now, pattern),
                meter(value(pattern.confidence), 1.0, Tone::Good),
                html! { (count(pattern.occurrences)) },
                when(site.now, pattern.last_seen),
            ],
        )
    };
    table("", &columns, patterns.iter().map(row))
}

fn solution(pattern: &ErrorPattern) -> Markup {
    match &pattern.solution {
        Some(solution) => short(solution, 140),
        None => html! { span class="muted" { "nothing yet" } },
    }
}

fn value(trust: Trust) -> f64 {
    trust.thousandths() as f64 / 1_000.0
}

/// How far it is trusted, and what follows from that.
fn trust(now: Timestamp, pattern: &ErrorPattern) -> Markup {
    let age = now.as_micros().saturating_sub(pattern.last_seen.as_micros());
    let old = age > i64::from(pattern.ttl_days).saturating_mul(DAY);
    let (tone, word) = if pattern.solution.is_none() {
        (Tone::Warn, "unsolved")
    } else if old {
        (Tone::Calm, "forgotten")
    } else if pattern.confidence > Trust::RECALL_ABOVE {
        (Tone::Good, "told to agents")
    } else {
        (Tone::Calm, "not trusted yet")
    };
    html! { strong class="number" { (pattern.confidence) } " " (badge(tone, word)) }
}

/// One pattern.
pub(crate) fn one(site: &Site<'_>, hash: &str) -> Shown {
    let patterns = site.store.errors(site.project, &ErrorFilter::default())?;
    let mut fitting = patterns.into_iter().filter(|pattern| pattern.hash.starts_with(hash));
    let (Some(pattern), None) = (fitting.next(), fitting.next()) else {
        return Err(Trouble::Missing { what: "error pattern", id: hash.to_owned() });
    };
    let history = site.store.error_trust(site.project, &pattern.hash)?;
    let incidents = site.store.error_incidents(site.project, &pattern.hash)?;
    let body = html! {
        header class="page" {
            h1 { (short(&pattern.signature.message, 200)) }
            @match &pattern.solution {
                Some(solution) => p class="lead" { "Solved by: " (said(solution)) },
                None => p class="lead" { "Nobody has solved it yet." },
            }
            (facts(html! {
                (fact("Type", html! { code { (short(&pattern.signature.kind, 60)) } }))
                (fact("Trust", trust(site.now, &pattern)))
                (fact("Seen", html! { (count(pattern.occurrences)) " times, first " (when(site.now, pattern.first_seen)) ", last " (when(site.now, pattern.last_seen)) }))
                (fact("Forgotten", html! { "after " (count(u64::from(pattern.ttl_days))) " days without a sighting" }))
                (fact("Hash", html! { code { (pattern.hash) } }))
            }))
        }
        (section("trust", "Trust over time", html! { "Every use that helped raises it, every one that did not lowers it; above the line agents are told." }, html! {
            @if history.is_empty() { p class="muted" { "Not remembered." } }
            @else {
                (steps(&history.iter().map(|point| value(point.confidence)).collect::<Vec<_>>(), value(Trust::RECALL_ABOVE), "agents are told above", &format!("Trust, now {}", pattern.confidence)))
                ol class="points" {
                    @for point in history.iter().rev().take(12) { li { strong { (point.confidence) } span class="muted" { " since " (when(site.now, point.at)) } } }
                }
            }
        }))
        (section("sightings", "Sightings", html! { (plural(incidents.len(), "time", "times")) @if incidents.len() > SIGHTINGS { ", the latest " (SIGHTINGS) } "." }, html! {
            (sightings(site, &incidents))
        }))
    };
    Ok(Page {
        title: "Error".to_owned(),
        part: Part::Errors,
        above: vec![("/errors".to_owned(), "Errors".to_owned())],
        body,
    })
}

fn sightings(site: &Site<'_>, incidents: &[ErrorIncident]) -> Markup {
    use Column::Text;
    let row = |incident: &ErrorIncident| {
        let who =
            incident.role.as_ref().map_or_else(|| "–".to_owned(), |role| role_name(role.as_str()));
        Row::new(
            when(site.now, incident.created_at),
            [
                html! { (who) },
                html! { @match &incident.session { Some(session) => a href={ "/sessions/" (session) } { (session) }, None => "–" } },
                html! { @match &incident.command { Some(command) => code { (short(command, 120)) }, None => "–" } },
            ],
        )
    };
    let columns = [Text("When"), Text("Who"), Text("Session"), Text("Command")];
    table("", &columns, incidents.iter().take(SIGHTINGS).map(row))
}
