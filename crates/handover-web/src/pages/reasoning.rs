//! The reasoning of a session, in chronological order.

use handover_model::{Phase, Role, SessionId};
use handover_store::{ReasoningFilter, TimeOrder};
use maud::html;

use super::session::heading;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Paging, Tone, badge, clock, count, empty_state, excerpt, role_name, section, short_date,
    untrusted, utc_note,
};

pub(crate) const PAGES: &[PageEntry] =
    &[PageEntry::new("reasoning", "/sessions/{session}/reasoning", "/sessions", render)];

/// Entries per page, and characters of each.
const SHOWN: u32 = 150;
const CHARACTERS: usize = 1_200;

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let id: &SessionId = &route.id("session")?;
    let role = route.query("role").and_then(|role| Role::new(role).ok());
    let session = site.store.session(id)?;
    let all = site.store.session_counts(id)?.reasoning;
    let mut paging = Paging::read(route, SHOWN);
    let filter = ReasoningFilter {
        role: role.clone(),
        skip: paging.from,
        limit: Some(paging.limit()),
        order: TimeOrder::NewestFirst,
        ..ReasoningFilter::default()
    };
    let mut entries = site.store.reasoning(id, &filter)?;
    paging.keep(&mut entries);
    entries.reverse();
    let note = html! {
        "Oldest first"
        @if let Some(place) = paging.place(entries.len()) { ", " (place) @if role.is_none() { " of " (count(all)) } @if paging.from > 0 { " from the latest" } }
        "." (utc_note())
        @if let Some(role) = &role {
            " Only by " (role_name(role.as_str())) ". " a href={ "/sessions/" (id) "/reasoning" } { "Show all" }
        }
    };
    let mut last_day = String::new();
    let body = html! {
        (heading(site, &session, "reasoning"))
        (section("reasoning", "What agents thought", note, html! {
            @if entries.is_empty() && paging.from == 0 {
                (empty_state("No reasoning yet.", "Agents leave it in their debriefs; or record it by hand:", &format!("handover reasoning add --role developer --phase decisions \"…\" --session {id}")))
            }
            ol class="timeline" {
                @for entry in &entries {
                    @let today = short_date(entry.created_at);
                    @if today != last_day { li class="day" { (today) } ({ last_day = today; "" }) }
                    li {
                        p class="meta" {
                            (clock(entry.created_at))
                            " " strong { (role_name(entry.role.as_str())) }
                            " " (badge(tone(entry.phase), entry.phase.as_str()))
                            @if let Some(group) = &entry.group { span class="muted" { " group " (group) } }
                            @if let Some(confidence) = entry.confidence { span class="muted" { " " (confidence) " confidence" } }
                        }
                        p class="words" {
                            @if entry.content.chars().count() > CHARACTERS { (excerpt(&entry.content, CHARACTERS)) }
                            @else { (untrusted(&entry.content)) }
                        }
                        @if !entry.references.is_empty() {
                            p class="muted" {
                                "about "
                                @for (nth, reference) in entry.references.iter().take(8).enumerate() {
                                    @if nth > 0 { ", " } code { (excerpt(reference, 100)) }
                                }
                            }
                        }
                    }
                }
            }
            (paging.links("reasoning"))
        }))
    };
    Ok(Page {
        title: format!("Reasoning of {id}"),
        breadcrumbs: vec![
            ("/sessions".to_owned(), "Sessions".to_owned()),
            (format!("/sessions/{id}"), id.to_string()),
        ],
        body,
    })
}

fn tone(phase: Phase) -> Tone {
    match phase {
        Phase::Blockers => Tone::Bad,
        Phase::Risks | Phase::Pivot => Tone::Warn,
        Phase::Completion => Tone::Good,
        Phase::Understanding | Phase::Approach | Phase::Decisions => Tone::Calm,
    }
}
