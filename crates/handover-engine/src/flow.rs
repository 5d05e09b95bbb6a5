//! Who hands on to whom, as data: a story goes from one member of a team to the next by what they say.

use handover_model::{Role, StoryState, TeamStatus};
use serde::{Deserialize, Serialize};

use crate::pipeline::AgentStep;

/// The way of a story through a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// Who begins.
    pub start: String,
    /// Who mends what others found.
    pub builder: String,
    /// Who mends it once that has failed often enough.
    pub senior: String,
    /// From which failure on.
    pub patience: u32,
    /// How many agents a story has at most.
    pub most: u32,
    /// The members.
    pub members: Vec<Member>,
    /// What becomes of what they say.
    pub rules: Vec<Rule>,
}

/// A member of a team in one of its duties.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// What it is called in rules.
    pub name: String,
    /// The agent.
    pub agent: AgentStep,
}

/// What becomes of something that somebody says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Who says it.
    pub from: Role,
    /// What; none for whoever says nothing clear.
    pub status: Option<TeamStatus>,
    /// What becomes of it.
    pub to: To,
}

/// What becomes of a story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "snake_case")]
pub enum To {
    /// It goes to somebody.
    Hand {
        /// Who.
        next: String,
    },
    /// The gates check it, and then it goes to somebody.
    Check {
        /// Who.
        next: String,
    },
    /// It goes back with what was found; that counts as a failure.
    Rework,
    /// It goes back with what was said, and nobody has failed.
    Resume,
    /// The same one tries again.
    Again,
    /// The work is kept.
    Keep,
    /// It comes to an end without.
    Stop {
        /// How.
        state: StoryState,
    },
}

impl Flow {
    /// What becomes of what somebody says. What no rule knows is nothing clear.
    pub fn rule(&self, from: &Role, status: Option<TeamStatus>) -> &To {
        let find =
            |status| self.rules.iter().find(|rule| rule.from == *from && rule.status == status);
        find(status).or_else(|| find(None)).map_or(&To::Rework, |rule| &rule.to)
    }

    /// Where a member is in the list.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|member| member.name == name)
    }
}
