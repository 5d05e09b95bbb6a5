//! The lessons of an epic, in the words of its agents or of its journal.

use handover_model::Phase;
use serde::{Deserialize, Serialize};

/// The lessons of an epic.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Retro {
    /// A few lines on the whole epic.
    pub summary: String,
    /// What went well.
    pub went_well: Vec<Lesson>,
    /// What went badly.
    pub went_badly: Vec<Lesson>,
    /// What to do differently.
    pub actions: Vec<Lesson>,
    /// Patterns that the epic established.
    pub patterns: Vec<Lesson>,
    /// Decisions and their reasons.
    pub decisions: Vec<Lesson>,
    /// Pitfalls for the next developer.
    pub gotchas: Vec<Lesson>,
    /// Files worth knowing.
    pub files: Vec<Lesson>,
    /// How tests are written in this project.
    pub test_conventions: Vec<Lesson>,
}

/// One lesson.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lesson {
    /// The lesson itself.
    pub text: String,
    /// The reason, or what follows from it.
    pub why: String,
    /// The file that it is about; may be empty.
    pub file: String,
}

impl Lesson {
    /// A lesson without reason or file.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Lesson and reason on one line.
    pub fn line(&self) -> String {
        if self.why.is_empty() {
            self.text.clone()
        } else {
            format!("{}: {}", self.text.trim_end_matches(['.', ':']), self.why)
        }
    }
}

impl Retro {
    /// Whether there are no lessons at all.
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

    /// Fills empty parts with facts from the journal.
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

    /// The lessons that help every later agent of the project, with the phase of work that they help.
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
