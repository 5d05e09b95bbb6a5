//! What goes into a block of context, and how it shrinks when it is too long.

use std::collections::BTreeMap;

use handover_model::{ErrorPattern, Form, ItemKind, ReceiptItem, Strategy, Tokenizer};

use super::{ItemId, PackedPackage, PackedReasoning, pack};

/// The items of a block, each in the form in which it is shown.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) packages: Vec<PackedPackage>,
    pub(super) reasoning: Vec<PackedReasoning>,
    pub(super) errors: Vec<ErrorPattern>,
    pub(super) strategies: Vec<Strategy>,
}

/// One step of shrinking a block.
pub(super) enum Shrunk {
    /// An item became shorter.
    Shorter,
    /// An item was removed.
    Removed(ItemKind, ItemId),
}

impl Block {
    /// Shrinks the block by what is missed least: strategies, errors, then packages (shortened
    /// before removed, low priority first), then reasoning, whose first entry, a completion, goes
    /// last. `None` if nothing is left.
    pub(super) fn shrink(&mut self, tokenizer: Tokenizer) -> Option<Shrunk> {
        if let Some(strategy) = self.strategies.pop() {
            return Some(Shrunk::Removed(ItemKind::Strategy, ItemId::Text(strategy.id)));
        }
        if let Some(error) = self.errors.pop() {
            return Some(Shrunk::Removed(ItemKind::Error, ItemId::Text(error.hash)));
        }
        let longest = self.packages.iter().rposition(|package| package.form != Form::Pointer);
        if let Some(at) = longest {
            pack::shorten(&mut self.packages[at], tokenizer);
            return Some(Shrunk::Shorter);
        }
        let least = (0..self.packages.len())
            .min_by_key(|at| (self.packages[*at].priority, std::cmp::Reverse(*at)));
        if let Some(at) = least {
            let id = ItemId::Number(self.packages.remove(at).id.0);
            return Some(Shrunk::Removed(ItemKind::Package, id));
        }
        let entry = self.reasoning.pop()?;
        Some(Shrunk::Removed(ItemKind::Reasoning, ItemId::Number(entry.id.0)))
    }

    /// The items as a receipt keeps them.
    pub(super) fn receipt_items(&self) -> Vec<ReceiptItem> {
        let Self { packages, reasoning, errors, strategies } = self;
        let plain = |kind, id: String, tokens| ReceiptItem {
            kind,
            id,
            version: 1,
            form: Form::Full,
            score: 0.0,
            terms: BTreeMap::new(),
            tokens,
            read_at: None,
        };
        let mut items: Vec<ReceiptItem> = packages
            .iter()
            .map(|p| ReceiptItem {
                version: p.version,
                form: p.form,
                score: p.score,
                terms: p.terms.by_name(),
                ..plain(ItemKind::Package, p.id.to_string(), p.tokens)
            })
            .collect();
        items.extend(
            reasoning.iter().map(|r| plain(ItemKind::Reasoning, r.id.to_string(), r.tokens)),
        );
        items.extend(errors.iter().map(|e| plain(ItemKind::Error, e.hash.clone(), 0)));
        items.extend(strategies.iter().map(|s| plain(ItemKind::Strategy, s.id.clone(), 0)));
        items
    }
}
