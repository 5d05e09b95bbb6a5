//! `go test`, for modules of Go.

use std::collections::BTreeSet;
use std::path::PathBuf;

use handover_agents::Environment;
use serde::Deserialize;

use super::kind::folder_of;
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

    fn caches(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = environment.get("HOME").map(PathBuf::from).unwrap_or_default();
        // `$XDG_CACHE_HOME/go-build`, or where the system keeps caches.
        let usual = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
        let usual = match environment.get("XDG_CACHE_HOME").filter(|_| !cfg!(target_os = "macos")) {
            Some(caches) => PathBuf::from(caches),
            None => home.join(usual),
        };
        let builds = environment.get("GOCACHE").map(PathBuf::from);
        let modules = folder_of(environment, "GOPATH", "go").map(|path| path.join("pkg/mod"));
        [builds.or_else(|| Some(usual.join("go-build"))), modules].into_iter().flatten().collect()
    }

    fn is_redirected(&self) -> bool {
        true
    }

    /// A package that fails without a failing test did not compile, or crashed.
    fn parse(&self, output: &GateOutput<'_>) -> FailedTests {
        let mut failed = FailedTests::default();
        let mut packages = BTreeSet::new();
        let mut with_tests = BTreeSet::new();
        let mut is_broken = false;
        for line in output.stdout.lines() {
            let Ok(event) = serde_json::from_str::<TestEvent>(line) else {
                // Before Go 1.24, packages that do not compile are not reported as JSON.
                is_broken |= line.starts_with("FAIL\t") && line.ends_with(" failed]");
                continue;
            };
            match (event.action.as_str(), event.test) {
                ("pass", Some(_)) => failed.count(),
                ("fail", Some(test)) => {
                    failed.count();
                    failed.add(&format!("{} {test}", event.package));
                    with_tests.insert(event.package);
                }
                ("fail" | "build-fail", None) => {
                    packages.insert(event.package);
                }
                _ => {}
            }
        }
        failed.unknown = is_broken || packages.difference(&with_tests).next().is_some();
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

    /// As Go 1.19 prints it: one package does not compile, and a subtest of another fails.
    #[test]
    fn packages_that_do_not_compile_are_unknown_failures_in_old_versions() {
        let text = concat!(
            "FAIL\tshop/broken [build failed]\n",
            "{\"Action\":\"run\",\"Package\":\"shop/cart\",\"Test\":\"TestTotal\"}\n",
            "{\"Action\":\"output\",\"Package\":\"shop/cart\",\"Test\":\"TestTotal\",\"Output\":\"=== RUN   TestTotal\\n\"}\n",
            "{\"Action\":\"fail\",\"Package\":\"shop/cart\",\"Test\":\"TestTotal/empty\",\"Elapsed\":0}\n",
            "{\"Action\":\"fail\",\"Package\":\"shop/cart\",\"Test\":\"TestTotal\",\"Elapsed\":0}\n",
            "{\"Action\":\"output\",\"Package\":\"shop/cart\",\"Output\":\"FAIL\\tshop/cart\\t0.009s\\n\"}\n",
            "{\"Action\":\"fail\",\"Package\":\"shop/cart\",\"Elapsed\":0.01}\n",
        );
        let names =
            ["shop/cart TestTotal", "shop/cart TestTotal/empty"].map(str::to_owned).to_vec();
        assert_eq!(parse(&Go, text, "", &[]), (names.clone(), true));
        let setup = text.replace("build failed", "setup failed");
        assert!(parse(&Go, &setup, "", &[]).1);
        let whole = text.lines().skip(1).collect::<Vec<_>>().join("\n");
        assert_eq!(parse(&Go, &whole, "", &[]), (names, false));
        // A test's own output is wrapped in JSON, so it cannot be mistaken for a package result.
        assert!(!parse(&Go, "FAIL of mine [failed]\nFAIL\tshop/cart\t0.009s\n", "", &[]).1);
    }

    /// As Go 1.24 prints it.
    #[test]
    fn packages_that_do_not_compile_are_unknown_failures_in_new_versions() {
        let text = concat!(
            "{\"ImportPath\":\"shop/broken\",\"Action\":\"build-output\",\"Output\":\"undefined: undefined\\n\"}\n",
            "{\"ImportPath\":\"shop/broken\",\"Action\":\"build-fail\"}\n",
            "{\"Action\":\"start\",\"Package\":\"shop/broken\"}\n",
            "{\"Action\":\"output\",\"Package\":\"shop/broken\",\"Output\":\"FAIL\\tshop/broken [build failed]\\n\"}\n",
            "{\"Action\":\"fail\",\"Package\":\"shop/broken\",\"Elapsed\":0,\"FailedBuild\":\"shop/broken\"}\n",
        );
        assert_eq!(parse(&Go, text, "", &[]), (Vec::new(), true));
    }

    #[test]
    fn its_caches_are_where_go_keeps_them() {
        let mut environment = Environment::default();
        environment.set("HOME", "/home/me");
        environment.set("XDG_CACHE_HOME", "/caches");
        environment.set("GOPATH", "/go");
        let caches = Go.caches(&environment);
        assert_eq!(caches[1], PathBuf::from("/go/pkg/mod"));
        #[cfg(target_os = "linux")]
        assert_eq!(caches[0], PathBuf::from("/caches/go-build"));
        environment.set("GOCACHE", "/builds");
        assert_eq!(Go.caches(&environment)[0], PathBuf::from("/builds"));
    }

    #[test]
    fn is_found_by_its_module_file() {
        assert!(detect_in(&Go, &[("go.mod", "module x\n")]).is_some());
        assert!(detect_in(&Go, &[("main.go", "package main\n")]).is_none());
    }
}
