//! Marks that stand where secrets stood: `[REDACTED-1]`, equal secrets with equal numbers.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use memchr::memmem;

use super::Hit;

const OPEN: &str = "[REDACTED-";

/// The numbers given to secrets so far, and how many were found by which rule.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    numbers: HashMap<String, usize>,
    last: usize,
    rules: BTreeMap<String, u32>,
}

impl Marks {
    /// Goes on after the numbers of the marks that a text already has.
    pub(crate) fn reserve(&mut self, text: &str) {
        for mark in marks(text) {
            let digits = &text[mark.start + OPEN.len()..mark.end - 1];
            self.last = self.last.max(digits.parse().unwrap_or(0));
        }
    }

    /// How many secrets each rule found.
    pub(crate) fn into_rules(self) -> BTreeMap<String, u32> {
        self.rules
    }

    pub(super) fn mark(&mut self, rule: &str, secret: &str) -> String {
        *self.rules.entry(rule.to_owned()).or_default() += 1;
        let number = match self.numbers.get(secret) {
            Some(number) => *number,
            None => {
                self.last += 1;
                self.numbers.insert(secret.to_owned(), self.last);
                self.last
            }
        };
        format!("{OPEN}{number}]")
    }

    /// Puts marks in the place of hits.
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

/// Where marks stand in a text.
pub(super) fn marks(text: &str) -> impl Iterator<Item = Range<usize>> {
    memmem::find_iter(text.as_bytes(), OPEN).filter_map(move |start| {
        let from = start + OPEN.len();
        let digits = text.as_bytes()[from..]
            .iter()
            .take(9)
            .take_while(|b| b.is_ascii_digit())
            .count();
        let close = text.as_bytes().get(from + digits) == Some(&b']');
        (digits > 0 && close).then(|| start..from + digits + 1)
    })
}

/// Takes the marks out of hits: what is already hidden is not hidden again.
pub(super) fn spare<'r>(text: &str, hits: Vec<Hit<'r>>) -> Vec<Hit<'r>> {
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
