//! What a run is about, and how it works.

use handover_model::config::BudgetConfig;
use handover_model::{EpicId, Host, SessionId};
use serde::{Deserialize, Serialize};

use crate::pipeline::Pipeline;

/// What a run is about; fixed when it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The epic.
    pub epic: EpicId,
    /// Its file, relative to the project.
    pub epic_file: Option<String>,
    /// Where its agents' records go.
    pub records_in: SessionId,
    /// The commit that it starts from.
    pub base: String,
    /// The user's branch, if one was checked out.
    pub user_branch: Option<String>,
    /// The branch that it makes.
    pub branch: String,
    /// Whether that branch was there before.
    pub continues: bool,
    /// What happens to a story.
    pub pipeline: Pipeline,
    /// The stories, in the order of work.
    pub stories: Vec<PlannedStory>,
}

/// A story of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStory {
    /// Its id.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Its file, relative to the project; for what closes an epic its scenarios, if there are any.
    pub path: String,
    /// The stories that it waits for.
    pub waits_for: Vec<String>,
    /// Why it is left out, if it is.
    pub skip: Option<String>,
}

impl Plan {
    /// What closes the epic, as one more unit of work.
    pub(super) fn closing(&self) -> PlannedStory {
        PlannedStory {
            id: format!("epic-{}", self.epic),
            title: format!("Epic {}", self.epic),
            path: match self.pipeline.uat() {
                Some(_) => crate::uat::data_path(&self.epic),
                None => String::new(),
            },
            waits_for: Vec::new(),
            skip: None,
        }
    }
}

/// How a run works; can be changed when it is resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The agent program's kind.
    pub host: Host,
    /// For host `command`: the program and its arguments.
    pub command: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Whether commits stay off every branch.
    pub no_commit: bool,
    /// Whether the user's branch follows at the end.
    pub merge: bool,
    /// How many stories are worked on at once.
    #[serde(default = "one")]
    pub parallel: u32,
    /// The longest phase, in seconds.
    pub phase_timeout: u64,
    /// The longest silence, in seconds.
    pub idle_timeout: u64,
    /// How often findings are mended.
    pub max_fixes: u32,
    /// Whether the run fails if its scenarios do.
    #[serde(default)]
    pub uat_blocking: bool,
    /// How often a story is tried again because an analysis found something new.
    #[serde(default = "one")]
    pub max_retries: u32,
    /// What may be spent.
    pub budget: BudgetConfig,
}

fn one() -> u32 {
    1
}
