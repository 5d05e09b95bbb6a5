//! Skill outputs.

use handover_model::{GroupId, Role, SessionId, SkillName, SkillOutput, Timestamp};
use handover_text::CleanJson;
use serde::{Deserialize, Serialize};

use crate::Result;

/// A skill output to be saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewSkillOutput {
    /// The session.
    pub session: SessionId,
    /// The skill.
    pub skill: SkillName,
    /// For whom it ran.
    pub role: Option<Role>,
    /// For which group it ran.
    pub group: Option<GroupId>,
    /// What it returned.
    pub output: CleanJson,
    /// Now.
    pub now: Timestamp,
}

/// Which outputs to list; what is `None` fits everything.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SkillOutputFilter {
    /// Only of this skill.
    pub skill: Option<SkillName>,
    /// Only for this role.
    pub role: Option<Role>,
    /// Only for this group.
    pub group: Option<GroupId>,
    /// At most so many.
    pub limit: Option<u32>,
}

/// Skill outputs.
pub trait SkillOutputs {
    /// Saves a new row, never replacing one. The iteration counts 1, 2, 3 … per (session, skill,
    /// role, group), an absent role or group being a value of its own; concurrent callers get
    /// distinct ones.
    fn save_skill_output(&self, new: &NewSkillOutput) -> Result<SkillOutput>;

    /// The session's outputs.
    fn skill_outputs(
        &self,
        session: &SessionId,
        filter: &SkillOutputFilter,
    ) -> Result<Vec<SkillOutput>>;
}
