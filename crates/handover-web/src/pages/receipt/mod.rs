//! A receipt: every item that an agent was given or not given, and why.

mod diff;
mod items;

use handover_model::{Provision, Receipt, ReceiptId, ReceiptState};
use handover_text::quote::visible;
use maud::{Markup, html};

use crate::page::{Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Row, Tone, badge, count, empty_state, exact_time, excerpt, meter, plural,
    relative_time, role_name, section, single_line, state_tone, table, untrusted,
};

pub(crate) const PAGES: &[PageEntry] =
    &[PageEntry::new("receipt", "/receipts/{receipt}", "/sessions", render)];

/// Bytes of the text that are shown.
const SHOWN: usize = 100_000;

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let receipt = site.store.receipt(&route.id::<ReceiptId>("receipt")?)?;
    let previous = diff::previous(site, &receipt)?;
    let names = items::Names::read(site, &receipt, previous.as_ref())?;
    let role = role_name(receipt.role.as_str());
    let body = html! {
        header class="page" {
            h1 { "What the " (role) " was given " (badge(state_tone(receipt.state), receipt.state.as_str())) }
            p class="lead" { (summary(&receipt)) }
            (progress(site, &receipt))
        }
        (section("budget", "Where its budget went", html! { (count(receipt.tokens)) " tokens in total, counted for " (excerpt(&receipt.tokenizer, 40)) "." }, budget(&receipt)))
        (section("candidates", "Why it knew what it knew",
            html! { "Everything that was a candidate, best first: what its score is made of, and why it is in or out." },
            items::candidates(&receipt, &names)))
        div class="columns" {
            (section("redactions", "Redacted secrets", html! { "By rule." }, redactions(&receipt)))
            (section("change", "Changes", html! { "Since the previous brief of this role." }, diff::render(site, &receipt, previous.as_ref(), &names)))
        }
        (section("text", "Text as the agent saw it", html! { "Without its task." }, text(site, &receipt)))
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
        ". " @if left_out > 0 { (count(left_out)) " more were left out." }
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
                    span class="muted" { @match at { Some(at) => (relative_time(site.now, at)), None => "not yet" } ", " (meaning) }
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
            thead class="unseen" { tr { th { "Section" } th { "Share" } th { "Used" } th { "Allowed" } } }
            tbody {
                @for part in &receipt.sections {
                    @let tight = part.budget > 0 && part.used * 10 >= part.budget * 9;
                    tr {
                        th scope="row" { (excerpt(&part.name.replace('_', " "), 40)) }
                        td class="wide" { (meter(part.used as f64, part.budget as f64, if tight { Tone::Warn } else { Tone::Good })) }
                        td class="number" { (count(part.used)) }
                        td class="number muted" { "of " (count(part.budget)) }
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
    if receipt.redactions.is_empty() {
        return html! { p class="muted" { "None were found." } };
    }
    let row = |(rule, times): (&String, &u64)| {
        Row::new(html! { code { (excerpt(rule, 80)) } }, [html! { (count(*times)) }])
    };
    table(
        "small",
        &[Column::Text("Rule"), Column::Number("Times")],
        receipt.redactions.iter().map(row),
    )
}

fn text(site: &Site<'_>, receipt: &Receipt) -> Markup {
    let Some(text) = &receipt.text else {
        return empty_state("The text was not kept.", "Only its hash was:", &receipt.prompt_hash);
    };
    let clean = site.redactor.clean(text);
    let shown = clean.as_str().get(..clean.as_str().floor_char_boundary(SHOWN)).unwrap_or_default();
    html! {
        pre class="paper" tabindex="0" dir="auto" { (visible(shown)) }
        p class="note" {
            "BLAKE3 of the whole prompt: " code { (receipt.prompt_hash) } ". "
            code { "handover receipt verify " (receipt.id) " FILE" } " checks that a text is this one. Created "
            (exact_time(receipt.created_at)) "."
        }
    }
}
