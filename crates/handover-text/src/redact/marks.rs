//! Marks that replace secrets: `[REDACTED-1]`, with equal numbers for equal secrets.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use memchr::memmem;

use super::Hit;
use super::bytes;

const OPEN: &str = "[REDACTED-";

/// The most secrets whose numbers are remembered: a stream may contain any number.
const REMEMBERED: usize = 65536;

/// The numbers assigned to secrets so far, and how many secrets each rule found.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// By the hash of the secret, so that none stays in memory.
    numbers: HashMap<u64, usize>,
    hashes: RandomState,
    last: usize,
    rules: BTreeMap<String, u32>,
}

impl Marks {
    /// Continues after the numbers of the marks already in a text.
    pub(crate) fn reserve(&mut self, text: &str) {
        for mark in marks(text) {
            let digits = &text[mark.start + OPEN.len()..mark.end - 1];
            self.last = self.last.max(digits.parse().unwrap_or(0));
        }
    }

    pub(crate) fn into_rules(self) -> BTreeMap<String, u32> {
        self.rules
    }

    pub(super) fn mark(&mut self, rule: &str, secret: &str) -> String {
        *self.rules.entry(rule.to_owned()).or_default() += 1;
        let hash = self.hashes.hash_one(secret);
        let number = match self.numbers.get(&hash) {
            Some(number) => *number,
            None => {
                self.last += 1;
                if self.numbers.len() < REMEMBERED {
                    self.numbers.insert(hash, self.last);
                }
                self.last
            }
        };
        format!("{OPEN}{number}]")
    }

    /// Replaces hits with marks.
    pub(super) fn splice<'t>(&mut self, text: &'t str, hits: &[Hit<'_>]) -> Cow<'t, str> {
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for hit in hits {
            out.push_str(&text[at..hit.start]);
            out.push_str(&self.mark(hit.rule, &text[hit.start..hit.end]));
            at = hit.end;
        }
        out.push_str(&text[at..]);
        Cow::Owned(out)
    }
}

/// A text with its hits hidden, and the map back to the original offsets.
pub(super) fn hide(text: &str, hits: &[Hit<'_>]) -> (String, OffsetMap) {
    let mut marks = Marks::default();
    let mut hidden = String::with_capacity(text.len());
    let mut offsets = OffsetMap { shifts: Vec::with_capacity(hits.len()) };
    let mut at = 0;
    for hit in hits {
        hidden.push_str(&text[at..hit.start]);
        hidden.push_str(&marks.mark(hit.rule, &text[hit.start..hit.end]));
        offsets.shifts.push((hidden.len(), hit.end));
        at = hit.end;
    }
    hidden.push_str(&text[at..]);
    (hidden, offsets)
}

/// Maps offsets in a text with marks to the original text: the end of each mark, and the end of the
/// secret it replaced.
pub(super) struct OffsetMap {
    shifts: Vec<(usize, usize)>,
}

impl OffsetMap {
    /// The original offset of a position outside the marks.
    pub(super) fn origin(&self, offset: usize) -> usize {
        let marks = self.shifts.partition_point(|(end, _)| *end <= offset);
        match marks.checked_sub(1).map(|last| self.shifts[last]) {
            Some((end, origin)) => origin + (offset - end),
            None => offset,
        }
    }
}

/// The marks in a text.
pub(super) fn marks(text: &str) -> impl Iterator<Item = Range<usize>> {
    let text = text.as_bytes();
    memmem::find_iter(text, OPEN).filter_map(|start| Some(start..mark_at(text, start)?))
}

/// How many secrets were hidden in a text, each as often as it was there.
pub fn redactions(text: &str) -> u64 {
    marks(text).count() as u64
}

/// The end of the mark at `start`, if there is one.
pub(super) fn mark_at(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..)?.strip_prefix(OPEN.as_bytes())?;
    let digits = bytes::run(rest, 0, 9, |b| b.is_ascii_digit());
    let close = rest.get(digits) == Some(&b']');
    (digits > 0 && close).then(|| start + OPEN.len() + digits + 1)
}

/// Removes the marks from hits: a mark is not hidden again.
pub(super) fn exclude_marks<'r>(text: &str, hits: Vec<Hit<'r>>) -> Vec<Hit<'r>> {
    let mut marks = marks(text).peekable();
    if marks.peek().is_none() {
        return hits;
    }
    let mut out = Vec::with_capacity(hits.len());
    for hit in hits {
        let mut start = hit.start;
        while marks.next_if(|m| m.end <= start).is_some() {}
        while let Some(mark) = marks.next_if(|m| m.start < hit.end) {
            if mark.start > start {
                out.push(Hit::new(hit.rule, start, mark.start));
            }
            start = start.max(mark.end);
        }
        if start < hit.end {
            out.push(Hit::new(hit.rule, start, hit.end));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spans(text: &str) -> Vec<&str> {
        marks(text).map(|mark| &text[mark]).collect()
    }

    #[test]
    fn marks_have_a_number_and_a_bracket() {
        let text = "[REDACTED-1] [REDACTED-] [REDACTED-x] [REDACTED-22] [REDACTED-1234567890]";
        assert_eq!(spans(text), ["[REDACTED-1]", "[REDACTED-22]"]);
        assert_eq!(redactions(text), 2);
    }

    #[test]
    fn existing_marks_are_not_hidden_again() {
        let text = "a [REDACTED-1] b";
        let whole = |start, end| exclude_marks(text, vec![Hit::new("r", start, end)]);
        assert_eq!(whole(0, text.len()), [Hit::new("r", 0, 2), Hit::new("r", 14, 16)]);
        assert_eq!(whole(2, 14), []);
        assert_eq!(whole(0, 1), [Hit::new("r", 0, 1)]);
        assert_eq!(whole(5, 16), [Hit::new("r", 14, 16)]);
    }

    #[test]
    fn numbers_continue_after_existing_marks() {
        let mut marks = Marks::default();
        marks.reserve("[REDACTED-7] and [REDACTED-3]");
        assert_eq!(marks.mark("a", "one"), "[REDACTED-8]");
        assert_eq!(marks.mark("b", "two"), "[REDACTED-9]");
        assert_eq!(marks.mark("a", "one"), "[REDACTED-8]");
        assert_eq!(marks.into_rules(), BTreeMap::from([("a".to_owned(), 2), ("b".to_owned(), 1)]));
    }

    proptest! {
        #[test]
        fn offsets_map_back_to_the_original(
            pieces in prop::collection::vec(("[a-z]{0,6}", "[0-9]{1,9}"), 0..8), tail in "[a-z]{0,6}"
        ) {
            let (mut text, mut hits) = (String::new(), Vec::new());
            for (plain, secret) in &pieces {
                text.push_str(plain);
                hits.push(Hit::new("r", text.len(), text.len() + secret.len()));
                text.push_str(secret);
            }
            text.push_str(&tail);
            let (hidden, offsets) = hide(&text, &hits);
            prop_assert_eq!(marks(&hidden).count(), hits.len());
            let outside = (0..hidden.len())
                .filter(|at| !marks(&hidden).any(|mark| mark.contains(at)));
            for at in outside {
                let origin = offsets.origin(at);
                prop_assert_eq!(&hidden[at..=at], &text[origin..=origin]);
            }
            prop_assert_eq!(offsets.origin(hidden.len()), text.len());
        }
    }
}
