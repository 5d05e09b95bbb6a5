//! What the project already knows: the notes that answer the task, as passages with origin and date.
//!
//! `find.rs` ranks them, `shown.rs` says how much of each is shown; here they are packed. Statements of one conversation stand together, in its order. Notes
//! share the room of packages: half of it, or all of it if there are none, and what packages leave.

mod find;
mod packed;
mod shown;

use handover_model::{
    AmendedBy, AmendedHow, Fate, Form, ItemKind, Note, NoteKind, NoteState, ProjectId, ScreenFlag,
    Tokenizer,
};
use handover_store::Result;
use handover_text::{Redactor, cut, words};

use super::admit::Admission;
use super::alive::{self, Freshness};
use super::amended::{self, Decisions, Spoken};
use super::by_use::ByUse;
use super::passages::Question;
use super::{ContextRequest, Explained, ItemId, Redactions, Sources, render_notes};
pub(super) use find::{Found, best_first};
pub(super) use packed::Said;
pub use packed::{EarlierNote, PackedNote};

/// The most notes of a block. Statements that complete another one of their conversation are not counted.
const MAX_NOTES: usize = 8;

/// The most notes of one document or commit, and the most statements of one conversation.
const OF_ONE_SOURCE: usize = 2;
const OF_ONE_CONVERSATION: usize = 4;

/// A note must be at least this good, compared with the best.
const WORTHWHILE: f64 = 0.3;

/// A note with a single word of the task must have one that tells more than most.
const TELLING: f64 = 0.3;

/// How good a later note must be, compared with the earlier one that it stands for: what answers the task is
/// never hidden behind something that hardly does.
const AS_GOOD: f64 = 0.6;

/// In microseconds.
const A_DAY: i64 = 86_400_000_000;

/// How far a later note comes before the one that it replaces.
const BEFORE: f64 = 1e-6;

/// No statement is shorter; in less room nothing is tried.
const LEAST_TOKENS: u64 = 8;

/// When so many notes did not fit, the room is full: those that follow are worse, and preparing one costs as much as
/// finding it.
const MAX_MISSES: usize = 4;

/// A longer text is not repeated inside of another note.
const REPEATED: usize = 60;

/// Notes with this share of common words say the same.
const SAME: f64 = 0.8;

/// A note that may go in.
#[derive(Debug)]
struct Candidate {
    found: Found,
    /// What would be shown of it, as the store has it.
    drafted: Option<(String, Form)>,
    /// What is shown of it, redacted; only of those that get a chance.
    shown: Option<Shown>,
    fate: Fate,
    /// The later statement that replaced it, all of it or in part.
    amended_by: Option<AmendedBy>,
}

impl Candidate {
    /// The later statement that may stand for this one, because both are about the same subject.
    fn behind(&self) -> Option<&AmendedBy> {
        self.amended_by.as_ref().filter(|by| by.how == AmendedHow::SameSubject)
    }
}

#[derive(Debug, Clone)]
struct Shown {
    text: String,
    form: Form,
    /// What the screen found in it.
    flags: Vec<ScreenFlag>,
    /// Of the text, sorted.
    words: Vec<String>,
}

/// The notes that answer a task, best first, and what became of each.
#[derive(Debug, Default)]
pub(super) struct Known {
    admission: Admission,
    candidates: Vec<Candidate>,
    question: Option<Question>,
}

/// What notes are packed with.
pub(super) struct Packing<'a> {
    /// Texts of the block that need not be said again.
    pub(super) said: &'a [&'a str],
    /// Tokens that notes may take.
    pub(super) room: u64,
    pub(super) tokenizer: Tokenizer,
    pub(super) redactor: &'a Redactor,
    pub(super) fresh: &'a dyn Freshness,
}

impl Known {
    /// Finds and orders the notes that are about the task.
    pub(super) fn find(
        sources: Sources<'_>,
        request: &ContextRequest,
        project: &ProjectId,
        question: Question,
        task: &str,
        decisions: &Decisions<'_>,
        by_use: &ByUse<'_>,
    ) -> Result<Self> {
        let mut found = find::find(sources.store, project, task, request.now)?;
        by_use.move_notes(&mut found)?;
        alive::sink_notes(sources.fresh, &mut found);
        let least = found.first().map_or(0.0, |best| best.terms.sum() * WORTHWHILE);
        let candidates = found.into_iter().map(|found| {
            let fate = fate(&found, question.words(), least, request);
            Candidate { found, drafted: None, shown: None, fate, amended_by: None }
        });
        let mut candidates: Vec<Candidate> = candidates.collect();
        amend(&mut candidates, decisions)?;
        Ok(Self {
            admission: Admission::of(sources.config, &request.role),
            candidates,
            question: Some(question),
        })
    }

    /// Adds the best notes that fit into the room and say something that is not said yet.
    pub(super) fn pack(
        &mut self,
        notes: &mut Vec<PackedNote>,
        packing: &Packing<'_>,
        redactions: &mut Redactions,
    ) {
        let tokenizer = packing.tokenizer;
        let heading =
            if notes.is_empty() { render_notes::known_heading_tokens(tokenizer) } else { 0 };
        let mut room = packing.room.saturating_sub(heading);
        let said = lines(packing.said);
        let mut misses = 0;
        for at in 0..self.candidates.len() {
            if !matches!(self.candidates[at].fate, Fate::OverTheLimit | Fate::OverTheBudget) {
                continue;
            }
            if let Some(later) = self.stands_for(at, notes) {
                let pointing = notes[later].pointing_to(&self.candidates[at].found.note, tokenizer);
                let more = pointing.tokens.saturating_sub(notes[later].tokens);
                // Without room for a pointer, `--explain` and the receipt still name it.
                if more <= room {
                    room -= more;
                    notes[later] = pointing;
                }
                self.candidates[at].fate = Fate::Earlier;
                continue;
            }
            if room < LEAST_TOKENS || misses == MAX_MISSES {
                self.candidates[at].fate = Fate::OverTheBudget;
                continue;
            }
            let source = &self.candidates[at].found.note.source;
            let speaks = self.candidates[at].found.note.kind == NoteKind::Conversation;
            let entry = notes.iter().position(|note| speaks && note.source == *source);
            let of_source = notes.iter().filter(|note| note.source == *source);
            let statements: usize = of_source.map(|note| note.said.len()).sum();
            let most = if speaks { OF_ONE_CONVERSATION } else { OF_ONE_SOURCE };
            if statements >= most || (entry.is_none() && notes.len() >= MAX_NOTES) {
                continue;
            }
            // What completes a statement says nothing without it.
            let is_best = |other: &Candidate| other.found.note.source == *source;
            let best = self.candidates[..at].iter().find(|other| is_best(other));
            if speaks
                && entry.is_none()
                && best.is_some_and(|best| best.fate == Fate::OverTheBudget)
            {
                self.candidates[at].fate = Fate::OverTheBudget;
                continue;
            }
            if shown::least_tokens(&self.candidates[at].found.note) > room {
                self.candidates[at].fate = Fate::OverTheBudget;
                continue;
            }
            if !self.may_fit(at, room, notes) {
                self.candidates[at].fate = Fate::OverTheBudget;
                misses += 1;
                continue;
            }
            if let Err(fate) = self.show(at, packing, redactions) {
                self.candidates[at].fate = fate;
                continue;
            }
            if self.is_said(at, &said) {
                self.candidates[at].fate = Fate::ShownAlready;
                continue;
            }
            let candidate = &mut self.candidates[at];
            let Some(shown) = &candidate.shown else { continue };
            let text = without_repetition(&shown.text, notes);
            let said = Said::new(candidate, shown, text);
            let (packed, before) = match entry.map(|at| &notes[at]) {
                Some(note) => (note.with(said, tokenizer), note.tokens),
                None => (PackedNote::new(&candidate.found, said, shown.form, tokenizer), 0),
            };
            let more = packed.tokens.saturating_sub(before);
            if more > room {
                candidate.fate = Fate::OverTheBudget;
                misses += 1;
                continue;
            }
            room -= more;
            candidate.fate = match shown.form {
                Form::Full => Fate::Fits,
                Form::Short | Form::Focus | Form::Pointer => Fate::FitsAsPassages,
            };
            match entry {
                Some(at) => notes[at] = packed,
                None => notes.push(packed),
            }
        }
        notes.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    }

    /// The note of the block that stands for a candidate, because it is later and about the same subject.
    fn stands_for(&self, at: usize, notes: &[PackedNote]) -> Option<usize> {
        let mut by = self.candidates[at].behind()?;
        loop {
            let shows = |note: &PackedNote| note.ids().any(|id| id.as_str() == by.item.id);
            if let Some(later) = notes.iter().position(shows) {
                return Some(later);
            }
            // The later one may itself have given way to one that is later still.
            let left_out = |one: &&Candidate| {
                one.fate == Fate::Earlier && one.found.note.id.as_str() == by.item.id
            };
            by = self.candidates.iter().find(left_out)?.behind()?;
        }
    }

    /// Takes notes out that packages say, too.
    pub(super) fn drop_said(
        &mut self,
        notes: &mut Vec<PackedNote>,
        said: &[&str],
        tokenizer: Tokenizer,
    ) {
        let said = lines(said);
        for candidate in self.candidates.iter_mut().filter(|candidate| candidate.fate.is_in()) {
            let shown = candidate.shown.as_ref().map_or("", |shown| shown.text.as_str());
            if said.iter().any(|text| says(text, shown)) {
                candidate.fate = Fate::ShownAlready;
                let id = &candidate.found.note.id;
                let kept = std::mem::take(notes).into_iter().filter_map(|note| {
                    let shows_it = note.ids().any(|other| other == id);
                    if shows_it { note.without(id, tokenizer) } else { Some(note) }
                });
                *notes = kept.collect();
            }
        }
    }

    /// Whether a note may fit as it is shown, before it is read again, redacted, screened and counted, which takes
    /// far longer. A document that became shorter since it was learned is judged by what it was.
    fn may_fit(&mut self, at: usize, room: u64, notes: &[PackedNote]) -> bool {
        let Self { candidates, question, .. } = self;
        let candidate = &mut candidates[at];
        if candidate.shown.is_some() {
            return true;
        }
        let shown = || shown::shown(&candidate.found.note, question.as_ref());
        let (text, _) = candidate.drafted.get_or_insert_with(shown);
        shown::least_tokens_of(text) <= room
            || shown::least_tokens_of(&without_repetition(text, notes)) <= room
    }

    /// Decides what is shown of a note, and redacts it. Fails if it may not be shown because of what it says or
    /// who says it.
    fn show(
        &mut self,
        at: usize,
        packing: &Packing<'_>,
        redactions: &mut Redactions,
    ) -> std::result::Result<(), Fate> {
        let Self { admission, candidates, question } = self;
        let candidate = &mut candidates[at];
        if candidate.shown.is_some() {
            return Ok(());
        }
        let changed = alive::read_anew(packing.fresh, &mut candidate.found.note)?;
        let drafted = candidate.drafted.take().filter(|_| !changed);
        let (text, form) =
            drafted.unwrap_or_else(|| shown::shown(&candidate.found.note, question.as_ref()));
        let text = redactions.clean(packing.redactor, &text).one_line().as_str().to_owned();
        let text = alive::annotated(packing.fresh, text);
        let flags = admission.check(candidate.found.note.trust, [text.as_str()])?;
        let mut words = words::terms(&text);
        words.sort_unstable();
        words.dedup();
        candidate.shown = Some(Shown { text, form, flags, words });
        Ok(())
    }

    /// Whether a text of the block, or a better note, says the same.
    fn is_said(&self, at: usize, said: &[String]) -> bool {
        let Some(shown) = &self.candidates[at].shown else { return false };
        said.iter().any(|text| says(text, &shown.text))
            || self.candidates.iter().filter(|other| other.fate.is_in()).any(|other| {
                other.shown.as_ref().is_some_and(|other| common(&other.words, &shown.words) >= SAME)
            })
    }

    /// The titles of commits that later statements replaced or stand for.
    pub(super) fn earlier_commits(&self) -> Vec<String> {
        let gave_way = self.candidates.iter().filter(|one| one.amended_by.is_some());
        let commits = gave_way.filter(|one| one.found.note.kind == NoteKind::Commit);
        commits.map(|one| one.found.note.title.clone()).collect()
    }

    /// Why each note is in or out.
    pub(super) fn explained(&self) -> Vec<Explained> {
        self.candidates
            .iter()
            .map(|Candidate { found, fate, amended_by, .. }| Explained {
                kind: ItemKind::Note,
                id: ItemId::Text(found.note.id.to_string()),
                included: fate.is_in(),
                reason: *fate,
                detail: None,
                trust: Some(found.note.trust),
                score: found.terms.sum(),
                terms: found.terms,
                stale: Vec::new(),
                amended_by: amended_by.clone(),
            })
            .collect()
    }
}

/// Lets later notes take the place of those that they replace: a note that was replaced stays out, or follows
/// what replaced it if part of it still applies.
fn amend(candidates: &mut [Candidate], decisions: &Decisions<'_>) -> Result<()> {
    // What is hardly about the task may still replace what is.
    let compared: Vec<usize> = candidates
        .iter()
        .enumerate()
        .filter(|(_, one)| matches!(one.fate, Fate::OverTheLimit | Fate::OffTopic))
        .filter(|(_, one)| one.found.note.state != NoteState::Retired)
        .map(|(at, _)| at)
        .take(amended::COMPARED)
        .collect();
    let statements: Vec<Spoken> = compared
        .iter()
        .map(|at| &candidates[*at].found)
        .map(|found| amended::of_note(&found.note, found.number))
        .collect();
    for found in amended::replaced(&statements, decisions)? {
        let earlier = &candidates[compared[found.earlier]];
        if earlier.fate == Fate::OffTopic {
            continue;
        }
        let later = found.later.map(|later| &candidates[compared[later]].found);
        let may = match found.by.how {
            AmendedHow::Declared | AmendedHow::NamesOld | AmendedHow::OtherValue => true,
            AmendedHow::Otherwise => {
                later.is_some_and(|later| is_another_day(later, &earlier.found))
            }
            AmendedHow::SameSubject => later.is_some_and(|later| stands_for(later, &earlier.found)),
        };
        if !may {
            continue;
        }
        let earlier = &mut candidates[compared[found.earlier]];
        earlier.amended_by = Some(found.by);
        if !found.in_part {
            earlier.fate = Fate::Amended;
        }
        let least = earlier.found.terms.sum();
        if let Some(later) = found.later {
            let later = &mut candidates[compared[later]];
            let more = least - later.found.terms.sum();
            later.found.terms.task += more.max(0.0) + BEFORE;
            if later.fate == Fate::OffTopic {
                later.fate = Fate::OverTheLimit;
            }
        }
    }
    for one in candidates.iter_mut().filter(|one| one.fate == Fate::Amended) {
        if one.amended_by.is_none() {
            one.amended_by = declared(&one.found.note, decisions)?;
        }
    }
    candidates.sort_by(|a, b| b.found.terms.sum().total_cmp(&a.found.terms.sum()));
    Ok(())
}

/// Whether a later note about the same subject may stand for an earlier one: it answers the task, too, and it is from
/// another day.
fn stands_for(later: &Found, earlier: &Found) -> bool {
    later.terms.sum() >= AS_GOOD * earlier.terms.sum() && is_another_day(later, earlier)
}

/// Whether a later note is not from the same conversation or day, where one statement completes another.
fn is_another_day(later: &Found, earlier: &Found) -> bool {
    let since = later.note.created_at.as_micros() - earlier.note.created_at.as_micros();
    later.note.source != earlier.note.source && since >= A_DAY
}

/// The replacement that a person declared or confirmed.
fn declared(note: &Note, decisions: &Decisions<'_>) -> Result<Option<AmendedBy>> {
    let decision = decisions.confirmed(&amended::item_of(note))?;
    Ok(decision.map(|decision| amended::declared(decision, None)))
}

/// Whether a note may go in: [`Fate::OverTheLimit`] until it does.
fn fate(found: &Found, asked: usize, least: f64, request: &ContextRequest) -> Fate {
    let note = &found.note;
    // One in a folder is loaded only when the agent works there.
    if note.kind == NoteKind::Doc && request.loaded.contains(&note.source) {
        Fate::LoadedAnyway
    } else if note.state == NoteState::Amended {
        Fate::Amended
    } else if note.state == NoteState::Retired
        || (found.words < needed(asked) && found.best < TELLING)
        || found.terms.sum() < least
    {
        Fate::OffTopic
    } else {
        Fate::OverTheLimit
    }
}

/// How many different words of the task a note must have.
fn needed(asked: usize) -> u32 {
    if asked <= 2 { 1 } else { 2 }
}

/// A text without what other notes say already: an answer often repeats its question, which may be a note of its own.
fn without_repetition(text: &str, notes: &[PackedNote]) -> String {
    let said = notes.iter().flat_map(|note| &note.said);
    said.filter(|said| said.text.chars().count() > REPEATED).fold(text.to_owned(), |text, said| {
        let repeats = shown::may_repeat(&text, &said.text);
        if repeats { text.replace(&said.text, "…") } else { text }
    })
}

/// Texts without their line breaks, as notes are shown.
fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| cut::one_line(text)).collect()
}

/// Whether a line contains another.
fn says(text: &str, part: &str) -> bool {
    !part.is_empty() && (text.contains(part) || (text.chars().count() > 60 && part.contains(text)))
}

/// The share of common words of two sorted lists.
fn common(one: &[String], other: &[String]) -> f64 {
    let both = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    let all = one.len() + other.len() - both;
    if all == 0 { 0.0 } else { both as f64 / all as f64 }
}
