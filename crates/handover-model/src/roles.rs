//! What each role gets: its shares of the budget, its limit, whose reasoning it sees.
//!
//! One table; configuration overrides single values, and any other role has the last row.

use serde::{Deserialize, Serialize};

use crate::{Phase, Role};

/// What a role gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleRules {
    /// Percent of the remaining budget for packages and reasoning.
    pub context_percent: u64,
    /// Percent of the remaining budget for error patterns and strategies.
    pub errors_percent: u64,
    /// Percent of the remaining budget for the specialization.
    pub specialization_percent: u64,
    /// Percent of the remaining budget for the task.
    pub task_percent: u64,
    /// How many packages at most.
    pub limit: usize,
    /// When reasoning is given without being asked for.
    pub reasoning: ReasoningDefault,
    /// Whose reasoning.
    pub sources: Sources,
    /// Which phases of it.
    pub phases: &'static [Phase],
}

/// When a role is given reasoning without being asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningDefault {
    /// Always.
    Always,
    /// From the second attempt on.
    OnRetry,
    /// Never.
    Never,
}

/// Whose reasoning a role sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sources {
    /// Everyone's.
    Everyone,
    /// That of these roles.
    Roles(&'static [&'static str]),
}

impl Sources {
    /// Whether a role is among them.
    pub fn include(self, role: &Role) -> bool {
        match self {
            Self::Everyone => true,
            Self::Roles(names) => names.contains(&role.as_str()),
        }
    }
}

/// Single values of the table, as configuration sets them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoleOverride {
    /// Percent for packages and reasoning.
    pub context: Option<u64>,
    /// Percent for error patterns and strategies.
    pub errors: Option<u64>,
    /// Percent for the specialization.
    pub specialization: Option<u64>,
    /// Percent for the task.
    pub task: Option<u64>,
    /// How many packages at most.
    pub limit: Option<usize>,
}

const ALL_PHASES: &[Phase] = &[
    Phase::Completion,
    Phase::Decisions,
    Phase::Understanding,
    Phase::Approach,
    Phase::Risks,
    Phase::Blockers,
    Phase::Pivot,
];
const QA_PHASES: &[Phase] = &[Phase::Completion, Phase::Decisions, Phase::Understanding];

const fn rules(
    [task, specialization, context, errors]: [u64; 4],
    limit: usize,
    reasoning: ReasoningDefault,
    sources: Sources,
    phases: &'static [Phase],
) -> RoleRules {
    RoleRules {
        context_percent: context,
        errors_percent: errors,
        specialization_percent: specialization,
        task_percent: task,
        limit,
        reasoning,
        sources,
        phases,
    }
}

/// The role of whoever builds something.
pub const DEVELOPER: &str = "developer";
const SENIOR: &str = "senior_software_engineer";
const QA: &str = "qa_expert";
const LEAD: &str = "tech_lead";

/// The roles that are there without any configuration.
pub const BUILT_IN: &[&str] = &[
    DEVELOPER,
    SENIOR,
    QA,
    LEAD,
    "investigator",
    "requirements_engineer",
    "project_manager",
    "orchestrator",
];

impl RoleRules {
    /// The rules of a role.
    pub fn of(role: &Role) -> Self {
        use ReasoningDefault::{Always, Never, OnRetry};
        use Sources::{Everyone, Roles};
        match role.as_str() {
            DEVELOPER => {
                rules([50, 20, 20, 10], 3, OnRetry, Roles(&[DEVELOPER, QA, LEAD]), ALL_PHASES)
            }
            SENIOR => rules([40, 20, 25, 15], 5, Always, Roles(&[DEVELOPER]), ALL_PHASES),
            QA => rules([40, 15, 30, 15], 5, Always, Roles(&[DEVELOPER, SENIOR]), QA_PHASES),
            LEAD => rules([30, 15, 40, 15], 5, Always, Roles(&[DEVELOPER, SENIOR, QA]), ALL_PHASES),
            "investigator" => {
                rules([35, 15, 35, 15], 5, Always, Roles(&[DEVELOPER, SENIOR, QA]), ALL_PHASES)
            }
            "project_manager" => rules([50, 20, 20, 10], 3, Always, Everyone, &[Phase::Completion]),
            _ => rules([50, 20, 20, 10], 3, Never, Everyone, ALL_PHASES),
        }
    }

    /// The same with the values that configuration sets.
    pub fn with(self, set: &RoleOverride) -> Self {
        Self {
            context_percent: set.context.unwrap_or(self.context_percent).min(100),
            errors_percent: set.errors.unwrap_or(self.errors_percent).min(100),
            specialization_percent: set
                .specialization
                .unwrap_or(self.specialization_percent)
                .min(100),
            task_percent: set.task.unwrap_or(self.task_percent).min(100),
            limit: set.limit.unwrap_or(self.limit),
            ..self
        }
    }

    /// Whether the role is given reasoning in an attempt.
    pub fn reasons(&self, iteration: u32) -> bool {
        match self.reasoning {
            ReasoningDefault::Always => true,
            ReasoningDefault::OnRetry => iteration > 0,
            ReasoningDefault::Never => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> RoleRules {
        RoleRules::of(&Role::new(name).unwrap())
    }

    #[test]
    fn shares_are_those_of_the_specification() {
        for (name, task, specialization, context, errors, limit) in [
            ("developer", 50, 20, 20, 10, 3),
            ("senior_software_engineer", 40, 20, 25, 15, 5),
            ("qa_expert", 40, 15, 30, 15, 5),
            ("tech_lead", 30, 15, 40, 15, 5),
            ("investigator", 35, 15, 35, 15, 5),
            ("anybody", 50, 20, 20, 10, 3),
        ] {
            let rules = of(name);
            assert_eq!(
                (
                    rules.task_percent,
                    rules.specialization_percent,
                    rules.context_percent,
                    rules.errors_percent,
                    rules.limit
                ),
                (task, specialization, context, errors, limit),
                "{name}"
            );
            assert_eq!(task + specialization + context + errors, 100);
        }
    }

    #[test]
    fn a_first_time_developer_gets_no_reasoning_a_retry_does() {
        assert!(!of("developer").reasons(0) && of("developer").reasons(1));
        assert!(of("qa_expert").reasons(0) && !of("anybody").reasons(3));
    }

    #[test]
    fn configuration_sets_single_values() {
        let set = RoleOverride { limit: Some(9), ..RoleOverride::default() };
        assert_eq!(of("developer").with(&set), RoleRules { limit: 9, ..of("developer") });
    }
}
