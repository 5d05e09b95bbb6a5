//! What can happen in a run, and what can be done in one.

use handover_model::{FailureClass, Role, RunPhase, RunState, TeamStatus, UatGate, Verdict};
use serde::{Deserialize, Serialize};

use super::{Options, Plan};
use crate::ledger::Spent;
use crate::party::{Contribution, Word};
use crate::pipeline::Voice;
use crate::retro::Retro;
use crate::uat::ScenarioResult;
use crate::verdict::Finding;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run was planned.
    Started {
        /// What it is about.
        plan: Box<Plan>,
        /// How it works.
        options: Box<Options>,
    },
    /// The run goes on after an end that was not its own.
    Resumed {
        /// How it works from now on.
        options: Box<Options>,
    },
    /// A story has its worktree.
    Opened {
        /// The story.
        story: String,
        /// The commit that it starts from.
        base: String,
        /// What the worktree holds.
        tree: String,
    },
    /// An agent ended.
    PhaseEnded(Box<PhaseEnd>),
    /// The gates ended.
    GatesEnded {
        /// The story.
        story: String,
        /// Which time.
        attempt: u32,
        /// What they said.
        outcome: GateOutcome,
        /// What is new and wrong.
        failures: Vec<String>,
        /// The end of what failing ones printed.
        detail: String,
        /// How long they took.
        duration_ms: u64,
    },
    /// The work was moved to a branch that others have moved on meanwhile.
    Rebased {
        /// The story.
        story: String,
        /// The commit that it starts from now.
        base: String,
        /// What the worktree holds now; where others changed the same, with both and marks between.
        tree: String,
        /// The files where others changed the same.
        conflicts: Vec<String>,
    },
    /// Scenarios were tried out.
    UatEnded {
        /// What closes the epic.
        story: String,
        /// Which time.
        attempt: u32,
        /// Which were to be tried.
        gate: UatGate,
        /// What came of each.
        results: Vec<ScenarioResult>,
        /// Why there are none.
        problem: Option<String>,
        /// What the worktree holds now.
        tree: String,
        /// How long they took.
        duration_ms: u64,
    },
    /// The work cannot be committed as it is.
    Refused {
        /// The story.
        story: String,
        /// Why.
        problems: Vec<String>,
    },
    /// The work is kept.
    Committed {
        /// The story.
        story: String,
        /// The commit; the head of the branch unless commits stay off it.
        commit: String,
    },
    /// What became of the work of a story that did not come to its end.
    Parked {
        /// The story.
        story: String,
        /// The branch that holds it; none if there is nothing to hold.
        branch: Option<String>,
    },
    /// A person has said how a story goes on.
    Answered {
        /// The story.
        story: String,
        /// What they said.
        answer: String,
    },
    /// The user's branch followed, or why it did not.
    Merged {
        /// Why it did not.
        refused: Option<String>,
    },
    /// The run came to a stop that is not its end.
    Stopped {
        /// What stopped it.
        state: RunState,
        /// In words.
        reason: String,
    },
    /// The run came to its end.
    Ended {
        /// How.
        state: RunState,
    },
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseEnd {
    /// The story.
    pub story: String,
    /// The phase.
    pub phase: RunPhase,
    /// Which time.
    pub attempt: u32,
    /// The voice of a party, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice: Option<Voice>,
    /// As whom it worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// What it said, if that is clear and its program ended well.
    pub verdict: Option<Verdict>,
    /// The same as a status code, from a member of a team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TeamStatus>,
    /// Why there is no verdict, or what it said about it.
    pub summary: String,
    /// What is wrong, from a review.
    pub findings: Vec<Finding>,
    /// What it said as one voice of several, or about a failure.
    #[serde(default, skip_serializing_if = "Contribution::is_empty")]
    pub contribution: Contribution,
    /// The class of failure of its program.
    pub failure: Option<FailureClass>,
    /// What the worktree holds now.
    pub tree: String,
    /// The files that differ from the base, the story's own file left out.
    pub files: Vec<String>,
    /// What was restored because the agent had no business there.
    pub restored: Vec<String>,
    /// What it used.
    pub spent: Spent,
    /// The receipt of its prompt.
    pub receipt: Option<String>,
    /// What the epic taught, from a look back that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retro: Option<Box<Retro>>,
}

impl PhaseEnd {
    /// What a voice of a party said.
    pub fn word(&self) -> Option<Word> {
        let Voice { persona, round } = self.voice.clone()?;
        Some(Word {
            persona,
            round,
            verdict: self.verdict,
            summary: self.summary.clone(),
            findings: self.findings.clone(),
            contribution: self.contribution.clone(),
        })
    }
}

/// What the gates said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// All is well, or no worse than on the base.
    Passed,
    /// The project has none.
    None,
    /// Something is new and wrong.
    Failed,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Make a story's worktree.
    Open {
        /// The story.
        story: String,
    },
    /// Run an agent.
    Agent {
        /// The story.
        story: String,
        /// The phase.
        phase: RunPhase,
        /// Which time.
        attempt: u32,
        /// The voice of a party, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        voice: Option<Voice>,
    },
    /// Run the gates.
    Gates {
        /// The story.
        story: String,
        /// Which time.
        attempt: u32,
    },
    /// Move the work to the head of the branch, which others have moved on.
    Rebase {
        /// The story.
        story: String,
        /// The head.
        onto: String,
    },
    /// Try the scenarios out.
    Uat {
        /// What closes the epic.
        story: String,
        /// Which time.
        attempt: u32,
    },
    /// Do without an agent that closes the epic, because the budget would be passed.
    Forgo {
        /// What closes the epic.
        story: String,
        /// The phase.
        phase: RunPhase,
        /// Which time.
        attempt: u32,
        /// The voice of a party, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        voice: Option<Voice>,
        /// Which part of it.
        reason: String,
    },
    /// Keep the work.
    Commit {
        /// The story.
        story: String,
    },
    /// Put the work of a story that did not come to its end aside.
    Park {
        /// The story.
        story: String,
    },
    /// Let the user's branch follow.
    Merge,
    /// Stop because nothing can be done before a person has answered.
    Ask,
    /// Stop because the budget would be passed.
    Halt {
        /// Which part of it.
        reason: String,
    },
    /// Clean up and end.
    Finish,
}

impl Effect {
    /// Whether it takes as long as others like, so that something else can be done meanwhile.
    pub fn is_long(&self) -> bool {
        match self {
            Self::Agent { .. } | Self::Gates { .. } | Self::Uat { .. } => true,
            Self::Open { .. }
            | Self::Rebase { .. }
            | Self::Forgo { .. }
            | Self::Commit { .. }
            | Self::Park { .. }
            | Self::Merge
            | Self::Ask
            | Self::Halt { .. }
            | Self::Finish => false,
        }
    }
}

impl Event {
    /// Whether it is what came of an effect.
    pub fn answers(&self, effect: &Effect) -> bool {
        match (self, effect) {
            (Self::Opened { story, .. }, Effect::Open { story: of })
            | (Self::Rebased { story, .. }, Effect::Rebase { story: of, .. })
            | (
                Self::Refused { story, .. } | Self::Committed { story, .. },
                Effect::Commit { story: of },
            )
            | (Self::Parked { story, .. }, Effect::Park { story: of }) => story == of,
            (
                Self::PhaseEnded(end),
                Effect::Agent { story, phase, attempt, voice }
                | Effect::Forgo { story, phase, attempt, voice, .. },
            ) => {
                (&end.story, end.phase, end.attempt, &end.voice) == (story, *phase, *attempt, voice)
            }
            (
                Self::GatesEnded { story, attempt, .. },
                Effect::Gates { story: of, attempt: which },
            )
            | (Self::UatEnded { story, attempt, .. }, Effect::Uat { story: of, attempt: which }) => {
                (story, attempt) == (of, which)
            }
            (Self::Merged { .. }, Effect::Merge)
            | (Self::Stopped { .. }, Effect::Ask | Effect::Halt { .. })
            | (Self::Ended { .. }, Effect::Finish) => true,
            _ => false,
        }
    }
}
