//! Which commits fixed a bug and came with a test.

use super::judges::Ecosystem;

/// A commit with what it changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryCommit {
    /// Its hash.
    pub id: String,
    /// Its only parent.
    pub parent: String,
    /// The message.
    pub message: String,
    /// Files that exist after it and that it added or changed.
    pub files: Vec<String>,
    /// Files that it removed.
    pub removed: Vec<String>,
}

/// A commit that fixed a bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The tools of its tests.
    pub ecosystem: Ecosystem,
    /// The tests that it added or changed.
    pub tests: Vec<String>,
}

/// A commit that changes more files is rarely about one thing.
const MOST_FILES: usize = 20;

/// Words of messages about bugs.
const WORDS: &[&str] = &[
    "fix",
    "fixes",
    "fixed",
    "fixing",
    "bug",
    "bugfix",
    "hotfix",
    "regression",
    "crash",
    "crashes",
    "panic",
    "panics",
    "incorrect",
    "incorrectly",
    "wrong",
    "wrongly",
    "broken",
    "fails",
    "failure",
    "deadlock",
    "leak",
    "overflow",
    "infinite",
    "hang",
    "hangs",
    "corrupt",
    "corruption",
    "typeerror",
    "keyerror",
    "valueerror",
    "traceback",
    "segfault",
    "off-by-one",
    "mishandled",
    "resolve",
    "resolves",
    "closes",
];

/// Beginnings of subjects that are about something else, whatever words they have.
const OTHER: &[&str] = &[
    "merge",
    "revert",
    "bump",
    "release",
    "prepare",
    "docs",
    "doc",
    "chore",
    "ci",
    "build",
    "style",
    "typo",
    "typos",
    "lint",
    "test",
    "tests",
    "refactor",
    "feat",
    "version",
    "update dependencies",
];

/// First words of subjects about something new: closing an issue does not make them fixes.
const NEW: &[&str] = &[
    "add",
    "added",
    "adds",
    "allow",
    "deprecate",
    "document",
    "drop",
    "enable",
    "expose",
    "feature",
    "implement",
    "improve",
    "introduce",
    "make",
    "mark",
    "move",
    "new",
    "patch",
    "provide",
    "remove",
    "rename",
    "support",
    "update",
    "use",
];

/// Words of fixes that change nothing an agent could get wrong.
const TRIVIAL: &[&str] = &[
    "typo",
    "typos",
    "lint",
    "linting",
    "flake8",
    "clippy",
    "mypy",
    "formatting",
    "flaky",
    "docs",
    "docstring",
    "readme",
    "changelog",
    "ci",
];

impl HistoryCommit {
    /// The first line of the message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default().trim()
    }

    /// What it fixed and with which tests it came; none if it is no fix, or has no test apart from its code.
    pub fn fix(&self) -> Option<Fix> {
        if self.files.len() + self.removed.len() > MOST_FILES || !self.is_about_a_bug() {
            return None;
        }
        let tests = |ecosystem: Ecosystem| -> Vec<String> {
            let own = self.files.iter().filter(|path| ecosystem.is_test(path));
            own.cloned().collect()
        };
        let all = Ecosystem::ALL.iter().map(|ecosystem| (*ecosystem, tests(*ecosystem)));
        let (ecosystem, tests) = all.max_by_key(|(_, tests)| tests.len())?;
        let changed = || self.files.iter().chain(&self.removed);
        let has_code = changed().any(|path| is_source(path) && !is_test_like(path));
        (!tests.is_empty() && has_code).then_some(Fix { ecosystem, tests })
    }

    fn is_about_a_bug(&self) -> bool {
        let subject = self.subject().to_lowercase();
        let first = subject.split([':', '(', ' ']).next().unwrap_or_default();
        if OTHER.contains(&first)
            || OTHER.iter().any(|other| other.contains(' ') && subject.starts_with(other))
        {
            return false;
        }
        let words = || {
            subject
                .split(|c: char| !c.is_alphanumeric() && c != '-')
                .filter(|word| !word.is_empty())
        };
        if words().any(|word| TRIVIAL.contains(&word)) {
            return false;
        }
        words().any(|word| WORDS.contains(&word))
            || !NEW.contains(&first) && closes_an_issue(&self.message.to_lowercase())
    }
}

fn closes_an_issue(message: &str) -> bool {
    ["fixes #", "fix #", "fixed #", "closes #", "resolves #", "fixes: #", "closes: #", "fixes gh-"]
        .iter()
        .any(|words| message.contains(words))
}

/// Whether a file is code.
pub fn is_source(path: &str) -> bool {
    const ENDS: &[&str] = &[
        "py", "pyx", "rs", "go", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "java",
        "kt", "c", "h", "cc", "cpp", "hpp", "rb", "php", "swift", "scala", "cs",
    ];
    path.rsplit_once('.').is_some_and(|(_, end)| ENDS.contains(&end))
}

/// Whether a file belongs to tests, judges or not.
fn is_test_like(path: &str) -> bool {
    let folders = path.split('/').rev().skip(1);
    let in_tests = folders.into_iter().any(|folder| {
        matches!(
            folder,
            "tests"
                | "test"
                | "testing"
                | "__tests__"
                | "spec"
                | "testdata"
                | "fixtures"
                | "benches"
                | "examples"
        )
    });
    in_tests || Ecosystem::ALL.iter().any(|ecosystem| ecosystem.is_test(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(message: &str, files: &[&str]) -> HistoryCommit {
        HistoryCommit {
            message: message.to_owned(),
            files: files.iter().map(|&file| file.to_owned()).collect(),
            ..HistoryCommit::default()
        }
    }

    #[test]
    fn a_fix_has_code_and_a_test() {
        let files = ["src/click/core.py", "tests/test_options.py", "CHANGES.rst"];
        let fix = commit("Fix prompt with empty default", &files).fix().unwrap();
        assert_eq!(
            (fix.ecosystem, fix.tests),
            (Ecosystem::Python, vec!["tests/test_options.py".to_owned()])
        );
        for (message, files) in [
            ("Add an option", &files[..]),
            ("Fix prompt", &files[..1]),
            ("Fix prompt", &files[1..]),
            ("Merge fix of prompt", &files[..]),
            ("Fix typo in prompt", &files[..]),
            ("docs: fix prompt", &files[..]),
            ("Revert \"Fix prompt\"", &files[..]),
        ] {
            assert_eq!(commit(message, files).fix(), None, "{message} {files:?}");
        }
        assert!(commit("Prompts are asked twice\n\nCloses #12", &files).fix().is_some());
        assert_eq!(commit("Add an option\n\nCloses #12", &files).fix(), None);
        let many: Vec<String> = (0..30).map(|at| format!("src/{at}.py")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).chain(["tests/test_a.py"]).collect();
        assert_eq!(commit("Fix all", &many).fix(), None);
    }

    #[test]
    fn helpers_of_tests_are_no_code_to_fix() {
        assert_eq!(commit("Fix helper", &["tests/util.py", "tests/test_a.py"]).fix(), None);
        assert!(commit("Fix helper", &["lib/a.go", "lib/a_test.go"]).fix().is_some());
    }
}
