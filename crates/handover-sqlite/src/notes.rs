//! Notes.

use std::collections::HashMap;

use handover_model::{Note, NoteId, NoteKind, NoteState, PackageId, ProjectId, Timestamp};
use handover_store::packed::Postings;
use handover_store::rows::{self, KNOWN_UNIT, to_json};
use handover_store::{
    KnownUnit, Learned, Moved, NewNote, NewUnit, NoteFilter, Notes, PURGED, Result, erased_text,
    numbered_terms,
};
use handover_text::Clean;
use rusqlite::Connection;

use crate::error::backend;
use crate::file::truncate_log;
use crate::index::notes as index;
use crate::note_rows::{get, select};
use crate::{SqliteStore, operations, query, sums};

/// How many numbers are looked up in one statement.
const TOGETHER: usize = 100;

/// What a call has done so far.
#[derive(Default)]
struct Learning {
    learned: Learned,
    moved: Moved,
    /// Whether a note changed that neither enters nor leaves the index.
    changed: bool,
}

fn learn(
    tx: &Connection,
    project: &ProjectId,
    unit: &NewUnit,
    now: Timestamp,
    so_far: &mut Learning,
) -> Result<()> {
    let rest = "WHERE project = ?1 AND kind = ?2 AND source = ?3";
    let of_unit = (project.as_str(), unit.kind.as_str(), &unit.source);
    let mut known: HashMap<NoteId, (i64, Note)> = select(tx, rest, of_unit)?
        .into_iter()
        .map(|(number, note)| (note.id.clone(), (number, note)))
        .collect();
    for new in &unit.notes {
        match known.remove(&new.id) {
            Some((number, note)) => {
                so_far.learned.kept += 1;
                so_far.changed |= refresh(tx, number, &note, new)?;
            }
            None => add(tx, project, unit, new, so_far)?,
        }
    }
    for (number, note) in known.into_values().filter(|(_, note)| note.state != NoteState::Retired) {
        query::execute(tx, "DELETE FROM note WHERE key = ?1", [number])?;
        so_far.moved.gone.push(numbered_terms(number, &note));
        so_far.learned.removed += 1;
    }
    match &unit.fingerprint {
        Some(fingerprint) => {
            let sql = "INSERT INTO note_unit (project, kind, source, fingerprint, learned_at)
                 VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO UPDATE SET fingerprint = ?4, learned_at = ?5";
            let (project, kind) = (project.as_str(), unit.kind.as_str());
            query::execute(tx, sql, (project, kind, &unit.source, fingerprint, now.as_micros()))?;
        }
        None => {
            let sql = "DELETE FROM note_unit WHERE project = ?1 AND kind = ?2 AND source = ?3";
            query::execute(tx, sql, of_unit)?;
        }
    }
    Ok(())
}

/// Takes over what a source says anew about a note that is still there; whether anything changed.
fn refresh(tx: &Connection, number: i64, note: &Note, new: &NewNote) -> Result<bool> {
    let Some((state, reason)) = new.refreshes(note) else { return Ok(false) };
    let sql = "UPDATE note SET state = ?2, reason = ?3, trust = ?4, created_at = ?5 WHERE key = ?1";
    let (trust, created_at) = (new.trust.as_str(), new.created_at.as_micros());
    query::execute(tx, sql, (number, state.as_str(), reason, trust, created_at))?;
    Ok(true)
}

fn add(
    tx: &Connection,
    project: &ProjectId,
    unit: &NewUnit,
    new: &NewNote,
    so_far: &mut Learning,
) -> Result<()> {
    let list = |texts: &[Clean]| to_json(&texts.iter().map(Clean::as_str).collect::<Vec<_>>());
    let added = tx
        .prepare_cached(
            "INSERT INTO note (id, project, kind, origin, source, title, text, trust, paths, symbols, state,
                reason, hash, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT (project, id) DO NOTHING",
        )
        .and_then(|mut statement| {
            statement.execute(rusqlite::params![
                new.id.as_str(),
                project.as_str(),
                unit.kind.as_str(),
                new.origin.as_str(),
                unit.source,
                new.title.as_str(),
                new.text.as_str(),
                new.trust.as_str(),
                list(&new.paths),
                list(&new.symbols),
                new.state.as_str(),
                new.reason.as_ref().map(Clean::as_str),
                new.hash,
                new.created_at.as_micros(),
            ])
        })
        .map_err(backend)?;
    if added == 0 {
        // Another unit says the same.
        so_far.learned.kept += 1;
        return Ok(());
    }
    so_far.learned.added += 1;
    if let Some(terms) = new.packed_terms(unit.kind) {
        so_far.moved.added.push((PackageId(tx.last_insert_rowid()), terms));
    }
    Ok(())
}

fn set_state(
    tx: &Connection,
    project: &ProjectId,
    id: &NoteId,
    state: NoteState,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<Note> {
    let (number, before) = get(tx, project, id)?;
    if (before.state, before.reason.as_deref()) == (state, reason) {
        return Ok(before);
    }
    let sql = "UPDATE note SET state = ?2, reason = ?3 WHERE key = ?1";
    query::execute(tx, sql, (number, state.as_str(), reason))?;
    let mut moved = Moved::by_state(number, &before, state);
    index::update(tx, project, &mut moved, now)?;
    Ok(get(tx, project, id)?.1)
}

/// Erases the texts of receipts that show a note, and the names in it.
fn erase_delivered(tx: &Connection, project: &ProjectId, id: &NoteId) -> Result<u64> {
    let intact = sums::intact("receipt", "r");
    let sql = format!(
        "SELECT r.id, {intact} FROM receipt_item i JOIN receipt r ON r.id = i.receipt
            JOIN session s ON s.key = r.session
         WHERE i.kind = 'note' AND i.item = ?1 AND s.project = ?2 AND r.text IS NOT NULL ORDER BY r.id"
    );
    let receipts = query::records(tx, &sql, (id.as_str(), project.as_str()), |row| {
        rows::Columns::of(row).text()
    })?;
    for receipt in &receipts {
        let sql = "UPDATE receipt SET text = ?2 WHERE id = ?1";
        query::execute(tx, sql, (receipt, erased_text(id)))?;
        let sql = "UPDATE receipt_item SET stale = '[]'
                   WHERE receipt = ?1 AND kind = 'note' AND item = ?2 AND stale != '[]'";
        query::execute(tx, sql, (receipt, id.as_str()))?;
    }
    Ok(receipts.len() as u64)
}

impl SqliteStore {
    /// A write that leaves nothing of what it deletes, neither on free pages nor in the log.
    fn erase<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let secure = |on: bool| self.connection.pragma_update(None, "secure_delete", on);
        secure(true).map_err(backend)?;
        let outcome = self.write(work);
        secure(false).map_err(backend)?;
        let value = outcome?;
        if self.connection.is_autocommit() {
            truncate_log(&self.connection)?;
        }
        Ok(value)
    }
}

impl Notes for SqliteStore {
    fn learn_notes(
        &self,
        project: &ProjectId,
        units: &[NewUnit],
        now: Timestamp,
    ) -> Result<Learned> {
        self.write(|tx| {
            let mut so_far = Learning::default();
            for unit in units {
                learn(tx, project, unit, now, &mut so_far)?;
            }
            let Learning { learned, mut moved, changed } = so_far;
            if changed || !moved.added.is_empty() || !moved.gone.is_empty() {
                index::update(tx, project, &mut moved, now)?;
            }
            Ok(learned)
        })
    }

    fn note(&self, project: &ProjectId, id: &NoteId) -> Result<Note> {
        Ok(get(&self.connection, project, id)?.1)
    }

    fn notes(&self, project: &ProjectId, filter: &NoteFilter) -> Result<Vec<Note>> {
        let rest = "WHERE project = ?1 AND (?2 IS NULL OR kind = ?2) AND (?3 IS NULL OR state = ?3)
                AND (?4 IS NULL OR source = ?4)
             ORDER BY created_at DESC, id LIMIT ?5 OFFSET ?6";
        let found = select(
            &self.connection,
            rest,
            (
                project.as_str(),
                filter.kind.map(NoteKind::as_str),
                filter.state.map(NoteState::as_str),
                &filter.source,
                filter.limit.map_or(-1, i64::from),
                filter.skip,
            ),
        )?;
        Ok(found.into_iter().map(|(_, note)| note).collect())
    }

    fn notes_by_number(&self, project: &ProjectId, numbers: &[i64]) -> Result<Vec<(i64, Note)>> {
        let mut found = Vec::with_capacity(numbers.len());
        for numbers in numbers.chunks(TOGETHER) {
            // By key, which is unique: an index of the project would lead through all of its notes.
            let rest = "WHERE +project = ?1 AND key IN (SELECT value FROM json_each(?2))";
            found.extend(select(&self.connection, rest, (project.as_str(), to_json(&numbers)))?);
        }
        Ok(found)
    }

    fn set_note_state(
        &self,
        project: &ProjectId,
        id: &NoteId,
        state: NoteState,
        reason: Option<&Clean>,
        now: Timestamp,
    ) -> Result<Note> {
        self.write(|tx| set_state(tx, project, id, state, reason.map(Clean::as_str), now))
    }

    fn note_units(&self, project: &ProjectId, kind: NoteKind) -> Result<Vec<KnownUnit>> {
        let intact = sums::intact("note_unit", "note_unit");
        let sql = format!(
            "SELECT {KNOWN_UNIT}, {intact} FROM note_unit WHERE project = ?1 AND kind = ?2 ORDER BY source"
        );
        let of_kind = (project.as_str(), kind.as_str());
        query::records(&self.connection, &sql, of_kind, rows::known_unit)
    }

    fn forget_notes(
        &self,
        project: &ProjectId,
        kind: NoteKind,
        source: Option<&String>,
        now: Timestamp,
    ) -> Result<Vec<NoteId>> {
        self.erase(|tx| {
            let of = (project.as_str(), kind.as_str(), source);
            let which = "WHERE project = ?1 AND kind = ?2 AND (?3 IS NULL OR source = ?3)";
            let notes = select(tx, &format!("{which} ORDER BY key"), of)?;
            let mut moved = Moved::default();
            for (number, note) in &notes {
                erase_delivered(tx, project, &note.id)?;
                operations::forget_note(tx, project, &note.id)?;
                if note.state != NoteState::Retired {
                    moved.gone.push(numbered_terms(*number, note));
                }
            }
            query::execute(tx, &format!("DELETE FROM note {which}"), of)?;
            query::execute(tx, &format!("DELETE FROM note_unit {which}"), of)?;
            if !notes.is_empty() {
                index::update(tx, project, &mut moved, now)?;
            }
            Ok(notes.into_iter().map(|(_, note)| note.id).collect())
        })
    }

    fn purge_note(&self, project: &ProjectId, id: &NoteId, now: Timestamp) -> Result<Note> {
        self.erase(|tx| {
            set_state(tx, project, id, NoteState::Retired, Some(PURGED), now)?;
            let sql =
                "UPDATE note SET title = '', text = '', origin = '', paths = '[]', symbols = '[]'
                 WHERE project = ?1 AND id = ?2";
            query::execute(tx, sql, (project.as_str(), id.as_str()))?;
            erase_delivered(tx, project, id)?;
            operations::forget_note(tx, project, id)?;
            Ok(get(tx, project, id)?.1)
        })
    }

    fn erase_delivered(&self, project: &ProjectId, notes: &[NoteId]) -> Result<u64> {
        self.erase(|tx| notes.iter().map(|id| erase_delivered(tx, project, id)).sum())
    }

    fn note_numbers(&self, project: &ProjectId, kind: NoteKind) -> Result<Vec<i64>> {
        let sql = "SELECT key FROM note WHERE project = ?1 AND kind = ?2 ORDER BY key";
        query::all(&self.connection, sql, (project.as_str(), kind.as_str()), |row| {
            rows::Columns::of(row).int()
        })
    }

    fn note_words_like(&self, project: &ProjectId, word: &str, slips: u32) -> Result<Vec<String>> {
        index::like(&self.connection, project, word, slips)
    }

    fn each_note_postings(
        &self,
        project: &ProjectId,
        terms: &[String],
        visit: &mut dyn FnMut(u64, usize, &Postings),
    ) -> Result<()> {
        index::each(&self.connection, project, terms, visit)
    }
}
