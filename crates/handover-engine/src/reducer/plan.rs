//! The plan of a run, which is fixed, and its options, which a resume may change.

use handover_model::config::BudgetConfig;
use handover_model::{EpicId, Host, SessionId};
use serde::{Deserialize, Serialize};

use crate::data::{Account, Earlier, uat_data_path};
use crate::pipeline::Pipeline;

/// What a run works on; fixed when it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The epic.
    pub epic: EpicId,
    /// Its file, relative to the project.
    pub epic_file: Option<String>,
    /// The session that its records go to.
    pub records_in: SessionId,
    /// The commit that it starts from.
    pub base: String,
    /// The user's branch, if one was checked out.
    pub user_branch: Option<String>,
    /// The branch that it commits to.
    pub branch: String,
    /// Whether that branch existed before.
    pub continues: bool,
    /// Whether the gates run on the base before the first agent.
    #[serde(default)]
    pub checks_base: bool,
    /// Whether the epic is closed even if none of its stories is worked on.
    #[serde(default)]
    pub closes_anyway: bool,
    /// The steps of each story and of the epic.
    pub pipeline: Pipeline,
    /// The stories, in the order of work.
    pub stories: Vec<PlannedStory>,
    /// Files that carry a number of the epic but are not stories, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_stories: Vec<(String, String)>,
}

/// Why a plan skips a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Skip {
    /// It is done.
    #[serde(rename = "done already")]
    Done,
    /// It is a draft.
    #[serde(rename = "not ready yet")]
    Draft,
    /// Its status says that it is blocked.
    #[serde(rename = "blocked")]
    Blocked,
    /// It comes before the story that the user starts with.
    #[serde(rename = "before the story to start from")]
    Before,
}

impl Skip {
    /// The reason, as shown to users.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done already",
            Self::Draft => "not ready yet",
            Self::Blocked => "blocked",
            Self::Before => "before the story to start from",
        }
    }

    /// What stories that depend on it wait for, as the end of a sentence.
    pub(super) const fn keeps_waiting(self) -> Option<&'static str> {
        match self {
            Self::Done => None,
            Self::Draft => Some("which is a draft"),
            Self::Blocked => Some("which is blocked"),
            Self::Before => Some("which is not done and comes before the story to start from"),
        }
    }
}

/// A story of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStory {
    /// Its id.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Its file, relative to the project; for the closing unit its scenarios, if there are any.
    pub path: String,
    /// The stories that it depends on.
    pub waits_for: Vec<String>,
    /// Why it is skipped, if it is.
    pub skip: Option<Skip>,
    /// What an earlier run left of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
    /// What is known of it, if it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<Account>,
}

impl Plan {
    /// The unit that closes the epic.
    pub(super) fn closing(&self) -> PlannedStory {
        PlannedStory {
            id: format!("epic-{}", self.epic),
            title: format!("Epic {}", self.epic),
            path: match self.pipeline.uat() {
                Some(_) => uat_data_path(&self.epic),
                None => String::new(),
            },
            waits_for: Vec::new(),
            skip: None,
            earlier: None,
            done: None,
        }
    }
}

/// How a run works; a resume may change it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// The agent program's kind.
    pub host: Host,
    /// For host `command`: the program and its arguments.
    pub command: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Whether no branch is moved.
    pub no_commit: bool,
    /// Whether the user's branch is fast-forwarded when the run ends.
    pub merge: bool,
    /// How many stories are open at once.
    #[serde(default = "one")]
    pub parallel: u32,
    /// How long a phase may take, in seconds.
    pub phase_timeout: u64,
    /// How long an agent may be silent, in seconds.
    pub idle_timeout: u64,
    /// How often a story is fixed before it fails.
    pub max_fixes: u32,
    /// Whether failing scenarios fail the run.
    #[serde(default)]
    pub uat_blocking: bool,
    /// How often a failed story is retried with the advice of an analysis.
    #[serde(default = "one")]
    pub max_retries: u32,
    /// Limits on money, tokens, turns and time.
    pub budget: BudgetConfig,
}

fn one() -> u32 {
    1
}
