//! What the project already knows: the notes that answer the task, as passages with origin and date.
//!
//! Notes are found by the index and then compared passage by passage, like the texts of packages. They share
//! the room of packages: half of it, or all of it if there are none, and what packages leave.

use std::collections::HashMap;

use handover_model::{
    Fate, Form, ItemKind, Note, NoteId, NoteKind, NoteState, ProjectId, ScreenFlag, Timestamp,
    Tokenizer, Trust,
};
use handover_store::{NoteFilter, Result, Store};
use handover_text::{Redactor, cut, tokens, words};
use serde::Serialize;

use super::admit::Admission;
use super::passages::{Passage, Question};
use super::{ContextRequest, Explained, ItemId, Redactions, Sources, Terms, render_notes};
use crate::rank::{self, RankedNote};

/// The most notes of a block.
const MAX_NOTES: usize = 8;

/// How many the index names.
const COMPARED: usize = 40;

/// The most notes of one document or commit, and of one conversation: its decisions answer questions that
/// were asked before, in other words.
const OF_ONE_SOURCE: usize = 3;
const OF_ONE_CONVERSATION: usize = 5;

/// How many conversations are read as a whole, and how good they must be compared with the best source.
const CONVERSATIONS: usize = 3;
const ABOUT_IT: f64 = 0.5;

/// As much of a conversation is read.
const SAID: u32 = 60;

/// How many notes of a source say how much it is about the task.
const TELLING: usize = 3;

/// How much the source of a note counts beside its own words.
const SOURCE: f64 = 0.5;

/// A longer note is shown by its best passages.
const SHOWN_CHARS: usize = 480;

/// A note must be at least this good, compared with the best.
const WORTHWHILE: f64 = 0.35;

/// How much the words of the whole note count beside those of its best passage.
const WHOLE: f64 = 0.5;

/// What being new is worth at most, and how it fades.
const RECENCY: f64 = 0.08;
const FADING_DAYS: f64 = 180.0;

/// A longer text is not repeated inside of another note.
const REPEATED: usize = 60;

/// Notes with this share of common words say the same.
const SAME: f64 = 0.8;

/// A note as the block shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackedNote {
    /// The stored note.
    pub id: NoteId,
    /// Where it comes from.
    pub kind: NoteKind,
    /// The exact place.
    pub origin: String,
    /// The passages that answer the task.
    pub text: String,
    /// Tokens of the note in the block.
    pub tokens: u64,
    /// What it was ranked by: the sum of `terms`.
    pub score: f64,
    /// How far to believe it.
    pub trust: Trust,
    /// What the screen found in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<ScreenFlag>,
    /// Whether it still counts.
    pub state: NoteState,
    /// Why, if it is not simply live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The time of its source.
    pub created_at: Timestamp,
    /// How much of it is shown.
    #[serde(skip)]
    pub form: Form,
    /// How the score came about.
    #[serde(skip)]
    pub terms: Terms,
}

/// A note that may go in.
#[derive(Debug)]
struct Candidate {
    note: PackedNote,
    source: String,
    /// Of the text, sorted; none until it is redacted, which only those are that get a chance.
    words: Option<Vec<String>>,
    fate: Fate,
}

impl Candidate {
    /// Why it may not go in because of what it says or who says it, if so.
    fn screen(&mut self, admission: Admission) -> Option<Fate> {
        let checked = admission.check(self.note.trust, [self.note.text.as_str()]);
        checked.map(|flags| self.note.flags = flags).err()
    }

    fn redact(&mut self, redactor: &Redactor, redactions: &mut Redactions) {
        if self.words.is_none() {
            let clean = redactions.clean(redactor, &self.note.text).one_line();
            let mut words = words::terms(clean.as_str());
            words.sort_unstable();
            words.dedup();
            self.note.text = clean.as_str().to_owned();
            self.words = Some(words);
        }
    }
}

/// The notes that answer a task, best first, and what became of each.
#[derive(Debug, Default)]
pub(super) struct Known {
    admission: Admission,
    candidates: Vec<Candidate>,
}

impl Known {
    /// Finds and orders the notes that are about the task.
    pub(super) fn find(
        sources: Sources<'_>,
        request: &ContextRequest,
        project: &ProjectId,
        question: &Question,
        task: &str,
    ) -> Result<Self> {
        let mut found = rank::notes(sources.store, project, task, COMPARED, rank::Wording::Exact)?;
        let strengths = Strengths::of(&found);
        strengths.complete(sources.store, project, &mut found)?;
        let texts: Vec<&str> = found.iter().map(|ranked| ranked.note.text.as_str()).collect();
        let passages = question.rank(&texts);
        let best = |passages: &[Passage]| passages.iter().map(|p| p.score).fold(0.0, f64::max);
        let top = passages.iter().map(|passages| best(passages)).fold(f64::MIN_POSITIVE, f64::max);
        let asked = question.words();
        let mut candidates: Vec<Candidate> = found
            .into_iter()
            .zip(passages)
            .map(|(ranked, passages)| {
                let strength = strengths.at(&ranked.note);
                let fate = fate(&ranked, &passages, asked, strength, request);
                let of_passage = best(&passages) / top;
                let terms = terms(&ranked, of_passage, strength, request.now);
                let RankedNote { note, .. } = ranked;
                let (text, form) = shown(&note, &passages);
                Candidate {
                    source: note.source,
                    words: None,
                    fate,
                    note: PackedNote {
                        id: note.id,
                        kind: note.kind,
                        origin: cut::cut(&cut::one_line(&note.origin), 80),
                        text,
                        tokens: 0,
                        score: terms.sum(),
                        trust: note.trust,
                        flags: Vec::new(),
                        state: note.state,
                        reason: note.reason,
                        created_at: note.created_at,
                        form,
                        terms,
                    },
                }
            })
            .collect();
        candidates.sort_by(|a, b| {
            b.note
                .score
                .total_cmp(&a.note.score)
                .then_with(|| b.note.created_at.cmp(&a.note.created_at))
                .then_with(|| a.note.id.cmp(&b.note.id))
        });
        let least = candidates.first().map_or(0.0, |best| best.note.score * WORTHWHILE);
        for candidate in candidates.iter_mut().filter(|candidate| candidate.note.score < least) {
            candidate.fate = Fate::OffTopic;
        }
        let admission = Admission::of(sources.config, &request.role);
        Ok(Self { admission, candidates })
    }

    /// Adds the best notes that fit into the room and say something that is not said yet.
    pub(super) fn pack(
        &mut self,
        notes: &mut Vec<PackedNote>,
        said: &[&str],
        room: u64,
        tokenizer: Tokenizer,
        redactor: &Redactor,
        redactions: &mut Redactions,
    ) {
        let heading =
            if notes.is_empty() { render_notes::known_heading_tokens(tokenizer) } else { 0 };
        let mut room = room.saturating_sub(heading);
        for at in 0..self.candidates.len() {
            if notes.len() >= MAX_NOTES {
                break;
            }
            let fate = self.candidates[at].fate;
            if !matches!(fate, Fate::OverTheLimit | Fate::OverTheBudget) {
                continue;
            }
            self.candidates[at].redact(redactor, redactions);
            if let Some(fate) = self.candidates[at].screen(self.admission) {
                self.candidates[at].fate = fate;
                continue;
            }
            if self.is_said(at, said) {
                self.candidates[at].fate = Fate::ShownAlready;
                continue;
            }
            let of_source = |other: &Candidate| other.source == self.candidates[at].source;
            let is_in = |other: &&Candidate| other.fate.is_in();
            let most = match self.candidates[at].note.kind {
                NoteKind::Conversation => OF_ONE_CONVERSATION,
                NoteKind::Doc | NoteKind::Commit | NoteKind::Memory | NoteKind::Manual => {
                    OF_ONE_SOURCE
                }
            };
            if self.candidates.iter().filter(is_in).filter(|c| of_source(c)).count() >= most {
                continue;
            }
            let candidate = &mut self.candidates[at];
            // An answer often repeats its question, which may be a note of its own.
            for shown in notes.iter() {
                let untitled = shown.text.split_once(": ").map_or("", |(_, text)| text);
                for text in [shown.text.as_str(), untitled] {
                    if text.chars().count() > REPEATED {
                        candidate.note.text = candidate.note.text.replace(text, "…");
                    }
                }
            }
            candidate.note.tokens = tokens::count(tokenizer, &render_notes::note(&candidate.note));
            if candidate.note.tokens > room {
                candidate.fate = Fate::OverTheBudget;
                continue;
            }
            room -= candidate.note.tokens;
            candidate.fate = match candidate.note.form {
                Form::Full => Fate::Fits,
                Form::Short | Form::Focus | Form::Pointer => Fate::FitsAsPassages,
            };
            notes.push(candidate.note.clone());
        }
        notes.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    }

    /// Takes notes out that packages say, too.
    pub(super) fn drop_said(&mut self, notes: &mut Vec<PackedNote>, said: &[&str]) {
        for at in 0..self.candidates.len() {
            let said_there = said.iter().any(|text| says(text, &self.candidates[at].note.text));
            if self.candidates[at].fate.is_in() && said_there {
                self.candidates[at].fate = Fate::ShownAlready;
                let id = self.candidates[at].note.id.clone();
                notes.retain(|note| note.id != id);
            }
        }
    }

    /// Whether a text of the block, or a better note, says the same.
    fn is_said(&self, at: usize, said: &[&str]) -> bool {
        let candidate = &self.candidates[at];
        said.iter().any(|text| says(text, &candidate.note.text))
            || self.candidates.iter().any(|other| {
                let words = (other.words.as_deref(), candidate.words.as_deref());
                other.fate.is_in()
                    && matches!(words, (Some(one), Some(two)) if common(one, two) >= SAME)
            })
    }

    /// Why each note is in or out.
    pub(super) fn explained(&self) -> Vec<Explained> {
        self.candidates
            .iter()
            .map(|candidate| Explained {
                kind: ItemKind::Note,
                id: ItemId::Text(candidate.note.id.to_string()),
                included: candidate.fate.is_in(),
                reason: candidate.fate,
                trust: Some(candidate.note.trust),
                score: candidate.note.score,
                terms: candidate.note.terms,
            })
            .collect()
    }
}

/// How much each source is about the task: what its best notes say together, compared with the best source.
struct Strengths {
    by_source: HashMap<String, f64>,
    /// The conversations that are about it, best first.
    conversations: Vec<String>,
}

impl Strengths {
    fn of(found: &[RankedNote]) -> Self {
        let mut relevances: HashMap<String, (NoteKind, Vec<f64>)> = HashMap::new();
        for ranked in found {
            let note = &ranked.note;
            let of_source = relevances.entry(note.source.clone());
            of_source.or_insert_with(|| (note.kind, Vec::new())).1.push(ranked.relevance);
        }
        let mut sums: Vec<(String, NoteKind, f64)> = relevances
            .into_iter()
            .map(|(source, (kind, mut all))| {
                all.sort_by(|a, b| b.total_cmp(a));
                // Each further note counts half as much as the one before.
                let sum = all.iter().take(TELLING).rev().fold(0.0, |sum, one| sum / 2.0 + one);
                (source, kind, sum)
            })
            .collect();
        sums.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
        let top = sums.first().map_or(1.0, |best| best.2).max(f64::MIN_POSITIVE);
        let is_about = |(_, kind, sum): &&(String, NoteKind, f64)| {
            *kind == NoteKind::Conversation && sum / top >= ABOUT_IT
        };
        let conversations = sums.iter().filter(is_about).take(CONVERSATIONS);
        Self {
            conversations: conversations.map(|(source, ..)| source.clone()).collect(),
            by_source: sums.into_iter().map(|(source, _, sum)| (source, sum / top)).collect(),
        }
    }

    fn at(&self, note: &Note) -> f64 {
        self.by_source.get(&note.source).copied().unwrap_or_default()
    }

    /// Adds what else was said in the conversations that are about the task.
    fn complete(
        &self,
        store: &dyn Store,
        project: &ProjectId,
        found: &mut Vec<RankedNote>,
    ) -> Result<()> {
        for source in &self.conversations {
            let filter = NoteFilter {
                kind: Some(NoteKind::Conversation),
                source: Some(source.clone()),
                limit: Some(SAID),
                ..NoteFilter::default()
            };
            for note in store.notes(project, &filter)? {
                if found.iter().all(|ranked| ranked.note.id != note.id) {
                    found.push(RankedNote { note, relevance: 0.0, weight: 0.0 });
                }
            }
        }
        Ok(())
    }
}

/// Whether a note may go in: [`Fate::OverTheLimit`] until it does.
fn fate(
    ranked: &RankedNote,
    passages: &[Passage],
    asked: usize,
    strength: f64,
    request: &ContextRequest,
) -> Fate {
    let note = &ranked.note;
    let file = note.source.rsplit('/').next().unwrap_or_default();
    let shared = passages.iter().map(|passage| passage.shared).max().unwrap_or_default();
    if note.kind == NoteKind::Doc && request.loaded.iter().any(|loaded| loaded == file) {
        Fate::LoadedAnyway
    } else if note.state == NoteState::Amended {
        Fate::Amended
    } else if note.state == NoteState::Retired
        || (shared < needed(asked) && (strength < ABOUT_IT || note.kind != NoteKind::Conversation))
    {
        Fate::OffTopic
    } else {
        Fate::OverTheLimit
    }
}

/// How many different words of the task a passage must have.
fn needed(asked: usize) -> usize {
    if asked <= 2 { 1 } else { 2 }
}

/// The terms of a note's score. What is less trusted or no longer true counts less.
fn terms(ranked: &RankedNote, of_passage: f64, strength: f64, now: Timestamp) -> Terms {
    let trust = match ranked.note.trust {
        Trust::Person | Trust::Project => 1.0,
        Trust::Agent => 0.9,
        Trust::Outside => 0.75,
    };
    let state = if ranked.note.state == NoteState::Stale { 0.7 } else { 1.0 };
    let micros = now.as_micros().saturating_sub(ranked.note.created_at.as_micros()).max(0);
    let days = micros as f64 / 86_400e6;
    let own = WHOLE * ranked.relevance + (1.0 - WHOLE) * of_passage;
    Terms {
        priority: 0.0,
        same_group: 0.0,
        addressed: 0.0,
        recency: RECENCY * (-days / FADING_DAYS).exp(),
        task: trust * state * (SOURCE * strength + (1.0 - SOURCE) * own),
    }
}

/// A note as it is shown: all of it if it is short, else its best passage with those around it.
fn shown(note: &Note, passages: &[Passage]) -> (String, Form) {
    let whole = cut::one_line(&note.text);
    let title = cut::one_line(&note.title);
    // A document's heading is part of its origin.
    let titled = |text: String| {
        let repeats = title.is_empty()
            || note.kind == NoteKind::Doc
            || text.to_lowercase().contains(&title.trim_end_matches('…').to_lowercase());
        if repeats { text } else { format!("{title}: {text}") }
    };
    if whole.chars().count() <= SHOWN_CHARS || passages.is_empty() {
        let form = if whole.chars().count() <= SHOWN_CHARS { Form::Full } else { Form::Short };
        return (titled(cut::cut(&whole, SHOWN_CHARS)), form);
    }
    let best = (0..passages.len())
        .max_by(|a, b| passages[*a].score.total_cmp(&passages[*b].score).then(b.cmp(a)))
        .unwrap_or_default();
    let (mut first, mut last) = (best, best);
    let mut length = passages[best].text.chars().count();
    // What follows completes a statement more often than what precedes it.
    loop {
        let after = passages.get(last + 1).map(|next| next.text.chars().count());
        let before = first.checked_sub(1).map(|at| passages[at].text.chars().count());
        match (after, before) {
            (Some(more), _) if length + more < SHOWN_CHARS => {
                last += 1;
                length += more + 1;
            }
            (_, Some(more)) if length + more < SHOWN_CHARS => {
                first -= 1;
                length += more + 1;
            }
            _ => break,
        }
    }
    let texts: Vec<&str> =
        passages[first..=last].iter().map(|passage| passage.text.as_str()).collect();
    (titled(texts.join(" ")), Form::Focus)
}

/// Whether a text contains another, whatever the white space.
fn says(text: &str, part: &str) -> bool {
    let (text, part) = (cut::one_line(text), cut::one_line(part));
    !part.is_empty()
        && (text.contains(&part) || (text.chars().count() > 60 && part.contains(&text)))
}

/// The share of common words of two sorted lists.
fn common(one: &[String], other: &[String]) -> f64 {
    let both = one.iter().filter(|word| other.binary_search(word).is_ok()).count();
    let all = one.len() + other.len() - both;
    if all == 0 { 0.0 } else { both as f64 / all as f64 }
}
