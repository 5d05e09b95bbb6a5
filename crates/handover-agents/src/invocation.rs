//! What is to be run, and within which limits.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use handover_model::{AdmittedPrompt, Host, Profile};

use crate::{AgentError, Environment, adapters};

/// One run of an agent program.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Whose program it is: decides the arguments and how the output is read.
    pub host: Host,
    /// The program: a name that is looked up in the environment's `PATH`, or a path. A relative
    /// path counts from `folder`.
    pub program: PathBuf,
    /// Arguments besides those that the adapter gives; for host `command`, all of them.
    pub args: Vec<OsString>,
    /// Where the agent works.
    pub folder: PathBuf,
    /// What it reads on standard input. Only a supervised tool of host `command` goes without.
    pub prompt: Option<AdmittedPrompt>,
    /// All that it sees of the environment.
    pub environment: Environment,
    /// What it may do. Host `command` has no way to be told: the caller must know its program.
    pub profile: Profile,
    /// The model, where the program can be told.
    pub model: Option<String>,
    /// The session to go on with, as an earlier [`Report::host_session`](crate::Report) named it;
    /// without one the agent starts fresh. Host `command` has no sessions.
    pub resume: Option<String>,
    /// Where the run ends.
    pub limits: Limits,
    /// The mark by which every process of this run is known.
    pub spawn: SpawnId,
}

impl Invocation {
    /// A run that may only look, with the host's usual program, no prompt and an empty
    /// environment.
    pub fn new(host: Host, spawn: SpawnId, folder: impl Into<PathBuf>) -> Self {
        Self {
            host,
            program: adapters::default_program(host).into(),
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

/// Where a run ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// The longest run.
    pub wall: Option<Duration>,
    /// The longest silence on both streams.
    pub idle: Option<Duration>,
    /// How long a process may clean up after it was asked to end. A cancelled run has at most
    /// half a second of it: somebody is waiting.
    pub grace: Duration,
    /// How much of each stream is kept in memory; of a longer one, the beginning and the end.
    pub output_cap: usize,
    /// How much may be printed at all before the run is ended.
    pub flood: Option<u64>,
    /// The most turns of the model, where the program can be told.
    pub turns: Option<u32>,
    /// The most money, where the program can be told.
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
