//! The candidates of a receipt: included, left out, and why.

use std::collections::{BTreeMap, HashMap};

use handover_context::why::sentence;
use handover_engine::stats::use_of as use_of_receipt;
use handover_model::{ItemKind, NoteId, Receipt, ReceiptItem, Timestamp, Use};
use handover_store::{ErrorFilter, ReasoningFilter, Result, StrategyFilter};
use maud::{Markup, html};

use crate::site::Site;
use crate::view::{
    Column, Row, Share, Tone, badge, count, empty_state, excerpt, relative_time, role_name, shares,
    single_line, stale_names, table,
};

/// Titles and links of items, which a receipt references by id only.
pub(crate) struct Names {
    names: HashMap<(ItemKind, String), Name>,
    pub(super) now: Timestamp,
}

struct Name {
    title: String,
    author: Option<String>,
    link: Option<String>,
    /// What its versions have in common: session and path of a package.
    lineage: Option<String>,
}

impl Name {
    fn new(title: String, link: Option<String>) -> Self {
        Self { title, author: None, link, lineage: None }
    }
}

impl Names {
    pub(super) fn read(
        site: &Site<'_>,
        receipt: &Receipt,
        previous: Option<&Receipt>,
    ) -> Result<Self> {
        let mut names = HashMap::new();
        let ids: Vec<(ItemKind, &str)> = receipt
            .items
            .iter()
            .chain(previous.iter().flat_map(|previous| &previous.items))
            .map(|item| (item.kind, item.id.as_str()))
            .chain(receipt.left_out.iter().map(|item| (item.kind, item.id.as_str())))
            .chain(
                previous
                    .iter()
                    .flat_map(|previous| &previous.left_out)
                    .map(|item| (item.kind, item.id.as_str())),
            )
            .collect();
        let any = |kind: ItemKind| ids.iter().any(|(ids, _)| *ids == kind);
        for (_, id) in ids.iter().filter(|(kind, _)| *kind == ItemKind::Package) {
            let Some(package) = id.parse().ok().and_then(|id| site.store.package(id).ok()) else {
                continue;
            };
            let name = Name {
                lineage: Some(format!("{}\n{}", package.session, package.path)),
                title: package.title.unwrap_or(package.path),
                author: Some(package.producer.to_string()),
                link: Some(format!("/packages/{id}")),
            };
            names.insert((ItemKind::Package, (*id).to_owned()), name);
        }
        if any(ItemKind::Reasoning) {
            for entry in site.store.reasoning(&receipt.session, &ReasoningFilter::default())? {
                let name = Name {
                    title: format!("{}: {}", entry.phase, single_line(&entry.content)),
                    author: Some(entry.role.to_string()),
                    link: Some(format!("/sessions/{}/reasoning", receipt.session)),
                    lineage: None,
                };
                names.insert((ItemKind::Reasoning, entry.id.to_string()), name);
            }
        }
        if any(ItemKind::Error) {
            for error in site.store.errors(site.project, &ErrorFilter::default())? {
                let link = Some(format!("/errors/{}", error.hash));
                let title = match &error.solution {
                    Some(solution) => format!("{} → {solution}", error.signature.message),
                    None => error.signature.message.clone(),
                };
                names.insert((ItemKind::Error, error.hash), Name::new(title, link));
            }
        }
        if any(ItemKind::Strategy) {
            for strategy in site.store.strategies(site.project, &StrategyFilter::default())? {
                let link = Some(format!("/strategies/{}", strategy.id));
                let name = Name::new(strategy.insight, link);
                names.insert((ItemKind::Strategy, strategy.id), name);
            }
        }
        for (_, id) in ids.iter().filter(|(kind, _)| *kind == ItemKind::Note) {
            let Some(note) =
                NoteId::new(*id).ok().and_then(|id| site.store.note(site.project, &id).ok())
            else {
                continue;
            };
            let title = if note.title.is_empty() { note.text } else { note.title };
            let link = Some(format!("/notes/{id}"));
            names.insert((ItemKind::Note, (*id).to_owned()), Name::new(title, link));
        }
        Ok(Self { names, now: site.now })
    }

    /// Whether two ids are of the same item: each version of a package has an id of its own.
    pub(super) fn is_same(&self, one: (ItemKind, &str), other: (ItemKind, &str)) -> bool {
        one == other
            || one.0 == other.0
                && self.lineage(one).is_some_and(|of| Some(of) == self.lineage(other))
    }

    fn lineage(&self, (kind, id): (ItemKind, &str)) -> Option<&str> {
        self.names.get(&(kind, id.to_owned()))?.lineage.as_deref()
    }

    /// The title of an item as a link.
    pub(super) fn link(&self, kind: ItemKind, id: &str) -> Markup {
        match self.names.get(&(kind, id.to_owned())) {
            Some(name) => html! {
                @match &name.link {
                    Some(link) => a href=(link) { (excerpt(&name.title, 110)) },
                    None => (excerpt(&name.title, 110)),
                }
                @if let Some(author) = &name.author { span class="muted" { " by " (role_name(author)) } }
            },
            None => html! { (excerpt(id, 40)) },
        }
    }
}

/// All candidates with their scores.
pub(super) fn candidates(receipt: &Receipt, names: &Names) -> Markup {
    if receipt.items.is_empty() && receipt.left_out.is_empty() {
        return empty_state(
            "There were no candidates.",
            "Nothing that others wrote was for this role, or nobody had written anything yet.",
            "",
        );
    }
    let most = receipt
        .items
        .iter()
        .map(|item| score_terms(item).map(|(_, value)| value.max(0.0)).sum::<f64>().max(item.score))
        .chain(receipt.left_out.iter().map(|item| item.score))
        .fold(0.0, f64::max);
    let terms = by_weight(receipt);
    let hidden: u64 =
        receipt.left_out_counts.values().sum::<u64>().saturating_sub(receipt.left_out.len() as u64);
    html! {
        @if !terms.is_empty() {
            ul class="legend terms" aria-label="Terms of the score" {
                li class="head" { "Score" }
                @for (number, term) in terms.iter().enumerate() {
                    li { svg width="12" height="12" aria-hidden="true" { rect class={ "shade-" (number % 6) } width="12" height="12" rx="2" {} } (excerpt(&term.replace('_', " "), 40)) }
                }
            }
        }
        (rows(receipt, names, &terms, most))
        @if let Some(summary) = summary(receipt) { p class="note" { (summary) } }
        @if !receipt.left_out_counts.is_empty() {
            p class="note" {
                "Left out: "
                @for (nth, (reason, number)) in receipt.left_out_counts.iter().enumerate() {
                    @if nth > 0 { ", " } (count(*number)) " " (excerpt(reason, 80))
                }
                "." @if hidden > 0 { " The " (count(hidden)) " with the lowest scores are not listed." }
            }
        }
    }
}

fn rows(receipt: &Receipt, names: &Names, terms: &[&str], most: f64) -> Markup {
    use Column::{Graphic, Number, Text};
    let columns = [
        Text("Candidate"),
        Text("Why it is in or out"),
        Text("Trust"),
        Text("Freshness"),
        Number("Score"),
        Graphic("Terms of the score"),
        Number("Tokens"),
        Text("Use"),
    ];
    let none = || html! { "–" };
    let scores = receipt.items.iter().map(|item| item.score);
    let best = scores.chain(receipt.left_out.iter().map(|item| item.score)).fold(0.0, f64::max);
    let head = |kind: ItemKind, id: &str| {
        html! { span class="kind" { (kind) } " " (names.link(kind, id)) }
    };
    let included = receipt.items.iter().map(|item| {
        let scored = is_scored(item);
        Row::new(
            head(item.kind, &item.id),
            [
                html! {
                    (badge(Tone::Good, "in")) " "
                    span class="muted" { (form_label(item.form)) @if item.version > 1 { ", v" (item.version) } }
                },
                html! { (item.trust.as_str()) @for flag in &item.flags { " " (badge(Tone::Bad, flag.as_str())) } },
                freshness(item),
                if scored { html! { (share(item.score, best)) } } else { none() },
                if scored { term_bars(item, terms, most) } else { html! {} },
                if item.tokens == 0 { none() } else { html! { (count(item.tokens)) } },
                use_of(item, names.now),
            ],
        )
    });
    let left_out = receipt.left_out.iter().map(|item| {
        let why = html! {
            (badge(Tone::Calm, "out")) " " (item.reason.as_str()) ": " (lower_first(sentence(item.reason))) "."
            @if let Some(by) = &item.amended_by { " It was " (by) "." }
        };
        let score = html! { (share(item.score, best)) };
        let cells =
            [why, none(), none(), score, shares(&[], most), none(), none()];
        Row::new(head(item.kind, &item.id), cells).dimmed()
    });
    table("candidates", &columns, included.chain(left_out))
}

/// Whether the names in it are still what they were, and whether something replaced it.
fn freshness(item: &ReceiptItem) -> Markup {
    html! {
        @if let Some(by) = &item.outdated { (badge(Tone::Warn, "outdated")) " " span class="muted" { (by) } " " }
        @if !item.stale.is_empty() { (stale_names(&item.stale)) }
        @else if item.outdated.is_none() { "fresh" }
    }
}

/// A score as a share of the best one, from 0 to 100: scores of different briefs have different scales.
pub(super) fn share(score: f64, best: f64) -> String {
    if best <= 0.0 {
        return "–".to_owned();
    }
    format!("{:.0}", (score / best).clamp(0.0, 1.0) * 100.0)
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// What became of an item; that a hook saw it being opened is known before its agent has ended.
pub(super) fn use_of(item: &ReceiptItem, now: Timestamp) -> Markup {
    let tone = |used: Use| match used {
        Use::Unused => Tone::Calm,
        Use::Echoed | Use::Named | Use::Opened => Tone::Good,
    };
    html! {
        @match (item.used, item.read_at) {
            (None, None) => "–",
            (None, Some(_)) => (badge(Tone::Good, Use::Opened.as_str())),
            (Some(used), _) => (badge(tone(used), used.as_str())),
        }
        @if let Some(at) = item.read_at { " " span class="muted" { (relative_time(now, at)) } }
    }
}

/// How much of a brief was used, once its agent has ended.
fn summary(receipt: &Receipt) -> Option<Markup> {
    let used = use_of_receipt(receipt)?;
    Some(
        html! { "Of " (count(used.tokens)) " tokens of these items, " (count(used.used_tokens)) " were used." },
    )
}

pub(super) const fn form_label(form: handover_model::Form) -> &'static str {
    use handover_model::Form;
    match form {
        Form::Full => "whole",
        Form::Short => "shortened",
        Form::Focus => "passages",
        Form::Pointer => "path only",
    }
}

/// The terms of the scores, the most influential first.
fn by_weight(receipt: &Receipt) -> Vec<&str> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, value) in receipt.items.iter().flat_map(score_terms) {
        *sums.entry(name).or_default() += value.max(0.0);
    }
    let mut terms: Vec<(&str, f64)> = sums.into_iter().collect();
    terms.sort_by(|a, b| b.1.total_cmp(&a.1));
    terms.into_iter().map(|(name, _)| name).collect()
}

/// The contributions to the score of an item. How much of a reasoning was passed on is none, although it is beside them.
fn score_terms(item: &ReceiptItem) -> impl Iterator<Item = (&str, f64)> {
    let terms = item.terms.iter().map(|(name, value)| (name.as_str(), *value));
    terms.filter(|(name, _)| *name != ReceiptItem::CHARACTERS)
}

/// Whether it was chosen by a score: reasoning is passed on by its phase and its time.
pub(super) fn is_scored(item: &ReceiptItem) -> bool {
    item.score > 0.0 || score_terms(item).next().is_some()
}

/// The contributions as a bar and in words.
fn term_bars(item: &ReceiptItem, all: &[&str], most: f64) -> Markup {
    let list: Vec<Share> = all
        .iter()
        .map(|name| {
            let value = score_terms(item).find(|(own, _)| own == name).map_or(0.0, |(_, v)| v);
            Share { name: format!("{} {value:.2}", name.replace('_', " ")), value }
        })
        .collect();
    let words: Vec<String> = list
        .iter()
        .filter(|share| share.value >= 0.005)
        .map(|share| single_line(&share.name))
        .collect();
    html! { (shares(&list, most)) span class="terms muted" { (words.join(" + ")) } }
}
