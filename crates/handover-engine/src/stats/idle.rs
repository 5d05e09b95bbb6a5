//! What nobody uses: packages, notes and strategies that agents received again and again and never used. They are
//! offered for retirement, never retired.

use std::collections::BTreeMap;

use handover_model::{
    ItemKind, NoteId, NoteState, PackageId, Priority, ProjectId, RecordState, Timestamp,
};
use handover_store::{Result, Store, StoreError, StrategyFilter};
use serde::Serialize;

use super::uses::{ItemUses, Items};

/// An item that was judged less often may just have been unlucky: of items that are used a third of the time, one in
/// eight is unused five times in a row; and one that is seldom needed is worth keeping for when it is.
const JUDGED: u64 = 5;

/// What is younger may not have met the work that it was written for.
const DAYS: u32 = 14;

/// So many are offered.
const OFFERED: usize = 20;

/// Something that could be retired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Idle {
    /// What kind of record.
    pub kind: ItemKind,
    /// Its id, as text.
    pub id: String,
    /// Its path, or the beginning of what it says.
    pub title: String,
    /// How often an agent received it and did not use it.
    pub judged: u64,
    /// What it cost.
    pub tokens: u64,
    /// The command that retires it.
    pub command: String,
}

/// What could be retired, the most expensive first. Critical and young records are not offered.
pub(super) fn of(
    store: &dyn Store,
    project: &ProjectId,
    items: &Items,
    now: Timestamp,
) -> Result<Vec<Idle>> {
    let mut unused: Vec<&ItemUses> =
        items.iter().filter(|one| one.uses.items >= JUDGED && one.uses.used == 0).collect();
    if unused.is_empty() {
        return Ok(Vec::new());
    }
    unused.sort_by_key(|one| std::cmp::Reverse(one.uses.tokens));
    let strategies: BTreeMap<String, (String, Timestamp)> = store
        .strategies(
            project,
            &StrategyFilter { state: Some(RecordState::Live), ..StrategyFilter::default() },
        )?
        .into_iter()
        .map(|one| (one.id, (one.insight, one.created_at)))
        .collect();
    let old = |at: Timestamp| at <= now.days_before(DAYS);
    let mut idle = Vec::new();
    for one in unused {
        let title = match one.kind {
            ItemKind::Package => live_package(store, &one.id, old)?,
            ItemKind::Note => live_note(store, project, &one.id, old)?,
            ItemKind::Strategy => {
                strategies.get(&one.id).filter(|(_, at)| old(*at)).map(|(said, _)| said.clone())
            }
            ItemKind::Reasoning | ItemKind::Error | ItemKind::Verdict => None,
        };
        let Some(title) = title else { continue };
        let (kind, id, judged) = (one.kind, &one.id, one.uses.items);
        idle.push(Idle {
            kind,
            id: id.clone(),
            title,
            judged,
            tokens: one.uses.tokens,
            command: format!(
                "handover {kind} retire {id} --reason \"never used in {judged} briefs\""
            ),
        });
        if idle.len() == OFFERED {
            break;
        }
    }
    Ok(idle)
}

/// The path of a package, if it is live, old enough and not critical.
fn live_package(
    store: &dyn Store,
    id: &str,
    old: impl Fn(Timestamp) -> bool,
) -> Result<Option<String>> {
    let Ok(id) = id.parse::<i64>() else { return Ok(None) };
    let Some(package) = found(store.package(PackageId(id)))? else { return Ok(None) };
    let is_live = package.state == RecordState::Live && package.superseded_by.is_none();
    let may_go = is_live && package.priority != Priority::Critical && old(package.created_at);
    Ok(may_go.then_some(package.path))
}

/// The title of a note, if it is live and old enough.
fn live_note(
    store: &dyn Store,
    project: &ProjectId,
    id: &str,
    old: impl Fn(Timestamp) -> bool,
) -> Result<Option<String>> {
    let Ok(id) = NoteId::new(id) else { return Ok(None) };
    let note = found(store.note(project, &id))?;
    let may_go = note.filter(|note| note.state == NoteState::Live && old(note.created_at));
    Ok(may_go.map(|note| note.title))
}

/// A record; none if it is gone.
fn found<T>(record: Result<T>) -> Result<Option<T>> {
    match record {
        Ok(record) => Ok(Some(record)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
