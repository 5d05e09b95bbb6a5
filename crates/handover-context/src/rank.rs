//! One ranking for `search` and `assemble`.
//!
//! Relevance is BM25 over weighted columns (a word in the summary says more than one in the body),
//! with rarity measured within the session, so that other sessions never change the order. A task is
//! asked twice, by its first line and as a whole, and the two scores, each divided by its maximum,
//! are averaged: the first line says what it is about, the rest says where. What is known about a
//! package besides (priority, group, addressee, age) is a small prior: measured on public sets,
//! anything much above a tenth costs more than it brings.

use handover_model::config::ColumnWeights;
use handover_model::{PackageId, Priority, SessionId, Timestamp};
use handover_store::{COLUMNS, Candidate, Result, Store};
use handover_text::words;

/// More words than this add time and no meaning.
const MAX_TERMS: usize = 64;
/// How fast repetitions stop counting. More than the usual 1.2, because counts are weighted.
const K1: f64 = 3.0;
/// How much long texts are held back.
const B: f64 = 0.7;

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

    /// The terms of a candidate that nobody in particular asks for.
    pub fn plain(candidate: &Candidate, now: Timestamp) -> Self {
        Self::new(candidate.priority, false, false, candidate.created_at, now)
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

/// How relevant each candidate is to a text, from 0 to 1; 0 for one that shares no word with it.
///
/// The candidates are all of the session's, by id: rarity and length are measured against them.
pub fn relevance(
    store: &dyn Store,
    session: &SessionId,
    text: &str,
    candidates: &[Candidate],
    weights: &ColumnWeights,
) -> Result<Vec<f64>> {
    let first_line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let terms = distinct(words::terms(text));
    let heading = distinct(words::terms(first_line)).len().min(terms.len());
    let lengths = Lengths::of(candidates);
    let weights = [weights.title, weights.summary, weights.files, weights.body, weights.context]
        .map(|weight| if weight.is_finite() { weight.max(0.0) } else { 0.0 });
    let (mut of_heading, mut of_whole) = (vec![0.0; candidates.len()], vec![0.0; candidates.len()]);
    store.each_postings(session, &terms, &mut |term, list| {
        let packages = list.len() as f64;
        let others = (candidates.len() as f64 - packages + 0.5).max(0.0);
        let rarity = (1.0 + others / (packages + 0.5)).ln();
        let mut at = 0;
        for posting in list {
            at = seek(candidates, at, posting.package);
            let Some(candidate) = candidates.get(at).filter(|c| c.id == posting.package) else {
                continue;
            };
            let mut frequency = 0.0;
            for column in (0..COLUMNS).filter(|column| posting.counts[*column] > 0) {
                let count = f64::from(posting.counts[column]);
                frequency +=
                    weights[column] * count / lengths.damping(column, candidate.terms[column]);
            }
            let score = rarity * frequency * (K1 + 1.0) / (frequency + K1);
            of_whole[at] += score;
            if term < heading {
                of_heading[at] += score;
            }
        }
    })?;
    let top = |scores: &[f64]| scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let (top_heading, top_whole) = (top(&of_heading), top(&of_whole));
    for (whole, heading) in of_whole.iter_mut().zip(&of_heading) {
        *whole = (heading / top_heading + *whole / top_whole) / 2.0;
    }
    Ok(of_whole)
}

/// The first occurrence of each term; those of the first line come first.
fn distinct(terms: Vec<String>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut kept: Vec<String> = terms.into_iter().filter(|t| seen.insert(t.clone())).collect();
    kept.truncate(MAX_TERMS);
    kept
}

/// Where an id stands or would stand, looking from a place that is not behind it. Ids count up, so it is
/// at most as far ahead as it is greater, and just as far where none is missing.
#[inline]
fn seek(candidates: &[Candidate], from: usize, id: PackageId) -> usize {
    let Some(here) = candidates.get(from) else { return from };
    let ahead = usize::try_from(id.0.saturating_sub(here.id.0)).unwrap_or(0);
    let end = from.saturating_add(ahead).min(candidates.len());
    if candidates.get(end).is_some_and(|candidate| candidate.id == id) {
        return end;
    }
    from + candidates[from..end].partition_point(|candidate| candidate.id < id)
}

/// By how much the columns of a package are longer than usual.
struct Lengths {
    /// What each word more adds to the damping.
    slopes: [f64; COLUMNS],
}

impl Lengths {
    fn of(candidates: &[Candidate]) -> Self {
        let mut sums = [0_u64; COLUMNS];
        for candidate in candidates {
            for (sum, count) in sums.iter_mut().zip(candidate.terms) {
                *sum += u64::from(count);
            }
        }
        let average = |sum| (sum as f64 / candidates.len().max(1) as f64).max(1.0);
        Self { slopes: sums.map(|sum| B / average(sum)) }
    }

    /// What a count is divided by: more in a column that is longer than usual.
    #[inline]
    fn damping(&self, column: usize, length: u16) -> f64 {
        1.0 - B + self.slopes[column] * f64::from(length)
    }
}
