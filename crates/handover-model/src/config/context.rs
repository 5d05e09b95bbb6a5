//! What agents receive: context, specialization, brief, guard.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::budget::{
    Budget, PREFACE_LARGE, PREFACE_MEDIUM, PREFACE_SMALL, SPECIALIZATION_FLOOR,
    SPECIALIZATION_PERCENT,
};
use crate::roles::{RoleOverride, RoleRules};
use crate::{GuardMode, Role, Routing, TestingMode, Tier, Trust};

/// `[assembly]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AssemblyConfig {
    /// Whether agents receive context at all.
    pub enabled: bool,
    /// Roles that receive none.
    pub roles_disabled: Vec<Role>,
    /// Who receives which packages.
    pub routing: Routing,
    /// The share of a model's window that is never used.
    pub safety_margin: f64,
    /// The weight of priority, group, addressee and age, next to relevance to the task.
    pub prior: f64,
    /// The weight of a matching word by the column it is found in.
    pub weights: ColumnWeights,
    /// The lowest trust class of what agents receive.
    pub min_trust: Trust,
    /// Whether items that agents used before come first.
    pub learn_from_use: bool,
    /// Overrides of the role table, by role.
    pub roles: BTreeMap<String, RoleOverride>,
}

impl Default for AssemblyConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            roles_disabled: Vec::new(),
            routing: Routing::default(),
            safety_margin: 0.15,
            prior: 0.1,
            weights: ColumnWeights::default(),
            min_trust: Trust::Outside,
            learn_from_use: true,
            roles: BTreeMap::new(),
        }
    }
}

impl AssemblyConfig {
    /// The rules of a role, with what the configuration overrides.
    pub fn rules(&self, role: &Role) -> RoleRules {
        let rules = RoleRules::of(role);
        self.roles.get(role.as_str()).map_or(rules, |set| rules.with(set))
    }

    /// The lowest trust class of what a role receives.
    pub fn min_trust(&self, role: &Role) -> Trust {
        let of_role = self.roles.get(role.as_str()).and_then(|set| set.min_trust);
        of_role.unwrap_or(self.min_trust)
    }

    /// The token budget of a role in a window of which `current` tokens are used.
    pub fn budget(&self, role: &Role, window: u64, current: u64) -> Budget {
        let margin = (self.safety_margin.clamp(0.0, 1.0) * 1_000.0).round() as u64;
        Budget::new(window, margin, current, &self.rules(role))
    }

    /// The key that disables context for a role, if any.
    pub fn switched_off_by(&self, role: &Role) -> Option<&'static str> {
        if !self.enabled {
            Some("assembly.enabled")
        } else if self.roles_disabled.contains(role) {
            Some("assembly.roles_disabled")
        } else {
            None
        }
    }
}

/// `[assembly.weights]`
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnWeights {
    /// The first heading.
    pub title: f64,
    /// The summary.
    pub summary: f64,
    /// The paths the package is about.
    pub files: f64,
    /// The text.
    pub body: f64,
    /// The author, the day, and the summary of the preceding package.
    pub context: f64,
}

impl Default for ColumnWeights {
    /// Measured on public data sets, see docs/retrieval.md.
    fn default() -> Self {
        Self { title: 3.0, summary: 3.0, files: 2.0, body: 1.0, context: 1.3 }
    }
}

/// `[specialization]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpecializationConfig {
    /// Whether agents receive a specialization at all.
    pub enabled: bool,
    /// Roles that receive none.
    pub roles_disabled: Vec<Role>,
    /// How much testing the workflow includes, unless a flag overrides it.
    pub testing_mode: TestingMode,
}

impl Default for SpecializationConfig {
    fn default() -> Self {
        Self { enabled: true, roles_disabled: Vec::new(), testing_mode: TestingMode::default() }
    }
}

impl SpecializationConfig {
    /// The key that disables the specialization for a role, if any.
    pub fn switched_off_by(&self, role: &Role) -> Option<&'static str> {
        if !self.enabled {
            Some("specialization.enabled")
        } else if self.roles_disabled.contains(role) {
            Some("specialization.roles_disabled")
        } else {
            None
        }
    }
}

/// The smallest useful preface.
const LEAST_PREFACE: u64 = 300;

/// `[brief]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BriefConfig {
    /// Tokens for context and specialization together, for a small model.
    pub small: u64,
    /// The same for a medium model.
    pub medium: u64,
    /// The same for a large model.
    pub large: u64,
    /// The minimum share of the specialization when there is evidence about the project, in percent; halved
    /// on a retry.
    pub specialization_floor: u64,
    /// Whether what the project already knows is in a brief.
    pub notes: bool,
    /// Whether a brief says what other agents of the same conversation are doing.
    pub beside: bool,
    /// Role descriptions that replace the built-in ones.
    pub roles: BTreeMap<String, RoleText>,
}

/// The description of a role; fields that are absent keep the built-in text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleText {
    /// Who it is, in one sentence.
    pub identity: Option<String>,
    /// What it pays attention to first.
    pub focus: Option<String>,
    /// What it must and must not do.
    pub rules: Option<Vec<String>>,
}

impl Default for BriefConfig {
    fn default() -> Self {
        Self {
            small: PREFACE_SMALL,
            medium: PREFACE_MEDIUM,
            large: PREFACE_LARGE,
            specialization_floor: SPECIALIZATION_FLOOR,
            notes: true,
            beside: true,
            roles: BTreeMap::new(),
        }
    }
}

impl BriefConfig {
    /// Tokens for context and specialization together, never less than the minimum.
    pub fn preface(&self, tier: Tier) -> u64 {
        let set = match tier {
            Tier::Small => self.small,
            Tier::Medium => self.medium,
            Tier::Large => self.large,
        };
        set.max(LEAST_PREFACE)
    }

    /// Tokens for the specialization while nothing is known of the project.
    pub fn specialization(&self, tier: Tier) -> u64 {
        (u128::from(self.preface(tier)) * u128::from(SPECIALIZATION_PERCENT) / 100) as u64
    }

    /// The minimum number of tokens for the specialization when there is evidence about the project.
    pub fn specialization_floor(&self, tier: Tier, retry: bool) -> u64 {
        let share = u128::from(self.specialization_floor.min(100));
        let floor = (u128::from(self.preface(tier)) * share / 100) as u64;
        if retry { floor / 2 } else { floor }
    }
}

/// `[guard]`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuardConfig {
    /// What happens to a spawn without context or specialization.
    pub mode: GuardMode,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specialization_gets_its_share_of_the_preface() {
        let brief = BriefConfig::default();
        let of = |tier| (brief.preface(tier), brief.specialization(tier));
        assert_eq!(of(Tier::Small), (900, 540));
        assert_eq!(of(Tier::Medium), (1_200, 720));
        assert_eq!(of(Tier::Large), (1_800, 1_080));
        let floor = |retry| brief.specialization_floor(Tier::Medium, retry);
        assert_eq!((floor(false), floor(true)), (300, 150));
    }

    #[test]
    fn names_the_key_that_disables_a_specialization() {
        let role = Role::new("developer").unwrap();
        let mut config = SpecializationConfig::default();
        assert_eq!(config.switched_off_by(&role), None);
        config.roles_disabled.push(role.clone());
        assert_eq!(config.switched_off_by(&role), Some("specialization.roles_disabled"));
        config.enabled = false;
        assert_eq!(config.switched_off_by(&role), Some("specialization.enabled"));
    }

    #[test]
    fn names_the_key_that_disables_context() {
        let role = Role::new("developer").unwrap();
        let mut config = AssemblyConfig::default();
        assert_eq!(config.switched_off_by(&role), None);
        config.roles_disabled.push(Role::new("qa_expert").unwrap());
        assert_eq!(config.switched_off_by(&role), None);
        config.roles_disabled.push(role.clone());
        assert_eq!(config.switched_off_by(&role), Some("assembly.roles_disabled"));
        config.enabled = false;
        assert_eq!(config.switched_off_by(&role), Some("assembly.enabled"));
    }

    #[test]
    fn a_preface_has_a_minimum() {
        let brief = BriefConfig { small: 0, medium: 299, large: 301, ..BriefConfig::default() };
        assert_eq!(brief.preface(Tier::Small), 300);
        assert_eq!(brief.preface(Tier::Medium), 300);
        assert_eq!(brief.preface(Tier::Large), 301);
    }
}
