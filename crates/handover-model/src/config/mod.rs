//! The configuration as typed values with their built-in defaults, one file per group of sections.
//!
//! Where values come from (files, environment, flags) and which layer wins is decided by
//! handover-cli; this module only defines what can be configured.

mod agents;
mod context;
mod keys;
mod kinds;
mod party;
mod runs;
mod store;
mod telemetry;
mod trust;

use serde::{Deserialize, Serialize};

pub use agents::{AgentsConfig, Briefing, HooksConfig};
pub use context::{
    AssemblyConfig, BriefConfig, ColumnWeights, GuardConfig, RoleText, SpecializationConfig,
};
pub use keys::{KEYS, Key, Risk};
pub use party::{PartyAgents, PartyConfig, PersonaOverride};
pub use runs::{Allowance, BudgetConfig, GateCommand, GatesConfig, RunsConfig, UatConfig};
pub use store::{
    ExtraRule, ForgetConfig, LearnConfig, LearningConfig, PackagesConfig, ProjectConfig,
    RedactionConfig, StoreConfig,
};
pub use telemetry::TelemetryConfig;
pub use trust::{Agreement, TrustConfig, fingerprint};

/// The whole configuration. Every field has a default, so an empty file is valid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// The identity of the project.
    pub project: ProjectConfig,
    /// Where records are stored.
    pub store: StoreConfig,
    /// Size limits of package files.
    pub packages: PackagesConfig,
    /// How secrets are detected.
    pub redaction: RedactionConfig,
    /// How long learned knowledge is used.
    pub learning: LearningConfig,
    /// What the project's notes are learned from, and who may read them.
    pub learn: LearnConfig,
    /// What is retired by itself, and what `gc` keeps.
    pub forget: ForgetConfig,
    /// How context is selected.
    pub assembly: AssemblyConfig,
    /// Which roles receive guidance on the project's technology.
    pub specialization: SpecializationConfig,
    /// The size of a brief, and the descriptions of roles.
    pub brief: BriefConfig,
    /// Whether an agent may start without a brief.
    pub guard: GuardConfig,
    /// Timeouts, environment and executables of agent programs.
    pub agents: AgentsConfig,
    /// How runs work through stories.
    pub runs: RunsConfig,
    /// Which personas take part in parties, and by which rules.
    pub party: PartyConfig,
    /// The commands that check the work of a run.
    pub gates: GatesConfig,
    /// Acceptance tests of an epic.
    pub uat: UatConfig,
    /// Spending limits of runs.
    pub budget: BudgetConfig,
    /// What the hooks of agent programs do.
    pub hooks: HooksConfig,
    /// What is reported to an OpenTelemetry collector.
    pub telemetry: TelemetryConfig,
    /// What no project may exceed.
    pub trust: TrustConfig,
}

#[cfg(test)]
mod tests;
