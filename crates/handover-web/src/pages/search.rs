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
            (empty_state("No query yet.", "Type words into the box above: packages, reasoning, errors, strategies, sessions, receipts and runs are searched.", ""))
        }
    } else {
        results(site, query)?
    };
    Ok(Page { title: "Search".to_owned(), breadcrumbs: Vec::new(), body })
}

/// The words of a query; a text matches if it contains all of them.
struct Words(Vec<String>);

impl Words {
    fn of(query: &str) -> Self {
        Self(query.split_whitespace().map(str::to_lowercase).collect())
    }

    fn all_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.0.iter().all(|word| text.contains(word))
    }
}

fn results(site: &Site<'_>, query: &str) -> Result<Markup, PageError> {
    let sessions = site.store.sessions(None)?;
    let searched = &sessions[..sessions.len().min(SESSIONS)];
    let words = Words::of(query);
    let kinds: [(&str, &str, Vec<Hit>); 5] = [
        ("ids", "By name", by_id(site, &sessions, &words)?),
        ("packages", "Packages", packages(site, query, searched)?),
        ("thoughts", "Reasoning", reasoning(site, searched, &words)?),
        ("errors", "Errors", errors(site, &words)?),
        ("strategies", "Strategies", strategies(site, &words)?),
    ];
    let all: usize = kinds.iter().map(|(.., found)| found.len()).sum();
    Ok(html! {
        header class="page" {
            h1 { "Search" }
            p class="lead" { (plural(all, "thing", "things")) " found for “" (excerpt(query, 200)) "”." }
            @if sessions.len() > SESSIONS { p class="muted" { "Packages and reasoning of the latest " (SESSIONS) " of " (count(sessions.len())) " sessions are searched." } }
        }
        @if all == 0 {
            (empty_state("Nothing found.", "Other words may help: packages are found by stems and parts of identifiers, everything else by its exact text.", ""))
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

/// Reasoning, newest sessions first.
fn reasoning(site: &Site<'_>, sessions: &[Session], words: &Words) -> Result<Vec<Hit>, PageError> {
    let filter = ReasoningFilter { limit: Some(REASONING), ..ReasoningFilter::default() };
    let mut found = Vec::new();
    for session in sessions {
        let entries = site.store.reasoning(&session.id, &filter)?;
        found.extend(entries.iter().filter(|entry| words.all_in(&entry.content)).map(|entry| Hit {
            link: format!("/sessions/{}/reasoning?role={}", session.id, entry.role),
            title: excerpt(&entry.content, 140),
            note: html! { (role_name(entry.role.as_str())) " on " (entry.phase) ", session " (session.id) ", " (relative_time(site.now, entry.created_at)) },
            rank: 0.0,
        }));
    }
    Ok(found)
}

/// Error patterns by their kind, message or solution.
fn errors(site: &Site<'_>, words: &Words) -> Result<Vec<Hit>, PageError> {
    let errors = site.store.errors(site.project, &ErrorFilter::default())?;
    let found = errors.iter().filter(|error| {
        let solution = error.solution.as_deref().unwrap_or_default();
        let signature = &error.signature;
        words.all_in(&format!("{} {} {solution}", signature.kind, signature.message))
    });
    Ok(found
        .map(|error| Hit {
            link: format!("/errors/{}", error.hash),
            title: excerpt(&error.signature.message, 140),
            note: excerpt(error.solution.as_deref().unwrap_or("not solved yet"), 140),
            rank: 0.0,
        })
        .collect())
}

fn strategies(site: &Site<'_>, words: &Words) -> Result<Vec<Hit>, PageError> {
    let strategies = site.store.strategies(site.project, &StrategyFilter::default())?;
    let found = strategies.iter().filter(|strategy| words.all_in(&strategy.insight));
    Ok(found
        .map(|strategy| Hit {
            link: "/strategies".to_owned(),
            title: excerpt(&strategy.insight, 160),
            note: html! { (strategy.topic) },
            rank: 0.0,
        })
        .collect())
}

/// Sessions, runs and receipts by id.
fn by_id(site: &Site<'_>, sessions: &[Session], words: &Words) -> Result<Vec<Hit>, PageError> {
    let mut found = Vec::new();
    for session in sessions.iter().filter(|session| words.all_in(session.id.as_str())) {
        found.push(Hit {
            link: format!("/sessions/{}", session.id),
            title: html! { "Session " (session.id) },
            note: html! { (session.status) ", started " (relative_time(site.now, session.created_at)) },
            rank: 0.0,
        });
    }
    for run in site.store.runs(&RunFilter { epic: None, limit: Some(200) })? {
        if words.all_in(run.id.as_str()) || words.all_in(&format!("epic {}", run.epic)) {
            found.push(Hit {
                link: format!("/runs/{}", run.id),
                title: html! { "Run " (run.id) " of epic " (run.epic) },
                note: html! { (run.state) ", started " (relative_time(site.now, run.created_at)) },
                rank: 0.0,
            });
        }
    }
    let filter = ReceiptFilter { limit: Some(500), ..ReceiptFilter::default() };
    for receipt in
        site.store.receipts(&filter)?.iter().filter(|receipt| words.all_in(receipt.id.as_str()))
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
