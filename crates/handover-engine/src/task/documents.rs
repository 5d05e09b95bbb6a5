//! What the documents of a project say about an epic and its stories.

use std::path::Path;

use crate::bounded;
use crate::reducer::Plan;
use crate::story::{self, Criterion};

/// Documents that describe a project, by the tools that write them.
const POINTERS: &[&str] = &[
    "docs/architecture.md",
    "docs/architecture/architecture.md",
    "docs/architecture/index.md",
    "architecture.md",
    "ARCHITECTURE.md",
    "_bmad-output/planning-artifacts/architecture.md",
    "docs/prd.md",
    "_bmad-output/planning-artifacts/prd.md",
    "AGENTS.md",
    "CLAUDE.md",
    "CONTRIBUTING.md",
];

/// What the documents of a project say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Documents {
    /// The text about the epic.
    pub(crate) epic: String,
    /// Documents worth reading, relative to the project.
    pub(crate) pointers: Vec<String>,
    /// The acceptance criteria of each story.
    pub(crate) criteria: Vec<(String, Vec<Criterion>)>,
}

impl Documents {
    /// Reads the documents in a folder. What is missing is empty.
    pub(crate) fn read(folder: &Path, plan: &Plan) -> Self {
        let text = |path: &str| bounded::text(&folder.join(path));
        let epic = plan.epic_file.as_deref().and_then(text).unwrap_or_default();
        let epic = story::epic_section(&epic, &plan.epic).unwrap_or(&epic).to_owned();
        let exists = |path: &&&str| folder.join(path).is_file();
        let criteria = |planned: &crate::reducer::PlannedStory| {
            let criteria = story::criteria(&text(&planned.path)?);
            (!criteria.is_empty()).then(|| (planned.id.clone(), criteria))
        };
        Self {
            epic,
            pointers: POINTERS.iter().filter(exists).map(|&path| path.to_owned()).collect(),
            criteria: plan.stories.iter().filter_map(criteria).collect(),
        }
    }
}
