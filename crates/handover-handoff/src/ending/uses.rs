//! Finds what a receipt's items said, so that `used` can judge what became of them.

use std::collections::HashMap;

use handover_model::{
    Form, ItemKind, NoteId, NoteKind, PackageId, Receipt, ReceiptItem, ReceiptState, Trace, Use,
};
use handover_store::{
    ErrorFilter, ItemUse, ReasoningFilter, Result, Store, StoreError, StrategyFilter, VerdictFilter,
};

use super::Ending;
use crate::Handoffs;
use crate::used::{BriefItem, judge};

impl Handoffs<'_> {
    /// Records what became of a receipt's items, by a conversation that was written only after its agent had ended.
    pub fn used(&self, receipt: &Receipt, trace: &Trace) -> crate::Result<()> {
        let store = self.store()?;
        let uses = match trace.is_empty() {
            true => Vec::new(),
            false => uses(store, receipt, trace)?,
        };
        if !uses.is_empty() {
            store.mark_used(&receipt.id, &uses)?;
        }
        Ok(())
    }
}

/// What became of each item of the ended agent's receipt; nothing if its conversation was not seen.
///
/// It only reads, before the transaction that keeps the ending: the items of a receipt never change.
pub(super) fn of(store: &dyn Store, ending: &Ending<'_>) -> Result<Vec<ItemUse>> {
    let (Some(id), Some(trace), false) =
        (&ending.assignment.receipt, ending.trace, ending.lost_prompt)
    else {
        return Ok(Vec::new());
    };
    let receipt = match store.receipt(id) {
        Ok(receipt) => receipt,
        Err(StoreError::NotFound { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let arrived = matches!(receipt.state, ReceiptState::Delivered | ReceiptState::Confirmed);
    if !arrived || trace.is_empty() {
        return Ok(Vec::new());
    }
    uses(store, &receipt, trace)
}

fn uses(store: &dyn Store, receipt: &Receipt, trace: &Trace) -> Result<Vec<ItemUse>> {
    let brief = receipt.text.as_deref().unwrap_or_default();
    let mut texts = Texts { store, receipt, loaded: HashMap::new() };
    let mut items = Vec::new();
    for item in &receipt.items {
        items.push(texts.item(item, brief)?);
    }
    let judged = judge(&items, brief, &around(brief), trace);
    let found = receipt.items.iter().zip(judged).map(|(item, judged)| {
        // A hook saw it reading the file; and an agent that is continued has used what it used before.
        let read = item.read_at.map(|_| Use::Opened);
        let used = Some(judged).max(read).max(item.used).unwrap_or(judged);
        ItemUse { kind: item.kind, item: item.id.clone(), used }
    });
    Ok(found.collect())
}

/// Reads the records of items; those of a kind are read once.
struct Texts<'a> {
    store: &'a dyn Store,
    receipt: &'a Receipt,
    loaded: HashMap<ItemKind, HashMap<String, String>>,
}

impl Texts<'_> {
    fn item(&mut self, item: &ReceiptItem, brief: &str) -> Result<BriefItem> {
        let (path, text) = match item.kind {
            ItemKind::Package => self.package(item, brief)?,
            ItemKind::Note => self.note(&item.id)?,
            kind @ (ItemKind::Reasoning
            | ItemKind::Error
            | ItemKind::Strategy
            | ItemKind::Verdict) => (None, self.text(kind, &item.id)?),
        };
        Ok(BriefItem::new(item.kind, &item.id, path, text))
    }

    /// A record may be gone by now: then only its id and its file tell.
    fn package(&self, item: &ReceiptItem, brief: &str) -> Result<(Option<String>, String)> {
        let Ok(id) = item.id.parse::<i64>() else { return Ok(<_>::default()) };
        let Some(package) = found(self.store.package(PackageId(id)))? else {
            return Ok(<_>::default());
        };
        let mut text = match item.form {
            Form::Pointer => String::new(),
            Form::Full | Form::Short | Form::Focus => package.summary,
        };
        if item.form == Form::Focus
            && let Some(body) = found(self.store.package_body(PackageId(id)))?
        {
            let shown = |line: &&str| line.len() > 3 && brief.contains(line.trim());
            for line in body.lines().filter(shown) {
                text.push('\n');
                text.push_str(line);
            }
        }
        Ok((Some(package.path), text))
    }

    fn note(&self, id: &str) -> Result<(Option<String>, String)> {
        let Ok(id) = NoteId::new(id) else { return Ok(<_>::default()) };
        let project = self.store.session(&self.receipt.session)?.project;
        let Some(note) = found(self.store.note(&project, &id))? else {
            return Ok(<_>::default());
        };
        let path = (note.kind == NoteKind::Doc).then_some(note.source);
        Ok((path, note.text))
    }

    fn text(&mut self, kind: ItemKind, id: &str) -> Result<String> {
        if !self.loaded.contains_key(&kind) {
            let texts = self.load(kind)?;
            self.loaded.insert(kind, texts);
        }
        Ok(self.loaded.get(&kind).and_then(|texts| texts.get(id)).cloned().unwrap_or_default())
    }

    fn load(&self, kind: ItemKind) -> Result<HashMap<String, String>> {
        let Receipt { session, group, .. } = self.receipt;
        let project = || Ok(self.store.session(session)?.project);
        Ok(match kind {
            ItemKind::Reasoning => {
                let filter = ReasoningFilter { group: group.clone(), ..Default::default() };
                let all = self.store.reasoning(session, &filter)?.into_iter();
                all.map(|entry| (entry.id.to_string(), entry.content)).collect()
            }
            ItemKind::Error => {
                let all = self.store.errors(&project()?, &ErrorFilter::default())?.into_iter();
                all.map(|pattern| {
                    let solution = pattern.solution.clone().unwrap_or_default();
                    (pattern.hash.clone(), format!("{}\n{solution}", pattern.said()))
                })
                .collect()
            }
            ItemKind::Strategy => {
                let all = self.store.strategies(&project()?, &StrategyFilter::default())?;
                all.into_iter().map(|strategy| (strategy.id, strategy.insight)).collect()
            }
            ItemKind::Verdict => {
                let filter = VerdictFilter { group: group.clone(), ..Default::default() };
                let all = self.store.verdicts(session, &filter)?.into_iter();
                all.map(|verdict| {
                    let summary = verdict.summary.unwrap_or_default();
                    (verdict.id.to_string(), format!("{summary}\n{}", verdict.findings.join("\n")))
                })
                .collect()
            }
            ItemKind::Package | ItemKind::Note => HashMap::new(),
        })
    }
}

fn found<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a brief says that is none of its items: the role, the specialization, where to look.
fn around(brief: &str) -> String {
    let mut outside = true;
    let mut lines = Vec::new();
    for line in brief.lines() {
        match line {
            _ if line.starts_with("## Context for ") => outside = false,
            _ if line.starts_with("<!-- handover:receipt ") => outside = true,
            _ if line.starts_with("### ") && !outside => {
                outside = line.starts_with("### Where to look");
                continue;
            }
            _ => {}
        }
        if outside {
            lines.push(line);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_of_a_brief_is_what_no_item_says() {
        let brief = "Before.\n## Context for developer\n\n### Relevant Packages (1/1)\n> item\n\n\
                     ### Where to look (1)\n\n- src/db.rs: opens it\n\n<!-- handover:receipt r_1 -->\n\n\
                     ## Role\nYou write code.";
        let frame = around(brief);
        for part in ["Before.", "src/db.rs", "You write code."] {
            assert!(frame.contains(part), "{part}");
        }
        assert!(!frame.contains("item"));
    }
}
