//! Totals across the sessions and runs of a project.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::{
    ItemKind, ProjectId, Receipt, ReceiptState, SessionId, SessionStatus, Timestamp,
};
use handover_store::{ErrorFilter, PackageFilter, ReceiptFilter, RunFilter, Store};
use serde::Serialize;

use crate::{EngineError, Spent, fold};

/// Totals of a project.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Stats {
    /// The start of the period; none counts everything.
    pub since: Option<Timestamp>,
    /// Sessions by status.
    pub sessions: BTreeMap<SessionStatus, u64>,
    /// Receipts by state.
    pub receipts: BTreeMap<ReceiptState, u64>,
    /// Tokens delivered to agents.
    pub tokens: Tokens,
    /// How packages were used.
    pub packages: Packages,
    /// The number of secrets redacted from deliveries, by rule.
    pub redactions: BTreeMap<String, u64>,
    /// The cost of runs.
    pub cost: Cost,
    /// Known errors.
    pub errors: Errors,
}

/// Tokens delivered to agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// In delivered texts.
    pub delivered: u64,
    /// In packages that were delivered as a summary and never opened.
    pub saved: u64,
}

/// How packages were used, in their latest versions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Packages {
    /// All packages.
    pub total: u64,
    /// Packages that were never delivered.
    pub never_delivered: u64,
    /// Packages that were delivered and never opened.
    pub never_read: u64,
}

/// The cost of runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Cost {
    /// The total.
    pub total: Spent,
    /// By phase of the pipeline.
    pub by_phase: BTreeMap<String, Spent>,
    /// By role of the agent.
    pub by_role: BTreeMap<String, Spent>,
}

/// Known errors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Errors {
    /// Distinct errors.
    pub patterns: u64,
    /// Errors with a known solution.
    pub solved: u64,
    /// All occurrences together.
    pub occurrences: u64,
}

/// Computes the totals of a project.
pub fn of(
    store: &dyn Store,
    project: &ProjectId,
    since: Option<Timestamp>,
) -> Result<Stats, EngineError> {
    let within = |time: Timestamp| since.is_none_or(|since| time >= since);
    let mut stats = Stats { since, ..Stats::default() };
    let mut mine = BTreeSet::new();
    for session in store.sessions(None)? {
        if session.project == *project {
            if within(session.created_at) {
                *stats.sessions.entry(session.status).or_default() += 1;
            }
            mine.insert(session.id);
        }
    }
    for session in &mine {
        count_session(store, session, &within, &mut stats)?;
    }
    for run in store.runs(&RunFilter::default())? {
        if !mine.contains(&run.session) || !within(run.created_at) {
            continue;
        }
        let journal = store.journal(&run.id, 1)?;
        let Some(folded) = fold(&run.id, &journal)? else { continue };
        for line in folded.state.stories.iter().flat_map(|story| &story.lines) {
            let cost = &mut stats.cost;
            cost.total = cost.total + line.spent;
            let phase = cost.by_phase.entry(line.phase.to_owned()).or_default();
            *phase = *phase + line.spent;
            let role = line.agent.and_then(|phase| folded.state.plan.pipeline.role_in(phase));
            if let Some(role) = role {
                let role = cost.by_role.entry(role.to_string()).or_default();
                *role = *role + line.spent;
            }
        }
    }
    for pattern in store.errors(project, &ErrorFilter::default())? {
        if within(pattern.last_seen) {
            stats.errors.patterns += 1;
            stats.errors.solved += u64::from(pattern.solution.is_some());
            stats.errors.occurrences += pattern.occurrences;
        }
    }
    Ok(stats)
}

fn count_session(
    store: &dyn Store,
    session: &SessionId,
    within: &dyn Fn(Timestamp) -> bool,
    stats: &mut Stats,
) -> Result<(), EngineError> {
    let mut sizes = BTreeMap::new();
    store.each_package(session, &PackageFilter::default(), &mut |package| {
        if within(package.created_at) {
            sizes.insert(package.id.to_string(), package.tokens);
        }
    })?;
    let (mut delivered, mut read) = (BTreeSet::new(), BTreeSet::new());
    let filter = ReceiptFilter { session: Some(session.clone()), ..ReceiptFilter::default() };
    for row in store.receipts(&filter)? {
        if !within(row.created_at) {
            continue;
        }
        *stats.receipts.entry(row.state).or_default() += 1;
        for (rule, count) in &row.redactions {
            *stats.redactions.entry(rule.clone()).or_default() += count;
        }
        if !matches!(row.state, ReceiptState::Delivered | ReceiptState::Confirmed) {
            continue;
        }
        stats.tokens.delivered += row.tokens;
        let receipt: Receipt = store.receipt(&row.id)?;
        for item in receipt.items.iter().filter(|item| item.kind == ItemKind::Package) {
            delivered.insert(item.id.clone());
            if item.read_at.is_some() {
                read.insert(item.id.clone());
            } else if let Some(size) = sizes.get(&item.id) {
                stats.tokens.saved += size.saturating_sub(item.tokens);
            }
        }
    }
    let count = |keep: &dyn Fn(&String) -> bool| sizes.keys().filter(|id| keep(id)).count() as u64;
    stats.packages.total += sizes.len() as u64;
    stats.packages.never_delivered += count(&|id| !delivered.contains(id));
    stats.packages.never_read += count(&|id| delivered.contains(id) && !read.contains(id));
    Ok(())
}
