//! All sessions.

use maud::{Markup, html};

use handover_model::Session;

use crate::Site;
use crate::layout::{Page, Part};
use crate::route::Shown;
use crate::show::{Column, Row, badge, count, empty, section, state_tone, table, when};

/// How many are listed.
const LISTED: usize = 200;

pub(crate) fn page(site: &Site<'_>) -> Shown {
    let sessions = site.store.sessions(None)?;
    let listed = sessions.len().min(LISTED);
    let note = html! { "Newest first." @if sessions.len() > LISTED { " The latest " (LISTED) " of " (count(sessions.len())) "." } };
    let body = html! {
        header class="page" { h1 { "Sessions" } p class="lead" { "A session is one piece of work: what agents wrote, thought and were given in it." } }
        (section("sessions", "All sessions", note, html! {
            @if sessions.is_empty() {
                (empty("No session yet.", "Open one, one for each piece of work:", "handover session new login-rework"))
            } @else {
                (rows(site, &sessions[..listed]))
            }
        }))
    };
    Ok(Page { title: "Sessions".to_owned(), part: Part::Sessions, above: Vec::new(), body })
}

/// Sessions as rows.
pub(crate) fn rows(site: &Site<'_>, sessions: &[Session]) -> Markup {
    use Column::{Number, Text};
    let columns = [
        Text("Session"),
        Text("State"),
        Number("Packages"),
        Number("Reasoning"),
        Number("Receipts"),
        Text("Begun"),
        Text("Ended"),
    ];
    let row = |session: &Session| {
        let counts = site.store.session_counts(&session.id).unwrap_or_default();
        let ended = session.ended_at.map_or_else(|| html! { "–" }, |end| when(site.now, end));
        Row::new(
            html! { a href={ "/sessions/" (session.id) } { (session.id) } },
            [
                badge(state_tone(session.status), session.status.as_str()),
                html! { (count(counts.packages)) },
                html! { (count(counts.reasoning)) },
                html! { (count(counts.receipts)) },
                when(site.now, session.created_at),
                ended,
            ],
        )
    };
    table("", &columns, sessions.iter().map(row))
}
