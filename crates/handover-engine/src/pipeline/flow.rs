//! A team's workflow as data: each status code that a member reports leads to a transition.

use handover_model::{Role, StoryState, TeamStatus};
use serde::{Deserialize, Serialize};

use super::AgentStep;

/// The workflow of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The member that starts.
    pub start: String,
    /// The member that fixes findings.
    pub builder: String,
    /// The member that takes over after `patience` failures.
    pub senior: String,
    /// The number of failures after which the senior member takes over, and of repetitions after which a
    /// member is replaced.
    pub patience: u32,
    /// The most agents that may work on one story.
    pub most: u32,
    /// All members.
    pub members: Vec<Member>,
    /// The transition for each status code of each role.
    pub rules: Vec<FlowRule>,
}

/// A member of a team; one role may be several members with different tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The name that transitions refer to.
    pub name: String,
    /// The agent that does the work.
    pub agent: AgentStep,
}

/// The transition that a report leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowRule {
    /// The role that reports.
    pub from: Role,
    /// The status code; none for an unclear report.
    pub status: Option<TeamStatus>,
    /// The transition.
    pub to: Transition,
}

/// What happens to a story next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "to", rename_all = "snake_case")]
pub enum Transition {
    /// Another member gets it.
    Hand {
        /// The member's name.
        next: String,
    },
    /// The gates check it, then another member gets it.
    Check {
        /// The member's name.
        next: String,
    },
    /// It goes back with findings; this counts as a failure.
    Rework,
    /// It goes back with guidance; this is not a failure.
    Resume,
    /// The same member tries again.
    Again,
    /// The work is committed.
    Keep,
    /// The story ends without a commit.
    Stop {
        /// Its final state.
        state: StoryState,
    },
}

impl Flow {
    /// The transition for a report. A status code without a rule counts as unclear.
    pub fn rule(&self, from: &Role, status: Option<TeamStatus>) -> &Transition {
        let find =
            |status| self.rules.iter().find(|rule| rule.from == *from && rule.status == status);
        find(status).or_else(|| find(None)).map_or(&Transition::Rework, |rule| &rule.to)
    }

    /// The index of a member.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|member| member.name == name)
    }
}
