//! Reads the lessons that an agent reports, leniently: agents spell fields in many ways, and an
//! unreadable part must not discard the rest.

use handover_text::cut::{cut, one_line};
use serde_json::Value;

use crate::data::{Lesson, Retro};

const MOST: usize = 20;
const TEXT: usize = 500;
const SUMMARY: usize = 2_000;

/// Reads lessons from a JSON object.
pub fn read_retro(value: &Value) -> Retro {
    let list = |names: &[&str]| -> Vec<Lesson> {
        let found = names.iter().find_map(|name| value.get(name));
        match found {
            Some(Value::Array(items)) => items.iter().filter_map(lesson).take(MOST).collect(),
            Some(one @ (Value::String(_) | Value::Object(_))) => lesson(one).into_iter().collect(),
            Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => Vec::new(),
        }
    };
    let mut actions = list(&["actions", "action_items", "next_steps"]);
    actions.extend(list(&["lessons", "lessons_learned", "learnings"]));
    actions.truncate(MOST);
    Retro {
        summary: cut(value.get("summary").and_then(Value::as_str).unwrap_or_default(), SUMMARY),
        went_well: list(&["went_well", "what_went_well", "successes"]),
        went_badly: list(&[
            "went_badly",
            "what_went_wrong",
            "went_wrong",
            "challenges",
            "problems",
        ]),
        actions,
        patterns: list(&["patterns", "patterns_established"]),
        decisions: list(&["decisions", "key_decisions"]),
        gotchas: list(&["gotchas", "pitfalls", "warnings"]),
        files: list(&["files", "key_files", "files_to_reference"]),
        test_conventions: list(&["test_conventions", "test_patterns", "testing", "tests"]),
    }
}

/// A text, or an object with a text under any of the usual names.
fn lesson(value: &Value) -> Option<Lesson> {
    let short = |text: &str| cut(&one_line(text), TEXT);
    if let Some(text) = value.as_str() {
        return Some(Lesson::new(short(text))).filter(|lesson| !lesson.text.is_empty());
    }
    let word = |names: &[&str]| {
        let found = names.iter().find_map(|name| value.get(name)?.as_str());
        found.map(short).unwrap_or_default()
    };
    let file = word(&["file", "path"]);
    let mut text = word(&[
        "text",
        "pattern",
        "decision",
        "gotcha",
        "convention",
        "action",
        "lesson",
        "name",
        "title",
    ]);
    let mut why = word(&["why", "rationale", "description", "reason", "explanation", "note"]);
    if text.is_empty() {
        text = if file.is_empty() { std::mem::take(&mut why) } else { file.clone() };
    }
    Some(Lesson { text, why, file }).filter(|lesson| !lesson.text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_common_spelling_is_read() {
        let retro = read_retro(&json!({
            "summary": "It went.",
            "patterns_established": [{"pattern": "Errors are enums", "description": "one per module", "file": "src/error.rs"}],
            "key_decisions": [{"decision": "SQLite", "rationale": "one file"}, {"by": "nobody"}, 7],
            "gotchas": "Times are UTC",
            "files": [{"path": "src/main.rs", "why": "the entry"}, {"path": "src/x.rs"}],
            "test_patterns": ["real files\nonly"],
            "lessons": [{"lesson": "PromptRequest early"}],
        }));
        assert_eq!(retro.patterns[0].line(), "Errors are enums: one per module");
        assert_eq!(retro.patterns[0].file, "src/error.rs");
        assert_eq!(retro.decisions.len(), 1);
        assert_eq!(retro.gotchas, [Lesson::new("Times are UTC")]);
        assert_eq!(retro.files[1].text, "src/x.rs");
        assert_eq!(retro.test_conventions[0].text, "real files only");
        assert_eq!(retro.actions[0].text, "PromptRequest early");
        assert_eq!(retro.strategies().len(), 4);
    }

    #[test]
    fn invalid_input_is_empty_and_long_input_is_bounded() {
        for nonsense in [json!(null), json!("x"), json!([1]), json!({"patterns": [null, [], {}]})] {
            assert!(read_retro(&nonsense).is_empty(), "{nonsense}");
        }
        let many: Vec<String> = (0..1_000).map(|n| format!("{n} {}", "x".repeat(900))).collect();
        let retro = read_retro(&json!({"gotchas": many}));
        assert_eq!(retro.gotchas.len(), MOST);
        assert!(retro.gotchas.iter().all(|lesson| lesson.text.chars().count() <= TEXT));
    }
}
