//! Error patterns and strategies that fit the request.

use handover_model::learn::{Trust, similarity};
use handover_model::{ErrorPattern, Fate, ItemKind, ProjectId, Strategy, Tokenizer};
use handover_store::{ErrorFilter, Result, StrategyFilter};
use handover_text::tokens;

use super::{ContextRequest, Explained, ItemId, Sources, render};
use crate::learning::Binding;

const MAX_ERRORS: usize = 3;
const MAX_STRATEGIES: usize = 3;

/// Trusted, solved, live patterns; those that fit the task first.
pub(super) fn errors(
    sources: Sources<'_>,
    request: &ContextRequest,
    project: &ProjectId,
    room: u64,
    tokenizer: Tokenizer,
) -> Result<(Vec<ErrorPattern>, Vec<Explained>)> {
    let filter = ErrorFilter {
        above: Some(Trust::RECALL_ABOVE),
        live_at: Some(request.now),
        ..ErrorFilter::default()
    };
    let mut patterns = sources.store.errors(project, &filter)?;
    patterns.retain(|pattern| pattern.solution.is_some());
    if let Some(task) = &request.task {
        let mut scored: Vec<(f64, ErrorPattern)> =
            patterns.into_iter().map(|p| (similarity(&p.signature, task), p)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        patterns = scored.into_iter().map(|(_, pattern)| pattern).collect();
    }
    for pattern in &mut patterns {
        let clean = |text: &str| sources.redactor.clean(text).as_str().to_owned();
        pattern.solution = pattern.solution.as_deref().map(clean);
        pattern.signature.message = clean(&pattern.signature.message);
    }
    let (mut left, mut kept, mut explained) = (room, Vec::new(), Vec::new());
    for pattern in patterns {
        let cost = tokens::count(tokenizer, &render::error(&pattern));
        let fate = fate(kept.len() < MAX_ERRORS, cost <= left);
        explained.push(Explained::plain(ItemKind::Error, ItemId::Text(pattern.hash.clone()), fate));
        if fate == Fate::Fits {
            left -= cost;
            kept.push(pattern);
        }
    }
    Ok((kept, explained))
}

fn fate(within_limit: bool, within_budget: bool) -> Fate {
    match (within_limit, within_budget) {
        (true, true) => Fate::Fits,
        (false, _) => Fate::OverTheLimit,
        (true, false) => Fate::OverTheBudget,
    }
}

/// The most helpful strategies for what the agent works with.
pub(super) fn strategies(
    sources: Sources<'_>,
    project: &ProjectId,
    room: u64,
    tokenizer: Tokenizer,
) -> Result<(Vec<Strategy>, Vec<Explained>)> {
    let all = sources.store.strategies(project, &StrategyFilter::default())?;
    // Detecting the technology costs more than everything else, so only if a strategy depends on it.
    let bound = all.iter().any(|one| one.language.is_some() || one.framework.is_some());
    let here = if bound { (sources.binding)() } else { Binding::default() };
    let fits = |of: &Option<String>, here: &Option<String>| match (of, here) {
        (Some(of), Some(here)) => of.eq_ignore_ascii_case(here),
        (None, _) | (_, None) => true,
    };
    let fitting = all
        .into_iter()
        .filter(|one| fits(&one.language, &here.language) && fits(&one.framework, &here.framework));
    let (mut left, mut kept, mut explained) = (room, Vec::new(), Vec::new());
    for mut strategy in fitting {
        strategy.insight = sources.redactor.clean(&strategy.insight).as_str().to_owned();
        let cost = tokens::count(tokenizer, &render::strategy(&strategy));
        let fate = fate(kept.len() < MAX_STRATEGIES, cost <= left);
        explained.push(Explained::plain(
            ItemKind::Strategy,
            ItemId::Text(strategy.id.clone()),
            fate,
        ));
        if fate == Fate::Fits {
            left -= cost;
            kept.push(strategy);
        }
    }
    Ok((kept, explained))
}

pub(super) fn tokens_of_errors(errors: &[ErrorPattern], tokenizer: Tokenizer) -> u64 {
    errors.iter().map(|error| tokens::count(tokenizer, &render::error(error))).sum()
}

pub(super) fn tokens_of_strategies(strategies: &[Strategy], tokenizer: Tokenizer) -> u64 {
    strategies.iter().map(|strategy| tokens::count(tokenizer, &render::strategy(strategy))).sum()
}
