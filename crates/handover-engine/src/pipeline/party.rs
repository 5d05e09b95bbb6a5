//! A step that several personas take at once.

use handover_model::config::PartyConfig;
use handover_model::{Consensus, Profile};
use serde::{Deserialize, Serialize};

use super::AgentStep;
use crate::persona::Persona;

/// Several agents at once. In the first round no persona knows about the others; in the second each knows
/// what the others said. [`settle_party`](crate::reducer::settle_party) turns their statements into one
/// answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartyStep {
    /// The phase of each voice, and the most that it may do.
    pub agent: AgentStep,
    /// The personas, in the order in which they are listed.
    pub personas: Vec<Persona>,
    /// The number of rounds: 1 is blind, 2 has cross-talk.
    pub rounds: u32,
    /// Whether one agent plays all personas.
    pub solo: bool,
    /// How the statements become one answer.
    pub rules: PartyRules,
}

/// The name of the one voice that plays all personas.
pub const EVERYBODY: &str = "party";

/// One voice of a party.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Voice {
    /// The persona that speaks.
    pub persona: String,
    /// Round 1 is blind; in round 2 a voice knows what the others said.
    pub round: u32,
}

impl PartyStep {
    /// The names of the voices, in order.
    pub fn speakers(&self) -> Vec<String> {
        if self.solo {
            return vec![EVERYBODY.to_owned()];
        }
        self.personas.iter().map(|persona| persona.id.to_string()).collect()
    }

    /// The persona with this id.
    pub fn persona(&self, id: &str) -> Option<&Persona> {
        self.personas.iter().find(|persona| persona.id.as_str() == id)
    }

    /// The agent step of one voice. Voices work at once, each in a worktree that is discarded.
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

/// How reviews are decided, by a party or by one reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartyRules {
    /// Whether a majority decides or all must agree.
    pub consensus: Consensus,
    /// Findings of medium severity must be fixed if there are more findings than this.
    pub fix_medium_above: u32,
}

impl PartyRules {
    /// The configured rules.
    pub fn new(config: &PartyConfig) -> Self {
        Self { consensus: config.consensus, fix_medium_above: config.fix_medium_above }
    }
}

impl Default for PartyRules {
    fn default() -> Self {
        Self::new(&PartyConfig::default())
    }
}
