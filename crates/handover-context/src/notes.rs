//! Notes by hand: writing one, naming one, and deciding whether it counts. The same for the command line and
//! the service.

use handover_model::{
    AmendmentDecision, InvalidId, Note, NoteId, NoteKind, NoteState, ProjectId, Timestamp, Trust,
};
use handover_store::{NewNote, NewUnit, NoteFilter, PURGED, Store, StoreError};
use handover_text::{Redactor, cut};

use crate::amendments::{self, AmendmentError};

/// One passage. Anything longer should be a document.
const MAX_CHARS: usize = 1_600;
const TITLE_CHARS: usize = 80;
/// The shortest part of an id that names a note.
const SHORTEST_PART: usize = 4;
const CONFIRMED: &str = " (confirmed)";

/// Why a note cannot be written, found or changed.
#[derive(Debug, thiserror::Error)]
pub enum NoteError {
    /// It has no text.
    #[error("the note is empty")]
    Empty,
    /// It is more than one passage.
    #[error("the note has {0} characters; the limit is {MAX_CHARS}")]
    Long(usize),
    /// No note has this id, or one that begins or ends like that.
    #[error("there is no note `{0}`")]
    Unknown(String),
    /// Several have.
    #[error("`{name}` matches {count} notes")]
    Ambiguous {
        /// The part of an id that was given.
        name: String,
        /// How many notes match.
        count: usize,
    },
    /// What was purged cannot be restored.
    #[error("note `{0}` was erased")]
    Erased(NoteId),
    /// No replacement was found.
    #[error("note `{id}` is {state}, and no later note was found that replaces it")]
    NotAmended {
        /// The note.
        id: NoteId,
        /// Its state.
        state: NoteState,
    },
    /// Nothing could be decided.
    #[error(transparent)]
    Amendment(#[from] AmendmentError),
    /// The id cannot be derived.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl NoteError {
    /// A stable name of the error, for scripts and for clients of the service.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty | Self::Long(_) | Self::Id(_) => "invalid_input",
            Self::Unknown(_) => "not_found",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Erased(_) => "erased",
            Self::NotAmended { .. } => "wrong_state",
            Self::Amendment(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }
}

/// A note written by hand.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// One statement.
    pub text: &'a str,
    /// Otherwise the beginning of the text.
    pub title: Option<&'a str>,
    /// The files that it is about.
    pub paths: &'a [String],
    /// Who says it.
    pub trust: Trust,
}

/// Stores a note written by hand; returns it, and whether it is new. The same text again is the same note.
pub fn write(
    store: &dyn Store,
    project: &ProjectId,
    redactor: &Redactor,
    note: &Written<'_>,
    now: Timestamp,
) -> Result<(Note, bool), NoteError> {
    if note.text.trim().is_empty() {
        return Err(NoteError::Empty);
    }
    let text = redactor.clean(note.text.trim());
    let chars = text.as_str().chars().count();
    if chars > MAX_CHARS {
        return Err(NoteError::Long(chars));
    }
    let first = text.as_str().lines().next().unwrap_or_default();
    let title = match note.title {
        Some(title) => redactor.clean(title.trim()),
        None => redactor.clean(&cut::cut(first, TITLE_CHARS)),
    };
    let hash = blake3::hash(text.as_str().as_bytes()).to_hex().to_string();
    let id = NoteId::new(format!("{}-{}", NoteKind::Manual, &hash[..24]))?;
    let unit = NewUnit {
        kind: NoteKind::Manual,
        source: id.to_string(),
        fingerprint: Some(hash.clone()),
        notes: vec![NewNote {
            id: id.clone(),
            origin: redactor.clean("written by hand"),
            title,
            text,
            trust: note.trust,
            paths: note.paths.iter().map(|path| redactor.clean(path)).collect(),
            symbols: Vec::new(),
            state: NoteState::Live,
            reason: None,
            hash,
            created_at: now,
        }],
    };
    let learned = store.learn_notes(project, &[unit], now)?;
    Ok((store.note(project, &id)?, learned.added > 0))
}

/// The note of this id, or the only one whose id starts or ends with it.
pub fn named(store: &dyn Store, project: &ProjectId, name: &str) -> Result<Note, NoteError> {
    if let Ok(id) = NoteId::new(name) {
        match store.note(project, &id) {
            Err(StoreError::NotFound { .. }) => {}
            other => return Ok(other?),
        }
    }
    if name.len() < SHORTEST_PART {
        return Err(NoteError::Unknown(name.to_owned()));
    }
    let mut notes = store.notes(project, &NoteFilter::default())?;
    notes.retain(|note| note.id.as_str().starts_with(name) || note.id.as_str().ends_with(name));
    let count = notes.len();
    match notes.pop() {
        Some(note) if count == 1 => Ok(note),
        Some(_) => Err(NoteError::Ambiguous { name: name.to_owned(), count }),
        None => Err(NoteError::Unknown(name.to_owned())),
    }
}

/// What becomes of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision<'a> {
    /// It is taken out of use.
    Retire {
        /// Shown wherever the note is listed.
        reason: Option<&'a str>,
    },
    /// It is used again.
    Restore,
    /// A later statement replaces it, indeed.
    Confirm {
        /// Which, if the rule did not find it.
        by: Option<&'a Note>,
    },
    /// It does not.
    Reject {
        /// Which, if the rule did not find it.
        by: Option<&'a Note>,
    },
}

/// Carries a decision out.
pub fn decide(
    store: &dyn Store,
    project: &ProjectId,
    redactor: &Redactor,
    note: &Note,
    decision: Decision<'_>,
    now: Timestamp,
) -> Result<Note, NoteError> {
    let (state, reason) = match decision {
        Decision::Retire { reason } => (NoteState::Retired, reason.map(str::to_owned)),
        Decision::Restore if note.reason.as_deref() == Some(PURGED) && note.text.is_empty() => {
            return Err(NoteError::Erased(note.id.clone()));
        }
        Decision::Restore => (NoteState::Live, None),
        Decision::Confirm { by } => {
            let reason = replaced(store, project, note, by, AmendmentDecision::Confirmed, now)?;
            let reason = reason.strip_suffix(CONFIRMED).unwrap_or(&reason);
            (NoteState::Amended, Some(format!("{reason}{CONFIRMED}")))
        }
        Decision::Reject { by } => {
            let reason = replaced(store, project, note, by, AmendmentDecision::Rejected, now)?;
            if note.state != NoteState::Amended {
                return Ok(note.clone());
            }
            (NoteState::Live, Some(format!("not {reason}")))
        }
    };
    let reason = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    let reason = reason.map(|reason| redactor.clean(reason));
    Ok(store.set_note_state(project, &note.id, state, reason.as_ref(), now)?)
}

/// Records a decision about what replaces a note; returns why the note counts as replaced.
fn replaced(
    store: &dyn Store,
    project: &ProjectId,
    note: &Note,
    by: Option<&Note>,
    decision: AmendmentDecision,
    now: Timestamp,
) -> Result<String, NoteError> {
    let later = match by {
        Some(by) => Some(amendments::note_item(by)),
        None => amendments::of_note(store, project, note)?.map(|found| found.item),
    };
    let earlier = amendments::note_item(note);
    let stated = note.reason.clone().filter(|_| note.state == NoteState::Amended);
    match (later, stated) {
        // A source said so: a commit that was reverted, a note that is repeated.
        (None, Some(reason)) => Ok(reason),
        (None, None) => Err(NoteError::NotAmended { id: note.id.clone(), state: note.state }),
        (later, stated) => {
            let made = amendments::decide(store, project, &earlier, later, decision, now)?;
            Ok(stated.unwrap_or_else(|| format!("amended by {}", made.later.id)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestProject, at};

    fn project() -> ProjectId {
        ProjectId::new("p").unwrap()
    }

    fn written(store: &dyn Store, text: &str) -> Result<Note, NoteError> {
        let note = Written { text, title: None, paths: &[], trust: Trust::Agent };
        Ok(write(store, &project(), &Redactor::default(), &note, at(1))?.0)
    }

    #[test]
    fn a_note_is_one_passage_without_secrets() {
        let test = TestProject::new();
        let note =
            written(&test.store, " Prices are cents; password=hunter2sEcret\nand more ").unwrap();
        assert_eq!(note.text, "Prices are cents; password=[REDACTED-1]\nand more");
        assert_eq!(note.title, "Prices are cents; password=[REDACTED-1]");
        assert_eq!(written(&test.store, &note.text).unwrap().id, note.id);
        assert!(matches!(written(&test.store, " \n"), Err(NoteError::Empty)));
        assert!(matches!(written(&test.store, &"long ".repeat(400)), Err(NoteError::Long(1_999))));
    }

    #[test]
    fn a_part_of_an_id_names_a_note_if_it_is_the_only_one() {
        let test = TestProject::new();
        let (one, _) = (written(&test.store, "one").unwrap(), written(&test.store, "two").unwrap());
        let id = one.id.as_str();
        for name in [id, &id[id.len() - 6..], &id[..id.len() - 2]] {
            assert_eq!(named(&test.store, &project(), name).unwrap().id, one.id, "{name}");
        }
        let all = named(&test.store, &project(), "manual-");
        assert!(matches!(all, Err(NoteError::Ambiguous { count: 2, .. })), "{all:?}");
        for name in ["man", "nothing"] {
            assert!(matches!(named(&test.store, &project(), name), Err(NoteError::Unknown(_))));
        }
    }

    #[test]
    fn decisions_change_the_state() {
        let test = TestProject::new();
        let note = written(&test.store, "one").unwrap();
        let redactor = Redactor::default();
        let decided = |note: &Note, decision| {
            decide(&test.store, &project(), &redactor, note, decision, at(2))
        };
        let retired = decided(&note, Decision::Retire { reason: Some("old") }).unwrap();
        assert_eq!((retired.state, retired.reason.as_deref()), (NoteState::Retired, Some("old")));
        let restored = decided(&retired, Decision::Restore).unwrap();
        assert_eq!((restored.state, restored.reason), (NoteState::Live, None));
        assert!(matches!(
            decided(&note, Decision::Confirm { by: None }),
            Err(NoteError::NotAmended { .. })
        ));
        let by = redactor.clean("amended by two");
        let amended = handover_store::Notes::set_note_state(
            &test.store,
            &project(),
            &note.id,
            NoteState::Amended,
            Some(&by),
            at(3),
        )
        .unwrap();
        let confirmed = decided(&amended, Decision::Confirm { by: None }).unwrap();
        let again = decided(&confirmed, Decision::Confirm { by: None }).unwrap();
        assert_eq!(again.reason.as_deref(), Some("amended by two (confirmed)"));
        let rejected = decided(&amended, Decision::Reject { by: None }).unwrap();
        assert_eq!(rejected.reason.as_deref(), Some("not amended by two"));
        assert_eq!(rejected.state, NoteState::Live);
    }
}
