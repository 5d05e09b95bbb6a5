//! What goes into a block of context, and how it shrinks when it is too long.

use std::collections::BTreeMap;

use handover_model::{ErrorPattern, Form, ItemKind, ReceiptItem, StaleName, Strategy, Tokenizer};

use super::alive::{self, Freshness};
use super::history::History;
use super::render::Common;
use super::{
    ItemId, PackedNote, PackedPackage, PackedReasoning, ShownPlace, ShownVerdict, admit, learned,
    render_notes, shorten,
};

/// The items of a block, each in the form in which it is shown.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) history: History,
    pub(super) packages: Vec<PackedPackage>,
    /// What is said once about all packages.
    pub(super) common: Common,
    /// Paths that this attempt got before, if there is nothing new.
    pub(super) delivered: Vec<String>,
    /// What the project already knows.
    pub(super) notes: Vec<PackedNote>,
    pub(super) reasoning: Vec<PackedReasoning>,
    /// Those that the task names come first.
    pub(super) errors: Vec<ErrorPattern>,
    /// How many of the errors the task names.
    pub(super) named_errors: usize,
    pub(super) strategies: Vec<Strategy>,
    /// The names in each strategy that are not what they were.
    pub(super) stale_in_strategies: Vec<Vec<StaleName>>,
    /// The files that the work will probably touch.
    pub(super) places: Vec<ShownPlace>,
}

/// One step of shrinking a block.
pub(super) enum Shrunk {
    /// An item became shorter.
    Shorter,
    /// An item was removed.
    Removed(ItemKind, ItemId),
}

impl Block {
    /// Whether it says nothing.
    pub(super) fn is_empty(&self) -> bool {
        let Self {
            history, packages, notes, delivered, reasoning, errors, strategies, places, ..
        } = self;
        places.is_empty()
            && history.sent_back.is_none()
            && history.steps.is_empty()
            && packages.is_empty()
            && notes.is_empty()
            && delivered.is_empty()
            && reasoning.is_empty()
            && errors.is_empty()
            && strategies.is_empty()
    }

    /// Tokens of the items, counted one by one.
    pub(super) fn tokens(&self, tokenizer: Tokenizer) -> u64 {
        self.history.tokens(tokenizer)
            + self.packages.iter().map(|package| package.tokens).sum::<u64>()
            + self.notes.iter().map(|note| note.tokens).sum::<u64>()
            + self.reasoning.iter().map(|entry| entry.tokens).sum::<u64>()
            + learned::tokens_of_errors(&self.errors, tokenizer)
            + learned::tokens_of_strategies(&self.strategies, tokenizer)
            + render_notes::tokens_of_places(&self.places, tokenizer)
    }

    /// Shrinks the block by what is missed least: places, strategies, errors that the task does not name, all
    /// reasoning but the newest completion, all notes but the best, then packages (shortened before removed, low priority first),
    /// and last what the task asks about. `None` if nothing can go.
    pub(super) fn shrink(&mut self, tokenizer: Tokenizer) -> Option<Shrunk> {
        if self.places.pop().is_some() {
            return Some(Shrunk::Shorter);
        }
        if let Some(strategy) = self.strategies.pop() {
            return Some(Shrunk::Removed(ItemKind::Strategy, ItemId::Text(strategy.id)));
        }
        if self.errors.len() > self.named_errors
            && let Some(error) = self.errors.pop()
        {
            return Some(Shrunk::Removed(ItemKind::Error, ItemId::Text(error.hash)));
        }
        if self.delivered.pop().is_some() {
            return Some(Shrunk::Shorter);
        }
        // The first entry is the completion of the newest attempt.
        if self.reasoning.len() > 1
            && let Some(entry) = self.reasoning.pop()
        {
            return Some(Shrunk::Removed(ItemKind::Reasoning, ItemId::Number(entry.id.0)));
        }
        if let Some(last) = self.notes.last_mut()
            && let Some(id) = last.pop(tokenizer)
        {
            return Some(Shrunk::Removed(ItemKind::Note, ItemId::Text(id.to_string())));
        }
        if self.notes.len() > 1
            && let Some(note) = self.notes.pop()
        {
            return Some(Shrunk::Removed(ItemKind::Note, ItemId::Text(note.id.to_string())));
        }
        let longest = self.packages.iter().rposition(|package| package.form != Form::Pointer);
        if let Some(at) = longest {
            shorten::shorten(&mut self.packages[at], &self.common, tokenizer);
            return Some(Shrunk::Shorter);
        }
        let least = (0..self.packages.len())
            .min_by_key(|at| (self.packages[*at].priority, std::cmp::Reverse(*at)));
        if let Some(at) = least {
            let id = ItemId::Number(self.packages.remove(at).id.0);
            return Some(Shrunk::Removed(ItemKind::Package, id));
        }
        if let Some(note) = self.notes.pop() {
            return Some(Shrunk::Removed(ItemKind::Note, ItemId::Text(note.id.to_string())));
        }
        if let Some(entry) = self.reasoning.pop() {
            return Some(Shrunk::Removed(ItemKind::Reasoning, ItemId::Number(entry.id.0)));
        }
        if let Some(error) = self.errors.pop() {
            return Some(Shrunk::Removed(ItemKind::Error, ItemId::Text(error.hash)));
        }
        // The reason why the work came back stays, whatever happens.
        self.history.drop_step().then_some(Shrunk::Shorter)
    }

    /// Notes which names in the items are not what they were.
    pub(super) fn check_names(&mut self, fresh: &dyn Freshness) {
        for package in &mut self.packages {
            package.stale = alive::stale(fresh, package.said());
        }
        for note in &mut self.notes {
            note.check(fresh);
        }
        for entry in &mut self.reasoning {
            entry.stale = alive::stale(fresh, [entry.content.as_str()]);
        }
        let stale = |strategy: &Strategy| alive::stale(fresh, [strategy.insight.as_str()]);
        self.stale_in_strategies = self.strategies.iter().map(stale).collect();
    }

    /// The items as a receipt keeps them.
    pub(super) fn receipt_items(&self) -> Vec<ReceiptItem> {
        let Self {
            history,
            packages,
            notes,
            reasoning,
            errors,
            strategies,
            stale_in_strategies,
            ..
        } = self;
        let plain = |kind, id: String, tokens, trust, flags| ReceiptItem {
            kind,
            id,
            version: 1,
            form: Form::Full,
            score: 0.0,
            terms: BTreeMap::new(),
            tokens,
            read_at: None,
            trust,
            flags,
            stale: Vec::new(),
            outdated: None,
            used: None,
        };
        let mut items: Vec<ReceiptItem> = packages
            .iter()
            .map(|p| ReceiptItem {
                version: p.version,
                form: p.form,
                score: p.score,
                terms: p.terms.by_name(),
                stale: p.stale.clone(),
                outdated: p.outdated.clone(),
                ..plain(ItemKind::Package, p.id.to_string(), p.tokens, p.trust, p.flags.clone())
            })
            .collect();
        items.extend(notes.iter().flat_map(|note| {
            note.statements().enumerate().map(|(at, said)| {
                // Of all statements together.
                let tokens = if at == 0 { note.tokens } else { 0 };
                ReceiptItem {
                    form: note.form,
                    score: note.score,
                    terms: note.terms.by_name(),
                    stale: said.stale.clone(),
                    outdated: said.outdated.clone(),
                    ..plain(
                        ItemKind::Note,
                        said.id.to_string(),
                        tokens,
                        said.trust,
                        said.flags.clone(),
                    )
                }
            })
        }));
        items.extend(history.shown().into_iter().map(|verdict| {
            let ShownVerdict { id, trust, flags, .. } = verdict;
            plain(ItemKind::Verdict, id.to_string(), 0, *trust, flags.clone())
        }));
        items.extend(reasoning.iter().map(|r| ReceiptItem {
            terms: [(ReceiptItem::CHARACTERS.to_owned(), r.content.chars().count() as f64)].into(),
            stale: r.stale.clone(),
            ..plain(ItemKind::Reasoning, r.id.to_string(), r.tokens, r.trust, r.flags.clone())
        }));
        items.extend(
            errors
                .iter()
                .map(|e| plain(ItemKind::Error, e.hash.clone(), 0, e.trust, admit::of_error(e))),
        );
        let stale = |at| stale_in_strategies.get(at).cloned().unwrap_or_default();
        items.extend(strategies.iter().enumerate().map(|(at, s)| ReceiptItem {
            stale: stale(at),
            ..plain(ItemKind::Strategy, s.id.clone(), 0, s.trust, admit::of_strategy(s))
        }));
        items
    }
}
