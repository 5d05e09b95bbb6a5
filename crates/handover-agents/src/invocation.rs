//! What to run, and within which limits.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use handover_model::{AdmittedPrompt, Host, Profile};

use crate::{AgentError, Databases, Environment, Outcome, Total};

/// One run of an agent program.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The agent program: decides the arguments and how the output is read.
    pub host: Host,
    /// The executable: a name to look up in the environment's `PATH`, or a path. A relative path is relative to
    /// `folder`; an empty one means the host's default program.
    pub program: PathBuf,
    /// Arguments in addition to the adapter's; for host `command`, all of them.
    pub args: Vec<OsString>,
    /// Where the agent works.
    pub folder: PathBuf,
    /// The prompt for standard input; a tool has none.
    pub prompt: Option<AdmittedPrompt>,
    /// Its whole environment.
    pub environment: Environment,
    /// Its permissions. Host `command` cannot be restricted: the caller must know its program.
    pub profile: Profile,
    /// Shell commands that it may run without being asked, such as `npm test`, if it may edit at all.
    pub commands: Vec<String>,
    /// Folders besides its own that the commands it runs may write to, such as a shared build folder.
    pub writable: Vec<PathBuf>,
    /// The model, if the program offers a choice.
    pub model: Option<String>,
    /// The conversation to resume, from an earlier [`Report::host_session`](crate::Report); without one the
    /// agent starts fresh. Host `command` has no conversations.
    pub resume: Option<String>,
    /// What the program had counted when the resumed conversation was last left, from an earlier
    /// [`Report::total`](crate::Report): some versions go on counting from there.
    pub before: Total,
    /// Reads what the program keeps in a database; without it, that does not count.
    pub databases: Option<&'static dyn Databases>,
    /// When to stop the run.
    pub limits: Limits,
    /// The marker that identifies every process of this run.
    pub spawn: SpawnId,
}

impl Invocation {
    /// A read-only run with the host's default program, no prompt and an empty environment.
    pub fn new(host: Host, spawn: SpawnId, folder: impl Into<PathBuf>) -> Self {
        Self {
            host,
            program: PathBuf::new(),
            args: Vec::new(),
            folder: folder.into(),
            prompt: None,
            environment: Environment::default(),
            profile: Profile::ReadOnly,
            commands: Vec::new(),
            writable: Vec::new(),
            model: None,
            resume: None,
            before: Total::default(),
            databases: None,
            limits: Limits::default(),
            spawn,
        }
    }

    /// The same agent, asked once more in the conversation that `first` was; None if that has no id. Both
    /// share one limit on cost.
    pub fn follow_up(&self, first: &Outcome, prompt: AdmittedPrompt) -> Option<Self> {
        let resume = Some(first.report.host_session.clone()?);
        let mut again =
            Self { prompt: Some(prompt), resume, before: first.report.total, ..self.clone() };
        let spent = first.report.cost_usd.unwrap_or_default();
        again.limits.cost_usd =
            self.limits.cost_usd.map(|most| (most - spent).max(Limits::LEAST_USD));
        Some(again)
    }
}

/// When a run is stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// The longest duration.
    pub wall: Option<Duration>,
    /// The longest time without output on either stream.
    pub idle: Option<Duration>,
    /// How long a process may take to clean up after SIGTERM. A canceled run gets at most half a second,
    /// because someone is waiting for it.
    pub grace: Duration,
    /// How much of each stream is kept in memory: the beginning and the end of a longer one.
    pub output_cap: usize,
    /// The amount of output that stops the run.
    pub flood: Option<u64>,
    /// The maximum number of model turns. This limit and the next two are passed to programs that can keep
    /// them; others are stopped once they report more.
    pub turns: Option<u32>,
    /// The maximum cost.
    pub cost_usd: Option<f64>,
    /// The maximum number of tokens, in and out.
    pub tokens: Option<u64>,
}

impl Limits {
    /// Programs refuse a limit of nothing.
    const LEAST_USD: f64 = 0.000_1;
}

impl Default for Limits {
    /// No limit on time, turns or cost: those are up to the caller.
    fn default() -> Self {
        Self {
            wall: None,
            idle: None,
            grace: Duration::from_secs(5),
            output_cap: 4 << 20,
            flood: Some(1 << 30),
            turns: None,
            cost_usd: None,
            tokens: None,
        }
    }
}

/// The marker of a run. Every process of the run has it in its environment, so that orphans can be found after
/// a crash, even if nothing had been recorded yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SpawnId(String);

impl SpawnId {
    /// The variable that carries the marker. Nested runs append theirs after a colon.
    pub const VARIABLE: &str = "HANDOVER_SPAWN";

    /// Validates a marker; the caller must make it unique.
    pub fn new(value: impl Into<String>) -> Result<Self, AgentError> {
        let value = value.into();
        let fits = (1..=128).contains(&value.len())
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if fits { Ok(Self(value)) } else { Err(AgentError::SpawnId { value }) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SpawnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_invocation_is_read_only_with_an_empty_environment() {
        let invocation = Invocation::new(Host::CLAUDE, SpawnId::new("s-1").unwrap(), "/project");
        assert_eq!(invocation.profile, Profile::ReadOnly);
        assert_eq!(invocation.environment.iter().count(), 0);
        assert!(invocation.prompt.is_none() && invocation.resume.is_none());
        assert_eq!(invocation.program, PathBuf::new(), "the host's usual program");
    }

    #[test]
    fn limits_are_the_callers_except_for_memory_and_floods() {
        let Limits { wall, idle, turns, cost_usd, output_cap, flood, .. } = Limits::default();
        assert_eq!((wall, idle, turns, cost_usd), (None, None, None, None));
        assert_eq!((output_cap, flood), (4 << 20, Some(1 << 30)));
    }

    #[test]
    fn spawn_ids_survive_an_environment_variable() {
        for id in ["a", "r_01-x.2", &"x".repeat(128)] {
            assert_eq!(SpawnId::new(id).unwrap().as_str(), id);
        }
        for id in ["", "a b", "a:b", "a=b", "ü", &"x".repeat(129)] {
            let error = SpawnId::new(id).unwrap_err().to_string();
            assert!(error.contains("is not a spawn id"), "{error}");
        }
    }
}
