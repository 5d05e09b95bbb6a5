//! A shared store whose private notes stay on this machine: conversations and foreign memories live in a
//! store of their own, everything else in the shared one, and readers see both. So do the texts of
//! receipts that show such notes.

use std::ops::Deref;

use handover_model::*;
use handover_text::{Clean, CleanJson, Redactor, typos};

use crate::archive::{Added, Archive, CleanRecord, Fill, Record, Sink};
use crate::packed::Postings;
use crate::*;

/// Private notes have numbers from here on. A multiple of every block size, so that pages stay pages.
const PRIVATE: i64 = 1 << 40;

/// A store in which private notes are kept apart. `S` and `P` own or borrow the two.
#[derive(Debug)]
pub struct PrivateNotes<S, P> {
    /// Has everything but private notes.
    pub shared: S,
    /// Has nothing but private notes.
    pub private: P,
}

macro_rules! parameter {
    (by $ty:ty) => { &$ty };
    (val $ty:ty) => { $ty };
    (opt $ty:ty) => { Option<&$ty> };
    (text $ty:ty) => { &str };
    (list $ty:ty) => { &[$ty] };
}

/// What the shared store alone cannot do.
macro_rules! answer {
    (put_receipt, $self:ident, $new:ident) => { $self.put($new) };
    (receipt, $self:ident, $id:ident) => { $self.with_text($self.shared.receipt($id)?) };
    (advance_receipt, $self:ident, $($arg:ident),*) => {
        $self.with_text($self.shared.advance_receipt($($arg),*)?)
    };
    (mark_read, $self:ident, $($arg:ident),*) => {
        $self.with_text($self.shared.mark_read($($arg),*)?)
    };
    (log_operation, $self:ident, $new:ident) => {
        // Which private notes somebody retired, and why, is as private as they are.
        match $new.edits().iter().any(|edit| edit.is_private()) {
            true => $self.private.log_operation(&NewOperation { session: None, ..$new.clone() }),
            false => $self.shared.log_operation($new),
        }
    };
    (operations, $self:ident, $project:ident, $filter:ident) => {{
        let mut all = $self.shared.operations($project, $filter)?;
        all.extend($self.private.operations($project, $filter)?);
        all.sort_by(|a, b| (b.created_at, &b.id).cmp(&(a.created_at, &a.id)));
        all.truncate($filter.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok(all)
    }};
    (drop_operations, $self:ident, $project:ident, $before:ident) => {
        Ok($self.shared.drop_operations($project, $before)?
            + $self.private.drop_operations($project, $before)?)
    };
    (decide_amendment, $self:ident, $new:ident) => {{
        let is_private = $new.earlier.is_private() || $new.later.is_private();
        if is_private { $self.private.decide_amendment($new) } else { $self.shared.decide_amendment($new) }
    }};
    (amendments, $self:ident, $project:ident) => {{
        let mut all = $self.private.amendments($project)?;
        all.extend($self.shared.amendments($project)?);
        all.sort_by(|a, b| {
            let pair = |one: &Amendment| (one.earlier.clone(), one.later.clone());
            b.decided_at.cmp(&a.decided_at).then_with(|| pair(a).cmp(&pair(b)))
        });
        Ok(all)
    }};
    (purge_session, $self:ident, $id:ident) => {{
        or_else($self.private.purge_session($id), || Ok(SessionCounts::default()))?;
        $self.shared.purge_session($id)
    }};
    ($name:ident, $self:ident, $($arg:ident),*) => { $self.shared.$name($($arg),*) };
}

macro_rules! aggregate {
    // These two are written by hand.
    (Notes $($methods:tt)*) => {};
    (TextIndex $($methods:tt)*) => {};
    ($trait:ident $($name:ident($($arg:ident: $kind:ident $ty:ty),*) -> $ret:ty;)+) => {
        impl<S, P> $trait for PrivateNotes<S, P>
        where
            S: Deref<Target: Store>,
            P: Deref<Target: Store>,
        {
            $(fn $name(&self, $($arg: parameter!($kind $ty)),*) -> Result<$ret> {
                answer!($name, self, $($arg),*)
            })+
        }
    };
}

macro_rules! delegate {
    ($($trait:ident {
        $($right:ident $name:ident($($arg:ident: $kind:ident $ty:ty),*) -> $ret:ty, $guard:ident($($what:expr)?);)+
    })+) => {
        $(aggregate!($trait $($name($($arg: $kind $ty),*) -> $ret;)+);)+
    };
}

store_methods!(delegate);

/// The second answer if the first store has no such record.
fn or_else<T>(first: Result<T>, second: impl FnOnce() -> Result<T>) -> Result<T> {
    match first {
        Err(StoreError::NotFound { .. }) => second(),
        other => other,
    }
}

impl<S, P> PrivateNotes<S, P>
where
    S: Deref<Target: Store>,
    P: Deref<Target: Store>,
{
    /// Stores a receipt; a text that shows private notes stays with them.
    fn put(&self, new: &NewReceipt) -> Result<()> {
        let mut items = Vec::new();
        let project = self.shared.session(&new.session)?.project;
        for item in new.items.iter().filter(|item| item.kind == ItemKind::Note) {
            let Ok(id) = NoteId::new(&item.id) else { continue };
            match self.private.note(&project, &id) {
                Ok(_) => items.push(item.clone()),
                // A conversation may have been read anew in the meantime.
                Err(StoreError::NotFound { .. }) => {
                    if NoteKind::of_id(&id).is_some_and(NoteKind::is_private) {
                        items.push(item.clone());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        if items.is_empty() || new.text.is_none() {
            return self.shared.put_receipt(new);
        }
        let withheld = Redactor::default().clean(WITHHELD);
        let mut shared = NewReceipt { text: Some(withheld), ..new.clone() };
        // The names in a note are its words.
        for item in shared.items.iter_mut().filter(|item| items.contains(&**item)) {
            item.stale.clear();
        }
        self.shared.put_receipt(&shared)?;
        // It is there already if the shared transaction was repeated.
        let put = || {
            let (id, now) = (new.session.clone(), new.now);
            let metadata = CleanJson::default();
            self.private.open_session(&NewSession { id, project, metadata, now })?;
            let left_out = Vec::new();
            self.private.put_receipt(&NewReceipt { items, left_out, claim: false, ..new.clone() })
        };
        or_else(self.private.receipt(&new.id).map(drop), put)
    }

    /// A receipt with its text, if that is here.
    fn with_text(&self, mut receipt: Receipt) -> Result<Receipt> {
        if receipt.text.as_deref() == Some(WITHHELD) {
            match self.private.receipt(&receipt.id) {
                Ok(kept) => {
                    receipt.text = kept.text;
                    for item in kept.items {
                        let same = |other: &&mut ReceiptItem| {
                            other.kind == item.kind && other.id == item.id
                        };
                        if let Some(other) = receipt.items.iter_mut().find(same) {
                            other.stale = item.stale;
                        }
                    }
                }
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(receipt)
    }
}

impl<S, P> Notes for PrivateNotes<S, P>
where
    S: Deref<Target: Store>,
    P: Deref<Target: Store>,
{
    fn learn_notes(
        &self,
        project: &ProjectId,
        units: &[NewUnit],
        now: Timestamp,
    ) -> Result<Learned> {
        let (private, shared): (Vec<NewUnit>, Vec<NewUnit>) =
            units.iter().cloned().partition(|unit| unit.kind.is_private());
        let mut learned = Learned::default();
        let mut add = |more: Learned| {
            learned.added += more.added;
            learned.kept += more.kept;
            learned.removed += more.removed;
        };
        if !private.is_empty() {
            add(self.private.learn_notes(project, &private, now)?);
        }
        if !shared.is_empty() {
            add(self.shared.learn_notes(project, &shared, now)?);
        }
        Ok(learned)
    }

    fn note(&self, project: &ProjectId, id: &NoteId) -> Result<Note> {
        or_else(self.private.note(project, id), || self.shared.note(project, id))
    }

    fn notes(&self, project: &ProjectId, filter: &NoteFilter) -> Result<Vec<Note>> {
        let both = filter.from_the_first();
        let mut notes = self.private.notes(project, &both)?;
        notes.extend(self.shared.notes(project, &both)?);
        Ok(filter.page_of(notes))
    }

    fn notes_by_number(&self, project: &ProjectId, numbers: &[i64]) -> Result<Vec<(i64, Note)>> {
        let (private, shared): (Vec<i64>, Vec<i64>) =
            numbers.iter().partition(|number| **number >= PRIVATE);
        let private: Vec<i64> = private.into_iter().map(|number| number - PRIVATE).collect();
        let mut notes = match shared.as_slice() {
            [] => Vec::new(),
            numbers => self.shared.notes_by_number(project, numbers)?,
        };
        let private = self.private.notes_by_number(project, &private)?;
        notes.extend(private.into_iter().map(|(number, note)| (number + PRIVATE, note)));
        Ok(notes)
    }

    fn set_note_state(
        &self,
        project: &ProjectId,
        id: &NoteId,
        state: NoteState,
        reason: Option<&Clean>,
        now: Timestamp,
    ) -> Result<Note> {
        or_else(self.private.set_note_state(project, id, state, reason, now), || {
            self.shared.set_note_state(project, id, state, reason, now)
        })
    }

    fn note_units(&self, project: &ProjectId, kind: NoteKind) -> Result<Vec<KnownUnit>> {
        if kind.is_private() {
            self.private.note_units(project, kind)
        } else {
            self.shared.note_units(project, kind)
        }
    }

    fn forget_notes(
        &self,
        project: &ProjectId,
        kind: NoteKind,
        source: Option<&String>,
        now: Timestamp,
    ) -> Result<Vec<NoteId>> {
        // Private ones may be in the shared store from a time when they were shared.
        let mut gone = self.private.forget_notes(project, kind, source, now)?;
        if !gone.is_empty() {
            self.shared.erase_delivered(project, &gone)?;
        }
        gone.extend(self.shared.forget_notes(project, kind, source, now)?);
        Ok(gone)
    }

    fn purge_note(&self, project: &ProjectId, id: &NoteId, now: Timestamp) -> Result<Note> {
        match self.private.purge_note(project, id, now) {
            Ok(purged) => {
                self.shared.erase_delivered(project, std::slice::from_ref(id))?;
                Ok(purged)
            }
            error => or_else(error, || self.shared.purge_note(project, id, now)),
        }
    }

    fn erase_delivered(&self, project: &ProjectId, notes: &[NoteId]) -> Result<u64> {
        Ok(self.shared.erase_delivered(project, notes)?
            + self.private.erase_delivered(project, notes)?)
    }

    fn note_numbers(&self, project: &ProjectId, kind: NoteKind) -> Result<Vec<i64>> {
        let mut numbers = self.shared.note_numbers(project, kind)?;
        let private = self.private.note_numbers(project, kind)?;
        numbers.extend(private.into_iter().map(|number| number + PRIVATE));
        Ok(numbers)
    }

    fn note_words_like(&self, project: &ProjectId, word: &str, slips: u32) -> Result<Vec<String>> {
        let mut words = self.shared.note_words_like(project, word, slips)?;
        words.extend(self.private.note_words_like(project, word, slips)?);
        words.sort_unstable();
        words.dedup();
        Ok(typos::nearest(word, slips, words))
    }

    fn each_note_postings(
        &self,
        project: &ProjectId,
        terms: &[String],
        visit: &mut dyn FnMut(u64, usize, &Postings),
    ) -> Result<()> {
        let private = self.private.note_postings(project, terms)?;
        let mut wrong = None;
        self.shared.each_note_postings(project, terms, &mut |notes, term, shared| {
            let mut both = shared.clone();
            for posting in private.lists.get(term).map(Postings::list).unwrap_or_default() {
                let package = PackageId(posting.package.0 + PRIVATE);
                if let Err(error) = both.push(&Posting { package, ..posting }) {
                    wrong.get_or_insert(error);
                }
            }
            visit(notes + private.notes, term, &both);
        })?;
        wrong.map_or(Ok(()), |error| Err(StoreError::Index(error)))
    }
}

impl<S, P> TextIndex for PrivateNotes<S, P>
where
    S: Deref<Target: Store>,
    P: Deref<Target: Store>,
{
    fn each_postings(
        &self,
        session: &SessionId,
        terms: &[String],
        visit: &mut dyn FnMut(usize, &Postings),
    ) -> Result<()> {
        self.shared.each_postings(session, terms, visit)
    }

    fn words_like(&self, session: &SessionId, word: &str, slips: u32) -> Result<Vec<String>> {
        self.shared.words_like(session, word, slips)
    }

    fn reindex(&self, session: Option<&SessionId>) -> Result<Reindexed> {
        if session.is_none() {
            self.private.reindex(None)?;
        }
        self.shared.reindex(session)
    }
}

/// Only what is shared moves.
impl<S, P> Archive for PrivateNotes<S, P>
where
    S: Deref<Target: Store>,
    P: Deref<Target: Store>,
{
    fn each_record(&self, visit: &mut Sink<'_>) -> Result<()> {
        self.shared.each_record(visit)
    }

    fn put_records(&self, fill: &mut Fill<'_>) -> Result<Added> {
        self.shared.put_records(fill)
    }

    fn replace_record(&self, old: &Record, new: &CleanRecord) -> Result<()> {
        self.shared.replace_record(old, new)
    }
}

/// Transactions are those of the shared store; private notes are committed one call at a time.
impl<S, P> Store for PrivateNotes<S, P>
where
    S: Deref<Target: Store>,
    P: Deref<Target: Store>,
{
    fn exclusively(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        let private = &*self.private;
        self.shared.exclusively(&mut |shared| work(&PrivateNotes { shared, private }))
    }

    fn consistently(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        let private = &*self.private;
        self.shared.consistently(&mut |shared| work(&PrivateNotes { shared, private }))
    }

    fn check(&self) -> Result<Vec<Check>> {
        let mut checks = self.shared.check()?;
        for mut of_private in self.private.check()? {
            for problem in &mut of_private.problems {
                problem.insert_str(0, "private notes: ");
            }
            match checks.iter_mut().find(|check| check.part == of_private.part) {
                Some(check) => check.problems.append(&mut of_private.problems),
                None => checks.push(of_private),
            }
        }
        Ok(checks)
    }
}
