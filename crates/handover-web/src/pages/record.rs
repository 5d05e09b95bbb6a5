//! What the pages of packages and notes have in common: who got the record and used it, what replaced it, and what
//! was changed about it by hand.

use handover_model::{AmendmentDecision, Edit, ItemKind, ItemRef, Use};
use handover_store::{Given, OperationFilter};
use maud::{Markup, html};

use super::changes::described;
use crate::error::PageError;
use crate::site::Site;
use crate::view::{
    Column, Row, Tone, badge, empty_state, excerpt, fact, plural, relative_time, role_name,
    section, state_tone, table,
};

/// Agents that are listed.
pub(super) const RECIPIENTS: u32 = 100;
/// Changes that are looked through, and that are listed.
const READ: u32 = 500;
const LISTED: usize = 20;

/// The agents that were given a record, newest first.
pub(super) fn recipients(site: &Site<'_>, given: &[Given]) -> Markup {
    if given.is_empty() {
        return empty_state(
            "It has reached nobody yet.",
            "It is offered to the next agent whose task it answers:",
            "handover assemble --role developer --task \"…\" --explain",
        );
    }
    use Column::{Number, Text};
    let columns =
        [Text("Role"), Text("State"), Text("Read"), Text("Used"), Number("Version"), Text("Given")];
    let row = |one: &Given| {
        let delivery = &one.delivery;
        Row::new(
            html! {
                a href={ "/receipts/" (delivery.receipt) } { (role_name(delivery.role.as_str())) }
                @if delivery.iteration > 0 { span class="muted" { " iteration " (delivery.iteration) } }
            },
            [
                badge(state_tone(delivery.state), delivery.state.as_str()),
                delivery.read_at.map_or_else(|| html! { "–" }, |at| relative_time(site.now, at)),
                used(one.used),
                html! { (delivery.version) },
                relative_time(site.now, delivery.delivered_at),
            ],
        )
    };
    html! {
        (table("", &columns, given.iter().map(row)))
        @if given.len() >= RECIPIENTS as usize { p class="note" { "The latest " (RECIPIENTS) "." } }
    }
}

/// What became of it.
fn used(used: Option<Use>) -> Markup {
    match used {
        None => html! { span class="muted" { "not known yet" } },
        Some(Use::Unused) => badge(Tone::Calm, Use::Unused.as_str()),
        Some(used) => badge(Tone::Good, used.as_str()),
    }
}

/// What replaced the record, and what it replaced, as far as somebody decided about it.
pub(super) fn replacements(site: &Site<'_>, kind: ItemKind, id: &str) -> Result<Markup, PageError> {
    let own = ItemRef { kind, id: id.to_owned() };
    let all = site.store.amendments(site.project)?;
    Ok(html! {
        @for one in &all {
            @let word = match one.decision {
                AmendmentDecision::Confirmed => "confirmed",
                AmendmentDecision::Rejected => "rejected",
                AmendmentDecision::Open => "open",
            };
            @if one.earlier == own { (fact("Replaced by", html! { (link(&one.later)) " " (badge(Tone::Calm, word)) " " (relative_time(site.now, one.decided_at)) })) }
            @if one.later == own { (fact("Replaces", html! { (link(&one.earlier)) " " (badge(Tone::Calm, word)) " " (relative_time(site.now, one.decided_at)) })) }
        }
    })
}

fn link(item: &ItemRef) -> Markup {
    let path = match item.kind {
        ItemKind::Package => Some(format!("/packages/{}", item.id)),
        ItemKind::Note => Some(format!("/notes/{}", item.id)),
        ItemKind::Strategy => Some(format!("/strategies/{}", item.id)),
        ItemKind::Error => Some(format!("/errors/{}", item.id)),
        ItemKind::Reasoning | ItemKind::Verdict => None,
    };
    let name = format!("{} {}", item.kind, item.id);
    html! { @match path { Some(path) => a href=(path) { (excerpt(&name, 60)) }, None => (excerpt(&name, 60)) } }
}

/// What people and agents changed about the record by hand; nothing if nobody did.
pub(super) fn history(
    site: &Site<'_>,
    is_about: impl Fn(&Edit) -> bool,
) -> Result<Markup, PageError> {
    let filter = OperationFilter { since: None, limit: Some(READ) };
    let all = site.store.operations(site.project, &filter)?;
    let own: Vec<_> =
        all.iter().filter(|operation| operation.changes.iter().any(&is_about)).collect();
    if own.is_empty() {
        return Ok(html! {});
    }
    let note =
        html! { (plural(own.len(), "change", "changes")) ". " a href="/changes" { "All changes" } };
    Ok(section(
        "history",
        "Changed by hand",
        note,
        html! {
            ol class="list" {
                @for operation in own.iter().take(LISTED) {
                    li {
                        (described(operation))
                        span class="muted" {
                            " by " (operation.trust.as_str())
                            @if let Some(author) = &operation.author { ", " (excerpt(author, 80)) }
                            ", " (relative_time(site.now, operation.created_at))
                        }
                    }
                }
            }
        },
    ))
}
