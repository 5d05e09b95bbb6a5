//! Skill outputs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{GroupId, Role, SessionId, SkillName, SkillOutputId, Timestamp};

/// The output of a skill (a composition, a scan, a check); every call adds a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkillOutput {
    /// Unique within a store.
    pub id: SkillOutputId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The name of the skill.
    pub skill: SkillName,
    /// The role it ran for.
    pub role: Option<Role>,
    /// The group it ran for.
    pub group: Option<GroupId>,
    /// 1, 2, 3 … per (session, skill, role, group).
    pub iteration: u32,
    /// The returned value.
    pub output: Value,
    /// When it was recorded.
    pub created_at: Timestamp,
}
