//! The configuration as typed values with their built-in defaults.
//!
//! Where values come from (files, environment, flags) and which layer wins is decided by
//! handover-cli; this module only knows what can be configured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::roles::RoleOverride;
use crate::{GateFormat, Host, Profile, ProjectId, RedactionMode, Routing};

/// Everything that can be configured. Every field has a default, so an empty file is valid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// What this project is called.
    pub project: ProjectConfig,
    /// Where records are kept.
    pub store: StoreConfig,
    /// How package files are treated.
    pub packages: PackagesConfig,
    /// How secrets are found.
    pub redaction: RedactionConfig,
    /// How long learned things live.
    pub learning: LearningConfig,
    /// How context is chosen.
    pub assembly: AssemblyConfig,
    /// How runs work.
    pub runs: RunsConfig,
    /// What checks the work of a run.
    pub gates: GatesConfig,
    /// What a run may cost.
    pub budget: BudgetConfig,
}

/// `[project]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectConfig {
    /// Owner of error patterns and strategies. Default: the name of the project's folder.
    pub id: Option<ProjectId>,
}

/// `[store]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoreConfig {
    /// A file path (relative to the project) or a `postgres://` URL. Default: inside `.handover/`.
    pub location: Option<String>,
}

/// `[packages]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PackagesConfig {
    /// A larger file is registered with a warning: agents are told to read it whole.
    pub warn_bytes: u64,
    /// A larger file is refused.
    pub max_bytes: u64,
}

impl Default for PackagesConfig {
    fn default() -> Self {
        Self { warn_bytes: 50_000, max_bytes: 5_000_000 }
    }
}

/// `[learning]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LearningConfig {
    /// Days without a sighting after which an error pattern is no longer recalled.
    pub ttl_days: u32,
}

impl Default for LearningConfig {
    fn default() -> Self {
        Self { ttl_days: crate::learn::TTL_DAYS }
    }
}

/// `[assembly]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AssemblyConfig {
    /// Who gets which package.
    pub routing: Routing,
    /// The share of a model's window that is never used.
    pub safety_margin: f64,
    /// How much priority, group, addressee and age weigh beside relevance to the task.
    pub prior: f64,
    /// How much a word of the task weighs by where it stands in a package.
    pub weights: ColumnWeights,
    /// Single values of the table of roles, by role.
    pub roles: BTreeMap<String, RoleOverride>,
}

impl Default for AssemblyConfig {
    fn default() -> Self {
        Self {
            routing: Routing::default(),
            safety_margin: 0.15,
            prior: 0.1,
            weights: ColumnWeights::default(),
            roles: BTreeMap::new(),
        }
    }
}

/// `[assembly.weights]`
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ColumnWeights {
    /// In the first heading.
    pub title: f64,
    /// In the summary.
    pub summary: f64,
    /// In the paths that it is about.
    pub files: f64,
    /// In the text.
    pub body: f64,
    /// In its author, its day and the summary of the package before it.
    pub context: f64,
}

impl Default for ColumnWeights {
    /// Measured on public sets, see docs/retrieval.md.
    fn default() -> Self {
        Self { title: 3.0, summary: 3.0, files: 2.0, body: 1.0, context: 0.8 }
    }
}

/// `[redaction]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedactionConfig {
    /// Which detectors run.
    pub mode: RedactionMode,
    /// Exact texts that are never redacted.
    pub allow: Vec<String>,
    /// Rules of this project, added to the built-in ones.
    pub rules: Vec<ExtraRule>,
}

/// A redaction rule from the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtraRule {
    /// What the rule is called in reports.
    pub name: String,
    /// A regular expression; its first group, or else the whole match, is the secret.
    pub pattern: String,
}

/// `[runs]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunsConfig {
    /// The agent program.
    pub host: Option<Host>,
    /// For host `command`: the program and its arguments.
    pub command: Option<String>,
    /// The model, where the program can be told.
    pub model: Option<String>,
    /// What a developer may do; a reviewer only looks.
    pub profile: Profile,
    /// Variables that agents and gates see besides the usual ones; a trailing `*` stands for any rest.
    pub env: Vec<String>,
    /// The longest phase, in seconds.
    pub phase_timeout: u64,
    /// The longest silence of an agent, in seconds.
    pub idle_timeout: u64,
    /// How often what gates and reviews find is mended before a story is given up.
    pub max_fixes: u32,
    /// A larger file is not committed.
    pub max_file_bytes: u64,
    /// A larger change is not committed.
    pub max_commit_bytes: u64,
}

impl Default for RunsConfig {
    fn default() -> Self {
        Self {
            host: None,
            command: None,
            model: None,
            profile: Profile::Edit,
            env: Vec::new(),
            phase_timeout: 3_600,
            idle_timeout: 900,
            max_fixes: 3,
            max_file_bytes: 5_000_000,
            max_commit_bytes: 50_000_000,
        }
    }
}

/// `[gates]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GatesConfig {
    /// Whether the project's own test tools are found and used.
    pub detect: bool,
    /// Commands besides those.
    pub commands: Vec<GateCommand>,
    /// The longest gate, in seconds.
    pub timeout: u64,
}

impl Default for GatesConfig {
    fn default() -> Self {
        Self { detect: true, commands: Vec::new(), timeout: 1_800 }
    }
}

/// One command of `[gates]`. It is run as it is, without a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateCommand {
    /// What it is called in reports.
    pub name: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How its output says which tests failed.
    #[serde(default = "no_format")]
    pub format: GateFormat,
    /// For `junit`: the file that it writes, relative to the project.
    #[serde(default)]
    pub report: Option<String>,
}

fn no_format() -> GateFormat {
    GateFormat::None
}

/// `[budget]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetConfig {
    /// Of one agent.
    pub phase: Allowance,
    /// Of one story.
    pub story: Allowance,
    /// Of one run.
    pub run: Allowance,
}

/// What may be spent; nothing said is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Allowance {
    /// Money.
    pub usd: Option<f64>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// Turns of the model.
    pub turns: Option<u64>,
    /// Minutes of agents at work.
    pub minutes: Option<f64>,
}
