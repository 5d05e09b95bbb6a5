//! Renders scenarios and their results as a document for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use handover_model::{ScenarioKind, ScenarioOutcome};
use handover_text::quote::{quote_code, quote_inline};

use super::criteria::{Criteria, text_of, uncovered};
use super::{Document, Scenario};
use crate::data::ScenarioResult;
use crate::story::Criterion;
use crate::words::count;

/// What the document says beyond the scenarios.
#[derive(Debug, Clone, Default)]
pub struct DocumentInfo {
    /// The epic's title.
    pub title: String,
    /// The stories of the epic, with their files.
    pub stories: Vec<(String, String)>,
    /// Those of them that are not done.
    pub open: Vec<String>,
    /// The path of the JSON.
    pub data: String,
    /// The acceptance criteria of the stories.
    pub criteria: Vec<(String, Vec<Criterion>)>,
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
    let uncovered = uncovered(document, &about.criteria);
    overview(&mut out, document, results, about, uncovered.len());
    prerequisites(&mut out, document);
    traceability(&mut out, document, results, &about.criteria);
    if !uncovered.is_empty() {
        out.push_str("Without a scenario:\n\n");
        for criterion in &uncovered {
            let is_open = about.open.iter().any(|story| is_of(criterion, story));
            let why = if is_open { " (story not done)" } else { "" };
            let _ = writeln!(out, "- [ ] {}{why}", quote_inline(criterion));
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
            one(&mut out, scenario, &about.criteria);
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

/// Whether a criterion, such as `1-1-cart AC2: …`, is of this story.
fn is_of(criterion: &str, story: &str) -> bool {
    criterion.strip_prefix(story).is_some_and(|rest| rest.starts_with(' '))
}

/// How many scenarios there are, what came of them, and which stories they are about.
fn overview(
    out: &mut String,
    document: &Document,
    results: &[ScenarioResult],
    about: &DocumentInfo,
    uncovered: usize,
) {
    let all = document.scenarios.len();
    let kinds = [
        (ScenarioKind::Auto, "automatic"),
        (ScenarioKind::Semi, "semi-automatic"),
        (ScenarioKind::Manual, "manual"),
    ];
    let kinds = kinds.into_iter().map(|(kind, word)| {
        (document.scenarios.iter().filter(|scenario| scenario.kind == kind).count(), word)
    });
    let with = |outcome| results.iter().filter(|result| result.outcome == outcome).count();
    let passed = with(ScenarioOutcome::Passed);
    let failed = results.iter().filter(|result| result.is_wrong()).count();
    let outcomes =
        [(passed, "passed"), (failed, "failed"), (all.saturating_sub(passed + failed), "open")];
    let listed = |counts: &mut dyn Iterator<Item = (usize, &str)>| {
        let some = counts.filter(|(count, _)| *count > 0);
        some.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
    };
    out.push_str("## Overview\n\n");
    let scenarios = count(all as u64, "scenario");
    let _ = writeln!(out, "- {scenarios}: {}", listed(&mut kinds.into_iter()));
    let _ = writeln!(out, "- Results: {}", listed(&mut outcomes.into_iter()));
    let criteria: usize = about.criteria.iter().map(|(_, own)| own.len()).sum();
    if criteria > 0 {
        let covered = criteria.saturating_sub(uncovered);
        let _ = writeln!(out, "- {covered} of {criteria} criteria have a scenario");
    }
    for (story, path) in &about.stories {
        let state = if about.open.contains(story) { " (not done)" } else { "" };
        let _ = writeln!(out, "- Story {}: `{path}`{state}", quote_inline(story));
    }
    out.push('\n');
}

/// What must be there before somebody tries the scenarios.
fn prerequisites(out: &mut String, document: &Document) {
    let commands = document.scenarios.iter().flat_map(Scenario::commands);
    let programs: BTreeSet<&str> =
        commands.filter_map(|argv| argv.first()).map(String::as_str).collect();
    let people = document.scenarios.iter().filter(|scenario| scenario.needs_a_person());
    let people: Vec<&str> = people.map(|scenario| scenario.id.as_str()).collect();
    out.push_str("## Prerequisites\n\n- A checkout with the work of this epic; commands start in the project's folder\n");
    if !programs.is_empty() {
        let programs: Vec<String> = programs.into_iter().map(quote_inline).collect();
        let _ = writeln!(out, "- Programs: {}", programs.join(", "));
    }
    if !people.is_empty() {
        let _ = writeln!(out, "- A person, for {}", people.join(", "));
    }
    out.push('\n');
}

/// A criterion with its text.
fn whole(criterion: &str, criteria: &Criteria) -> String {
    match text_of(criterion, criteria) {
        Some(text) => format!("{criterion}: {text}"),
        None => criterion.to_owned(),
    }
}

/// A table of criteria and the scenarios that cover them.
fn traceability(
    out: &mut String,
    document: &Document,
    results: &[ScenarioResult],
    criteria: &Criteria,
) {
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
            cell(&whole(&scenario.criterion, criteria)),
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

fn one(out: &mut String, scenario: &Scenario, criteria: &Criteria) {
    let title = if scenario.title.is_empty() { &scenario.criterion } else { &scenario.title };
    let _ = writeln!(out, "### {}: {}\n", scenario.id, quote_inline(title));
    let _ = writeln!(out, "- Criterion: {}", quote_inline(&whole(&scenario.criterion, criteria)));
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
        assert_eq!(headings.len(), 12, "{headings:?}");
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
            stories: ["1-1-a", "1-2-b"]
                .map(|id| (id.to_owned(), format!("docs/stories/{id}.md")))
                .to_vec(),
            open: vec!["1-2-b".to_owned()],
            data: "docs/uat/epic-1-uat.json".to_owned(),
            criteria: vec![
                (
                    "1-1-a".to_owned(),
                    [("AC1", "it is blue"), ("AC2", "it adds"), ("AC3", "it is fast")]
                        .map(|(id, text)| Criterion { id: id.to_owned(), text: text.to_owned() })
                        .to_vec(),
                ),
                (
                    "1-2-b".to_owned(),
                    vec![Criterion { id: "AC1".to_owned(), text: "it is red".to_owned() }],
                ),
            ],
        };
        let results =
            [result("S2", ScenarioOutcome::Passed), result("S1", ScenarioOutcome::NotRun)];
        let text = render(&document, &results, &about);
        assert_eq!(
            text,
            "# Acceptance of epic 1: acceptance\n\n\
             Generated from `docs/uat/epic-1-uat.json`; edit that file instead. `handover run uat 1 --gate quick` runs \
             the automatic scenarios; the checklists are for a person.\n\n\
             ## Overview\n\n- 2 scenarios: 1 automatic, 1 manual\n- Results: 1 passed, 1 open\n\
             - 2 of 4 criteria have a scenario\n- Story 1-1-a: `docs/stories/1-1-a.md`\n\
             - Story 1-2-b: `docs/stories/1-2-b.md` (not done)\n\n\
             ## Prerequisites\n\n- A checkout with the work of this epic; commands start in the project's folder\n\
             - Programs: cargo\n- A person, for S1\n\n\
             ## Criteria\n\n| criterion | scenario | kind | result |\n|---|---|---|---|\n\
             | 1-1-a AC1: it is blue | S1 | manual | open |\n| 1-1-a AC2: it adds | S2 | auto | passed |\n\n\
             Without a scenario:\n\n- [ ] 1-1-a AC3: it is fast\n- [ ] 1-2-b AC1: it is red (story not done)\n\n\
             ## Automatic\n\n### S2: It adds\n\n- Criterion: 1-1-a AC2: it adds\n- Exit code: 3\n- Prints: one\n- Prints: two\n\n\
             ```text\ncargo build\ncargo run ''\ncargo clean 'it'\\''s'\n```\n\n\
             Prints at least:\n\n```json\n{\n  \"ok\": true\n}\n```\n\n\
             ## Manual\n\n### S1: 1-1-a AC1\n\n- Criterion: 1-1-a AC1: it is blue\n\n\
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
