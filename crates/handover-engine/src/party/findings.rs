//! Merges the findings of several voices: duplicates, severities, and who agrees or disagrees.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::{FindingKind, Severity};

use crate::data::{Finding, Stance, Statement, severity_of};

/// Lines this close count as the same location, because models miscount lines.
const NEAR: u64 = 3;

/// A finding of one or several voices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedFinding {
    /// The file and line; the first of several lines.
    pub place: String,
    /// The category.
    pub kind: FindingKind,
    /// The highest severity among the voices that support it.
    pub severity: Severity,
    /// The texts of all voices that found it, without duplicates.
    pub texts: Vec<String>,
    /// The voices that support it, each with its severity.
    pub held: BTreeMap<String, Severity>,
    /// The voices that disagree, each with its reason.
    pub disputed: BTreeMap<String, String>,
}

impl MergedFinding {
    /// One finding for the developer who fixes it.
    pub fn finding(&self) -> Finding {
        Finding {
            severity: self.severity.to_string(),
            place: self.place.clone(),
            kind: Some(self.kind),
            text: self.texts.join(" / "),
        }
    }
}

/// Merges the findings of both rounds with the voices' stances on each other's findings. Sorted by severity,
/// location, kind and text.
pub fn merge(statements: &[Statement]) -> Vec<MergedFinding> {
    let listed = cluster(statements.iter().filter(|statement| statement.round == 1));
    let mut merged = listed.clone();
    for statement in statements.iter().filter(|statement| statement.round > 1) {
        let others = others_of(&listed, &statement.persona);
        for stance in &statement.contribution.stances {
            if let Some(at) = stance.on.checked_sub(1).and_then(|on| others.get(on)) {
                take(&mut merged[*at], &statement.persona, stance);
            }
        }
    }
    for later in cluster(statements.iter().filter(|statement| statement.round > 1)) {
        match merged.iter_mut().find(|known| is_same(known, &later)) {
            Some(known) => join(known, later),
            None => merged.push(later),
        }
    }
    for finding in &mut merged {
        finding.severity = finding.held.values().copied().max().unwrap_or(Severity::Low);
    }
    merged.sort_by(|a, b| order(a).cmp(&order(b)));
    merged
}

/// The first-round findings that a persona is shown in the second: only those of others, in the order of their
/// numbers.
pub(crate) fn shown_to(statements: &[Statement], persona: &str) -> Vec<MergedFinding> {
    let listed = cluster(statements.iter().filter(|statement| statement.round == 1));
    let others = others_of(&listed, persona);
    others.into_iter().map(|at| without(&listed[at], persona, statements)).collect()
}

/// Another voice's finding without this persona's own text about it.
fn without(finding: &MergedFinding, persona: &str, statements: &[Statement]) -> MergedFinding {
    if !finding.held.contains_key(persona) {
        return finding.clone();
    }
    let others =
        statements.iter().filter(|statement| statement.round == 1 && statement.persona != persona);
    let same = cluster(others).into_iter().find(|other| is_same(other, finding));
    same.unwrap_or_else(|| finding.clone())
}

/// The indices of findings that a voice other than this persona supports.
fn others_of(listed: &[MergedFinding], persona: &str) -> Vec<usize> {
    let is_others = |finding: &MergedFinding| finding.held.keys().any(|holder| holder != persona);
    (0..listed.len()).filter(|at| is_others(&listed[*at])).collect()
}

fn take(finding: &mut MergedFinding, persona: &str, stance: &Stance) {
    if stance.agrees {
        let severity = stance.severity.unwrap_or(finding.severity);
        finding.held.insert(persona.to_owned(), severity);
        finding.disputed.remove(persona);
    } else if !finding.held.contains_key(persona) {
        finding.disputed.insert(persona.to_owned(), stance.why.clone());
    }
}

type Order<'a> = (std::cmp::Reverse<Severity>, &'a str, u64, FindingKind, &'a [String]);

fn order(finding: &MergedFinding) -> Order<'_> {
    let (file, line) = split(&finding.place);
    (std::cmp::Reverse(finding.severity), file, line.unwrap_or(0), finding.kind, &finding.texts)
}

struct Raw<'w> {
    file: &'w str,
    line: Option<u64>,
    kind: FindingKind,
    persona: &'w str,
    severity: Severity,
    text: &'w str,
}

/// Merges the findings of one round: same file and kind on nearby lines, or the same text if they have no
/// location or no category.
fn cluster<'w>(statements: impl Iterator<Item = &'w Statement>) -> Vec<MergedFinding> {
    let mut raw: Vec<Raw<'w>> = Vec::new();
    for statement in statements {
        for finding in &statement.findings {
            let (file, line) = split(&finding.place);
            raw.push(Raw {
                file,
                line,
                kind: finding.kind.unwrap_or(FindingKind::Other),
                persona: &statement.persona,
                severity: severity_of(&finding.severity),
                text: finding.text.trim(),
            });
        }
    }
    raw.sort_by(|a, b| {
        let key = |r: &Raw<'w>| (r.file, r.kind, r.line, r.text, r.persona, r.severity);
        key(a).cmp(&key(b))
    });
    let mut merged: Vec<(MergedFinding, Option<u64>)> = Vec::new();
    for raw in raw {
        let same = merged.iter_mut().rev().find(|(known, last)| {
            let (file, _) = split(&known.place);
            if file != raw.file || known.kind != raw.kind {
                return false;
            }
            // Without a category, nearby lines may be about different things.
            if raw.file.is_empty() || raw.kind == FindingKind::Other {
                return known.texts.iter().any(|text| plain(text) == plain(raw.text));
            }
            match (*last, raw.line) {
                (Some(last), Some(line)) => line.abs_diff(last) <= NEAR,
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            }
        });
        let (finding, last) = match same {
            Some(known) => known,
            None => {
                merged.push((empty(&raw), None));
                let Some(new) = merged.last_mut() else { continue };
                new
            }
        };
        *last = raw.line;
        let severity = finding.held.get(raw.persona).copied().unwrap_or(raw.severity);
        finding.held.insert(raw.persona.to_owned(), severity.max(raw.severity));
        finding.severity = finding.severity.max(raw.severity);
        if !finding.texts.iter().any(|text| plain(text) == plain(raw.text)) {
            finding.texts.push(raw.text.to_owned());
        }
    }
    let mut merged: Vec<MergedFinding> = merged.into_iter().map(|(finding, _)| finding).collect();
    merged.sort_by(|a, b| order(a).cmp(&order(b)));
    merged
}

fn empty(raw: &Raw<'_>) -> MergedFinding {
    let place = match raw.line {
        Some(line) => format!("{}:{line}", raw.file),
        None => raw.file.to_owned(),
    };
    MergedFinding {
        place,
        kind: raw.kind,
        severity: Severity::Low,
        texts: Vec::new(),
        held: BTreeMap::new(),
        disputed: BTreeMap::new(),
    }
}

fn is_same(known: &MergedFinding, later: &MergedFinding) -> bool {
    let ((file, line), (other, other_line)) = (split(&known.place), split(&later.place));
    if file != other || known.kind != later.kind {
        return false;
    }
    if file.is_empty() || known.kind == FindingKind::Other {
        let known_texts: BTreeSet<String> = known.texts.iter().map(|text| plain(text)).collect();
        return later.texts.iter().any(|text| known_texts.contains(&plain(text)));
    }
    match (line, other_line) {
        (Some(a), Some(b)) => a.abs_diff(b) <= NEAR,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn join(known: &mut MergedFinding, later: MergedFinding) {
    for (persona, severity) in later.held {
        known.disputed.remove(&persona);
        known.held.insert(persona, severity);
    }
    for text in later.texts {
        if !known.texts.iter().any(|old| plain(old) == plain(&text)) {
            known.texts.push(text);
        }
    }
}

/// `./src/a.rs:12:3` → `src/a.rs`, 12.
fn split(place: &str) -> (&str, Option<u64>) {
    let place = place.trim().trim_start_matches("./");
    let mut parts = place.split(':');
    let file = parts.next().unwrap_or_default().trim();
    let line = parts.next().and_then(|line| {
        let line = line.trim().trim_start_matches(['L', 'l']);
        line.split(['-', '–']).next()?.trim().parse().ok()
    });
    (file, line)
}

fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Contribution, kind_of};

    pub(crate) fn found(severity: &str, place: &str, kind: FindingKind, text: &str) -> Finding {
        Finding {
            severity: severity.into(),
            place: place.into(),
            kind: Some(kind),
            text: text.into(),
        }
    }

    pub(crate) fn statement(persona: &str, round: u32, findings: Vec<Finding>) -> Statement {
        Statement {
            persona: persona.into(),
            round,
            verdict: None,
            summary: String::new(),
            findings,
            contribution: Contribution::default(),
        }
    }

    #[test]
    fn the_same_location_and_kind_is_one_finding() {
        use FindingKind::{Security, Style, Tests};
        let statements = [
            statement(
                "winston",
                1,
                vec![
                    found("low", "./a.rs:10", Security, "no check"),
                    found("medium", "a.rs:40", Security, "elsewhere"),
                ],
            ),
            statement(
                "murat",
                1,
                vec![
                    found("HIGH", "a.rs:12:5", Security, "the caller is not checked"),
                    found("low", "a.rs:11", Style, "name"),
                    found("medium", "", Tests, "No tests."),
                ],
            ),
            statement("amelia", 1, vec![found("high", "", Tests, "no tests")]),
        ];
        let merged = merge(&statements);
        let places: Vec<(&str, FindingKind, Severity, usize)> =
            merged.iter().map(|m| (m.place.as_str(), m.kind, m.severity, m.held.len())).collect();
        assert_eq!(
            places,
            [
                ("", Tests, Severity::High, 2),
                ("a.rs:10", Security, Severity::High, 2),
                ("a.rs:40", Security, Severity::Medium, 1),
                ("a.rs:11", Style, Severity::Low, 1),
            ]
        );
        assert_eq!(merged[1].texts, ["no check", "the caller is not checked"]);
        assert_eq!(merged[1].held["winston"], Severity::Low);
    }

    #[test]
    fn stances_are_taken_on_the_others_findings_only() {
        use FindingKind::{Design, Security};
        let mut statements = vec![
            statement("a", 1, vec![found("high", "x.rs:1", Security, "mine")]),
            statement("b", 1, vec![found("low", "y.rs:1", Design, "other")]),
        ];
        let shown: Vec<String> =
            shown_to(&statements, "a").iter().map(|m| m.texts.join(" ")).collect();
        assert_eq!(shown, ["other"]);
        let stance = |on, agrees, severity| Stance { on, agrees, severity, why: "so".into() };
        let mut second = statement("a", 2, Vec::new());
        second.contribution.stances = vec![
            stance(1, true, Some(Severity::High)),
            stance(2, false, None),
            stance(0, true, None),
        ];
        statements.push(second);
        let mut second = statement("b", 2, Vec::new());
        second.contribution.stances = vec![stance(1, false, None)];
        statements.push(second);
        let merged = merge(&statements);
        let design = merged.iter().find(|m| m.kind == Design).unwrap();
        assert_eq!((design.severity, design.held.len()), (Severity::High, 2));
        let security = merged.iter().find(|m| m.kind == Security).unwrap();
        assert_eq!(security.disputed.keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!(security.held.keys().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_shared_finding_is_shown_without_ones_own_text() {
        use FindingKind::Security;
        let statements = [
            statement("a", 1, vec![found("high", "x.rs:1", Security, "my words")]),
            statement("b", 1, vec![found("low", "x.rs:2", Security, "their words")]),
        ];
        let shown = shown_to(&statements, "a");
        assert_eq!(shown[0].texts, ["their words"]);
        assert_eq!(shown[0].held.keys().collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn severities_and_kinds_are_normalized() {
        assert_eq!(severity_of(" Critical "), Severity::High);
        assert_eq!(severity_of("nit"), Severity::Low);
        assert_eq!(severity_of(""), Severity::Medium);
        assert_eq!(kind_of("Error handling"), FindingKind::ErrorHandling);
        assert_eq!(kind_of("coverage"), FindingKind::Tests);
        assert_eq!(kind_of("mystery"), FindingKind::Other);
        assert_eq!(split("src/a.rs:L12-20"), ("src/a.rs", Some(12)));
        assert_eq!(split("a.rs"), ("a.rs", None));
        assert_eq!(split(":7"), ("", Some(7)));
    }

    #[test]
    fn nearby_lines_are_one_location() {
        use FindingKind::Correctness;
        let places = |lines: &[u64]| {
            let findings = lines
                .iter()
                .map(|line| {
                    found("low", &format!("a.rs:{line}"), Correctness, &format!("at {line}"))
                })
                .collect();
            merge(&[statement("a", 1, findings)])
                .iter()
                .map(|it| it.place.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(places(&[1, 4]), ["a.rs:1"]);
        assert_eq!(places(&[1, 5]), ["a.rs:1", "a.rs:5"]);
        // Being near the last of a group is near enough.
        assert_eq!(places(&[1, 4, 7, 10]), ["a.rs:1"]);
        assert_eq!(places(&[30, 1]), ["a.rs:1", "a.rs:30"]);
    }

    #[test]
    fn a_file_without_a_line_is_a_separate_location() {
        use FindingKind::Docs;
        let statements = [
            statement(
                "a",
                1,
                vec![found("low", "a.rs", Docs, "one"), found("low", "a.rs:1", Docs, "two")],
            ),
            statement("b", 1, vec![found("low", "a.rs", Docs, "three")]),
        ];
        let merged = merge(&statements);
        assert_eq!(merged.len(), 2);
        assert_eq!(merged[0].texts, ["one", "three"]);
        assert_eq!(merged[0].finding().text, "one / three");
        assert_eq!(merged[0].finding().severity, "low");
    }

    #[test]
    fn findings_of_the_second_round_join_those_of_the_first() {
        use FindingKind::{Security, Tests};
        let statements = [
            statement("a", 1, vec![found("low", "a.rs:1", Security, "unchecked")]),
            statement(
                "b",
                2,
                vec![
                    found("high", "a.rs:3", Security, "Unchecked!"),
                    found("low", "", Tests, "none"),
                ],
            ),
        ];
        let merged = merge(&statements);
        assert_eq!(merged.len(), 2);
        assert_eq!((merged[0].severity, merged[0].held.len()), (Severity::High, 2));
        assert_eq!(merged[0].texts, ["unchecked"], "the same words are not repeated");
        assert_eq!(merged[1].kind, Tests);
    }

    #[test]
    fn supporters_of_a_finding_do_not_dispute_it() {
        use FindingKind::Security;
        let stance = |agrees| Stance { on: 1, agrees, severity: None, why: "so".into() };
        let first = statement("a", 1, vec![found("medium", "a.rs:1", Security, "unchecked")]);
        let mut second = statement("b", 2, vec![found("low", "a.rs:1", Security, "indeed")]);
        second.contribution.stances = vec![stance(false)];
        let merged = merge(&[first.clone(), second]);
        assert!(merged[0].disputed.is_empty());
        assert_eq!(merged[0].held["b"], Severity::Low);
        // Agreement without a severity takes the finding's.
        let mut second = statement("b", 2, Vec::new());
        second.contribution.stances = vec![stance(false), stance(true)];
        let merged = merge(&[first.clone(), second]);
        assert!(merged[0].disputed.is_empty());
        assert_eq!(merged[0].held["b"], Severity::Medium);
        // Numbers that do not exist are ignored.
        let mut second = statement("b", 2, Vec::new());
        second.contribution.stances =
            vec![Stance { on: 7, ..stance(false) }, Stance { on: 0, ..stance(true) }];
        assert_eq!(merge(&[first.clone(), second]), merge(&[first]));
    }

    #[test]
    fn of_one_voice_the_highest_severity_counts() {
        use FindingKind::Security;
        let statements = [statement(
            "a",
            1,
            vec![found("low", "a.rs:1", Security, "x"), found("high", "a.rs:2", Security, "y")],
        )];
        assert_eq!(merge(&statements)[0].held["a"], Severity::High);
        assert_eq!(merge(&statements)[0].severity, Severity::High);
    }

    #[test]
    fn findings_are_sorted_by_severity_then_location() {
        use FindingKind::{Docs, Style};
        let statements = [statement(
            "a",
            1,
            vec![
                found("low", "z.rs:1", Style, "1"),
                found("high", "b.rs:10", Style, "2"),
                found("high", "b.rs:2", Style, "3"),
                found("low", "a.rs", Docs, "4"),
            ],
        )];
        let order: Vec<String> = merge(&statements).iter().map(|it| it.texts[0].clone()).collect();
        assert_eq!(order, ["3", "2", "4", "1"]);
    }
}
