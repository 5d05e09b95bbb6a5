//! The difference to the previous brief of the same role.

use handover_model::{Receipt, ReceiptItem};
use handover_store::{ReceiptFilter, Result};
use handover_text::quote::visible;
use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use super::items::Names;
use crate::site::Site;
use crate::view::{count, relative_time};

/// Lines of a diff that are shown, and bytes up to which texts are compared.
const LINES: usize = 400;
const COMPARED: usize = 200_000;

/// The previous receipt of the same session, group and role.
pub(super) fn previous(site: &Site<'_>, receipt: &Receipt) -> Result<Option<Receipt>> {
    let filter = ReceiptFilter {
        session: Some(receipt.session.clone()),
        role: Some(receipt.role.clone()),
        ..ReceiptFilter::default()
    };
    let all = site.store.receipts(&filter)?;
    let older = all.iter().filter(|other| other.group == receipt.group);
    let previous = older.skip_while(|other| other.id != receipt.id).nth(1);
    previous.map(|previous| site.store.receipt(&previous.id)).transpose()
}

pub(super) fn render(
    site: &Site<'_>,
    receipt: &Receipt,
    previous: Option<&Receipt>,
    names: &Names,
) -> Markup {
    let Some(previous) = previous else {
        return html! { p class="muted" { "This is the first brief of this role." } };
    };
    let same = |a: &ReceiptItem, b: &ReceiptItem| {
        a.kind == b.kind && a.id == b.id && a.version == b.version
    };
    let without = |of: &Receipt, other: &Receipt| -> Vec<ReceiptItem> {
        let alone = |item: &&ReceiptItem| !other.items.iter().any(|one| same(item, one));
        of.items.iter().filter(alone).cloned().collect()
    };
    let (added, removed) = (without(receipt, previous), without(previous, receipt));
    html! {
        p {
            a href={ "/receipts/" (previous.id) } { "Previous brief" } ", " (relative_time(site.now, previous.created_at)) ": "
            (count(previous.tokens)) " → " (count(receipt.tokens)) " tokens"
            @if previous.zone != receipt.zone { ", zone " (previous.zone.as_str().replace('_', " ")) " → " (receipt.zone.as_str().replace('_', " ")) }
            "."
        }
        @if added.is_empty() && removed.is_empty() { p class="muted" { "The same items." } }
        ul class="list change" {
            @for item in &added { li class="plus" { span class="sign" { "+" } (names.link(item.kind, &item.id)) } }
            @for item in &removed { li class="minus" { span class="sign" { "−" } span class="muted" { (item.kind) " " } (names.link(item.kind, &item.id)) } }
        }
        @if let (Some(before), Some(after)) = (&previous.text, &receipt.text) { (line_diff(site, before, after)) }
    }
}

pub(super) fn line_diff(site: &Site<'_>, before: &str, after: &str) -> Markup {
    if before.len() + after.len() > COMPARED {
        return html! { p class="note" { "The texts are too long to be compared line by line." } };
    }
    let clean = |text: &str| visible(site.redactor.clean(text).as_str());
    let (before, after) = (clean(before), clean(after));
    let diff = TextDiff::from_lines(&before, &after);
    let changes: Vec<_> = diff
        .grouped_ops(2)
        .into_iter()
        .flatten()
        .flat_map(|op| diff.iter_changes(&op).collect::<Vec<_>>())
        .collect();
    if changes.is_empty() {
        return html! {};
    }
    html! {
        details {
            summary { "Line by line" }
            pre class="diff" tabindex="0" {
                @for change in changes.iter().take(LINES) {
                    @let text = change.value().trim_end_matches('\n');
                    @match change.tag() {
                        ChangeTag::Insert => ins { "+ " (text) "\n" },
                        ChangeTag::Delete => del { "- " (text) "\n" },
                        ChangeTag::Equal => span { "  " (text) "\n" },
                    }
                }
                @if changes.len() > LINES { "… and " (count(changes.len() - LINES)) " more lines\n" }
            }
        }
    }
}
