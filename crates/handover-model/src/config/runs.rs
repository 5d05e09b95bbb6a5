//! Runs: pipeline, gates, acceptance tests, budgets.

use serde::{Deserialize, Serialize};

use crate::{GateFormat, Host, PipelineName, Profile, UatGate};

/// `[runs]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunsConfig {
    /// The pipeline a story goes through.
    pub pipeline: PipelineName,
    /// The agent program.
    pub host: Option<Host>,
    /// For host `command`: the program and its arguments.
    pub command: Option<String>,
    /// The model, if the program lets one choose.
    pub model: Option<String>,
    /// Folders of stories, instead of the usual ones.
    pub stories: Vec<String>,
    /// Folders of epics, instead of the usual ones.
    pub epics: Vec<String>,
    /// What a developer may do; a reviewer may only read.
    pub profile: Profile,
    /// Environment variables that agents and gates see in addition to the usual ones; a trailing `*` matches
    /// any suffix.
    pub env: Vec<String>,
    /// How many stories are worked on concurrently.
    pub parallel: u32,
    /// The git remote through which several machines share a run; `None` for a single machine.
    pub remote: Option<String>,
    /// With `remote`: seconds of silence after which other machines take over.
    pub lease: u64,
    /// The longest phase, in seconds.
    pub phase_timeout: u64,
    /// The longest time without output of an agent, in seconds.
    pub idle_timeout: u64,
    /// How many times the findings of gates and reviews are fixed before a story is abandoned.
    pub max_fixes: u32,
    /// Whether a run ends with a retrospective and a handoff to the next epic.
    pub retro: bool,
    /// Whether an agent analyzes a failure before the story is abandoned.
    pub analysis: bool,
    /// How many times a story is restarted because an analysis found something new.
    pub max_retries: u32,
    /// A larger file is not committed.
    pub max_file_bytes: u64,
    /// A larger change is not committed.
    pub max_commit_bytes: u64,
}

impl Default for RunsConfig {
    fn default() -> Self {
        Self {
            pipeline: PipelineName::default(),
            host: None,
            command: None,
            model: None,
            stories: Vec::new(),
            epics: Vec::new(),
            profile: Profile::Edit,
            env: Vec::new(),
            parallel: 1,
            remote: None,
            lease: 60,
            phase_timeout: 3_600,
            idle_timeout: 900,
            max_fixes: 3,
            retro: false,
            analysis: false,
            max_retries: 1,
            max_file_bytes: 5_000_000,
            max_commit_bytes: 50_000_000,
        }
    }
}

/// `[gates]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GatesConfig {
    /// Whether the project's own test tools are detected and used.
    pub detect: bool,
    /// Additional commands.
    pub commands: Vec<GateCommand>,
    /// The longest gate, in seconds.
    pub timeout: u64,
}

impl Default for GatesConfig {
    fn default() -> Self {
        Self { detect: true, commands: Vec::new(), timeout: 1_800 }
    }
}

/// A command of `[gates]`, executed without a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateCommand {
    /// Its name in reports.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How its output reports which tests failed.
    #[serde(default = "no_format")]
    pub format: GateFormat,
    /// For `junit`: the file it writes, relative to the project.
    #[serde(default)]
    pub report: Option<String>,
}

fn no_format() -> GateFormat {
    GateFormat::None
}

/// `[uat]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UatConfig {
    /// The only programs that scenarios may start: names, or project paths starting with `./`. Default:
    /// the project's own tools.
    pub allow: Option<Vec<String>>,
    /// Which scenarios a run executes at its end. Default: none are written.
    pub gate: Option<UatGate>,
    /// How many times failures are fixed.
    pub heal: u32,
    /// Whether failing scenarios fail the run.
    pub blocking: bool,
}

/// `[budget]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetConfig {
    /// Limits of one agent.
    pub phase: Allowance,
    /// Limits of one story.
    pub story: Allowance,
    /// Limits of one run.
    pub run: Allowance,
}

/// Spending limits; `None` is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allowance {
    /// US dollars.
    pub usd: Option<f64>,
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Turns of the model.
    pub turns: Option<u64>,
    /// Minutes of agents at work.
    pub minutes: Option<f64>,
}
