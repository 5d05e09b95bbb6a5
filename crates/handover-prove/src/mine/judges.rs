//! Tests of each ecosystem: which files they are in, which of them a commit changed, and the command that runs them.

use std::ops::RangeInclusive;

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
    /// The lines that the commit added or changed, from 1.
    pub changed: Vec<RangeInclusive<usize>>,
}

/// A command that judges, and with which codes it says no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judge {
    /// The words of the command.
    pub words: Vec<String>,
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

    /// The command that runs the changed tests of some files; none if it is not known how. `manifest` reads a file of
    /// the commit.
    pub fn judge(
        self,
        files: &[TestFile],
        manifest: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Judge> {
        let words = match self {
            Self::Python => python(files),
            Self::Rust => rust(files, manifest),
            Self::Go => go(files),
            Self::JavaScript => javascript(files, manifest),
        }?;
        Some(Judge { words })
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

/// Whether the output of a failed judge says that the code did not even build or load: then the test asks for a name
/// that no prompt mentions.
pub fn is_build_failure(ecosystem: Ecosystem, output: &str) -> bool {
    let signs: &[&str] = match ecosystem {
        Ecosystem::Python => &[
            "error during collection",
            "errors during collection",
            "ImportError while loading",
            "ModuleNotFoundError",
        ],
        Ecosystem::Rust => &[
            "could not compile",
            "error[E",
            "no test target named",
            "failed to parse manifest",
            "could not find `Cargo.toml`",
        ],
        Ecosystem::Go => &[
            "[build failed]",
            "[setup failed]",
            "cannot find module",
            "no Go files",
            "go.mod file not found",
            "cannot find main module",
        ],
        Ecosystem::JavaScript => &[
            "Cannot find module",
            "SyntaxError",
            "ERR_MODULE_NOT_FOUND",
            "No test files found",
            "No tests found",
        ],
    };
    signs.iter().any(|sign| output.contains(sign))
}

fn words(start: &[&str]) -> Vec<String> {
    start.iter().map(|&word| word.to_owned()).collect()
}

fn python(files: &[TestFile]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for file in files {
        let own = changed_tests(Ecosystem::Python, file);
        names.extend(own.into_iter().map(|name| format!("{}::{name}", file.path)));
    }
    if names.is_empty() {
        return None;
    }
    let mut command = words(&["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    match names.len() > MOST_NAMES {
        true => command.extend(files.iter().map(|file| file.path.clone())),
        false => command.extend(names),
    }
    Some(command)
}

fn go(files: &[TestFile]) -> Option<Vec<String>> {
    let mut names: Vec<String> =
        files.iter().flat_map(|file| changed_tests(Ecosystem::Go, file)).collect();
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
    let mut command = words(&["go", "test", "-count=1", "-run"]);
    command.push(format!("^({})$", names.join("|")));
    command.extend(folders);
    Some(command)
}

/// Only tests of one target: `cargo test` takes one filter.
fn rust(files: &[TestFile], manifest: &dyn Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let found = files.iter().map(|file| (file, changed_tests(Ecosystem::Rust, file)));
    let (file, names) = found.max_by_key(|(_, names)| names.len())?;
    if names.is_empty() {
        return None;
    }
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
    command.push("--".to_owned());
    command.extend(names.into_iter().take(MOST_NAMES));
    Some(command)
}

fn javascript(
    files: &[TestFile],
    manifest: &dyn Fn(&str) -> Option<String>,
) -> Option<Vec<String>> {
    let package = manifest("package.json")?;
    let paths = files.iter().map(|file| file.path.clone());
    // The value must not be found in a longer name, such as `ts-jest`.
    let has = |name: &str| package.contains(&format!("\"{name}\""));
    let mut command = if has("vitest") {
        words(&["node_modules/.bin/vitest", "run"])
    } else if has("jest") {
        words(&["node_modules/.bin/jest", "--runTestsByPath"])
    } else if has("mocha") {
        words(&["node_modules/.bin/mocha"])
    } else if package.contains("node --test") {
        words(&["node", "--test"])
    } else {
        return None;
    };
    command.extend(paths);
    Some(command)
}

/// The names of the tests that a commit added or changed, as their runner calls them.
pub fn changed_tests(ecosystem: Ecosystem, file: &TestFile) -> Vec<String> {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut names = Vec::new();
    for line in file.changed.iter().flat_map(Clone::clone) {
        if line == 0 || line > lines.len() || lines[line - 1].trim().is_empty() {
            continue;
        }
        let name = match ecosystem {
            Ecosystem::Python => python_test(&lines, line - 1),
            Ecosystem::Rust => rust_test(&lines, line - 1),
            Ecosystem::Go => go_test(&lines, line - 1),
            Ecosystem::JavaScript => None,
        };
        if let Some(name) = name
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The test around a line: the nearest `def test_` above that is indented less, or the line itself, with its class.
fn python_test(lines: &[&str], at: usize) -> Option<String> {
    let mut at = at;
    // Decorators belong to what follows.
    while lines.get(at).is_some_and(|line| line.trim_start().starts_with('@')) {
        at += 1;
    }
    let mut depth = indentation(lines.get(at)?);
    let def = |line: &str| {
        let line = line.trim_start();
        let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("def ")?;
        Some(name.split(['(', ' ']).next().unwrap_or_default().to_owned())
    };
    let mut found = def(lines[at]);
    for line in lines[..at].iter().rev().filter(|line| !line.trim().is_empty()) {
        if indentation(line) >= depth {
            continue;
        }
        depth = indentation(line);
        if let Some(outer) = def(line) {
            found = Some(outer);
        }
        if let (Some(name), Some(class)) = (&found, line.trim_start().strip_prefix("class ")) {
            let class = class.split(['(', ':']).next().unwrap_or_default().trim();
            return name.starts_with("test").then(|| format!("{class}::{name}"));
        }
    }
    found.filter(|name| name.starts_with("test"))
}

/// The test around a line: the nearest `fn` above, or one just below its attributes, with a test attribute.
fn rust_test(lines: &[&str], at: usize) -> Option<String> {
    let name = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let line = line.strip_prefix("async ").unwrap_or(line);
        let name = line.strip_prefix("fn ")?.split(['(', '<']).next()?.trim();
        Some(name.to_owned())
    };
    let mut at = at;
    while lines.get(at).is_some_and(|line| line.trim_start().starts_with("#[")) {
        at += 1;
    }
    let (at, name) = (0..=at).rev().find_map(|at| Some((at, name(lines.get(at)?)?)))?;
    let mut above = lines[..at].iter().rev().map(|line| line.trim());
    let attributes =
        above.by_ref().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    let mut attributes = attributes.filter(|line| line.starts_with("#["));
    attributes
        .any(|line| line.contains("test]") || line.contains("test(") || line.contains("rstest"))
        .then_some(name)
}

fn go_test(lines: &[&str], at: usize) -> Option<String> {
    let line = lines[..=at].iter().rev().find(|line| line.starts_with("func "))?;
    let name = line.strip_prefix("func ")?.split('(').next()?.trim();
    name.starts_with("Test").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str, changed: &[usize]) -> TestFile {
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
    fn finds_the_changed_tests_of_python() {
        let text = "import a\n\ndef helper():\n    pass\n\n@mark\ndef test_one():\n    x = 1\n    for i in x:\n        assert i\n\n\
                    class TestMany:\n    def test_two(self):\n        assert 1\n\n    def helper(self):\n        pass\n";
        let found = |lines: &[usize]| changed_tests(Ecosystem::Python, &file("t.py", text, lines));
        assert_eq!(found(&[10]), ["test_one"]);
        assert_eq!(found(&[6, 7, 8]), ["test_one"]);
        assert_eq!(found(&[14]), ["TestMany::test_two"]);
        assert!(found(&[1, 4, 17, 99]).is_empty());
    }

    #[test]
    fn finds_the_changed_tests_of_rust_and_go() {
        let text = "fn helper() {\n    x();\n}\n\n#[test]\nfn one() {\n    assert!(true);\n}\n\n#[tokio::test]\nasync fn two() {\n    y();\n}\n";
        let found = |lines: &[usize]| changed_tests(Ecosystem::Rust, &file("t.rs", text, lines));
        assert_eq!(found(&[7]), ["one"]);
        assert_eq!(found(&[5, 12]), ["one", "two"]);
        assert!(found(&[2]).is_empty());
        let text =
            "package a\n\nfunc TestOne(t *testing.T) {\n\tx()\n}\n\nfunc help() {\n\ty()\n}\n";
        let found = |lines: &[usize]| changed_tests(Ecosystem::Go, &file("a_test.go", text, lines));
        assert_eq!(found(&[3, 4]), ["TestOne"]);
        assert!(found(&[8]).is_empty());
    }

    #[test]
    fn commands_run_the_changed_tests_only() {
        let none = |_: &str| None;
        let python = file("tests/test_a.py", "def test_one():\n    assert 1\n", &[2]);
        let judge = Ecosystem::Python.judge(&[python], &none).unwrap();
        assert_eq!(judge.words.last().unwrap(), "tests/test_a.py::test_one");
        let go = file("gin/a_test.go", "func TestOne() {\n}\n", &[1]);
        let judge = Ecosystem::Go.judge(&[go], &none).unwrap();
        assert_eq!(judge.words, ["go", "test", "-count=1", "-run", "^(TestOne)$", "./gin"]);
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
        assert_eq!(Ecosystem::JavaScript.judge(&[js], &package("ts-jest")), None);
    }

    #[test]
    fn a_build_that_fails_is_no_failing_test() {
        assert!(is_build_failure(Ecosystem::Rust, "error[E0425]: cannot find function"));
        assert!(!is_build_failure(Ecosystem::Rust, "test one ... FAILED"));
        assert!(Ecosystem::Python.is_failure(1) && !Ecosystem::Python.is_failure(4));
    }
}
