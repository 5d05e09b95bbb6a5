//! Test reports that several tools share: JUnit XML, TAP, and marks before the names of failed tests.

use super::{FailedTests, GateOutput};

/// JUnit XML, from all report files together.
pub(super) fn junit(output: &GateOutput<'_>) -> FailedTests {
    if output.reports.is_empty() {
        return FailedTests::unreadable();
    }
    let mut failed = FailedTests::default();
    for report in output.reports {
        let Ok(document) = roxmltree::Document::parse(report) else {
            failed.unknown = true;
            continue;
        };
        let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
        let failing = cases.filter(|case| {
            let is_failure = |tag: &str| tag == "failure" || tag == "error";
            case.children().any(|child| is_failure(child.tag_name().name()))
        });
        for case in failing {
            let part = |attribute| case.attribute(attribute).unwrap_or_default();
            failed.add(&format!("{} {}", part("classname"), part("name")));
        }
    }
    failed
}

/// The Test Anything Protocol, with subtests by their indent.
pub(super) fn tap(output: &GateOutput<'_>) -> FailedTests {
    let mut failed = FailedTests::default();
    let (mut planned, mut seen) = (None, 0_u64);
    // The names of the enclosing subtests, by depth.
    let mut enclosing: Vec<(usize, String)> = Vec::new();
    for line in output.stdout.lines() {
        let body = line.trim_start();
        let depth = line.len() - body.len();
        if let Some(title) = body.strip_prefix("# Subtest: ") {
            enclosing.retain(|(level, _)| *level < depth);
            enclosing.push((depth, title.trim().to_owned()));
        } else if body.starts_with("Bail out!") {
            failed.unknown = true;
        } else if depth == 0
            && let Some(count) = body.strip_prefix("1..")
        {
            planned = count.split_whitespace().next().and_then(|count| count.parse::<u64>().ok());
        } else if let Some((ok, rest)) = test_point(body) {
            seen += u64::from(depth == 0);
            let (title, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
            let directive = directive.trim_start().to_ascii_uppercase();
            if !ok && !directive.starts_with("TODO") && !directive.starts_with("SKIP") {
                let title = title
                    .trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ')
                    .trim_start_matches("- ");
                let above = enclosing.iter().filter(|(level, _)| *level < depth);
                let path: Vec<&str> =
                    above.map(|(_, title)| title.as_str()).chain([title.trim()]).collect();
                failed.add(&path.join(" > "));
            }
        }
    }
    failed.unknown |= planned.is_some_and(|planned| planned != seen);
    failed
}

/// `ok 1 - title` and `not ok 2 - title`.
fn test_point(line: &str) -> Option<(bool, &str)> {
    let (ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    (rest.is_empty() || rest.starts_with(' ')).then(|| (ok, rest.trim_start()))
}

/// Crosses before the names of failed tests, as mocha, jest, vitest and node print them; or TAP, which
/// older versions of node print.
pub(super) fn marks(output: &GateOutput<'_>) -> FailedTests {
    if output.stdout.lines().any(|line| line.starts_with("TAP version ")) {
        return tap(output);
    }
    let mut failed = FailedTests::default();
    for line in output.stdout.lines().chain(output.stderr.lines()) {
        let line = line.trim();
        let crossed = line.strip_prefix(['✖', '✕', '×', '✗', '❌']);
        let rest = crossed
            .or_else(|| line.strip_prefix("● "))
            .or_else(|| line.strip_prefix("FAIL "))
            .or_else(|| {
                let digits = line.bytes().take_while(u8::is_ascii_digit).count();
                line[digits..].strip_prefix(") ").filter(|_| digits > 0)
            });
        let Some(test) = rest.map(without_duration) else { continue };
        if !test.is_empty() && test != "failing tests:" && !test.starts_with("Console") {
            failed.add(test);
        }
    }
    failed
}

/// `adds (12 ms)`, `adds (1.2ms)` and `adds 3ms` without the duration, which changes with every run.
fn without_duration(text: &str) -> &str {
    let text = text.trim();
    let bare = text.strip_suffix(')').unwrap_or(text);
    let Some(bare) = bare.strip_suffix("ms").or_else(|| bare.strip_suffix('s')) else {
        return text;
    };
    let bare = bare.trim_end().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match bare.strip_suffix('(').or_else(|| bare.strip_suffix(' ')) {
        Some(rest) => rest.trim_end(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(failed: &FailedTests) -> Vec<&str> {
        failed.names.iter().map(String::as_str).collect()
    }

    fn stdout(text: &str) -> GateOutput<'_> {
        GateOutput { stdout: text, stderr: "", reports: &[] }
    }

    fn junit_of(reports: &[&str]) -> FailedTests {
        let reports: Vec<String> = reports.iter().map(|&report| report.to_owned()).collect();
        junit(&GateOutput { stdout: "", stderr: "", reports: &reports })
    }

    #[test]
    fn tap_knows_subtests_todo_and_an_early_end() {
        let text = "TAP version 13\n# Subtest: sums\n    # Subtest: adds\n    not ok 1 - adds\n    ok 2 - more\n    1..2\nnot ok 1 - sums\nok 2 - b\nnot ok 3 - later # TODO\n1..3\n";
        let failed = marks(&stdout(text));
        assert_eq!(names(&failed), ["sums", "sums > adds"]);
        assert!(!failed.unknown);
        assert!(tap(&stdout("1..3\nok 1\nok 2\n")).unknown);
        assert!(tap(&stdout("ok 1\nBail out! no disk\n")).unknown);
        assert!(!tap(&stdout("1..2\nok 1\nnot ok 2 # SKIP no network\n")).unknown);
    }

    #[test]
    fn junit_counts_failures_and_errors() {
        let xml = r#"<testsuites><testsuite><testcase classname="t.A" name="one"/><testcase classname="t.A" name="two"><failure message="x">y</failure></testcase><testcase name="three"><error/></testcase><testcase name="four"><skipped/></testcase></testsuite></testsuites>"#;
        let failed = junit_of(&[xml]);
        assert_eq!(names(&failed), ["t.A two", "three"]);
        assert!(!failed.unknown);
    }

    #[test]
    fn junit_reports_add_up_and_one_broken_report_counts() {
        let failing = r#"<testsuite><testcase name="a"><failure/></testcase></testsuite>"#;
        let failed = junit_of(&[failing, "<testsuite>"]);
        assert_eq!(names(&failed), ["a"]);
        assert!(failed.unknown);
        assert!(junit_of(&[]).unknown, "no report at all");
    }

    #[test]
    fn marks_are_read_without_their_durations() {
        let text = "  ✓ fine (2 ms)\n  ✕ adds (12 ms)\n ✖ subtracts (1.203ms)\n   × a > b 3ms\n  1) divides\n● sums › adds\nFAIL src/a.test.js\n✖ failing tests:\n● Console\n) no number\n";
        assert_eq!(
            names(&marks(&stdout(text))),
            ["a > b", "adds", "divides", "src/a.test.js", "subtracts", "sums › adds"]
        );
    }
}
