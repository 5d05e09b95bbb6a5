//! Words that are used about the same things: `watchdog` and `reset`, `invoice` and `billing`.
//!
//! A task and the decision that it needs often name their subject in other words. The table says which stems
//! stand in the same surroundings or in texts that belong together, learned from the histories and documents of public
//! repositories and from a dictionary by `scripts/related` and `scripts/related-trained`; it has numbers of ours only, no
//! text. A related word is a guess, weaker than a synonym, so
//! callers weigh it by the table's weight and only where the word itself tells little.

/// A line for each stem, sorted: the stem, then related stems, each with a digit before it for how related it is.
const TABLE: &str = include_str!("related.txt");

/// The stems related to a stem, the nearest first, with a weight from 0.1 to 0.9.
pub fn of(stem: &str) -> impl Iterator<Item = (&'static str, f64)> {
    line(TABLE, stem).unwrap_or_default().split_ascii_whitespace().filter_map(|entry| {
        let (digit, word) = entry.split_at_checked(1)?;
        Some((word, f64::from(digit.parse::<u8>().ok()?) / 10.0))
    })
}

/// What follows a stem on its line. Nothing is parsed on the way: a search reads some twenty lines.
fn line<'t>(table: &'t str, stem: &str) -> Option<&'t str> {
    let (mut from, mut to) = (0, table.len());
    while from < to {
        let middle = from + (to - from) / 2;
        let start = table.as_bytes()[..middle].iter().rposition(|byte| *byte == b'\n');
        let start = start.map_or(0, |at| at + 1);
        let end = table.as_bytes()[start..].iter().position(|byte| *byte == b'\n');
        let end = end.map_or(table.len(), |length| start + length);
        let (word, related) = table.get(start..end)?.split_once(' ')?;
        match word.cmp(stem) {
            std::cmp::Ordering::Equal => return Some(related),
            std::cmp::Ordering::Less => from = end + 1,
            std::cmp::Ordering::Greater => to = start,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_line_is_found_and_well_formed() {
        let mut before = "";
        for text in TABLE.lines() {
            let (stem, related) = text.split_once(' ').unwrap();
            assert!(before < stem, "{before} {stem}");
            before = stem;
            let entries: Vec<_> = of(stem).collect();
            assert_eq!(entries.len(), related.split(' ').count(), "{stem}");
            let distinct: HashSet<_> = entries.iter().map(|(word, _)| word).collect();
            assert_eq!(distinct.len(), entries.len(), "{stem}");
            assert!(entries.iter().all(|(word, weight)| *word != stem && *weight > 0.0), "{stem}");
        }
    }

    #[test]
    fn a_search_finds_the_first_the_last_and_nothing_else() {
        let table = "a 9b\nbb 3c 1d\nz 2y\n";
        assert_eq!(line(table, "a"), Some("9b"));
        assert_eq!(line(table, "bb"), Some("3c 1d"));
        assert_eq!(line(table, "z"), Some("2y"));
        for missing in ["", "0", "aa", "b", "bbb", "zz"] {
            assert_eq!(line(table, missing), None, "{missing}");
        }
        assert_eq!(line("", "a"), None);
    }

    #[test]
    fn words_have_the_form_of_the_index() {
        for text in TABLE.lines() {
            let (stem, _) = text.split_once(' ').unwrap();
            assert!(
                of(stem).all(|(word, _)| word.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            );
        }
    }
}
