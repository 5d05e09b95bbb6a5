//! A receipt: every item that an agent was given or not given, and why.

mod compare;
mod diff;
mod items;
pub(crate) mod outcome;
mod text;
mod why;

use handover_model::{Provision, Receipt, ReceiptId, ReceiptState};
use maud::{Markup, html};

use self::outcome::Ended;
use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Row, Tone, badge, count, empty_state, excerpt, meter, plural, relative_time, role_name,
    section, share, short_id, single_line, state_tone, table, untrusted, was,
};

pub(crate) const PAGES: &[PageEntry] = &[
    PageEntry::new("receipt", "/receipts/{receipt}", "/sessions", render),
    PageEntry::new("compare", "/receipts/{receipt}/compare", "/sessions", compare::render),
];

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let receipt = site.store.receipt(&route.id::<ReceiptId>("receipt")?)?;
    let previous = diff::previous(site, &receipt)?;
    let names = items::Names::read(site, &receipt, previous.as_ref())?;
    let ended = Ended::read(site, &receipt)?;
    let role = role_name(receipt.role.as_str());
    let body = html! {
        header class="page" {
            h1 { "What the " (role) " was given " (badge(state_tone(receipt.state), receipt.state.as_str())) }
            p class="lead" { (summary(&receipt)) }
            (progress(site, &receipt))
            (links(&receipt, &ended))
        }
        div class="ends" {
            (outcome::task(site, &receipt))
            (outcome::outcome(site, &receipt, &ended))
        }
        (section("budget", "Where its budget went", html! { (count(receipt.tokens)) " tokens in total, counted for " (excerpt(&receipt.tokenizer, 40)) "." }, budget(&receipt)))
        (section("candidates", "Why it knew what it knew",
            html! { "What it got, in its order, then what was left out, best first. A score is a share of the best one." },
            items::candidates(&receipt, &names)))
        (why::ask(site, route, &receipt)?)
        div class="columns" {
            (section("redactions", "Redacted secrets", html! { "What was removed on the way to the agent." }, redactions(&receipt)))
            (section("change", "Changes", html! { "Since the previous brief of this role." }, diff::render(site, &receipt, previous.as_ref(), &names)))
        }
        (section("text", "The brief as the agent saw it", html! { "Without its task; beside it, where each part is from." }, text::render(site, &receipt, &names)))
    };
    let session = &receipt.session;
    Ok(Page {
        title: format!("What the {role} was given"),
        breadcrumbs: vec![
            ("/sessions".to_owned(), "Sessions".to_owned()),
            (format!("/sessions/{session}"), session.to_string()),
            (format!("/sessions/{session}/receipts"), "Receipts".to_owned()),
        ],
        body,
    })
}

/// Where to go from here.
fn links(receipt: &Receipt, ended: &Ended) -> Markup {
    html! {
        p class="links" {
            @if let Some(step) = &ended.step { (step.link()) }
            a href={ "/receipts/" (receipt.id) "/compare" } { "Compare with another" }
            " " code class="muted" { (short_id(receipt.id.as_str())) }
        }
        (share(&format!("/receipts/{}", receipt.id)))
    }
}

/// A one-sentence summary.
fn summary(receipt: &Receipt) -> Markup {
    use handover_model::ItemKind;
    let of = |kind: ItemKind| receipt.items.iter().filter(|item| item.kind == kind).count();
    let parts = [
        (of(ItemKind::Package), "package", "packages"),
        (of(ItemKind::Note), "note", "notes"),
        (of(ItemKind::Reasoning), "piece of reasoning", "pieces of reasoning"),
        (of(ItemKind::Error), "known error", "known errors"),
        (of(ItemKind::Strategy), "strategy", "strategies"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, many)| plural(number, one, many))
        .collect();
    let parts = if parts.is_empty() { "nothing from others".to_owned() } else { parts.join(", ") };
    let left_out: u64 = receipt.left_out_counts.values().sum();
    html! {
        (parts) ", " (count(receipt.tokens)) " tokens"
        @if receipt.iteration > 0 { ", in iteration " (receipt.iteration) }
        @if let Some(group) = &receipt.group { " in group " (group) }
        @if let Some(model) = &receipt.model { ", model " (excerpt(model, 60)) }
        ". " @if left_out > 0 { (count(left_out)) " more " (was(left_out)) " left out." }
    }
}

/// The states that it has passed.
fn progress(site: &Site<'_>, receipt: &Receipt) -> Markup {
    let failed = receipt.state == ReceiptState::Failed;
    let steps = [
        ("Assembled", Some(receipt.created_at), "the text was rendered".to_owned()),
        (
            "Delivered",
            receipt.delivered_at,
            match &receipt.host {
                Some(host) => format!("handed to {}", single_line(host)),
                None => "handed over".to_owned(),
            },
        ),
        ("Confirmed", receipt.confirmed_at, "the agent has it".to_owned()),
    ];
    html! {
        ol class="steps" {
            @for (name, at, meaning) in steps {
                li class=(if at.is_some() { "done" } else { "open" }) {
                    strong { (name) } " "
                    span class="muted" { @match at { Some(at) => { (relative_time(site.now, at)) ", " (meaning) }, None => "not yet" } }
                }
            }
            @if failed {
                li class="failed" { strong { "Failed" } " " span { (untrusted(receipt.failure.as_deref().unwrap_or("it was never delivered"))) } }
            }
        }
        @for (name, provision) in [("Context", &receipt.provided.context), ("Specialization", &receipt.provided.specialization)] {
            @match provision {
                Provision::Degraded { reason } => p class="notice warn" { (name) " is incomplete: " (untrusted(reason)) },
                Provision::Disabled { by } => p class="notice" { (name) " is disabled by " code { (excerpt(by, 80)) } "." },
                Provision::Present | Provision::Missing => {},
            }
        }
    }
}

fn budget(receipt: &Receipt) -> Markup {
    if receipt.sections.is_empty() {
        return empty_state("No sections.", "The text was rendered without a budget.", "");
    }
    html! {
        table class="bars" {
            thead class="unseen" { tr { th scope="col" { "Section" } th scope="col" { "Share" } th scope="col" { "Used" } th scope="col" { "Allowed" } } }
            tbody {
                @for part in &receipt.sections {
                    // The role is written as it is; its budget is what it takes.
                    @let tight = part.name != "role" && part.budget > 0 && part.used * 10 >= part.budget * 9;
                    tr {
                        th scope="row" { (excerpt(&part.name.replace('_', " "), 40)) }
                        td class="wide" { (meter(part.used as f64, part.budget as f64, if tight { Tone::Warn } else { Tone::Good })) }
                        td class="number" { (count(part.used)) }
                        td class="number muted" { @if part.name == "role" { "no limit" } @else { "of " (count(part.budget)) } }
                    }
                }
            }
        }
        p class="note" {
            "The window was in the zone " strong { (receipt.zone.as_str().replace('_', " ")) } "."
            @for part in &receipt.trimmed { " Trimmed: " (excerpt(part, 160)) "." }
        }
    }
}

fn redactions(receipt: &Receipt) -> Markup {
    let shown = receipt.text.as_deref().map_or(0, |text| text.matches("[REDACTED-").count() as u64);
    let now: u64 = receipt.redactions.values().sum();
    let before = shown.saturating_sub(now);
    let row = |(rule, times): (&String, &u64)| {
        Row::new(html! { code { (excerpt(rule, 80)) } }, [html! { (count(*times)) }])
    };
    html! {
        @if now == 0 && before == 0 { p class="muted" { "There was none to remove." } }
        @if now > 0 {
            (table("small", &[Column::Text("Rule"), Column::Number("Times")], receipt.redactions.iter().map(row)))
        }
        @if before > 0 {
            p class="note" {
                (count(before)) @if before == 1 { " secret " } @else { " secrets " } (was(before)) " removed when "
                @if before == 1 { "its text was stored; the brief shows a placeholder." } @else { "their texts were stored; the brief shows placeholders." }
            }
        }
    }
}
