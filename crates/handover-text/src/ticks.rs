//! Runs of backticks in a paragraph of Markdown: what closes a code span.

use std::collections::HashMap;

/// Where runs begin, by their width, so that no search for a closing run is done twice.
pub(crate) struct Ticks {
    by_width: HashMap<usize, Vec<usize>>,
}

impl Ticks {
    /// The runs of `bytes[start..]`.
    pub(crate) fn of(bytes: &[u8], start: usize) -> Self {
        let mut by_width: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut at = start;
        while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'`') {
            let width = run(bytes, at + found);
            by_width.entry(width).or_default().push(at + found);
            at += found + width;
        }
        // The nearest one last, to be taken from the end.
        by_width.values_mut().for_each(|places| places.reverse());
        Self { by_width }
    }

    /// Behind the next run of the same width. Places must be asked for in ascending order.
    pub(crate) fn close(&mut self, at: usize, width: usize) -> Option<usize> {
        let places = self.by_width.get_mut(&width)?;
        while places.last().is_some_and(|place| *place <= at) {
            places.pop();
        }
        places.last().map(|place| place + width)
    }
}

/// How many times the byte at a place is repeated.
pub(crate) fn run(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| **byte == bytes[at]).count()
}
