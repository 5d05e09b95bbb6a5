//! What happened in a session, as far as a picture of it needs to know.

use std::collections::HashMap;

use handover_model::{
    Event, ItemKind, KnownEvent, PackageId, Phase, Receipt, ReceiptState, Role, SessionId,
    Timestamp,
};
use handover_store::{
    EventFilter, Outline, ReasoningFilter, ReceiptFilter, Result, Store, TimeOrder,
};

/// How far something came that was meant for others; ordered from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Nobody got it.
    Nobody,
    /// It was handed over.
    Delivered,
    /// An agent was seen to have it.
    Confirmed,
    /// An agent was seen opening its file.
    Read,
}

impl Reach {
    /// The class of its marks.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Nobody => "nobody",
            Self::Delivered => "delivered",
            Self::Confirmed => "confirmed",
            Self::Read => "read",
        }
    }

    /// In words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Nobody => "reached nobody",
            Self::Delivered => "delivered",
            Self::Confirmed => "confirmed",
            Self::Read => "read",
        }
    }
}

/// A package.
pub(crate) struct Sent {
    pub(crate) id: PackageId,
    pub(crate) title: String,
    pub(crate) producer: Role,
    pub(crate) version: u32,
    pub(crate) is_latest: bool,
    pub(crate) at: Timestamp,
    pub(crate) reach: Reach,
}

/// A piece of reasoning.
pub(crate) struct Thought {
    pub(crate) role: Role,
    pub(crate) phase: Phase,
    pub(crate) content: String,
    pub(crate) at: Timestamp,
    pub(crate) reach: Reach,
}

/// An item on its way from whoever made it to whoever was given it.
pub(crate) struct Way {
    /// Which package or thought; an index of [`Scene::sent`] or [`Scene::thoughts`].
    pub(crate) from: From,
    /// Which receipt; an index of [`Scene::receipts`].
    pub(crate) to: usize,
    pub(crate) read_at: Option<Timestamp>,
}

/// What is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    Sent(usize),
    Thought(usize),
}

/// A session. Everything is in the order of time.
pub(crate) struct Scene {
    pub(crate) sent: Vec<Sent>,
    pub(crate) thoughts: Vec<Thought>,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) ways: Vec<Way>,
    pub(crate) endings: Vec<Event>,
}

/// How many events are looked at: those that say how agents ended.
const ENDINGS: u32 = 200;

impl Scene {
    pub(crate) fn read(store: &dyn Store, session: &SessionId) -> Result<Self> {
        let sent = store.outlines(session)?.into_iter().map(Sent::new).collect();
        let oldest =
            ReasoningFilter { order: TimeOrder::OldestFirst, ..ReasoningFilter::default() };
        let mut thought_ids = HashMap::new();
        let mut thoughts = Vec::new();
        for entry in store.reasoning(session, &oldest)? {
            thought_ids.insert(entry.id.to_string(), thoughts.len());
            thoughts.push(Thought {
                role: entry.role,
                phase: entry.phase,
                content: entry.content,
                at: entry.created_at,
                reach: Reach::Nobody,
            });
        }
        let filter = ReceiptFilter { session: Some(session.clone()), ..ReceiptFilter::default() };
        let mut receipts = store.receipts(&filter)?;
        receipts.reverse();
        let mut endings = Vec::new();
        for kind in [KnownEvent::Verdict, KnownEvent::Degraded, KnownEvent::Guard] {
            let filter = EventFilter {
                kind: Some(kind.into()),
                limit: Some(ENDINGS),
                ..EventFilter::default()
            };
            endings.extend(store.events(session, &filter)?);
        }
        endings.sort_by_key(|event| (event.created_at, event.id));
        let mut scene = Self { sent, thoughts, receipts, ways: Vec::new(), endings };
        scene.follow(store, session, &thought_ids)?;
        Ok(scene)
    }

    /// Finds out what went to whom.
    fn follow(
        &mut self,
        store: &dyn Store,
        session: &SessionId,
        thought_ids: &HashMap<String, usize>,
    ) -> Result<()> {
        let sent_ids: HashMap<i64, usize> =
            self.sent.iter().enumerate().map(|(at, sent)| (sent.id.0, at)).collect();
        let receipt_ids: HashMap<String, usize> =
            self.receipts.iter().enumerate().map(|(at, r)| (r.id.to_string(), at)).collect();
        for handed in store.handed(session)? {
            let Some(&to) = receipt_ids.get(handed.receipt.as_str()) else { continue };
            let reach = match self.receipts.get(to).map(|receipt| receipt.state) {
                Some(ReceiptState::Delivered | ReceiptState::Confirmed)
                    if handed.read_at.is_some() =>
                {
                    Reach::Read
                }
                Some(ReceiptState::Confirmed) => Reach::Confirmed,
                Some(ReceiptState::Delivered) => Reach::Delivered,
                Some(ReceiptState::Assembled | ReceiptState::Failed) | None => Reach::Nobody,
            };
            let from = match handed.kind {
                ItemKind::Package => {
                    let id = handed.item.parse().ok();
                    let at = id.and_then(|id: i64| sent_ids.get(&id)).copied();
                    if let Some(sent) = at.and_then(|at| self.sent.get_mut(at)) {
                        sent.reach = sent.reach.max(reach);
                    }
                    at.map(From::Sent)
                }
                ItemKind::Reasoning => {
                    let at = thought_ids.get(&handed.item).copied();
                    if let Some(thought) = at.and_then(|at| self.thoughts.get_mut(at)) {
                        thought.reach = thought.reach.max(reach);
                    }
                    at.map(From::Thought)
                }
                // What the project has learned has no author in this session.
                ItemKind::Error | ItemKind::Strategy => None,
            };
            if let Some(from) = from {
                self.ways.push(Way { from, to, read_at: handed.read_at });
            }
        }
        Ok(())
    }

    /// The packages that count: those that nothing supersedes.
    pub(crate) fn latest(&self) -> impl Iterator<Item = &Sent> {
        self.sent.iter().filter(|sent| sent.is_latest)
    }

    /// How many of them came this far, or farther.
    pub(crate) fn reached(&self, reach: Reach) -> usize {
        self.latest().filter(|sent| sent.reach >= reach).count()
    }
}

impl Sent {
    fn new(outline: Outline) -> Self {
        Self {
            id: outline.id,
            title: outline.name,
            producer: outline.producer,
            version: outline.version,
            is_latest: outline.is_latest,
            at: outline.created_at,
            reach: Reach::Nobody,
        }
    }
}

/// How far a receipt came.
pub(crate) fn reach_of(state: ReceiptState) -> Reach {
    match state {
        ReceiptState::Assembled | ReceiptState::Failed => Reach::Nobody,
        ReceiptState::Delivered => Reach::Delivered,
        ReceiptState::Confirmed => Reach::Confirmed,
    }
}
