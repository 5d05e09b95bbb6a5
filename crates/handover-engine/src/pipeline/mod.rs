//! Pipelines as data: the steps of a story and of an epic, who does them, and with which permissions.

use handover_model::{Profile, Role, RunPhase, TeamStatus, UatGate, Verdict};
use serde::{Deserialize, Serialize};

mod flow;
mod party;
mod team;

pub use flow::{Flow, FlowRule, Member, Transition};
pub use party::{EVERYBODY, PartyRules, PartyStep, Voice};
pub(crate) use team::status;

/// The steps of each story, and of the epic once all stories are settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// The name, as shown to users.
    pub name: String,
    /// The steps of a story.
    pub steps: Vec<Step>,
    /// The agent that fixes what a gate or a review found.
    pub fix: AgentStep,
    /// The step to continue with after a fix.
    pub after_fix: usize,
    /// The steps that close the epic after its stories; may be empty.
    #[serde(default)]
    pub closing: Vec<Step>,
    /// The agent or party that analyzes failures. Without it a failure ends the story.
    #[serde(default)]
    pub on_failure: Option<Step>,
    /// The workflow of a team, which replaces the steps of a story.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// Which findings must be fixed, no matter who reviews.
    #[serde(default)]
    pub rules: PartyRules,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// A fresh agent.
    Agent(AgentStep),
    /// Several agents at once with one joint answer.
    Party(PartyStep),
    /// The gates: the project's own test tools.
    Gates,
    /// The acceptance scenarios of the epic.
    Uat(UatStep),
    /// A commit of the work.
    Commit,
}

impl Step {
    /// Whether it looks at a story before the work starts.
    pub(crate) fn is_kickoff(&self) -> bool {
        match self {
            Self::Agent(agent) | Self::Party(PartyStep { agent, .. }) => {
                agent.phase == RunPhase::Kickoff
            }
            Self::Gates | Self::Uat(_) | Self::Commit => false,
        }
    }
}

/// How acceptance scenarios are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UatStep {
    /// Which scenarios are selected.
    pub gate: UatGate,
    /// How often failures are fixed.
    pub heal: u32,
}

/// What closing an epic consists of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Closing {
    /// Whether an agent writes scenarios.
    pub generate: bool,
    /// Whether and how they are run.
    pub uat: Option<UatStep>,
    /// Whether there is a retrospective.
    pub retro: bool,
    /// Whether the results are committed.
    pub commit: bool,
}

/// A fresh agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentStep {
    /// The phase of the run.
    pub phase: RunPhase,
    /// The role, which selects its context.
    pub role: Role,
    /// Its permissions.
    pub profile: Profile,
    /// How often it is retried when the model cannot be reached or the agent asks for it.
    pub retries: u32,
    /// Whether the story continues whatever its verdict is.
    pub optional: bool,
    /// A model of its own, instead of the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Which voice of a party it is, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice: Option<Voice>,
    /// The status codes that it may report as a team member, with the verdict of each. A bare verdict
    /// means its first code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<(TeamStatus, Verdict)>,
}

impl AgentStep {
    /// Whether what it changes in its folder becomes part of the work, or of the documents that close an epic.
    pub(crate) fn keeps_changes(&self) -> bool {
        let judges =
            matches!(self.phase, RunPhase::Kickoff | RunPhase::Review | RunPhase::Analysis);
        self.profile != Profile::ReadOnly && !judges
    }
}

impl Pipeline {
    /// Development, gates, review, commit. Reviewers are read-only; developers have `profile`.
    pub fn story(with_review: bool, profile: Profile) -> Self {
        let mut steps = vec![agent(RunPhase::Dev, "developer", profile), Step::Gates];
        if with_review {
            steps.push(agent(RunPhase::Review, "tech_lead", Profile::ReadOnly));
        }
        steps.push(Step::Commit);
        Self {
            name: "story".to_owned(),
            steps,
            fix: agent_step(RunPhase::Fix, "developer", profile),
            after_fix: 1,
            closing: Vec::new(),
            on_failure: None,
            flow: None,
            rules: PartyRules::default(),
        }
    }

    /// Adds the steps that close the epic.
    pub fn closed_with(mut self, closing: Closing) -> Self {
        let optional = |phase, role| {
            let step = AgentStep { optional: true, ..agent_step(phase, role, Profile::Edit) };
            Step::Agent(step)
        };
        // The team member that closes the epic comes last.
        let mut last = std::mem::take(&mut self.closing);
        last.retain(|step| *step != Step::Commit);
        let mut steps = Vec::new();
        if closing.generate {
            steps.push(optional(RunPhase::Uat, "qa_expert"));
        }
        if let Some(step) = closing.uat {
            // Fixes pass the gates before the scenarios run again.
            steps.extend((step.heal > 0).then_some(Step::Gates));
            steps.push(Step::Uat(step));
        }
        if closing.retro {
            steps.push(optional(RunPhase::Retro, "project_manager"));
        }
        steps.append(&mut last);
        steps.extend((closing.commit && !steps.is_empty()).then_some(Step::Commit));
        self.closing = steps;
        self
    }

    /// The step that runs the scenarios, if there is one.
    pub fn uat(&self) -> Option<UatStep> {
        self.closing.iter().find_map(|step| match step {
            Step::Uat(step) => Some(*step),
            Step::Agent(_) | Step::Party(_) | Step::Gates | Step::Commit => None,
        })
    }

    /// Whether closing the epic includes an agent of a phase.
    pub fn closes_with(&self, phase: RunPhase) -> bool {
        self.closing.iter().any(|step| match step {
            // A team member that closes the epic does not write a retrospective.
            Step::Agent(step) => step.phase == phase && step.statuses.is_empty(),
            Step::Party(party) => party.agent.phase == phase,
            Step::Gates | Step::Uat(_) | Step::Commit => false,
        })
    }

    /// Whether closing the epic ends with a commit.
    pub fn keeps_closing(&self) -> bool {
        self.closing.contains(&Step::Commit)
    }

    /// The most agents that can work on one story at once.
    pub fn widest(&self) -> usize {
        let all = self.steps.iter().chain(&self.closing).chain(&self.on_failure);
        let width = |step: &Step| match step {
            Step::Party(party) => party.speakers().len(),
            Step::Agent(_) | Step::Gates | Step::Uat(_) | Step::Commit => 1,
        };
        all.map(width).max().unwrap_or(1)
    }

    /// The role of a phase.
    pub fn role_in(&self, phase: RunPhase) -> Option<&Role> {
        let steps = self.steps.iter().chain(&self.closing).chain(&self.on_failure);
        let agents = steps.filter_map(|step| match step {
            Step::Agent(agent) => Some(agent),
            Step::Party(party) => Some(&party.agent),
            Step::Gates | Step::Uat(_) | Step::Commit => None,
        });
        let mut all = agents.chain([&self.fix]);
        all.find(|agent| agent.phase == phase).map(|agent| &agent.role)
    }
}

/// A step that is one agent.
pub fn agent(phase: RunPhase, role: &str, profile: Profile) -> Step {
    Step::Agent(agent_step(phase, role, profile))
}

/// An agent with a built-in role and default settings.
#[expect(clippy::expect_used, reason = "built-in roles have valid names")]
pub fn agent_step(phase: RunPhase, role: &str, profile: Profile) -> AgentStep {
    let role = Role::new(role).expect("a valid role");
    AgentStep {
        phase,
        role,
        profile,
        retries: 2,
        optional: false,
        model: None,
        voice: None,
        statuses: Vec::new(),
    }
}
