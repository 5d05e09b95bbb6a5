//! Totals across the sessions and runs of a project.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::{
    ItemKind, ProjectId, Receipt, ReceiptItem, ReceiptState, Role, SessionId, SessionStatus,
    Timestamp, Use,
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
    /// What became of what agents received.
    #[serde(rename = "use")]
    pub used: Uses,
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

/// What became of the items of briefs, where the conversation of the agent was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Uses {
    /// All of them.
    #[serde(flatten)]
    pub total: UseOf,
    /// How many items, by what became of them.
    pub by_use: BTreeMap<Use, u64>,
    /// By kind of item.
    pub by_kind: BTreeMap<ItemKind, UseOf>,
    /// By role of the agent.
    pub by_role: BTreeMap<Role, UseOf>,
    /// By section of the brief.
    pub by_section: BTreeMap<&'static str, UseOf>,
}

/// How much of some items was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UseOf {
    /// How many items.
    pub items: u64,
    /// How many of them were opened, named or echoed.
    pub used: u64,
    /// Their tokens.
    pub tokens: u64,
    /// The tokens of those that were used.
    pub used_tokens: u64,
}

impl UseOf {
    fn add(&mut self, used: bool, tokens: u64, used_tokens: u64) {
        self.items += 1;
        self.used += u64::from(used);
        self.tokens += tokens;
        self.used_tokens += used_tokens;
    }
}

impl Uses {
    /// Adds the items of a receipt.
    fn count(&mut self, receipt: &Receipt) {
        for (item, tokens) in with_tokens(&receipt.items) {
            let Some(used) = item.used else { continue };
            let (is_used, kind) = (used != Use::Unused, item.kind);
            *self.by_use.entry(used).or_default() += 1;
            for sum in [
                &mut self.total,
                self.by_kind.entry(kind).or_default(),
                self.by_role.entry(receipt.role.clone()).or_default(),
                self.by_section.entry(kind.section()).or_default(),
            ] {
                sum.add(is_used, item.tokens, tokens);
            }
        }
    }
}

/// Items with the tokens that count as used. The first of several notes that are shown together has the tokens of
/// all: they are used if any of these is.
fn with_tokens(items: &[ReceiptItem]) -> Vec<(&ReceiptItem, u64)> {
    let is_used = |item: &ReceiptItem| item.used.is_some_and(|used| used != Use::Unused);
    let joins = |item: &ReceiptItem| item.kind == ItemKind::Note && item.tokens == 0;
    let tokens = |(at, item): (usize, &ReceiptItem)| {
        let mut together =
            std::iter::once(item).chain(items[at + 1..].iter().take_while(|i| joins(i)));
        let used = if joins(item) { is_used(item) } else { together.any(is_used) };
        if used { item.tokens } else { 0 }
    };
    items.iter().enumerate().map(|pair| (pair.1, tokens(pair))).collect()
}

/// How much of one receipt was used; none if the conversation of its agent was not seen.
pub fn use_of(receipt: &Receipt) -> Option<UseOf> {
    let mut uses = Uses::default();
    uses.count(receipt);
    (uses.total.items > 0).then_some(uses.total)
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
        stats.used.count(&receipt);
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
