//! Two receipts side by side.

use handover_model::{Receipt, ReceiptId, ReceiptItem};
use handover_store::ReceiptFilter;
use maud::{Markup, html};

use super::diff::line_diff;
use super::items::{Names, form_label, is_scored, share};
use super::outcome::Ended;
use crate::error::PageError;
use crate::page::{Page, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Row, Tone, badge, count, empty_state, excerpt, relative_time, role_name, section,
    short_id, single_line, state_tone, table, untrusted,
};

/// Receipts that are offered for comparison.
const OFFERED: u32 = 60;

pub(super) fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let left = site.store.receipt(&route.id::<ReceiptId>("receipt")?)?;
    let right = match route.query("with").filter(|with| !with.trim().is_empty()) {
        Some(with) => Some(named(site, with.trim())?),
        None => None,
    };
    let role = role_name(left.role.as_str());
    let body = html! {
        header class="page" {
            h1 { "Two briefs, side by side" }
            p class="lead" { "What the " (role) " was given " (relative_time(site.now, left.created_at)) ", beside another brief." }
        }
        (choose(site, &left, right.as_ref())?)
        @match &right {
            None => (empty_state("Choose a second receipt.", "Or open one from a list and compare it from there.", "")),
            Some(right) => (both(site, &left, right)?),
        }
    };
    Ok(Page {
        title: "Two briefs, side by side".to_owned(),
        breadcrumbs: vec![
            (format!("/sessions/{}", left.session), left.session.to_string()),
            (format!("/receipts/{}", left.id), format!("Receipt {}", short_id(left.id.as_str()))),
        ],
        body,
    })
}

/// A receipt by its id or the end of it, among the latest.
fn named(site: &Site<'_>, name: &str) -> Result<Receipt, PageError> {
    if let Ok(id) = ReceiptId::new(name)
        && let Ok(receipt) = site.store.receipt(&id)
    {
        return Ok(receipt);
    }
    let filter = ReceiptFilter { limit: Some(2_000), ..ReceiptFilter::default() };
    let all = site.store.receipts(&filter)?;
    let mut ending =
        all.iter().filter(|receipt| name.len() >= 4 && receipt.id.as_str().ends_with(name));
    match (ending.next(), ending.next()) {
        (Some(only), None) => Ok(site.store.receipt(&only.id)?),
        _ => Err(PageError::not_found("receipt", name)),
    }
}

/// The form that chooses the other one: the latest of the session.
fn choose(site: &Site<'_>, left: &Receipt, right: Option<&Receipt>) -> Result<Markup, PageError> {
    let filter = ReceiptFilter {
        session: Some(left.session.clone()),
        limit: Some(OFFERED),
        ..ReceiptFilter::default()
    };
    let mut offered = site.store.receipts(&filter)?;
    offered.retain(|other| other.id != left.id);
    // Like `handover receipt diff`: the previous brief of the role.
    let is_previous = |other: &&Receipt| {
        (&other.role, &other.group) == (&left.role, &left.group)
            && other.created_at <= left.created_at
    };
    let chosen = right.or_else(|| offered.iter().find(is_previous)).map(|one| one.id.clone());
    Ok(html! {
        form class="inline" method="get" action={ "/receipts/" (left.id) "/compare" } {
            label for="with" { "Compare with" }
            select id="with" name="with" {
                @if let Some(right) = right.filter(|right| !offered.iter().any(|one| one.id == right.id)) {
                    option value=(right.id) selected { (role_name(right.role.as_str())) " " (short_id(right.id.as_str())) }
                }
                @for other in &offered {
                    option value=(other.id) selected[chosen.as_ref() == Some(&other.id)] {
                        (role_name(other.role.as_str())) " " (short_id(other.id.as_str()))
                        @if let Some(task) = &other.task { ": " (single_line(task).chars().take(60).collect::<String>()) }
                    }
                }
            }
            button { "Compare" }
        }
    })
}

fn both(site: &Site<'_>, left: &Receipt, right: &Receipt) -> Result<Markup, PageError> {
    let (one, two) = (Ended::read(site, left)?, Ended::read(site, right)?);
    let names = Names::read(site, left, Some(right))?;
    let head = |receipt: &Receipt| {
        html! { a href={ "/receipts/" (receipt.id) } { (role_name(receipt.role.as_str())) " " code { (short_id(receipt.id.as_str())) } } " " (badge(state_tone(receipt.state), receipt.state.as_str())) }
    };
    let task = |receipt: &Receipt| match &receipt.task {
        Some(task) => excerpt(task, 600),
        None => html! { span class="muted" { "not kept" } },
    };
    let outcome = |receipt: &Receipt, ended: &Ended| {
        html! { (ended.word()) @if let Some(step) = &ended.step { " " (step.link()) } @else if let Some(failure) = &receipt.failure { " " (untrusted(failure)) } }
    };
    let line = |name: &str, a: Markup, b: Markup| Row::new(html! { (name) }, [a, b]);
    let rows = [
        line("Receipt", head(left), head(right)),
        line("Task", task(left), task(right)),
        line(
            "When",
            relative_time(site.now, left.created_at),
            relative_time(site.now, right.created_at),
        ),
        line("Tokens", html! { (count(left.tokens)) }, html! { (count(right.tokens)) }),
        line(
            "Window",
            html! { (left.zone.as_str().replace('_', " ")) },
            html! { (right.zone.as_str().replace('_', " ")) },
        ),
        line(
            "Left out",
            html! { (count(left.left_out_counts.values().sum::<u64>())) },
            html! { (count(right.left_out_counts.values().sum::<u64>())) },
        ),
        line("Outcome", outcome(left, &one), outcome(right, &two)),
    ];
    let columns = [Column::Text("What"), Column::Text("This one"), Column::Text("The other")];
    Ok(html! {
        (section("facts", "At a glance", "", table("compare", &columns, rows)))
        (section("items", "What each got", html! { "By title; a score is a share of the best of its own brief." }, items(left, right, &names)))
        (section("text", "Text", html! { "From the other to this one." }, html! {
            @match (&right.text, &left.text) {
                (Some(before), Some(after)) if before != after => (line_diff(site, before, after)),
                (Some(_), Some(_)) => p class="muted" { "The same text." },
                _ => p class="muted" { "One of the texts was not kept." },
            }
        }))
    })
}

/// Every item of either, in whichever version, and its form in each.
fn items(left: &Receipt, right: &Receipt, names: &Names) -> Markup {
    let same = |a: &ReceiptItem, b: &ReceiptItem| names.is_same((a.kind, &a.id), (b.kind, &b.id));
    let only_right =
        right.items.iter().filter(|item| !left.items.iter().any(|other| same(item, other)));
    let all: Vec<&ReceiptItem> = left.items.iter().chain(only_right).collect();
    if all.is_empty() {
        return html! { p class="muted" { "Neither got anything from others." } };
    }
    let cell = |receipt: &Receipt, item: &ReceiptItem| {
        let best = receipt.items.iter().map(|item| item.score).fold(0.0, f64::max);
        let left_out = receipt
            .left_out
            .iter()
            .find(|out| names.is_same((out.kind, &out.id), (item.kind, &item.id)));
        match (receipt.items.iter().find(|other| same(item, other)), left_out) {
            (Some(found), _) => html! {
                (badge(Tone::Good, "in")) " "
                span class="muted" {
                    (form_label(found.form))
                    @if found.version > 1 || found.id != item.id { ", v" (found.version) }
                    @if is_scored(found) { ", score " (share(found.score, best)) }
                }
                @if let Some(used) = found.used { " " (badge(Tone::Calm, used.as_str())) }
            },
            (None, Some(out)) => {
                html! { (badge(Tone::Calm, "out")) " " span class="muted" { (out.reason.as_str()) } }
            }
            (None, None) => html! { span class="muted" { "not a candidate" } },
        }
    };
    let columns = [Column::Text("Item"), Column::Text("This one"), Column::Text("The other")];
    let rows = all.into_iter().map(|item| {
        let head =
            html! { span class="kind" { (item.kind) } " " (names.link(item.kind, &item.id)) };
        Row::new(head, [cell(left, item), cell(right, item)])
    });
    table("compare", &columns, rows)
}
