//! The ranking shared by `search` and `assemble`.
//!
//! Relevance is BM25 over weighted columns (a word in the summary counts more than one in the body), with
//! document frequencies of the session, so that other sessions never affect the order. A task is scored
//! twice, by its first line and as a whole, and the two scores, each divided by its maximum, are averaged:
//! the first line says what it is about, the rest says where. Metadata (priority, group, addressee, age) is
//! a small prior: measured on public data sets, anything much above a tenth does more harm than good.

mod best;
mod metadata;
mod notes;
mod ordinals;
#[cfg(test)]
mod tests;

use handover_model::config::ColumnWeights;
use handover_model::{GroupId, Role, SessionId};
use handover_store::{COLUMNS, Candidate, Result, Slice, Store};
use handover_text::{synonyms, words};

pub(crate) use best::{Best, Key};
pub use metadata::Metadata;
pub use notes::{AROUND, NoteScores, OF_AROUND, RankedNote, Wording, notes};
use ordinals::Ordinals;

/// More words add time but no meaning.
const MAX_TERMS: usize = 64;
/// Saturation of repetitions. Above the usual 1.2 because counts are weighted.
const K1: f64 = 3.0;
/// Normalisation by length.
const B: f64 = 0.7;

/// How many candidates are held at a time. Most sessions have fewer and are read once.
const SLICE: u32 = 12_288;

/// Which packages are ranked, and for whom.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The store that contains the session.
    pub store: &'a dyn Store,
    /// The session whose packages are ranked.
    pub session: &'a SessionId,
    /// The requesting group.
    pub group: Option<&'a GroupId>,
    /// The requesting role.
    pub role: Option<&'a Role>,
}

/// The packages of a session with their relevance to a text.
///
/// For a large session only the inputs of scores are held, eighteen bytes per package; the candidates are
/// read again on demand.
pub struct Ranking<'a> {
    view: View<'a>,
    slice: u32,
    /// All candidates, if one slice contains them.
    only: Option<Vec<Candidate>>,
    ordinals: Ordinals,
    /// By ordinal; empty if there is no text.
    relevance: Vec<f32>,
}

impl<'a> Ranking<'a> {
    /// Ranks by a text; without one, no package is relevant.
    pub fn new(view: View<'a>, text: Option<&str>, weights: &ColumnWeights) -> Result<Self> {
        Self::in_slices(view, text, weights, SLICE)
    }

    pub(crate) fn in_slices(
        view: View<'a>,
        text: Option<&str>,
        weights: &ColumnWeights,
        slice: u32,
    ) -> Result<Self> {
        let (ordinals, relevance) = (Ordinals::default(), Vec::new());
        let mut ranking = Self { view, slice, only: None, ordinals, relevance };
        let first = ranking.slice(0)?;
        let mut lengths = Lengths::default();
        if text.is_some() {
            ranking.each_slice(&first, &mut |candidates| lengths.add(candidates))?;
        }
        ranking.only = first.next.is_none().then_some(first.candidates);
        if let Some(text) = text {
            ranking.relevance = Question::new(text, weights).relevance(view, &lengths)?;
        }
        ranking.ordinals = lengths.ordinals;
        Ok(ranking)
    }

    /// Visits every package by id with its relevance from 0 to 1, which is 0 if it shares no word with the text.
    pub fn each(&self, visit: &mut dyn FnMut(&Candidate, f64)) -> Result<()> {
        let mut show = |candidate: &Candidate, ordinal: Option<usize>| {
            let relevance = ordinal.and_then(|ordinal| self.relevance.get(ordinal));
            visit(candidate, relevance.copied().unwrap_or_default().into());
        };
        if let Some(only) = &self.only {
            only.iter().enumerate().for_each(|(ordinal, candidate)| show(candidate, Some(ordinal)));
            return Ok(());
        }
        let mut ordinals = self.ordinals.cursor();
        self.each_slice(&self.slice(0)?, &mut |candidates| {
            // A package added in the meantime has no ordinal.
            candidates.iter().for_each(|candidate| show(candidate, ordinals.seek(candidate.id)));
        })
    }

    /// Visits a slice and all that follow.
    fn each_slice(&self, first: &Slice, visit: &mut dyn FnMut(&[Candidate])) -> Result<()> {
        visit(&first.candidates);
        let mut next = first.next;
        while let Some(from) = next {
            let slice = self.slice(from)?;
            visit(&slice.candidates);
            next = slice.next;
        }
        Ok(())
    }

    fn slice(&self, from: i64) -> Result<Slice> {
        let View { store, session, group, role } = self.view;
        store.slice(session, group, role, from, self.slice)
    }
}

/// A text as a query.
struct Question {
    terms: Vec<String>,
    /// How many of the terms are in the first line; they come first.
    heading: usize,
    weights: [f64; COLUMNS],
}

impl Question {
    fn new(text: &str, weights: &ColumnWeights) -> Self {
        let first_line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let terms = distinct(words::terms(text));
        let ColumnWeights { title, summary, files, body, context } = *weights;
        Self {
            heading: distinct(words::terms(first_line)).len().min(terms.len()),
            terms,
            weights: [title, summary, files, body, context]
                .map(|weight| if weight.is_finite() { weight.max(0.0) } else { 0.0 }),
        }
    }

    /// The relevance of each package.
    fn relevance(&self, view: View<'_>, lengths: &Lengths) -> Result<Vec<f32>> {
        let (packages, slopes) = (lengths.columns.len(), lengths.slopes());
        let (mut of_heading, mut of_whole) = (vec![0.0_f32; packages], vec![0.0_f32; packages]);
        view.store.each_postings(view.session, &self.terms, &mut |term, list| {
            let having = list.count() as f64;
            let others = (packages as f64 - having + 0.5).max(0.0);
            let rarity = (1.0 + others / (having + 0.5)).ln();
            let mut ordinals = lengths.ordinals.cursor();
            let in_heading = term < self.heading;
            list.each(|package, present| {
                let Some(at) = ordinals.seek(package) else { return };
                let (columns, mut frequency) = (&lengths.columns[at], 0.0);
                for (column, count) in present.columns() {
                    // Matches in a longer column count less.
                    let damping = 1.0 - B + slopes[column] * f64::from(columns[column]);
                    frequency += self.weights[column] * f64::from(count) / damping;
                }
                let score = (rarity * frequency * (K1 + 1.0) / (frequency + K1)) as f32;
                of_whole[at] += score;
                if in_heading {
                    of_heading[at] += score;
                }
            });
        })?;
        let top = |scores: &[f32]| scores.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let (top_heading, top_whole) = (top(&of_heading), top(&of_whole));
        for (whole, heading) in of_whole.iter_mut().zip(of_heading) {
            *whole = (heading / top_heading + *whole / top_whole) / 2.0;
        }
        Ok(of_whole)
    }
}

/// What a word counts that only means the same as one of the text.
pub(crate) const SYNONYM: f64 = 0.6;

/// Appends the synonyms of terms that are not among them; how many the terms were.
pub(crate) fn with_synonyms(terms: &mut Vec<String>) -> usize {
    let own = terms.len();
    for at in 0..own {
        for synonym in synonyms::of(&terms[at]) {
            if !terms.contains(synonym) {
                terms.push(synonym.clone());
            }
        }
    }
    own
}

/// The distinct terms, in order of first occurrence.
fn distinct(terms: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut kept: Vec<String> = terms.into_iter().filter(|t| seen.insert(t.clone())).collect();
    kept.truncate(MAX_TERMS);
    kept
}

/// The column lengths of packages.
#[derive(Default)]
struct Lengths {
    ordinals: Ordinals,
    /// By ordinal.
    columns: Vec<[u16; COLUMNS]>,
}

impl Lengths {
    fn add(&mut self, candidates: &[Candidate]) {
        candidates.iter().for_each(|candidate| self.ordinals.push(candidate.id));
        self.columns.extend(candidates.iter().map(|candidate| candidate.terms));
    }

    /// What each word of a column adds to its damping.
    fn slopes(&self) -> [f64; COLUMNS] {
        let mut sums = [0_u64; COLUMNS];
        for columns in &self.columns {
            for (sum, count) in sums.iter_mut().zip(columns) {
                *sum += u64::from(*count);
            }
        }
        let average = |sum| (sum as f64 / self.columns.len().max(1) as f64).max(1.0);
        sums.map(|sum| B / average(sum))
    }
}
