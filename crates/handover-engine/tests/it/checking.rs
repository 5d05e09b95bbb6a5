//! Gates with real programs: on their own, and as part of a run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{CancelToken, Environment, SpawnId};
use handover_engine::gates::{
    FailedTests, Gate, GateContext, GateError, GateFolder, GateKind, GateOutput, GateResult, Go,
    run_gate,
};
use handover_engine::pipeline::Pipeline;
use handover_engine::reducer::State;
use handover_model::config::GateCommand;
use handover_model::{GateFormat, Host, Profile, RunState, StoryState};

use crate::stage::Stage;

/// A folder with a script that is the gate.
struct Checks {
    folder: tempfile::TempDir,
    timeout: Duration,
    cancel: CancelToken,
}

/// Reads one failed test per line `FAILED name`.
struct Lines;

impl GateKind for Lines {
    fn id(&self) -> &'static str {
        "lines"
    }

    fn detect(&self, _folder: &GateFolder<'_>) -> Option<Gate> {
        None
    }

    fn parse(&self, output: &GateOutput<'_>) -> FailedTests {
        let mut failed = FailedTests::default();
        for name in output.stdout.lines().filter_map(|line| line.strip_prefix("FAILED ")) {
            failed.add(name);
        }
        failed
    }

    fn missing(&self, output: &GateOutput<'_>) -> Option<String> {
        output.stderr.contains("no such tool").then(|| "the tool".to_owned())
    }
}

impl Checks {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, timeout: Duration::from_secs(60), cancel: CancelToken::default() }
    }

    fn gate(&self, script: &str) -> Gate {
        let path = self.folder.path().join("check");
        fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Gate { program: path, ..Gate::new(&Lines, "check", &[]) }
    }

    fn run(&self, gate: &Gate) -> Result<GateResult, GateError> {
        let own = std::env::vars_os().filter(|(name, _)| name == "PATH");
        let environment = Environment::scrubbed(own, Host::COMMAND, &[]);
        let context = GateContext {
            folder: self.folder.path(),
            environment: &environment,
            timeout: self.timeout,
            spawn: SpawnId::new("check").unwrap(),
            cancel: &self.cancel,
        };
        run_gate(gate, &context, &mut |_| {})
    }

    fn result(&self, script: &str) -> GateResult {
        self.run(&self.gate(script)).unwrap()
    }
}

fn failed(result: &GateResult) -> Vec<&str> {
    result.failed.iter().map(String::as_str).collect()
}

#[test]
fn a_gate_passes_with_exit_code_0_and_no_failed_test() {
    let checks = Checks::new();
    let result = checks.result("echo fine");
    assert!(result.passed && !result.unknown, "{result:?}");
    assert_eq!((result.ended.as_str(), result.tail.as_str()), ("exit code 0", "fine"));
    // A tool that lists failed tests and exits with 0 has not passed.
    let result = checks.result("echo 'FAILED a'");
    assert!(!result.passed && !result.unknown, "{result:?}");
    assert_eq!(failed(&result), ["a"]);
}

#[test]
fn failures_without_names_are_unknown() {
    let checks = Checks::new();
    let named = checks.result("echo 'FAILED a'; echo 'FAILED b'; exit 1");
    assert!(!named.passed && !named.unknown, "{named:?}");
    assert_eq!((failed(&named), named.ended.as_str()), (vec!["a", "b"], "exit code 1"));
    let unnamed = checks.result("echo boom >&2; exit 2");
    assert!(!unnamed.passed && unnamed.unknown, "{unnamed:?}");
    assert_eq!((unnamed.ended.as_str(), unnamed.tail.as_str()), ("exit code 2", "boom"));
}

#[test]
fn a_gate_that_was_killed_may_have_failed_in_more() {
    let checks = Checks::new();
    let result = checks.result("echo 'FAILED a'; kill -9 $$");
    assert!(!result.passed && result.unknown, "{result:?}");
    assert_eq!((failed(&result), result.ended.as_str()), (vec!["a"], "signal 9"));
}

#[test]
fn a_gate_has_a_time_limit() {
    let mut checks = Checks::new();
    checks.timeout = Duration::from_millis(200);
    let result = checks.result("echo 'FAILED a'; sleep 600");
    assert!(!result.passed && result.unknown, "{result:?}");
    assert_eq!(result.ended, "exceeded its time limit");
}

#[test]
fn some_exit_codes_mean_success() {
    let checks = Checks::new();
    let gate = Gate { success_codes: vec![5], ..checks.gate("exit 5") };
    assert!(checks.run(&gate).unwrap().passed);
    let gate = Gate { success_codes: vec![5], ..checks.gate("exit 6") };
    assert!(!checks.run(&gate).unwrap().passed);
    // Even then a failed test counts.
    let gate = Gate { success_codes: vec![5], ..checks.gate("echo 'FAILED a'; exit 5") };
    assert!(!checks.run(&gate).unwrap().passed);
}

#[test]
fn long_lists_of_failed_tests_are_cut_and_marked() {
    let checks = Checks::new();
    let result = checks
        .result("i=0; while [ $i -lt 5100 ]; do echo \"FAILED test $i\"; i=$((i+1)); done; exit 1");
    assert_eq!(result.failed.len(), 5_000);
    assert!(result.unknown);
}

#[test]
fn a_missing_tool_is_an_error() {
    let checks = Checks::new();
    let gate = Gate::new(&Lines, "surely-no-such-program", &[]);
    let error = checks.run(&gate).unwrap_err();
    assert_eq!(
        error.to_string(),
        "gate `surely-no-such-program` needs the program `surely-no-such-program`, which was not found"
    );
    let error = checks.run(&checks.gate("echo no such tool >&2; exit 1")).unwrap_err();
    assert!(matches!(error, GateError::Missing { .. }), "{error}");
    // If it passes, whatever it prints does not matter.
    assert!(checks.run(&checks.gate("echo no such tool >&2")).unwrap().passed);
}

#[test]
fn a_canceled_gate_is_an_error() {
    let checks = Checks::new();
    let gate = checks.gate("sleep 600");
    checks.cancel.cancel();
    let error = checks.run(&gate).unwrap_err();
    assert!(matches!(&error, GateError::Cancelled { gate } if gate == "check"), "{error}");
}

#[test]
fn a_gate_runs_in_its_folder_with_its_arguments() {
    let checks = Checks::new();
    fs_err::create_dir_all(checks.folder.path().join("sub")).unwrap();
    let gate = Gate {
        folder: PathBuf::from("sub"),
        args: vec!["one".into(), "two words".into()],
        ..checks.gate("basename $(pwd); for word in \"$@\"; do echo \"$word\"; done")
    };
    assert_eq!(checks.run(&gate).unwrap().tail, "sub\none\ntwo words");
}

/// Real Go, if it is installed: what it prints for a package that does not compile.
#[test]
fn a_real_package_that_does_not_compile_is_an_unknown_failure() {
    let checks = Checks::new();
    let root = checks.folder.path();
    let cache = root.join("cache");
    for (name, text) in [
        ("go.mod", "module shop\n\ngo 1.18\n"),
        (
            "cart/cart_test.go",
            "package cart\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) { t.Error(\"want 0\") }\n",
        ),
        (
            "broken/b_test.go",
            "package broken\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { nope() }\n",
        ),
    ] {
        let path = root.join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
    let gate = Go
        .detect(&GateFolder { path: root, checkout: root, below: Path::new(""), scratch: root })
        .expect("it has a module file");
    let own = std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME");
    let mut environment = Environment::scrubbed(own, Host::COMMAND, &[]);
    environment.set("GOCACHE", &cache);
    environment.set("GOFLAGS", "-mod=mod");
    let context = GateContext {
        folder: root,
        environment: &environment,
        timeout: Duration::from_secs(300),
        spawn: SpawnId::new("go").unwrap(),
        cancel: &checks.cancel,
    };
    match run_gate(&gate, &context, &mut |_| {}) {
        Err(GateError::Missing { .. }) => {}
        result => {
            let result = result.unwrap();
            assert_eq!(failed(&result), ["shop/cart TestTotal"], "{result:?}");
            assert!(result.unknown, "{result:?}");
        }
    }
}

/// A stage whose only gate is this script.
fn checked(script: &str) -> Stage {
    let mut stage = Stage::new(&["1-1-a"], "");
    stage.env.write("check.sh", script);
    stage.commit("check");
    stage.config.gates.commands = vec![GateCommand {
        name: "check".to_owned(),
        argv: vec!["sh".to_owned(), "check.sh".to_owned()],
        format: GateFormat::Tap,
        report: None,
    }];
    stage
}

fn run(stage: &Stage) -> State {
    stage.run(Pipeline::story(false, Profile::Edit)).1
}

fn gate_lines(state: &State) -> Vec<&'static str> {
    let lines = state.stories[0].lines.iter().filter(|line| line.phase == "gates");
    lines.map(|line| line.verdict).collect()
}

#[test]
fn work_that_breaks_something_is_sent_back_with_what_the_gate_printed() {
    let stage = checked(
        "echo 1..1; if grep -q fixed 1-1-a.txt; then echo ok 1 - a; else echo not ok 1 - a; echo because; exit 1; fi",
    );
    let prompt = stage.env.folder().join("prompt");
    stage.script(&format!(
        "* fix * | echo-prompt {} append 1-1-a.txt fixed print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        prompt.display()
    ));
    stage.env.write("1-1-a.txt", "fixed");
    stage.commit("the base passes");
    let state = run(&stage);
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(gate_lines(&state), ["failed", "passed"]);
    let prompt = fs_err::read_to_string(prompt).unwrap();
    assert!(prompt.contains("- check: a\n") && prompt.contains("because"), "{prompt}");
}

#[test]
fn failures_of_the_base_are_not_blamed_on_the_work() {
    let stage = checked("echo 1..1; echo not ok 1 - old; exit 1");
    let state = run(&stage);
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    assert_eq!(gate_lines(&state), ["passed"]);
    // The base was checked once, and its results are stored.
    let kept = fs_err::read_dir(stage.env.path(".handover/runs/baselines")).unwrap().count();
    assert_eq!(kept, 2, "those of the base and of the commit that follows");
}

#[test]
fn a_failure_without_a_name_is_blamed_on_the_work() {
    let stage = checked("exit 7");
    let state = run(&stage);
    assert_eq!(state.state, RunState::Failed);
    assert!(state.stories[0].reason.contains("check: exit code 7"), "{}", state.stories[0].reason);
    assert_eq!(gate_lines(&state), ["failed", "failed"]);
}

#[test]
fn a_missing_gate_stops_the_run_and_not_the_story() {
    let mut stage = checked("");
    stage.config.gates.commands[0].argv = vec!["surely-no-such-program".to_owned()];
    let state = run(&stage);
    assert_eq!(state.state, RunState::Environment);
    assert!(state.stopped.unwrap().contains("needs the program `surely-no-such-program`"));
    assert_eq!(state.stories[0].state, StoryState::Running);
}

#[test]
fn files_left_by_a_gate_are_not_work() {
    let stage = checked("echo 1..0; echo x > left-behind.txt");
    let state = run(&stage);
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    let files = stage.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(files.contains("1-1-a.txt") && !files.contains("left-behind"), "{files}");
}

#[test]
fn gates_see_a_minimal_environment() {
    let stage = checked("");
    let seen = stage.env.folder().join("gate-env");
    stage.env.write("check.sh", format!("echo 1..0; env > {}", seen.display()));
    stage.commit("another check");
    assert_eq!(run(&stage).state, RunState::Done);
    let text = fs_err::read_to_string(seen).unwrap();
    for line in ["CI=1", "NO_COLOR=1", "CARGO_TERM_COLOR=never", "PYTHONDONTWRITEBYTECODE=1"] {
        assert!(text.lines().any(|other| other == line), "{line} is missing in {text}");
    }
    assert!(!text.contains("HANDOVER_NONCE"), "{text}");
}
