//! All sessions.

use maud::{Markup, html};

use handover_model::Session;

use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Row, badge, count, empty_state, relative_time, section, state_tone, table,
};

pub(crate) const PAGES: &[PageEntry] =
    &[PageEntry::in_nav("sessions", "/sessions", "Sessions", render)];

/// Sessions on the page.
const LISTED: usize = 200;

fn render(site: &Site<'_>, _: &Route<'_>) -> PageResult {
    let sessions = site.store.sessions(None)?;
    let listed = sessions.len().min(LISTED);
    let note = html! { "Newest first." @if sessions.len() > LISTED { " The latest " (LISTED) " of " (count(sessions.len())) "." } };
    let body = html! {
        header class="page" { h1 { "Sessions" } p class="lead" { "A session is one piece of work: what agents wrote, thought and were given in it." } }
        (section("sessions", "All sessions", note, html! {
            @if sessions.is_empty() {
                (empty_state("No session yet.", "Open one, one for each piece of work:", "handover session new login-rework"))
            } @else {
                (rows(site, &sessions[..listed]))
            }
        }))
    };
    Ok(Page { title: "Sessions".to_owned(), breadcrumbs: Vec::new(), body })
}

/// A table of sessions.
pub(crate) fn rows(site: &Site<'_>, sessions: &[Session]) -> Markup {
    use Column::{Number, Text};
    let columns = [
        Text("Session"),
        Text("State"),
        Number("Packages"),
        Number("Reasoning"),
        Number("Receipts"),
        Text("Started"),
        Text("Ended"),
    ];
    let row = |session: &Session| {
        let counts = site.store.session_counts(&session.id).unwrap_or_default();
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
    table("", &columns, sessions.iter().map(row))
}
