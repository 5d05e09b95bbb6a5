//! Everything that the project knows, in one place: packages, notes, strategies and errors, by words, kind, trust,
//! state and use. Filters and order are in the address, so that a view can be kept and sent.

use std::collections::HashMap;

use handover_context::everything::{Everything, search};
use handover_model::learn::UseTally;
use handover_model::{
    ItemKind, NoteId, NoteState, Package, PackageId, RecordState, Timestamp, Trust,
};
use handover_store::{ErrorFilter, NoteFilter, PackageFilter, StrategyFilter, Versions};
use maud::{Markup, html};

use crate::error::PageError;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Key, Order, Paging, Row, Tone, badge, count, empty_state, excerpt, kept_views,
    ordered_table, plural, relative_time, section, single_line,
};

pub(crate) const PAGES: &[PageEntry] = &[PageEntry {
    demo_query: "?type=note",
    ..PageEntry::in_nav("knowledge", "/knowledge", "Knowledge", render)
}];

/// Records per page.
const LISTED: u32 = 100;
/// What is read without words: the newest notes, and the newest packages of the newest sessions. Strategies and errors
/// are all read.
const NOTES: u32 = 400;
const OF_SESSION: u32 = 100;
const SESSIONS: usize = 20;
/// Matches of words that a filter chooses from, or that pages go through.
const MATCHES: usize = 2_000;
const TYPES: [ItemKind; 4] =
    [ItemKind::Package, ItemKind::Note, ItemKind::Strategy, ItemKind::Error];
const STATES: [&str; 4] = ["live", "stale", "amended", "retired"];
/// Used by an agent that got it; given but not used; neither seen.
const USES: [&str; 3] = ["used", "unused", "unknown"];

const COLUMNS: [Column; 7] = [
    Column::Text("What"),
    Column::Text("Kind"),
    Column::Text("From"),
    Column::Text("Said by"),
    Column::Text("State"),
    Column::Text("Used"),
    Column::Text("Date"),
];

/// What the address asks for.
struct Filter {
    words: String,
    of: Option<ItemKind>,
    trust: Option<Trust>,
    state: Option<&'static str>,
    used: Option<&'static str>,
}

impl Filter {
    fn read(route: &Route<'_>) -> Self {
        let asked = |name: &str| route.query(name).unwrap_or_default().trim();
        let state = STATES.into_iter().find(|state| *state == asked("state"));
        Self {
            words: asked("q").chars().take(200).collect(),
            of: TYPES.into_iter().find(|kind| kind.as_str() == asked("type")),
            trust: asked("trust").parse().ok(),
            state,
            used: USES.into_iter().find(|used| *used == asked("used")),
        }
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty()
            && self.of.is_none()
            && self.trust.is_none()
            && self.state.is_none()
            && self.used.is_none()
    }

    /// Whether matches are dropped after the search, so that it has to find more of them.
    fn narrows(&self) -> bool {
        self.trust.is_some() || self.state.is_some() || self.used.is_some()
    }

    fn takes(&self, one: &Known) -> bool {
        self.of.is_none_or(|of| of == one.of)
            && self.trust.is_none_or(|trust| trust == one.trust)
            && self.state.is_none_or(|state| state == one.state)
    }

    fn wants(&self, kind: ItemKind) -> bool {
        self.of.is_none_or(|of| of == kind)
    }
}

/// One record, whatever it is.
struct Known {
    of: ItemKind,
    id: String,
    link: String,
    title: String,
    /// What it says, for names that are stale.
    text: String,
    origin: String,
    trust: Trust,
    state: &'static str,
    reason: Option<String>,
    at: Timestamp,
    /// How often it was used, of the times that its agent was seen to the end; recent ones count more.
    tally: Option<UseTally>,
}

impl Known {
    /// What the repository says about the names in a record that is in use. Notes know it themselves.
    fn check(&mut self, site: &Site<'_>) {
        if self.of != ItemKind::Note && self.state == "live" {
            let stale = site.fresh.names(&self.text).stale;
            if let Some(first) = stale.first() {
                (self.state, self.reason) = ("stale", Some(format!("{} {first}", first.name())));
            }
        }
    }

    fn used(&self) -> &'static str {
        match self.tally {
            Some(tally) if tally.used > 0.0 => "used",
            Some(_) => "unused",
            None => "unknown",
        }
    }

    fn key(&self, column: usize) -> Key {
        match column {
            0 => Key::text(&self.title),
            1 => Key::text(self.of.as_str()),
            2 => Key::text(&self.origin),
            3 => Key::text(self.trust.as_str()),
            4 => Key::text(self.state),
            5 => Key::Number(self.tally.map_or(-1.0, |tally| tally.used / tally.judged)),
            _ => Key::Number(self.at.as_micros() as f64),
        }
    }
}

/// Adds what is known about the use of each record.
fn tally(site: &Site<'_>, all: &mut [Known]) -> Result<(), PageError> {
    for kind in TYPES {
        let own = || all.iter().enumerate().filter(|(_, one)| one.of == kind);
        let (places, ids): (Vec<usize>, Vec<String>) =
            own().map(|(at, one)| (at, one.id.clone())).unzip();
        if ids.is_empty() {
            continue;
        }
        let tallies = site.store.use_tallies(site.project, kind, &ids)?;
        for (at, found) in places.into_iter().zip(tallies.items) {
            if let Some(one) = all.get_mut(at) {
                one.tally = found.filter(|tally| tally.judged > 0.0);
            }
        }
    }
    Ok(())
}

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let filter = Filter::read(route);
    let mut paging = Paging::read(route, LISTED);
    let has_words = !filter.words.is_empty();
    let (mut all, is_whole) = match has_words {
        false => newest(site, &filter)?,
        true => by_words(site, &filter, &paging)?,
    };
    let order = Order::read(route, &COLUMNS);
    if filter.state.is_some() {
        all.iter_mut().for_each(|one| one.check(site));
    }
    all.retain(|one| filter.takes(one));
    tally(site, &mut all)?;
    all.retain(|one| filter.used.is_none_or(|used| used == one.used()));
    order.apply(&mut all, Known::key);
    let found = all.len();
    let mut shown = all.split_off(found.min(paging.from as usize));
    paging.keep(&mut shown);
    shown.iter_mut().for_each(|one| one.check(site));
    let note = html! {
        @if !is_whole && has_words { "More than " (plural(found - 1, "record", "records")) }
        @else { (plural(found, "record", "records")) @if !is_whole { ", of the newest of each kind" } }
        @if shown.len() < found && !shown.is_empty() { ", " (count(paging.from as usize + 1)) " to " (count(paging.from as usize + shown.len())) }
        "."
    };
    let body = html! {
        header class="page" {
            h1 { "Knowledge" }
            p class="lead" { "What agents can be given: what others wrote, what the project says, what worked, what went wrong before." }
            (tabs("/knowledge"))
        }
        (form(&filter))
        (kept_views())
        (section("knowledge", "Records", note, html! {
            @if found == 0 {
                @if filter.is_empty() {
                    (empty_state("Nothing is known yet.", "Read what is already there, or write something down:", "handover learn\nhandover note add \"Prices are in cents.\""))
                } @else { (empty_state("Nothing matches.", "Leave out a filter, or use other words.", "")) }
            } @else { (rows(site, &shown, &order)) (paging.links("records")) }
            @if !is_whole && !has_words {
                p class="note" { "Read are the newest " (NOTES) " notes, the newest " (OF_SESSION) " packages of each of the newest " (SESSIONS) " sessions, and all strategies and errors; words find the rest." }
            }
        }))
    };
    Ok(Page { title: "Knowledge".to_owned(), breadcrumbs: Vec::new(), body })
}

/// The pages about what is known.
pub(super) fn tabs(current: &str) -> Markup {
    let all = [
        ("/knowledge", "Everything"),
        ("/notes", "Notes"),
        ("/strategies", "Strategies"),
        ("/errors", "Errors"),
        ("/use", "Use"),
        ("/changes", "Changes by hand"),
    ];
    html! {
        nav class="tabs" aria-label="Kinds" {
            @for (path, label) in all {
                a href=(path) aria-current=[(path == current).then_some("page")] { (label) } " "
            }
        }
    }
}

fn form(filter: &Filter) -> Markup {
    let choice = |name: &str, label: &str, chosen: &str, values: &[&str]| {
        html! {
            div {
                label for={ "only-" (name) } { (label) }
                select id={ "only-" (name) } name=(name) {
                    option value="" selected[chosen.is_empty()] { "any" }
                    @for value in values { option value=(value) selected[*value == chosen] { (value) } }
                }
            }
        }
    };
    let kinds: Vec<&str> = TYPES.iter().map(|kind| kind.as_str()).collect();
    let trusts: Vec<&str> = Trust::ALL.iter().map(|trust| trust.as_str()).collect();
    html! {
        form class="filters" method="get" action="/knowledge" {
            div class="wide-field" {
                label for="only-words" { "Words" }
                input id="only-words" type="search" name="q" value=(single_line(&filter.words)) maxlength="200" placeholder="refresh tokens";
            }
            (choice("type", "Kind", filter.of.map_or("", ItemKind::as_str), &kinds))
            (choice("trust", "Said by", filter.trust.map_or("", Trust::as_str), &trusts))
            (choice("state", "State", filter.state.unwrap_or_default(), &STATES))
            (choice("used", "Use", filter.used.unwrap_or_default(), &USES))
            button { "Show" }
        }
    }
}

/// `2 of 3`, or nothing if nobody knows.
fn use_label(tally: Option<UseTally>) -> Markup {
    match tally {
        Some(tally) => html! { (format!("{:.0} of {:.0}", tally.used, tally.judged.max(1.0))) },
        None => html! { span class="muted" { "–" } },
    }
}

fn rows(site: &Site<'_>, all: &[Known], order: &Order) -> Markup {
    let row = |one: &Known| {
        let tone = match one.state {
            "live" => Tone::Good,
            "retired" => Tone::Calm,
            _ => Tone::Warn,
        };
        let row = Row::new(
            html! { a href=(one.link) { (excerpt(&one.title, 120)) } },
            [
                html! { (one.of) },
                excerpt(&one.origin, 80),
                html! { (one.trust) },
                html! { (badge(tone, one.state)) @if let Some(reason) = &one.reason { p class="muted" { (excerpt(reason, 100)) } } },
                use_label(one.tally),
                relative_time(site.now, one.at),
            ],
        );
        if one.state == "retired" { row.dimmed() } else { row }
    };
    ordered_table("", &COLUMNS, Some(order), all.iter().map(row))
}

const fn record_state(state: RecordState) -> &'static str {
    match state {
        RecordState::Live => "live",
        RecordState::Retired => "retired",
    }
}

const fn note_state(state: NoteState) -> &'static str {
    match state {
        NoteState::Live => "live",
        NoteState::Stale => "stale",
        NoteState::Amended => "amended",
        NoteState::Retired => "retired",
    }
}

fn of_note(note: handover_model::Note) -> Known {
    Known {
        of: ItemKind::Note,
        id: note.id.to_string(),
        link: format!("/notes/{}", note.id),
        text: String::new(),
        title: if note.title.is_empty() { note.text } else { note.title },
        origin: note.origin,
        trust: note.trust,
        state: note_state(note.state),
        reason: note.reason,
        at: note.created_at,
        tally: None,
    }
}

fn of_package(package: handover_model::Package) -> Known {
    Known {
        of: ItemKind::Package,
        id: package.id.to_string(),
        link: format!("/packages/{}", package.id),
        text: package.summary.clone(),
        title: package.title.unwrap_or(package.summary),
        origin: package.path,
        trust: package.trust,
        state: record_state(package.state),
        reason: package.reason,
        at: package.created_at,
        tally: None,
    }
}

fn of_strategy(strategy: handover_model::Strategy) -> Known {
    Known {
        of: ItemKind::Strategy,
        link: format!("/strategies/{}", strategy.id),
        id: strategy.id,
        text: strategy.insight.clone(),
        title: strategy.insight,
        origin: strategy.topic.to_string(),
        trust: strategy.trust,
        state: record_state(strategy.state),
        reason: strategy.reason,
        at: strategy.last_seen,
        tally: None,
    }
}

fn of_error(error: handover_model::ErrorPattern) -> Known {
    Known {
        of: ItemKind::Error,
        id: error.hash.clone(),
        link: format!("/errors/{}", error.hash),
        text: error.solution.unwrap_or_default(),
        title: error.signature.message,
        origin: error.signature.kind,
        trust: error.trust,
        state: record_state(error.state),
        reason: error.reason,
        at: error.last_seen,
        tally: None,
    }
}

/// The newest of each kind, and whether that is all there is.
fn newest(site: &Site<'_>, filter: &Filter) -> Result<(Vec<Known>, bool), PageError> {
    let mut all = Vec::new();
    let mut is_whole = true;
    if filter.wants(ItemKind::Note) {
        let notes = NoteFilter { limit: Some(NOTES), ..NoteFilter::default() };
        all.extend(site.store.notes(site.project, &notes)?.into_iter().map(of_note));
        is_whole &= all.len() < NOTES as usize;
    }
    if filter.wants(ItemKind::Package) {
        let latest = PackageFilter {
            versions: Versions::Latest,
            limit: Some(OF_SESSION),
            ..PackageFilter::default()
        };
        let sessions = site.store.sessions(None)?;
        is_whole &= sessions.len() <= SESSIONS;
        for session in sessions.iter().take(SESSIONS) {
            let packages = site.store.packages(&session.id, &latest)?;
            is_whole &= packages.len() < OF_SESSION as usize;
            all.extend(packages.into_iter().map(of_package));
        }
    }
    if filter.wants(ItemKind::Strategy) {
        let strategies = site.store.strategies(site.project, &StrategyFilter::default())?;
        all.extend(strategies.into_iter().map(of_strategy));
    }
    if filter.wants(ItemKind::Error) {
        let errors = site.store.errors(site.project, &ErrorFilter::default())?;
        all.extend(errors.into_iter().map(of_error));
    }
    all.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.link.cmp(&b.link)));
    Ok((all, is_whole))
}

/// What a search finds, best first, and whether that is all.
fn by_words(
    site: &Site<'_>,
    filter: &Filter,
    paging: &Paging,
) -> Result<(Vec<Known>, bool), PageError> {
    let to_page = (paging.from as usize).saturating_add(paging.limit() as usize).min(MATCHES);
    let limit = if filter.narrows() { MATCHES } else { to_page };
    let everything = Everything {
        project: site.project,
        text: &filter.words,
        limit,
        session: None,
        group: None,
        of: filter.of,
        kind: None,
        since: None,
        config: &site.config.assembly,
    };
    let found = site.store.reading(|store| search(store, &everything))?.found;
    let wants = |kind| found.iter().any(|hit| hit.of == kind);
    let strategies = match wants(ItemKind::Strategy) {
        true => site.store.strategies(site.project, &StrategyFilter::default())?,
        false => Vec::new(),
    };
    let errors = match wants(ItemKind::Error) {
        true => site.store.errors(site.project, &ErrorFilter::default())?,
        false => Vec::new(),
    };
    let numbers = found.iter().filter(|hit| hit.of == ItemKind::Package);
    let numbers: Vec<PackageId> =
        numbers.filter_map(|hit| hit.id.to_string().parse().ok()).collect();
    let mut packages: HashMap<PackageId, Package> =
        site.store.packages_by_id(&numbers)?.into_iter().map(|one| (one.id, one)).collect();
    let mut all = Vec::new();
    for hit in &found {
        let id = hit.id.to_string();
        let known = match hit.of {
            ItemKind::Package => {
                id.parse().ok().and_then(|id| packages.remove(&id)).map(of_package)
            }
            ItemKind::Note => NoteId::new(&id)
                .ok()
                .and_then(|id| site.store.note(site.project, &id).ok())
                .map(of_note),
            ItemKind::Strategy => {
                strategies.iter().find(|one| one.id == id).cloned().map(of_strategy)
            }
            ItemKind::Error => errors.iter().find(|one| one.hash == id).cloned().map(of_error),
            ItemKind::Reasoning | ItemKind::Verdict => None,
        };
        all.extend(known);
    }
    Ok((all, found.len() < limit))
}
