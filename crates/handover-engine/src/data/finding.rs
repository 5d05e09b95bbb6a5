//! A problem that a review, a gate or the engine found, and the words reviewers use for it.

use handover_model::{FindingKind, Severity};
use serde::{Deserialize, Serialize};

/// One problem with the work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The severity, in the reviewer's own word.
    #[serde(default)]
    pub severity: String,
    /// The file and line, such as `src/a.rs:12`; may be empty.
    #[serde(default)]
    pub place: String,
    /// The category, if the reviewer names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FindingKind>,
    /// What is wrong.
    pub text: String,
}

impl Finding {
    /// The finding in one line: `[high] src/a.rs:12: off by one`.
    pub fn line(&self) -> String {
        let Self { severity, place, text, .. } = self;
        let severity = severity.trim().to_lowercase();
        let severity = if severity.is_empty() { severity } else { format!("[{severity}] ") };
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        format!("{severity}{place}{text}")
    }
}

/// Maps a reviewer's word to a severity; an unknown word is medium.
pub fn severity_of(word: &str) -> Severity {
    match word.trim().to_lowercase().as_str() {
        "critical" | "blocker" | "blocking" | "high" | "major" | "severe" | "error" | "p0"
        | "p1" => Severity::High,
        "low" | "minor" | "info" | "nit" | "trivial" | "note" | "style" | "p3" | "p4" => {
            Severity::Low
        }
        _ => Severity::Medium,
    }
}

/// Maps a reviewer's word to a category.
pub fn kind_of(word: &str) -> FindingKind {
    let word = word.trim().to_lowercase().replace(['-', ' '], "_");
    if let Ok(kind) = word.parse() {
        return kind;
    }
    match word.as_str() {
        "bug" | "logic" | "functional" | "behaviour" | "behavior" | "requirement"
        | "requirements" => FindingKind::Correctness,
        "secret" | "secrets" | "vulnerability" | "injection" | "auth" => FindingKind::Security,
        "error" | "errors" | "exception" | "exceptions" | "robustness" => {
            FindingKind::ErrorHandling
        }
        "test" | "testing" | "coverage" => FindingKind::Tests,
        "architecture" | "pattern" | "patterns" | "api" | "boundary" | "maintainability" => {
            FindingKind::Design
        }
        "speed" | "scalability" | "memory" => FindingKind::Performance,
        "naming" | "readability" | "format" | "formatting" => FindingKind::Style,
        "documentation" | "doc" | "comment" | "comments" => FindingKind::Docs,
        _ => FindingKind::Other,
    }
}
