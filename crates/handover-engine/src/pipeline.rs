//! Pipelines as data: what happens to a story, by whom, and with which permissions.

use handover_model::{Profile, Role, RunPhase};
use serde::{Deserialize, Serialize};

/// What happens to each story, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// The steps of a story.
    pub steps: Vec<Step>,
    /// Who mends what a gate or a review found.
    pub fix: AgentStep,
    /// The step to go back to after that.
    pub after_fix: usize,
}

/// One step of a story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// A fresh agent.
    Agent(AgentStep),
    /// The project's own tools.
    Gates,
    /// The work is kept.
    Commit,
}

/// A fresh agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentStep {
    /// What it is there for.
    pub phase: RunPhase,
    /// As whom it works.
    pub role: Role,
    /// What it may do.
    pub profile: Profile,
    /// How often it is tried again when the model could not be asked, or it asks for it.
    pub retries: u32,
    /// Whether the story goes on whatever it says.
    pub optional: bool,
}

impl Pipeline {
    /// Development, gates, review, commit. A reviewer may only look; `profile` is what a developer may.
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
        }
    }

    /// Who works in a phase.
    pub fn role_in(&self, phase: RunPhase) -> Option<&Role> {
        let agents = self.steps.iter().filter_map(|step| match step {
            Step::Agent(agent) => Some(agent),
            Step::Gates | Step::Commit => None,
        });
        let mut all = agents.chain([&self.fix]);
        all.find(|agent| agent.phase == phase).map(|agent| &agent.role)
    }
}

fn agent(phase: RunPhase, role: &str, profile: Profile) -> Step {
    Step::Agent(agent_step(phase, role, profile))
}

#[expect(clippy::expect_used, reason = "built-in roles have valid names")]
fn agent_step(phase: RunPhase, role: &str, profile: Profile) -> AgentStep {
    let role = Role::new(role).expect("a valid role");
    AgentStep { phase, role, profile, retries: 2, optional: false }
}
