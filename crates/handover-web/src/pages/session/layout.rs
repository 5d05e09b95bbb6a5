//! Where things are in the picture of a session: a lane for each role, a column for each time. Their number is
//! bounded, whatever happened.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::Timestamp;

use super::graph::SessionGraph;

// Upper bounds of columns, lanes and cells.
const COLUMNS: usize = 44;
const LANES: usize = 12;
const CELLS: usize = 160;
// Sizes in SVG units.
pub(super) const WIDTH: f64 = 1_000.0;
pub(super) const LANE: f64 = 72.0;
pub(super) const TOP: f64 = 30.0;
const EDGE: f64 = 26.0;
const OTHERS: &str = "others";

/// Gaps that start a new column, in microseconds; the shortest that yields few enough columns is used.
const GAPS: [i64; 9] = [
    0,
    1_000_000,
    5_000_000,
    30_000_000,
    120_000_000,
    600_000_000,
    3_600_000_000,
    21_600_000_000,
    86_400_000_000,
];

/// Which part of a session is drawn, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct View {
    /// Nothing before this time.
    pub(super) from: Option<Timestamp>,
    /// Nothing after this time.
    pub(super) to: Option<Timestamp>,
    /// Equal times are equally wide. Otherwise pauses are left out.
    pub(super) is_to_scale: bool,
}

impl View {
    pub(super) fn shows(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at <= to)
    }
}

/// Lanes and columns.
pub(super) struct Layout {
    pub(super) lanes: Vec<String>,
    /// The start of each column.
    pub(super) columns: Vec<Timestamp>,
    /// The middle of each column, as a share of the width.
    middles: Vec<f64>,
}

impl Layout {
    pub(super) fn new(graph: &SessionGraph, view: &View) -> Self {
        let mut first: BTreeMap<&str, (usize, Timestamp)> = BTreeMap::new();
        let mut times = Vec::new();
        for (role, at) in graph.moments().filter(|(_, at)| view.shows(*at)) {
            let entry = first.entry(role).or_insert((0, at));
            entry.0 += 1;
            entry.1 = entry.1.min(at);
            times.push(at.as_micros());
        }
        times.sort_unstable();
        let mut roles: Vec<(&str, (usize, Timestamp))> = first.into_iter().collect();
        // The busiest roles get a lane, ordered by their first appearance.
        roles.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        let rest = roles.len() > LANES;
        roles.truncate(if rest { LANES - 1 } else { LANES });
        roles.sort_by_key(|(_, (_, at))| *at);
        let mut lanes: Vec<String> = roles.into_iter().map(|(role, _)| role.to_owned()).collect();
        if rest {
            lanes.push(OTHERS.to_owned());
        }
        let most = (CELLS / lanes.len().max(1)).min(COLUMNS);
        Self::with(lanes, &times, most, view.is_to_scale)
    }

    fn with(lanes: Vec<String>, times: &[i64], most: usize, is_to_scale: bool) -> Self {
        let columns = if is_to_scale { equal(times, most) } else { by_activity(times, most) };
        let middles = match (is_to_scale, times.first(), times.last()) {
            (true, Some(&first), Some(&last)) => {
                let step = step(first, last, most);
                let middle = |start: &i64| ((start - first) / step) as f64 + 0.5;
                columns.iter().map(|start| middle(start) / most as f64).collect()
            }
            _ => {
                let count = columns.len().max(1) as f64;
                (0..columns.len()).map(|column| (column as f64 + 0.5) / count).collect()
            }
        };
        let columns = columns.into_iter().map(Timestamp::from_micros).collect();
        Self { lanes, columns, middles }
    }

    pub(super) fn lane(&self, role: &str) -> usize {
        let last = self.lanes.len().saturating_sub(1);
        self.lanes.iter().position(|lane| lane == role).unwrap_or(last)
    }

    pub(super) fn column(&self, at: Timestamp) -> usize {
        self.columns.partition_point(|start| *start <= at).saturating_sub(1)
    }

    pub(super) fn x(&self, column: usize) -> f64 {
        EDGE + (WIDTH - 2.0 * EDGE) * self.middles.get(column).copied().unwrap_or(0.5)
    }

    pub(super) fn height(&self) -> f64 {
        TOP + LANE * self.lanes.len() as f64
    }
}

/// The width of a column in time.
fn step(first: i64, last: i64, most: usize) -> i64 {
    ((last - first) / most as i64 + 1).max(1)
}

/// The start of each column: after a gap, or at equal intervals if activity is continuous.
fn by_activity(times: &[i64], most: usize) -> Vec<i64> {
    let starts = |gap: i64| -> Vec<i64> {
        let mut starts = Vec::new();
        let mut last = None;
        for &time in times {
            if last.is_none_or(|last| time - last > gap) {
                starts.push(time);
            }
            last = Some(time);
        }
        starts
    };
    let by_gap = GAPS.iter().map(|gap| starts(*gap)).find(|starts| starts.len() <= most);
    match by_gap {
        Some(starts) if starts.len() >= most / 4 || times.len() <= most => starts,
        Some(_) | None => equal(times, most),
    }
}

/// The start of each column that is not empty, at equal intervals.
fn equal(times: &[i64], most: usize) -> Vec<i64> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return Vec::new() };
    let step = step(first, last, most);
    let used: BTreeSet<i64> = times.iter().map(|time| (time - first) / step).collect();
    used.into_iter().map(|column| first + column * step).collect()
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
