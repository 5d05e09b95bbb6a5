//! All sessions.

use maud::{Markup, html};

use handover_model::{Session, SessionCounts};

use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Key, Order, Paging, Row, badge, count, empty_state, kept_views, ordered_table,
    relative_time, section, state_tone,
};

pub(crate) const PAGES: &[PageEntry] =
    &[PageEntry::in_nav("sessions", "/sessions", "Sessions", render)];

/// Sessions per page.
const LISTED: u32 = 200;

const COLUMNS: [Column; 7] = [
    Column::Text("Session"),
    Column::Text("State"),
    Column::Number("Packages"),
    Column::Number("Reasoning"),
    Column::Number("Receipts"),
    Column::Text("Started"),
    Column::Text("Ended"),
];

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let sessions = site.store.sessions(None)?;
    let mut paging = Paging::read(route, LISTED);
    let listed = counted(site, paging.of(&sessions));
    let order = Order::read(route, &COLUMNS);
    let note = html! { @if order.is_chosen() { "Sorted" } @else { "Newest first" } @if let Some(place) = paging.place(listed.len()) { ", " (place) " of " (count(sessions.len())) } "." };
    let body = html! {
        header class="page" { h1 { "Sessions" } p class="lead" { "A session is one piece of work: what agents wrote, thought and were given in it." } }
        (kept_views())
        (section("sessions", "All sessions", note, html! {
            @if sessions.is_empty() {
                (empty_state("No session yet.", "Open one, one for each piece of work:", "handover session new login-rework"))
            } @else {
                (ordered(site, listed, Some(&order)))
                (paging.links("sessions"))
            }
        }))
    };
    Ok(Page { title: "Sessions".to_owned(), breadcrumbs: Vec::new(), body })
}

fn counted(site: &Site<'_>, sessions: &[Session]) -> Vec<(Session, SessionCounts)> {
    let counts = |session: &Session| site.store.session_counts(&session.id).unwrap_or_default();
    sessions.iter().map(|session| (session.clone(), counts(session))).collect()
}

/// A table of sessions.
pub(crate) fn rows(site: &Site<'_>, sessions: &[Session]) -> Markup {
    ordered(site, counted(site, sessions), None)
}

fn ordered(
    site: &Site<'_>,
    mut sessions: Vec<(Session, SessionCounts)>,
    order: Option<&Order>,
) -> Markup {
    if let Some(order) = order {
        order.apply(&mut sessions, |(session, counts), column| match column {
            0 => Key::text(session.id.as_str()),
            1 => Key::text(session.status.as_str()),
            2 => Key::Number(counts.packages as f64),
            3 => Key::Number(counts.reasoning as f64),
            4 => Key::Number(counts.receipts as f64),
            5 => Key::Number(session.created_at.as_micros() as f64),
            _ => Key::Number(session.ended_at.map_or(f64::MAX, |end| end.as_micros() as f64)),
        });
    }
    let row = |(session, counts): &(Session, SessionCounts)| {
        let ended =
            session.ended_at.map_or_else(|| html! { "–" }, |end| relative_time(site.now, end));
        Row::new(
            html! { a href={ "/sessions/" (session.id) } { (session.id) } },
            [
                badge(state_tone(session.status), session.status.as_str()),
                html! { (count(counts.packages)) },
                html! { (count(counts.reasoning)) },
                html! { (count(counts.receipts)) },
                relative_time(site.now, session.created_at),
                ended,
            ],
        )
    };
    ordered_table("", &COLUMNS, order, sessions.iter().map(row))
}
