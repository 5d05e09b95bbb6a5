//! Totals across the sessions and runs of a project. What agents used of their briefs is in `uses`, what is never used
//! in `idle`, and what learning from use does in `learning`.

mod estimate;
mod idle;
mod learning;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

use handover_model::{
    ItemKind, ProjectId, Receipt, ReceiptState, SessionId, SessionStatus, Timestamp,
};
use handover_store::{ErrorFilter, PackageFilter, ReceiptFilter, RunFilter, Store, VerdictFilter};
use handover_text::redactions;
use serde::Serialize;

use crate::{EngineError, Spent, fold};
pub use estimate::{Difference, Share};
pub use idle::Idle;
pub use learning::{Arm, Learning, LearningState};
pub use uses::{ItemUses, Period, UseOf, UsePeriod, Uses, use_of};

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
    /// What became of what agents received.
    #[serde(rename = "use")]
    pub used: Uses,
    /// The same for the last week, the weeks before, and earlier.
    pub use_over_time: Vec<UsePeriod>,
    /// Packages, notes and strategies with what became of them: those first that cost most tokens unused.
    pub use_by_item: Vec<ItemUses>,
    /// What could be retired because nobody uses it.
    pub never_used: Vec<Idle>,
    /// What learning from use does.
    pub learning: Learning,
    /// The number of secrets redacted from deliveries, by rule.
    pub redactions: BTreeMap<String, u64>,
    /// The secrets that were redacted from packages before they were stored.
    pub stored_redactions: u64,
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
    now: Timestamp,
) -> Result<Stats, EngineError> {
    let within = |time: Timestamp| since.is_none_or(|since| time >= since);
    let mut stats = Stats { since, use_over_time: UsePeriod::all_before(now), ..Stats::default() };
    let mut items = Counted::default();
    let mut mine = BTreeSet::new();
    for session in store.sessions(None)? {
        // The agents of an experiment got what it tried, and not what the project gives.
        if session.project == *project && session.metadata.get("experiment").is_none() {
            if within(session.created_at) {
                *stats.sessions.entry(session.status).or_default() += 1;
            }
            mine.insert(session.id);
        }
    }
    for session in &mine {
        count_session(store, session, &within, now, &mut stats, &mut items)?;
    }
    stats.never_used = idle::of(store, project, &items.ever, now)?;
    stats.use_by_item = items.within.most_wasted();
    stats.learning.look(store, project, now)?;
    for run in store.runs(&RunFilter::default())? {
        if !mine.contains(&run.session) || !within(run.created_at) {
            continue;
        }
        let journal = store.journal(&run.id, 1)?;
        let Some(folded) = fold(&run.id, &journal)? else { continue };
        for line in folded.state.units().flat_map(|unit| &unit.lines) {
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

/// The use of items.
#[derive(Default)]
struct Counted {
    /// In the period that is counted.
    within: uses::Items,
    /// Whenever: what was used before the period began is not idle.
    ever: uses::Items,
}

fn count_session(
    store: &dyn Store,
    session: &SessionId,
    within: &dyn Fn(Timestamp) -> bool,
    now: Timestamp,
    stats: &mut Stats,
    items: &mut Counted,
) -> Result<(), EngineError> {
    let mut sizes = BTreeMap::new();
    let mut written = Vec::new();
    store.each_package(session, &PackageFilter::default(), &mut |package| {
        if within(package.created_at) {
            sizes.insert(package.id.to_string(), package.tokens);
            written.push(package.id);
        }
    })?;
    for id in written {
        stats.stored_redactions += redactions(&store.package_body(id)?);
    }
    let (mut delivered, mut read) = (BTreeSet::new(), BTreeSet::new());
    let verdicts = store.verdicts(session, &VerdictFilter::default())?;
    let filter = ReceiptFilter { session: Some(session.clone()), ..ReceiptFilter::default() };
    for row in store.receipts(&filter)? {
        let is_delivered = matches!(row.state, ReceiptState::Delivered | ReceiptState::Confirmed);
        if !within(row.created_at) {
            if is_delivered {
                items.ever.count(&store.receipt(&row.id)?, now);
            }
            continue;
        }
        *stats.receipts.entry(row.state).or_default() += 1;
        for (rule, count) in &row.redactions {
            *stats.redactions.entry(rule.clone()).or_default() += count;
        }
        if !is_delivered {
            continue;
        }
        stats.tokens.delivered += row.tokens;
        let receipt: Receipt = store.receipt(&row.id)?;
        stats.used.count(&receipt);
        for period in &mut stats.use_over_time {
            period.count(&receipt);
        }
        items.within.count(&receipt, now);
        items.ever.count(&receipt, now);
        let verdict = verdicts.iter().find(|verdict| verdict.receipt.as_ref() == Some(&row.id));
        stats.learning.count(&receipt, verdict.map(|verdict| verdict.verdict));
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
