//! The receipts of a session: who was given something, and how far it came.

use handover_model::{Receipt, Role, SessionId};
use handover_store::ReceiptFilter;
use maud::{Markup, html};

use super::session::heading;
use crate::layout::{Page, Part};
use crate::route::Shown;
use crate::show::{
    Column, Row, Tone, badge, count, empty, meter, role_name, section, short, state_tone, table,
    when,
};
use crate::{PageRequest, Site};

/// How many are listed.
const LISTED: u32 = 200;

pub(crate) fn page(site: &Site<'_>, request: &PageRequest, id: &SessionId) -> Shown {
    let role = request.field("role").and_then(|role| Role::new(role).ok());
    let session = site.store.session(id)?;
    let filter = ReceiptFilter {
        session: Some(id.clone()),
        role: role.clone(),
        limit: Some(LISTED),
        ..ReceiptFilter::default()
    };
    let receipts = site.store.receipts(&filter)?;
    let note = html! {
        "Newest first"
        @if receipts.len() >= LISTED as usize { ", the latest " (LISTED) }
        "."
        @if let Some(role) = &role {
            " Only for " (role_name(role.as_str())) ". " a href={ "/sessions/" (id) "/receipts" } { "Show all" }
        }
    };
    let body = html! {
        (heading(site, &session, "receipts"))
        (section("receipts", "What agents were given", note, html! {
            @if receipts.is_empty() {
                (empty("No receipts yet.", "Every brief leaves one:", &format!("handover assemble --role developer --task \"…\" --session {id} --deliver")))
            } @else { (rows(site, &receipts)) }
        }))
    };
    Ok(Page {
        title: format!("Receipts of {id}"),
        part: Part::Sessions,
        above: vec![
            ("/sessions".to_owned(), "Sessions".to_owned()),
            (format!("/sessions/{id}"), id.to_string()),
        ],
        body,
    })
}

/// Receipts as rows.
pub(crate) fn rows(site: &Site<'_>, receipts: &[Receipt]) -> Markup {
    use Column::{Drawn, Number, Text};
    let columns = [
        Text("For"),
        Text("State"),
        Number("Tokens"),
        Drawn("Tokens as a bar"),
        Text("Zone"),
        Number("Left out"),
        Number("Redacted"),
        Text("When"),
    ];
    let most = receipts.iter().map(|receipt| receipt.tokens).max().unwrap_or(0) as f64;
    let row = |receipt: &Receipt| {
        let left_out: u64 = receipt.left_out_counts.values().sum();
        let redacted: u64 = receipt.redactions.values().sum();
        let head = html! {
            a href={ "/receipts/" (receipt.id) } { (role_name(receipt.role.as_str())) }
            span class="muted" {
                @if let Some(group) = &receipt.group { " " (group) }
                @if receipt.iteration > 0 { " iteration " (receipt.iteration) }
            }
            @if let Some(failure) = &receipt.failure { p class="bad" { (short(failure, 120)) } }
        };
        Row::new(
            head,
            [
                badge(state_tone(receipt.state), receipt.state.as_str()),
                html! { (count(receipt.tokens)) },
                meter(receipt.tokens as f64, most, Tone::Calm),
                html! { (receipt.zone.as_str().replace('_', " ")) },
                html! { (count(left_out)) },
                html! { (count(redacted)) },
                when(site.now, receipt.created_at),
            ],
        )
    };
    table("", &columns, receipts.iter().map(row))
}
