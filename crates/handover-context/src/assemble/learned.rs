//! Error patterns and strategies that fit the request.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::learn::{Trust, similarity};
use handover_model::{ErrorPattern, Fate, ItemKind, ProjectId, RecordState, Strategy, Tokenizer};
use handover_store::{ErrorFilter, Result, StrategyFilter};
use handover_text::{tokens, words};

use super::admit::Admission;
use super::alive::{self, CHECKED, Freshness};
use super::{ContextRequest, Explained, ItemId, Sources, render};
use crate::learning::{Binding, NAMED};

const MAX_ERRORS: usize = 3;
const MAX_STRATEGIES: usize = 3;

/// The least share of a strategy's weight that the task must share.
const FITTING: f64 = 0.2;

/// Error patterns on their way into a block.
#[derive(Debug, Default)]
pub(super) struct KnownErrors {
    /// Those that the task names, best match first. They go in before packages.
    pub(super) named: Vec<ErrorPattern>,
    /// Trusted ones, best match first.
    pub(super) others: Vec<ErrorPattern>,
}

/// Solved, live patterns: those that the task names, whatever the trust in them, and trusted ones.
pub(super) fn errors(
    sources: Sources<'_>,
    request: &ContextRequest,
    project: &ProjectId,
) -> Result<KnownErrors> {
    let state = Some(RecordState::Live);
    let filter = ErrorFilter { live_at: Some(request.now), state, ..ErrorFilter::default() };
    let mut patterns = sources.store.errors(project, &filter)?;
    patterns.retain(|pattern| pattern.solution.is_some());
    let task = request.task.as_deref().unwrap_or_default();
    let mut scored: Vec<(f64, ErrorPattern)> = patterns
        .into_iter()
        .map(|pattern| (similarity(&pattern.signature, task), pattern))
        .filter(|(score, pattern)| *score >= NAMED || pattern.confidence > Trust::RECALL_ABOVE)
        .collect();
    // The listing is ordered by trust, and the sort is stable.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut known = KnownErrors::default();
    for (score, mut pattern) in scored {
        let clean = |text: &str| sources.redactor.clean(text).as_str().to_owned();
        pattern.solution = pattern.solution.as_deref().map(clean);
        pattern.example = pattern.example.as_deref().map(clean);
        pattern.signature.message = clean(&pattern.signature.message);
        if score >= NAMED { &mut known.named } else { &mut known.others }.push(pattern);
    }
    Ok(known)
}

/// As many of the patterns as there is room for, best first.
pub(super) fn pack_errors(
    patterns: Vec<ErrorPattern>,
    admission: Admission,
    taken: usize,
    room: u64,
    tokenizer: Tokenizer,
) -> (Vec<ErrorPattern>, Vec<Explained>) {
    let (mut left, mut kept, mut explained) = (room, Vec::new(), Vec::new());
    for pattern in patterns {
        let cost = tokens::count(tokenizer, &render::error(&pattern));
        let solution = pattern.solution.as_deref().unwrap_or_default();
        let fate = match admission.check(pattern.trust, [pattern.said().as_str(), solution]) {
            Ok(_) => fate(taken + kept.len() < MAX_ERRORS, cost <= left),
            Err(refused) => refused,
        };
        let id = ItemId::Text(pattern.hash.clone());
        explained.push(Explained::plain(ItemKind::Error, id, fate, pattern.trust));
        if fate == Fate::Fits {
            left -= cost;
            kept.push(pattern);
        }
    }
    (kept, explained)
}

fn fate(within_limit: bool, within_budget: bool) -> Fate {
    match (within_limit, within_budget) {
        (true, true) => Fate::Fits,
        (false, _) => Fate::OverTheLimit,
        (true, false) => Fate::OverTheBudget,
    }
}

/// The strategies that fit the task, or without one what the agent works with. None is better than
/// noise.
pub(super) fn strategies(
    sources: Sources<'_>,
    request: &ContextRequest,
    project: &ProjectId,
    shown: &[&str],
    room: u64,
    tokenizer: Tokenizer,
) -> Result<(Vec<Strategy>, Vec<Explained>)> {
    let live = StrategyFilter { state: Some(RecordState::Live), ..StrategyFilter::default() };
    let all = sources.store.strategies(project, &live)?;
    if all.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    // Detecting the technology costs more than everything else, so only if a strategy depends on it.
    let bound = all.iter().any(|one| one.language.is_some() || one.framework.is_some());
    let here = if bound { (sources.binding)() } else { Binding::default() };
    let fits = |of: &Option<String>, here: &Option<String>| match (of, here) {
        (Some(of), Some(here)) => of.eq_ignore_ascii_case(here),
        (None, _) | (_, None) => true,
    };
    let fitting: Vec<Strategy> = all
        .into_iter()
        .filter(|one| fits(&one.language, &here.language) && fits(&one.framework, &here.framework))
        .collect();
    let ranked = match request.task.as_deref().filter(|task| !task.trim().is_empty()) {
        Some(task) => by_relevance(fitting, task),
        None => fitting.into_iter().map(|strategy| (strategy, true)).collect(),
    };
    let ranked = sunk(ranked, sources.fresh);
    let admission = Admission::of(sources.config, &request.role);
    let (mut left, mut kept, mut explained) = (room, Vec::new(), Vec::new());
    let mut said: Vec<BTreeSet<String>> = shown.iter().map(|text| word_set(text)).collect();
    for (mut strategy, relevant) in ranked {
        strategy.insight = sources.redactor.clean(&strategy.insight).as_str().to_owned();
        if relevant && kept.len() < MAX_STRATEGIES {
            strategy.insight = alive::annotated(sources.fresh, strategy.insight);
        }
        let cost = tokens::count(tokenizer, &render::strategy(&strategy));
        let words = word_set(&strategy.insight);
        let fate = if !relevant {
            Fate::OffTopic
        } else if said.iter().any(|shown| says_the_same(shown, &words)) {
            Fate::ShownAlready
        } else if let Err(refused) = admission.check(strategy.trust, [strategy.insight.as_str()]) {
            refused
        } else {
            fate(kept.len() < MAX_STRATEGIES, cost <= left)
        };
        let id = ItemId::Text(strategy.id.clone());
        explained.push(Explained::plain(ItemKind::Strategy, id, fate, strategy.trust));
        if fate == Fate::Fits {
            left -= cost;
            said.push(words);
            kept.push(strategy);
        }
    }
    Ok((kept, explained))
}

/// What is about things that are gone comes behind what is not, among the first that may go in.
fn sunk(mut ranked: Vec<(Strategy, bool)>, fresh: &dyn Freshness) -> Vec<(Strategy, bool)> {
    let first = ranked.iter().take(CHECKED).take_while(|(_, relevant)| *relevant).count();
    ranked[..first].sort_by_cached_key(|(one, _)| alive::subject_is_gone(fresh, &one.insight));
    ranked
}

/// The strategies with whether they are relevant to a task: most relevant first, in steps of a tenth, then
/// as they came, which is by helpfulness and time.
fn by_relevance(strategies: Vec<Strategy>, task: &str) -> Vec<(Strategy, bool)> {
    let task: BTreeSet<String> = words::terms(task).into_iter().collect();
    let terms: Vec<BTreeSet<String>> = strategies
        .iter()
        .map(|strategy| words::terms(&strategy.insight).into_iter().collect())
        .collect();
    let mut having: BTreeMap<&str, usize> = BTreeMap::new();
    for term in terms.iter().flatten() {
        *having.entry(term).or_default() += 1;
    }
    // Words that many strategies have say little about one.
    let weight = |term: &str| {
        let having = having.get(term).copied().unwrap_or_default() as f64;
        (1.0 + terms.len() as f64 / (1.0 + having)).ln()
    };
    let relevance = |terms: &BTreeSet<String>| {
        let all: f64 = terms.iter().map(|term| weight(term)).sum();
        let shared: Vec<f64> = terms.intersection(&task).map(|term| weight(term)).collect();
        // One common word is a coincidence, unless the insight is hardly longer.
        if shared.len() < 2.min(terms.len().div_ceil(3)) || all == 0.0 {
            return 0.0;
        }
        shared.iter().sum::<f64>() / all
    };
    let scores: Vec<f64> = terms.iter().map(relevance).collect();
    let mut ranked: Vec<(i64, Strategy, bool)> = strategies
        .into_iter()
        .zip(scores)
        .map(|(strategy, score)| ((score * 10.0) as i64, strategy, score >= FITTING))
        .collect();
    ranked.sort_by_key(|(tenths, ..)| std::cmp::Reverse(*tenths));
    ranked.into_iter().map(|(_, strategy, relevant)| (strategy, relevant)).collect()
}

/// The distinct words of a text.
pub(super) fn word_set(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Whether the words of one text are nearly all in another.
pub(super) fn says_the_same(shown: &BTreeSet<String>, words: &BTreeSet<String>) -> bool {
    !words.is_empty() && words.intersection(shown).count() * 10 >= words.len() * 9
}

pub(super) fn tokens_of_errors(errors: &[ErrorPattern], tokenizer: Tokenizer) -> u64 {
    errors.iter().map(|error| tokens::count(tokenizer, &render::error(error))).sum()
}

pub(super) fn tokens_of_strategies(strategies: &[Strategy], tokenizer: Tokenizer) -> u64 {
    strategies.iter().map(|strategy| tokens::count(tokenizer, &render::strategy(strategy))).sum()
}
