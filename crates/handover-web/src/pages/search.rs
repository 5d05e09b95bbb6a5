//! Search over all records.

use handover_context::search::{Query, search};
use handover_model::Session;
use handover_store::{ErrorFilter, ReasoningFilter, ReceiptFilter, RunFilter, StrategyFilter};
use maud::{Markup, html};

use crate::error::PageError;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{count, empty_state, excerpt, plural, relative_time, role_name, section};

pub(crate) const PAGES: &[PageEntry] = &[PageEntry {
    demo_query: "?q=refresh+token",
    ..PageEntry::new("search", "/search", "/search", render)
}];

// How many records are searched and shown.
const SESSIONS: usize = 12;
const REASONING: u32 = 3_000;
const SHOWN: usize = 25;

struct Hit {
    link: String,
    title: Markup,
    note: Markup,
    rank: f64,
}

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let query: String = route.query("q").unwrap_or_default().chars().take(200).collect();
    let query = query.trim();
    let body = if query.is_empty() {
        html! {
            header class="page" { h1 { "Search" } }
            (empty_state("Nothing asked yet.", "Type words into the box above: packages, reasoning, errors, strategies, sessions, receipts and runs are searched.", ""))
        }
    } else {
        results(site, query)?
    };
    Ok(Page { title: "Search".to_owned(), breadcrumbs: Vec::new(), body })
}

fn results(site: &Site<'_>, query: &str) -> Result<Markup, PageError> {
    let sessions = site.store.sessions(None)?;
    let searched = &sessions[..sessions.len().min(SESSIONS)];
    let packages = packages(site, query, searched)?;
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let contains_all = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let mut reasoning = Vec::new();
    for session in searched {
        let filter = ReasoningFilter { limit: Some(REASONING), ..ReasoningFilter::default() };
        for entry in site
            .store
            .reasoning(&session.id, &filter)?
            .iter()
            .filter(|entry| contains_all(&entry.content))
        {
            reasoning.push(Hit {
                link: format!("/sessions/{}/reasoning?role={}", session.id, entry.role),
                title: excerpt(&entry.content, 140),
                note: html! { (role_name(entry.role.as_str())) " on " (entry.phase) ", session " (session.id) ", " (relative_time(site.now, entry.created_at)) },
                rank: 0.0,
            });
        }
    }
    let errors = site.store.errors(site.project, &ErrorFilter::default())?;
    let errors = errors
        .iter()
        .filter(|error| {
            contains_all(&format!(
                "{} {} {}",
                error.signature.kind,
                error.signature.message,
                error.solution.as_deref().unwrap_or_default()
            ))
        })
        .map(|error| Hit {
            link: format!("/errors/{}", error.hash),
            title: excerpt(&error.signature.message, 140),
            note: excerpt(error.solution.as_deref().unwrap_or("not solved yet"), 140),
            rank: 0.0,
        })
        .collect();
    let strategies = site.store.strategies(site.project, &StrategyFilter::default())?;
    let strategies = strategies
        .iter()
        .filter(|strategy| contains_all(&strategy.insight))
        .map(|strategy| Hit {
            link: "/strategies".to_owned(),
            title: excerpt(&strategy.insight, 160),
            note: html! { (strategy.topic) },
            rank: 0.0,
        })
        .collect();
    let ids = by_id(site, &sessions, &contains_all)?;
    let kinds: [(&str, &str, Vec<Hit>); 5] = [
        ("ids", "By name", ids),
        ("packages", "Packages", packages),
        ("thoughts", "Reasoning", reasoning),
        ("errors", "Errors", errors),
        ("strategies", "Strategies", strategies),
    ];
    let all: usize = kinds.iter().map(|(.., found)| found.len()).sum();
    Ok(html! {
        header class="page" {
            h1 { "Search" }
            p class="lead" { (plural(all, "thing", "things")) " found for “" (excerpt(query, 200)) "”." }
            @if sessions.len() > SESSIONS { p class="muted" { "Packages and reasoning of the latest " (SESSIONS) " of " (count(sessions.len())) " sessions are searched." } }
        }
        @if all == 0 {
            (empty_state("Nothing found.", "Other words may help: packages are found by stems and parts of identifiers, everything else by the letters as they stand.", ""))
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

/// Packages, ranked in the same way as for agents.
fn packages(site: &Site<'_>, query: &str, sessions: &[Session]) -> Result<Vec<Hit>, PageError> {
    let mut found = Vec::new();
    for session in sessions {
        let query = Query {
            session: &session.id,
            group: None,
            text: query,
            limit: SHOWN,
            config: &site.config.assembly,
            now: site.now,
        };
        for hit in site.store.reading(|store| search(store, &query))? {
            let package = hit.package;
            found.push(Hit {
                link: format!("/packages/{}", package.id),
                title: excerpt(package.title.as_deref().unwrap_or(&package.path), 120),
                note: html! { (excerpt(&hit.snippet, 170)) " — " (role_name(package.producer.as_str())) ", session " (session.id) },
                rank: hit.score,
            });
        }
    }
    found.sort_by(|a, b| b.rank.total_cmp(&a.rank));
    Ok(found)
}

/// Sessions, runs and receipts by id.
fn by_id(
    site: &Site<'_>,
    sessions: &[Session],
    contains_all: &dyn Fn(&str) -> bool,
) -> Result<Vec<Hit>, PageError> {
    let mut found = Vec::new();
    for session in sessions.iter().filter(|session| contains_all(session.id.as_str())) {
        found.push(Hit {
            link: format!("/sessions/{}", session.id),
            title: html! { "Session " (session.id) },
            note: html! { (session.status) ", begun " (relative_time(site.now, session.created_at)) },
            rank: 0.0,
        });
    }
    for run in site.store.runs(&RunFilter { epic: None, limit: Some(200) })? {
        if contains_all(run.id.as_str()) || contains_all(&format!("epic {}", run.epic)) {
            found.push(Hit {
                link: format!("/runs/{}", run.id),
                title: html! { "Run " (run.id) " of epic " (run.epic) },
                note: html! { (run.state) ", begun " (relative_time(site.now, run.created_at)) },
                rank: 0.0,
            });
        }
    }
    let filter = ReceiptFilter { limit: Some(500), ..ReceiptFilter::default() };
    for receipt in
        site.store.receipts(&filter)?.iter().filter(|receipt| contains_all(receipt.id.as_str()))
    {
        found.push(Hit {
            link: format!("/receipts/{}", receipt.id),
            title: html! { "Receipt " (receipt.id) },
            note: html! { (role_name(receipt.role.as_str())) ", " (relative_time(site.now, receipt.created_at)) },
            rank: 0.0,
        });
    }
    Ok(found)
}
