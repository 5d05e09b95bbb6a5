//! Finding secrets and replacing them by numbered marks.
//!
//! A first engine: vendor prefixes, assignments to telling names, credentials in URLs, JWTs and
//! private-key blocks. Bytes outside a finding are never touched.

mod rules;

use std::borrow::Cow;
use std::collections::HashMap;

use handover_model::RedactionMode;
use handover_model::config::RedactionConfig;

/// A rule of the configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("redaction rule `{name}` has a pattern that is not valid: {reason}")]
pub struct InvalidRule {
    /// The rule's name.
    pub name: String,
    /// What is wrong with its pattern.
    pub reason: String,
}

/// One secret in a text: bytes `start..end`, found by `rule`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: String,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Finds and replaces secrets. Cheap to make, immutable, shareable.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    mode: RedactionMode,
    allow: Vec<String>,
}

impl Redactor {
    /// A redactor for a configuration; fails if one of its extra rules is not a regular expression.
    pub fn new(config: &RedactionConfig) -> Result<Self, InvalidRule> {
        Ok(Self {
            mode: config.mode,
            allow: config.allow.clone(),
        })
    }

    /// Every secret in the text, sorted, not overlapping.
    pub fn find(&self, text: &str) -> Vec<Finding> {
        if self.mode == RedactionMode::Off {
            return Vec::new();
        }
        let mut findings = rules::find(text);
        findings.retain(|f| !self.allow.iter().any(|a| a == &text[f.start..f.end]));
        findings
    }

    /// Replaces the secrets of a text by marks; also says how many there were.
    pub(crate) fn replace<'t>(&self, text: &'t str, marks: &mut Marks) -> (Cow<'t, str>, u32) {
        let findings = self.find(text);
        splice(text, &findings, marks)
    }

    /// The same for a value whose key is known.
    pub(crate) fn replace_value<'t>(
        &self,
        key: &str,
        text: &'t str,
        marks: &mut Marks,
    ) -> (Cow<'t, str>, u32) {
        let allowed = self.mode == RedactionMode::Off || self.allow.iter().any(|a| a == text);
        if !allowed && rules::telling_key(key) && !rules::placeholder(text) {
            return (Cow::Owned(marks.mark(text)), 1);
        }
        self.replace(text, marks)
    }
}

/// The numbers given to secrets so far: equal secrets get equal numbers.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    numbers: HashMap<String, usize>,
}

impl Marks {
    fn mark(&mut self, secret: &str) -> String {
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(secret.to_owned()).or_insert(next);
        format!("[REDACTED-{number}]")
    }
}

fn splice<'t>(text: &'t str, findings: &[Finding], marks: &mut Marks) -> (Cow<'t, str>, u32) {
    if findings.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut count = 0;
    for finding in findings {
        out.push_str(&text[at..finding.start]);
        out.push_str(&marks.mark(&text[finding.start..finding.end]));
        at = finding.end;
        count += 1;
    }
    out.push_str(&text[at..]);
    (Cow::Owned(out), count)
}
