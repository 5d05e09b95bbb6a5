//! Finds secrets and replaces them with numbered marks.
//!
//! [`scan`] reads a text once and runs the detectors: vendors' formats ([`vendors`]), shapes without a
//! prefix, values of sensitive names ([`assign`]), command lines, URLs, private keys, text encoded
//! once, and random strings ([`generic`]). Nothing is initialised at start, and only rules from the
//! configuration are regular expressions. Bytes outside a finding are never changed.

mod allowlist;
mod assign;
mod beside;
mod blocks;
mod byte_arrays;
mod bytes;
mod calls;
mod commands;
mod encoded;
mod expect_scripts;
mod flags;
mod generic;
mod index;
mod keys;
mod kubernetes;
mod languages;
mod lexicon;
mod lines;
mod marks;
mod operators;
mod pattern;
mod pem;
mod phrases;
mod prose;
mod random;
mod scan;
mod services;
mod settings;
mod shapes;
mod sql_rows;
mod stream;
mod syntax;
mod tables;
mod urls;
mod usernames;
mod values;
mod vendors;
mod weak;

use std::borrow::Cow;
use std::ops::Range;

use handover_model::RedactionMode;
use handover_model::config::RedactionConfig;
use regex::Regex;

pub(crate) use marks::Marks;
pub use marks::redactions;
pub use stream::RedactionStream;

/// A configured rule whose pattern does not compile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("redaction rule `{name}` has an invalid pattern: {reason}")]
pub struct InvalidRule {
    /// The rule's name in the configuration.
    pub name: String,
    /// The error of the regular expression compiler.
    pub reason: String,
}

/// One secret in a text: bytes `start..end`, found by `rule`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name of the built-in or configured rule.
    pub rule: String,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset one past the last byte.
    pub end: usize,
}

/// A finding that borrows its rule's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hit<'r> {
    rule: &'r str,
    start: usize,
    end: usize,
}

impl<'r> Hit<'r> {
    fn new(rule: &'r str, start: usize, end: usize) -> Self {
        Self { rule, start, end }
    }
}

/// Finds and replaces secrets. Cheap to create, immutable, and safe to share.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    mode: RedactionMode,
    allow: Vec<String>,
    extra: Vec<Extra>,
}

/// A configured rule.
#[derive(Debug, Clone)]
struct Extra {
    name: String,
    pattern: Regex,
}

/// Rounds are repeated until one finds nothing, which makes redaction idempotent: a mark can expose
/// a secret next to the one it replaced. Hardly any text needs a second round.
const ROUNDS: usize = 8;

/// What some editors put in front of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl Redactor {
    /// A redactor for a configuration; fails if one of its rules is not a valid regular expression.
    pub fn new(config: &RedactionConfig) -> Result<Self, InvalidRule> {
        let extra = config.rules.iter().map(|rule| {
            let pattern = Regex::new(&rule.pattern).map_err(|error| InvalidRule {
                name: rule.name.clone(),
                reason: error.to_string(),
            })?;
            let name = rule.name.clone();
            Ok(Extra { name, pattern })
        });
        Ok(Self {
            mode: config.mode,
            allow: config.allow.clone(),
            extra: extra.collect::<Result<_, _>>()?,
        })
    }

    /// Every secret in the text, sorted and without overlap: exactly what [`clean`](Self::clean) hides.
    pub fn find(&self, text: &str) -> Vec<Finding> {
        let hits = self.all_hits(text).into_iter();
        hits.map(|hit| Finding { rule: hit.rule.to_owned(), start: hit.start, end: hit.end })
            .collect()
    }

    /// Redacts bytes that need not be valid UTF-8, such as a diff. Bytes outside secrets are unchanged.
    pub fn redact_bytes(&self, input: &[u8]) -> Vec<u8> {
        let text = bytes::as_text(input);
        let hits = self.all_hits(&text);
        let mut marks = Marks::default();
        marks.reserve(&text);
        let mut out = Vec::with_capacity(input.len());
        let mut at = 0;
        for hit in hits {
            out.extend_from_slice(&input[at..hit.start]);
            out.extend_from_slice(marks.mark(hit.rule, &text[hit.start..hit.end]).as_bytes());
            at = hit.end;
        }
        out.extend_from_slice(&input[at..]);
        out
    }

    fn all_hits(&self, text: &str) -> Vec<Hit<'_>> {
        self.examine(text).0
    }

    /// The hits of every round, as offsets into the original text, and the parts of the text that must be
    /// read as a whole to find them again.
    fn examine(&self, text: &str) -> (Vec<Hit<'_>>, Vec<Range<usize>>) {
        let mut structures = Vec::new();
        let mut all = self.hits(text, &mut structures);
        for _ in 1..ROUNDS {
            if all.is_empty() {
                break;
            }
            let (hidden, offsets) = marks::hide(text, &all);
            let more = self.hits(&hidden, &mut Vec::new());
            if more.is_empty() {
                break;
            }
            all.extend(
                more.into_iter().map(|hit| {
                    Hit::new(hit.rule, offsets.origin(hit.start), offsets.origin(hit.end))
                }),
            );
            all.sort_by_key(|hit| hit.start);
        }
        (all, structures)
    }

    /// The hits of one round. A byte order mark is no part of the first line.
    fn hits(&self, text: &str, structures: &mut Vec<Range<usize>>) -> Vec<Hit<'_>> {
        let Some(rest) = text.strip_prefix(BYTE_ORDER_MARK) else {
            return self.hits_after_mark(text, structures);
        };
        let skipped = BYTE_ORDER_MARK.len_utf8();
        let hits = self.hits_after_mark(rest, structures).into_iter();
        for structure in structures {
            *structure = structure.start + skipped..structure.end + skipped;
        }
        hits.map(|hit| Hit::new(hit.rule, hit.start + skipped, hit.end + skipped)).collect()
    }

    fn hits_after_mark(&self, text: &str, structures: &mut Vec<Range<usize>>) -> Vec<Hit<'_>> {
        let mut hits = Vec::new();
        *structures = match self.mode {
            RedactionMode::Off => return hits,
            RedactionMode::PatternOnly => scan::patterns(text, &mut hits),
            RedactionMode::PatternAndEntropy => scan::everything(text, &mut hits),
        };
        for extra in &self.extra {
            hits.extend(extra.pattern.captures_iter(text).filter_map(|found| {
                let secret = found.get(1).or_else(|| found.get(0))?;
                Some(Hit::new(&extra.name, secret.start(), secret.end()))
            }));
        }
        if hits.is_empty() {
            return hits;
        }
        if !self.allow.is_empty() {
            hits.retain(|hit| {
                let found = text.get(hit.start..hit.end);
                !self.allow.iter().any(|a| Some(a.as_str()) == found)
            });
        }
        marks::exclude_marks(text, merge(text, hits))
    }

    /// Replaces the secrets in a text with marks.
    pub(crate) fn replace<'t>(&self, text: &'t str, marks: &mut Marks) -> Cow<'t, str> {
        marks.splice(text, &self.all_hits(text))
    }

    /// Like [`replace`](Self::replace), for a value whose key is known.
    pub(crate) fn replace_value<'t>(
        &self,
        key: &str,
        text: &'t str,
        marks: &mut Marks,
    ) -> Cow<'t, str> {
        let sensitive = keys::classify(key.as_bytes())
            .is_some_and(|key| values::is_json_secret(key, text.as_bytes()));
        if sensitive && !self.is_allowed(text) && marks::marks(text).next().is_none() {
            return Cow::Owned(marks.mark("json-key", text));
        }
        self.replace(text, marks)
    }

    /// The mark for a number whose key makes it a secret.
    pub(crate) fn replace_number(
        &self,
        key: &str,
        digits: &str,
        marks: &mut Marks,
    ) -> Option<String> {
        let sensitive = keys::classify(key.as_bytes())
            .is_some_and(|key| values::is_json_number_secret(key, digits.as_bytes()));
        (sensitive && !self.is_allowed(digits)).then(|| marks.mark("json-key", digits))
    }

    /// The mark for the user name next to a password that is hidden under another key.
    pub(crate) fn replace_user(&self, key: &str, text: &str, marks: &mut Marks) -> Option<String> {
        let user = usernames::is_name(key.as_bytes()) && usernames::is_user(text.as_bytes());
        let plain = !self.is_allowed(text) && marks::marks(text).next().is_none();
        (user && plain).then(|| marks.mark(usernames::RULE, text))
    }

    /// Whether the value is a password that [`replace_value`](Self::replace_value) hides.
    pub(crate) fn hides_password(&self, key: &str, text: &str) -> bool {
        keys::classify(key.as_bytes()) == Some(keys::Key::Password)
            && values::is_json_secret(keys::Key::Password, text.as_bytes())
            && !self.is_allowed(text)
            && marks::marks(text).next().is_none()
    }

    fn is_allowed(&self, text: &str) -> bool {
        self.mode == RedactionMode::Off || self.allow.iter().any(|a| a == text)
    }
}

/// Whether everybody knows this password: `password`, `changeme`. It is hidden like any other, but an example
/// may contain it.
pub fn is_known_password(value: &str) -> bool {
    weak::is_known(value.as_bytes())
}

/// Sorts hits and joins overlapping ones, so that a secret found twice is hidden whole. The rule that
/// found the longer part names the result. Ends are moved outwards to character boundaries.
fn merge<'r>(text: &str, mut hits: Vec<Hit<'r>>) -> Vec<Hit<'r>> {
    for hit in &mut hits {
        hit.end = hit.end.min(text.len());
        hit.start = hit.start.min(hit.end);
        while !text.is_char_boundary(hit.start) {
            hit.start -= 1;
        }
        while !text.is_char_boundary(hit.end) {
            hit.end += 1;
        }
    }
    hits.retain(|hit| hit.start < hit.end);
    hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
    let mut out: Vec<Hit<'r>> = Vec::with_capacity(hits.len());
    let mut longest = 0;
    for hit in hits {
        let len = hit.end - hit.start;
        match out.last_mut() {
            Some(last) if hit.start < last.end => {
                last.end = last.end.max(hit.end);
                if len > longest {
                    last.rule = hit.rule;
                    longest = len;
                }
            }
            Some(_) | None => {
                longest = len;
                out.push(hit);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
