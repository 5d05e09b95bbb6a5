//! Retrospectives: what an epic taught, from its agents' words where they can be used and from its
//! journal where they cannot, and the handoff that the next epic starts with.

mod digest;
mod factual;
mod handoff;
mod merge;
mod parse;
mod render;

use handover_model::{EpicId, Phase};
use serde::{Deserialize, Serialize};

pub use digest::digest;
pub use factual::factual;
pub use handoff::{Entry, Handoff, Section};
pub use merge::merge;
pub use parse::from_value;
pub use render::{About, handoff, retrospective};

/// What an epic taught.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retro {
    /// In a few lines.
    pub summary: String,
    /// What went well.
    pub went_well: Vec<Lesson>,
    /// What did not.
    pub went_badly: Vec<Lesson>,
    /// What to do about it.
    pub actions: Vec<Lesson>,
    /// How things are done here now.
    pub patterns: Vec<Lesson>,
    /// What was decided, and why.
    pub decisions: Vec<Lesson>,
    /// What the next one would stumble over.
    pub gotchas: Vec<Lesson>,
    /// Where to look.
    pub files: Vec<Lesson>,
    /// How things are tested.
    pub test_conventions: Vec<Lesson>,
}

/// One thing that was learned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lesson {
    /// What.
    pub text: String,
    /// Why, or what it means.
    pub why: String,
    /// The file that it is about.
    pub file: String,
}

impl Lesson {
    /// A lesson that is only a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// All of it on one line.
    pub fn line(&self) -> String {
        if self.why.is_empty() {
            self.text.clone()
        } else {
            format!("{}: {}", self.text.trim_end_matches(['.', ':']), self.why)
        }
    }
}

impl Retro {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.summary.is_empty() && self.lists().iter().all(|list| list.is_empty())
    }

    fn lists(&self) -> [&Vec<Lesson>; 8] {
        [
            &self.went_well,
            &self.went_badly,
            &self.actions,
            &self.patterns,
            &self.decisions,
            &self.gotchas,
            &self.files,
            &self.test_conventions,
        ]
    }

    /// The same, with facts where nothing was said.
    #[must_use]
    pub fn completed_by(self, facts: Self) -> Self {
        let or = |said: Vec<Lesson>, facts| if said.is_empty() { facts } else { said };
        Self {
            summary: if self.summary.is_empty() { facts.summary } else { self.summary },
            went_well: or(self.went_well, facts.went_well),
            went_badly: or(self.went_badly, facts.went_badly),
            actions: self.actions,
            patterns: self.patterns,
            decisions: or(self.decisions, facts.decisions),
            gotchas: or(self.gotchas, facts.gotchas),
            files: or(self.files, facts.files),
            test_conventions: self.test_conventions,
        }
    }

    /// What every later agent of the project should know, by the phase of work that it helps.
    pub fn strategies(&self) -> Vec<(Phase, String)> {
        let of = |phase, list: &[Lesson]| {
            list.iter().map(|lesson| (phase, lesson.line())).collect::<Vec<_>>()
        };
        [
            of(Phase::Completion, &self.patterns),
            of(Phase::Decisions, &self.decisions),
            of(Phase::Approach, &self.test_conventions),
            of(Phase::Approach, &self.actions),
        ]
        .concat()
    }
}

/// Where the retrospective of an epic is kept, relative to the project.
pub fn retro_path(epic: &EpicId) -> String {
    format!("docs/sprints/epic-{epic}-retro.md")
}

/// Where the handoff of an epic is kept, relative to the project.
pub fn handoff_path(epic: &EpicId) -> String {
    format!("docs/handoffs/epic-{epic}-handoff.md")
}
