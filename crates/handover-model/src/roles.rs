//! What each role receives: budget shares, package limit, whose reasoning it sees.
//!
//! One table. The configuration overrides single values; unknown roles use the last row.

use serde::{Deserialize, Serialize};

use crate::{Phase, ReasoningLevel, Role, Trust};

/// What a role receives.
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
    /// The most packages.
    pub limit: usize,
    /// When reasoning is included by default.
    pub reasoning: ReasoningDefault,
    /// How much of it by default.
    pub level: ReasoningLevel,
    /// Whose reasoning is included.
    pub sources: Sources,
    /// The phases that are included, most important first.
    pub phases: &'static [Phase],
}

/// When a role receives reasoning by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningDefault {
    /// In every attempt.
    Always,
    /// From the second attempt on.
    OnRetry,
    /// Only on request.
    Never,
}

/// Whose reasoning a role sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sources {
    /// All roles.
    Everyone,
    /// Only these roles.
    Roles(&'static [&'static str]),
}

impl Sources {
    /// Whether a role is one of the sources.
    pub fn include(self, role: &Role) -> bool {
        match self {
            Self::Everyone => true,
            Self::Roles(names) => names.contains(&role.as_str()),
        }
    }
}

/// What a role does with the work of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duty {
    /// Builds it, and fixes what is sent back.
    Builds,
    /// Takes over when the work keeps coming back.
    Rescues,
    /// Accepts it or sends it back.
    Judges,
    /// Something else.
    Other,
}

impl Duty {
    /// The duty of a role.
    pub fn of(role: &Role) -> Self {
        match role.as_str() {
            DEVELOPER => Self::Builds,
            SENIOR | INVESTIGATOR => Self::Rescues,
            QA | LEAD | MANAGER => Self::Judges,
            _ => Self::Other,
        }
    }
}

/// Whether a role writes the code that others judge.
pub fn writes_code(role: &Role) -> bool {
    matches!(role.as_str(), DEVELOPER | SENIOR)
}

/// Configured overrides of single values of the table.
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
    /// The most packages.
    pub limit: Option<usize>,
    /// The lowest trust class of what it receives.
    pub min_trust: Option<Trust>,
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
        level: ReasoningLevel::Medium,
        sources,
        phases,
    }
}

/// The role for implementation work.
pub const DEVELOPER: &str = "developer";
const SENIOR: &str = "senior_software_engineer";
const QA: &str = "qa_expert";
const LEAD: &str = "tech_lead";
const INVESTIGATOR: &str = "investigator";
const MANAGER: &str = "project_manager";
/// The role that starts the others.
pub const ORCHESTRATOR: &str = "orchestrator";

/// The roles that exist without configuration.
pub const BUILT_IN: &[&str] =
    &[DEVELOPER, SENIOR, QA, LEAD, INVESTIGATOR, "requirements_engineer", MANAGER, ORCHESTRATOR];

impl RoleRules {
    /// The built-in rules of a role.
    pub fn of(role: &Role) -> Self {
        use ReasoningDefault::{Always, Never, OnRetry};
        use Sources::{Everyone, Roles};
        match role.as_str() {
            DEVELOPER => {
                rules([50, 20, 20, 10], 3, OnRetry, Roles(&[DEVELOPER, QA, LEAD]), ALL_PHASES)
            }
            // The senior engineer must not repeat what failed.
            SENIOR => Self {
                level: ReasoningLevel::Full,
                ..rules([40, 20, 25, 15], 5, Always, Roles(&[DEVELOPER]), ALL_PHASES)
            },
            QA => rules([40, 15, 30, 15], 5, Always, Roles(&[DEVELOPER, SENIOR]), QA_PHASES),
            LEAD => rules([30, 15, 40, 15], 5, Always, Roles(&[DEVELOPER, SENIOR, QA]), ALL_PHASES),
            // Finding a cause takes the whole chain of events.
            INVESTIGATOR => Self {
                level: ReasoningLevel::Full,
                ..rules([35, 15, 35, 15], 5, Always, Roles(&[DEVELOPER, SENIOR, QA]), ALL_PHASES)
            },
            MANAGER => rules([50, 20, 20, 10], 3, Always, Everyone, &[Phase::Completion]),
            _ => rules([50, 20, 20, 10], 3, Never, Everyone, ALL_PHASES),
        }
    }

    /// These rules with configured overrides.
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

    /// Whether the role receives reasoning by default in an attempt.
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
    use proptest::prelude::*;

    use super::*;

    fn of(name: &str) -> RoleRules {
        RoleRules::of(&Role::new(name).unwrap())
    }

    #[test]
    fn shares_match_the_specification() {
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
    fn developers_get_reasoning_only_on_retry() {
        assert!(!of("developer").reasons(0) && of("developer").reasons(1));
        assert!(of("qa_expert").reasons(0) && !of("anybody").reasons(3));
    }

    #[test]
    fn configuration_overrides_single_values() {
        let set = RoleOverride { limit: Some(9), ..RoleOverride::default() };
        assert_eq!(of("developer").with(&set), RoleRules { limit: 9, ..of("developer") });
    }

    #[test]
    fn overrides_are_capped_at_a_hundred_percent() {
        let set = RoleOverride {
            context: Some(101),
            errors: Some(100),
            specialization: Some(u64::MAX),
            task: Some(0),
            limit: Some(0),
            min_trust: None,
        };
        let rules = of("qa_expert").with(&set);
        assert_eq!((rules.context_percent, rules.errors_percent), (100, 100));
        assert_eq!((rules.specialization_percent, rules.task_percent, rules.limit), (100, 0, 0));
        assert_eq!(rules.phases, of("qa_expert").phases);
        assert_eq!(rules.sources, of("qa_expert").sources);
    }

    #[test]
    fn an_empty_override_changes_nothing() {
        for name in BUILT_IN {
            assert_eq!(of(name).with(&RoleOverride::default()), of(name), "{name}");
        }
    }

    #[test]
    fn roles_see_the_reasoning_of_those_before_them() {
        let sees =
            |reader: &str, author: &str| of(reader).sources.include(&Role::new(author).unwrap());
        for (reader, authors) in [
            ("developer", vec!["developer", "qa_expert", "tech_lead"]),
            ("senior_software_engineer", vec!["developer"]),
            ("qa_expert", vec!["developer", "senior_software_engineer"]),
            ("tech_lead", vec!["developer", "senior_software_engineer", "qa_expert"]),
            ("investigator", vec!["developer", "senior_software_engineer", "qa_expert"]),
        ] {
            for author in BUILT_IN {
                assert_eq!(sees(reader, author), authors.contains(author), "{reader} {author}");
            }
        }
        assert!(BUILT_IN.iter().all(|author| sees("project_manager", author)));
    }

    #[test]
    fn duties_are_those_of_the_workflow() {
        let duty = |name: &str| Duty::of(&Role::new(name).unwrap());
        assert_eq!(duty("developer"), Duty::Builds);
        assert_eq!([duty("senior_software_engineer"), duty("investigator")], [Duty::Rescues; 2]);
        let judges = ["qa_expert", "tech_lead", "project_manager"];
        assert_eq!(judges.map(duty), [Duty::Judges; 3]);
        assert_eq!(["requirements_engineer", "gardener"].map(duty), [Duty::Other; 2]);
        let writes = |name: &str| writes_code(&Role::new(name).unwrap());
        assert!(writes("developer") && writes("senior_software_engineer"));
        assert!(!writes("investigator") && !writes("qa_expert"));
    }

    #[test]
    fn reasoning_phases_depend_on_the_role() {
        assert_eq!(of("project_manager").phases, [Phase::Completion]);
        assert_eq!(of("qa_expert").phases.len(), 3);
        assert_eq!(of("developer").phases.len(), Phase::ALL.len());
        assert_eq!(of("developer").phases[0], Phase::Completion);
    }

    #[test]
    fn reasoning_depends_on_role_and_attempt() {
        for (name, first, later) in [
            ("developer", false, true),
            ("senior_software_engineer", true, true),
            ("qa_expert", true, true),
            ("tech_lead", true, true),
            ("investigator", true, true),
            ("project_manager", true, true),
            ("requirements_engineer", false, false),
            ("orchestrator", false, false),
        ] {
            let rules = of(name);
            assert_eq!(
                (rules.reasons(0), rules.reasons(1), rules.reasons(9)),
                (first, later, later),
                "{name}"
            );
        }
    }

    #[test]
    fn built_in_roles_are_valid_and_different() {
        let mut names: Vec<&str> = BUILT_IN.to_vec();
        assert!(names.iter().all(|name| Role::new(*name).is_ok()));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 8);
        assert_eq!(BUILT_IN[0], DEVELOPER);
    }

    proptest! {
        /// Each override sets its own value, capped, and nothing else.
        #[test]
        fn overrides_are_independent(
            name in prop::sample::select(BUILT_IN.to_vec()),
            context in prop::option::of(0_u64..200), errors in prop::option::of(0_u64..200),
            specialization in prop::option::of(0_u64..200), task in prop::option::of(0_u64..200),
            limit in prop::option::of(0_usize..50),
        ) {
            let base = of(name);
            let set = RoleOverride { context, errors, specialization, task, limit, min_trust: None };
            let rules = base.with(&set);
            prop_assert_eq!(rules.context_percent, context.unwrap_or(base.context_percent).min(100));
            prop_assert_eq!(rules.errors_percent, errors.unwrap_or(base.errors_percent).min(100));
            prop_assert_eq!(rules.specialization_percent, specialization.unwrap_or(base.specialization_percent).min(100));
            prop_assert_eq!(rules.task_percent, task.unwrap_or(base.task_percent).min(100));
            prop_assert_eq!(rules.limit, limit.unwrap_or(base.limit));
            prop_assert_eq!((rules.reasoning, rules.phases), (base.reasoning, base.phases));
            prop_assert_eq!(rules.with(&set), rules, "setting twice changes nothing");
        }
    }
}
