//! `go test`, for modules of Go.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{FailedTests, Gate, GateFolder, GateKind, GateOutput};

/// Go's own test tool.
#[derive(Debug)]
pub struct Go;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TestEvent {
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
}

impl GateKind for Go {
    fn id(&self) -> &'static str {
        "go"
    }

    fn detect(&self, folder: &GateFolder<'_>) -> Option<Gate> {
        folder.has("go.mod").then(|| Gate::new(&Self, "go", &["test", "-json", "./..."]))
    }

    /// A package that fails without a failing test did not compile, or crashed.
    fn parse(&self, output: &GateOutput<'_>) -> FailedTests {
        let mut failed = FailedTests::default();
        let mut packages = BTreeSet::new();
        let mut with_tests = BTreeSet::new();
        for line in output.stdout.lines() {
            let Ok(event) = serde_json::from_str::<TestEvent>(line) else { continue };
            match (event.action.as_str(), event.test) {
                ("fail", Some(test)) => {
                    failed.add(&format!("{} {test}", event.package));
                    with_tests.insert(event.package);
                }
                ("fail" | "build-fail", None) => {
                    packages.insert(event.package);
                }
                _ => {}
            }
        }
        failed.unknown = packages.difference(&with_tests).next().is_some();
        failed
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{detect_in, parse};
    use super::*;

    #[test]
    fn tells_failed_tests_from_broken_packages() {
        let text = "{\"Action\":\"fail\",\"Package\":\"a\",\"Test\":\"TestX\"}\n{\"Action\":\"fail\",\"Package\":\"a\"}\nnoise\n{\"Action\":\"pass\",\"Package\":\"b\",\"Test\":\"TestY\"}\n";
        assert_eq!(parse(&Go, text, "", &[]), (vec!["a TestX".to_owned()], false));
        for broken in ["fail", "build-fail"] {
            let text = format!("{{\"Action\":\"{broken}\",\"Package\":\"b\"}}\n");
            assert_eq!(parse(&Go, &text, "", &[]), (Vec::new(), true), "{broken}");
        }
    }

    #[test]
    fn is_found_by_its_module_file() {
        assert!(detect_in(&Go, &[("go.mod", "module x\n")]).is_some());
        assert!(detect_in(&Go, &[("main.go", "package main\n")]).is_none());
    }
}
