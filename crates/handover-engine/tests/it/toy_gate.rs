//! A kind of gate that only this test knows, added using public interfaces only.

use std::path::Path;
use std::time::Duration;

use handover_agents::{CancelToken, Environment, SpawnId};
use handover_engine::gates::{
    FailedTests, Gate, GateContext, GateFolder, GateKind, GateOutput, detect, new_failures,
    run_gate,
};
use handover_engine::pipeline::Pipeline;
use handover_model::config::GatesConfig;
use handover_model::{Host, Profile, RunState};

use crate::stage::Stage;

/// Runs `toy.sh`, which writes one report per test: its first line is `pass` or `fail`.
struct Toy;

static KINDS: &[&dyn GateKind] = &[&Toy];

impl GateKind for Toy {
    fn id(&self) -> &'static str {
        "toy"
    }

    fn detect(&self, folder: &GateFolder<'_>) -> Option<Gate> {
        let mut gate = folder.has("toy.sh").then(|| Gate::new(&Self, "toy", &["toy.sh"]))?;
        gate.program = "sh".into();
        gate.reports = vec!["out/**/*.toy".into()];
        Some(gate)
    }

    fn parse(&self, output: &GateOutput<'_>) -> FailedTests {
        let mut failed = FailedTests::default();
        for report in output.reports {
            if let Some(("fail", name)) = report.split_once('\n') {
                failed.add(name);
            }
        }
        failed
    }
}

const SCRIPT: &str = "mkdir -p out/a/b out/c\n\
    printf 'fail\\nadds' > out/a/b/1.toy\n\
    printf 'pass\\nsubtracts' > out/c/2.toy\n\
    test -e 1-1-a.txt && grep -q fixed 1-1-a.txt || printf 'fail\\ndivides' > out/c/3.toy\n\
    exit 1\n";

fn path_only() -> Environment {
    let own = std::env::vars_os().filter(|(name, _)| name == "PATH");
    Environment::scrubbed(own, Host::COMMAND, &[])
}

#[test]
fn a_toy_gate_is_detected_run_and_read() {
    let stage = Stage::new(&["1-1-a"], "");
    stage.env.write("sub/toy.sh", SCRIPT);
    stage.env.write("sub/out/stale/9.toy", "fail\nstale");
    let root = stage.env.path("");
    let folder = GateFolder { path: &root, checkout: &root, below: Path::new(""), scratch: &root };
    let gates = detect(KINDS, &folder, &GatesConfig::default());
    assert_eq!(gates.len(), 1);
    assert_eq!(gates[0].name, "toy in sub");
    let environment = path_only();
    let context = GateContext {
        folder: &root,
        environment: &environment,
        timeout: Duration::from_secs(30),
        spawn: SpawnId::new("toy").unwrap(),
        cancel: &CancelToken::default(),
    };
    let result = run_gate(&gates[0], &context, &mut |_| {}).unwrap();
    // The report of an earlier run does not count.
    let failed: Vec<&str> = result.failed.iter().map(String::as_str).collect();
    assert_eq!(failed, ["adds", "divides"]);
    assert!(!result.passed && !result.unknown, "{result:?}");
    let mut base = result.clone();
    base.failed.remove("divides");
    assert_eq!(new_failures(&[result], &[base]), ["toy in sub: divides"]);
}

/// The base fails both tests; the work is only blamed for what it breaks, which is nothing.
#[test]
fn a_toy_gate_guards_a_run() {
    let mut stage = Stage::new(&["1-1-a"], "");
    stage.gates = KINDS;
    stage.env.write("toy.sh", SCRIPT.replace("|| printf", "|| test ! -e 1-1-a.txt || printf"));
    stage.env.write(".gitignore", ".handover\nout\n");
    stage.commit("toy");
    let (_, state) = stage.run(Pipeline::story(false, Profile::Edit));
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0]);
    let gates: Vec<&str> = state.stories[0]
        .lines
        .iter()
        .filter(|line| line.phase == "gates")
        .map(|line| line.verdict)
        .collect();
    // `divides` is new until it is fixed; `adds` fails on the base too.
    assert_eq!(gates, ["failed", "passed"]);
    assert_eq!(stage.git(&["show", "handover/epic-1:1-1-a.txt"]), "workfixed");
}
