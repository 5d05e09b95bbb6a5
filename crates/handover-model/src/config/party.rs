//! Parties: personas that review, analyze and plan together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Consensus, PartyPhase, PersonaId, Profile, Role};

/// `[party]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartyConfig {
    /// The phases that are parties by default.
    pub phases: Vec<PartyPhase>,
    /// The participants, by phase.
    pub agents: PartyAgents,
    /// Whether one process plays all personas.
    pub solo: bool,
    /// Whether there is a second round, in which everyone responds to the others' findings.
    pub cross_talk: bool,
    /// How far reviewers must agree.
    pub consensus: Consensus,
    /// Findings of medium severity are fixed if there are more than this many findings in total.
    pub fix_medium_above: u32,
    /// Overrides of persona files, by name.
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
            fix_medium_above: 5,
            personas: BTreeMap::new(),
        }
    }
}

/// The participants of parties; `None` means the built-in ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartyAgents {
    /// Before development.
    pub kickoff: Option<Vec<PersonaId>>,
    /// Instead of the reviewer.
    pub review: Option<Vec<PersonaId>>,
    /// After a story failed.
    pub failure: Option<Vec<PersonaId>>,
    /// At the end of an epic.
    pub retro: Option<Vec<PersonaId>>,
}

impl PartyAgents {
    /// The configured participants of a phase, if any.
    pub fn of(&self, phase: PartyPhase) -> Option<&[PersonaId]> {
        match phase {
            PartyPhase::Kickoff => self.kickoff.as_deref(),
            PartyPhase::Review => self.review.as_deref(),
            PartyPhase::Failure => self.failure.as_deref(),
            PartyPhase::Retro => self.retro.as_deref(),
        }
    }
}

/// One layer's changes to a persona; fields that are absent keep the value of the layer below.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PersonaOverride {
    /// The name it is addressed by.
    pub name: Option<String>,
    /// Its job title.
    pub title: Option<String>,
    /// The role whose context it receives.
    pub role: Option<Role>,
    /// What it pays attention to.
    pub focus: Option<String>,
    /// How it speaks.
    pub style: Option<String>,
    /// The model, if the program lets one choose.
    pub model: Option<String>,
    /// An upper limit of its permissions.
    pub permissions: Option<Profile>,
}
