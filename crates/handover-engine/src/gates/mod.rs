//! Gates: the project's own test tools decide whether work is good.
//!
//! A failure counts as new unless the same test is known to fail on the base. Failures that cannot be
//! identified (a crash, a compiler error, output without test names) always count.
//!
//! A kind of gate is one file that implements [`GateKind`] and one line of [`BUILT_IN`].

mod baseline;
mod cargo;
mod command;
mod detect;
mod format;
mod go;
mod gradle;
mod javascript;
mod kind;
mod maven;
mod own_code;
mod pytest;
mod reports;
#[cfg(test)]
mod testing;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{
    AgentError, AgentEvent, CancelToken, Ended, Environment, Invocation, Outcome, SpawnId, run_tool,
};
use handover_model::Host;
use serde::{Deserialize, Serialize};

pub use baseline::Baselines;
pub use cargo::Cargo;
pub use detect::detect;
pub use go::Go;
pub use gradle::Gradle;
pub use javascript::JavaScript;
pub use kind::{FailedTests, GateFolder, GateKind, GateOutput};
pub use maven::Maven;
pub use own_code::{OwnCode, Redirected, Redirection, Variables};
pub use pytest::Pytest;

/// Every kind of gate that is detected, in the order in which gates run.
pub const BUILT_IN: &[&dyn GateKind] = &[&Cargo, &JavaScript, &Pytest, &Go, &Gradle, &Maven];

/// One tool to be run in one folder.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The kind, which reads its output.
    pub kind: &'static dyn GateKind,
    /// The name in reports.
    pub name: String,
    /// The folder to run it in, relative to the project.
    pub folder: PathBuf,
    /// The program: a name, or a path relative to the folder.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The report files that it writes: paths relative to the folder, or patterns with `*` and `**`.
    pub reports: Vec<PathBuf>,
    /// Other exit codes than 0 that mean success.
    pub success_codes: Vec<i32>,
    /// The command as a person would type it, without options for reports.
    pub typed: String,
}

impl Gate {
    /// A gate named after its program, without report files.
    pub fn new(kind: &'static dyn GateKind, name: &str, args: &[&str]) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            folder: PathBuf::new(),
            program: name.into(),
            args: args.iter().map(Into::into).collect(),
            reports: Vec::new(),
            success_codes: Vec::new(),
            typed: typed(name, args),
        }
    }

    /// The command as a permission of an agent program; none if it could mean anything else.
    pub fn rule(&self) -> Option<String> {
        const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "env", "xargs", "sudo"];
        let program = self.typed.split([' ', '/']).take_while(|word| !word.is_empty()).next();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " ._/@=+-".contains(c);
        let is_narrow = self.typed.contains(' ') && !SHELLS.contains(&program.unwrap_or_default());
        (is_narrow && self.typed.chars().all(is_plain)).then(|| self.typed.clone())
    }

    /// The command with its folder, for people and agents.
    pub fn shown(&self) -> String {
        if self.folder.as_os_str().is_empty() {
            return self.typed.clone();
        }
        format!("{} (in {})", self.typed, self.folder.display())
    }
}

/// A program and the arguments before its first option.
fn typed(program: &str, args: &[&str]) -> String {
    let words = args.iter().take_while(|arg| !arg.starts_with('-'));
    words.fold(program.to_owned(), |line, word| format!("{line} {word}"))
}

/// Folders outside of the worktree that these gates write to. They are created, since a program that confines its
/// agent can only let it write to what is there.
pub fn caches(gates: &[Gate], environment: &Environment) -> Vec<PathBuf> {
    let mut caches: Vec<PathBuf> =
        gates.iter().flat_map(|gate| gate.kind.caches(environment)).collect();
    caches.sort();
    caches.dedup();
    caches.retain(|folder| folder.is_absolute() && fs_err::create_dir_all(folder).is_ok());
    caches
}

/// The result of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateResult {
    /// The gate's name.
    pub name: String,
    /// Whether it succeeded and reported no failed test.
    pub passed: bool,
    /// The names of failed tests.
    pub failed: BTreeSet<String>,
    /// Whether there was a failure without a name.
    pub unknown: bool,
    /// How the program ended, for people.
    pub ended: String,
    /// The end of its output, not redacted.
    pub tail: String,
    /// How many tests ran, if the tool says so.
    #[serde(default)]
    pub ran: Option<u64>,
}

/// What gates run with.
pub struct GateContext<'a> {
    /// The project's folder, usually in a worktree.
    pub folder: &'a Path,
    /// The environment that they see.
    pub environment: &'a Environment,
    /// How long one gate may take.
    pub timeout: Duration,
    /// The marker of their processes.
    pub spawn: SpawnId,
    /// Stops them.
    pub cancel: &'a CancelToken,
}

/// Why a gate has no result.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The tool is not installed.
    #[error("gate `{gate}` needs {what}, which was not found")]
    Missing {
        /// The gate.
        gate: String,
        /// What is missing, such as ``the program `npm` ``.
        what: String,
    },
    /// It fails before any agent has worked, and names no test that could be compared.
    #[error("gate `{gate}` fails before any work, without naming a test ({ended}):\n{tail}{}", first(install.as_ref()))]
    Broken {
        /// The gate.
        gate: String,
        /// The command that installs what it needs, if that was never done.
        install: Option<String>,
        /// How it ended.
        ended: String,
        /// The end of its output.
        tail: String,
    },
    /// It passes in the user's checkout and fails in a fresh worktree of the same commit.
    #[error(
        "gate `{gate}` passes in your checkout and fails in a fresh worktree of the same commit{}: something \
         that it needs is not committed, or is installed where a worktree does not find it:\n{tail}",
        named(tests)
    )]
    OnlyInCheckout {
        /// The gate.
        gate: String,
        /// The tests that pass only there, as far as they have names.
        tests: Vec<String>,
        /// The end of its output in the worktree.
        tail: String,
    },
    /// It would check the user's checkout, or what was installed from it, instead of the worktree.
    #[error("gates would check the checkout instead of the worktree: {what} leads to `{}`", place.display())]
    Elsewhere {
        /// What leads there.
        what: String,
        /// Where it leads.
        place: PathBuf,
    },
    /// It passes although nothing in its worktree can pass, so that it checks code elsewhere.
    #[error("gate `{gate}` does not check the worktree: it passes{} although every file there was damaged{}", tests(*ran), led(leads.as_ref()))]
    IgnoresWorktree {
        /// The gate.
        gate: String,
        /// How many tests ran, if it says so.
        ran: Option<u64>,
        /// What leads to the user's checkout, and where.
        leads: Option<(&'static str, PathBuf)>,
    },
    /// It was stopped from outside.
    #[error("gate `{gate}` was stopped")]
    Cancelled {
        /// The gate.
        gate: String,
    },
    /// It could not be started or supervised.
    #[error("gate `{gate}` could not be run")]
    Agent {
        /// The gate.
        gate: String,
        /// The error of the supervisor.
        #[source]
        source: AgentError,
    },
}

fn first(install: Option<&String>) -> String {
    install.map(|command| format!("\n`{command}` first?")).unwrap_or_default()
}

fn tests(ran: Option<u64>) -> String {
    ran.map(|ran| format!(" ({ran} of its tests ran)")).unwrap_or_default()
}

fn led(leads: Option<&(&'static str, PathBuf)>) -> String {
    leads
        .map(|(what, place)| format!(", and {what} leads to `{}`", place.display()))
        .unwrap_or_default()
}

fn named(tests: &[String]) -> String {
    const SHOWN: usize = 5;
    match tests.len() {
        0 => String::new(),
        count if count > SHOWN => {
            format!(" ({} and {} more)", tests[..SHOWN].join(", "), count - SHOWN)
        }
        _ => format!(" ({})", tests.join(", ")),
    }
}

/// How much of a gate's output is returned: more than is kept, because it must be redacted before it is
/// cut, so that a secret is recognized by its beginning.
const TAIL: usize = 256 << 10;
/// How many failed tests are listed by name.
const MAX_FAILED: usize = 5_000;

/// Runs one gate. No process it started outlives it.
pub fn run_gate(
    gate: &Gate,
    context: &GateContext<'_>,
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<GateResult, GateError> {
    let folder = context.folder.join(&gate.folder);
    let mut invocation = Invocation::new(Host::COMMAND, context.spawn.clone(), &folder);
    invocation.program.clone_from(&gate.program);
    invocation.args.clone_from(&gate.args);
    invocation.environment = context.environment.clone();
    invocation.limits.wall = Some(context.timeout);
    reports::clear(&folder, &gate.reports);
    let name = || gate.name.clone();
    let outcome = run_tool(&invocation, on_event, context.cancel).map_err(|source| {
        if let AgentError::ProgramNotFound { program, .. } = source {
            let what = format!("the program `{}`", program.display());
            GateError::Missing { gate: name(), what }
        } else {
            GateError::Agent { gate: name(), source }
        }
    })?;
    if outcome.ended == Ended::Cancelled {
        return Err(GateError::Cancelled { gate: name() });
    }
    // Names of tests must be the same in every worktree.
    let own = own_paths(context.folder);
    let (stdout, stderr) =
        (without(&own, outcome.stdout.text()), without(&own, outcome.stderr.text()));
    let reports = reports::read(&folder, &gate.reports);
    let reports: Vec<String> = reports.into_iter().map(|text| without(&own, text)).collect();
    let output = GateOutput { stdout: &stdout, stderr: &stderr, reports: &reports };
    let result = judge(gate, &output, &outcome);
    if let Some(what) = gate.kind.missing(&output).filter(|_| !result.passed) {
        return Err(GateError::Missing { gate: name(), what });
    }
    Ok(result)
}

/// A folder as tools may print it, with a slash at its end.
fn own_paths(folder: &Path) -> Vec<String> {
    let real = fs_err::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let mut paths = vec![format!("{}/", folder.display()), format!("{}/", real.display())];
    paths.dedup();
    paths
}

/// A text with paths relative to a folder.
fn without(own: &[String], mut text: String) -> String {
    for path in own {
        // `file:///x/a.js` becomes `file://a.js`, which is the same everywhere, too.
        if text.contains(path.as_str()) {
            text = text.replace(path.as_str(), "");
        }
    }
    text
}

fn judge(gate: &Gate, output: &GateOutput<'_>, outcome: &Outcome) -> GateResult {
    let mut failed = gate.kind.parse(output);
    if failed.names.len() > MAX_FAILED {
        failed.unknown = true;
        failed.names = std::mem::take(&mut failed.names).into_iter().take(MAX_FAILED).collect();
    }
    let is_success = |code: i32| code == 0 || gate.success_codes.contains(&code);
    let passed = outcome.exit_code().is_some_and(is_success) && failed.names.is_empty();
    let is_truncated = outcome.stdout.left_out() > 0 || outcome.stderr.left_out() > 0;
    let was_killed = outcome.exit_code().is_none();
    let is_unnamed = failed.names.is_empty() || failed.unknown;
    GateResult {
        name: gate.name.clone(),
        passed,
        unknown: !passed && (is_unnamed || is_truncated || was_killed),
        failed: failed.names,
        ended: match outcome.ended {
            Ended::Exited(code) => format!("exit code {code}"),
            Ended::Signalled(signal) => format!("signal {signal}"),
            Ended::WallTimeout => "exceeded its time limit".to_owned(),
            Ended::IdleTimeout => "was silent for too long".to_owned(),
            Ended::OutputFlood => "printed too much".to_owned(),
            Ended::OverLimit(_) | Ended::Cancelled => "was stopped".to_owned(),
        },
        tail: tail(output.stdout, output.stderr),
        ran: failed.ran,
    }
}

/// What ran far fewer tests than on the base: fewer than half.
pub fn far_fewer(now: &[GateResult], base: &[GateResult]) -> Vec<String> {
    let line = |now: &GateResult| {
        let before = base.iter().find(|before| before.name == now.name)?.ran?;
        let ran = now.ran.unwrap_or_default();
        // A tool that could not say how many ran is not one that ran none.
        let is_known = now.ran.is_some() || now.passed;
        (is_known && ran * 2 < before).then(|| {
            format!("gate `{}` ran {ran} of the {before} tests that ran on the base", now.name)
        })
    };
    now.iter().filter_map(line).collect()
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

/// Failures that the base does not have, gate by gate. `base` may lack a gate that is new.
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
            ran: None,
        }
    }

    #[test]
    fn far_fewer_tests_are_noticed() {
        let ran = |ran| GateResult { ran, ..result(&[], false) };
        let line = |now, base| far_fewer(&[ran(now)], &[ran(base)]);
        assert_eq!(
            line(Some(3), Some(12)),
            ["gate `t` ran 3 of the 12 tests that ran on the base"]
        );
        assert_eq!(line(None, Some(12)).len(), 1, "none at all");
        assert!(line(Some(6), Some(12)).is_empty());
        assert!(line(Some(6), None).is_empty());
        assert!(far_fewer(&[ran(Some(0))], &[]).is_empty());
    }

    #[test]
    fn paths_are_relative_to_the_worktree() {
        let folder = tempfile::tempdir().unwrap();
        let own = own_paths(folder.path());
        let text = format!("not ok 1 - {0}/a.test.js\n{0}-other/b", folder.path().display());
        let other = format!("{}-other/b", folder.path().display());
        assert_eq!(without(&own, text), format!("not ok 1 - a.test.js\n{other}"));
    }

    #[test]
    fn only_failures_that_the_base_lacks_are_new() {
        let none: &[GateResult] = &[];
        assert!(new_failures(&[result(&[], false)], none).is_empty());
        assert_eq!(new_failures(&[result(&["a", "b"], false)], &[result(&["a"], false)]), ["t: b"]);
        assert_eq!(new_failures(&[result(&["a"], false)], none), ["t: a"]);
    }

    #[test]
    fn unnamed_failures_are_always_new() {
        assert_eq!(
            new_failures(&[result(&["a"], true)], &[result(&["a"], true)]),
            ["t: exit code 1"]
        );
    }

    #[test]
    fn the_tail_keeps_the_end_of_both_streams() {
        let (out, err) = (format!("{}OUT", "x".repeat(TAIL)), format!("{}ERR", "y".repeat(TAIL)));
        let both = tail(&out, &err);
        assert!(both.contains("OUT") && both.ends_with("ERR"));
        assert!(both.len() <= TAIL + 1);
        assert_eq!(tail("  \n", "only"), "only");
        assert_eq!(tail("only", ""), "only");
        assert_eq!(tail(&"é".repeat(TAIL), "").len(), TAIL);
    }

    #[test]
    fn kinds_have_unique_ids() {
        let ids: BTreeSet<&str> = BUILT_IN.iter().map(|kind| kind.id()).collect();
        assert_eq!(ids.len(), BUILT_IN.len());
    }
}
