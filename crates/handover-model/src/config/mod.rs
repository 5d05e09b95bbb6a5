//! The configuration as typed values with their built-in defaults.
//!
//! Where values come from (files, environment, flags) and which layer wins is decided by
//! handover-cli; this module only knows what can be configured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::budget::{PREFACE_LARGE, PREFACE_MEDIUM, PREFACE_SMALL, SPECIALIZATION_PERCENT};
use crate::roles::RoleOverride;
use crate::{
    Consensus, GateFormat, GuardMode, Host, PartyPhase, PersonaId, PipelineName, Profile,
    ProjectId, RedactionMode, Role, Routing, SessionId, TestingMode, Tier, UatGate,
};

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
    /// Who is told about the project's technology.
    pub specialization: SpecializationConfig,
    /// How long a brief may be.
    pub brief: BriefConfig,
    /// Whether an agent may start without a brief.
    pub guard: GuardConfig,
    /// How agent programs are run.
    pub agents: AgentsConfig,
    /// How runs work.
    pub runs: RunsConfig,
    /// Who takes part where several agents look at the same thing.
    pub party: PartyConfig,
    /// What checks the work of a run.
    pub gates: GatesConfig,
    /// How the work of an epic is accepted.
    pub uat: UatConfig,
    /// What a run may cost.
    pub budget: BudgetConfig,
    /// What the hooks of agent programs do.
    pub hooks: HooksConfig,
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
    /// A file path (relative to the project), a `postgres://` URL or the `https://` URL of a service.
    /// Default: inside `.handover/`.
    pub location: Option<String>,
    /// Whether a token may go to another machine without encryption. Only the user says so.
    pub allow_http: bool,
    /// Services that the token may go to although a project names them. Only the user says so.
    pub services: Vec<String>,
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
    /// Whether agents get context at all.
    pub enabled: bool,
    /// Roles that get none.
    pub roles_disabled: Vec<Role>,
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
            enabled: true,
            roles_disabled: Vec::new(),
            routing: Routing::default(),
            safety_margin: 0.15,
            prior: 0.1,
            weights: ColumnWeights::default(),
            roles: BTreeMap::new(),
        }
    }
}

impl AssemblyConfig {
    /// The key that switches context off for a role, if one does.
    pub fn switched_off_by(&self, role: &Role) -> Option<&'static str> {
        if !self.enabled {
            Some("assembly.enabled")
        } else if self.roles_disabled.contains(role) {
            Some("assembly.roles_disabled")
        } else {
            None
        }
    }
}

/// `[guard]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuardConfig {
    /// What happens to a spawn without context or specialization.
    pub mode: GuardMode,
}

/// `[agents]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentsConfig {
    /// Seconds after which an agent is ended, whatever it does.
    pub timeout: u64,
    /// Seconds without a sign of life after which it is ended.
    pub idle_timeout: u64,
    /// Variables that agents may see besides the usual ones; `NAME` or `PREFIX*`.
    pub environment: Vec<String>,
    /// The program of each host, where it is not the one on the path.
    pub programs: BTreeMap<String, String>,
}

impl Default for AgentsConfig {
    fn default() -> Self {
        Self {
            timeout: 3_600,
            idle_timeout: 900,
            environment: Vec::new(),
            programs: BTreeMap::new(),
        }
    }
}

/// `[hooks]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HooksConfig {
    /// Whether hooks do anything.
    pub enabled: bool,
    /// The role of each kind of subagent, besides the built-in ones; `none` leaves a kind alone.
    pub roles: BTreeMap<String, Role>,
    /// Roles whose subagents are left alone.
    pub roles_disabled: Vec<Role>,
    /// Sessions in which nothing is done.
    pub sessions_disabled: Vec<SessionId>,
    /// Whether a subagent is held back once if it leaves no debrief.
    pub debrief_required: bool,
    /// Milliseconds after which a hook gives up and lets the host go on.
    pub deadline_ms: u64,
}

impl Default for HooksConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            roles: BTreeMap::new(),
            roles_disabled: Vec::new(),
            sessions_disabled: Vec::new(),
            debrief_required: true,
            deadline_ms: 5_000,
        }
    }
}

/// The kinds of subagents that hosts have for work of any sort.
const WORKERS: &[&str] = &["general-purpose", "worker", "default"];

impl HooksConfig {
    /// The role of a kind of subagent; none if it is to be left alone.
    pub fn role_of(&self, agent_type: &str) -> Option<Role> {
        let role = match self.roles.get(agent_type) {
            Some(role) if role.as_str() == "none" => return None,
            Some(role) => role.clone(),
            None if WORKERS.contains(&agent_type) => Role::new(crate::roles::DEVELOPER).ok()?,
            // Subagents that are called as our roles are: `qa-expert`, `team:qa_expert`.
            None => {
                let name = agent_type.rsplit(':').next()?.replace('-', "_");
                Role::new(*crate::roles::BUILT_IN.iter().find(|role| **role == name)?).ok()?
            }
        };
        (!self.roles_disabled.contains(&role)).then_some(role)
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
        Self { title: 3.0, summary: 3.0, files: 2.0, body: 1.0, context: 1.3 }
    }
}

/// `[specialization]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpecializationConfig {
    /// Whether agents get a specialization at all.
    pub enabled: bool,
    /// Roles that get none.
    pub roles_disabled: Vec<Role>,
    /// How much testing the workflow does, unless a flag says.
    pub testing_mode: TestingMode,
}

impl Default for SpecializationConfig {
    fn default() -> Self {
        Self { enabled: true, roles_disabled: Vec::new(), testing_mode: TestingMode::default() }
    }
}

impl SpecializationConfig {
    /// The key that switches the specialization off for a role, if one does.
    pub fn switched_off_by(&self, role: &Role) -> Option<&'static str> {
        if !self.enabled {
            Some("specialization.enabled")
        } else if self.roles_disabled.contains(role) {
            Some("specialization.roles_disabled")
        } else {
            None
        }
    }
}

/// The least that a brief's context and specialization need to say anything.
const LEAST_PREFACE: u64 = 300;

/// `[brief]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BriefConfig {
    /// Tokens of context and specialization together, for a small model.
    pub small: u64,
    /// The same for a medium one.
    pub medium: u64,
    /// The same for a large one.
    pub large: u64,
    /// The share of the specialization, in percent; the rest is the context's.
    pub specialization_percent: u64,
    /// What roles are told about themselves, where it differs from the built-in text.
    pub roles: BTreeMap<String, RoleText>,
}

/// What a role is told about itself; what is not given stays as it is built in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RoleText {
    /// Who it is, in a sentence.
    pub identity: Option<String>,
    /// What it looks at first.
    pub focus: Option<String>,
    /// What it must and must not do.
    pub rules: Option<Vec<String>>,
}

impl Default for BriefConfig {
    fn default() -> Self {
        Self {
            small: PREFACE_SMALL,
            medium: PREFACE_MEDIUM,
            large: PREFACE_LARGE,
            specialization_percent: SPECIALIZATION_PERCENT,
            roles: BTreeMap::new(),
        }
    }
}

impl BriefConfig {
    /// Tokens of context and specialization together; less than the least makes no sense.
    pub fn preface(&self, tier: Tier) -> u64 {
        let set = match tier {
            Tier::Small => self.small,
            Tier::Medium => self.medium,
            Tier::Large => self.large,
        };
        set.max(LEAST_PREFACE)
    }

    /// The tokens of the specialization alone.
    pub fn specialization(&self, tier: Tier) -> u64 {
        let share = u128::from(self.specialization_percent.min(100));
        (u128::from(self.preface(tier)) * share / 100) as u64
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
    /// What happens to a story.
    pub pipeline: PipelineName,
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
    /// How many stories are worked on at once.
    pub parallel: u32,
    /// The git remote through which several machines work on one run; none for one machine.
    pub remote: Option<String>,
    /// With `remote`: how long a machine may be silent before the others take over, in seconds.
    pub lease: u64,
    /// The longest phase, in seconds.
    pub phase_timeout: u64,
    /// The longest silence of an agent, in seconds.
    pub idle_timeout: u64,
    /// How often what gates and reviews find is mended before a story is given up.
    pub max_fixes: u32,
    /// Whether a run ends with a look back and a handoff to the next epic.
    pub retro: bool,
    /// Whether a failure is looked into by an agent before a story is given up.
    pub analysis: bool,
    /// How often a story is begun again because an analysis found something new.
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

/// `[party]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartyConfig {
    /// The phases that are parties without being asked to.
    pub phases: Vec<PartyPhase>,
    /// Who takes part, by phase.
    pub agents: PartyAgents,
    /// Whether one process plays them all.
    pub solo: bool,
    /// Whether there is a second round, in which everybody answers what the others found.
    pub cross_talk: bool,
    /// What reviewers must agree on.
    pub consensus: Consensus,
    /// Findings of medium severity are mended if there are more than so many findings in all.
    pub mend_medium_above: u32,
    /// What differs from the files of personas, by name.
    pub personas: BTreeMap<PersonaId, PersonaOverride>,
}

impl Default for PartyConfig {
    fn default() -> Self {
        Self {
            phases: Vec::new(),
            agents: PartyAgents::default(),
            solo: false,
            cross_talk: true,
            consensus: Consensus::Majority,
            mend_medium_above: 5,
            personas: BTreeMap::new(),
        }
    }
}

/// Who takes part in a party; nothing said is who is built in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PartyAgents {
    /// Before development.
    pub kickoff: Option<Vec<PersonaId>>,
    /// Instead of the reviewer.
    pub review: Option<Vec<PersonaId>>,
    /// When a story has failed.
    pub failure: Option<Vec<PersonaId>>,
    /// At the end of an epic.
    pub retro: Option<Vec<PersonaId>>,
}

impl PartyAgents {
    /// Who was chosen for a phase, if anybody was.
    pub fn of(&self, phase: PartyPhase) -> Option<&[PersonaId]> {
        match phase {
            PartyPhase::Kickoff => self.kickoff.as_deref(),
            PartyPhase::Review => self.review.as_deref(),
            PartyPhase::Failure => self.failure.as_deref(),
            PartyPhase::Retro => self.retro.as_deref(),
        }
    }
}

/// What a layer says about a persona; what is not given stays as it is below.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PersonaOverride {
    /// What it is called.
    pub name: Option<String>,
    /// What it is.
    pub title: Option<String>,
    /// As whom it is given context.
    pub role: Option<Role>,
    /// What it looks at.
    pub focus: Option<String>,
    /// How it speaks.
    pub style: Option<String>,
    /// The model, where the program can be told.
    pub model: Option<String>,
    /// What it may do, at most.
    pub permissions: Option<Profile>,
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

/// `[uat]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UatConfig {
    /// The only programs that scenarios may start: names, or paths of the project that begin with
    /// `./`. Default: the project's own tools.
    pub allow: Option<Vec<String>>,
    /// What a run tries out at its end. Default: no scenarios are written.
    pub gate: Option<UatGate>,
    /// How often what fails is mended.
    pub heal: u32,
    /// Whether a run fails if scenarios do.
    pub blocking: bool,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specialization_has_three_fifths_of_its_tier() {
        let brief = BriefConfig::default();
        let of = |tier| (brief.preface(tier), brief.specialization(tier));
        assert_eq!(of(Tier::Small), (900, 540));
        assert_eq!(of(Tier::Medium), (1_200, 720));
        assert_eq!(of(Tier::Large), (1_800, 1_080));
        let all = BriefConfig { specialization_percent: 400, small: u64::MAX, ..brief };
        assert_eq!(all.specialization(Tier::Small), u64::MAX);
    }

    #[test]
    fn subagents_have_roles() {
        let mut hooks = HooksConfig::default();
        let role = |hooks: &HooksConfig, kind: &str| {
            hooks.role_of(kind).map_or_else(String::new, String::from)
        };
        assert_eq!(role(&hooks, "general-purpose"), "developer");
        assert_eq!(role(&hooks, "qa-expert"), "qa_expert");
        assert_eq!(role(&hooks, "team:tech_lead"), "tech_lead");
        for other in ["Explore", "Plan", "explorer", "team:", ""] {
            assert_eq!(role(&hooks, other), "", "{other}");
        }
        hooks.roles.insert("Explore".to_owned(), Role::new("investigator").unwrap());
        hooks.roles.insert("general-purpose".to_owned(), Role::new("none").unwrap());
        hooks.roles_disabled.push(Role::new("qa_expert").unwrap());
        assert_eq!(role(&hooks, "Explore"), "investigator");
        assert_eq!(role(&hooks, "general-purpose"), "");
        assert_eq!(role(&hooks, "qa-expert"), "");
    }

    #[test]
    fn what_switches_a_specialization_off_is_named() {
        let role = Role::new("developer").unwrap();
        let mut config = SpecializationConfig::default();
        assert_eq!(config.switched_off_by(&role), None);
        config.roles_disabled.push(role.clone());
        assert_eq!(config.switched_off_by(&role), Some("specialization.roles_disabled"));
        config.enabled = false;
        assert_eq!(config.switched_off_by(&role), Some("specialization.enabled"));
    }
}
