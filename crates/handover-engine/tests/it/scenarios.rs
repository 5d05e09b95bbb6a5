//! Acceptance scenarios with real programs: outcomes, order, limits, and what is refused.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use handover_agents::{CancelToken, Environment, SpawnId};
use handover_engine::data::ScenarioResult;
use handover_engine::uat::{Allowed, ScenarioContext, from_value, is_run, run_scenarios};
use handover_model::config::RedactionConfig;
use handover_model::{Host, ScenarioOutcome, UatGate};
use handover_text::Redactor;
use serde_json::{Value, json};

/// A project with programs that look compiled: small executables that are not shell scripts.
struct Project {
    folder: tempfile::TempDir,
    programs: Vec<String>,
    cancel: CancelToken,
}

impl Project {
    /// `python3` with files of the project is a tool that scenarios may use.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project =
            Self { folder, programs: vec!["python3".to_owned()], cancel: CancelToken::default() };
        project.write(
            "app.py",
            "import sys, time, json, pathlib\n\
             for word in sys.argv[1:]:\n\
             \x20   name, _, value = word.partition('=')\n\
             \x20   if name == 'print': print(value)\n\
             \x20   if name == 'err': print(value, file=sys.stderr)\n\
             \x20   if name == 'log': pathlib.Path('log').open('a').write(value + '\\n')\n\
             \x20   if name == 'sleep': time.sleep(float(value))\n\
             \x20   if name == 'exit': sys.exit(int(value))\n",
        );
        project
    }

    fn write(&self, name: &str, text: &str) {
        fs_err::write(self.root().join(name), text).unwrap();
    }

    fn root(&self) -> PathBuf {
        fs_err::canonicalize(self.folder.path()).unwrap()
    }

    fn run(&self, gate: UatGate, scenarios: Value) -> Vec<ScenarioResult> {
        let document = from_value(&scenarios).unwrap();
        let own = std::env::vars_os().filter(|(name, _)| name == "PATH");
        let environment = Environment::scrubbed(own, Host::COMMAND, &[]);
        let path = environment.get("PATH").unwrap_or_default().to_owned();
        let redactor = Redactor::new(&RedactionConfig::default()).unwrap();
        let folder = self.root();
        let context = ScenarioContext {
            allowed: Allowed { programs: &self.programs, folder: &folder, path: &path },
            environment: &environment,
            spawn: SpawnId::new("uat").unwrap(),
            redactor: &redactor,
            cancel: &self.cancel,
        };
        run_scenarios(&document, gate, &context, &mut |_| {}, &mut |_| {}).unwrap()
    }

    fn one(&self, scenario: Value) -> ScenarioResult {
        self.run(UatGate::Quick, json!([scenario])).remove(0)
    }

    fn log(&self) -> String {
        fs_err::read_to_string(self.root().join("log")).unwrap_or_default()
    }
}

fn app(words: &[&str]) -> Vec<String> {
    let own = ["python3", "app.py"].iter().chain(words);
    own.map(|&word| word.to_owned()).collect()
}

fn auto(argv: &[String], expect: Value) -> Value {
    json!({"id": "S1", "criterion": "AC1", "kind": "auto", "argv": argv, "expect": expect})
}

#[test]
fn exit_code_text_and_json_must_match() {
    let project = Project::new();
    let print = app(&["print={\"ok\": true, \"n\": 1}", "err=careful", "exit=3"]);
    let passes = json!({"exit": 3, "text": ["\"ok\"", "careful"], "json": {"ok": true}});
    let result = project.one(auto(&print, passes));
    assert_eq!((result.outcome, result.reason.as_str()), (ScenarioOutcome::Passed, ""));
    for (expect, reason) in [
        (json!({"exit": 0}), "exit code 3 instead of 0"),
        (json!({"exit": 3, "text": "absent"}), "it did not print `absent`"),
        (json!({"exit": 3, "json": {"ok": false}}), "its JSON differs at `/ok`"),
        (json!({"exit": 3, "json": {"n": 2}}), "its JSON differs at `/n`"),
    ] {
        let result = project.one(auto(&print, expect));
        assert_eq!((result.outcome, result.reason.as_str()), (ScenarioOutcome::Failed, reason));
        assert!(result.tail.contains("careful"), "{}", result.tail);
    }
}

#[test]
fn a_program_that_takes_too_long_fails() {
    let project = Project::new();
    let mut slow = auto(&app(&["sleep=30"]), json!({}));
    slow["timeout"] = json!(1);
    let result = project.one(slow);
    assert_eq!(result.reason, "it exceeded its time limit");
    assert!(result.duration_ms < 20_000, "{}", result.duration_ms);
}

#[test]
fn set_up_comes_first_and_clean_up_always_runs() {
    let project = Project::new();
    let scenario = |main: &str, setup: &str| {
        let mut scenario = auto(&app(&["log=main", main]), json!({}));
        scenario["setup"] = json!([app(&["log=setup", setup])]);
        scenario["cleanup"] = json!([app(&["log=cleanup"])]);
        scenario
    };
    assert_eq!(project.one(scenario("exit=0", "exit=0")).outcome, ScenarioOutcome::Passed);
    assert_eq!(project.log(), "setup\nmain\ncleanup\n");
    fs_err::remove_file(project.root().join("log")).unwrap();
    assert_eq!(project.one(scenario("exit=1", "exit=0")).outcome, ScenarioOutcome::Failed);
    assert_eq!(project.log(), "setup\nmain\ncleanup\n");
    fs_err::remove_file(project.root().join("log")).unwrap();
    let result = project.one(scenario("exit=0", "exit=1"));
    assert!(result.reason.starts_with("the set-up `python3 app.py"), "{}", result.reason);
    assert_eq!(project.log(), "setup\ncleanup\n");
}

#[test]
fn a_failing_clean_up_is_reported_and_changes_nothing() {
    let project = Project::new();
    let mut scenario = auto(&app(&[]), json!({}));
    scenario["cleanup"] = json!([app(&["exit=1"])]);
    let result = project.one(scenario);
    assert_eq!(result.outcome, ScenarioOutcome::Passed);
    assert!(result.reason.starts_with("the clean-up"), "{}", result.reason);
}

#[test]
fn everything_is_checked_before_anything_starts() {
    let project = Project::new();
    let mut scenario = auto(&app(&["log=main"]), json!({}));
    scenario["cleanup"] = json!([["bash", "-c", "true"]]);
    let result = project.one(scenario);
    assert_eq!(result.outcome, ScenarioOutcome::Refused);
    assert_eq!(project.log(), "");
}

#[test]
fn code_and_shells_are_refused_whatever_the_allowlist_says() {
    let mut project = Project::new();
    for program in ["bash", "sh", "env", "xargs", "./run"] {
        project.programs.push(program.to_owned());
    }
    project.write("run", "#!/bin/sh\ntrue\n");
    let script = project.root().join("run");
    fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    for argv in [
        vec!["bash", "-c", "true"],
        vec!["env", "true"],
        vec!["xargs", "true"],
        vec!["./run"],
        vec!["python3", "-c", "print(1)"],
        vec!["/bin/true"],
        vec!["../outside"],
        vec!["ls"],
    ] {
        let argv: Vec<String> = argv.into_iter().map(str::to_owned).collect();
        let result = project.one(auto(&argv, json!({})));
        assert_eq!(result.outcome, ScenarioOutcome::Refused, "{argv:?}: {}", result.reason);
        assert!(!result.reason.is_empty());
    }
}

#[test]
fn gates_select_scenarios_by_kind() {
    let project = Project::new();
    let scenarios = json!([
        {"id": "A", "criterion": "1", "kind": "auto", "argv": app(&[])},
        {"id": "S", "criterion": "2", "kind": "semi", "argv": app(&[]), "steps": ["look"]},
        {"id": "M", "criterion": "3", "kind": "manual", "steps": ["look"]},
    ]);
    let run = |gate| -> Vec<ScenarioOutcome> {
        project.run(gate, scenarios.clone()).into_iter().map(|result| result.outcome).collect()
    };
    use ScenarioOutcome::{NotRun, Passed};
    assert_eq!(run(UatGate::Quick), [Passed, NotRun, NotRun]);
    assert_eq!(run(UatGate::Full), [Passed, Passed, NotRun]);
    assert_eq!(run(UatGate::Skip), [NotRun, NotRun, NotRun]);
    let document = from_value(&scenarios).unwrap();
    assert!(!is_run(&document.scenarios[2], UatGate::Full));
}

#[test]
fn nothing_runs_once_the_run_is_cancelled() {
    let project = Project::new();
    project.cancel.cancel();
    let result = project.one(auto(&app(&["log=main"]), json!({})));
    assert_eq!(result.outcome, ScenarioOutcome::NotRun);
    assert_eq!(project.log(), "");
}

#[test]
fn secrets_are_redacted_in_results() {
    let secret = "ghp_a8Fk2LmQ9xWz4TnRvB7cYd1EoUiP3sJhG5tN";
    let project = Project::new();
    let result = project.one(auto(&app(&[&format!("print={secret}"), "exit=1"]), json!({})));
    assert!(!result.tail.contains(secret), "{}", result.tail);
}
