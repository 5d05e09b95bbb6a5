//! What is out because it was taken out of use. Only explanations read it; a brief never does.

use handover_model::{Fate, ItemKind, NoteState, ProjectId, RecordState, Trust};
use handover_store::{ErrorFilter, NoteFilter, PackageFilter, Result, StrategyFilter};

use super::{ContextRequest, Explained, ItemId, Sources};

/// Every retired record that could otherwise have been a candidate.
pub(super) fn retired(
    sources: Sources<'_>,
    request: &ContextRequest,
    project: &ProjectId,
) -> Result<Vec<Explained>> {
    let (store, state) = (sources.store, Some(RecordState::Retired));
    let mut explained = Vec::new();
    let mut add = |kind, id, trust: Trust, reason: Option<String>| {
        let plain = Explained::plain(kind, id, Fate::Retired, trust);
        explained.push(Explained { detail: reason, ..plain });
    };
    let filter = PackageFilter { state, ..PackageFilter::default() };
    for package in store.packages(&request.session, &filter)? {
        let id = ItemId::Number(package.id.0);
        add(ItemKind::Package, id, package.trust, package.reason);
    }
    if sources.notes {
        let filter = NoteFilter { state: Some(NoteState::Retired), ..NoteFilter::default() };
        for note in store.notes(project, &filter)? {
            add(ItemKind::Note, ItemId::Text(note.id.to_string()), note.trust, note.reason);
        }
    }
    let filter = ErrorFilter { state, ..ErrorFilter::default() };
    for pattern in store.errors(project, &filter)? {
        add(ItemKind::Error, ItemId::Text(pattern.hash), pattern.trust, pattern.reason);
    }
    let filter = StrategyFilter { state, ..StrategyFilter::default() };
    for strategy in store.strategies(project, &filter)? {
        add(ItemKind::Strategy, ItemId::Text(strategy.id), strategy.trust, strategy.reason);
    }
    Ok(explained)
}
