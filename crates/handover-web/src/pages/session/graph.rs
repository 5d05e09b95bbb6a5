//! A session as a graph: packages and reasoning, the agents that were briefed, and what reached whom.

use std::collections::HashMap;

use handover_model::{
    Event, ItemKind, KnownEvent, PackageId, Phase, Receipt, ReceiptId, ReceiptState, Role,
    SessionId, Timestamp,
};
use handover_store::{
    EventFilter, Outline, ReasoningFilter, ReceiptFilter, Result, Store, TimeOrder,
};

/// How far a package or a piece of reasoning got; ordered from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// In no brief that was delivered.
    Undelivered,
    /// Delivered to a host.
    Delivered,
    /// The agent was observed to have its brief.
    Confirmed,
    /// A hook saw the agent open the file.
    Read,
}

impl Reach {
    /// The CSS class of its marks.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Undelivered => "nobody",
            Self::Delivered => "delivered",
            Self::Confirmed => "confirmed",
            Self::Read => "read",
        }
    }

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Undelivered => "reached nobody",
            Self::Delivered => "delivered",
            Self::Confirmed => "confirmed",
            Self::Read => "read",
        }
    }
}

pub(crate) struct PackageNode {
    pub(crate) id: PackageId,
    pub(crate) title: String,
    pub(crate) producer: Role,
    pub(crate) version: u32,
    pub(crate) is_latest: bool,
    pub(crate) at: Timestamp,
    pub(crate) reach: Reach,
}

pub(crate) struct ReasoningNode {
    pub(crate) role: Role,
    pub(crate) phase: Phase,
    pub(crate) content: String,
    pub(crate) at: Timestamp,
    pub(crate) reach: Reach,
}

/// An item that was included in the brief of an agent.
pub(crate) struct Edge {
    pub(crate) from: EdgeSource,
    /// An index into [`SessionGraph::receipts`].
    pub(crate) to: usize,
    pub(crate) read_at: Option<Timestamp>,
}

/// An index into [`SessionGraph::packages`] or [`SessionGraph::reasoning`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EdgeSource {
    Package(usize),
    Reasoning(usize),
}

/// Everything in chronological order.
pub(crate) struct SessionGraph {
    pub(crate) packages: Vec<PackageNode>,
    pub(crate) reasoning: Vec<ReasoningNode>,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) edges: Vec<Edge>,
    /// Verdicts, degraded handoffs and refusals of the guard.
    pub(crate) outcomes: Vec<Event>,
    /// The session is too long to be read as a whole: nothing before this time is here.
    pub(crate) since: Option<Timestamp>,
}

// What is read at most, the newest of each kind.
const OUTCOMES: u32 = 200;
const PACKAGES: u32 = 10_000;
const THOUGHTS: u32 = 2_000;
const RECEIPTS: u32 = 1_000;

/// The oldest time that is kept of a list with more than there may be.
fn cut<T>(list: &[T], most: u32, at: impl Fn(&T) -> Timestamp) -> Option<Timestamp> {
    list.get(1).filter(|_| list.len() > most as usize).map(at)
}

impl SessionGraph {
    pub(crate) fn read(store: &dyn Store, session: &SessionId) -> Result<Self> {
        let mut packages: Vec<PackageNode> = store
            .outlines(session, Some(PACKAGES + 1))?
            .into_iter()
            .map(PackageNode::new)
            .collect();
        let newest = ReasoningFilter {
            order: TimeOrder::NewestFirst,
            limit: Some(THOUGHTS + 1),
            ..ReasoningFilter::default()
        };
        let mut thoughts = store.reasoning(session, &newest)?;
        thoughts.reverse();
        let filter = ReceiptFilter {
            session: Some(session.clone()),
            limit: Some(RECEIPTS + 1),
            ..ReceiptFilter::default()
        };
        let mut receipts = store.receipts(&filter)?;
        receipts.reverse();
        let since = [
            cut(&packages, PACKAGES, |package| package.at),
            cut(&thoughts, THOUGHTS, |thought| thought.created_at),
            cut(&receipts, RECEIPTS, |receipt| receipt.created_at),
        ];
        let since = since.into_iter().flatten().max();
        let is_known = |at: Timestamp| since.is_none_or(|since| at >= since);
        packages.retain(|package| is_known(package.at));
        thoughts.retain(|thought| is_known(thought.created_at));
        receipts.retain(|receipt| is_known(receipt.created_at));
        let mut reasoning_ids = HashMap::new();
        let mut reasoning = Vec::new();
        for entry in thoughts {
            reasoning_ids.insert(entry.id.to_string(), reasoning.len());
            reasoning.push(ReasoningNode {
                role: entry.role,
                phase: entry.phase,
                content: entry.content,
                at: entry.created_at,
                reach: Reach::Undelivered,
            });
        }
        let mut outcomes = Vec::new();
        for kind in [KnownEvent::Verdict, KnownEvent::Degraded, KnownEvent::Guard] {
            let filter = EventFilter {
                kind: Some(kind.into()),
                limit: Some(OUTCOMES),
                ..EventFilter::default()
            };
            outcomes.extend(store.events(session, &filter)?);
        }
        // That a brief may go out is no news.
        outcomes.retain(|event| is_known(event.created_at) && event.payload["allowed"] != true);
        outcomes.sort_by_key(|event| (event.created_at, event.id));
        let mut graph = Self { packages, reasoning, receipts, edges: Vec::new(), outcomes, since };
        graph.connect(store, session, &reasoning_ids)?;
        Ok(graph)
    }

    /// Adds the edges and derives how far each node got.
    fn connect(
        &mut self,
        store: &dyn Store,
        session: &SessionId,
        reasoning_ids: &HashMap<String, usize>,
    ) -> Result<()> {
        let package_ids: HashMap<i64, usize> =
            self.packages.iter().enumerate().map(|(at, package)| (package.id.0, at)).collect();
        let receipt_ids: HashMap<String, usize> =
            self.receipts.iter().enumerate().map(|(at, r)| (r.id.to_string(), at)).collect();
        let receipts: Vec<ReceiptId> = self.receipts.iter().map(|one| one.id.clone()).collect();
        for handed in store.handed_by(session, &receipts)? {
            let Some(&to) = receipt_ids.get(handed.receipt.as_str()) else { continue };
            let reach = match self.receipts.get(to).map(|receipt| receipt.state) {
                Some(ReceiptState::Delivered | ReceiptState::Confirmed)
                    if handed.read_at.is_some() =>
                {
                    Reach::Read
                }
                Some(ReceiptState::Confirmed) => Reach::Confirmed,
                Some(ReceiptState::Delivered) => Reach::Delivered,
                Some(ReceiptState::Assembled | ReceiptState::Failed) | None => Reach::Undelivered,
            };
            let from = match handed.kind {
                ItemKind::Package => {
                    let id = handed.item.parse().ok();
                    let at = id.and_then(|id: i64| package_ids.get(&id)).copied();
                    if let Some(package) = at.and_then(|at| self.packages.get_mut(at)) {
                        package.reach = package.reach.max(reach);
                    }
                    at.map(EdgeSource::Package)
                }
                ItemKind::Reasoning => {
                    let at = reasoning_ids.get(&handed.item).copied();
                    if let Some(entry) = at.and_then(|at| self.reasoning.get_mut(at)) {
                        entry.reach = entry.reach.max(reach);
                    }
                    at.map(EdgeSource::Reasoning)
                }
                // Errors, strategies and notes belong to the project, not to this session; verdicts are drawn
                // as outcomes.
                ItemKind::Error | ItemKind::Strategy | ItemKind::Verdict | ItemKind::Note => None,
            };
            if let Some(from) = from {
                self.edges.push(Edge { from, to, read_at: handed.read_at });
            }
        }
        Ok(())
    }

    /// When each role did something.
    pub(crate) fn moments(&self) -> impl Iterator<Item = (&str, Timestamp)> {
        let packages = self.packages.iter().map(|one| (one.producer.as_str(), one.at));
        let reasoning = self.reasoning.iter().map(|one| (one.role.as_str(), one.at));
        let receipts = self.receipts.iter().map(|one| (one.role.as_str(), one.created_at));
        packages.chain(reasoning).chain(receipts)
    }

    /// Packages that are not superseded.
    pub(crate) fn latest(&self) -> impl Iterator<Item = &PackageNode> {
        self.packages.iter().filter(|package| package.is_latest)
    }

    /// How many of the latest packages got at least this far.
    pub(crate) fn reached(&self, reach: Reach) -> usize {
        self.latest().filter(|package| package.reach >= reach).count()
    }
}

impl PackageNode {
    fn new(outline: Outline) -> Self {
        Self {
            id: outline.id,
            title: outline.name,
            producer: outline.producer,
            version: outline.version,
            is_latest: outline.is_latest,
            at: outline.created_at,
            reach: Reach::Undelivered,
        }
    }
}

/// How far the items of a receipt got.
pub(crate) fn reach_of(state: ReceiptState) -> Reach {
    match state {
        ReceiptState::Assembled | ReceiptState::Failed => Reach::Undelivered,
        ReceiptState::Delivered => Reach::Delivered,
        ReceiptState::Confirmed => Reach::Confirmed,
    }
}
