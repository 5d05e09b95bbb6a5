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
        for case in document.descendants().filter(|node| node.has_tag_name("testcase")) {
            let has = |tags: &[&str]| {
                case.children().any(|child| tags.contains(&child.tag_name().name()))
            };
            if !has(&["skipped"]) {
                failed.count();
            }
            if has(&["failure", "error"]) {
                let part = |attribute| case.attribute(attribute).unwrap_or_default();
                failed.add(&format!("{} {}", part("classname"), part("name")));
            }
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
            if !directive.starts_with("SKIP") {
                failed.count();
            }
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
        failed.ran = total(line).or(failed.ran);
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

/// How many tests ran, from the summary of node, jest, vitest or mocha.
fn total(line: &str) -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    if let Some(count) = line.strip_prefix("ℹ tests ") {
        return number(count);
    }
    if let Some(count) = line.strip_suffix(')').and_then(|it| it.split_once(" passing ("))
        && line.starts_with(|c: char| c.is_ascii_digit())
    {
        return number(count.0);
    }
    let parts = line.strip_prefix("Tests")?;
    // `Tests:  1 failed, 1 skipped, 2 passed, 4 total` and `Tests  1 failed | 2 passed (3)`
    let parts = parts.trim_start_matches(':').split([',', '|']);
    let counts = parts.filter_map(|part| {
        let mut words = part.split_whitespace();
        let count = words.next()?.parse::<u64>().ok()?;
        matches!(words.next()?, "passed" | "failed").then_some(count)
    });
    let counts: Vec<u64> = counts.collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
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

    /// As `node --test` of Node 20 prints it into a pipe.
    #[test]
    fn reads_tap_of_node() {
        let text = "TAP version 13\n# Subtest: adds\nok 1 - adds\n  ---\n  duration_ms: 1.837459\n  ...\n\
            # Subtest: subtracts\nnot ok 2 - subtracts\n  ---\n  duration_ms: 5.989606\n  failureType: 'testCodeFailure'\n\
            \x20 error: '1 == 2'\n  code: 'ERR_ASSERTION'\n  stack: |-\n    Test.run (node:internal/test_runner/test:796:25)\n  ...\n\
            # Subtest: math\n    # Subtest: divides\n    not ok 1 - divides\n      ---\n      duration_ms: 2.05\n      ...\n\
            \x20   # Subtest: skips\n    ok 2 - skips # SKIP\n    # Subtest: later\n    ok 3 - later # TODO\n    1..3\n\
            not ok 3 - math\n  ---\n  type: 'suite'\n  error: '1 subtest failed'\n  ...\n1..3\n# tests 5\n# fail 2\n";
        let failed = marks(&stdout(text));
        assert_eq!(names(&failed), ["math", "math > divides", "subtracts"]);
        assert!(!failed.unknown);
    }

    /// As `node --test` prints it on a terminal, with its summary at the end.
    #[test]
    fn reads_marks_of_node() {
        let text = "✔ adds (0.84ms)\n✖ subtracts (1.21ms)\n  AssertionError [ERR_ASSERTION]: 1 == 2\n      at Test.run\n\n\
            ▶ math\n  ✖ divides (0.31ms)\n  ﹣ skips (0.05ms) # SKIP\n▶ math (1.02ms)\n\n\
            ℹ tests 5\nℹ fail 2\nℹ duration_ms 52.9\n\n✖ failing tests:\n\ntest at a.test.js:4:1\n✖ subtracts (1.21ms)\n";
        assert_eq!(names(&marks(&stdout(text))), ["divides", "subtracts"]);
    }

    #[test]
    fn reads_marks_of_jest() {
        let text = "FAIL src/cart.test.js\n  cart\n    ✓ adds (3 ms)\n    ✕ totals (5 ms)\n    ○ skipped later\n\n\
            \x20 ● cart › totals\n\n    expect(received).toBe(expected)\n\n    Expected: 3\n    Received: 2\n\n\
            \x20 ● Console\n\n    console.log\n      x\n\nTest Suites: 1 failed, 1 total\nTime:        0.512 s\n";
        let output = GateOutput { stdout: "", stderr: text, reports: &[] };
        assert_eq!(names(&marks(&output)), ["cart › totals", "src/cart.test.js", "totals"]);
    }

    #[test]
    fn reads_marks_of_vitest_and_mocha() {
        let vitest = " ❯ src/cart.test.ts (2 tests | 1 failed) 8ms\n   ✓ cart > adds 1ms\n   × cart > totals 4ms\n     → expected 2 to be 3\n\n\
            ⎯⎯⎯ Failed Tests 1 ⎯⎯⎯\n\n FAIL  src/cart.test.ts > cart > totals\nAssertionError: expected 2 to be 3\n";
        assert_eq!(
            names(&marks(&stdout(vitest))),
            ["cart > totals", "src/cart.test.ts > cart > totals"]
        );
        let mocha = "  cart\n    ✔ adds\n    1) totals\n\n  1 passing (6ms)\n  1 failing\n\n  1) cart\n       totals:\n";
        assert_eq!(names(&marks(&stdout(mocha))), ["cart", "totals"]);
    }

    #[test]
    fn tests_that_ran_are_counted() {
        for (text, ran) in [
            (
                "TAP version 13\nok 1 - a\n# Subtest: s\n    not ok 1 - b\nnot ok 2 - s\nok 3 # SKIP\n",
                Some(3),
            ),
            ("✔ adds (0.84ms)\nℹ tests 5\n", Some(5)),
            ("Tests:       1 failed, 1 skipped, 2 passed, 4 total\n", Some(3)),
            ("      Tests  1 failed | 2 passed (3)\n", Some(3)),
            ("  12 passing (6ms)\n", Some(12)),
            ("all fine\n", None),
        ] {
            assert_eq!(marks(&stdout(text)).ran, ran, "{text}");
        }
        let xml = r#"<testsuite><testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"><skipped/></testcase></testsuite>"#;
        assert_eq!(junit_of(&[xml, xml]).ran, Some(4));
        assert_eq!(junit_of(&[]).ran, None);
    }

    #[test]
    fn durations_are_cut_off_and_other_numbers_stay() {
        for (text, name) in [
            ("adds (12 ms)", "adds"),
            ("adds (1.2ms)", "adds"),
            ("adds 3ms", "adds"),
            ("adds (2 s)", "adds"),
            ("adds (2s)", "adds"),
            ("waits 5s", "waits"),
            ("adds 3 items", "adds 3 items"),
            ("handles 404", "handles 404"),
            ("parses (1)", "parses (1)"),
            ("fails", "fails"),
            ("s", "s"),
            ("adds", "adds"),
        ] {
            assert_eq!(without_duration(text), name, "{text}");
        }
    }

    #[test]
    fn test_points_are_whole_words() {
        assert_eq!(test_point("ok 1 - a"), Some((true, "1 - a")));
        assert_eq!(test_point("not ok"), Some((false, "")));
        assert_eq!(test_point("okay"), None);
        assert_eq!(test_point("not okay"), None);
        assert_eq!(test_point("1..3"), None);
    }

    #[test]
    fn tap_counts_only_its_own_level() {
        // The plan of a subtest says nothing about the whole.
        assert!(!tap(&stdout("    1..5\nok 1\n1..1\n")).unknown);
        assert!(!tap(&stdout("ok 1 - a\nok 2 - b\n")).unknown, "without a plan");
        assert!(tap(&stdout("1..1\nok 1\nok 2\n")).unknown, "more than planned");
        // A finished subtest does not enclose what follows it.
        let text = "# Subtest: one\n    not ok 1 - inner\nok 1 - one\n# Subtest: two\n    not ok 1 - inner\nok 2 - two\n";
        assert_eq!(names(&tap(&stdout(text))), ["one > inner", "two > inner"]);
        assert_eq!(
            names(&tap(&stdout("not ok 7 - 3 apples # todo later\nnot ok 8 - pears\n"))),
            ["pears"]
        );
    }

    /// As pytest 8 writes it with `--junitxml`.
    #[test]
    fn reads_junit_of_pytest() {
        let report = r#"<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="2" skipped="1" tests="5" time="0.123" timestamp="2026-01-02T03:04:05" hostname="x"><testcase classname="tests.test_cart" name="test_adds" time="0.001"/><testcase classname="tests.test_cart.TestTotals" name="test_total[empty]" time="0.002"><failure message="assert 1 == 0">def test_total():
E       assert 1 == 0</failure></testcase><testcase classname="tests.test_cart" name="test_later" time="0.000"><skipped type="pytest.skip" message="later">x</skipped></testcase><testcase classname="" name="tests.test_broken" time="0.000"><error message="collection failure">E   ModuleNotFoundError: No module named 'nope'</error></testcase></testsuite></testsuites>"#;
        let failed = junit_of(&[report]);
        assert_eq!(
            names(&failed),
            ["tests.test_broken", "tests.test_cart.TestTotals test_total[empty]"]
        );
        assert!(!failed.unknown);
    }

    /// As Maven's Surefire writes it: errors of a class, failures of a method, reruns.
    #[test]
    fn reads_junit_of_surefire() {
        let report = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="3.0" name="shop.CartTest" time="0.05" tests="3" errors="1" skipped="0" failures="1">
  <properties><property name="java.version" value="21"/></properties>
  <testcase name="adds" classname="shop.CartTest" time="0.01"/>
  <testcase name="totals" classname="shop.CartTest" time="0.01"><failure message="expected: &lt;3&gt;" type="org.opentest4j.AssertionFailedError"><![CDATA[expected: <3> but was: <2>]]></failure><system-out><![CDATA[<error>printed</error>]]></system-out></testcase>
  <testcase name="initializationError" classname="shop.OtherTest" time="0"><error type="java.lang.NoClassDefFoundError"/></testcase>
  <testcase name="flaky" classname="shop.CartTest" time="0.01"><flakyFailure message="once"/></testcase>
</testsuite>"#;
        let failed = junit_of(&[report]);
        assert_eq!(names(&failed), ["shop.CartTest totals", "shop.OtherTest initializationError"]);
    }
}
