//! Records that can be deleted: retired by hand, and nothing refers to them any more.
//!
//! A retired record is also what keeps the same text from coming back, so it stays as long as its source could be
//! read again: a package as long as its file exists, notes of documents, commits and conversations always. What a
//! receipt names stays, so that the receipt can be explained; so does what the log can still undo.

use std::collections::BTreeSet;

use handover_model::{
    Edit, ItemKind, NoteId, NoteKind, NoteState, Operation, PackageId, ProjectId, RecordState,
    SessionId, Timestamp,
};
use handover_store::{NoteFilter, OperationFilter, PURGED, PackageFilter, ReceiptFilter, Store};

use super::{Result, transaction};
use crate::package_file::{FileState, ProjectPaths, file_state};

/// A record that can be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    record: Record,
    /// The size of its text.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Record {
    /// All versions of a package, oldest first.
    Package {
        versions: Vec<PackageId>,
        path: String,
    },
    Note {
        id: NoteId,
        source: String,
    },
}

impl Forgotten {
    /// The record's name in messages.
    pub fn subject(&self) -> String {
        match &self.record {
            Record::Package { versions, path } => {
                let latest = versions.last().map(ToString::to_string).unwrap_or_default();
                format!("package {latest} ({path})")
            }
            Record::Note { id, .. } => format!("note {id}"),
        }
    }
}

/// What can be deleted: retired before a time, and nothing refers to it.
pub fn forgotten(
    store: &dyn Store,
    project: &ProjectId,
    paths: &ProjectPaths,
    before: Timestamp,
) -> Result<Vec<Forgotten>> {
    let since = OperationFilter { since: Some(before), limit: None };
    let log = store.operations(project, &since)?;
    let mut named = BTreeSet::new();
    let mut sessions = store.sessions(None)?;
    sessions.retain(|session| session.project == *project);
    for session in &sessions {
        named.extend(named_in(store, &session.id)?);
    }
    let mut found = Vec::new();
    for session in &sessions {
        packages(store, paths, &session.id, &named, &log, before, &mut found)?;
    }
    let filter = NoteFilter {
        kind: Some(NoteKind::Manual),
        state: Some(NoteState::Retired),
        ..NoteFilter::default()
    };
    for note in store.notes(project, &filter)? {
        let is_named = named.contains(&(ItemKind::Note, note.id.to_string()));
        let is_purged = note.reason.as_deref() == Some(PURGED);
        let is_logged = has(&log, |edit| edit.notes().contains(&note.id));
        if note.created_at < before && !is_named && !is_purged && !is_logged {
            let bytes = note.text.len() as u64;
            let record = Record::Note { id: note.id, source: note.source };
            found.push(Forgotten { record, bytes });
        }
    }
    Ok(found)
}

/// Every record that a receipt of a session names, whether it was included or left out.
fn named_in(store: &dyn Store, session: &SessionId) -> Result<BTreeSet<(ItemKind, String)>> {
    let handed = store.handed(session)?.into_iter().map(|item| (item.kind, item.item));
    let mut named: BTreeSet<(ItemKind, String)> = handed.collect();
    let filter = ReceiptFilter { session: Some(session.clone()), ..ReceiptFilter::default() };
    for receipt in store.receipts(&filter)? {
        named.extend(receipt.left_out.into_iter().map(|item| (item.kind, item.id)));
    }
    Ok(named)
}

fn has(log: &[Operation], test: impl Fn(&Edit) -> bool) -> bool {
    log.iter().flat_map(|operation| &operation.changes).any(test)
}

fn packages(
    store: &dyn Store,
    paths: &ProjectPaths,
    session: &SessionId,
    named: &BTreeSet<(ItemKind, String)>,
    log: &[Operation],
    before: Timestamp,
    found: &mut Vec<Forgotten>,
) -> Result<()> {
    let chosen: BTreeSet<PackageId> =
        store.groups(session)?.into_iter().flat_map(|group| group.references).collect();
    let filter = PackageFilter { state: Some(RecordState::Retired), ..PackageFilter::default() };
    for package in store.packages(session, &filter)? {
        if package.created_at >= before || file_state(paths, &package) != FileState::Vanished {
            continue;
        }
        let versions: Vec<PackageId> =
            store.package_history(package.id)?.into_iter().map(|version| version.id).collect();
        let is_needed = |id: &PackageId| {
            chosen.contains(id)
                || named.contains(&(ItemKind::Package, id.to_string()))
                || has(log, |edit| match edit {
                    Edit::Package { id: other, .. } => other == id,
                    Edit::Version { id: new, former } => new == id || former == id,
                    Edit::Decision { earlier, later, .. } => [earlier, later]
                        .iter()
                        .any(|item| item.kind == ItemKind::Package && item.id == id.to_string()),
                    Edit::Note { .. }
                    | Edit::Strategy { .. }
                    | Edit::Error { .. }
                    | Edit::Session { .. } => false,
                })
        };
        if !versions.iter().any(is_needed) {
            let bodies = store.package_bodies(&versions)?;
            let bytes = bodies.iter().map(|body| body.len() as u64).sum();
            let record = Record::Package { versions, path: package.path };
            found.push(Forgotten { record, bytes });
        }
    }
    Ok(())
}

/// Deletes what is forgotten, all or nothing; returns what that was.
pub fn delete(
    store: &dyn Store,
    project: &ProjectId,
    paths: &ProjectPaths,
    before: Timestamp,
    now: Timestamp,
) -> Result<Vec<Forgotten>> {
    transaction(store, |store| {
        let found = forgotten(store, project, paths, before)?;
        let mut packages = Vec::new();
        for forgotten in &found {
            match &forgotten.record {
                Record::Package { versions, .. } => packages.extend(versions.iter().copied()),
                Record::Note { source, .. } => {
                    store.forget_notes(project, NoteKind::Manual, Some(source), now)?;
                }
            }
        }
        if !packages.is_empty() {
            store.delete_packages(&packages)?;
        }
        Ok(found)
    })
}
