//! Skill outputs.

use handover_model::{GroupId, Role, SessionId, SkillName, SkillOutput, Timestamp};
use handover_text::CleanJson;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`SkillOutputs::save_skill_output`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewSkillOutput {
    /// The session that owns it.
    pub session: SessionId,
    /// The skill that produced it.
    pub skill: SkillName,
    /// The role that it ran for, if any.
    pub role: Option<Role>,
    /// The group that it ran for, if any.
    pub group: Option<GroupId>,
    /// Its output.
    pub output: CleanJson,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

/// Which outputs to list; `None` matches everything.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SkillOutputFilter {
    /// Only of this skill.
    pub skill: Option<SkillName>,
    /// Only for this role.
    pub role: Option<Role>,
    /// Only for this group.
    pub group: Option<GroupId>,
    /// The maximum number of results; none means all.
    pub limit: Option<u32>,
}

/// Skill outputs.
pub trait SkillOutputs {
    /// Adds a row, never replacing one. The iteration counts 1, 2, 3 … per (session, skill, role, group),
    /// where an absent role or group is a distinct value; concurrent callers get distinct iterations.
    fn save_skill_output(&self, new: &NewSkillOutput) -> Result<SkillOutput>;

    /// The session's outputs.
    fn skill_outputs(
        &self,
        session: &SessionId,
        filter: &SkillOutputFilter,
    ) -> Result<Vec<SkillOutput>>;
}
