//! `cargo test`, for projects with a `Cargo.toml`.

use std::path::PathBuf;

use handover_agents::Environment;

use super::{FailedTests, Gate, GateFolder, GateKind, GateOutput};

/// Rust's package manager and its test harness.
#[derive(Debug)]
pub struct Cargo;

impl GateKind for Cargo {
    fn id(&self) -> &'static str {
        "cargo"
    }

    fn detect(&self, folder: &GateFolder<'_>) -> Option<Gate> {
        let manifest = folder.read("Cargo.toml")?;
        let mut args = vec!["test", "--no-fail-fast", "--color", "never"];
        if manifest.lines().any(|line| line.trim() == "[workspace]") {
            args.push("--workspace");
        }
        Some(Gate::new(&Self, "cargo", &args))
    }

    fn caches(&self, environment: &Environment) -> Vec<PathBuf> {
        environment.get("CARGO_TARGET_DIR").map(PathBuf::from).into_iter().collect()
    }

    fn is_redirected(&self) -> bool {
        true
    }

    /// Reads `test a::b ... FAILED`. The program a test belongs to is printed on the other stream, in the same
    /// order.
    fn parse(&self, output: &GateOutput<'_>) -> FailedTests {
        let labels: Vec<String> = output
            .stderr
            .lines()
            .map(str::trim)
            .filter_map(|line| {
                line.strip_prefix("Running ").or_else(|| line.strip_prefix("Doc-tests "))
            })
            .map(label)
            .collect();
        let blocks = output.stdout.lines().filter(|line| is_start(line)).count();
        let mut failed = FailedTests::default();
        let mut block = 0;
        for line in output.stdout.lines() {
            if is_start(line) {
                block += 1;
            }
            let Some(rest) = line.strip_prefix("test ") else { continue };
            let Some((test, verdict)) = rest.rsplit_once(" ... ") else { continue };
            if !verdict.starts_with("ignored") {
                failed.count();
            }
            if verdict.starts_with("FAILED") {
                let test = test.split(" - should panic").next().unwrap_or(test);
                let label =
                    labels.get(block - usize::from(block > 0)).filter(|_| labels.len() == blocks);
                match label {
                    Some(label) => failed.add(&format!("{label} {test}")),
                    None => failed.add(test),
                }
            }
        }
        failed.unknown = ["could not compile", "(signal: ", "error[E", "failed to parse manifest"]
            .iter()
            .any(|sign| output.stderr.contains(sign));
        failed
    }
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

#[cfg(test)]
mod tests {
    use super::super::testing::{detect_in, parse};
    use super::*;

    #[test]
    fn names_program_and_test() {
        let out = "\nrunning 2 tests\ntest tests::a ... ok\ntest tests::b ... FAILED\n\nrunning 1 test\ntest tests::b - should panic ... FAILED\n";
        let err = "   Compiling x\n     Running unittests src/lib.rs (target/debug/deps/x-0a1b)\n     Running tests/it.rs (target/debug/deps/it-77)\nerror: 2 targets failed:\n";
        let (names, unknown) = parse(&Cargo, out, err, &[]);
        assert_eq!(names, ["it:tests/it.rs tests::b", "x:unittests src/lib.rs tests::b"]);
        assert!(!unknown);
    }

    #[test]
    fn falls_back_to_bare_names_when_programs_are_unknown() {
        let out = "running 1 test\ntest a ... FAILED\nrunning 1 test\ntest b ... FAILED\n";
        let err = "     Running unittests src/lib.rs (target/debug/deps/x-0a1b)\n";
        assert_eq!(parse(&Cargo, out, err, &[]).0, ["a", "b"]);
    }

    #[test]
    fn compiler_errors_and_crashes_are_unknown_failures() {
        for err in ["error: could not compile `x`", "process (signal: 11, SIGSEGV)", "error[E0308]"]
        {
            assert!(parse(&Cargo, "", err, &[]).1, "{err}");
        }
        assert!(!parse(&Cargo, "running 0 tests\n", "warning: unused", &[]).1);
    }

    #[test]
    fn tests_the_whole_workspace() {
        let gate = detect_in(&Cargo, &[("Cargo.toml", "[workspace]\nmembers = []\n")]).unwrap();
        assert_eq!(gate.args.last().unwrap(), "--workspace");
        let gate = detect_in(&Cargo, &[("Cargo.toml", "[package]\nname = \"x\"\n")]).unwrap();
        assert!(!gate.args.iter().any(|arg| arg == "--workspace"));
        assert!(detect_in(&Cargo, &[("cargo.txt", "")]).is_none());
    }

    /// As `cargo test --no-fail-fast` of Cargo 1.95 prints it: a library, an integration test and a doc test.
    #[test]
    fn reads_the_output_of_a_workspace() {
        let out = "\nrunning 3 tests\ntest cart::adds ... ok\ntest cart::slow ... ignored\ntest cart::totals ... FAILED\n\n\
            failures:\n\n---- cart::totals stdout ----\nthread 'cart::totals' panicked at src/cart.rs:9:5:\n\
            assertion `left == right` failed\n  left: 2\n right: 3\n\n\nfailures:\n    cart::totals\n\n\
            test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\n\
            running 1 test\ntest checks_out ... FAILED\n\nfailures:\n    checks_out\n\n\
            test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\n\n\
            running 1 test\ntest src/cart.rs - cart::Cart (line 3) ... FAILED\n\n\
            test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s\n";
        let err = "   Compiling shop v0.1.0 (/tmp/shop)\n    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.42s\n\
            \x20    Running unittests src/lib.rs (target/debug/deps/shop-6aa1bb3c1b0f6b1d)\nerror: test failed, to rerun pass `--lib`\n\
            \x20    Running tests/checkout.rs (/tmp/target/debug/deps/check_out-0a1b2c3d4e5f6071)\nerror: test failed, to rerun pass `--test checkout`\n\
            \x20  Doc-tests shop\nerror: doctest failed, to rerun pass `--doc`\nerror: 3 targets failed:\n    `--lib`\n";
        let (names, unknown) = parse(&Cargo, out, err, &[]);
        assert_eq!(
            names,
            [
                ":shop src/cart.rs - cart::Cart (line 3)",
                "check_out:tests/checkout.rs checks_out",
                "shop:unittests src/lib.rs cart::totals",
            ]
        );
        assert!(!unknown);
    }

    #[test]
    fn a_test_that_only_prints_such_lines_does_not_count() {
        let out = "running 1 test\ntesting ... FAILED\ntest without a verdict\n test indented ... FAILED\ntest a ... ok\nrunning away\n";
        assert_eq!(parse(&Cargo, out, "", &[]).0, [""; 0]);
    }

    #[test]
    fn labels_have_no_hash() {
        assert_eq!(
            label("unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)"),
            "shop:unittests src/lib.rs"
        );
        assert_eq!(label("tests/it.rs (/a/b/it_1-77)"), "it_1:tests/it.rs");
        assert_eq!(label("shop"), ":shop");
    }

    #[test]
    fn blocks_of_tests_begin_with_their_number() {
        assert!(is_start("running 1 test") && is_start("running 20 tests"));
        assert!(!is_start("running away") && !is_start("test running 1 test"));
    }
}
