//! Skill outputs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{GroupId, Role, SessionId, SkillName, SkillOutputId, Timestamp};

/// What a skill (a composition, a scan, a check) returned; every call is a new row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkillOutput {
    /// Unique within a store.
    pub id: SkillOutputId,
    /// The session that it belongs to.
    pub session: SessionId,
    /// The skill.
    pub skill: SkillName,
    /// For whom it ran.
    pub role: Option<Role>,
    /// For which group it ran.
    pub group: Option<GroupId>,
    /// 1, 2, 3 … per (session, skill, role, group).
    pub iteration: u32,
    /// What it returned.
    pub output: Value,
    /// When.
    pub created_at: Timestamp,
}
