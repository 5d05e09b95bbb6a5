//! One ranking for `search` and `assemble`.
//!
//! Relevance is BM25 over weighted columns (a word in the summary says more than one in the body),
//! with rarity measured within the session, so that other sessions never change the order. A task is
//! asked twice, by its first line and as a whole, and the two scores, each divided by its maximum,
//! are averaged: the first line says what it is about, the rest says where. What is known about a
//! package besides (priority, group, addressee, age) is a small prior: measured on public sets,
//! anything much above a tenth costs more than it brings.

use std::collections::HashMap;

use handover_model::{PackageId, Priority, SessionId, Timestamp};
use handover_store::{COLUMNS, Candidate, Column, Posting, Result, Store};
use handover_text::words;

/// More words than this add time and no meaning.
const MAX_TERMS: usize = 64;
/// How fast repetitions stop counting.
const K1: f64 = 1.2;
/// How much long texts are held back.
const B: f64 = 0.6;
/// How many of the best are ranked again with their lengths.
const SECOND_LOOK: usize = 200;

fn weight(column: Column) -> f64 {
    match column {
        Column::Title | Column::Summary => 3.0,
        Column::Files => 2.0,
        Column::Body => 1.0,
        Column::Context => 0.8,
    }
}

/// The terms of the metadata score, as the specification has them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metadata {
    /// 4 × 1 to 4.
    pub priority: f64,
    /// 2 if it came from the group that asks.
    pub same_group: f64,
    /// 1.5 if it is addressed to the role that asks.
    pub addressed: f64,
    /// 1 / (days + 1).
    pub recency: f64,
}

impl Metadata {
    /// The highest score there is.
    pub const MAX: f64 = 16.0 + 2.0 + 1.5 + 1.0;

    /// The terms of a candidate at a moment.
    pub fn of(candidate: &Candidate, now: Timestamp) -> Self {
        Self::new(
            candidate.priority,
            candidate.same_group,
            candidate.addressed,
            candidate.created_at,
            now,
        )
    }

    /// The terms of a package that nobody in particular asks for.
    pub fn plain(priority: Priority, created_at: Timestamp, now: Timestamp) -> Self {
        Self::new(priority, false, false, created_at, now)
    }

    fn new(
        priority: Priority,
        same_group: bool,
        addressed: bool,
        created_at: Timestamp,
        now: Timestamp,
    ) -> Self {
        let step = match priority {
            Priority::Low => 1.0,
            Priority::Medium => 2.0,
            Priority::High => 3.0,
            Priority::Critical => 4.0,
        };
        let days = (now.as_micros() - created_at.as_micros()).max(0) as f64 / 86_400e6;
        Self {
            priority: 4.0 * step,
            same_group: if same_group { 2.0 } else { 0.0 },
            addressed: if addressed { 1.5 } else { 0.0 },
            recency: 1.0 / (days + 1.0),
        }
    }

    /// The score.
    pub fn score(&self) -> f64 {
        self.priority + self.same_group + self.addressed + self.recency
    }

    /// The same terms on another scale.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            priority: self.priority * factor,
            same_group: self.same_group * factor,
            addressed: self.addressed * factor,
            recency: self.recency * factor,
        }
    }
}

/// How relevant packages are to a text, from 0 to 1, best first; what shares no word with it is not
/// among them.
pub fn relevance(
    store: &dyn Store,
    session: &SessionId,
    text: &str,
    keep: usize,
) -> Result<Vec<(PackageId, f64)>> {
    let first_line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let terms = distinct(words::terms(text));
    let heading = distinct(words::terms(first_line)).len().min(terms.len());
    let size = store.index_size(session)?;
    let postings = store.postings(session, &terms)?;
    let rarity: Vec<f64> = postings
        .iter()
        .map(|list| {
            let packages = count_packages(list) as f64;
            (1.0 + (size.packages as f64 - packages + 0.5).max(0.0) / (packages + 0.5)).ln()
        })
        .collect();
    let mut found: HashMap<PackageId, Vec<Occurrence>> = HashMap::new();
    for (term, list) in postings.iter().enumerate() {
        for posting in list {
            let Posting { package, column, count } = *posting;
            found.entry(package).or_default().push(Occurrence { term, column, count });
        }
    }
    let mut first: Vec<(PackageId, f64)> = found
        .iter()
        .map(|(id, occurrences)| (*id, score(occurrences, &rarity, &[1.0; COLUMNS], terms.len())))
        .collect();
    best(&mut first, keep.max(SECOND_LOOK));
    let rest = first.split_off(first.len().min(SECOND_LOOK));
    let cut = first.last().map_or(1.0, |(_, score)| score.max(f64::MIN_POSITIVE));
    let ids: Vec<PackageId> = first.iter().map(|(id, _)| *id).collect();
    let average = size.terms.map(|sum| (sum as f64 / size.packages.max(1) as f64).max(1.0));
    let damped: Vec<(PackageId, f64, f64)> = store
        .term_counts(&ids)?
        .into_iter()
        .zip(&ids)
        .map(|(counts, id)| {
            let mut damping = [1.0; COLUMNS];
            for (slot, (count, average)) in damping.iter_mut().zip(counts.iter().zip(average)) {
                *slot = 1.0 - B + B * *count as f64 / average;
            }
            let occurrences = &found[id];
            let of = |terms| score(occurrences, &rarity, &damping, terms);
            (*id, of(heading), of(terms.len()))
        })
        .collect();
    let top = |of: fn(&(PackageId, f64, f64)) -> f64| {
        damped.iter().map(of).fold(f64::MIN_POSITIVE, f64::max)
    };
    let (top_first, top_whole) = (top(|d| d.1), top(|d| d.2));
    let mut ranked: Vec<(PackageId, f64)> = damped
        .iter()
        .map(|(id, first, whole)| (*id, (first / top_first + whole / top_whole) / 2.0))
        .collect();
    best(&mut ranked, keep);
    // What got no second look stands below what did, in the order of the first.
    let floor = ranked.last().map_or(0.0, |(_, score)| *score);
    ranked.extend(rest.into_iter().map(|(id, score)| (id, floor * (score / cut).min(1.0))));
    ranked.truncate(keep);
    Ok(ranked)
}

/// The first occurrence of each term; those of the first line come first.
fn distinct(terms: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut kept: Vec<String> = terms.into_iter().filter(|t| seen.insert(t.clone())).collect();
    kept.truncate(MAX_TERMS);
    kept
}

/// Where one term occurs in one package.
struct Occurrence {
    term: usize,
    column: Column,
    count: u32,
}

fn count_packages(postings: &[Posting]) -> usize {
    // Sorted by package, so equal ones are neighbours.
    postings.chunk_by(|a, b| a.package == b.package).count()
}

/// BM25 of the terms before `until`.
fn score(
    occurrences: &[Occurrence],
    rarity: &[f64],
    damping: &[f64; COLUMNS],
    until: usize,
) -> f64 {
    occurrences
        .chunk_by(|a, b| a.term == b.term)
        .take_while(|of_term| of_term[0].term < until)
        .map(|of_term| {
            let frequency: f64 = of_term
                .iter()
                .map(|o| weight(o.column) * f64::from(o.count) / damping[o.column as usize])
                .sum();
            rarity[of_term[0].term] * frequency * (K1 + 1.0) / (frequency + K1)
        })
        .sum()
}

/// Keeps the best, in order; equal scores are ordered by id, newest first.
fn best(scored: &mut Vec<(PackageId, f64)>, keep: usize) {
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    scored.truncate(keep);
}
