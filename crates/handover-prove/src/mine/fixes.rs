//! Which commits fixed a bug and came with a test.

use super::judges::Ecosystem;

/// A commit with what it changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryCommit {
    /// Its hash.
    pub id: String,
    /// Its first parent.
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
    /// The tests that it added or changed. None if it changed only their data.
    pub tests: Vec<String>,
    /// Data and helpers of tests that it added or changed.
    pub support: Vec<String>,
    /// Whether its message says that something was wrong; otherwise that follows from how it is put.
    pub is_sure: bool,
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

/// Words of messages about what something should have done, which are often about bugs.
const HINTS: &[&str] = &[
    "avoid",
    "avoids",
    "better",
    "can't",
    "cannot",
    "correct",
    "correctly",
    "don't",
    "duplicate",
    "edge",
    "empty",
    "ensure",
    "ensures",
    "error",
    "errors",
    "escape",
    "even",
    "guard",
    "handle",
    "handles",
    "handling",
    "honor",
    "honour",
    "ignore",
    "ignored",
    "ignores",
    "instead",
    "invalid",
    "issue",
    "issues",
    "keep",
    "lost",
    "malformed",
    "mismatch",
    "missing",
    "must",
    "never",
    "nil",
    "none",
    "not",
    "null",
    "omit",
    "only",
    "preserve",
    "preserves",
    "prevent",
    "prevents",
    "proper",
    "properly",
    "race",
    "reject",
    "reset",
    "respect",
    "respects",
    "restore",
    "safe",
    "safer",
    "should",
    "shouldn't",
    "skip",
    "twice",
    "undefined",
    "unexpected",
    "when",
    "without",
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
    "linter",
    "linters",
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
        if self.files.len() + self.removed.len() > MOST_FILES {
            return None;
        }
        let is_sure = self.is_about_a_bug()?;
        let tests = |ecosystem: Ecosystem| -> Vec<String> {
            let own = self.files.iter().filter(|path| ecosystem.is_test(path));
            own.cloned().collect()
        };
        let changed = || self.files.iter().chain(&self.removed);
        let code: Vec<&String> =
            changed().filter(|path| is_source(path) && !is_test_like(path)).collect();
        let all = Ecosystem::ALL.iter().map(|ecosystem| (*ecosystem, tests(*ecosystem)));
        let (ecosystem, tests) = all.max_by_key(|(_, tests)| tests.len())?;
        let ecosystem = match tests.is_empty() {
            true => code.iter().find_map(|path| Ecosystem::of_source(path))?,
            false => ecosystem,
        };
        let support = self.files.iter().filter(|path| is_support(path) && !tests.contains(path));
        let support: Vec<String> = support.cloned().collect();
        let has_tests = !tests.is_empty() || !support.is_empty();
        (has_tests && !code.is_empty()).then_some(Fix { ecosystem, tests, support, is_sure })
    }

    /// Whether the message surely is about a bug; none if it is about something else.
    fn is_about_a_bug(&self) -> Option<bool> {
        let subject = self.subject().to_lowercase();
        let first = subject.split([':', '(', ' ']).next().unwrap_or_default();
        if OTHER.contains(&first)
            || OTHER.iter().any(|other| other.contains(' ') && subject.starts_with(other))
        {
            return None;
        }
        let words = || {
            subject
                .split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '\''))
                .filter(|word| !word.is_empty())
        };
        if words().any(|word| TRIVIAL.contains(&word)) {
            return None;
        }
        let is_new = NEW.contains(&first);
        if words().any(|word| WORDS.contains(&word))
            || !is_new && closes_an_issue(&self.message.to_lowercase())
        {
            return Some(true);
        }
        (!is_new && words().any(|word| HINTS.contains(&word))).then_some(false)
    }
}

/// The message of what a merge brought; none if the merge names only a branch.
pub fn merged_message(message: &str) -> Option<&str> {
    let (first, rest) = message.split_once('\n')?;
    let rest = rest.trim();
    (first.starts_with("Merge ") && !rest.is_empty()).then_some(rest)
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
    is_support(path)
        || folders(path)
            .any(|folder| matches!(folder, "benches" | "benchmarks" | "examples" | "testing"))
        || Ecosystem::ALL.iter().any(|ecosystem| ecosystem.is_test(path))
}

/// Whether a file is in a folder of tests and what they need.
fn is_support(path: &str) -> bool {
    folders(path).any(|folder| {
        matches!(
            folder,
            "tests"
                | "test"
                | "_test"
                | "_tests"
                | "__tests__"
                | "__snapshots__"
                | "__fixtures__"
                | "spec"
                | "specs"
                | "testdata"
                | "fixtures"
        )
    })
}

fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').rev().skip(1)
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
    fn what_a_message_hints_at_comes_after_what_it_says() {
        let files = ["src/a.py", "tests/test_a.py"];
        let is_sure = |message: &str| commit(message, &files).fix().map(|fix| fix.is_sure);
        assert_eq!(is_sure("Fix the prompt"), Some(true));
        assert_eq!(is_sure("Empty slices should be empty"), Some(false));
        assert_eq!(is_sure("Don't print twice"), Some(false));
        assert_eq!(is_sure("Support empty slices"), None);
        assert_eq!(is_sure("Faster slices"), None);
    }

    #[test]
    fn a_merge_speaks_for_what_it_brings() {
        let message = "Merge pull request #12 from a/b\n\nFix the prompt\n";
        assert_eq!(merged_message(message), Some("Fix the prompt"));
        assert_eq!(merged_message("Merge branch 'main'\n"), None);
        assert_eq!(merged_message("Fix the prompt\n\nMore"), None);
    }

    #[test]
    fn data_of_tests_comes_along() {
        let fix = commit("Fix it", &["lib/a.go", "lib/a_test.go", "lib/testdata/a.json"]).fix();
        let fix = fix.unwrap();
        assert_eq!((fix.tests.len(), fix.support), (1, vec!["lib/testdata/a.json".to_owned()]));
        let fix = commit("Fix it", &["lib/a.go", "lib/testdata/a.json"]).fix().unwrap();
        assert_eq!((fix.ecosystem, fix.tests.len()), (Ecosystem::Go, 0));
        assert_eq!(commit("Fix it", &["lib/testdata/a.json"]).fix(), None);
    }

    #[test]
    fn helpers_of_tests_are_no_code_to_fix() {
        assert_eq!(commit("Fix helper", &["tests/util.py", "tests/test_a.py"]).fix(), None);
        assert!(commit("Fix helper", &["lib/a.go", "lib/a_test.go"]).fix().is_some());
    }
}
