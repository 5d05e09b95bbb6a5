//! Notes by their relevance to a text. What each word weighs in a note is in its posting; here it is
//! multiplied by how rare the word is among the project's notes.

use std::collections::HashMap;

use handover_model::{Note, NoteId, ProjectId};
use handover_store::packed::note_weight;
use handover_store::{Result, Store};
use handover_text::words;

use super::{SYNONYM, distinct, with_synonyms};

/// A note and how well it answers a text.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedNote {
    /// The note.
    pub note: Note,
    /// From 0 to 1; the best one has the most.
    pub relevance: f64,
    /// The sum of what its words weigh, comparable between texts of one project.
    pub weight: f64,
}

/// Which words count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// Those of the text.
    Exact,
    /// Those that mean the same, too, but less.
    Synonyms,
}

#[derive(Clone, Copy, Default)]
struct Score {
    heading: f32,
    whole: f32,
}

/// Scores by number. Numbers are dense, but private notes begin far above the others.
#[derive(Default)]
struct Scores {
    low: Vec<Score>,
    high: HashMap<i64, Score>,
}

impl Scores {
    /// Numbers below are slots of a list.
    const DENSE: i64 = 1 << 22;

    fn at(&mut self, number: i64) -> &mut Score {
        match usize::try_from(number) {
            Ok(slot) if number < Self::DENSE => {
                if self.low.len() <= slot {
                    self.low.resize(slot + 1, Score::default());
                }
                &mut self.low[slot]
            }
            _ => self.high.entry(number).or_default(),
        }
    }

    fn each(&self) -> impl Iterator<Item = (i64, Score)> {
        let low = self.low.iter().enumerate().map(|(slot, score)| (slot as i64, *score));
        let high = self.high.iter().map(|(number, score)| (*number, *score));
        low.chain(high).filter(|(_, score)| score.whole > 0.0)
    }
}

/// The notes that answer a text best, best first; ties by newest, then by id.
pub fn notes(
    store: &dyn Store,
    project: &ProjectId,
    text: &str,
    limit: usize,
    wording: Wording,
) -> Result<Vec<RankedNote>> {
    let first_line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut terms = distinct(words::terms(text));
    let heading = distinct(words::terms(first_line)).len().min(terms.len());
    let own = match wording {
        Wording::Exact => terms.len(),
        Wording::Synonyms => with_synonyms(&mut terms),
    };
    if terms.is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let mut scores = Scores::default();
    store.each_note_postings(project, &terms, &mut |notes, term, list| {
        let having = list.count() as f64;
        let others = (notes as f64 - having + 0.5).max(0.0);
        let rarity = (1.0 + others / (having + 0.5)).ln() * if term < own { 1.0 } else { SYNONYM };
        list.each(|number, present| {
            let weight: f64 = present.columns().map(|(_, count)| note_weight(count)).sum();
            let score = scores.at(number.0);
            let gained = (rarity * weight) as f32;
            score.whole += gained;
            if term < heading {
                score.heading += gained;
            }
        });
    })?;
    let top = |of: fn(&Score) -> f32| {
        scores.each().map(|(_, score)| of(&score)).fold(f32::MIN_POSITIVE, f32::max)
    };
    let (top_heading, top_whole) = (top(|score| score.heading), top(|score| score.whole));
    let mut ranked: Vec<(f32, i64, f32)> = scores
        .each()
        .map(|(number, score)| {
            let relevance = (score.heading / top_heading + score.whole / top_whole) / 2.0;
            (relevance, number, score.whole)
        })
        .collect();
    let better = |a: &(f32, i64, f32), b: &(f32, i64, f32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if ranked.len() > limit {
        ranked.select_nth_unstable_by(limit, better);
        ranked.truncate(limit);
    }
    read(store, project, &ranked)
}

fn read(
    store: &dyn Store,
    project: &ProjectId,
    ranked: &[(f32, i64, f32)],
) -> Result<Vec<RankedNote>> {
    let numbers: Vec<i64> = ranked.iter().map(|(_, number, _)| *number).collect();
    let mut by_number: HashMap<i64, Note> =
        store.notes_by_number(project, &numbers)?.into_iter().collect();
    let mut found: Vec<RankedNote> = ranked
        .iter()
        .filter_map(|(relevance, number, weight)| {
            let note = by_number.remove(number)?;
            Some(RankedNote { note, relevance: (*relevance).into(), weight: (*weight).into() })
        })
        .collect();
    let id = |ranked: &RankedNote| -> NoteId { ranked.note.id.clone() };
    found.sort_by(|a, b| {
        b.relevance
            .total_cmp(&a.relevance)
            .then_with(|| b.note.created_at.cmp(&a.note.created_at))
            .then_with(|| id(a).cmp(&id(b)))
    });
    Ok(found)
}
