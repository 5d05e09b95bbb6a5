//! What a project learns: strategies from reasoning, and patterns that match an error.

use handover_model::learn::{MAX_INSIGHT_CHARS, similarity, topic_of};
use handover_model::{
    Category, ErrorPattern, GroupId, ProjectId, Reasoning, SessionId, Strategy, Timestamp,
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

/// Turns the selected completions, decisions and approaches of a group into strategies.
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
        .filter(|reasoning| wanted(reasoning))
        .filter_map(|reasoning| {
            Some(NewStrategy {
                project: project.clone(),
                topic: topic_of(reasoning.phase)?,
                insight: redactor.clean(&reasoning.content).one_line().cut(MAX_INSIGHT_CHARS),
                language: bound(&binding.language),
                framework: bound(&binding.framework),
                source: reasoning.id,
                now,
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
    let filter = ErrorFilter { live_at: Some(now), ..ErrorFilter::default() };
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
