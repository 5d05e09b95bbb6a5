//! The text of a brief, and beside it what it is made of.

use handover_model::{Receipt, ReceiptItem};
use handover_text::quote::visible;
use maud::{Markup, html};

use super::items::{Names, form_label, is_scored, share, use_of};
use crate::site::Site;
use crate::view::{Tone, badge, count, empty_state, moment, stale_names};

/// Bytes of the text that are shown.
const SHOWN: usize = 100_000;

pub(super) fn render(site: &Site<'_>, receipt: &Receipt, names: &Names) -> Markup {
    let Some(text) = &receipt.text else {
        return empty_state("The text was not kept.", "Only its hash was:", &receipt.prompt_hash);
    };
    let clean = site.redactor.clean(text);
    let end = clean.as_str().floor_char_boundary(SHOWN);
    let shown = clean.as_str().get(..end).unwrap_or_default();
    let best = receipt.items.iter().map(|item| item.score).fold(0.0, f64::max);
    html! {
        div class="beside" {
            pre class="paper" tabindex="0" dir="auto" { (visible(shown)) }
            @if !receipt.items.is_empty() {
                ol class="list sources" aria-label="What it is made of" {
                    @for item in &receipt.items { li { (source(item, names, best)) } }
                }
            }
        }
        @if end < clean.as_str().len() { p class="note" { "The first " (count(end)) " bytes of " (count(clean.as_str().len())) "." } }
        p class="note" {
            "BLAKE3 of the whole prompt: " code { (receipt.prompt_hash) } ". "
            code { "handover receipt verify " (receipt.id) " FILE" } " checks that a text is this one. Created "
            (moment(receipt.created_at)) "."
        }
    }
}

/// One part of the text: what it is, how far to believe it, whether it still holds, what became of it.
fn source(item: &ReceiptItem, names: &Names, best: f64) -> Markup {
    html! {
        p { span class="kind" { (item.kind) } " " (names.link(item.kind, &item.id)) }
        p class="muted" {
            (form_label(item.form)) @if item.tokens > 0 { ", " (count(item.tokens)) " tokens" }
            @if is_scored(item) { ", score " (share(item.score, best)) }
            ", from " (item.trust.as_str())
        }
        p {
            @if let Some(by) = &item.outdated { (badge(Tone::Warn, "outdated")) " " span class="muted" { (by) } " " }
            @if item.stale.is_empty() { span class="muted" { "fresh" } } @else { (stale_names(&item.stale)) }
            " " (use_of(item, names.now))
        }
    }
}
