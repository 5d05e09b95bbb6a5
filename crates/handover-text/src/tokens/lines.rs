//! Remembers what lines cost. A brief is counted again and again while it is put together: each item, the block that
//! they make, the block with what follows it, and the whole; and the tables of a vocabulary are too large to be
//! quickly at hand.
//!
//! No piece of a text goes on after the end of a line, unless white space or a slash follows, so the costs of lines
//! add up to those of the text.

use std::cell::RefCell;

use foldhash::HashMap;

/// Shorter texts are counted as fast as they are looked up, and longer ones are seldom seen twice.
const REMEMBERED: std::ops::RangeInclusive<usize> = 24..=2_048;

/// How many lines are remembered at a time; more than any brief has.
const MOST: usize = 1_024;

/// What lines cost, by tokenizer; made for the thread that counts.
#[derive(Debug, Default)]
pub(super) struct Costs(RefCell<HashMap<Box<str>, u64>>);

impl Costs {
    /// The cost of a text by the costs of its lines.
    pub(super) fn of(&self, text: &str, cost: impl Fn(&str) -> u64) -> u64 {
        let (mut sum, mut rest) = (0, text);
        while !rest.is_empty() {
            let (line, after) = rest.split_at(end_of_line(rest));
            sum += self.of_line(line, &cost);
            rest = after;
        }
        sum
    }

    fn of_line(&self, line: &str, cost: impl Fn(&str) -> u64) -> u64 {
        if !REMEMBERED.contains(&line.len()) {
            return cost(line);
        }
        if let Some(known) = self.0.borrow().get(line) {
            return *known;
        }
        let cost = cost(line);
        let mut costs = self.0.borrow_mut();
        if costs.len() >= MOST {
            costs.clear();
        }
        costs.insert(line.into(), cost);
        cost
    }
}

/// Where the first line ends, its line break included, that no piece crosses.
fn end_of_line(text: &str) -> usize {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'\n', bytes)
        .map(|at| at + 1)
        .find(|end| bytes.get(*end).is_some_and(|next| next.is_ascii_graphic() && *next != b'/'))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_the_next_one_begins() {
        for (text, first) in [
            ("one\ntwo", "one\n"),
            ("one\n\ntwo", "one\n\n"),
            ("one\n  two\nthree", "one\n  two\n"),
            ("one.\n/two\nthree", "one.\n/two\n"),
            ("one\né\nthree", "one\né\n"),
            ("one\n", "one\n"),
            ("one", "one"),
        ] {
            assert_eq!(&text[..end_of_line(text)], first, "{text:?}");
        }
    }

    #[test]
    fn a_line_is_counted_once() {
        let costs = Costs::default();
        let counted = std::cell::Cell::new(0);
        let count = |line: &str| {
            counted.set(counted.get() + 1);
            line.len() as u64
        };
        let text = "a line that is long enough\nand another one of them\n";
        for _ in 0..3 {
            assert_eq!(costs.of(text, count), text.len() as u64);
        }
        assert_eq!(counted.get(), 2);
        let lines: String =
            (0..2 * MOST).map(|n| format!("line {n} that is long enough\n")).collect();
        costs.of(&lines, count);
        assert!(costs.0.borrow().len() <= MOST);
    }
}
