//! Search over all records.

use handover_context::everything::{Assumed, Everything, Found, search};
use handover_model::{ItemKind, Session};
use handover_store::{ReceiptFilter, RunFilter};
use maud::{Markup, html};

use crate::error::PageError;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Tone, badge, count, empty_state, excerpt, plural, relative_time, role_name, section,
};

pub(crate) const PAGES: &[PageEntry] = &[PageEntry {
    demo_query: "?q=refresh+token",
    ..PageEntry::new("search", "/search", "/search", render)
}];

/// How many results are shown.
const SHOWN: usize = 50;

struct Hit {
    link: String,
    title: Markup,
    note: Markup,
}

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let query: String = route.query("q").unwrap_or_default().chars().take(200).collect();
    let query = query.trim();
    let body = if query.is_empty() {
        html! {
            header class="page" { h1 { "Search" } }
            (empty_state("No query yet.", "Type words into the box above: packages, notes, reasoning, errors, strategies, sessions, receipts and runs are searched.", ""))
        }
    } else {
        results(site, query)?
    };
    Ok(Page { title: "Search".to_owned(), breadcrumbs: Vec::new(), body })
}

/// The words of a query; a name matches if it contains all of them.
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
    let named = by_id(site, &sessions, &Words::of(query))?;
    let everything = Everything {
        project: site.project,
        text: query,
        limit: SHOWN,
        session: None,
        group: None,
        of: None,
        kind: None,
        since: None,
        config: &site.config.assembly,
    };
    let findings = site.store.reading(|store| search(store, &everything))?;
    let found: Vec<Hit> = findings.found.iter().map(|found| hit(site, found)).collect();
    let all = named.len() + found.len();
    let best = if found.len() < SHOWN { "" } else { ", the best" };
    Ok(html! {
        header class="page" {
            h1 { "Search" }
            p class="lead" { (plural(all, "thing", "things")) " found for “" (excerpt(query, 200)) "”." }
            @for Assumed { word, meant } in &findings.assumed {
                p class="notice" { "Nothing has “" (excerpt(word, 60)) "”; searched for " (excerpt(&meant.join(", "), 120)) "." }
            }
        }
        @if all == 0 {
            (empty_state("Nothing found.", "Other words may help: they are found by stems, parts of identifiers and usual abbreviations.", ""))
        }
        @for (id, name, found, note) in [("ids", "By name", &named, ""), ("everything", "By words", &found, best)] {
            @if !found.is_empty() {
                (section(id, name, html! { (count(found.len())) (note) }, html! {
                    ul class="list found" {
                        @for one in found.iter().take(SHOWN) { li { a href=(one.link) { (one.title) } p class="muted" { (one.note) } } }
                    }
                }))
            }
        }
    })
}

/// A result of the search that agents and the command line use, too.
fn hit(site: &Site<'_>, found: &Found) -> Hit {
    let id = &found.id;
    let link = match (found.of, &found.session) {
        (ItemKind::Package, _) => format!("/packages/{id}"),
        (ItemKind::Note, _) => format!("/notes/{id}"),
        (ItemKind::Error, _) => format!("/errors/{id}"),
        (ItemKind::Reasoning, Some(session)) => format!("/sessions/{session}/reasoning"),
        (ItemKind::Strategy, _) => format!("/strategies/{id}"),
        (ItemKind::Reasoning | ItemKind::Verdict, _) => "/sessions".to_owned(),
    };
    Hit {
        link,
        title: excerpt(&found.snippet, 160),
        note: html! {
            (badge(Tone::Calm, found.of.as_str())) " "
            @match &found.path {
                Some(path) => { (excerpt(&found.kind, 40)) " · " (excerpt(path, 120)) }
                None => { (excerpt(&found.origin, 120)) }
            }
            @if let Some(session) = &found.session { ", session " (session) }
            ", " (relative_time(site.now, found.created_at))
        },
    }
}

/// Sessions, runs and receipts by id.
fn by_id(site: &Site<'_>, sessions: &[Session], words: &Words) -> Result<Vec<Hit>, PageError> {
    let mut found = Vec::new();
    for session in sessions.iter().filter(|session| words.all_in(session.id.as_str())) {
        found.push(Hit {
            link: format!("/sessions/{}", session.id),
            title: html! { "Session " (session.id) },
            note: html! { (session.status) ", started " (relative_time(site.now, session.created_at)) },
        });
    }
    for run in site.store.runs(&RunFilter { epic: None, limit: Some(200) })? {
        if words.all_in(run.id.as_str()) || words.all_in(&format!("epic {}", run.epic)) {
            found.push(Hit {
                link: format!("/runs/{}", run.id),
                title: html! { "Run " (run.id) " of epic " (run.epic) },
                note: html! { (run.state) ", started " (relative_time(site.now, run.created_at)) },
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
        });
    }
    Ok(found)
}
