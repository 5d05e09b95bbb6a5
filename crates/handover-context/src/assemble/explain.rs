//! Why each candidate is in or out.

use std::collections::BTreeMap;

use handover_model::{Fate, LeftOut, ReceiptItem};
use handover_store::Result;

use super::Explained;
use super::select::Selection;

/// How many left-out items a receipt keeps by name.
pub(super) const LEFT_OUT_KEPT: usize = 50;

/// The candidates in this order: those that were tried, the best of the queue, the best of those
/// that were refused; and how many are out, by reason.
pub(super) fn explain(
    selection: &mut Selection<'_>,
    tried: Vec<Explained>,
    all: bool,
) -> Result<(Vec<Explained>, BTreeMap<String, u64>)> {
    let mut counts: BTreeMap<Fate, u64> = BTreeMap::new();
    for candidate in tried.iter().filter(|candidate| !candidate.included) {
        *counts.entry(candidate.reason).or_default() += 1;
    }
    if selection.waiting > 0 {
        *counts.entry(Fate::OverTheLimit).or_default() += selection.waiting as u64;
    }
    for (fate, count) in &selection.refused {
        *counts.entry(*fate).or_default() += count;
    }
    let enough = if all { usize::MAX } else { tried.len() + LEFT_OUT_KEPT };
    let mut explained = tried;
    while explained.len() < enough
        && let Some(key) = selection.take()?
    {
        explained.push(selection.explained(key, Fate::OverTheLimit));
    }
    while explained.len() < enough
        && let Some((key, fate)) = selection.take_refused()
    {
        explained.push(selection.explained(key, fate));
    }
    let counts = counts.into_iter().map(|(fate, n)| (fate.to_string(), n)).collect();
    Ok((explained, counts))
}

/// Adds which names in what is shown are not what they were.
pub(super) fn explain_names(candidates: &mut [Explained], items: &[ReceiptItem]) {
    for item in items.iter().filter(|item| !item.stale.is_empty()) {
        let same = |one: &&mut Explained| one.kind == item.kind && one.id.to_string() == item.id;
        if let Some(candidate) = candidates.iter_mut().find(same) {
            candidate.stale.clone_from(&item.stale);
        }
    }
}

/// The best candidates that are out, as a receipt keeps them.
pub(super) fn left_out(explained: &[Explained]) -> Vec<LeftOut> {
    explained
        .iter()
        .filter(|candidate| !candidate.included)
        .take(LEFT_OUT_KEPT)
        .map(|candidate| LeftOut {
            kind: candidate.kind,
            id: candidate.id.to_string(),
            reason: candidate.reason,
            score: candidate.score,
            amended_by: candidate.amended_by.clone(),
        })
        .collect()
}
