//! What is known of the work on a story: what was built and decided, which tests prove it, where it is.

use serde::{Deserialize, Serialize};

use super::WorkNotes;

/// An account of the work on a story, from its developer and those who fixed it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    /// What was built, a line for each summary.
    pub built: Vec<String>,
    /// Decisions, tests, and what a reviewer should know.
    pub notes: WorkNotes,
    /// The files that differ.
    pub files: Vec<String>,
    /// What the last review said.
    pub review: String,
}

impl Account {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what another agent said about the same work.
    pub(crate) fn add(&mut self, summary: &str, notes: &WorkNotes) {
        fn extend(into: &mut Vec<String>, from: &[String]) {
            for text in from {
                if !into.contains(text) {
                    into.push(text.clone());
                }
            }
        }
        let summary = summary.trim();
        if !summary.is_empty() {
            extend(&mut self.built, &[summary.to_owned()]);
        }
        extend(&mut self.notes.decisions, &notes.decisions);
        extend(&mut self.notes.tests, &notes.tests);
        extend(&mut self.notes.for_reviewer, &notes.for_reviewer);
    }
}
