//! Agent programs and their hooks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::kinds;
use crate::{OnMissing, Role, SessionId};

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
    /// Subagent types that are not briefed, each with the reason.
    pub exempt: BTreeMap<String, String>,
    /// Whether a prompt may exempt its subagent: `<!-- handover:exempt REASON -->` on a line by itself.
    pub exempt_marker: bool,
    /// What happens to a subagent that would work without a brief.
    pub on_missing: OnMissing,
    /// Sessions in which hooks do nothing.
    pub sessions_disabled: Vec<SessionId>,
    /// Whether a subagent that ends without a debrief is asked for one, once.
    pub debrief_required: bool,
    /// The most tokens of what a subagent returns to its parent; a longer text becomes a package. None leaves it
    /// as it is.
    pub return_tokens: Option<u64>,
    /// Milliseconds after which a hook gives up and lets the host continue.
    pub deadline_ms: u64,
}

impl Default for HooksConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            roles: BTreeMap::new(),
            roles_disabled: Vec::new(),
            exempt: BTreeMap::from([(
                "statusline-setup".to_owned(),
                "it sets up the status line and does not work on the project".to_owned(),
            )]),
            exempt_marker: false,
            on_missing: OnMissing::default(),
            sessions_disabled: Vec::new(),
            debrief_required: true,
            return_tokens: None,
            deadline_ms: 5_000,
        }
    }
}

/// How a subagent type is briefed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Briefing {
    /// As this role.
    As {
        /// The role whose context it gets.
        role: Role,
        /// Whether it is asked for a debrief: one that only reads has its answer.
        debrief: bool,
    },
    /// Not at all, by a rule of the configuration.
    Exempt {
        /// The key of the rule.
        rule: &'static str,
        /// The words of the configuration, or what the rule says.
        reason: String,
    },
}

impl HooksConfig {
    /// How a subagent type is briefed. `general` lists the host's general-purpose types. Every type has a
    /// role: that of the configuration, else its namesake, else the nearest by the words of its name.
    pub fn briefing(&self, agent_type: &str, general: &[&str]) -> Briefing {
        if let Some(reason) = self.exempt.get(agent_type) {
            return Briefing::Exempt { rule: "hooks.exempt", reason: reason.clone() };
        }
        // A type that only reads leaves no debrief, whatever its role.
        let (nearest, debrief) = kinds::role_of(agent_type, general);
        let role = match self.roles.get(agent_type) {
            Some(role) if role.as_str() == "none" => {
                let reason = format!("the role of `{agent_type}` is `none`");
                return Briefing::Exempt { rule: "hooks.roles", reason };
            }
            Some(role) => role.clone(),
            None => nearest,
        };
        if self.roles_disabled.contains(&role) {
            let reason = format!("the role `{role}` is switched off");
            return Briefing::Exempt { rule: "hooks.roles_disabled", reason };
        }
        Briefing::As { role, debrief }
    }

    /// The fewest tokens of what a subagent returns: a summary and where to read the rest.
    pub const MIN_RETURN_TOKENS: u64 = 100;

    /// The most tokens of what a subagent returns to its parent, if that is limited.
    pub fn return_limit(&self) -> Option<u64> {
        self.return_tokens.map(|tokens| tokens.max(Self::MIN_RETURN_TOKENS))
    }

    /// The role of a subagent type; none if it is exempt.
    pub fn role_of(&self, agent_type: &str, general: &[&str]) -> Option<Role> {
        match self.briefing(agent_type, general) {
            Briefing::As { role, .. } => Some(role),
            Briefing::Exempt { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(hooks: &HooksConfig, kind: &str) -> String {
        hooks.role_of(kind, &["general-purpose"]).map_or_else(String::new, String::from)
    }

    #[test]
    fn the_configuration_decides_first() {
        let mut hooks = HooksConfig::default();
        assert_eq!(role(&hooks, "Explore"), "investigator");
        hooks.roles.insert("Explore".to_owned(), Role::new("tech_lead").unwrap());
        hooks.roles.insert("general-purpose".to_owned(), Role::new("none").unwrap());
        hooks.roles_disabled.push(Role::new("qa_expert").unwrap());
        hooks.exempt.insert("Plan".to_owned(), "it plans".to_owned());
        assert_eq!(role(&hooks, "Explore"), "tech_lead");
        for (kind, key) in [
            ("general-purpose", "hooks.roles"),
            ("qa-expert", "hooks.roles_disabled"),
            ("Plan", "hooks.exempt"),
            ("statusline-setup", "hooks.exempt"),
        ] {
            let briefing = hooks.briefing(kind, &["general-purpose"]);
            let Briefing::Exempt { rule, reason } = briefing else { panic!("{kind}") };
            assert_eq!(rule, key, "{kind}");
            assert!(!reason.is_empty(), "{kind}");
        }
        let debrief = |kind: &str| match hooks.briefing(kind, &[]) {
            Briefing::As { debrief, .. } => debrief,
            Briefing::Exempt { .. } => panic!("{kind}"),
        };
        assert!(!debrief("Explore"), "it only reads in every role");
        assert!(debrief("worker"));
    }
}
