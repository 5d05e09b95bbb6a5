//! What became of the names in texts: it stands beside each name, and items whose subject is gone sink.
//!
//! Only texts that may go in are checked. What is looked up, and where, is the caller's business.

use handover_model::{Fate, NameCheck, Note, NoteKind, NoteState, SectionNow, StaleName, Trust};

use super::Terms;

/// Knows what became of what texts are about. Without an index or a checkout nothing is claimed.
pub trait Freshness {
    /// What became of the names in a text.
    fn names(&self, _text: &str) -> NameCheck {
        NameCheck::default()
    }

    /// What the document of a note says today.
    fn section(&self, _note: &Note) -> SectionNow {
        SectionNow::Same
    }
}

/// Claims nothing.
#[derive(Debug, Clone, Copy)]
pub struct Unchecked;

impl Freshness for Unchecked {}

/// The most of its score that an item loses because what it names is gone.
const LOSS: f64 = 0.4;

/// How many candidates of a kind are checked before the best are chosen: those behind them seldom go in.
pub(super) const CHECKED: usize = 16;

/// A text with what became of the names in it.
pub(super) fn annotated(fresh: &dyn Freshness, text: String) -> String {
    let check = fresh.names(&text);
    if check.stale.is_empty() { text } else { check.annotate(&text) }
}

/// The names in some texts that are not what they were, each once.
pub(super) fn stale<'t>(
    fresh: &dyn Freshness,
    texts: impl IntoIterator<Item = &'t str>,
) -> Vec<StaleName> {
    let mut all: Vec<StaleName> = Vec::new();
    for stale in texts.into_iter().flat_map(|text| fresh.names(text).stale) {
        if !all.contains(&stale) {
            all.push(stale);
        }
    }
    all
}

/// Whether nothing is left of what a text names.
pub(super) fn subject_is_gone(fresh: &dyn Freshness, text: &str) -> bool {
    fresh.names(text).gone() >= 1.0
}

/// What is left of a value because of what a text names.
pub(super) fn left(fresh: &dyn Freshness, text: &str) -> f64 {
    1.0 - LOSS * fresh.names(text).gone()
}

impl Terms {
    /// Takes away what an item loses because of what its text names. Returns the sum.
    pub(super) fn sink(&mut self, left: f64) -> f64 {
        self.stale -= self.sum().max(0.0) * (1.0 - left);
        self.sum()
    }
}

/// Checks the best notes: what is about things that are gone sinks, and a commit that was reverted is none any more.
pub(super) fn sink_notes(fresh: &dyn Freshness, found: &mut [super::known::Found]) {
    for one in found.iter_mut().take(CHECKED) {
        let note = &mut one.note;
        if note.kind == NoteKind::Commit
            && note.state == NoteState::Live
            && let Some(reverted) = fresh.names(&note.source).stale.first()
        {
            (note.state, note.reason) = (NoteState::Amended, Some(reverted.to_string()));
        }
        one.terms.sink(left(fresh, &note.text));
    }
    found.sort_by(super::known::best_first);
}

/// Brings the text of a note up to date with its document, and says whether that changed it; fails if it is not in
/// there any more. Nobody knows whether a change is committed, so it is believed like an agent.
pub(super) fn read_anew(fresh: &dyn Freshness, note: &mut Note) -> Result<bool, Fate> {
    if note.kind != NoteKind::Doc {
        return Ok(false);
    }
    match fresh.section(note) {
        SectionNow::Same => Ok(false),
        SectionNow::Changed(text) => {
            note.text = text;
            note.trust = note.trust.min(Trust::Agent);
            Ok(true)
        }
        SectionNow::Gone => Err(Fate::FileGone),
    }
}
