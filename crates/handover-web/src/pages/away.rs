//! What happened while somebody was away: since a time that the address names, or since their last visit.

use handover_model::{Package, Receipt, ReceiptState, Run, RunState, Timestamp};
use handover_store::{
    ErrorFilter, NoteFilter, OperationFilter, PackageFilter, ReceiptFilter, RunFilter,
};
use maud::{Markup, html};

use super::changes::described;
use super::{receipts, runs};
use crate::error::PageError;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::steps::escaped;
use crate::view::{count, empty_state, excerpt, plural, relative_time, role_name, section, stat};
use crate::visit;

pub(crate) const PAGES: &[PageEntry] = &[PageEntry {
    demo_query: "?since=2020-01-01T00:00:00Z",
    ..PageEntry::new("away", "/away", "/", render)
}];

const DAY: i64 = 86_400_000_000;
// How many records are read and listed.
const RUNS: u32 = 50;
const RECEIPTS: u32 = 500;
const SESSIONS: usize = 20;
const PACKAGES: u32 = 50;
const NOTES: u32 = 200;
const CHANGES: u32 = 200;
const LISTED: usize = 10;

/// What happened in runs and briefs.
struct Since {
    runs: Vec<Run>,
    receipts: Vec<Receipt>,
}

impl Since {
    fn read(site: &Site<'_>, since: Timestamp) -> Result<Self, PageError> {
        let mut runs = site.store.runs(&RunFilter { epic: None, limit: Some(RUNS) })?;
        runs.retain(|run| run.updated_at >= since);
        let filter = ReceiptFilter { limit: Some(RECEIPTS), ..ReceiptFilter::default() };
        let mut receipts = site.store.receipts(&filter)?;
        receipts.retain(|receipt| receipt.created_at >= since);
        Ok(Self { runs, receipts })
    }

    fn failed(&self) -> impl Iterator<Item = &Receipt> {
        self.receipts.iter().filter(|receipt| receipt.state == ReceiptState::Failed)
    }
}

/// For the overview: a line that leads here, if something happened since the last visit.
pub(super) fn summary(site: &Site<'_>, route: &Route<'_>) -> Result<Markup, PageError> {
    let Some(since) = visit::before(route.request, site.now) else { return Ok(html! {}) };
    let happened = Since::read(site, since)?;
    if happened.runs.is_empty() && happened.receipts.is_empty() {
        return Ok(html! {});
    }
    let failed = happened.failed().count();
    Ok(html! {
        p class="notice" id="away" {
            "Since your last visit, " (relative_time(site.now, since)) ": "
            (plural(happened.runs.len(), "run", "runs")) ", "
            (plural(happened.receipts.len(), "agent", "agents")) " briefed"
            @if failed > 0 { ", " span class="bad" { (plural(failed, "brief", "briefs")) " failed" } }
            ". " a href={ "/away?since=" (escaped(&since.to_string())) } { "What happened" }
        }
    })
}

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let asked = route.query("since").and_then(|since| since.parse().ok());
    let day = Timestamp::from_micros(site.now.as_micros().saturating_sub(DAY));
    let since = asked.or_else(|| visit::before(route.request, site.now)).unwrap_or(day);
    let happened = Since::read(site, since)?;
    let written = written(site, since)?;
    let learned = learned(site, since)?;
    let filter = OperationFilter { since: Some(since), limit: Some(CHANGES) };
    let changes = site.store.operations(site.project, &filter)?;
    let mut errors = site.store.errors(site.project, &ErrorFilter::default())?;
    errors.retain(|error| error.last_seen >= since);
    let tokens: u64 = happened.receipts.iter().map(|receipt| receipt.tokens).sum();
    let failed: Vec<Receipt> = happened.failed().cloned().collect();
    let nothing = happened.runs.is_empty()
        && happened.receipts.is_empty()
        && written.is_empty()
        && learned.is_empty()
        && changes.is_empty()
        && errors.is_empty();
    let body = html! {
        header class="page" {
            h1 { "While you were away" }
            p class="lead" { "What happened since " (relative_time(site.now, since)) "." }
            (spans(site))
        }
        @if nothing {
            (empty_state("Nothing happened.", "No run worked, no agent was briefed, nothing was written, learned or changed.", ""))
        } @else {
            dl class="stats" id="figures" data-live {
                (stat("Runs", count(happened.runs.len()), html! { (count(happened.runs.iter().filter(|run| run.state == RunState::Running).count())) " at work now" }))
                (stat("Agents briefed", count(happened.receipts.len()), html! { (count(tokens)) " tokens" }))
                (stat("Failed", html! { span class=(if failed.is_empty() { "" } else { "bad" }) { (count(failed.len())) } }, "briefs that never arrived"))
                (stat("Packages", count(written.len()), "written"))
                (stat("Errors", count(errors.len()), "seen"))
            }
            @if !happened.runs.is_empty() { (section("runs", "Runs", html! { a href="/runs" { "All runs" } }, runs::rows(site, &happened.runs))) }
            @if !failed.is_empty() { (section("failed", "Briefs that never arrived", html! { (count(failed.len())) }, receipts::rows(site, failed.get(..LISTED.min(failed.len())).unwrap_or_default()))) }
            @if !written.is_empty() { (section("written", "Written", html! { (plural(written.len(), "package", "packages")) ", newest first." }, packages(site, &written))) }
            @if !learned.is_empty() { (section("learned", "Learned", html! { (plural(learned.len(), "note", "notes")) ". " a href="/notes" { "All notes" } }, html! {
                ul class="list" { @for (link, title) in learned.iter().take(LISTED) { li { a href=(link) { (excerpt(title, 120)) } } } }
            })) }
            @if !errors.is_empty() { (section("errors", "Errors seen", html! { a href="/errors" { "All errors" } }, html! {
                ul class="list" { @for error in errors.iter().take(LISTED) { li { a href={ "/errors/" (error.hash) } { (excerpt(&error.signature.message, 120)) } span class="muted" { " " (relative_time(site.now, error.last_seen)) } } } }
            })) }
            @if !changes.is_empty() { (section("changed", "Changed by hand", html! { a href="/changes" { "All changes" } }, html! {
                ul class="list" { @for change in changes.iter().take(LISTED) { li { (described(change)) span class="muted" { " " (relative_time(site.now, change.created_at)) } } } }
            })) }
        }
    };
    Ok(Page { title: "While you were away".to_owned(), breadcrumbs: Vec::new(), body })
}

/// Other times to look back to.
fn spans(site: &Site<'_>) -> Markup {
    let back = |days: i64| {
        // The address stays the same for a while.
        let hour = 3_600_000_000;
        let from = (site.now.as_micros() - days * DAY).div_euclid(hour) * hour;
        format!("/away?since={}", escaped(&Timestamp::from_micros(from).to_string()))
    };
    html! {
        nav class="tabs" aria-label="Since when" {
            a href="/away" { "Your last visit" }
            a href=(back(1)) { "A day" } a href=(back(7)) { "A week" } a href=(back(30)) { "A month" }
        }
    }
}

/// The packages of the newest sessions, newest first.
fn written(site: &Site<'_>, since: Timestamp) -> Result<Vec<Package>, PageError> {
    let newest = PackageFilter { limit: Some(PACKAGES), ..PackageFilter::default() };
    let mut written = Vec::new();
    for session in site.store.sessions(None)?.iter().take(SESSIONS) {
        let packages = site.store.packages(&session.id, &newest)?;
        written.extend(packages.into_iter().filter(|package| package.created_at >= since));
    }
    written.sort_by_key(|package| std::cmp::Reverse((package.created_at, package.id.0)));
    Ok(written)
}

/// Links to the notes of that time, and their titles.
fn learned(site: &Site<'_>, since: Timestamp) -> Result<Vec<(String, String)>, PageError> {
    let filter = NoteFilter { limit: Some(NOTES), ..NoteFilter::default() };
    let notes = site.store.notes(site.project, &filter)?.into_iter();
    let notes = notes.filter(|note| note.created_at >= since);
    Ok(notes
        .map(|note| {
            let title = if note.title.is_empty() { note.text } else { note.title };
            (format!("/notes/{}", note.id), title)
        })
        .collect())
}

fn packages(site: &Site<'_>, written: &[Package]) -> Markup {
    html! {
        ul class="list" {
            @for package in written.iter().take(LISTED) {
                li {
                    a href={ "/packages/" (package.id) } { (excerpt(package.title.as_deref().unwrap_or(&package.path), 110)) }
                    span class="muted" {
                        " by " (role_name(package.producer.as_str())) " in "
                        a href={ "/sessions/" (package.session) } { (package.session) }
                        ", " (relative_time(site.now, package.created_at))
                    }
                }
            }
            @if written.len() > LISTED { li class="muted" { "and " (plural(written.len() - LISTED, "other", "others")) } }
        }
    }
}
