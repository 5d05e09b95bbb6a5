//! What an earlier run left of a story that it did not finish.

use serde::{Deserialize, Serialize};

/// An unfinished attempt of an earlier run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// The branch that holds its work.
    pub branch: String,
    /// Why it was not finished.
    pub reason: String,
    /// What its kickoff found, if the story has not changed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kickoff: Option<String>,
    /// What reviewers and analysts said.
    pub records: String,
}
