//! The last step: what an agent leaves behind when it ends.
//!
//! Reading is tolerant (`read.rs`): agents forget fields, invent words, and wrap everything in
//! prose. Keeping is strict (`keep.rs`): what cannot be what it claims to be is refused, and the
//! refusal is reported.

mod keep;
mod learn;
mod message;
mod read;
#[cfg(test)]
mod tests;
mod trust;
mod uses;

use std::collections::BTreeMap;

use handover_context::package_file::ProjectPaths;
use handover_model::{
    Confidence, Host, PackageId, PackageKind, Phase, Priority, ReceiptId, Role, RunId, RunPhase,
    TeamStatus, Timestamp, Trace, Trust, Verdict,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use message::Message;
pub use read::{read_ending, read_endings, read_fields};
pub(crate) use trust::Earned;

use crate::Assignment;

/// The JSON Schema of the debrief block, for people who write agents.
pub const DEBRIEF_SCHEMA: &str = include_str!("schema.json");

/// What an agent said when it ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Debrief {
    /// The receipt that it names: proof that it saw its prompt.
    pub receipt: Option<ReceiptId>,
    /// How it ended.
    pub verdict: Option<Verdict>,
    /// What it did or found.
    pub summary: Option<String>,
    /// What a judge wants fixed, one line each.
    pub findings: Vec<String>,
    /// How certain it is of what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// What it thought, by phase.
    pub reasoning: BTreeMap<Phase, String>,
    /// Files that it wants other agents to know.
    pub packages: Vec<PackageNote>,
    /// Errors that it met, with what solved them.
    pub errors: Vec<ErrorNote>,
    /// Fields that a debrief should have and this one does not.
    #[serde(skip)]
    pub missing: Vec<&'static str>,
    /// Values that make no sense, each with the rule it breaks.
    #[serde(skip)]
    pub problems: Vec<String>,
}

impl Debrief {
    /// Whether the agent left a debrief block.
    pub fn has_block(&self) -> bool {
        !self.missing.contains(&read::BLOCK)
    }

    /// Whether there is anything to keep: agents of other systems state a verdict or announce a
    /// package without a block.
    pub fn says_something(&self) -> bool {
        self.has_block() || self.verdict.is_some() || !self.packages.is_empty()
    }
}

/// A file that an agent wants other agents to know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageNote {
    /// The file, as the agent wrote its path.
    pub path: String,
    /// What the package carries; the file's name or front matter may say it too.
    pub kind: Option<PackageKind>,
    /// How much it matters.
    pub priority: Option<Priority>,
    /// The lines that other agents see.
    pub summary: Option<String>,
    /// The roles that it is for; none means everyone.
    #[serde(default)]
    pub consumers: Vec<Role>,
}

/// An error that an agent met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorNote {
    /// The error as it was printed.
    pub message: String,
    /// What solved it; none if nothing did.
    pub solution: Option<String>,
}

/// An agent that has ended, for [`Handoffs::ended`](crate::Handoffs::ended).
#[derive(Debug, Clone, Copy)]
pub struct Ending<'a> {
    /// Who ended.
    pub assignment: &'a Assignment,
    /// What it said.
    pub debrief: &'a Debrief,
    /// Whether it had to be asked for the debrief.
    pub asked_again: bool,
    /// The hash of the message that ends it, where a hook reports the ending: an agent that is continued
    /// ends again, but the same message is kept once.
    pub ended_with: Option<&'a str>,
    /// The agent program, where a hook reports the ending.
    pub host: Option<Host>,
    /// Whether the prompt never reached it, so that its receipt failed.
    pub lost_prompt: bool,
    /// When the project learns from it.
    pub learn: Learn,
    /// The checkout that the agent worked in, if it is not the project's own.
    pub worktree: Option<&'a ProjectPaths>,
    /// The step of a run that it worked on.
    pub run: Option<&'a RunStep>,
    /// What it read from outside first, as far as its conversation tells.
    pub outside: Option<&'a OutsideRead>,
    /// What it was given and did, where its conversation was seen: it says what became of its brief.
    pub trace: Option<&'a Trace>,
    /// The time of the ending.
    pub now: Timestamp,
}

/// Something that an agent read from outside: from the web, or through a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideRead {
    /// The tool that it used.
    pub tool: String,
    /// When, if its conversation tells.
    pub at: Option<Timestamp>,
}

impl<'a> Ending<'a> {
    /// An ending without a ticket or a run.
    pub fn new(assignment: &'a Assignment, debrief: &'a Debrief, now: Timestamp) -> Self {
        Self {
            assignment,
            debrief,
            asked_again: false,
            ended_with: None,
            host: None,
            lost_prompt: false,
            learn: Learn::FromVerdict,
            worktree: None,
            run: None,
            outside: None,
            trace: None,
            now,
        }
    }
}

/// When strategies and solved errors are taken from an ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learn {
    /// Now, if its verdict says that work was accepted.
    FromVerdict,
    /// Later: a run learns when it commits.
    AtCommit,
}

/// Where in a run an agent ended; its events carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunStep {
    /// The run.
    pub run: RunId,
    /// The story, or the unit that closes the epic.
    pub story: String,
    /// The phase.
    pub phase: RunPhase,
    /// Which attempt of the phase, from 1.
    pub attempt: u32,
    /// Who spoke, in a phase with several voices.
    pub voice: Option<Value>,
    /// The status code of a team member.
    pub status: Option<TeamStatus>,
}

impl RunStep {
    /// The same for every agent that works on the step.
    fn key(&self) -> String {
        let voice = self.voice.as_ref().map(|voice| format!("-{voice}")).unwrap_or_default();
        format!("{}-{}-{}-{}{voice}", self.run, self.story, self.phase, self.attempt)
    }
}

/// What an ending left in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Everything that could be kept.
    Kept(Kept),
    /// Only that the agent left nothing.
    Nothing,
    /// Nothing: this ending was stored earlier.
    StoredEarlier,
}

impl Ended {
    /// What was kept now.
    pub fn kept(&self) -> Option<&Kept> {
        match self {
            Self::Kept(kept) => Some(kept),
            Self::Nothing | Self::StoredEarlier => None,
        }
    }
}

/// What was kept of a debrief.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// How many reasoning entries.
    pub reasoning: usize,
    /// The registered packages.
    pub packages: Vec<PackageId>,
    /// The hashes of the error patterns.
    pub errors: Vec<String>,
    /// How many strategies the project learned.
    pub strategies: usize,
    /// How far to believe all of it.
    pub trust: Option<Trust>,
    /// Whether the receipt is confirmed: the agent named it.
    pub confirmed: bool,
    /// What was refused, each with the reason.
    pub refused: Vec<String>,
}

/// Asks for a debrief that the agent forgot.
pub fn request_for_debrief(receipt: &ReceiptId) -> String {
    format!(
        "Your last message has no debrief. Answer with this block alone, filled in from what you did; do no \
         further work.\n\n```handover\nreceipt: {receipt}\nverdict: complete, blocked, passed, \
         passed_with_fixes, failed or escalate\nsummary: …\nreasoning:\n  decisions: …\n  completion: …\n```\n"
    )
}
