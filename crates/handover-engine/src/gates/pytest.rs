//! pytest, for Python projects that configure it or have test files.

use std::path::Path;

use super::own_code::PYTHONS;
use super::{FailedTests, Gate, GateFolder, GateKind, GateOutput, format};

/// pytest's exit code for "no tests were collected".
const NO_TESTS: i32 = 5;

/// Python's usual test runner.
#[derive(Debug)]
pub struct Pytest;

impl GateKind for Pytest {
    fn id(&self) -> &'static str {
        "pytest"
    }

    fn detect(&self, folder: &GateFolder<'_>) -> Option<Gate> {
        let holds = |file: &str, text: &str| folder.read(file).is_some_and(|it| it.contains(text));
        let is_configured = folder.has("pytest.ini")
            || folder.has("conftest.py")
            || holds("pyproject.toml", "[tool.pytest")
            || holds("setup.cfg", "[tool:pytest]");
        let has_tests =
            || ["", "tests", "test"].iter().any(|below| has_tests(&folder.path.join(below)));
        if !is_configured && !has_tests() {
            return None;
        }
        // Two components must not write the same report.
        let hash = blake3::hash(folder.path.as_os_str().as_encoded_bytes()).to_hex();
        let report = folder.scratch.join(format!("pytest-{}.xml", &hash[..8]));
        let option = format!("--junitxml={}", report.display());
        // One test file that cannot be imported, or one failure, must not switch off all other tests.
        let all = ["--continue-on-collection-errors", "--maxfail=0"];
        let args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", all[0], all[1], &option];
        let mut gate = Gate::new(&Self, "pytest", &args);
        gate.program = folder.installed(&PYTHONS).unwrap_or_else(|| "python3".into());
        gate.typed = format!("{} -m pytest", gate.program.display());
        gate.reports = vec![report];
        gate.success_codes = vec![NO_TESTS];
        Some(gate)
    }

    fn is_redirected(&self) -> bool {
        true
    }

    fn parse(&self, output: &GateOutput<'_>) -> FailedTests {
        let mut failed = format::junit(output);
        // `!!!!! Interrupted: 1 error during collection !!!!!`
        let is_cut = |line: &str| {
            line.starts_with("!!!") && (line.contains("Interrupted") || line.contains("stopping"))
        };
        failed.unknown |= output.stdout.lines().any(is_cut);
        failed
    }

    fn missing(&self, output: &GateOutput<'_>) -> Option<String> {
        // `/usr/bin/python3: No module named pytest`
        let line = output.stderr.lines().find(|line| line.ends_with("No module named pytest"))?;
        let python = line.split_once(": ").map_or("python3", |(python, _)| python);
        Some(format!("pytest (`{python} -m pip install pytest`)"))
    }
}

fn has_tests(folder: &Path) -> bool {
    let Ok(entries) = fs_err::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{detect_below, detect_in, parse, project};
    use super::*;

    #[test]
    fn is_found_by_configuration_or_test_files() {
        for file in [
            ("pytest.ini", ""),
            ("conftest.py", ""),
            ("pyproject.toml", "[tool.pytest.ini_options]\n"),
            ("setup.cfg", "[tool:pytest]\n"),
            ("test_a.py", ""),
            ("tests/test_a.py", ""),
            ("test/a_test.py", ""),
        ] {
            assert!(detect_in(&Pytest, &[file]).is_some(), "{file:?}");
        }
        for file in [("pyproject.toml", "[project]\n"), ("src/test_a.py", ""), ("test_a.txt", "")] {
            assert!(detect_in(&Pytest, &[file]).is_none(), "{file:?}");
        }
    }

    #[test]
    fn prefers_the_python_of_the_checkout() {
        let gate = detect_in(&Pytest, &[("conftest.py", ""), (".venv/bin/python", "")]).unwrap();
        assert!(gate.program.ends_with(".venv/bin/python"), "{}", gate.program.display());
        let gate = detect_in(&Pytest, &[("conftest.py", "")]).unwrap();
        assert_eq!(gate.program.to_str(), Some("python3"));
        assert_eq!(gate.success_codes, [5]);
        assert_eq!(gate.reports.len(), 1);
    }

    #[test]
    fn a_missing_module_is_a_missing_tool() {
        let said = |stderr| Pytest.missing(&GateOutput { stdout: "", stderr, reports: &[] });
        let missing = said("/usr/bin/python3: No module named pytest\n").unwrap();
        assert_eq!(missing, "pytest (`/usr/bin/python3 -m pip install pytest`)");
        assert_eq!(said("ModuleNotFoundError: No module named 'shop'\n"), None);
    }

    #[test]
    fn a_component_uses_its_own_python_or_the_nearest_above_it() {
        let files = [
            ("a/conftest.py", ""),
            ("a/.venv/bin/python", ""),
            ("b/c/conftest.py", ""),
            ("b/venv/bin/python", ""),
            ("d/conftest.py", ""),
            (".venv/bin/python", ""),
        ];
        let root = project(&files);
        for (below, python) in
            [("a", "a/.venv/bin/python"), ("b/c", "b/venv/bin/python"), ("d", ".venv/bin/python")]
        {
            let gate = detect_below(&Pytest, root.path(), below).unwrap();
            assert_eq!(gate.program, root.path().join(python));
        }
    }

    #[test]
    fn tests_that_were_not_run_are_an_unknown_failure() {
        let report = "<testsuite><testcase name=\"a\"><error/></testcase></testsuite>".to_owned();
        let cut = |line: &str| parse(&Pytest, line, "", std::slice::from_ref(&report)).1;
        assert!(cut("!!!!!!! Interrupted: 1 error during collection !!!!!!!"));
        assert!(cut("!!!!!!!!! stopping after 1 failures !!!!!!!!!"));
        assert!(!cut("1 passed in 0.01s\n!!! careful\n"));
    }

    #[test]
    fn components_write_reports_of_their_own() {
        let root = project(&[("a/conftest.py", ""), ("b/conftest.py", "")]);
        let report =
            |below: &str| detect_below(&Pytest, root.path(), below).unwrap().reports.remove(0);
        assert_ne!(report("a"), report("b"));
        assert_eq!(report("a"), report("a"));
        assert_eq!(report("a").parent(), Some(root.path()));
    }
}
