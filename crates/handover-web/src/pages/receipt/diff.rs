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

/// Receipts that are read at once.
const TOGETHER: u32 = 50;

/// The previous receipt of the same session, group and role.
pub(super) fn previous(site: &Site<'_>, receipt: &Receipt) -> Result<Option<Receipt>> {
    let mut filter = ReceiptFilter {
        session: Some(receipt.session.clone()),
        group: receipt.group.clone(),
        role: Some(receipt.role.clone()),
        until: Some(receipt.created_at),
        limit: Some(TOGETHER),
        ..ReceiptFilter::default()
    };
    let is_older = |other: &&Receipt| {
        other.group == receipt.group
            && (other.created_at, &other.id) < (receipt.created_at, &receipt.id)
    };
    loop {
        let some = site.store.receipts(&filter)?;
        if let Some(previous) = some.iter().find(is_older) {
            return Ok(Some(site.store.receipt(&previous.id)?));
        }
        if some.len() < TOGETHER as usize {
            return Ok(None);
        }
        filter.skip += TOGETHER;
    }
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
    let change = Change::between(previous, receipt, names);
    html! {
        p {
            a href={ "/receipts/" (previous.id) } { "Previous brief" } ", " (relative_time(site.now, previous.created_at)) ": "
            (count(previous.tokens)) " → " (count(receipt.tokens)) " tokens"
            @if previous.zone != receipt.zone { ", zone " (previous.zone.as_str().replace('_', " ")) " → " (receipt.zone.as_str().replace('_', " ")) }
            "."
        }
        @if change.is_empty() { p class="muted" { "The same items." } }
        ul class="list change" {
            @for (before, item) in &change.renewed {
                li { span class="sign" { "~" } (names.link(item.kind, &item.id)) span class="muted" { ", v" (before.version) " → v" (item.version) } }
            }
            @for item in &change.added { li class="plus" { span class="sign" { "+" } (names.link(item.kind, &item.id)) } }
            @for item in &change.removed { li class="minus" { span class="sign" { "−" } span class="muted" { (item.kind) " " } (names.link(item.kind, &item.id)) } }
        }
        @if let (Some(before), Some(after)) = (&previous.text, &receipt.text) { (line_diff(site, before, after)) }
    }
}

/// What came, what went, and what is there in another version.
struct Change<'a> {
    added: Vec<&'a ReceiptItem>,
    removed: Vec<&'a ReceiptItem>,
    renewed: Vec<(&'a ReceiptItem, &'a ReceiptItem)>,
}

impl<'a> Change<'a> {
    fn between(before: &'a Receipt, after: &'a Receipt, names: &Names) -> Self {
        let find = |of: &'a Receipt, item: &ReceiptItem| {
            let is_it = |other: &&ReceiptItem| {
                names.is_same((other.kind, &other.id), (item.kind, &item.id))
            };
            of.items.iter().find(is_it)
        };
        let mut change = Self { added: Vec::new(), removed: Vec::new(), renewed: Vec::new() };
        for item in &after.items {
            match find(before, item) {
                None => change.added.push(item),
                Some(old) if old.version != item.version => change.renewed.push((old, item)),
                Some(_) => {}
            }
        }
        change.removed.extend(before.items.iter().filter(|item| find(after, item).is_none()));
        change
    }

    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.renewed.is_empty()
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
