//! Agent programs and their hooks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Role, SessionId};

/// `[agents]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentsConfig {
    /// Seconds after which an agent is terminated.
    pub timeout: u64,
    /// Seconds without output after which an agent is terminated.
    pub idle_timeout: u64,
    /// Environment variables that agents see in addition to the usual ones: `NAME` or `PREFIX*`.
    pub environment: Vec<String>,
    /// The executable of each host, if it is not the one on `PATH`.
    pub programs: BTreeMap<String, String>,
}

impl Default for AgentsConfig {
    fn default() -> Self {
        Self {
            timeout: 3_600,
            idle_timeout: 900,
            environment: Vec::new(),
            programs: BTreeMap::new(),
        }
    }
}

/// `[hooks]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HooksConfig {
    /// Whether hooks do anything.
    pub enabled: bool,
    /// The role of each subagent type, in addition to the built-in ones; `none` excludes a type.
    pub roles: BTreeMap<String, Role>,
    /// Roles whose subagents are not briefed.
    pub roles_disabled: Vec<Role>,
    /// Sessions in which hooks do nothing.
    pub sessions_disabled: Vec<SessionId>,
    /// Whether a subagent that ends without a debrief is asked for one, once.
    pub debrief_required: bool,
    /// Milliseconds after which a hook gives up and lets the host continue.
    pub deadline_ms: u64,
}

impl Default for HooksConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            roles: BTreeMap::new(),
            roles_disabled: Vec::new(),
            sessions_disabled: Vec::new(),
            debrief_required: true,
            deadline_ms: 5_000,
        }
    }
}

impl HooksConfig {
    /// The role of a subagent type; none if it is not briefed. `general` lists the host's general-purpose
    /// types.
    pub fn role_of(&self, agent_type: &str, general: &[&str]) -> Option<Role> {
        let role = match self.roles.get(agent_type) {
            Some(role) if role.as_str() == "none" => return None,
            Some(role) => role.clone(),
            None if general.contains(&agent_type) => Role::new(crate::roles::DEVELOPER).ok()?,
            // Types named after our roles: `qa-expert`, `team:qa_expert`.
            None => {
                let name = agent_type.rsplit(':').next()?.replace('-', "_");
                Role::new(*crate::roles::BUILT_IN.iter().find(|role| **role == name)?).ok()?
            }
        };
        (!self.roles_disabled.contains(&role)).then_some(role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_subagent_types_to_roles() {
        let mut hooks = HooksConfig::default();
        let role = |hooks: &HooksConfig, kind: &str| {
            hooks.role_of(kind, &["general-purpose"]).map_or_else(String::new, String::from)
        };
        assert_eq!(role(&hooks, "general-purpose"), "developer");
        assert_eq!(role(&hooks, "qa-expert"), "qa_expert");
        assert_eq!(role(&hooks, "team:tech_lead"), "tech_lead");
        for other in ["Explore", "Plan", "explorer", "worker", "team:", ""] {
            assert_eq!(role(&hooks, other), "", "{other}");
        }
        hooks.roles.insert("Explore".to_owned(), Role::new("investigator").unwrap());
        hooks.roles.insert("general-purpose".to_owned(), Role::new("none").unwrap());
        hooks.roles_disabled.push(Role::new("qa_expert").unwrap());
        assert_eq!(role(&hooks, "Explore"), "investigator");
        assert_eq!(role(&hooks, "general-purpose"), "");
        assert_eq!(role(&hooks, "qa-expert"), "");
    }
}
