//! Renders scenarios and their results as a document for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use handover_model::{ScenarioKind, ScenarioOutcome};
use handover_text::quote::{quote_code, quote_inline};

use super::{Document, Scenario};
use crate::data::ScenarioResult;

/// What the document says beyond the scenarios.
#[derive(Debug, Clone, Default)]
pub struct DocumentInfo {
    /// The epic's title.
    pub title: String,
    /// The stories of the epic.
    pub stories: Vec<String>,
    /// The path of the JSON.
    pub data: String,
    /// Criteria that no scenario covers.
    pub uncovered: Vec<String>,
}

/// The document. Everything in it that an agent wrote is quoted.
pub fn render(document: &Document, results: &[ScenarioResult], about: &DocumentInfo) -> String {
    let mut out = String::new();
    let title = if about.title.is_empty() { "acceptance" } else { &about.title };
    let _ = writeln!(out, "# Acceptance of epic {}: {}\n", document.epic, quote_inline(title));
    let _ = writeln!(
        out,
        "Generated from `{}`; edit that file instead. `handover run uat {} --gate quick` runs the automatic \
         scenarios; the checklists are for a person.\n",
        about.data, document.epic
    );
    if !about.stories.is_empty() {
        let stories: Vec<String> = about.stories.iter().map(|story| quote_inline(story)).collect();
        let _ = writeln!(out, "Stories: {}\n", stories.join(", "));
    }
    traceability(&mut out, document, results);
    if !about.uncovered.is_empty() {
        out.push_str("Without a scenario:\n\n");
        for criterion in &about.uncovered {
            let _ = writeln!(out, "- [ ] {}", quote_inline(criterion));
        }
        out.push('\n');
    }
    failures(&mut out, results);
    for (kind, heading) in [
        (ScenarioKind::Auto, "Automatic"),
        (ScenarioKind::Semi, "Semi-automatic"),
        (ScenarioKind::Manual, "Manual"),
    ] {
        let of_kind: Vec<&Scenario> =
            document.scenarios.iter().filter(|scenario| scenario.kind == kind).collect();
        if !of_kind.is_empty() {
            let _ = writeln!(out, "## {heading}\n");
        }
        for scenario in of_kind {
            one(&mut out, scenario);
        }
    }
    if document.scenarios.iter().any(Scenario::needs_a_person) {
        out.push_str(
            "## Sign-off\n\n- [ ] Accepted\n- [ ] Accepted with conditions\n- [ ] Rejected\n\nName, date, \
             remarks:\n",
        );
    }
    out
}

/// A table of criteria and the scenarios that cover them.
fn traceability(out: &mut String, document: &Document, results: &[ScenarioResult]) {
    out.push_str("## Criteria\n\n| criterion | scenario | kind | result |\n|---|---|---|---|\n");
    let outcomes: BTreeMap<&str, &ScenarioResult> =
        results.iter().map(|result| (result.id.as_str(), result)).collect();
    let mut scenarios: Vec<&Scenario> = document.scenarios.iter().collect();
    scenarios.sort_by(|a, b| a.criterion.cmp(&b.criterion));
    for scenario in scenarios {
        let result = match outcomes.get(scenario.id.as_str()) {
            Some(result) if result.outcome != ScenarioOutcome::NotRun => {
                let reason = cell(&result.reason);
                let is_half =
                    scenario.needs_a_person() && result.outcome == ScenarioOutcome::Passed;
                if is_half {
                    "the program's part passed; a person's part is open".to_owned()
                } else if reason.is_empty() {
                    result.outcome.to_string()
                } else {
                    format!("{}: {reason}", result.outcome)
                }
            }
            Some(_) | None => "open".to_owned(),
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {result} |",
            cell(&scenario.criterion),
            scenario.id,
            scenario.kind
        );
    }
    out.push('\n');
}

/// What failed, with the end of its output.
fn failures(out: &mut String, results: &[ScenarioResult]) {
    let wrong: Vec<&ScenarioResult> = results.iter().filter(|result| result.is_wrong()).collect();
    if !wrong.is_empty() {
        out.push_str("## What failed\n\n");
    }
    for result in wrong {
        let _ = writeln!(out, "{}: {}\n", result.id, quote_inline(&result.reason));
        if !result.tail.trim().is_empty() {
            let _ = writeln!(out, "{}\n", quote_code(result.tail.trim(), "text"));
        }
    }
}

fn one(out: &mut String, scenario: &Scenario) {
    let title = if scenario.title.is_empty() { &scenario.criterion } else { &scenario.title };
    let _ = writeln!(out, "### {}: {}\n", scenario.id, quote_inline(title));
    let _ = writeln!(out, "- Criterion: {}", quote_inline(&scenario.criterion));
    if let Some(expect) = scenario.expect.as_ref().filter(|_| !scenario.argv.is_empty()) {
        let _ = writeln!(out, "- Exit code: {}", expect.exit);
        for text in &expect.text {
            let _ = writeln!(out, "- Prints: {}", quote_inline(text));
        }
    }
    out.push('\n');
    let commands: Vec<String> = scenario.commands().map(|argv| line(argv)).collect();
    if !commands.is_empty() {
        let _ = writeln!(out, "{}\n", quote_code(&commands.join("\n"), "text"));
    }
    if let Some(json) = scenario.expect.as_ref().and_then(|expect| expect.json.as_ref()) {
        let text = serde_json::to_string_pretty(json).unwrap_or_default();
        let _ = writeln!(out, "Prints at least:\n\n{}\n", quote_code(&text, "json"));
    }
    for step in &scenario.steps {
        let _ = writeln!(out, "- [ ] {}", quote_inline(step));
    }
    if !scenario.expected.is_empty() {
        let _ = writeln!(out, "- [ ] Expected: {}", quote_inline(&scenario.expected));
    }
    if !scenario.steps.is_empty() || !scenario.expected.is_empty() {
        out.push('\n');
    }
}

/// A command as a person would type it.
fn line(argv: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+".contains(c);
    let words: Vec<String> = argv
        .iter()
        .map(|word| {
            let is_plain = !word.is_empty() && word.chars().all(plain);
            if is_plain { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
        })
        .collect();
    words.join(" ")
}

/// A text inside a table cell.
fn cell(text: &str) -> String {
    quote_inline(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::uat::from_value;

    #[test]
    fn renders_checklists_and_quotes_text_of_agents() {
        let mut document = from_value(&json!([
            {"id": "S1", "criterion": "AC1 | x", "kind": "auto", "argv": ["cargo", "run", "a b"],
             "expect": {"text": "done", "json": {"a": 1}}},
            {"id": "S2", "criterion": "AC2\n# fake", "kind": "semi", "argv": ["cargo", "test"],
             "steps": ["## fake heading", "Look"], "expected": "<!-- handover:receipt r_1 -->"},
            {"id": "S3", "criterion": "AC1 | x", "kind": "manual", "steps": "Read the mail"},
        ]))
        .unwrap();
        document.epic = "1".to_owned();
        let result = ScenarioResult {
            id: "S1".to_owned(),
            criterion: "AC1 | x".to_owned(),
            kind: ScenarioKind::Auto,
            outcome: ScenarioOutcome::Failed,
            reason: "exit code 3 instead of 0".to_owned(),
            tail: String::new(),
            duration_ms: 1,
        };
        let about = DocumentInfo { title: "Shop".to_owned(), ..DocumentInfo::default() };
        let text = render(&document, &[result], &about);
        for part in [
            "# Acceptance of epic 1: Shop",
            "| S1 | auto | failed: exit code 3 instead of 0 |",
            "| S3 | manual | open |",
            "cargo run 'a b'",
            "- [ ] Read the mail",
            "## Sign-off",
        ] {
            assert!(text.contains(part), "{part} is missing in:\n{text}");
        }
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(headings.len(), 10, "{headings:?}");
        assert!(!text.contains("<!--"), "{text}");
        let rows = text.lines().filter(|line| line.starts_with('|'));
        assert!(
            rows.filter(|row| row.contains("AC1")).all(|row| row.contains("AC1 \\| x")),
            "{text}"
        );
    }

    #[test]
    fn a_document_is_complete() {
        let mut document = from_value(&json!([
            {"id": "S2", "title": "It adds", "criterion": "1-1-a AC2", "kind": "auto", "argv": ["cargo", "run", ""],
             "setup": [["cargo", "build"]], "cleanup": [["cargo", "clean", "it's"]],
             "expect": {"exit": 3, "text": ["one", "two"], "json": {"ok": true}}},
            {"id": "S1", "criterion": "1-1-a AC1", "kind": "manual", "steps": ["Open it", "Look"],
             "expected": "It is blue"},
        ]))
        .unwrap();
        document.epic = "1".to_owned();
        let result = |id: &str, outcome| ScenarioResult {
            id: id.to_owned(),
            criterion: String::new(),
            kind: ScenarioKind::Auto,
            outcome,
            reason: String::new(),
            tail: String::new(),
            duration_ms: 1,
        };
        let about = DocumentInfo {
            title: String::new(),
            stories: vec!["1-1-a".to_owned(), "1-2-b".to_owned()],
            data: "docs/uat/epic-1-uat.json".to_owned(),
            uncovered: vec!["1-1-a AC3: it is fast".to_owned()],
        };
        let results =
            [result("S2", ScenarioOutcome::Passed), result("S1", ScenarioOutcome::NotRun)];
        let text = render(&document, &results, &about);
        assert_eq!(
            text,
            "# Acceptance of epic 1: acceptance\n\n\
             Generated from `docs/uat/epic-1-uat.json`; edit that file instead. `handover run uat 1 --gate quick` runs \
             the automatic scenarios; the checklists are for a person.\n\n\
             Stories: 1-1-a, 1-2-b\n\n\
             ## Criteria\n\n| criterion | scenario | kind | result |\n|---|---|---|---|\n\
             | 1-1-a AC1 | S1 | manual | open |\n| 1-1-a AC2 | S2 | auto | passed |\n\n\
             Without a scenario:\n\n- [ ] 1-1-a AC3: it is fast\n\n\
             ## Automatic\n\n### S2: It adds\n\n- Criterion: 1-1-a AC2\n- Exit code: 3\n- Prints: one\n- Prints: two\n\n\
             ```text\ncargo build\ncargo run ''\ncargo clean 'it'\\''s'\n```\n\n\
             Prints at least:\n\n```json\n{\n  \"ok\": true\n}\n```\n\n\
             ## Manual\n\n### S1: 1-1-a AC1\n\n- Criterion: 1-1-a AC1\n\n\
             - [ ] Open it\n- [ ] Look\n- [ ] Expected: It is blue\n\n\
             ## Sign-off\n\n- [ ] Accepted\n- [ ] Accepted with conditions\n- [ ] Rejected\n\nName, date, remarks:\n"
        );
    }

    #[test]
    fn automatic_scenarios_need_no_sign_off() {
        let document = from_value(&json!([
            {"id": "S1", "criterion": "AC1", "kind": "auto", "argv": ["cargo", "test"]},
        ]))
        .unwrap();
        let text = render(&document, &[], &DocumentInfo::default());
        assert!(!text.contains("Sign-off") && !text.contains("Exit code"), "{text}");
    }
}
