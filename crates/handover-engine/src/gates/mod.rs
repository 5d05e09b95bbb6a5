//! Gates: the project's own tools say whether the work holds.
//!
//! A failure counts as new unless the same test is known to fail on the base. What cannot be told
//! apart (a crash, a compiler error, an output without names) is a failure.

mod baseline;
mod detect;
mod parse;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{
    AgentError, AgentEvent, CancelToken, Ended, Environment, Invocation, Outcome, SpawnId, run,
};
use handover_model::{GateFormat, Host};
use serde::{Deserialize, Serialize};

pub use baseline::Baselines;
pub use detect::detect;
pub use parse::{Parsed, parse};

/// One tool to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// What it is called in reports.
    pub name: String,
    /// Where it is run, from the project's folder.
    pub folder: PathBuf,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// How it says which tests failed.
    pub format: GateFormat,
    /// The file that it writes, for `junit`.
    pub report: Option<PathBuf>,
    /// Exit codes besides 0 that mean success: pytest's word for "no tests".
    pub fine: Vec<i32>,
}

/// What a gate said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateResult {
    /// The gate.
    pub name: String,
    /// Whether all is well.
    pub passed: bool,
    /// The tests that failed, as far as it says.
    pub failed: BTreeSet<String>,
    /// Whether something failed that has no name.
    pub unknown: bool,
    /// How it ended, in words.
    pub ended: String,
    /// The end of what it printed.
    pub tail: String,
}

/// How gates are run.
pub struct Setting<'a> {
    /// Where.
    pub folder: &'a Path,
    /// What they see of the environment.
    pub environment: &'a Environment,
    /// The longest one.
    pub timeout: Duration,
    /// The mark of their processes.
    pub spawn: SpawnId,
    /// Who stops them.
    pub cancel: &'a CancelToken,
}

/// Why a gate has no result.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The tool is not installed.
    #[error("gate `{gate}` needs the program `{}`, which was not found", program.display())]
    Missing {
        /// The gate.
        gate: String,
        /// The program.
        program: PathBuf,
    },
    /// It was stopped from outside.
    #[error("gate `{gate}` was stopped")]
    Cancelled {
        /// The gate.
        gate: String,
    },
    /// It could not be run.
    #[error("gate `{gate}` could not be run")]
    Agent {
        /// The gate.
        gate: String,
        /// Why.
        #[source]
        source: AgentError,
    },
}

/// How much of a gate's output is kept to be shown.
const TAIL: usize = 6_000;

/// Runs one gate. Nothing that it starts stays behind.
pub fn run_gate(
    gate: &Gate,
    setting: &Setting<'_>,
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<GateResult, GateError> {
    let folder = setting.folder.join(&gate.folder);
    let mut invocation = Invocation::new(Host::COMMAND, setting.spawn.clone(), &folder);
    invocation.program.clone_from(&gate.program);
    invocation.args.clone_from(&gate.args);
    invocation.environment = setting.environment.clone();
    invocation.limits.wall = Some(setting.timeout);
    if let Some(report) = &gate.report {
        // An old report must not speak for a new run.
        let _ = fs_err::remove_file(folder.join(report));
    }
    let outcome = run(&invocation, None, on_event, setting.cancel).map_err(|source| {
        let gate = gate.name.clone();
        if let AgentError::ProgramNotFound { program, .. } = source {
            GateError::Missing { gate, program }
        } else {
            GateError::Agent { gate, source }
        }
    })?;
    if outcome.ended == Ended::Cancelled {
        return Err(GateError::Cancelled { gate: gate.name.clone() });
    }
    let result = judge(gate, &folder, &outcome);
    if !result.passed && result.tail.contains("No module named pytest") {
        let program = gate.program.clone();
        return Err(GateError::Missing { gate: gate.name.clone(), program });
    }
    Ok(result)
}

fn judge(gate: &Gate, folder: &Path, outcome: &Outcome) -> GateResult {
    let (stdout, stderr) = (outcome.stdout.text(), outcome.stderr.text());
    let report = gate.report.as_ref().map(|report| fs_err::read_to_string(folder.join(report)));
    let parsed = parse(gate.format, &stdout, &stderr, report.and_then(Result::ok).as_deref());
    let fine = outcome.exit_code().is_some_and(|code| code == 0 || gate.fine.contains(&code));
    let passed = fine && parsed.failed.is_empty();
    let lost = outcome.stdout.left_out() > 0 || outcome.stderr.left_out() > 0;
    let odd_end = outcome.exit_code().is_none();
    GateResult {
        name: gate.name.clone(),
        passed,
        unknown: !passed && (parsed.failed.is_empty() || parsed.unknown || lost || odd_end),
        failed: parsed.failed,
        ended: match outcome.ended {
            Ended::Exited(code) => format!("exit code {code}"),
            Ended::Signalled(signal) => format!("signal {signal}"),
            Ended::WallTimeout => "ran into its time limit".to_owned(),
            Ended::IdleTimeout => "was silent for too long".to_owned(),
            Ended::OutputFlood => "printed too much".to_owned(),
            Ended::Cancelled => "was stopped".to_owned(),
        },
        tail: tail(&stdout, &stderr),
    }
}

/// The end of both streams.
fn tail(stdout: &str, stderr: &str) -> String {
    let end = |text: &str, most: usize| {
        let from = text.ceil_char_boundary(text.len().saturating_sub(most));
        text[from..].trim().to_owned()
    };
    match (stdout.trim().is_empty(), stderr.trim().is_empty()) {
        (true, _) => end(stderr, TAIL),
        (_, true) => end(stdout, TAIL),
        _ => format!("{}\n{}", end(stdout, TAIL * 2 / 3), end(stderr, TAIL / 3)),
    }
}

/// What is worse than on the base, gate by gate; `base` may lack a gate that is new.
pub fn new_failures(now: &[GateResult], base: &[GateResult]) -> Vec<String> {
    let mut new = Vec::new();
    for gate in now.iter().filter(|gate| !gate.passed) {
        let before = base.iter().find(|before| before.name == gate.name);
        let known = |test: &String| before.is_some_and(|before| before.failed.contains(test));
        new.extend(
            gate.failed
                .iter()
                .filter(|test| !known(test))
                .map(|test| format!("{}: {test}", gate.name)),
        );
        if gate.unknown {
            new.push(format!("{}: {}", gate.name, gate.ended));
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(failed: &[&str], unknown: bool) -> GateResult {
        GateResult {
            name: "t".to_owned(),
            passed: failed.is_empty() && !unknown,
            failed: failed.iter().map(|&test| test.to_owned()).collect(),
            unknown,
            ended: "exit code 1".to_owned(),
            tail: String::new(),
        }
    }

    #[test]
    fn new_is_what_did_not_fail_before_and_what_nobody_can_name() {
        let none: &[GateResult] = &[];
        assert!(new_failures(&[result(&[], false)], none).is_empty());
        assert_eq!(new_failures(&[result(&["a", "b"], false)], &[result(&["a"], false)]), ["t: b"]);
        assert_eq!(new_failures(&[result(&["a"], false)], none), ["t: a"]);
        assert_eq!(
            new_failures(&[result(&["a"], true)], &[result(&["a"], true)]),
            ["t: exit code 1"]
        );
    }
}
