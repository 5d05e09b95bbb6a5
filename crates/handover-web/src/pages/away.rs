//! What happened while somebody was away: since a time that the address names, or since their last visit.

use handover_model::{Package, Receipt, ReceiptState, Run, RunState, Timestamp};
use handover_store::{
    ErrorFilter, NoteFilter, OperationFilter, PackageFilter, ReceiptFilter, ReceiptSums, RunFilter,
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
// How many records are read and listed. What is beyond is counted as "at least".
const RUNS: u32 = 50;
const SESSIONS: usize = 20;
const PACKAGES: u32 = 50;
const NOTES: u32 = 200;
const CHANGES: u32 = 200;
const LISTED: usize = 10;

/// Records of the time, newest first, as far as they were read.
struct Read<T> {
    list: Vec<T>,
    is_all: bool,
}

impl<T> Read<T> {
    fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn first(&self) -> &[T] {
        self.list.get(..LISTED).unwrap_or(&self.list)
    }

    fn at_least(&self) -> &'static str {
        if self.is_all { "" } else { "at least " }
    }

    /// `3 runs`, `at least 50 runs`.
    fn said(&self, one: &str, many: &str) -> String {
        format!("{}{}", self.at_least(), plural(self.list.len(), one, many))
    }
}

/// What happened in runs and briefs.
struct Since {
    runs: Read<Run>,
    briefs: ReceiptSums,
    failed: u64,
}

impl Since {
    fn read(site: &Site<'_>, since: Timestamp) -> Result<Self, PageError> {
        let mut list = site.store.runs(&RunFilter { epic: None, limit: Some(RUNS) })?;
        list.retain(|run| run.updated_at >= since);
        let is_all = list.len() < RUNS as usize;
        let briefs = site.store.receipt_sums(site.project, since)?;
        let failed = briefs.by_state.get(&ReceiptState::Failed).copied().unwrap_or_default();
        Ok(Self { runs: Read { list, is_all }, briefs, failed })
    }

    fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.briefs.by_state.values().sum::<u64>() == 0
    }
}

/// For the overview: a line that leads here, if something happened since the last visit.
pub(super) fn summary(site: &Site<'_>, route: &Route<'_>) -> Result<Markup, PageError> {
    let Some(since) = visit::before(route.request, site.now) else { return Ok(html! {}) };
    let happened = Since::read(site, since)?;
    if happened.is_empty() {
        return Ok(html! {});
    }
    Ok(html! {
        p class="notice" id="away" {
            "Since your last visit, " (relative_time(site.now, since)) ": "
            (happened.runs.said("run", "runs")) ", "
            (plural(whole(happened.briefs.delivered()), "agent", "agents")) " briefed"
            @if happened.failed > 0 { ", " span class="bad" { (plural(whole(happened.failed), "brief", "briefs")) " failed" } }
            ". " a href={ "/away?since=" (escaped(&since.to_string())) } { "What happened" }
        }
    })
}

fn whole(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
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
    let changes = Read { is_all: changes.len() < CHANGES as usize, list: changes };
    let mut errors = site.store.errors(site.project, &ErrorFilter::default())?;
    errors.retain(|error| error.last_seen >= since);
    let failed = failed(site, since)?;
    let nothing = happened.is_empty()
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
                (stat("Runs", html! { (happened.runs.at_least()) (count(happened.runs.list.len())) }, html! { (count(happened.runs.list.iter().filter(|run| run.state == RunState::Running).count())) " at work now" }))
                (stat("Agents briefed", count(happened.briefs.delivered()), html! { (count(happened.briefs.tokens)) " tokens" }))
                (stat("Failed", html! { span class=(if happened.failed == 0 { "" } else { "bad" }) { (count(happened.failed)) } }, "briefs that never arrived"))
                (stat("Packages", html! { (written.at_least()) (count(written.list.len())) }, "written"))
                (stat("Notes", html! { (learned.at_least()) (count(learned.list.len())) }, "learned"))
                (stat("Errors", count(errors.len()), "seen"))
            }
            @if !happened.runs.is_empty() { (section("runs", "Runs", html! { a href="/runs" { "All runs" } }, runs::rows(site, happened.runs.first()))) }
            @if !failed.is_empty() { (section("failed", "Briefs that never arrived", html! { (count(happened.failed)) @if happened.failed > failed.len() as u64 { ", the latest " (failed.len()) } }, receipts::rows(site, &failed))) }
            @if !written.is_empty() { (section("written", "Written", html! { (written.said("package", "packages")) ", newest first." }, packages(site, &written))) }
            @if !learned.is_empty() { (section("learned", "Learned", html! { (learned.said("note", "notes")) ". " a href="/notes" { "All notes" } }, html! {
                ul class="list" { @for (link, title) in learned.first() { li { a href=(link) { (excerpt(title, 120)) } } } }
            })) }
            @if !errors.is_empty() { (section("errors", "Errors seen", html! { (plural(errors.len(), "error", "errors")) ". " a href="/errors" { "All errors" } }, html! {
                ul class="list" { @for error in errors.iter().take(LISTED) { li { a href={ "/errors/" (error.hash) } { (excerpt(&error.signature.message, 120)) } span class="muted" { " " (relative_time(site.now, error.last_seen)) } } } }
            })) }
            @if !changes.is_empty() { (section("changed", "Changed by hand", html! { (changes.said("change", "changes")) ". " a href="/changes" { "All changes" } }, html! {
                ul class="list" { @for change in changes.first() { li { (described(change)) span class="muted" { " " (relative_time(site.now, change.created_at)) } } } }
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

/// The latest briefs that never arrived.
fn failed(site: &Site<'_>, since: Timestamp) -> Result<Vec<Receipt>, PageError> {
    let filter = ReceiptFilter {
        state: Some(ReceiptState::Failed),
        since: Some(since),
        limit: Some(LISTED as u32),
        ..ReceiptFilter::default()
    };
    Ok(site.store.receipts(&filter)?)
}

/// The packages of the newest sessions, newest first.
fn written(site: &Site<'_>, since: Timestamp) -> Result<Read<Package>, PageError> {
    let newest = PackageFilter { limit: Some(PACKAGES), ..PackageFilter::default() };
    let mut sessions = site.store.sessions(None)?;
    sessions.retain(|session| session.ended_at.is_none_or(|end| end >= since));
    let mut written = Read { list: Vec::new(), is_all: sessions.len() <= SESSIONS };
    for session in sessions.iter().take(SESSIONS) {
        let mut packages = site.store.packages(&session.id, &newest)?;
        packages.retain(|package| package.created_at >= since);
        written.is_all &= packages.len() < PACKAGES as usize;
        written.list.extend(packages);
    }
    written.list.sort_by_key(|package| std::cmp::Reverse((package.created_at, package.id.0)));
    Ok(written)
}

/// Links to the notes of that time, and their titles.
fn learned(site: &Site<'_>, since: Timestamp) -> Result<Read<(String, String)>, PageError> {
    let filter = NoteFilter { limit: Some(NOTES), ..NoteFilter::default() };
    let notes = site.store.notes(site.project, &filter)?.into_iter();
    let notes = notes.filter(|note| note.created_at >= since);
    let list: Vec<_> = notes
        .map(|note| {
            let title = if note.title.is_empty() { note.text } else { note.title };
            (format!("/notes/{}", note.id), title)
        })
        .collect();
    Ok(Read { is_all: list.len() < NOTES as usize, list })
}

fn packages(site: &Site<'_>, written: &Read<Package>) -> Markup {
    html! {
        ul class="list" {
            @for package in written.first() {
                li {
                    a href={ "/packages/" (package.id) } { (excerpt(package.title.as_deref().unwrap_or(&package.path), 110)) }
                    span class="muted" {
                        " by " (role_name(package.producer.as_str())) " in "
                        a href={ "/sessions/" (package.session) } { (package.session) }
                        ", " (relative_time(site.now, package.created_at))
                    }
                }
            }
            @let hidden = written.list.len().saturating_sub(LISTED);
            @if hidden > 0 { li class="muted" { "and " (written.at_least()) (plural(hidden, "other", "others")) } }
        }
    }
}
