//! Notes. What is learned together goes to the server in few statements, because each costs a round trip.

use std::collections::{HashMap, HashSet};

use handover_model::{Note, NoteId, NoteKind, NoteState, PackageId, ProjectId, Timestamp};
use handover_store::packed::Postings;
use handover_store::rows::{self, Columns, KNOWN_UNIT, NOTE, to_json};
use handover_store::{
    KnownUnit, Learned, Moved, NewNote, NewUnit, NoteFilter, Notes, PURGED, RecordKind, Result,
    StoreError, erased_text, numbered_terms,
};
use handover_text::{Clean, typos};

use crate::PostgresStore;
use crate::link::Statement;
use crate::value::{Param, columns, params, row};

/// How many units are learned in one statement.
const BATCH: usize = 500;

/// What becomes of the notes of some units.
#[derive(Default)]
struct Learning<'a> {
    learned: Learned,
    moved: Moved,
    new: Vec<(&'a NewUnit, &'a NewNote)>,
    refreshed: Vec<(i64, NoteState, Option<&'a str>, &'a NewNote)>,
    deleted: Vec<i64>,
}

/// Notes of a unit that are known, with their numbers.
type Known = HashMap<(NoteKind, String), Vec<(i64, Note)>>;

impl<'a> Learning<'a> {
    fn unit(&mut self, unit: &'a NewUnit, known: &'a Known) {
        let there = known.get(&(unit.kind, unit.source.clone())).map_or(&[][..], Vec::as_slice);
        let mut of_unit: HashMap<&NoteId, &(i64, Note)> =
            there.iter().map(|known| (&known.1.id, known)).collect();
        for new in &unit.notes {
            match of_unit.remove(&new.id) {
                Some((number, note)) => {
                    self.learned.kept += 1;
                    self.refresh(*number, note, new);
                }
                None => self.new.push((unit, new)),
            }
        }
        for (number, note) in of_unit.into_values() {
            if note.state != NoteState::Retired {
                self.deleted.push(*number);
                self.moved.gone.push(numbered_terms(*number, note));
                self.learned.removed += 1;
            }
        }
    }

    /// Takes over what a source says anew about a note that is still there.
    fn refresh(&mut self, number: i64, note: &'a Note, new: &'a NewNote) {
        if let Some((state, reason)) = new.refreshes(note) {
            self.refreshed.push((number, state, reason, new));
        }
    }
}

impl PostgresStore {
    fn notes_of_units(&self, project: &ProjectId, units: &[NewUnit]) -> Result<Known> {
        let asked = columns(
            units
                .iter()
                .map(|unit| row![project.as_str(), unit.kind.as_str(), unit.source.as_str()]),
        );
        let mut known = Known::new();
        if asked.is_empty() {
            return Ok(known);
        }
        let of_note: Vec<String> = NOTE.split(", ").map(|column| format!("n.{column}")).collect();
        let sql = format!(
            "SELECT {} FROM unnest($1, $2, $3) AS q (project, kind, source)
                JOIN note n ON n.project = q.project COLLATE \"C\" AND n.kind = q.kind COLLATE \"C\"
                    AND md5(n.source) = md5(q.source) AND n.source = q.source COLLATE \"C\"",
            of_note.join(", ")
        );
        for (number, note) in self.all(&sql, &asked, rows::note)? {
            let unit = (note.kind, note.source.clone());
            known.entry(unit).or_default().push((number, note));
        }
        Ok(known)
    }

    fn learn_batch(
        &self,
        project: &ProjectId,
        units: &[NewUnit],
        now: Timestamp,
    ) -> Result<(Learned, Moved, bool)> {
        let known = self.notes_of_units(project, units)?;
        let mut learning = Learning::default();
        units.iter().for_each(|unit| learning.unit(unit, &known));
        if !learning.deleted.is_empty() {
            let gone = learning.deleted.clone();
            self.change("DELETE FROM note WHERE key = ANY($1)", params![gone])?;
        }
        let refreshed = columns(learning.refreshed.iter().map(|(number, state, reason, new)| {
            row![*number, state.as_str(), *reason, new.trust.as_str(), new.created_at]
        }));
        if !refreshed.is_empty() {
            self.change(
                "UPDATE note n SET state = q.state, reason = q.reason, trust = q.trust,
                    created_at = q.created_at
                 FROM unnest($1, $2, $3, $4, $5) AS q (key, state, reason, trust, created_at)
                 WHERE n.key = q.key",
                &refreshed,
            )?;
        }
        self.add_notes(project, &mut learning)?;
        self.remember_units(project, units, now)?;
        let Learning { learned, moved, refreshed, .. } = learning;
        Ok((learned, moved, !refreshed.is_empty()))
    }

    fn add_notes(&self, project: &ProjectId, learning: &mut Learning<'_>) -> Result<()> {
        let mut seen = HashSet::new();
        let asked = learning.new.len() as u64;
        learning.new.retain(|(_, new)| seen.insert(&new.id));
        let list = |texts: &[Clean]| to_json(&texts.iter().map(Clean::as_str).collect::<Vec<_>>());
        let rows = columns(learning.new.iter().map(|(unit, new)| {
            row![
                new.id.as_str(),
                project.as_str(),
                unit.kind.as_str(),
                new.origin.as_str(),
                unit.source.as_str(),
                new.title.as_str(),
                new.text.as_str(),
                new.trust.as_str(),
                list(&new.paths),
                list(&new.symbols),
                new.state.as_str(),
                new.reason.as_ref().map(Clean::as_str),
                new.hash.as_str(),
                new.created_at,
            ]
        }));
        if rows.is_empty() {
            return Ok(());
        }
        let places: Vec<String> = (1..=rows.len()).map(|n| format!("${n}")).collect();
        let sql = format!(
            "INSERT INTO note (id, project, kind, origin, source, title, text, trust, paths, symbols, state,
                reason, hash, created_at)
             SELECT * FROM unnest({}) ON CONFLICT (project, id) DO NOTHING RETURNING key, id",
            places.join(", ")
        );
        let added: HashMap<String, i64> = self
            .all(&sql, &rows, |row| {
                let mut columns = Columns::of(row);
                let key = columns.int()?;
                Ok((columns.text()?, key))
            })?
            .into_iter()
            .collect();
        learning.learned.added += added.len() as u64;
        // Another unit says the same as the others.
        learning.learned.kept += asked - added.len() as u64;
        for (unit, new) in &learning.new {
            let Some(number) = added.get(new.id.as_str()) else { continue };
            if let Some(terms) = new.packed_terms(unit.kind) {
                learning.moved.added.push((PackageId(*number), terms));
            }
        }
        Ok(())
    }

    fn remember_units(&self, project: &ProjectId, units: &[NewUnit], now: Timestamp) -> Result<()> {
        let there: HashMap<(NoteKind, &str), &str> = units
            .iter()
            .filter_map(|unit| {
                Some(((unit.kind, unit.source.as_str()), unit.fingerprint.as_deref()?))
            })
            .collect();
        let there = columns(there.into_iter().map(|((kind, source), fingerprint)| {
            row![project.as_str(), kind.as_str(), source, fingerprint, now]
        }));
        let gone = columns(
            units
                .iter()
                .filter(|unit| unit.fingerprint.is_none())
                .map(|unit| row![project.as_str(), unit.kind.as_str(), unit.source.as_str()]),
        );
        let statements: [(&str, &[Param<'_>]); 2] = [
            (
                "INSERT INTO note_unit (project, kind, source, fingerprint, learned_at)
                 SELECT * FROM unnest($1, $2, $3, $4, $5)
                 ON CONFLICT (project, kind, md5(source)) DO UPDATE
                    SET fingerprint = excluded.fingerprint, learned_at = excluded.learned_at",
                &there,
            ),
            (
                "DELETE FROM note_unit u USING unnest($1, $2, $3) AS q (project, kind, source)
                 WHERE u.project = q.project COLLATE \"C\" AND u.kind = q.kind COLLATE \"C\"
                    AND u.source = q.source COLLATE \"C\"",
                &gone,
            ),
        ];
        let statements: Vec<Statement<'_>> = statements
            .into_iter()
            .filter(|(_, params)| !params.is_empty())
            .map(|(sql, params)| Statement { sql, params })
            .collect();
        self.change_all(&statements)
    }

    fn numbered_note(&self, project: &ProjectId, id: &NoteId) -> Result<(i64, Note)> {
        let sql = format!("SELECT {NOTE} FROM note WHERE project = $1 AND id = $2");
        self.first(&sql, params![project.as_str(), id.as_str()], rows::note)?
            .ok_or_else(|| StoreError::not_found(RecordKind::Note, id))
    }

    fn change_note_state(
        &self,
        project: &ProjectId,
        id: &NoteId,
        state: NoteState,
        reason: Option<&str>,
        now: Timestamp,
    ) -> Result<Note> {
        let (number, before) = self.numbered_note(project, id)?;
        if (before.state, before.reason.as_deref()) == (state, reason) {
            return Ok(before);
        }
        self.change(
            "UPDATE note SET state = $2, reason = $3 WHERE key = $1",
            params![number, state.as_str(), reason],
        )?;
        let moved = Moved::by_state(number, &before, state);
        self.update_notes(project, moved, now)?;
        Ok(self.numbered_note(project, id)?.1)
    }

    /// Erases the texts of receipts that show a note, and the names in it.
    fn erase_receipts(&self, project: &ProjectId, id: &NoteId) -> Result<u64> {
        self.change(
            "UPDATE receipt_item i SET stale = '[]' FROM receipt r, session s
             WHERE i.kind = 'note' AND i.item = $1 AND i.receipt = r.id AND s.key = r.session
                AND s.project = $2 AND i.stale != '[]'",
            params![id.as_str(), project.as_str()],
        )?;
        self.change(
            "UPDATE receipt r SET text = $3 FROM receipt_item i, session s
             WHERE i.kind = 'note' AND i.item = $1 AND i.receipt = r.id AND s.key = r.session
                AND s.project = $2 AND r.text IS NOT NULL",
            params![id.as_str(), project.as_str(), erased_text(id)],
        )
    }
}

impl Notes for PostgresStore {
    fn learn_notes(
        &self,
        project: &ProjectId,
        units: &[NewUnit],
        now: Timestamp,
    ) -> Result<Learned> {
        self.write(|| {
            let (mut learned, mut moved, mut changed) =
                (Learned::default(), Moved::default(), false);
            for units in units.chunks(BATCH) {
                let (of_batch, in_batch, refreshed) = self.learn_batch(project, units, now)?;
                learned.added += of_batch.added;
                learned.kept += of_batch.kept;
                learned.removed += of_batch.removed;
                moved.added.extend(in_batch.added);
                moved.gone.extend(in_batch.gone);
                changed |= refreshed;
            }
            if changed || !moved.added.is_empty() || !moved.gone.is_empty() {
                self.update_notes(project, moved, now)?;
            }
            Ok(learned)
        })
    }

    fn note(&self, project: &ProjectId, id: &NoteId) -> Result<Note> {
        Ok(self.numbered_note(project, id)?.1)
    }

    fn notes(&self, project: &ProjectId, filter: &NoteFilter) -> Result<Vec<Note>> {
        let found = self.all(
            &format!(
                "SELECT {NOTE} FROM note WHERE project = $1 AND ($2 IS NULL OR kind = $2)
                    AND ($3 IS NULL OR state = $3) AND ($4 IS NULL OR source = $4)
                 ORDER BY created_at DESC, id LIMIT $5 OFFSET $6"
            ),
            params![
                project.as_str(),
                filter.kind.map(NoteKind::as_str),
                filter.state.map(NoteState::as_str),
                &filter.source,
                filter.limit,
                filter.skip,
            ],
            rows::note,
        )?;
        Ok(found.into_iter().map(|(_, note)| note).collect())
    }

    fn notes_by_number(&self, project: &ProjectId, numbers: &[i64]) -> Result<Vec<(i64, Note)>> {
        let sql = format!("SELECT {NOTE} FROM note WHERE project = $1 AND key = ANY($2)");
        self.all(&sql, params![project.as_str(), numbers.to_vec()], rows::note)
    }

    fn set_note_state(
        &self,
        project: &ProjectId,
        id: &NoteId,
        state: NoteState,
        reason: Option<&Clean>,
        now: Timestamp,
    ) -> Result<Note> {
        let reason = reason.map(Clean::as_str);
        self.write(|| self.change_note_state(project, id, state, reason, now))
    }

    fn note_units(&self, project: &ProjectId, kind: NoteKind) -> Result<Vec<KnownUnit>> {
        let sql = format!(
            "SELECT {KNOWN_UNIT} FROM note_unit WHERE project = $1 AND kind = $2 ORDER BY source"
        );
        self.all(&sql, params![project.as_str(), kind.as_str()], rows::known_unit)
    }

    fn forget_notes(
        &self,
        project: &ProjectId,
        kind: NoteKind,
        source: Option<&String>,
        now: Timestamp,
    ) -> Result<Vec<NoteId>> {
        let source = source.map(String::as_str);
        let which = "WHERE project = $1 AND kind = $2 AND ($3 IS NULL OR source = $3)";
        self.write(|| {
            let of = params![project.as_str(), kind.as_str(), source];
            let sql = format!("SELECT {NOTE} FROM note {which} ORDER BY key");
            let notes = self.all(&sql, of, rows::note)?;
            let mut moved = Moved::default();
            for (number, note) in &notes {
                self.erase_receipts(project, &note.id)?;
                self.forget_operations(project, &note.id)?;
                if note.state != NoteState::Retired {
                    moved.gone.push(numbered_terms(*number, note));
                }
            }
            self.change(&format!("DELETE FROM note {which}"), of)?;
            self.change(&format!("DELETE FROM note_unit {which}"), of)?;
            if !notes.is_empty() {
                self.update_notes(project, moved, now)?;
            }
            Ok(notes.into_iter().map(|(_, note)| note.id).collect())
        })
    }

    fn purge_note(&self, project: &ProjectId, id: &NoteId, now: Timestamp) -> Result<Note> {
        self.write(|| {
            self.change_note_state(project, id, NoteState::Retired, Some(PURGED), now)?;
            self.change(
                "UPDATE note SET title = '', text = '', origin = '', paths = '[]', symbols = '[]'
                 WHERE project = $1 AND id = $2",
                params![project.as_str(), id.as_str()],
            )?;
            self.erase_receipts(project, id)?;
            self.forget_operations(project, id)?;
            Ok(self.numbered_note(project, id)?.1)
        })
    }

    fn erase_delivered(&self, project: &ProjectId, notes: &[NoteId]) -> Result<u64> {
        self.write(|| notes.iter().map(|id| self.erase_receipts(project, id)).sum())
    }

    fn note_numbers(&self, project: &ProjectId, kind: NoteKind) -> Result<Vec<i64>> {
        let sql = "SELECT key FROM note WHERE project = $1 AND kind = $2 ORDER BY key";
        self.all(sql, params![project.as_str(), kind.as_str()], |row| Columns::of(row).int())
    }

    fn note_words_like(&self, project: &ProjectId, word: &str, slips: u32) -> Result<Vec<String>> {
        let (shortest, longest) = typos::stem_lengths(word, slips);
        let sql = "SELECT DISTINCT term FROM note_page
             WHERE project = $1 AND length(term) BETWEEN $2 AND $3 ORDER BY term";
        let words = self.all(
            sql,
            params![project.as_str(), i64::from(shortest), i64::from(longest)],
            |row| Columns::of(row).text(),
        )?;
        Ok(typos::nearest(word, slips, words))
    }

    fn each_note_postings(
        &self,
        project: &ProjectId,
        terms: &[String],
        visit: &mut dyn FnMut(u64, usize, &Postings),
    ) -> Result<()> {
        self.each_page_of_notes(project, terms, visit)
    }
}
