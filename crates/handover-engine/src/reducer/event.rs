//! Events, which record what happened in a run, and effects, which the engine may perform next.

use handover_model::{
    FailureClass, Role, RunPhase, RunState, TeamStatus, Timestamp, UatGate, Verdict,
};
use serde::{Deserialize, Serialize};

use super::{LimitScope, Options, Plan};
use crate::data::{Contribution, Finding, Retro, ScenarioResult, Spent, Statement, WorkNotes};
use crate::pipeline::Voice;

/// Something that happened. The journal stores events; the state is their fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run was planned.
    Started {
        /// The epic, its stories and its pipeline.
        plan: Box<Plan>,
        /// Agent program, limits and budget.
        options: Box<Options>,
    },
    /// An unfinished run was resumed.
    Resumed {
        /// The options from now on.
        options: Box<Options>,
    },
    /// A story has its worktree.
    Opened {
        /// The story.
        story: String,
        /// The commit that it starts from.
        base: String,
        /// The tree that the worktree holds.
        tree: String,
    },
    /// An agent ended.
    PhaseEnded(Box<PhaseEnd>),
    /// The gates ran on the base, before any agent.
    BaseChecked {
        /// The tests that fail there.
        failing: Vec<String>,
        /// Variables that make tools use the code of a worktree.
        variables: Vec<(String, String)>,
        /// How long it took.
        duration_ms: u64,
    },
    /// The gates ended.
    GatesEnded {
        /// The story.
        story: String,
        /// The number of the attempt, from 1.
        attempt: u32,
        /// The outcome of all gates together.
        outcome: GateOutcome,
        /// Failures that the base does not have.
        failures: Vec<String>,
        /// The end of the output of failing gates; if all passed, which of them ran far fewer tests than on the base.
        detail: String,
        /// How long they took.
        duration_ms: u64,
    },
    /// The work was rebased onto a head that other stories have moved forward.
    Rebased {
        /// The story.
        story: String,
        /// The new base commit.
        base: String,
        /// The merged tree, with conflict markers where both sides changed the same lines.
        tree: String,
        /// The files with conflicts.
        conflicts: Vec<String>,
    },
    /// The acceptance scenarios were run.
    UatEnded {
        /// The unit that closes the epic.
        story: String,
        /// The number of the attempt, from 1.
        attempt: u32,
        /// Which scenarios were selected.
        gate: UatGate,
        /// One result for each scenario.
        results: Vec<ScenarioResult>,
        /// Why there are no results.
        problem: Option<String>,
        /// The tree that the worktree holds now.
        tree: String,
        /// How long they took.
        duration_ms: u64,
    },
    /// The usage limit of the agent program was waited for.
    WaitEnded {
        /// When it was to be lifted.
        until: Timestamp,
    },
    /// A story ended because it would exceed its limits, or a person skipped it.
    GaveUp {
        /// The story.
        story: String,
        /// Which limit.
        reason: String,
        /// Who decided it; none if the engine did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The work must not be committed as it is.
    Refused {
        /// The story.
        story: String,
        /// What must be fixed first.
        problems: Vec<String>,
    },
    /// The work was committed.
    Committed {
        /// The story.
        story: String,
        /// The commit. It is the new head of the branch unless `no_commit` is set.
        commit: String,
    },
    /// The work of an unfinished story was put aside.
    Parked {
        /// The story.
        story: String,
        /// The branch that holds it; none if there was no work.
        branch: Option<String>,
    },
    /// A person answered the question of a story.
    Answered {
        /// The story.
        story: String,
        /// Their answer.
        answer: String,
        /// Who it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A person wants a story tried again that ended without being done.
    Retried {
        /// The story.
        story: String,
        /// What the next agent should know; may be empty.
        reason: String,
        /// Who it was.
        by: Option<String>,
    },
    /// A person checked a scenario that no program can run.
    Approved {
        /// What they said.
        approval: Approval,
    },
    /// The user's branch was fast-forwarded, or could not be.
    Merged {
        /// Why it could not be.
        refused: Option<String>,
    },
    /// The run stopped before its end and can be resumed.
    Stopped {
        /// The kind of stop.
        state: RunState,
        /// Why, for people.
        reason: String,
    },
    /// The run is finished.
    Ended {
        /// Its final state.
        state: RunState,
    },
}

/// The end of one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseEnd {
    /// The story.
    pub story: String,
    /// The phase.
    pub phase: RunPhase,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// Which voice of a party it was, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice: Option<Voice>,
    /// Its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Its verdict; none if it is unclear or a success whose program failed.
    pub verdict: Option<Verdict>,
    /// The status code that a team member gave with the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TeamStatus>,
    /// The agent's summary, or why there is no verdict.
    pub summary: String,
    /// The findings of a review.
    pub findings: Vec<Finding>,
    /// What a developer said besides the summary.
    #[serde(default, skip_serializing_if = "WorkNotes::is_empty")]
    pub notes: WorkNotes,
    /// What it contributed to a party or a failure analysis.
    #[serde(default, skip_serializing_if = "Contribution::is_empty")]
    pub contribution: Contribution,
    /// How its program failed, if it did.
    pub failure: Option<FailureClass>,
    /// Whose limit it was stopped by, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<LimitScope>,
    /// When the usage limit that stopped it is lifted: the step is repeated then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_until: Option<Timestamp>,
    /// The tree that the worktree holds now.
    pub tree: String,
    /// The files that differ from the base, apart from the story's own file.
    pub files: Vec<String>,
    /// The files that were restored because the agent was not allowed to change them.
    pub restored: Vec<String>,
    /// What the work so far changes about how the story is tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_setup: Vec<String>,
    /// What it used.
    pub spent: Spent,
    /// The receipt of its prompt.
    pub receipt: Option<String>,
    /// The lessons of a successful retrospective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retro: Option<Box<Retro>>,
}

impl PhaseEnd {
    /// The statement of a voice of a party.
    pub fn statement(&self) -> Option<Statement> {
        let Voice { persona, round } = self.voice.clone()?;
        Some(Statement {
            persona,
            round,
            verdict: self.verdict,
            summary: self.summary.clone(),
            findings: self.findings.clone(),
            contribution: self.contribution.clone(),
        })
    }
}

/// What a person says about a scenario that no program can run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The scenario.
    pub scenario: String,
    /// Whether it holds.
    pub holds: bool,
    /// What they noticed; may be empty.
    pub note: String,
    /// Who it was.
    pub by: Option<String>,
    /// The time of the judgement.
    pub at: Timestamp,
}

/// The outcome of all gates together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// Nothing fails that does not fail on the base too.
    Passed,
    /// The project has no gates.
    None,
    /// Something fails that the base passes.
    Failed,
}

/// Something to do. The journal stores the intent before an effect starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Run the gates on the base, before any agent is paid.
    CheckBase,
    /// Create a story's worktree.
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
        /// The number of the attempt, from 1.
        attempt: u32,
        /// Which voice of a party it is, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        voice: Option<Voice>,
    },
    /// Wait until the usage limit of the agent program is lifted.
    Wait {
        /// When that is.
        until: Timestamp,
    },
    /// Run the gates.
    Gates {
        /// The story.
        story: String,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// Rebase the work onto the head of the branch, which other stories have moved forward.
    Rebase {
        /// The story.
        story: String,
        /// The commit to rebase onto.
        onto: String,
    },
    /// Run the acceptance scenarios.
    Uat {
        /// The unit that closes the epic.
        story: String,
        /// The number of the attempt, from 1.
        attempt: u32,
    },
    /// Skip an agent that closes the epic, because it would exceed the budget.
    Forgo {
        /// The unit that closes the epic.
        story: String,
        /// The phase.
        phase: RunPhase,
        /// The number of the attempt, from 1.
        attempt: u32,
        /// Which voice of a party it is, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        voice: Option<Voice>,
        /// Which limit would be exceeded.
        reason: String,
    },
    /// End a story, because one more agent would exceed its limits.
    GiveUp {
        /// The story.
        story: String,
        /// Which limit.
        reason: String,
    },
    /// Commit the work.
    Commit {
        /// The story.
        story: String,
    },
    /// Put the work of an unfinished story aside, on a branch of its own.
    Park {
        /// The story.
        story: String,
    },
    /// Fast-forward the user's branch.
    Merge,
    /// Stop until a person answers.
    Ask,
    /// Stop because the budget would be exceeded.
    Halt {
        /// Which limit would be exceeded.
        reason: String,
    },
    /// Clean up and end.
    Finish,
}

impl Effect {
    /// The kind of effect, as the journal spells it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::CheckBase => "check_base",
            Self::Open { .. } => "open",
            Self::Agent { .. } => "agent",
            Self::Wait { .. } => "wait",
            Self::Gates { .. } => "gates",
            Self::Rebase { .. } => "rebase",
            Self::Uat { .. } => "uat",
            Self::Forgo { .. } => "forgo",
            Self::GiveUp { .. } => "give_up",
            Self::Commit { .. } => "commit",
            Self::Park { .. } => "park",
            Self::Merge => "merge",
            Self::Ask => "ask",
            Self::Halt { .. } => "halt",
            Self::Finish => "finish",
        }
    }

    /// The story or closing unit that it belongs to; none for effects of the whole run.
    pub fn story(&self) -> Option<&str> {
        match self {
            Self::Open { story }
            | Self::Agent { story, .. }
            | Self::Gates { story, .. }
            | Self::Rebase { story, .. }
            | Self::Uat { story, .. }
            | Self::Forgo { story, .. }
            | Self::GiveUp { story, .. }
            | Self::Commit { story }
            | Self::Park { story } => Some(story),
            Self::CheckBase
            | Self::Wait { .. }
            | Self::Merge
            | Self::Ask
            | Self::Halt { .. }
            | Self::Finish => None,
        }
    }

    /// Whether it runs on a worker while other effects continue.
    pub fn is_long(&self) -> bool {
        match self {
            Self::CheckBase | Self::Agent { .. } | Self::Gates { .. } | Self::Uat { .. } => true,
            Self::Open { .. }
            | Self::Wait { .. }
            | Self::Rebase { .. }
            | Self::Forgo { .. }
            | Self::GiveUp { .. }
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
    /// Whether it is the result of an effect.
    pub fn answers(&self, effect: &Effect) -> bool {
        match (self, effect) {
            (Self::Opened { story, .. }, Effect::Open { story: of })
            | (Self::Rebased { story, .. }, Effect::Rebase { story: of, .. })
            | (Self::GaveUp { story, .. }, Effect::GiveUp { story: of, .. })
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
            (Self::WaitEnded { until }, Effect::Wait { until: of }) => until == of,
            (Self::BaseChecked { .. }, Effect::CheckBase)
            | (Self::Merged { .. }, Effect::Merge)
            | (Self::Stopped { .. }, Effect::Ask | Effect::Halt { .. })
            | (Self::Ended { .. }, Effect::Finish) => true,
            _ => false,
        }
    }
}
