//! Notes: what the project already knows. They belong to a project, not to a session.

use handover_model::{Note, NoteId, NoteKind, NoteState, PackageId, ProjectId, Timestamp, Trust};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::packed::{Postings, note_terms};

/// One note of a [`NewUnit`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewNote {
    /// Derived from origin and content.
    pub id: NoteId,
    /// See [`Note::origin`].
    pub origin: Clean,
    /// See [`Note::title`].
    pub title: Clean,
    /// See [`Note::text`].
    pub text: Clean,
    /// See [`Note::trust`].
    pub trust: Trust,
    /// See [`Note::paths`].
    pub paths: Vec<Clean>,
    /// See [`Note::symbols`].
    pub symbols: Vec<Clean>,
    /// Its state as far as the source tells: a reverted commit is stale.
    pub state: NoteState,
    /// Why it is in this state.
    pub reason: Option<Clean>,
    /// See [`Note::hash`].
    pub hash: String,
    /// The time of its source.
    pub created_at: Timestamp,
}

impl NewNote {
    /// Its packed terms for the index; none if it is not in the index.
    pub fn packed_terms(&self, kind: NoteKind) -> Option<Vec<u8>> {
        let names: Vec<&str> = self.paths.iter().chain(&self.symbols).map(Clean::as_str).collect();
        let terms = note_terms(kind, self.title.as_str(), &names, self.text.as_str());
        (self.state != NoteState::Retired).then(|| terms.packed())
    }

    /// The state and its reason that a note has after its source was read anew; none if the note stays as it is.
    pub fn refreshes<'a>(&'a self, note: &'a Note) -> Option<(NoteState, Option<&'a str>)> {
        // A person or a later statement outweighs the source. A live note has a reason only if a person
        // gave it one.
        let fixed = match note.state {
            NoteState::Retired | NoteState::Amended => true,
            NoteState::Live => note.reason.is_some(),
            NoteState::Stale => false,
        };
        let before = (note.state, note.reason.as_deref());
        let after =
            if fixed { before } else { (self.state, self.reason.as_ref().map(Clean::as_str)) };
        let same =
            after == before && (self.trust, self.created_at) == (note.trust, note.created_at);
        (!same).then_some(after)
    }
}

/// The packed terms of a stored note, under its number.
pub fn numbered_terms(number: i64, note: &Note) -> (PackageId, Vec<u8>) {
    let names: Vec<&str> = note.paths.iter().chain(&note.symbols).map(String::as_str).collect();
    (PackageId(number), note_terms(note.kind, &note.title, &names, &note.text).packed())
}

/// Notes that enter and leave the index, each with its packed terms.
#[derive(Debug, Default)]
pub struct Moved {
    /// Those that enter.
    pub added: Vec<(PackageId, Vec<u8>)>,
    /// Those that leave.
    pub gone: Vec<(PackageId, Vec<u8>)>,
}

impl Moved {
    /// What a change of state moves.
    pub fn by_state(number: i64, before: &Note, state: NoteState) -> Self {
        let mut moved = Self::default();
        match (before.state == NoteState::Retired, state == NoteState::Retired) {
            (true, false) => moved.added.push(numbered_terms(number, before)),
            (false, true) => moved.gone.push(numbered_terms(number, before)),
            (false, false) | (true, true) => {}
        }
        moved
    }
}

/// What is learned from one document, commit, transcript or foreign record.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewUnit {
    /// Where its notes come from.
    pub kind: NoteKind,
    /// Its name, see [`Note::source`].
    pub source: String,
    /// What it was like when it was read. `None` if it is gone, and its notes with it.
    pub fingerprint: Option<String>,
    /// All of its notes.
    pub notes: Vec<NewNote>,
}

/// A unit that was learned, and what it was like then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownUnit {
    /// Its name.
    pub source: String,
    /// See [`NewUnit::fingerprint`].
    pub fingerprint: String,
    /// When it was read.
    pub learned_at: Timestamp,
}

/// What [`Notes::learn_notes`] did to the notes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    /// How many are new.
    pub added: u64,
    /// How many were known.
    pub kept: u64,
    /// How many are no longer in their unit.
    pub removed: u64,
}

/// Which notes to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct NoteFilter {
    /// Only from this kind of source.
    pub kind: Option<NoteKind>,
    /// Only in this state.
    pub state: Option<NoteState>,
    /// Only of this unit.
    pub source: Option<String>,
    /// How many to pass over.
    #[serde(default)]
    pub skip: u32,
    /// The maximum number of results; none means all.
    pub limit: Option<u32>,
}

impl NoteFilter {
    /// The filter for each of several sources whose notes are one list.
    #[must_use]
    pub fn from_the_first(&self) -> Self {
        let limit = self.limit.map(|limit| limit.saturating_add(self.skip));
        Self { skip: 0, limit, ..self.clone() }
    }

    /// What the filter asks for of the notes of several sources, in the order of listings.
    pub fn page_of(&self, mut notes: Vec<Note>) -> Vec<Note> {
        notes.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| a.id.cmp(&b.id)));
        let limit = self.limit.map_or(usize::MAX, |limit| limit as usize);
        notes.into_iter().skip(self.skip as usize).take(limit).collect()
    }
}

/// The postings of some terms in the notes of a project.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct NotePostings {
    /// How many notes are in the index.
    pub notes: u64,
    /// By term. Notes have numbers there; their counts are weights, see
    /// [`packed::note_terms`](crate::packed::note_terms).
    pub lists: Vec<Postings>,
}

/// Notes.
pub trait Notes {
    /// Replaces the notes of some units and remembers what the units were like, all or none. A note that
    /// is still there keeps its state if a person or a later statement has set it. One that is gone is
    /// deleted, unless it is retired: that has to hold if it returns.
    fn learn_notes(
        &self,
        project: &ProjectId,
        units: &[NewUnit],
        now: Timestamp,
    ) -> Result<Learned>;

    /// One note.
    fn note(&self, project: &ProjectId, id: &NoteId) -> Result<Note>;

    /// The project's notes, newest first, then by id.
    fn notes(&self, project: &ProjectId, filter: &NoteFilter) -> Result<Vec<Note>>;

    /// Notes by their numbers in the index, in any order. Numbers of no note are skipped.
    fn notes_by_number(&self, project: &ProjectId, numbers: &[i64]) -> Result<Vec<(i64, Note)>>;

    /// Changes the state of a note. Retired notes are in no index.
    fn set_note_state(
        &self,
        project: &ProjectId,
        id: &NoteId,
        state: NoteState,
        reason: Option<&Clean>,
        now: Timestamp,
    ) -> Result<Note>;

    /// The units of a kind that were learned, by name.
    fn note_units(&self, project: &ProjectId, kind: NoteKind) -> Result<Vec<KnownUnit>>;

    /// Deletes the notes of one unit, or of all units of a kind, and the texts that showed them. They can
    /// be learned again. Returns which they were.
    fn forget_notes(
        &self,
        project: &ProjectId,
        kind: NoteKind,
        source: Option<&String>,
        now: Timestamp,
    ) -> Result<Vec<NoteId>>;

    /// Erases what a note says, here and in every receipt that shows it. Its id and hash stay, retired, so
    /// that it is not learned again.
    fn purge_note(&self, project: &ProjectId, id: &NoteId, now: Timestamp) -> Result<Note>;

    /// Erases the texts of receipts that show one of these notes; how many there were.
    fn erase_delivered(&self, project: &ProjectId, notes: &[NoteId]) -> Result<u64>;

    /// The numbers of all notes of a kind, ascending.
    fn note_numbers(&self, project: &ProjectId, kind: NoteKind) -> Result<Vec<i64>>;

    /// The words of the index that differ from this one by the fewest slips, at most as many as given. See
    /// [`handover_text::typos`].
    fn note_words_like(&self, project: &ProjectId, word: &str, slips: u32) -> Result<Vec<String>>;

    /// Visits the number of notes in the index and the postings of each term, in the order of the terms.
    /// Only one list is held at a time. A store implements this or [`note_postings`](Self::note_postings).
    fn each_note_postings(
        &self,
        project: &ProjectId,
        terms: &[String],
        visit: &mut dyn FnMut(u64, usize, &Postings),
    ) -> Result<()> {
        let NotePostings { notes, lists } = self.note_postings(project, terms)?;
        lists.iter().enumerate().for_each(|(term, list)| visit(notes, term, list));
        Ok(())
    }

    /// The postings of each term.
    fn note_postings(&self, project: &ProjectId, terms: &[String]) -> Result<NotePostings> {
        let mut postings = NotePostings::default();
        self.each_note_postings(project, terms, &mut |notes, _, list| {
            postings.notes = notes;
            postings.lists.push(list.clone());
        })?;
        Ok(postings)
    }
}

/// What stands in a receipt instead of the text that showed a purged note.
pub fn erased_text(note: &NoteId) -> String {
    format!("[erased: it showed note {note}]")
}

/// The reason of a note that was purged.
pub const PURGED: &str = "purged";
