//! One search over everything that is written down.

use handover_context::search::{Query, search};
use handover_model::Session;
use handover_store::{ErrorFilter, ReasoningFilter, ReceiptFilter, RunFilter, StrategyFilter};
use maud::{Markup, html};

use crate::layout::{Page, Part};
use crate::route::{Shown, Trouble};
use crate::show::{count, empty, plural, role_name, section, short, when};
use crate::{PageRequest, Site};

/// How much is looked at and shown.
const SESSIONS: usize = 12;
const THOUGHTS: u32 = 3_000;
const SHOWN: usize = 25;

struct Found {
    link: String,
    title: Markup,
    note: Markup,
    rank: f64,
}

pub(crate) fn page(site: &Site<'_>, request: &PageRequest) -> Shown {
    let query: String = request.field("q").unwrap_or_default().chars().take(200).collect();
    let query = query.trim();
    let body = if query.is_empty() {
        html! {
            header class="page" { h1 { "Search" } }
            (empty("Nothing asked yet.", "Type words into the box above: packages, reasoning, errors, strategies, sessions, receipts and runs are searched.", ""))
        }
    } else {
        results(site, query)?
    };
    Ok(Page { title: "Search".to_owned(), part: Part::Search, above: Vec::new(), body })
}

fn results(site: &Site<'_>, query: &str) -> Result<Markup, Trouble> {
    let sessions = site.store.sessions(None)?;
    let looked_at = &sessions[..sessions.len().min(SESSIONS)];
    let packages = packages(site, query, looked_at)?;
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let fits = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let mut thoughts = Vec::new();
    for session in looked_at {
        let filter = ReasoningFilter { limit: Some(THOUGHTS), ..ReasoningFilter::default() };
        for entry in
            site.store.reasoning(&session.id, &filter)?.iter().filter(|entry| fits(&entry.content))
        {
            thoughts.push(Found {
                link: format!("/sessions/{}/reasoning?role={}", session.id, entry.role),
                title: short(&entry.content, 140),
                note: html! { (role_name(entry.role.as_str())) " on " (entry.phase) ", session " (session.id) ", " (when(site.now, entry.created_at)) },
                rank: 0.0,
            });
        }
    }
    let errors = site.store.errors(site.project, &ErrorFilter::default())?;
    let errors = errors
        .iter()
        .filter(|error| {
            fits(&format!(
                "{} {} {}",
                error.signature.kind,
                error.signature.message,
                error.solution.as_deref().unwrap_or_default()
            ))
        })
        .map(|error| Found {
            link: format!("/errors/{}", error.hash),
            title: short(&error.signature.message, 140),
            note: short(error.solution.as_deref().unwrap_or("not solved yet"), 140),
            rank: 0.0,
        })
        .collect();
    let strategies = site.store.strategies(site.project, &StrategyFilter::default())?;
    let strategies = strategies
        .iter()
        .filter(|strategy| fits(&strategy.insight))
        .map(|strategy| Found {
            link: "/strategies".to_owned(),
            title: short(&strategy.insight, 160),
            note: html! { (strategy.topic) },
            rank: 0.0,
        })
        .collect();
    let ids = by_id(site, &sessions, &fits)?;
    let kinds: [(&str, &str, Vec<Found>); 5] = [
        ("ids", "By name", ids),
        ("packages", "Packages", packages),
        ("thoughts", "Reasoning", thoughts),
        ("errors", "Errors", errors),
        ("strategies", "Strategies", strategies),
    ];
    let all: usize = kinds.iter().map(|(.., found)| found.len()).sum();
    Ok(html! {
        header class="page" {
            h1 { "Search" }
            p class="lead" { (plural(all, "thing", "things")) " found for “" (short(query, 200)) "”." }
            @if sessions.len() > SESSIONS { p class="muted" { "Packages and reasoning of the latest " (SESSIONS) " of " (count(sessions.len())) " sessions are searched." } }
        }
        @if all == 0 {
            (empty("Nothing found.", "Other words may help: packages are found by stems and parts of identifiers, everything else by the letters as they stand.", ""))
        }
        @for (id, name, found) in &kinds {
            @if !found.is_empty() {
                (section(id, name, html! { (count(found.len())) @if found.len() > SHOWN { ", the first " (SHOWN) } }, html! {
                    ul class="list found" {
                        @for one in found.iter().take(SHOWN) { li { a href=(one.link) { (one.title) } p class="muted" { (one.note) } } }
                    }
                }))
            }
        }
    })
}

/// Packages, ranked as agents get them.
fn packages(site: &Site<'_>, query: &str, sessions: &[Session]) -> Result<Vec<Found>, Trouble> {
    let mut found = Vec::new();
    for session in sessions {
        let asked = Query {
            session: &session.id,
            group: None,
            text: query,
            limit: SHOWN,
            config: &site.config.assembly,
            now: site.now,
        };
        for hit in site.store.reading(|store| search(store, &asked))? {
            let package = hit.package;
            found.push(Found {
                link: format!("/packages/{}", package.id),
                title: short(package.title.as_deref().unwrap_or(&package.path), 120),
                note: html! { (short(&hit.snippet, 170)) " — " (role_name(package.producer.as_str())) ", session " (session.id) },
                rank: hit.score,
            });
        }
    }
    found.sort_by(|a, b| b.rank.total_cmp(&a.rank));
    Ok(found)
}

/// What is called so.
fn by_id(
    site: &Site<'_>,
    sessions: &[Session],
    fits: &dyn Fn(&str) -> bool,
) -> Result<Vec<Found>, Trouble> {
    let mut found = Vec::new();
    for session in sessions.iter().filter(|session| fits(session.id.as_str())) {
        found.push(Found {
            link: format!("/sessions/{}", session.id),
            title: html! { "Session " (session.id) },
            note: html! { (session.status) ", begun " (when(site.now, session.created_at)) },
            rank: 0.0,
        });
    }
    for run in site.store.runs(&RunFilter { epic: None, limit: Some(200) })? {
        if fits(run.id.as_str()) || fits(&format!("epic {}", run.epic)) {
            found.push(Found {
                link: format!("/runs/{}", run.id),
                title: html! { "Run " (run.id) " of epic " (run.epic) },
                note: html! { (run.state) ", begun " (when(site.now, run.created_at)) },
                rank: 0.0,
            });
        }
    }
    let filter = ReceiptFilter { limit: Some(500), ..ReceiptFilter::default() };
    for receipt in site.store.receipts(&filter)?.iter().filter(|receipt| fits(receipt.id.as_str()))
    {
        found.push(Found {
            link: format!("/receipts/{}", receipt.id),
            title: html! { "Receipt " (receipt.id) },
            note: html! { (role_name(receipt.role.as_str())) ", " (when(site.now, receipt.created_at)) },
            rank: 0.0,
        });
    }
    Ok(found)
}
