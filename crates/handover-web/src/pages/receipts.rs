//! The receipts of a session: which agents were briefed, and the state of each receipt.

use handover_model::{Receipt, Role, SessionId};
use handover_store::ReceiptFilter;
use maud::{Markup, html};

use super::session::heading;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Key, Order, Paging, Row, Tone, badge, count, empty_state, excerpt, kept_views, meter,
    ordered_table, relative_time, role_name, section, state_tone,
};

pub(crate) const PAGES: &[PageEntry] =
    &[PageEntry::new("receipts", "/sessions/{session}/receipts", "/sessions", render)];

/// Receipts per page.
const LISTED: u32 = 200;

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let id: &SessionId = &route.id("session")?;
    let role = route.query("role").and_then(|role| Role::new(role).ok());
    let session = site.store.session(id)?;
    let mut paging = Paging::read(route, LISTED);
    let filter = ReceiptFilter {
        session: Some(id.clone()),
        role: role.clone(),
        skip: paging.from,
        limit: Some(paging.limit()),
        ..ReceiptFilter::default()
    };
    let order = Order::read(route, &COLUMNS);
    let mut receipts = site.store.receipts(&filter)?;
    paging.keep(&mut receipts);
    order.apply(&mut receipts, key);
    let note = html! {
        @if order.is_chosen() { "Sorted" } @else { "Newest first" }
        @if let Some(place) = paging.place(receipts.len()) { ", " (place) }
        "."
        @if let Some(role) = &role {
            " Only for " (role_name(role.as_str())) ". " a href={ "/sessions/" (id) "/receipts" } { "Show all" }
        }
    };
    let body = html! {
        (heading(site, &session, "receipts"))
        (kept_views())
        (section("receipts", "What agents were given", note, html! {
            @if receipts.is_empty() && paging.from == 0 {
                (empty_state("No receipts yet.", "Every brief leaves one:", &format!("handover assemble --role developer --task \"…\" --session {id} --deliver")))
            } @else {
                (ordered(site, &receipts, Some(&order)))
                (paging.links("receipts"))
            }
        }))
    };
    Ok(Page {
        title: format!("Receipts of {id}"),
        breadcrumbs: vec![
            ("/sessions".to_owned(), "Sessions".to_owned()),
            (format!("/sessions/{id}"), id.to_string()),
        ],
        body,
    })
}

const COLUMNS: [Column; 8] = [
    Column::Text("For"),
    Column::Text("State"),
    Column::Number("Tokens"),
    Column::Graphic("Tokens as a bar"),
    Column::Text("Zone"),
    Column::Number("Left out"),
    Column::Number("Redacted"),
    Column::Text("When"),
];

fn key(receipt: &Receipt, column: usize) -> Key {
    match column {
        0 => Key::text(receipt.role.as_str()),
        1 => Key::text(receipt.state.as_str()),
        2 => Key::Number(receipt.tokens as f64),
        4 => Key::text(receipt.zone.as_str()),
        5 => Key::Number(receipt.left_out_counts.values().sum::<u64>() as f64),
        6 => Key::Number(receipt.redactions.values().sum::<u64>() as f64),
        _ => Key::Number(receipt.created_at.as_micros() as f64),
    }
}

/// A table of receipts.
pub(crate) fn rows(site: &Site<'_>, receipts: &[Receipt]) -> Markup {
    ordered(site, receipts, None)
}

fn ordered(site: &Site<'_>, receipts: &[Receipt], order: Option<&Order>) -> Markup {
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
            @if let Some(task) = &receipt.task { p class="muted" { (excerpt(task, 110)) } }
            @if let Some(failure) = &receipt.failure { p class="bad" { (excerpt(failure, 120)) } }
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
                relative_time(site.now, receipt.created_at),
            ],
        )
    };
    ordered_table("", &COLUMNS, order, receipts.iter().map(row))
}
