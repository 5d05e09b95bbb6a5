//! Runs of backticks in a Markdown paragraph, which close code spans.

use std::collections::HashMap;

/// The starts of runs by width, so that no search for a closing run is repeated.
pub(crate) struct BacktickRuns {
    by_width: HashMap<usize, Vec<usize>>,
}

impl BacktickRuns {
    /// Collects the runs in `bytes[start..]`.
    pub(crate) fn of(bytes: &[u8], start: usize) -> Self {
        let mut by_width: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut at = start;
        while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'`') {
            let width = run(bytes, at + found);
            by_width.entry(width).or_default().push(at + found);
            at += found + width;
        }
        // Nearest last, so that they can be popped.
        by_width.values_mut().for_each(|starts| starts.reverse());
        Self { by_width }
    }

    /// The end of the next run of the same width. Calls must have ascending `at`.
    pub(crate) fn close(&mut self, at: usize, width: usize) -> Option<usize> {
        let starts = self.by_width.get_mut(&width)?;
        while starts.last().is_some_and(|start| *start <= at) {
            starts.pop();
        }
        starts.last().map(|start| start + width)
    }
}

/// The length of the run of equal bytes at `at`.
pub(crate) fn run(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| **byte == bytes[at]).count()
}
