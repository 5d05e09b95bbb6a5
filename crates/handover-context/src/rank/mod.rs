//! One ranking for `search` and `assemble`.
//!
//! Relevance is BM25 over weighted columns (a word in the summary says more than one in the body),
//! with rarity measured within the session, so that other sessions never change the order. A task is
//! asked twice, by its first line and as a whole, and the two scores, each divided by its maximum,
//! are averaged: the first line says what it is about, the rest says where. What is known about a
//! package besides (priority, group, addressee, age) is a small prior: measured on public sets,
//! anything much above a tenth costs more than it brings.

mod best;
mod metadata;
mod places;

use handover_model::config::ColumnWeights;
use handover_model::{GroupId, Role, SessionId};
use handover_store::{COLUMNS, Candidate, Result, Slice, Store};
use handover_text::words;

pub(crate) use best::{Best, Key};
pub use metadata::Metadata;
use places::Places;

/// More words than this add time and no meaning.
const MAX_TERMS: usize = 64;
/// How fast repetitions stop counting. More than the usual 1.2, because counts are weighted.
const K1: f64 = 3.0;
/// How much long texts are held back.
const B: f64 = 0.7;

/// So many candidates are held at a time. Most sessions have less, and are read once.
const SLICE: u32 = 12_288;

/// Whose packages are ranked, as who sees them.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Where they are.
    pub store: &'a dyn Store,
    /// The session.
    pub session: &'a SessionId,
    /// The group that asks.
    pub group: Option<&'a GroupId>,
    /// The role that asks.
    pub role: Option<&'a Role>,
}

/// The packages of a session, each with how relevant it is to a text.
///
/// Of a large session only what scores are made of is held, eighteen bytes a package; its candidates are
/// read again when they are asked for.
pub struct Ranking<'a> {
    view: View<'a>,
    slice: u32,
    /// The candidates, if one slice has all of them.
    only: Option<Vec<Candidate>>,
    places: Places,
    /// By place; empty if there is no text.
    relevance: Vec<f32>,
}

impl<'a> Ranking<'a> {
    /// Ranks by a text; without one nothing is relevant.
    pub fn new(view: View<'a>, text: Option<&str>, weights: &ColumnWeights) -> Result<Self> {
        Self::in_slices(view, text, weights, SLICE)
    }

    pub(crate) fn in_slices(
        view: View<'a>,
        text: Option<&str>,
        weights: &ColumnWeights,
        slice: u32,
    ) -> Result<Self> {
        let (places, relevance) = (Places::default(), Vec::new());
        let mut ranking = Self { view, slice, only: None, places, relevance };
        let first = ranking.slice(0)?;
        let mut lengths = Lengths::default();
        if text.is_some() {
            ranking.each_slice(&first, &mut |candidates| lengths.add(candidates))?;
        }
        ranking.only = first.next.is_none().then_some(first.candidates);
        if let Some(text) = text {
            ranking.relevance = Question::new(text, weights).relevance(view, &lengths)?;
        }
        ranking.places = lengths.places;
        Ok(ranking)
    }

    /// Shows every package, by id, with its relevance, from 0 to 1; 0 for one that shares no word with
    /// the text.
    pub fn each(&self, visit: &mut dyn FnMut(&Candidate, f64)) -> Result<()> {
        let mut show = |candidate: &Candidate, place: Option<usize>| {
            let relevance = place.and_then(|place| self.relevance.get(place));
            visit(candidate, relevance.copied().unwrap_or_default().into());
        };
        if let Some(only) = &self.only {
            only.iter().enumerate().for_each(|(place, candidate)| show(candidate, Some(place)));
            return Ok(());
        }
        let mut places = self.places.cursor();
        self.each_slice(&self.slice(0)?, &mut |candidates| {
            // One that came meanwhile has no place.
            candidates.iter().for_each(|candidate| show(candidate, places.seek(candidate.id)));
        })
    }

    /// Shows a slice and those behind it.
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

/// What a text asks for.
struct Question {
    terms: Vec<String>,
    /// So many of the terms are of the first line; they come first.
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

    /// How relevant each package is.
    fn relevance(&self, view: View<'_>, lengths: &Lengths) -> Result<Vec<f32>> {
        let (packages, slopes) = (lengths.columns.len(), lengths.slopes());
        let (mut of_heading, mut of_whole) = (vec![0.0_f32; packages], vec![0.0_f32; packages]);
        view.store.each_postings(view.session, &self.terms, &mut |term, list| {
            let having = list.count() as f64;
            let others = (packages as f64 - having + 0.5).max(0.0);
            let rarity = (1.0 + others / (having + 0.5)).ln();
            let mut places = lengths.places.cursor();
            list.each(|package, present| {
                let Some(at) = places.seek(package) else { return };
                let mut frequency = 0.0;
                for (column, count) in present.columns() {
                    // Less in a column that is longer than usual.
                    let length = f64::from(lengths.columns[at][column]);
                    let damping = 1.0 - B + slopes[column] * length;
                    frequency += self.weights[column] * f64::from(count) / damping;
                }
                let score = (rarity * frequency * (K1 + 1.0) / (frequency + K1)) as f32;
                of_whole[at] += score;
                if term < self.heading {
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

/// The first occurrence of each term; those of the first line come first.
fn distinct(terms: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut kept: Vec<String> = terms.into_iter().filter(|t| seen.insert(t.clone())).collect();
    kept.truncate(MAX_TERMS);
    kept
}

/// How long the columns of packages are.
#[derive(Default)]
struct Lengths {
    places: Places,
    /// By place.
    columns: Vec<[u16; COLUMNS]>,
}

impl Lengths {
    fn add(&mut self, candidates: &[Candidate]) {
        candidates.iter().for_each(|candidate| self.places.push(candidate.id));
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
