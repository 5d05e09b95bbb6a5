//! Reads reports in prose, from programs that print text and no result: headings with lists, and
//! findings as `- [HIGH] file:line - what`.

use std::collections::BTreeMap;

use handover_model::RunPhase;

use super::AgentReport;
use crate::data::{Analysis, Finding, MOST_ITEMS, Topic, cut};

const MOST_FINDINGS: usize = 50;

/// Fills in what a structured result left out. `lines` are the agent's own lines.
pub(super) fn fill_in(phase: RunPhase, report: &mut AgentReport, lines: &[&str]) {
    match phase {
        RunPhase::Kickoff if report.contribution.notes.is_empty() => {
            report.contribution.notes = notes(lines);
        }
        RunPhase::Review if report.findings.is_empty() => {
            let found = lines.iter().filter_map(|line| finding(line));
            report.findings = found.take(MOST_FINDINGS).collect();
        }
        RunPhase::Analysis if report.contribution.analysis.is_none() => {
            report.contribution.analysis = analysis(lines, &report.summary);
        }
        RunPhase::Kickoff
        | RunPhase::Review
        | RunPhase::Analysis
        | RunPhase::Dev
        | RunPhase::Fix
        | RunPhase::Uat
        | RunPhase::Retro => {}
    }
}

/// A line that is a heading: `## Heading`, `**Heading**`, `Heading:`; and what follows on the same line.
fn heading(line: &str) -> Option<(String, &str)> {
    let line = line.trim();
    let bare = line.trim_start_matches('#').trim_start();
    let (head, rest) = match bare.split_once(':') {
        Some((head, rest)) => (head, rest.trim()),
        None if bare != line || line.starts_with("**") => (bare, ""),
        None => return None,
    };
    let head = head.trim_matches(|c: char| c == '*' || c.is_whitespace()).to_lowercase();
    (head.len() <= 60).then_some((head, rest.trim_start_matches('*').trim()))
}

/// The text of an item of a list, or of a line.
fn item(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = rest.len() < line.len() && rest.starts_with(['.', ')']);
    let line = if numbered { &rest[1..] } else { line };
    line.trim_start_matches(['-', '*', '+', '•', ' ']).trim()
}

fn topic(heading: &str) -> Option<Topic> {
    let has = |word: &str| heading.contains(word);
    if has("risk") {
        Some(Topic::Risks)
    } else if has("test") {
        Some(Topic::Testing)
    } else if has("architect") {
        Some(Topic::Architecture)
    } else if has("decision") {
        Some(Topic::Decisions)
    } else if has("strategy") || has("implementation") || has("approach") {
        Some(Topic::Strategy)
    } else {
        None
    }
}

fn notes(lines: &[&str]) -> BTreeMap<Topic, Vec<String>> {
    let mut notes: BTreeMap<Topic, Vec<String>> = BTreeMap::new();
    let mut current = None;
    let mut add = |topic: Topic, text: &str| {
        let text = cut(text);
        let of = notes.entry(topic).or_default();
        if !text.is_empty() && of.len() < MOST_ITEMS {
            of.push(text);
        }
    };
    for line in lines {
        if let Some((head, rest)) = heading(line)
            && let Some(topic) = topic(&head)
        {
            current = Some(topic);
            add(topic, rest);
        } else if line.trim_start().starts_with('#') {
            current = None;
        } else if let Some(topic) = current {
            add(topic, item(line));
        }
    }
    notes.retain(|_, texts| !texts.is_empty());
    if notes.is_empty() {
        let prose: Vec<&str> =
            lines.iter().map(|line| item(line)).filter(|l| !l.is_empty()).collect();
        let prose = cut(&prose.join(" "));
        if !prose.is_empty() {
            notes.insert(Topic::Strategy, vec![prose]);
        }
    }
    notes
}

/// `- [HIGH] src/a.rs:3 - what is wrong`
fn finding(line: &str) -> Option<Finding> {
    let (severity, rest) = item(line).strip_prefix('[')?.split_once(']')?;
    let severity = severity.trim().to_lowercase();
    if !matches!(severity.as_str(), "critical" | "high" | "medium" | "low") {
        return None;
    }
    let rest = rest.trim();
    let (head, tail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let head = head.trim_matches('`').trim_end_matches([':', ',', '`']);
    let is_place = !tail.is_empty() && (head.contains('/') || head.contains('.'));
    let (place, text) = if is_place { (head, tail) } else { ("", rest) };
    let text = cut(text.trim_start_matches(['-', '–', '—', ':', ' ']));
    (!text.is_empty()).then(|| Finding { severity, place: cut(place), kind: None, text })
}

fn analysis(lines: &[&str], summary: &str) -> Option<Analysis> {
    let mut analysis = Analysis::default();
    let mut current = None;
    for line in lines {
        let labelled = heading(line).and_then(|(head, rest)| {
            let label = ["root cause", "remediation", "question"]
                .into_iter()
                .find(|label| head.contains(label))?;
            Some((label, rest))
        });
        let text = match labelled {
            Some((label, rest)) => {
                current = Some(label);
                rest
            }
            None if line.trim_start().starts_with('#') => {
                current = None;
                continue;
            }
            None => item(line),
        };
        let text = cut(text);
        match current {
            _ if text.is_empty() => {}
            Some("root cause") if analysis.root_cause.is_empty() => analysis.root_cause = text,
            Some("remediation") if analysis.remediation.len() < MOST_ITEMS => {
                analysis.remediation.push(text);
            }
            Some("question") if analysis.question.is_none() => analysis.question = Some(text),
            Some(_) | None => {}
        }
    }
    if analysis.root_cause.is_empty() {
        analysis.root_cause = cut(summary);
    }
    (analysis != Analysis::default()).then_some(analysis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(phase: RunPhase, text: &str) -> AgentReport {
        let mut report = AgentReport { summary: "why".into(), ..AgentReport::default() };
        fill_in(phase, &mut report, &text.lines().collect::<Vec<_>>());
        report
    }

    #[test]
    fn reads_a_kickoff_in_prose() {
        let text = "Thoughts.\n### Architectural Notes\n- use the middleware\n2. keep the API\n\n\
                    **Testing Approach**\n* one test per rule\n## Risks: the limit\n## Other\nnothing\n";
        let notes = report(RunPhase::Kickoff, text).contribution.notes;
        assert_eq!(notes[&Topic::Architecture], ["use the middleware", "keep the API"]);
        assert_eq!(notes[&Topic::Testing], ["one test per rule"]);
        assert_eq!(notes[&Topic::Risks], ["the limit"]);
        let plain =
            report(RunPhase::Kickoff, "Extend the service.\n\nReuse it.").contribution.notes;
        assert_eq!(plain[&Topic::Strategy], ["Extend the service. Reuse it."]);
        assert!(report(RunPhase::Kickoff, "").contribution.notes.is_empty());
    }

    #[test]
    fn reads_findings_in_prose() {
        let text = "- [HIGH] src/a.rs:3 - no check\n* [medium] too long\n[odd] x\n- [LOW]\nnone\n";
        let findings = report(RunPhase::Review, text).findings;
        assert_eq!(findings.len(), 2);
        assert_eq!(
            (findings[0].place.as_str(), findings[0].text.as_str()),
            ("src/a.rs:3", "no check")
        );
        assert_eq!((findings[1].severity.as_str(), findings[1].place.as_str()), ("medium", ""));
    }

    #[test]
    fn reads_an_analysis_in_prose() {
        let text = "Root cause: the port is taken\nRemediation:\n- bind to port 0\n- retry\nQuestion: which port?";
        let analysis = report(RunPhase::Analysis, text).contribution.analysis.unwrap();
        assert_eq!(analysis.root_cause, "the port is taken");
        assert_eq!(analysis.remediation, ["bind to port 0", "retry"]);
        assert_eq!(analysis.question.as_deref(), Some("which port?"));
        assert_eq!(report(RunPhase::Analysis, "").contribution.analysis.unwrap().root_cause, "why");
    }

    #[test]
    fn development_reports_have_no_prose_findings() {
        assert_eq!(report(RunPhase::Dev, "## Risks\n- x\n- [HIGH] a.rs y").findings, []);
    }

    #[test]
    fn headings_come_in_every_form() {
        for (line, head, rest) in [
            ("## Testing Approach", "testing approach", ""),
            ("### Risks: the limit", "risks", "the limit"),
            ("**Key Decisions**", "key decisions", ""),
            ("**Risks:** the limit", "risks", "the limit"),
            ("Strategy: small steps", "strategy", "small steps"),
        ] {
            assert_eq!(heading(line), Some((head.to_owned(), rest)), "{line}");
        }
        assert_eq!(heading("no heading at all"), None);
        assert_eq!(heading(&format!("{}: x", "long ".repeat(20))), None);
        assert!(heading(&format!("{}: x", "y".repeat(60))).is_some());
    }

    #[test]
    fn items_lose_their_bullets_and_numbers() {
        for (line, text) in [
            ("- a", "a"),
            ("  * a", "a"),
            ("+ a", "a"),
            ("• a", "a"),
            ("1. a", "a"),
            ("12) a", "a"),
            ("3 apples", "3 apples"),
            ("2026", "2026"),
            ("a", "a"),
        ] {
            assert_eq!(item(line), text, "{line}");
        }
    }

    #[test]
    fn headings_name_topics_by_their_words() {
        for (head, expected) in [
            ("identified risks", Some(Topic::Risks)),
            ("how to test it", Some(Topic::Testing)),
            ("architectural notes", Some(Topic::Architecture)),
            ("key decisions", Some(Topic::Decisions)),
            ("strategy", Some(Topic::Strategy)),
            ("implementation", Some(Topic::Strategy)),
            ("the approach", Some(Topic::Strategy)),
            ("weather", None),
        ] {
            assert_eq!(topic(head), expected, "{head}");
        }
    }

    #[test]
    fn a_structured_result_is_not_filled_in() {
        let own = Finding { text: "own".into(), ..Finding::default() };
        let mut report = AgentReport { findings: vec![own.clone()], ..AgentReport::default() };
        fill_in(RunPhase::Review, &mut report, &["- [HIGH] a.rs:1 - other"]);
        assert_eq!(report.findings, [own]);
        let mut report = AgentReport::default();
        report.contribution.notes.insert(Topic::Risks, vec!["own".to_owned()]);
        let notes = report.contribution.notes.clone();
        fill_in(RunPhase::Kickoff, &mut report, &["## Risks", "- other"]);
        assert_eq!(report.contribution.notes, notes);
        let analysis = Analysis { root_cause: "own".into(), ..Analysis::default() };
        let mut report = AgentReport::default();
        report.contribution.analysis = Some(analysis.clone());
        fill_in(RunPhase::Analysis, &mut report, &["Root cause: other"]);
        assert_eq!(report.contribution.analysis, Some(analysis));
    }

    #[test]
    fn findings_need_a_known_severity_and_a_text() {
        let one = |line: &str| finding(line).map(|it| (it.severity, it.place, it.text));
        let made = |severity: &str, place: &str, text: &str| {
            Some((severity.to_owned(), place.to_owned(), text.to_owned()))
        };
        assert_eq!(one("- [Critical] `src/a.rs:3`: boom"), made("critical", "src/a.rs:3", "boom"));
        assert_eq!(one("1. [LOW] lib.rs – naming"), made("low", "lib.rs", "naming"));
        assert_eq!(one("[medium] one two"), made("medium", "", "one two"));
        // A path alone is the text.
        assert_eq!(one("- [HIGH] src/a.rs"), made("high", "", "src/a.rs"));
        assert_eq!(one("- [nit] a.rs: x"), None);
        assert_eq!(one("- [HIGH] a.rs -"), None);
        assert_eq!(one("- HIGH a.rs x"), None);
    }

    #[test]
    fn lists_are_bounded() {
        let many = "- [LOW] x\n".repeat(MOST_FINDINGS + 10);
        assert_eq!(report(RunPhase::Review, &many).findings.len(), MOST_FINDINGS);
        let notes = format!("## Risks\n{}", "- r\n".repeat(MOST_ITEMS + 10));
        let notes = report(RunPhase::Kickoff, &notes).contribution.notes;
        assert_eq!(notes[&Topic::Risks].len(), MOST_ITEMS);
        let steps = format!("Remediation:\n{}", "- s\n".repeat(MOST_ITEMS + 10));
        let analysis = report(RunPhase::Analysis, &steps).contribution.analysis.unwrap();
        assert_eq!(analysis.remediation.len(), MOST_ITEMS);
    }

    #[test]
    fn the_first_cause_and_question_count() {
        let text = "**Root Cause:** one\nRoot cause: two\nQuestion:\n- which?\n- what else?\n## Other\nx\n";
        let analysis = report(RunPhase::Analysis, text).contribution.analysis.unwrap();
        assert_eq!(analysis.root_cause, "one");
        assert_eq!(analysis.question.as_deref(), Some("which?"));
        assert!(analysis.remediation.is_empty());
    }
}
