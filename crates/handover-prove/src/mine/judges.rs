//! Tests of each ecosystem: which files they are in, which of them a commit changed, and the command that runs them.

use std::ops::RangeInclusive;

use super::changed::{all_tests, changed_tests};

/// The tools that run a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecosystem {
    /// pytest.
    Python,
    /// cargo.
    Rust,
    /// go.
    Go,
    /// jest, vitest, mocha, or node's own runner.
    JavaScript,
}

/// A test file as a commit left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFile {
    /// Its path.
    pub path: String,
    /// Its text.
    pub text: String,
    /// The lines that the commit added or changed, or that name what it changed, from 1.
    pub changed: Vec<RangeInclusive<usize>>,
}

impl TestFile {
    /// The text of the changed lines.
    pub fn changed_lines(&self) -> impl Iterator<Item = &str> {
        let is_changed = |number: &usize| self.changed.iter().any(|range| range.contains(number));
        let lines = self.text.lines().enumerate();
        lines.filter(move |(at, _)| is_changed(&(at + 1))).map(|(_, line)| line)
    }
}

/// A command that judges, and one that has to run in a clone before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judge {
    /// The words of the command.
    pub words: Vec<String>,
    /// The words of a command that installs what the tests need, where a clone alone cannot run them.
    pub setup: Vec<String>,
}

/// More tests than that are the whole file.
const MOST_NAMES: usize = 20;

impl Ecosystem {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Python, Self::Rust, Self::Go, Self::JavaScript];

    /// Whether a file contains tests and nothing else.
    pub fn is_test(self, path: &str) -> bool {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let below = |names: &[&str]| folders.split('/').any(|folder| names.contains(&folder));
        match self {
            Self::Python => {
                name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py"))
            }
            Self::Rust => {
                let alone = matches!(name, "tests.rs" | "test.rs")
                    || name.ends_with("_tests.rs")
                    || name.ends_with("_test.rs");
                name.ends_with(".rs") && (below(&["tests"]) || alone)
            }
            Self::Go => name.ends_with("_test.go"),
            Self::JavaScript => {
                let script = ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];
                let Some((stem, end)) = name.rsplit_once('.') else { return false };
                let marked =
                    [".test", ".spec", "-test", "_test"].iter().any(|mark| stem.ends_with(mark));
                script.contains(&end)
                    && (marked
                        || below(&["__tests__", "test", "tests"])
                            && !below(&["fixtures", "support", "helpers"]))
            }
        }
    }

    /// Whose code a file is.
    pub fn of_source(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "py" | "pyx" => Some(Self::Python),
            "rs" => Some(Self::Rust),
            "go" => Some(Self::Go),
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => Some(Self::JavaScript),
            _ => None,
        }
    }

    /// The command that runs the changed tests of some files; none if it is not known how. `manifest` reads a file of
    /// the commit.
    pub fn judge(
        self,
        files: &[TestFile],
        manifest: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Judge> {
        if files.is_empty() {
            return None;
        }
        let words = match self {
            Self::Python => python(files),
            Self::Rust => rust(files, manifest),
            Self::Go => go(files, manifest),
            Self::JavaScript => javascript(files, manifest),
        }?;
        let setup = match self {
            Self::JavaScript => javascript_setup(manifest),
            Self::Python | Self::Rust | Self::Go => Vec::new(),
        };
        Some(Judge { words, setup })
    }

    /// Whether an exit code of the judge means that a test failed, and not that it could not run.
    pub fn is_failure(self, code: i32) -> bool {
        match self {
            // 2 to 5: interrupted, internal error, wrong usage, no tests.
            Self::Python => code == 1,
            Self::Rust => code == 101,
            Self::Go | Self::JavaScript => code == 1 || code == 2,
        }
    }
}

/// The line of a failed judge's output which says that the code did not even build or load: then the test asks for a
/// name that no prompt mentions, or the project is not set up for its tests here.
pub fn build_failure(ecosystem: Ecosystem, output: &str) -> Option<&str> {
    // What names the cause comes first.
    let signs: &[&str] = match ecosystem {
        Ecosystem::Python => &[
            "ModuleNotFoundError",
            "ImportError while loading",
            "error during collection",
            "errors during collection",
        ],
        Ecosystem::Rust => &[
            "error[E",
            "no test target named",
            "failed to parse manifest",
            "could not find `Cargo.toml`",
            "could not compile",
        ],
        Ecosystem::Go => &[
            "cannot find module",
            "no Go files",
            "go.mod file not found",
            "cannot find main module",
            "[build failed]",
            "[setup failed]",
        ],
        Ecosystem::JavaScript => &[
            "Cannot find module",
            "ERR_MODULE_NOT_FOUND",
            "SyntaxError",
            "No test files found",
            "No tests found",
        ],
    };
    let line = |sign: &&str| output.lines().find(|line| line.contains(*sign));
    // Pytest marks lines of errors.
    signs.iter().find_map(line).map(|line| line.trim().trim_start_matches("E ").trim_start())
}

fn words(start: &[&str]) -> Vec<String> {
    start.iter().map(|&word| word.to_owned()).collect()
}

/// Options of the project may ask for plugins that are not here, and make errors of what is only old by now.
const PYTEST: &[&str] = &[
    "python3",
    "-m",
    "pytest",
    "-q",
    "-p",
    "no:cacheprovider",
    "-o",
    "addopts=",
    "-W",
    "default::DeprecationWarning",
    "-W",
    "default::PendingDeprecationWarning",
];

fn python(files: &[TestFile]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for file in files {
        let own = changed_tests(Ecosystem::Python, file);
        names.extend(own.into_iter().map(|name| format!("{}::{name}", file.path)));
    }
    let mut command = words(PYTEST);
    match names.is_empty() || names.len() > MOST_NAMES {
        true => command.extend(files.iter().map(|file| file.path.clone())),
        false => command.extend(names),
    }
    Some(command)
}

fn go(files: &[TestFile], manifest: &dyn Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let mut names: Vec<String> =
        files.iter().flat_map(|file| changed_tests(Ecosystem::Go, file)).collect();
    if names.is_empty() {
        names = files.iter().flat_map(|file| all_tests(Ecosystem::Go, &file.text)).collect();
    }
    names.sort();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let mut folders: Vec<String> = files
        .iter()
        .map(|file| {
            file.path
                .rsplit_once('/')
                .map_or_else(|| ".".to_owned(), |(folder, _)| format!("./{folder}"))
        })
        .collect();
    folders.sort();
    folders.dedup();
    // History from before modules; today's checks of style are not what is judged.
    let mut command = match manifest("go.mod") {
        Some(_) => Vec::new(),
        None => words(&["env", "GO111MODULE=off"]),
    };
    command.extend(words(&["go", "test", "-count=1", "-vet=off", "-run"]));
    command.push(format!("^({})$", names.join("|")));
    command.extend(folders);
    Some(command)
}

/// Only tests of one target: `cargo test` takes one filter.
fn rust(files: &[TestFile], manifest: &dyn Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let found = files.iter().map(|file| (file, changed_tests(Ecosystem::Rust, file)));
    let (file, names) = found.max_by_key(|(_, names)| names.len())?;
    let mut folder = file.path.as_str();
    let crate_folder = loop {
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        let path = if folder.is_empty() {
            "Cargo.toml".to_owned()
        } else {
            format!("{folder}/Cargo.toml")
        };
        if manifest(&path).is_some_and(|text| text.contains("[package]")) {
            break folder;
        }
        if folder.is_empty() {
            return None;
        }
    };
    let mut command = words(&["cargo", "test", "--quiet"]);
    if !crate_folder.is_empty() {
        command.extend(["--manifest-path".to_owned(), format!("{crate_folder}/Cargo.toml")]);
    }
    let inside = file.path.strip_prefix(crate_folder).unwrap_or(&file.path).trim_start_matches('/');
    match inside.strip_prefix("tests/") {
        Some(rest) => {
            // tests/it/main.rs and tests/it/x.rs are one target.
            let target = rest.split('/').next()?.trim_end_matches(".rs");
            command.extend(["--test".to_owned(), target.to_owned()]);
        }
        None => command.push("--lib".to_owned()),
    }
    if !names.is_empty() && names.len() <= MOST_NAMES {
        command.push("--".to_owned());
        command.extend(names);
    }
    Some(command)
}

/// How each runner is called with files.
const RUNNERS: &[(&str, &[&str])] = &[
    ("vitest", &["node_modules/.bin/vitest", "run"]),
    ("jest", &["node_modules/.bin/jest", "--runTestsByPath"]),
    ("mocha", &["node_modules/.bin/mocha"]),
    ("ava", &["node_modules/.bin/ava"]),
    ("jasmine", &["node_modules/.bin/jasmine"]),
    ("tap", &["node_modules/.bin/tap"]),
    ("tape", &["node_modules/.bin/tape"]),
    ("node --test", &["node", "--test"]),
];

fn javascript(
    files: &[TestFile],
    manifest: &dyn Fn(&str) -> Option<String>,
) -> Option<Vec<String>> {
    let package: serde_json::Value = serde_json::from_str(&manifest("package.json")?).ok()?;
    let scripts = package.get("scripts").and_then(|all| all.as_object());
    // What its scripts call, else what it depends on.
    let called = |runner: &str| {
        let mut all = scripts.into_iter().flatten().filter_map(|(_, script)| script.as_str());
        all.any(|script| format!(" {script} ").contains(&format!(" {runner} ")))
    };
    let depends = |runner: &str| {
        ["devDependencies", "dependencies"]
            .iter()
            .any(|kind| package.get(kind).is_some_and(|all| all.get(runner).is_some()))
    };
    let find = |is: &dyn Fn(&str) -> bool| RUNNERS.iter().find(|(name, _)| is(name));
    let (_, start) = find(&called).or_else(|| find(&depends))?;
    let mut command = words(start);
    command.extend(files.iter().map(|file| file.path.clone()));
    Some(command)
}

/// Packages as its own lock file says.
fn javascript_setup(manifest: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let has = |name: &str| manifest(name).is_some();
    if has("pnpm-lock.yaml") {
        words(&["pnpm", "install", "--frozen-lockfile", "--prefer-offline"])
    } else if has("yarn.lock") {
        words(&["yarn", "install", "--frozen-lockfile", "--prefer-offline"])
    } else if has("package-lock.json") || has("npm-shrinkwrap.json") {
        words(&["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund"])
    } else {
        words(&["npm", "install", "--prefer-offline", "--no-audit", "--no-fund"])
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn file(path: &str, text: &str, changed: &[usize]) -> TestFile {
        let changed = changed.iter().map(|line| *line..=*line).collect();
        TestFile { path: path.to_owned(), text: text.to_owned(), changed }
    }

    #[test]
    fn knows_test_files() {
        for (ecosystem, path, is) in [
            (Ecosystem::Python, "tests/test_a.py", true),
            (Ecosystem::Python, "tests/conftest.py", false),
            (Ecosystem::Rust, "crates/x/tests/it/a.rs", true),
            (Ecosystem::Rust, "src/parse/tests.rs", true),
            (Ecosystem::Rust, "src/parse.rs", false),
            (Ecosystem::Go, "gin/context_test.go", true),
            (Ecosystem::JavaScript, "src/a.test.ts", true),
            (Ecosystem::JavaScript, "test/app.js", true),
            (Ecosystem::JavaScript, "src/app.js", false),
        ] {
            assert_eq!(ecosystem.is_test(path), is, "{path}");
        }
    }

    #[test]
    fn commands_run_the_changed_tests_only() {
        let none = |_: &str| None;
        let python = file("tests/test_a.py", "def test_one():\n    assert 1\n", &[2]);
        let judge = Ecosystem::Python.judge(&[python], &none).unwrap();
        assert_eq!(judge.words.last().unwrap(), "tests/test_a.py::test_one");
        let go = file("gin/a_test.go", "func TestOne() {\n}\n", &[1]);
        let judge = Ecosystem::Go.judge(&[go], &none).unwrap();
        let old = ["env", "GO111MODULE=off", "go", "test", "-count=1", "-vet=off", "-run"];
        assert_eq!(judge.words[..7], old);
        assert_eq!(judge.words[7..], ["^(TestOne)$", "./gin"]);
        let rust = |path: &str| file(path, "#[test]\nfn one() {\n}\n", &[1]);
        let manifest = |path: &str| (path == "crates/x/Cargo.toml").then(|| "[package]".to_owned());
        let judge = Ecosystem::Rust.judge(&[rust("crates/x/tests/it/a.rs")], &manifest).unwrap();
        let tail = ["--manifest-path", "crates/x/Cargo.toml", "--test", "it", "--", "one"];
        assert_eq!(judge.words[3..], tail);
        let judge = Ecosystem::Rust.judge(&[rust("crates/x/src/tests.rs")], &manifest).unwrap();
        assert_eq!(judge.words[5..], ["--lib", "--", "one"]);
        assert_eq!(Ecosystem::Rust.judge(&[rust("tests/a.rs")], &none), None);
        let js = file("test/app.test.js", "", &[]);
        let package = |runner: &'static str| {
            move |_: &str| Some(format!("{{\"devDependencies\": {{\"{runner}\": \"1\"}}}}"))
        };
        let judge =
            Ecosystem::JavaScript.judge(std::slice::from_ref(&js), &package("vitest")).unwrap();
        assert_eq!(judge.words, ["node_modules/.bin/vitest", "run", "test/app.test.js"]);
        assert_eq!(judge.setup[..2], ["pnpm", "install"], "every file is there");
        let both = |path: &str| {
            (path == "package.json").then(|| {
                r#"{"scripts": {"test": "tsc && mocha -b"}, "devDependencies": {"jest": "1"}}"#
                    .to_owned()
            })
        };
        let judge = Ecosystem::JavaScript.judge(std::slice::from_ref(&js), &both).unwrap();
        assert_eq!(judge.words[0], "node_modules/.bin/mocha");
        assert_eq!(judge.setup[..2], ["npm", "install"]);
        assert_eq!(Ecosystem::JavaScript.judge(&[js], &package("ts-jest")), None);
    }

    #[test]
    fn a_build_that_fails_is_no_failing_test() {
        let output = "   Compiling sums\nerror[E0425]: cannot find function `f`\nerror: could not compile `sums`";
        let cause = build_failure(Ecosystem::Rust, output);
        assert_eq!(cause, Some("error[E0425]: cannot find function `f`"));
        assert_eq!(build_failure(Ecosystem::Rust, "test one ... FAILED"), None);
        let output = "= ERRORS =\nE   ModuleNotFoundError: No module named 'shop'\n1 error during collection";
        let cause = build_failure(Ecosystem::Python, output);
        assert_eq!(cause, Some("ModuleNotFoundError: No module named 'shop'"));
        assert!(Ecosystem::Python.is_failure(1) && !Ecosystem::Python.is_failure(4));
    }
}
