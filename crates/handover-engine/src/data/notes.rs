//! What a developer says about its work besides the summary, for reviewers and later stories.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::statement::texts;

/// What a developer said about the work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkNotes {
    /// What was decided, and why.
    #[serde(default)]
    pub decisions: Vec<String>,
    /// The tests that were added.
    #[serde(default)]
    pub tests: Vec<String>,
    /// What a reviewer should know.
    #[serde(default)]
    pub for_reviewer: Vec<String>,
}

impl WorkNotes {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads a result; what cannot be read is skipped.
    pub fn read(value: &Value) -> Self {
        let of = |keys: &[&str]| {
            keys.iter().find_map(|key| value.get(key)).map(texts).unwrap_or_default()
        };
        Self {
            decisions: of(&["decisions", "key_decisions"]),
            tests: of(&["tests", "tests_added"]),
            for_reviewer: of(&["for_reviewer", "notes_for_reviewer"]),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_text_or_a_list_is_read() {
        let notes = WorkNotes::read(&json!({"decisions": "one lock", "tests": ["a", 7, ""]}));
        assert_eq!(
            (notes.decisions, notes.tests),
            (vec!["one lock".to_owned()], vec!["a".to_owned()])
        );
        assert!(WorkNotes::read(&json!([])).is_empty());
    }
}
