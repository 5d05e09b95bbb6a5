//! Which tests failed, out of what tools print.

use std::collections::BTreeSet;

use handover_model::GateFormat;
use serde::Deserialize;

/// What a tool's output says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The tests that failed.
    pub failed: BTreeSet<String>,
    /// Whether it speaks of a failure without a name.
    pub unknown: bool,
}

impl Parsed {
    /// A report that is not there or cannot be read.
    fn nothing() -> Self {
        Self { unknown: true, ..Self::default() }
    }
}

/// The longest name of a test.
const MAX_NAME: usize = 300;
/// The most failed tests that are told apart.
const MAX_FAILED: usize = 5_000;

/// Reads the output of a tool. `report` is the file that it wrote.
pub fn parse(format: GateFormat, stdout: &str, stderr: &str, report: Option<&str>) -> Parsed {
    let mut parsed = match format {
        GateFormat::None => Parsed::default(),
        GateFormat::Libtest => libtest(stdout, stderr),
        GateFormat::Tap => tap(stdout),
        GateFormat::Junit => report.map_or_else(Parsed::nothing, junit),
        GateFormat::GoJson => go(stdout),
        GateFormat::Marks if stdout.lines().any(|line| line.starts_with("TAP version ")) => {
            tap(stdout)
        }
        GateFormat::Marks => marks(stdout, stderr),
    };
    if parsed.failed.len() > MAX_FAILED {
        parsed.unknown = true;
        parsed.failed = std::mem::take(&mut parsed.failed).into_iter().take(MAX_FAILED).collect();
    }
    parsed
}

fn name(text: &str) -> String {
    text.trim().chars().take(MAX_NAME).collect()
}

/// `test a::b ... FAILED`. Which program a test belongs to stands on the other stream, in the same
/// order.
fn libtest(stdout: &str, stderr: &str) -> Parsed {
    let labels: Vec<String> = stderr
        .lines()
        .map(str::trim)
        .filter_map(|line| {
            line.strip_prefix("Running ").or_else(|| line.strip_prefix("Doc-tests "))
        })
        .map(label)
        .collect();
    let blocks = stdout.lines().filter(|line| is_start(line)).count();
    let mut parsed = Parsed::default();
    let mut block = 0;
    for line in stdout.lines() {
        if is_start(line) {
            block += 1;
        }
        let Some(rest) = line.strip_prefix("test ") else { continue };
        let Some((test, verdict)) = rest.rsplit_once(" ... ") else { continue };
        if verdict.starts_with("FAILED") {
            let test = test.split(" - should panic").next().unwrap_or(test);
            let label =
                labels.get(block - usize::from(block > 0)).filter(|_| labels.len() == blocks);
            parsed.failed.insert(match label {
                Some(label) => name(&format!("{label} {test}")),
                None => name(test),
            });
        }
    }
    parsed.unknown = ["could not compile", "(signal: ", "error[E", "failed to parse manifest"]
        .iter()
        .any(|sign| stderr.contains(sign));
    parsed
}

fn is_start(line: &str) -> bool {
    line.strip_prefix("running ")
        .is_some_and(|rest| rest.ends_with(" tests") || rest.ends_with(" test"))
}

/// `unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)` without the hash.
fn label(line: &str) -> String {
    let (what, program) = line.split_once(" (").unwrap_or((line, ""));
    let program = program.trim_end_matches(')').rsplit('/').next().unwrap_or_default();
    let program = program.rsplit_once('-').map_or(program, |(stem, _)| stem);
    format!("{program}:{what}")
}

/// The Test Anything Protocol, with subtests by their indent.
fn tap(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let (mut planned, mut seen) = (None, 0_u64);
    // The names of the subtests around, by depth.
    let mut around: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let body = line.trim_start();
        let depth = line.len() - body.len();
        if let Some(title) = body.strip_prefix("# Subtest: ") {
            around.retain(|(level, _)| *level < depth);
            around.push((depth, title.trim().to_owned()));
        } else if body.starts_with("Bail out!") {
            parsed.unknown = true;
        } else if depth == 0
            && let Some(count) = body.strip_prefix("1..")
        {
            planned = count.split_whitespace().next().and_then(|count| count.parse::<u64>().ok());
        } else if let Some((ok, rest)) = point(body) {
            seen += u64::from(depth == 0);
            let (title, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
            let directive = directive.trim_start().to_ascii_uppercase();
            if !ok && !directive.starts_with("TODO") && !directive.starts_with("SKIP") {
                let title = title
                    .trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ')
                    .trim_start_matches("- ");
                let above = around.iter().filter(|(level, _)| *level < depth);
                let path: Vec<&str> =
                    above.map(|(_, title)| title.as_str()).chain([title.trim()]).collect();
                parsed.failed.insert(name(&path.join(" > ")));
            }
        }
    }
    parsed.unknown |= planned.is_some_and(|planned| planned != seen);
    parsed
}

/// `ok 1 - title` and `not ok 2 - title`.
fn point(line: &str) -> Option<(bool, &str)> {
    let (ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    (rest.is_empty() || rest.starts_with(' ')).then(|| (ok, rest.trim_start()))
}

fn junit(report: &str) -> Parsed {
    let Ok(document) = roxmltree::Document::parse(report) else {
        return Parsed::nothing();
    };
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let failing = cases.filter(|case| {
        case.children().any(|child| child.has_tag_name("failure") || child.has_tag_name("error"))
    });
    let failed = failing.map(|case| {
        let part = |attribute| case.attribute(attribute).unwrap_or_default();
        name(format!("{} {}", part("classname"), part("name")).trim())
    });
    Parsed { failed: failed.collect(), unknown: false }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent {
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
}

/// A package that fails without a test of it failing did not compile, or fell over.
fn go(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let mut packages = BTreeSet::new();
    let mut with_tests = BTreeSet::new();
    for line in text.lines() {
        let Ok(event) = serde_json::from_str::<GoEvent>(line) else { continue };
        match (event.action.as_str(), event.test) {
            ("fail", Some(test)) => {
                parsed.failed.insert(name(&format!("{} {test}", event.package)));
                with_tests.insert(event.package);
            }
            ("fail" | "build-fail", None) => {
                packages.insert(event.package);
            }
            _ => {}
        }
    }
    parsed.unknown = packages.difference(&with_tests).next().is_some();
    parsed
}

/// Crosses before the names of tests, as mocha, jest, vitest and node print them.
fn marks(stdout: &str, stderr: &str) -> Parsed {
    let mut parsed = Parsed::default();
    for line in stdout.lines().chain(stderr.lines()) {
        let line = line.trim();
        let crossed = line.strip_prefix(['✖', '✕', '×', '✗', '❌']);
        let rest = crossed
            .or_else(|| line.strip_prefix("● "))
            .or_else(|| line.strip_prefix("FAIL "))
            .or_else(|| {
                let digits = line.bytes().take_while(u8::is_ascii_digit).count();
                line[digits..].strip_prefix(") ").filter(|_| digits > 0)
            });
        let Some(test) = rest.map(|rest| name(without_duration(rest))) else { continue };
        if !test.is_empty() && test != "failing tests:" && !test.starts_with("Console") {
            parsed.failed.insert(test);
        }
    }
    parsed
}

/// `adds (12 ms)`, `adds (1.2ms)` and `adds 3ms` without the time, which differs every time.
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

    fn failed(parsed: &Parsed) -> Vec<&str> {
        parsed.failed.iter().map(String::as_str).collect()
    }

    #[test]
    fn libtest_names_program_and_test() {
        let out = "\nrunning 2 tests\ntest tests::a ... ok\ntest tests::b ... FAILED\n\nrunning 1 test\ntest tests::b - should panic ... FAILED\n";
        let err = "   Compiling x\n     Running unittests src/lib.rs (target/debug/deps/x-0a1b)\n     Running tests/it.rs (target/debug/deps/it-77)\nerror: 2 targets failed:\n";
        let parsed = parse(GateFormat::Libtest, out, err, None);
        assert_eq!(failed(&parsed), ["it:tests/it.rs tests::b", "x:unittests src/lib.rs tests::b"]);
        assert!(!parsed.unknown);
        assert!(parse(GateFormat::Libtest, "", "error: could not compile `x`", None).unknown);
    }

    #[test]
    fn tap_knows_subtests_todo_and_an_early_end() {
        let text = "TAP version 13\n# Subtest: sums\n    # Subtest: adds\n    not ok 1 - adds\n    ok 2 - more\n    1..2\nnot ok 1 - sums\nok 2 - b\nnot ok 3 - later # TODO\n1..3\n";
        let parsed = parse(GateFormat::Marks, text, "", None);
        assert_eq!(failed(&parsed), ["sums", "sums > adds"]);
        assert!(!parsed.unknown);
        assert!(parse(GateFormat::Tap, "1..3\nok 1\nok 2\n", "", None).unknown);
        assert!(parse(GateFormat::Tap, "ok 1\nBail out! no disk\n", "", None).unknown);
    }

    #[test]
    fn junit_counts_failures_and_errors() {
        let xml = r#"<testsuites><testsuite><testcase classname="t.A" name="one"/><testcase classname="t.A" name="two"><failure message="x">y</failure></testcase><testcase name="three"><error/></testcase><testcase name="four"><skipped/></testcase></testsuite></testsuites>"#;
        let parsed = parse(GateFormat::Junit, "", "", Some(xml));
        assert_eq!(failed(&parsed), ["t.A two", "three"]);
        assert!(parse(GateFormat::Junit, "", "", Some("<testsuite>")).unknown);
        assert!(parse(GateFormat::Junit, "", "", None).unknown);
    }

    #[test]
    fn go_tells_failed_tests_from_what_does_not_build() {
        let text = "{\"Action\":\"fail\",\"Package\":\"a\",\"Test\":\"TestX\"}\n{\"Action\":\"fail\",\"Package\":\"a\"}\nnoise\n";
        let parsed = parse(GateFormat::GoJson, text, "", None);
        assert_eq!((failed(&parsed), parsed.unknown), (vec!["a TestX"], false));
        assert!(
            parse(GateFormat::GoJson, "{\"Action\":\"fail\",\"Package\":\"b\"}\n", "", None)
                .unknown
        );
    }

    #[test]
    fn crosses_are_read_without_their_times() {
        let text = "  ✓ fine (2 ms)\n  ✕ adds (12 ms)\n ✖ subtracts (1.203ms)\n   × a > b 3ms\n  1) divides\n● sums › adds\nFAIL src/a.test.js\n";
        let parsed = parse(GateFormat::Marks, text, "", None);
        assert_eq!(
            failed(&parsed),
            ["a > b", "adds", "divides", "src/a.test.js", "subtracts", "sums › adds"]
        );
    }
}
