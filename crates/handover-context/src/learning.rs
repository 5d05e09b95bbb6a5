//! What a project learns: strategies from reasoning, and patterns that match an error.

use std::collections::BTreeSet;

use handover_model::learn::{MAX_INSIGHT_CHARS, similarity, topic_of};
use handover_model::{
    Category, ErrorPattern, GroupId, ProjectId, Reasoning, RecordState, SessionId, Strategy,
    Timestamp,
};
use handover_store::{ErrorFilter, NewStrategy, ReasoningFilter, Result, Store, TimeOrder};
use handover_text::Redactor;

use crate::stack::Stack;

/// The least similarity of a pattern that is offered.
const MIN_SIMILARITY: f64 = 0.5;

/// The technology that strategies are limited to.
#[derive(Debug, Clone, Default)]
pub struct Binding {
    /// The programming language.
    pub language: Option<String>,
    /// The framework.
    pub framework: Option<String>,
}

impl Binding {
    /// The language and framework of a component.
    pub fn of(stack: &Stack, component: Option<&str>) -> Self {
        let view = stack.view(component);
        let first = |category| {
            let mut items = view.items.iter().filter(|item| item.category == category);
            items.next().map(|item| item.name.clone())
        };
        Self { language: first(Category::Language), framework: first(Category::Framework) }
    }
}

/// Words that report an end and teach nothing.
const EMPTY_WORDS: &[&str] = &[
    "all",
    "and",
    "as",
    "asked",
    "chore",
    "complete",
    "completed",
    "done",
    "everything",
    "feature",
    "finished",
    "fixed",
    "good",
    "green",
    "has",
    "have",
    "implemented",
    "is",
    "it",
    "now",
    "ok",
    "pass",
    "passed",
    "passes",
    "passing",
    "ready",
    "requested",
    "successfully",
    "task",
    "test",
    "tests",
    "the",
    "this",
    "unrelated",
    "was",
    "were",
    "with",
    "work",
    "works",
];

/// The fewest words that say something.
const MIN_WORDS: usize = 2;

/// Whether a text says how something was done, rather than just that it was.
fn says_how(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let telling: BTreeSet<String> =
        words.filter(|word| word.len() > 1 && !EMPTY_WORDS.contains(&word.as_str())).collect();
    telling.len() >= MIN_WORDS
}

/// Turns the selected completions, decisions and approaches of a group into strategies, but for those that
/// only say that it is done.
pub fn extract_strategies(
    store: &dyn Store,
    redactor: &Redactor,
    session: &SessionId,
    group: &GroupId,
    binding: &Binding,
    wanted: &dyn Fn(&Reasoning) -> bool,
    now: Timestamp,
) -> Result<Vec<Strategy>> {
    let project = store.session(session)?.project;
    store.group(session, group)?;
    let filter = ReasoningFilter {
        group: Some(group.clone()),
        order: TimeOrder::OldestFirst,
        ..ReasoningFilter::default()
    };
    let bound = |text: &Option<String>| text.as_ref().map(|t| redactor.clean(&t.to_lowercase()));
    let new: Vec<NewStrategy> = store
        .reasoning(session, &filter)?
        .into_iter()
        .filter(|reasoning| wanted(reasoning) && says_how(&reasoning.content))
        .filter_map(|reasoning| {
            Some(NewStrategy {
                project: project.clone(),
                topic: topic_of(reasoning.phase)?,
                insight: redactor.clean(&reasoning.content).one_line().cut(MAX_INSIGHT_CHARS),
                language: bound(&binding.language),
                framework: bound(&binding.framework),
                source: reasoning.id,
                now,
                trust: reasoning.trust,
            })
        })
        .collect();
    store.learn_strategies(&new)
}

/// The live patterns of a project that match a text, best first.
pub fn match_errors(
    store: &dyn Store,
    project: &ProjectId,
    text: &str,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<ErrorPattern>> {
    let filter = in_use(now);
    let mut scored: Vec<(f64, ErrorPattern)> = store
        .errors(project, &filter)?
        .into_iter()
        .map(|pattern| (similarity(&pattern.signature, text), pattern))
        .filter(|(score, _)| *score >= MIN_SIMILARITY)
        .collect();
    // The listing is ordered by trust, and the sort is stable.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.truncate(limit);
    Ok(scored.into_iter().map(|(_, pattern)| pattern).collect())
}

/// Patterns that are neither retired nor older than their time to live.
fn in_use(now: Timestamp) -> ErrorFilter {
    let (live_at, state) = (Some(now), Some(RecordState::Live));
    ErrorFilter { live_at, state, ..ErrorFilter::default() }
}

/// From this similarity on, a text names an error.
pub(crate) const NAMED: f64 = 0.7;

/// The solved pattern that one of the lines names, the best match of the best trusted ones.
pub fn known_fix(
    store: &dyn Store,
    project: &ProjectId,
    lines: &[String],
    now: Timestamp,
) -> Result<Option<ErrorPattern>> {
    let filter = in_use(now);
    let of_line = |pattern: &ErrorPattern, line: &String| similarity(&pattern.signature, line);
    let mut best: Option<(f64, ErrorPattern)> = None;
    // The listing is ordered by trust, so of equally good ones the first wins.
    for pattern in store.errors(project, &filter)?.into_iter().filter(|p| p.solution.is_some()) {
        let score = lines.iter().map(|line| of_line(&pattern, line)).fold(0.0, f64::max);
        if score >= NAMED && best.as_ref().is_none_or(|(least, _)| score > *least) {
            best = Some((score, pattern));
        }
    }
    Ok(best.map(|(_, pattern)| pattern))
}

#[cfg(test)]
mod tests {
    use handover_model::{Phase, Topic};
    use handover_store::{CleanSignature, ErrorPatterns, ErrorSighting, GroupUpdate, Groups};

    use super::*;
    use crate::testing::{TestProject, at, group, project};

    fn learn(
        world: &TestProject,
        binding: &Binding,
        wanted: &dyn Fn(&Reasoning) -> bool,
    ) -> Vec<Strategy> {
        let (store, session) = (&world.store, &world.session);
        extract_strategies(store, &world.redactor, session, &group("P1"), binding, wanted, at(50))
            .unwrap()
    }

    #[test]
    fn completions_decisions_and_approaches_become_strategies() {
        let world = TestProject::new();
        for phase in Phase::ALL {
            world.reason(&group("P1"), *phase, &format!("One lock per {phase} account."));
        }
        world.reason(&group("P2"), Phase::Decisions, "Another group.");
        let mut learned: Vec<(Topic, String)> = learn(&world, &Binding::default(), &|_| true)
            .into_iter()
            .map(|strategy| (strategy.topic, strategy.insight))
            .collect();
        learned.sort();
        assert_eq!(
            learned,
            [
                (Topic::Implementation, "One lock per completion account.".to_owned()),
                (Topic::Architecture, "One lock per decisions account.".to_owned()),
                (Topic::Methodology, "One lock per approach account.".to_owned()),
            ]
        );
    }

    #[test]
    fn only_wanted_reasoning_is_learned_from() {
        let world = TestProject::new();
        world.reason(&group("P1"), Phase::Decisions, "Wanted: lock per account.");
        world.reason(&group("P1"), Phase::Decisions, "Unwanted: lock per table.");
        let learned = learn(&world, &Binding::default(), &|r| r.content.starts_with("Wanted"));
        assert_eq!(learned.len(), 1);
        assert_eq!(learned[0].insight, "Wanted: lock per account.");
        assert!(learn(&world, &Binding::default(), &|_| false).is_empty());
    }

    #[test]
    fn insights_are_one_redacted_line_of_limited_length() {
        let world = TestProject::new();
        let text = format!("Use\n  password=hunter2sEcret {}", "word ".repeat(200));
        world.reason(&group("P1"), Phase::Approach, &text);
        let insight = learn(&world, &Binding::default(), &|_| true).remove(0).insight;
        assert!(insight.starts_with("Use password=[REDACTED-1] word "), "{insight}");
        assert!(insight.chars().count() <= MAX_INSIGHT_CHARS && insight.ends_with('…'));
    }

    #[test]
    fn strategies_are_bound_to_technology_in_lower_case() {
        let world = TestProject::new();
        world.reason(&group("P1"), Phase::Decisions, "Use adapters per canton.");
        let binding =
            Binding { language: Some("Python".to_owned()), framework: Some("FastAPI".to_owned()) };
        let learned = learn(&world, &binding, &|_| true).remove(0);
        assert_eq!(learned.language.as_deref(), Some("python"));
        assert_eq!(learned.framework.as_deref(), Some("fastapi"));
    }

    #[test]
    fn a_bare_done_teaches_nothing() {
        for text in
            ["Done.", "All tests pass.", "Unrelated chore is green", "The task is complete."]
        {
            assert!(!says_how(text), "{text}");
        }
        for text in ["Use adapters per canton.", "Locked the row before the read."] {
            assert!(says_how(text), "{text}");
        }
        let world = TestProject::new();
        world.reason(&group("P1"), Phase::Completion, "Done, all tests pass.");
        assert!(learn(&world, &Binding::default(), &|_| true).is_empty());
    }

    #[test]
    fn the_group_must_exist() {
        let world = TestProject::new();
        let extract = |name: &str| {
            let (store, session) = (&world.store, &world.session);
            let binding = Binding::default();
            let group = group(name);
            extract_strategies(store, &world.redactor, session, &group, &binding, &|_| true, at(1))
        };
        assert!(extract("P1").is_err());
        let update = GroupUpdate::new(world.session.clone(), group("P1"), at(0));
        world.store.set_group(&update).unwrap();
        assert!(extract("P1").unwrap().is_empty());
    }

    fn sight(world: &TestProject, message: &str, times: usize, seconds: i64) {
        let sighting = ErrorSighting {
            project: project(),
            signature: CleanSignature::new(None, message, &[], &world.redactor),
            language: None,
            ttl_days: 90,
            session: None,
            group: None,
            role: None,
            command: None,
            now: at(seconds),
            trust: handover_model::Trust::Project,
        };
        for _ in 0..times {
            world.store.record_error(&sighting).unwrap();
        }
    }

    fn matches(world: &TestProject, text: &str, limit: usize, seconds: i64) -> Vec<String> {
        let found = match_errors(&world.store, &project(), text, limit, at(seconds)).unwrap();
        found.into_iter().map(|pattern| pattern.signature.message).collect()
    }

    #[test]
    fn better_matches_come_first_and_poor_ones_are_left_out() {
        let world = TestProject::new();
        sight(&world, "alpha beta gamma delta", 1, 0);
        sight(&world, "alpha beta epsilon zeta", 1, 0);
        sight(&world, "eta theta iota kappa", 1, 0);
        let text = "alpha beta gamma delta";
        assert_eq!(
            matches(&world, text, 9, 1),
            ["alpha beta gamma delta", "alpha beta epsilon zeta"]
        );
        assert_eq!(matches(&world, text, 1, 1), ["alpha beta gamma delta"]);
        assert_eq!(matches(&world, text, 0, 1), [""; 0]);
        assert_eq!(matches(&world, "nothing of the kind", 9, 1), [""; 0]);
    }

    #[test]
    fn patterns_expire() {
        let world = TestProject::new();
        sight(&world, "alpha beta gamma", 1, 0);
        let day = 86_400;
        assert_eq!(matches(&world, "alpha beta gamma", 9, 89 * day).len(), 1);
        assert_eq!(matches(&world, "alpha beta gamma", 9, 91 * day).len(), 0);
    }

    #[test]
    fn a_fix_is_known_only_for_the_error_that_a_line_names() {
        let world = TestProject::new();
        let sight = |message: &str, solution: Option<&str>| {
            let sighting = ErrorSighting {
                project: project(),
                signature: CleanSignature::new(None, message, &[], &world.redactor),
                language: None,
                ttl_days: 90,
                session: None,
                group: None,
                role: None,
                command: None,
                now: at(1),
                trust: handover_model::Trust::Project,
            };
            match solution {
                Some(solution) => {
                    world.store.resolve_error(&sighting, &world.redactor.clean(solution)).unwrap();
                }
                None => {
                    world.store.record_error(&sighting).unwrap();
                }
            }
        };
        sight("Error: Cannot find module 'left-pad'", Some("npm install left-pad"));
        sight("Error: Cannot find module 'express'", None);
        sight("connection refused by the database", Some("start the database"));
        let fix = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            let found = known_fix(&world.store, &project(), &lines, at(2)).unwrap();
            found.and_then(|pattern| pattern.solution)
        };
        let left_pad = "Error: Cannot find module 'left-pad'";
        assert_eq!(fix(&["2 tests failed", left_pad]).as_deref(), Some("npm install left-pad"));
        // The module of another name, and one without a solution.
        assert_eq!(fix(&["Error: Cannot find module 'right-pad'"]), None);
        assert_eq!(fix(&["Error: Cannot find module 'express'"]), None);
        assert_eq!(fix(&[]), None);
        // Expired.
        let lines = [left_pad.to_owned()];
        let later = Timestamp::from_micros(at(1).as_micros() + 91 * 86_400_000_000);
        assert_eq!(known_fix(&world.store, &project(), &lines, later).unwrap(), None);
    }
}
