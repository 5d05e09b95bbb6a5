//! Pipelines as data: what happens to a story and to an epic, by whom, and with which permissions.

use handover_model::{Profile, Role, RunPhase, TeamStatus, UatGate, Verdict};
use serde::{Deserialize, Serialize};

use crate::flow::Flow;
use crate::party::Rules;
use crate::persona::Persona;

/// What happens to each story, in order, and to the epic once all stories are settled.
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
    /// The steps of the epic after its stories; none if there is nothing to close it with.
    #[serde(default)]
    pub closing: Vec<Step>,
    /// Who says what to do about a story that failed: an agent or a party. Without it a failure is
    /// the end of a story.
    #[serde(default)]
    pub on_failure: Option<Step>,
    /// Who hands on to whom, where that depends on what they say; then the steps of a story are not
    /// used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// A fresh agent.
    Agent(AgentStep),
    /// Several agents at once, and one answer of all of them.
    Party(PartyStep),
    /// The project's own tools.
    Gates,
    /// The scenarios of the epic are tried out.
    Uat(UatStep),
    /// The work is kept.
    Commit,
}

/// Scenarios are tried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UatStep {
    /// Which.
    pub gate: UatGate,
    /// How often what fails is mended.
    pub heal: u32,
}

/// What closes an epic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Closing {
    /// Whether an agent writes scenarios.
    pub generate: bool,
    /// Whether they are tried out.
    pub uat: Option<UatStep>,
    /// Whether there is a look back.
    pub retro: bool,
    /// Whether what comes of it is kept.
    pub commit: bool,
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
    /// The model, if it is not that of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// As which voice of a party it speaks, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice: Option<Voice>,
    /// The status codes that it can end with as a member of a team, and the verdict that each is; the
    /// first of a verdict stands for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<(TeamStatus, Verdict)>,
}

/// Several agents at once: every persona in the first round without knowing of the others, then every
/// persona again with what the others found. What they say becomes one answer in
/// [`settle_party`](crate::reducer::settle_party).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartyStep {
    /// What each of them is there for, and what it may do at most.
    pub agent: AgentStep,
    /// Who they are, in the order in which they are heard.
    pub personas: Vec<Persona>,
    /// How many rounds there are: 1 is blind, 2 has cross-talk.
    pub rounds: u32,
    /// Whether one agent plays them all.
    pub solo: bool,
    /// How they come to one answer.
    pub rules: Rules,
}

/// Who speaks where one agent plays all.
pub const EVERYBODY: &str = "party";

/// One voice of a party.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Voice {
    /// Who speaks.
    pub persona: String,
    /// 1 is blind, 2 has heard the others.
    pub round: u32,
}

impl PartyStep {
    /// Those who speak, in order.
    pub fn seats(&self) -> Vec<String> {
        if self.solo {
            return vec![EVERYBODY.to_owned()];
        }
        self.personas.iter().map(|persona| persona.id.to_string()).collect()
    }

    /// One of its personas.
    pub fn persona(&self, id: &str) -> Option<&Persona> {
        self.personas.iter().find(|persona| persona.id.as_str() == id)
    }

    /// One of its voices as an agent of its own. Voices speak at once, each in a folder of its own that
    /// is thrown away.
    pub fn voice(&self, id: &str, round: u32) -> AgentStep {
        let voice = Some(Voice { persona: id.to_owned(), round });
        let mut step = AgentStep { voice, ..self.agent.clone() };
        match self.persona(id) {
            Some(persona) => {
                step.role.clone_from(&persona.role);
                step.model.clone_from(&persona.model);
                step.profile = persona.permissions.min(self.agent.profile);
            }
            None => step.profile = Profile::ReadOnly,
        }
        step
    }
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
            closing: Vec::new(),
            on_failure: None,
            flow: None,
        }
    }

    /// The same, with something that closes the epic.
    pub fn closed_with(mut self, closing: Closing) -> Self {
        let optional = |phase, role| {
            let step = AgentStep { optional: true, ..agent_step(phase, role, Profile::Edit) };
            Step::Agent(step)
        };
        // Whoever closes the epic anyway has the last word.
        let mut last = std::mem::take(&mut self.closing);
        last.retain(|step| *step != Step::Commit);
        let mut steps = Vec::new();
        if closing.generate {
            steps.push(optional(RunPhase::Uat, "qa_expert"));
        }
        if let Some(step) = closing.uat {
            // What is mended goes through the gates before it is tried out again.
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

    /// How scenarios are tried out at the end, if they are.
    pub fn uat(&self) -> Option<UatStep> {
        self.closing.iter().find_map(|step| match step {
            Step::Uat(step) => Some(*step),
            Step::Agent(_) | Step::Party(_) | Step::Gates | Step::Commit => None,
        })
    }

    /// Whether somebody is asked for a phase when the epic is closed.
    pub fn closes_with(&self, phase: RunPhase) -> bool {
        self.closing.iter().any(|step| match step {
            // A member of a team closes the epic without looking back.
            Step::Agent(step) => step.phase == phase && step.statuses.is_empty(),
            Step::Party(party) => party.agent.phase == phase,
            Step::Gates | Step::Uat(_) | Step::Commit => false,
        })
    }

    /// Whether what closes the epic is kept.
    pub fn keeps_closing(&self) -> bool {
        self.closing.contains(&Step::Commit)
    }

    /// How many agents of one story can be at work at once.
    pub fn widest(&self) -> usize {
        let all = self.steps.iter().chain(&self.closing).chain(&self.on_failure);
        let width = |step: &Step| match step {
            Step::Party(party) => party.seats().len(),
            Step::Agent(_) | Step::Gates | Step::Uat(_) | Step::Commit => 1,
        };
        all.map(width).max().unwrap_or(1)
    }

    /// Who works in a phase.
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

/// An agent by the name of a built-in role.
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
