//! Notes that say nearly the same as a newer one stay out of briefs, until the newer one is gone.

use std::collections::HashMap;

use handover_knowledge::repeats;
use handover_model::{Note, NoteId, NoteState, ProjectId};
use handover_store::NoteFilter;

use crate::app::App;
use crate::error::CommandError;

/// How the reason of such a note begins.
const REPEATED: &str = "repeated by ";

/// Compares all notes of the project and records what repeats what.
pub(super) fn collapse(app: &App, project: &ProjectId) -> Result<(), CommandError> {
    let store = app.store()?;
    let notes = store.notes(project, &NoteFilter::default())?;
    // What a person or a later statement decided stays.
    let ours = |note: &&Note| match note.state {
        NoteState::Live => note.reason.is_none(),
        NoteState::Amended => newer(note).is_some(),
        NoteState::Stale | NoteState::Retired => false,
    };
    let found: HashMap<NoteId, NoteId> = repeats(notes.iter().filter(ours)).into_iter().collect();
    let changed: Vec<(&Note, Option<&NoteId>)> = notes
        .iter()
        .filter(ours)
        .map(|note| (note, found.get(&note.id)))
        .filter(|(note, by)| newer(note) != by.map(NoteId::as_str))
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    let redactor = app.redactor()?;
    tracing::debug!(notes = changed.len(), "repetitions");
    store.exclusively(&mut |store| {
        for (note, by) in &changed {
            let reason = by.map(|by| redactor.clean(&format!("{REPEATED}{by}")));
            let state = if by.is_some() { NoteState::Amended } else { NoteState::Live };
            store.set_note_state(project, &note.id, state, reason.as_ref(), app.now())?;
        }
        Ok(())
    })?;
    Ok(())
}

/// The id of the newer note that repeats this one.
fn newer(note: &Note) -> Option<&str> {
    let repeated = note.state == NoteState::Amended;
    note.reason.as_deref().filter(|_| repeated)?.strip_prefix(REPEATED)
}
