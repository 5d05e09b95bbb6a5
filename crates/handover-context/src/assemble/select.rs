//! Which packages may go in, and in which order.
//!
//! A session may have a hundred thousand: only the best are kept, as many as an assembly looks at, and
//! should they run out, the next best are looked for. Terms are worked out for those that are told
//! about.

use std::collections::{BTreeMap, HashSet};

use handover_model::{Fate, ItemKind, PackageId, Priority, Routing, Timestamp, Zone};
use handover_store::{Candidate, Result};
use handover_text::Clean;

use super::explain::LEFT_OUT_KEPT;
use super::{ContextRequest, Explained, ItemId, Sources, Terms};
use crate::rank::{Best, Key, Metadata, Ranking, View};
use crate::search::referenced;

/// The outcome of the selection.
#[derive(Default)]
pub(super) struct Selection<'a> {
    /// Where the candidates come from; nowhere if none is wanted.
    ranking: Option<Ranking<'a>>,
    scoring: Scoring,
    audience: Audience,
    tiers: Tiers,
    /// The best of those that may go in and were not taken, best last.
    queue: Vec<Key>,
    /// How many the queue had at first, besides those with a place reserved.
    room: usize,
    /// The least of those that were taken.
    least_taken: Option<Key>,
    /// How many may go in and were not taken.
    pub(super) waiting: usize,
    /// How many there are for the role, low ones included that must wait.
    pub(super) available: usize,
    /// How many may not, by reason.
    pub(super) refused: BTreeMap<Fate, u64>,
    /// The best of those, best last.
    best_refused: Vec<Key>,
}

/// What a score is made of.
#[derive(Debug, Default)]
struct Scoring {
    /// What the rest is multiplied by beside a task; alone, it is taken as it is.
    scale: Option<f64>,
    now: Timestamp,
}

/// Who gets what.
#[derive(Debug, Default)]
struct Audience {
    /// Groups and addressees do not matter.
    open: bool,
    /// A group asks: it gets its own, the global ones, and those that were chosen for it.
    grouped: bool,
    chosen: HashSet<PackageId>,
    /// What the role got at this attempt already.
    consumed: HashSet<(PackageId, u32)>,
    /// Low ones wait for better times.
    urgent_only: bool,
}

/// What comes before the score.
#[derive(Debug, Default)]
enum Tiers {
    #[default]
    None,
    /// Critical packages first, then high, then medium.
    Priority,
    /// Critical packages that are as good as this one, so that no task crowds them out.
    Critical(Key),
}

impl Selection<'_> {
    /// The next best that may go in.
    pub(super) fn take(&mut self) -> Result<Option<Key>> {
        if self.queue.is_empty() && self.waiting > 0 {
            self.room = self.room.saturating_mul(2);
            let mut best = Best::new(self.room);
            self.each(&mut |key, refusal| {
                if refusal.is_none() && self.least_taken.is_none_or(|least| *key < least) {
                    best.push(key);
                }
            })?;
            self.queue = best.ascending();
        }
        let Some(key) = self.queue.pop() else { return Ok(None) };
        // More may have come since they were counted, where the store is not held still.
        self.waiting = self.waiting.saturating_sub(1);
        self.least_taken = Some(self.least_taken.map_or(key, |least| least.min(key)));
        Ok(Some(key))
    }

    /// Puts back the one that was taken last.
    pub(super) fn put_back(&mut self, key: Key) {
        self.waiting += 1;
        self.queue.push(key);
    }

    /// The next best of those that may not, and why.
    pub(super) fn take_refused(&mut self) -> Option<(Key, Fate)> {
        let key = self.best_refused.pop()?;
        Some((key, self.audience.refusal(&key.candidate)?))
    }

    /// What became of a package, with the terms of its score.
    pub(super) fn explained(&self, key: Key, fate: Fate) -> Explained {
        Explained {
            kind: ItemKind::Package,
            id: ItemId::Number(key.candidate.id.0),
            included: matches!(fate, Fate::Fits | Fate::FitsShortened | Fate::FitsAsPath),
            reason: fate,
            score: key.score,
            terms: self.scoring.terms(&key.candidate, key.relevance),
        }
    }

    /// Shows every candidate, and why it may not go in.
    fn each(&self, visit: &mut dyn FnMut(&Key, Option<Fate>)) -> Result<()> {
        let Some(ranking) = &self.ranking else { return Ok(()) };
        ranking.each(&mut |candidate, relevance| {
            let score = self.scoring.terms(candidate, relevance).sum();
            let mut key = Key { tier: 0, score, relevance, candidate: *candidate };
            key.tier = self.tiers.of(&key);
            visit(&key, self.audience.refusal(candidate));
        })
    }
}

impl Scoring {
    /// The terms of a candidate's score.
    #[inline]
    fn terms(&self, candidate: &Candidate, task: f64) -> Terms {
        let known = Metadata::of(candidate, self.now);
        let known = self.scale.map_or(known, |scale| known.scaled(scale));
        Terms {
            priority: known.priority,
            same_group: known.same_group,
            addressed: known.addressed,
            recency: known.recency,
            task,
        }
    }
}

impl Tiers {
    #[inline]
    fn of(&self, key: &Key) -> u8 {
        let priority = key.candidate.priority;
        match self {
            Self::None => 0,
            Self::Priority => priority as u8,
            Self::Critical(least) => u8::from(priority == Priority::Critical && key >= least),
        }
    }
}

impl Audience {
    /// Why a candidate may not go in.
    #[inline]
    fn refusal(&self, candidate: &Candidate) -> Option<Fate> {
        let for_group = self.open
            || !self.grouped
            || candidate.same_group
            || candidate.global
            || self.chosen.contains(&candidate.id);
        let for_role = self.open || candidate.addressed || !candidate.restricted;
        if !for_group {
            Some(Fate::AnotherGroup)
        } else if !for_role {
            Some(Fate::AddressedToOthers)
        } else if self.consumed.contains(&(candidate.id, candidate.version)) {
            Some(Fate::DeliveredAlready)
        } else if self.urgent_only && candidate.priority == Priority::Low {
            Some(Fate::LowPriority)
        } else {
            None
        }
    }
}

pub(super) fn select<'a>(
    sources: Sources<'a>,
    request: &'a ContextRequest,
    zone: Zone,
    limit: usize,
) -> Result<Selection<'a>> {
    let store = sources.store;
    let group = request.group.as_ref();
    let audience = Audience {
        open: sources.config.routing == Routing::Open,
        grouped: group.is_some(),
        chosen: match group {
            Some(group) => referenced(store, &request.session, group)?,
            None => HashSet::new(),
        },
        consumed: store
            .consumed(&request.session, group, &request.role, request.iteration, request.now)?
            .into_iter()
            .collect(),
        urgent_only: zone == Zone::Conservative,
    };
    let view = View { store, session: &request.session, group, role: Some(&request.role) };
    let task = request.task.as_deref().filter(|task| !task.trim().is_empty());
    let task = task.map(|task| sources.redactor.clean(task));
    let text = task.as_ref().map(Clean::as_str);
    let ranking = Ranking::new(view, text, &sources.config.weights)?;
    let scale = task.is_some().then(|| sources.config.prior / Metadata::MAX);
    let mut selection = Selection {
        ranking: Some(ranking),
        scoring: Scoring { scale, now: request.now },
        audience,
        tiers: if zone == Zone::Conservative { Tiers::Priority } else { Tiers::None },
        room: if request.explain { usize::MAX } else { limit.saturating_add(LEFT_OUT_KEPT) },
        ..Selection::default()
    };
    // Critical packages have places reserved, up to half of the limit, rounded up.
    let reserving = task.is_some() && zone != Zone::Conservative;
    let mut reserved = Best::new(if reserving { limit.div_ceil(2) } else { 0 });
    let (mut best, mut best_refused) = (Best::new(selection.room), Best::new(selection.room));
    let (mut waiting, mut refused) = (0, BTreeMap::new());
    selection.each(&mut |key, refusal| match refusal {
        Some(fate) => {
            *refused.entry(fate).or_default() += 1;
            best_refused.push(&Key { tier: 0, ..*key });
        }
        None => {
            waiting += 1;
            if reserving && key.candidate.priority == Priority::Critical {
                reserved.push(key);
            }
            best.push(key);
        }
    })?;
    let reserved = reserved.ascending();
    selection.queue = best.ascending();
    if let Some(least) = reserved.first() {
        selection.tiers = Tiers::Critical(*least);
        selection.queue.retain(|key| reserved.binary_search(key).is_err());
        selection.queue.extend(reserved.iter().map(|key| Key { tier: 1, ..*key }));
    }
    selection.best_refused = best_refused.ascending();
    // Low ones are for this role; they only have to wait.
    selection.available = waiting + refused.get(&Fate::LowPriority).map_or(0, |low| *low as usize);
    (selection.waiting, selection.refused) = (waiting, refused);
    Ok(selection)
}
