//! What to run, and within which limits.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use handover_model::{AdmittedPrompt, Host, Profile};

use crate::{AgentError, Environment};

/// One run of an agent program.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The agent program: decides the arguments and how the output is read.
    pub host: Host,
    /// The executable: a name that is looked up in the environment's `PATH`, or a path. A relative
    /// path counts from `folder`; an empty one stands for the host's usual program.
    pub program: PathBuf,
    /// Arguments besides those that the adapter gives; for host `command`, all of them.
    pub args: Vec<OsString>,
    /// Where the agent works.
    pub folder: PathBuf,
    /// What the agent reads on standard input; a tool reads nothing.
    pub prompt: Option<AdmittedPrompt>,
    /// Its whole environment.
    pub environment: Environment,
    /// What it may do. Host `command` cannot be restricted: the caller must know its program.
    pub profile: Profile,
    /// The model, where the program has a choice.
    pub model: Option<String>,
    /// The conversation to resume, from an earlier [`Report::host_session`](crate::Report); without one
    /// the agent starts fresh. Host `command` has none.
    pub resume: Option<String>,
    /// When to end the run.
    pub limits: Limits,
    /// The mark by which every process of this run is known.
    pub spawn: SpawnId,
}

impl Invocation {
    /// A read-only run with the host's usual program, no prompt and an empty environment.
    pub fn new(host: Host, spawn: SpawnId, folder: impl Into<PathBuf>) -> Self {
        Self {
            host,
            program: PathBuf::new(),
            args: Vec::new(),
            folder: folder.into(),
            prompt: None,
            environment: Environment::default(),
            profile: Profile::ReadOnly,
            model: None,
            resume: None,
            limits: Limits::default(),
            spawn,
        }
    }
}

/// When a run is ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// The longest duration.
    pub wall: Option<Duration>,
    /// The longest time without output on either stream.
    pub idle: Option<Duration>,
    /// How long a process may clean up after SIGTERM. A cancelled run has at most half a second:
    /// somebody is waiting.
    pub grace: Duration,
    /// How much of each stream is kept in memory; of a longer one, the beginning and the end.
    pub output_cap: usize,
    /// How much output ends the run.
    pub flood: Option<u64>,
    /// The most turns of the model, where the program can limit them.
    pub turns: Option<u32>,
    /// The highest cost, where the program can limit it.
    pub cost_usd: Option<f64>,
}

impl Default for Limits {
    /// No limit of time, turns or money: those are the caller's to set.
    fn default() -> Self {
        Self {
            wall: None,
            idle: None,
            grace: Duration::from_secs(5),
            output_cap: 4 << 20,
            flood: Some(1 << 30),
            turns: None,
            cost_usd: None,
        }
    }
}

/// The mark of a run: every process of it carries the mark in its environment, so that whatever
/// is left after a crash can be found, even if the crash came before anything was written down.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SpawnId(String);

impl SpawnId {
    /// The variable that carries the mark. Nested runs add theirs behind a colon.
    pub const VARIABLE: &str = "HANDOVER_SPAWN";

    /// A mark; unique is for the caller to make it.
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
    fn a_new_invocation_may_change_nothing_and_sees_nothing() {
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
