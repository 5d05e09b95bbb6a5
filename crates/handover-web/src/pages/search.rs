//! Search over all records.

use handover_context::everything::{Assumed, Everything, Found, search};
use handover_context::notes::named;
use handover_model::{ItemKind, NoteState, Session};
use handover_store::{ErrorFilter, ReceiptFilter, RunFilter, StrategyFilter};
use handover_text::redact_message;
use maud::{Markup, html};

use crate::error::PageError;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::steps::escaped;
use crate::view::{
    Tone, badge, count, empty_state, excerpt, plural, relative_time, role_name, section,
};

pub(crate) const PAGES: &[PageEntry] = &[PageEntry {
    demo_query: "?q=refresh+token",
    ..PageEntry::new("search", "/search", "/search", render)
}];

/// How many results are shown.
const SHOWN: usize = 50;
/// What is at least typed of an id or a commit, and runs whose journals are searched for commits.
const SHORTEST_ID: usize = 6;
const SHORTEST_COMMIT: usize = 7;
const JOURNALS: u32 = 50;

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
    let mut by_name = by_id(site, &sessions, &Words::of(query))?;
    by_name.extend(by_short_id(site, query)?);
    by_name.extend(by_commit(site, query)?);
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
    let all = by_name.len() + found.len();
    let best = if found.len() < SHOWN { "" } else { ", the best" };
    Ok(html! {
        header class="page" {
            h1 { "Search" }
            p class="lead" { (plural(all, "thing", "things")) " found for “" (excerpt(&redact_message(query), 200)) "”." }
            @for Assumed { word, meant } in &findings.assumed {
                p class="notice" { "Nothing has “" (excerpt(word, 60)) "”; searched for " (excerpt(&meant.join(", "), 120)) "." }
            }
        }
        @if all == 0 {
            (empty_state("Nothing found.", "Other words may help: they are found by stems, parts of identifiers and usual abbreviations.", ""))
        }
        @for (id, name, found, note) in [("ids", "By name", &by_name, ""), ("everything", "By words", &found, best)] {
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
        title: match found.snippet.as_str() {
            "" => html! { "(not shown: it comes from outside and speaks to its reader)" },
            snippet => excerpt(snippet, 160),
        },
        note: html! {
            (badge(Tone::Calm, found.of.as_str())) " "
            @if found.state != NoteState::Live { (badge(Tone::Warn, found.state.as_str())) " " }
            @if found.trust.is_shown() { (badge(Tone::Calm, found.trust.as_str())) " " }
            @for flag in &found.flags { (badge(Tone::Bad, flag.as_str())) " " }
            @match &found.path {
                Some(path) => { (excerpt(&found.kind, 40)) " · " (excerpt(path, 120)) }
                None => { (excerpt(&found.origin, 120)) }
            }
            @if let Some(session) = &found.session { ", session " (session) }
            ", " (relative_time(site.now, found.created_at))
        },
    }
}

/// Letters and digits that may be the beginning or the end of an id: no word of a language has a digit.
fn is_part_of_id(text: &str) -> bool {
    let is_in_ids = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.len() >= SHORTEST_ID
        && text.bytes().all(is_in_ids)
        && (text.bytes().any(|byte| byte.is_ascii_digit())
            || text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Notes, errors and strategies by a part of their id, as other pages and the command line show it.
fn by_short_id(site: &Site<'_>, part: &str) -> Result<Vec<Hit>, PageError> {
    let part = &part.to_lowercase();
    let mut found = Vec::new();
    if !is_part_of_id(part) {
        return Ok(found);
    }
    let is_it = |id: &str| id.starts_with(part) || id.ends_with(part);
    let hit = |of: ItemKind, link: String, title: &str, id: &str| Hit {
        link,
        title: excerpt(title, 160),
        note: html! { (badge(Tone::Calm, of.as_str())) " " code { (excerpt(id, 60)) } },
    };
    if let Ok(note) = named(site.store, site.project, part) {
        let title = if note.title.is_empty() { &note.text } else { &note.title };
        found.push(hit(ItemKind::Note, format!("/notes/{}", note.id), title, note.id.as_str()));
    }
    for error in site.store.errors(site.project, &ErrorFilter::default())? {
        if is_it(&error.hash) {
            let link = format!("/errors/{}", error.hash);
            found.push(hit(ItemKind::Error, link, &error.signature.message, &error.hash));
        }
    }
    for strategy in site.store.strategies(site.project, &StrategyFilter::default())? {
        if is_it(&strategy.id) {
            let link = format!("/strategies/{}", strategy.id);
            found.push(hit(ItemKind::Strategy, link, &strategy.insight, &strategy.id));
        }
    }
    Ok(found)
}

/// The stories of the latest runs that landed as a commit with this beginning.
fn by_commit(site: &Site<'_>, prefix: &str) -> Result<Vec<Hit>, PageError> {
    let prefix = &prefix.to_lowercase();
    let mut found = Vec::new();
    if prefix.len() < SHORTEST_COMMIT || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(found);
    }
    for run in site.store.runs(&RunFilter { epic: None, limit: Some(JOURNALS) })? {
        for entry in site.store.journal(&run.id, 1)? {
            let text = |key: &str| entry.entry[key].as_str().unwrap_or_default();
            if text("event") != "committed" || !text("commit").starts_with(prefix) {
                continue;
            }
            found.push(Hit {
                link: format!("/runs/{}/stories?story={}#landed", run.id, escaped(text("story"))),
                title: html! { "Commit " code { (excerpt(text("commit"), 60)) } },
                note: html! { "story " (excerpt(text("story"), 80)) " of epic " (run.epic) ", " (relative_time(site.now, entry.created_at)) },
            });
        }
    }
    Ok(found)
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
