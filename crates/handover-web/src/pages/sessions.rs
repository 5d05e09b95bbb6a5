//! All sessions.

use maud::{Markup, html};

use handover_model::Session;

use crate::Site;
use crate::layout::{Page, Part};
use crate::route::Shown;
use crate::show::{badge, count, empty, section, state_tone, when};

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
                (table(site, &sessions[..listed]))
            }
        }))
    };
    Ok(Page { title: "Sessions".to_owned(), part: Part::Sessions, above: Vec::new(), body })
}

/// Sessions as rows.
pub(crate) fn table(site: &Site<'_>, sessions: &[Session]) -> Markup {
    html! {
        table class="rows" {
            thead {
                tr {
                    th { "Session" } th { "State" } th class="number" { "Packages" } th class="number" { "Reasoning" }
                    th class="number" { "Receipts" } th { "Begun" } th { "Ended" }
                }
            }
            tbody {
                @for session in sessions {
                    @let counts = site.store.session_counts(&session.id).unwrap_or_default();
                    tr {
                        th scope="row" { a href={ "/sessions/" (session.id) } { (session.id) } }
                        td { (badge(state_tone(session.status), session.status.as_str())) }
                        td class="number" { (count(counts.packages)) }
                        td class="number" { (count(counts.reasoning)) }
                        td class="number" { (count(counts.receipts)) }
                        td { (when(site.now, session.created_at)) }
                        td { @match session.ended_at { Some(end) => (when(site.now, end)), None => "–" } }
                    }
                }
            }
        }
    }
}
