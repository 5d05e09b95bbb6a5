//! Notes: what the project already knows, and where from.

use handover_context::notes::{NoteError, named};
use handover_model::{Edit, ItemKind, Note, NoteKind, NoteState, Trust};
use handover_store::NoteFilter;
use handover_text::quote::visible;
use maud::{Markup, html};

use super::knowledge::tabs;
use super::record::{self, RECIPIENTS};
use crate::error::PageError;
use crate::form::{Subject, Verb, button, retire_or_restore};
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Key, Order, Paging, Row, Tone, badge, count, empty_state, excerpt, fact, facts,
    kept_views, ordered_table, plural, relative_time, section, stale_names, state_tone, untrusted,
};

pub(crate) const PAGES: &[PageEntry] = &[
    PageEntry::new("notes", "/notes", "/knowledge", list),
    PageEntry::new("note", "/notes/{note}", "/knowledge", one),
];

/// Notes per page.
const LISTED: u32 = 200;
/// Paths and symbols of a note on its page.
const NAMES: usize = 24;

const COLUMNS: [Column; 6] = [
    Column::Text("Note"),
    Column::Text("Kind"),
    Column::Text("From"),
    Column::Text("Said by"),
    Column::Text("State"),
    Column::Text("Date"),
];

const KINDS: [NoteKind; 5] =
    [NoteKind::Doc, NoteKind::Commit, NoteKind::Conversation, NoteKind::Memory, NoteKind::Manual];

fn list(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    // An unknown kind is no filter.
    let kind: Option<NoteKind> = route.query("kind").and_then(|kind| kind.parse().ok());
    let (mut paging, order) = (Paging::read(route, LISTED), Order::read(route, &COLUMNS));
    let filter = NoteFilter {
        kind,
        skip: paging.from,
        limit: Some(paging.limit()),
        ..NoteFilter::default()
    };
    let (mut notes, counts) = site.store.reading(|store| {
        let counts = KINDS
            .into_iter()
            .map(|kind| Ok((kind, store.note_numbers(site.project, kind)?.len())))
            .collect::<handover_store::Result<Vec<_>>>()?;
        Ok((store.notes(site.project, &filter)?, counts))
    })?;
    paging.keep(&mut notes);
    order.apply(&mut notes, key);
    let all: usize =
        counts.iter().filter(|(of, _)| kind.is_none_or(|kind| kind == *of)).map(|(_, n)| n).sum();
    let note = html! {
        (plural(all, "note", "notes")) @if order.is_chosen() { ", sorted" } @else { ", newest first" }
        @if let Some(place) = paging.place(notes.len()) { ", " (place) }
        ". Only: "
        @for (nth, (of, number)) in counts.iter().filter(|(_, number)| *number > 0).enumerate() {
            @if nth > 0 { " · " }
            @if kind == Some(*of) { strong { (of) } } @else { a href={ "/notes?kind=" (of) } { (of) } }
            " " (count(*number))
        }
        @if kind.is_some() { " · " a href="/notes" { "all" } }
    };
    let body = html! {
        header class="page" {
            h1 { "Notes" }
            p class="lead" { "What the project already knows, from its documents, its commits, conversations with agents and other memories. Agents get what answers their task." }
            (tabs("/notes"))
        }
        (kept_views())
        (section("notes", "What is known", note, html! {
            @if notes.is_empty() && paging.from == 0 {
                (empty_state("No notes yet.", "They are learned from what is already there:", "handover learn"))
            } @else {
                (rows(site, &notes, &order))
                (paging.links("notes"))
            }
        }))
    };
    Ok(Page { title: "Notes".to_owned(), breadcrumbs: Vec::new(), body })
}

fn key(note: &Note, column: usize) -> Key {
    match column {
        0 => Key::text(title(note)),
        1 => Key::text(note.kind.as_str()),
        2 => Key::text(&note.origin),
        3 => Key::text(note.trust.as_str()),
        4 => Key::text(note.state.as_str()),
        _ => Key::Number(note.created_at.as_micros() as f64),
    }
}

fn rows(site: &Site<'_>, notes: &[Note], order: &Order) -> Markup {
    let row = |note: &Note| {
        let row = Row::new(
            html! { a href={ "/notes/" (note.id) } { (excerpt(title(note), 110)) } },
            [
                html! { (note.kind) },
                excerpt(&note.origin, 90),
                trust(note.trust),
                badge(state_tone(note.state), note.state.as_str()),
                relative_time(site.now, note.created_at),
            ],
        );
        if note.state == NoteState::Retired { row.dimmed() } else { row }
    };
    ordered_table("", &COLUMNS, Some(order), notes.iter().map(row))
}

/// A purged note has neither title nor text.
fn title(note: &Note) -> &str {
    match (note.title.is_empty(), note.text.is_empty()) {
        (false, _) => &note.title,
        (true, false) => &note.text,
        (true, true) => "(erased)",
    }
}

fn trust(trust: Trust) -> Markup {
    match trust {
        Trust::Person | Trust::Project => html! { (trust) },
        Trust::Agent => badge(Tone::Calm, trust.as_str()),
        Trust::Outside => badge(Tone::Warn, trust.as_str()),
    }
}

fn one(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let name = route.param("note");
    let note = match named(site.store, site.project, name) {
        Ok(note) => note,
        Err(NoteError::Store(error)) => return Err(error.into()),
        Err(_) => return Err(PageError::not_found("note", name)),
    };
    let clean = site.redactor.clean(&note.text);
    let named = format!("{}\n{}", clean.as_str(), note.paths.join("\n"));
    let stale = site.fresh.names(&named).stale;
    let given = site.store.given(site.project, ItemKind::Note, note.id.as_str(), RECIPIENTS)?;
    let replaced = record::replacements(site, ItemKind::Note, note.id.as_str())?;
    let changed =
        record::history(site, |edit| matches!(edit, Edit::Note { id, .. } if *id == note.id))?;
    let body = html! {
        header class="page" {
            h1 { (excerpt(title(&note), 160)) }
            (facts(html! {
                (fact("Kind", html! { (note.kind) }))
                (fact("From", untrusted(&note.origin)))
                (fact("Date", relative_time(site.now, note.created_at)))
                (fact("Said by", trust(note.trust)))
                (fact("State", html! {
                    (badge(state_tone(note.state), note.state.as_str()))
                    @if let Some(reason) = &note.reason { " " (excerpt(reason, 200)) }
                }))
                @for (name, list) in [("Paths", &note.paths), ("Symbols", &note.symbols)] {
                    @if !list.is_empty() { (fact(name, names(list))) }
                }
                @if !stale.is_empty() { (fact("Since then", stale_names(&stale))) }
                (replaced)
                (fact("Id", html! { code { (note.id) } }))
            }))
            (acts(site, &note))
        }
        (section("text", "What it says", html! { "Quoted as it was learned, without secrets." }, html! {
            @if note.text.is_empty() {
                p class="muted" { "It was erased; the hash of the text is " code { (note.hash) } "." }
            } @else {
                pre class="paper" tabindex="0" dir="auto" { (visible(clean.as_str())) }
            }
        }))
        (section("readers", "Who got it", html! { "And whether they used it." }, record::recipients(site, &given)))
        (changed)
    };
    Ok(Page {
        title: "Note".to_owned(),
        breadcrumbs: vec![("/notes".to_owned(), "Notes".to_owned())],
        body,
    })
}

/// What can be done with it.
fn acts(site: &Site<'_>, note: &Note) -> Markup {
    let (id, back) = (note.id.as_str(), format!("/notes/{}", note.id));
    html! {
        div class="acts" {
            @match note.state {
                NoteState::Retired => (button(site, Verb::Restore, Subject::Note, id, &back)),
                NoteState::Amended => {
                    (button(site, Verb::Confirm, Subject::Note, id, &back))
                    (button(site, Verb::Reject, Subject::Note, id, &back))
                },
                NoteState::Live | NoteState::Stale => (retire_or_restore(site, false, Subject::Note, id, &back)),
            }
        }
    }
}

fn names(list: &[String]) -> Markup {
    html! {
        @for (nth, name) in list.iter().take(NAMES).enumerate() {
            @if nth > 0 { ", " } code { (excerpt(name, 100)) }
        }
        @if list.len() > NAMES { " and " (count(list.len() - NAMES)) " others" }
    }
}
