//! Notes of conversations and memories are private: a caller with a token sees neither them, nor their
//! words, nor the texts of receipts that show them, unless they are shared.

use std::collections::HashSet;

use handover_model::{
    Amendment, Edit, ItemKind, ItemRef, Note, NoteId, NoteKind, NoteState, Operation, PackageId,
    ProjectId, Receipt, ReceiptId, Timestamp,
};
use handover_store::packed::Postings;
use handover_store::{
    KnownUnit, Learned, NewOperation, NewUnit, NoteFilter, NotePostings, OperationFilter,
    ReceiptStep, RecordKind, Result, StoreError, WITHHELD,
};
use handover_text::{Clean, words};

use super::Guarded;

const PUBLIC: [NoteKind; 3] = [NoteKind::Doc, NoteKind::Commit, NoteKind::Manual];
const PRIVATE: [NoteKind; 2] = [NoteKind::Conversation, NoteKind::Memory];

fn sees(guard: &Guarded<'_>, kind: NoteKind) -> bool {
    guard.access.private || !kind.is_private()
}

pub(in crate::access) fn learn_notes(
    guard: &Guarded<'_>,
    project: &ProjectId,
    units: &[NewUnit],
    now: Timestamp,
) -> Result<Learned> {
    guard.project_guard(project)?;
    // They would look as if they were this machine's own.
    if units.iter().any(|unit| !sees(guard, unit.kind)) {
        return Err(StoreError::Private);
    }
    guard.store.learn_notes(project, units, now)
}

pub(in crate::access) fn note(
    guard: &Guarded<'_>,
    project: &ProjectId,
    id: &NoteId,
) -> Result<Note> {
    guard.project_guard(project)?;
    let note = guard.store.note(project, id)?;
    match sees(guard, note.kind) {
        true => Ok(note),
        false => Err(StoreError::not_found(RecordKind::Note, id)),
    }
}

pub(in crate::access) fn notes(
    guard: &Guarded<'_>,
    project: &ProjectId,
    filter: &NoteFilter,
) -> Result<Vec<Note>> {
    guard.project_guard(project)?;
    match filter.kind {
        _ if guard.access.private => guard.store.notes(project, filter),
        Some(kind) if kind.is_private() => Ok(Vec::new()),
        Some(_) => guard.store.notes(project, filter),
        None => {
            let mut notes = Vec::new();
            for kind in PUBLIC {
                let filter = NoteFilter { kind: Some(kind), ..filter.from_the_first() };
                notes.extend(guard.store.notes(project, &filter)?);
            }
            Ok(filter.page_of(notes))
        }
    }
}

pub(in crate::access) fn notes_by_number(
    guard: &Guarded<'_>,
    project: &ProjectId,
    numbers: &[i64],
) -> Result<Vec<(i64, Note)>> {
    guard.project_guard(project)?;
    let mut notes = guard.store.notes_by_number(project, numbers)?;
    notes.retain(|(_, note)| sees(guard, note.kind));
    Ok(notes)
}

pub(in crate::access) fn note_numbers(
    guard: &Guarded<'_>,
    project: &ProjectId,
    kind: NoteKind,
) -> Result<Vec<i64>> {
    guard.project_guard(project)?;
    match sees(guard, kind) {
        true => guard.store.note_numbers(project, kind),
        false => Ok(Vec::new()),
    }
}

pub(in crate::access) fn set_note_state(
    guard: &Guarded<'_>,
    project: &ProjectId,
    id: &NoteId,
    state: NoteState,
    reason: Option<&Clean>,
    now: Timestamp,
) -> Result<Note> {
    note(guard, project, id)?;
    guard.store.set_note_state(project, id, state, reason, now)
}

/// A statement that the caller may see.
fn sees_item(guard: &Guarded<'_>, item: &ItemRef) -> bool {
    let kind = NoteId::new(&item.id).ok().and_then(|id| NoteKind::of_id(&id));
    item.kind != ItemKind::Note || kind.is_none_or(|kind| sees(guard, kind))
}

pub(in crate::access) fn decide_amendment(guard: &Guarded<'_>, new: &Amendment) -> Result<()> {
    guard.project_guard(&new.project)?;
    for item in [&new.earlier, &new.later] {
        if !sees_item(guard, item) {
            return Err(StoreError::not_found(RecordKind::Note, &item.id));
        }
    }
    guard.store.decide_amendment(new)
}

pub(in crate::access) fn amendments(
    guard: &Guarded<'_>,
    project: &ProjectId,
) -> Result<Vec<Amendment>> {
    guard.project_guard(project)?;
    let mut all = guard.store.amendments(project)?;
    all.retain(|one| sees_item(guard, &one.earlier) && sees_item(guard, &one.later));
    Ok(all)
}

pub(in crate::access) fn note_units(
    guard: &Guarded<'_>,
    project: &ProjectId,
    kind: NoteKind,
) -> Result<Vec<KnownUnit>> {
    guard.project_guard(project)?;
    match sees(guard, kind) {
        true => guard.store.note_units(project, kind),
        false => Ok(Vec::new()),
    }
}

pub(in crate::access) fn forget_notes(
    guard: &Guarded<'_>,
    project: &ProjectId,
    kind: NoteKind,
    source: Option<&String>,
    now: Timestamp,
) -> Result<Vec<NoteId>> {
    guard.project_guard(project)?;
    match sees(guard, kind) {
        true => guard.store.forget_notes(project, kind, source, now),
        false => Ok(Vec::new()),
    }
}

pub(in crate::access) fn purge_note(
    guard: &Guarded<'_>,
    project: &ProjectId,
    id: &NoteId,
    now: Timestamp,
) -> Result<Note> {
    note(guard, project, id)?;
    guard.store.purge_note(project, id, now)
}

/// Which notes have a word is half of what they say.
pub(in crate::access) fn note_postings(
    guard: &Guarded<'_>,
    project: &ProjectId,
    terms: &[String],
) -> Result<NotePostings> {
    guard.project_guard(project)?;
    let all = guard.store.note_postings(project, terms)?;
    if guard.access.private {
        return Ok(all);
    }
    let mut hidden: HashSet<PackageId> = HashSet::new();
    for kind in PRIVATE {
        hidden.extend(guard.store.note_numbers(project, kind)?.into_iter().map(PackageId));
    }
    let visible = |list: &Postings| {
        let mut kept = Postings::default();
        for posting in list.list() {
            if !hidden.contains(&posting.package) {
                kept.push(&posting).map_err(StoreError::Index)?;
            }
        }
        Ok(kept)
    };
    Ok(NotePostings {
        notes: all.notes.saturating_sub(hidden.len() as u64),
        lists: all.lists.iter().map(visible).collect::<Result<_>>()?,
    })
}

pub(in crate::access) fn note_words_like(
    guard: &Guarded<'_>,
    project: &ProjectId,
    word: &str,
    slips: u32,
) -> Result<Vec<String>> {
    guard.project_guard(project)?;
    let words = guard.store.note_words_like(project, word, slips)?;
    if guard.access.private {
        return Ok(words);
    }
    let mut visible = Vec::new();
    for word in words {
        let lists = note_postings(guard, project, &words::terms(&word))?.lists;
        if lists.iter().any(|list| list.count() > 0) {
            visible.push(word);
        }
    }
    Ok(visible)
}

pub(in crate::access) fn advance_receipt(
    guard: &Guarded<'_>,
    id: &ReceiptId,
    step: &ReceiptStep,
    now: Timestamp,
) -> Result<Receipt> {
    guard.receipt_guard(id)?;
    without_private_text(guard, guard.store.advance_receipt(id, step, now)?)
}

pub(in crate::access) fn mark_read(
    guard: &Guarded<'_>,
    id: &ReceiptId,
    package: PackageId,
    now: Timestamp,
) -> Result<Receipt> {
    guard.receipt_guard(id)?;
    without_private_text(guard, guard.store.mark_read(id, package, now)?)
}

/// Whether a note, or one that is gone by now, is private.
fn is_private(guard: &Guarded<'_>, project: &ProjectId, id: &NoteId) -> Result<bool> {
    match guard.store.note(project, id) {
        Ok(note) => Ok(note.kind.is_private()),
        Err(StoreError::NotFound { .. }) => {
            Ok(NoteKind::of_id(id).is_some_and(NoteKind::is_private))
        }
        Err(error) => Err(error),
    }
}

/// Whether the caller may know of every note among these changes.
fn sees_edits(guard: &Guarded<'_>, project: &ProjectId, edits: &[Edit]) -> Result<bool> {
    if guard.access.private {
        return Ok(true);
    }
    for id in edits.iter().flat_map(Edit::notes) {
        if is_private(guard, project, &id)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Every record that it changes belongs to the project, and so does the session.
pub(in crate::access) fn log_operation(guard: &Guarded<'_>, new: &NewOperation) -> Result<()> {
    guard.project_guard(&new.project)?;
    guard.sessions_guard(new.session.iter())?;
    match sees_edits(guard, &new.project, &new.edits())? {
        true => guard.store.log_operation(new),
        false => Err(StoreError::Private),
    }
}

/// The limit applies to what the caller can see.
pub(in crate::access) fn operations(
    guard: &Guarded<'_>,
    project: &ProjectId,
    filter: &OperationFilter,
) -> Result<Vec<Operation>> {
    guard.project_guard(project)?;
    let all = OperationFilter { limit: None, ..filter.clone() };
    let mut seen = Vec::new();
    for operation in guard.store.operations(project, &all)? {
        if seen.len() == filter.limit.map_or(usize::MAX, |limit| limit as usize) {
            break;
        }
        if sees_edits(guard, project, &operation.changes)? {
            seen.push(operation);
        }
    }
    Ok(seen)
}

/// Withholds the text of a receipt if it shows a private note, and the names in that note.
pub(in crate::access) fn without_private_text(
    guard: &Guarded<'_>,
    mut receipt: Receipt,
) -> Result<Receipt> {
    if guard.access.private || receipt.text.is_none() {
        return Ok(receipt);
    }
    let (mut project, mut shows_private) = (None, false);
    for item in receipt.items.iter_mut().filter(|item| item.kind == ItemKind::Note) {
        let Ok(id) = NoteId::new(&item.id) else { continue };
        let project = match &project {
            Some(project) => project,
            None => project.insert(guard.store.session(&receipt.session)?.project),
        };
        if is_private(guard, project, &id)? {
            item.stale.clear();
            shows_private = true;
        }
    }
    if shows_private {
        receipt.text = Some(WITHHELD.to_owned());
    }
    Ok(receipt)
}
