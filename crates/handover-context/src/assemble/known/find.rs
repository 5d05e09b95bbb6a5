//! Which notes answer a task, and how well.
//!
//! The index says which words of the task a note has. What was decided in a conversation seldom has them itself:
//! the question does, and the answer is a few turns away. So a statement counts by what is said around it, and
//! the one that decides comes before the one that asks. Kinds are then weighed against each other, since a short
//! statement and a long section have different scores for the same use.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use handover_model::{Note, NoteKind, NoteState, ProjectId, Timestamp, Trust};
use handover_store::{Result, Store};
use handover_text::statement;

use super::super::Terms;
use crate::rank::{AROUND, NoteScores, OF_AROUND, Wording};

/// How many notes the index names, and how many statements by what is said around them.
const COMPARED: usize = 40;

/// How many conversations are read around what the index names.
const CONVERSATIONS: usize = 8;

/// How much the own words of a statement count in what its surroundings are about, and beside it.
const OWN: f64 = 0.3;
const ITSELF: f64 = 0.3;

/// What makes a statement the one to tell: what it says and how completely, that it concludes, and that a person
/// said it.
const SUBSTANCE: f64 = 0.9;
const FULLNESS: f64 = 0.6;
const CONCLUDES: f64 = 0.48;
const BY_PERSON: f64 = 0.6;

/// What the first statement of a conversation loses: it says what is wanted, not what was decided.
const OPENING: f64 = 0.3;

/// What is left of a statement that says nothing.
const LEAST: f64 = 0.05;

/// What is left of a commit whose message is only a subject: it says what was done, but not why.
const BARE: f64 = 0.5;

/// How fast a kind loses whose best note has fewer of the words than the best of all.
const OF_KIND: f64 = 0.6;

/// What being new is worth at most, and how it fades.
const RECENCY: f64 = 0.08;
const FADING_DAYS: f64 = 180.0;

/// A note of the project and how well it answers the task.
#[derive(Debug)]
pub(in super::super) struct Found {
    /// Its place in the index; notes of one conversation are in its order.
    pub(super) number: i64,
    pub(in super::super) note: Note,
    pub(in super::super) terms: Terms,
    /// How many different words of the task it has, or has related ones of, with what is around it.
    pub(super) words: u32,
    /// How well its own words answer the task, or those of a statement around it; from 0 to 1.
    pub(super) best: f64,
}

/// The notes that may answer a task, best first.
pub(super) fn find(
    store: &dyn Store,
    project: &ProjectId,
    task: &str,
    now: Timestamp,
) -> Result<Vec<Found>> {
    let scores = NoteScores::of(store, project, task, Wording::Related)?;
    let notes = read(store, project, &scores)?;
    let values: BTreeMap<i64, f64> = notes
        .iter()
        .map(|(number, note)| (*number, value(*number, note, &notes, &scores)))
        .collect();
    let weights = Weights::of(&notes, &values, &scores);
    let shared: BTreeMap<i64, (u32, f64)> = notes
        .iter()
        .map(|(number, note)| (*number, shared(*number, note, &notes, &scores)))
        .collect();
    let mut found: Vec<Found> = notes
        .into_iter()
        .map(|(number, note)| {
            let terms = terms(&note, values[&number] * weights.at(note.kind), now);
            let (words, best) = shared[&number];
            Found { number, words, best, note, terms }
        })
        .collect();
    found.sort_by(best_first);
    Ok(found)
}

pub(in super::super) fn best_first(a: &Found, b: &Found) -> std::cmp::Ordering {
    let newer = || b.note.created_at.cmp(&a.note.created_at);
    b.terms.sum().total_cmp(&a.terms.sum()).then_with(newer).then_with(|| a.note.id.cmp(&b.note.id))
}

/// The notes that the index names, by number, and what was said around them in the conversations that are most
/// about the task.
fn read(
    store: &dyn Store,
    project: &ProjectId,
    scores: &NoteScores,
) -> Result<BTreeMap<i64, Note>> {
    let mut named = scores.best_spoken(COMPARED);
    named.extend(scores.best(COMPARED));
    let mut seen = BTreeSet::new();
    named.retain(|number| seen.insert(*number));
    let mut notes: BTreeMap<i64, Note> =
        store.notes_by_number(project, &named)?.into_iter().collect();
    let mut conversations: Vec<String> = Vec::new();
    let mut around = BTreeSet::new();
    for number in &named {
        let Some(note) = notes.get(number).filter(|note| note.kind == NoteKind::Conversation)
        else {
            continue;
        };
        let is_new = !conversations.contains(&note.source);
        if is_new && conversations.len() < CONVERSATIONS {
            conversations.push(note.source.clone());
        }
        if conversations.contains(&note.source) {
            around.extend(number - AROUND..=number + AROUND);
        }
    }
    around.retain(|number| !seen.contains(number));
    let around: Vec<i64> = around.into_iter().collect();
    let of_them = |(_, note): &(i64, Note)| {
        note.kind == NoteKind::Conversation && conversations.contains(&note.source)
    };
    notes.extend(store.notes_by_number(project, &around)?.into_iter().filter(of_them));
    Ok(notes)
}

/// The numbers around a note that are of the same conversation.
fn around<'n>(
    number: i64,
    note: &'n Note,
    notes: &'n BTreeMap<i64, Note>,
) -> impl Iterator<Item = i64> + 'n {
    notes
        .range(number - AROUND..=number + AROUND)
        .filter(move |(other, near)| **other != number && near.source == note.source)
        .map(|(other, _)| *other)
}

/// How much a note is about the task; for a statement, also how much it decides.
fn value(number: i64, note: &Note, notes: &BTreeMap<i64, Note>, scores: &NoteScores) -> f64 {
    let own = scores.relevance(number);
    if note.kind != NoteKind::Conversation {
        return if is_bare(note) { BARE * own } else { own };
    }
    // Every statement near the one that is most about the task is about it.
    let near = around(number, note, notes).chain([number]);
    let about = near.map(|other| surroundings(other, note, notes, scores)).fold(0.0, f64::max);
    let opens = around(number, note, notes).all(|other| other > number);
    let opening = if opens { OPENING } else { 0.0 };
    let (reply, by_person) = reply(note);
    let decides =
        if by_person { BY_PERSON + CONCLUDES * statement::conclusion(reply) } else { 0.0 };
    let says = SUBSTANCE * statement::substance(&note.text) + FULLNESS * statement::fullness(reply);
    (about + ITSELF * own) * f64::max(LEAST, 1.0 + says + decides - opening)
}

/// Whether a note is a commit's subject and nothing else.
fn is_bare(note: &Note) -> bool {
    let text = note.text.trim();
    note.kind == NoteKind::Commit
        && !text.contains('\n')
        && text.starts_with(note.title.trim().trim_end_matches('…'))
}

/// How much what is said around a statement is about the task.
fn surroundings(number: i64, note: &Note, notes: &BTreeMap<i64, Note>, scores: &NoteScores) -> f64 {
    let near: f64 = around(number, note, notes).map(|other| scores.relevance(other)).sum();
    OWN * scores.relevance(number) + OF_AROUND * near
}

/// What was said, without what it answers, and whether a person said it.
fn reply(note: &Note) -> (&str, bool) {
    match note.text.rsplit_once("\nPerson: ") {
        Some((_, reply)) => (reply, true),
        None => (&note.text, note.trust == Trust::Person),
    }
}

/// How many different words of the task a note has and how well they answer it, with what is around it.
fn shared(
    number: i64,
    note: &Note,
    notes: &BTreeMap<i64, Note>,
    scores: &NoteScores,
) -> (u32, f64) {
    let own = (scores.words(number), scores.certain(number));
    let (words, best) = match note.kind {
        NoteKind::Conversation => around(number, note, notes).fold(own, |(words, best), other| {
            (words | scores.words(other), best.max(scores.certain(other)))
        }),
        NoteKind::Doc | NoteKind::Commit | NoteKind::Memory | NoteKind::Manual => own,
    };
    (words.count_ones(), best)
}

/// What a value of each kind is worth.
struct Weights(HashMap<NoteKind, f64>);

impl Weights {
    fn of(notes: &BTreeMap<i64, Note>, values: &BTreeMap<i64, f64>, scores: &NoteScores) -> Self {
        let mut tops: HashMap<NoteKind, (f64, f64)> = HashMap::new();
        for (number, note) in notes {
            let (value, own) = tops.entry(note.kind).or_default();
            *value = value.max(values[number]);
            *own = own.max(scores.relevance(*number));
        }
        let best = tops.values().map(|(_, own)| *own).fold(f64::MIN_POSITIVE, f64::max);
        let weight = |(kind, (value, own)): (NoteKind, (f64, f64))| {
            (kind, share(kind) * (own / best).powf(OF_KIND) / value.max(f64::MIN_POSITIVE))
        };
        Self(tops.into_iter().map(weight).collect())
    }

    fn at(&self, kind: NoteKind) -> f64 {
        self.0.get(&kind).copied().unwrap_or_default()
    }
}

/// How much the best note of a kind is worth. What was said is nowhere else; a document is in the checkout, where
/// the agent may find it.
fn share(kind: NoteKind) -> f64 {
    match kind {
        NoteKind::Conversation | NoteKind::Manual => 1.0,
        NoteKind::Memory => 0.9,
        NoteKind::Commit => 0.72,
        NoteKind::Doc => 0.5,
    }
}

/// The terms of a note's score. What is less trusted or no longer true counts less.
fn terms(note: &Note, value: f64, now: Timestamp) -> Terms {
    let trust = match note.trust {
        Trust::Person | Trust::Project => 1.0,
        Trust::Agent if note.kind == NoteKind::Conversation && reply(note).1 => 1.0,
        Trust::Agent => 0.9,
        Trust::Outside => 0.75,
    };
    let state = if note.state == NoteState::Stale { 0.7 } else { 1.0 };
    let micros = now.as_micros().saturating_sub(note.created_at.as_micros()).max(0);
    let days = micros as f64 / 86_400e6;
    Terms {
        priority: 0.0,
        same_group: 0.0,
        addressed: 0.0,
        recency: RECENCY * (-days / FADING_DAYS).exp(),
        task: trust * state * value,
        stale: 0.0,
        used: 0.0,
    }
}
