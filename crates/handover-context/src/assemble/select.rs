//! Selects and orders the packages that may go in.
//!
//! A session may have a hundred thousand, so only as many of the best are held as an assembly usually
//! needs; if they run out, a second pass finds the next best. Score terms are computed only for
//! candidates that are explained.

use std::collections::{BTreeMap, HashSet};

use handover_model::roles::Duty;
use handover_model::{Fate, ItemKind, PackageId, Priority, Routing, Timestamp, Zone};
use handover_store::{Candidate, Result, Store};
use handover_text::Clean;

use super::by_use::{BEHIND, ByUse};
use super::explain::LEFT_OUT_KEPT;
use super::{ContextRequest, Explained, ItemId, Sources, Terms};
use crate::rank::{Best, Key, Metadata, Ranking, View};
use crate::search::referenced;

/// How many packages that were delivered before are listed when there is nothing new.
const DELIVERED_SHOWN: usize = 5;

/// The candidates of one assembly, best first.
#[derive(Default)]
pub(super) struct Selection<'a> {
    /// Yields the candidates; `None` selects nothing.
    ranking: Option<Ranking<'a>>,
    scoring: Scoring,
    audience: Audience,
    tiers: Tiers,
    /// The best eligible candidates that were not taken yet, best last.
    queue: Vec<Key>,
    /// The capacity of the queue, without the reserved slots.
    room: usize,
    /// The lowest-ranked candidate that was taken.
    least_taken: Option<Key>,
    /// How many eligible candidates were not taken yet.
    pub(super) waiting: usize,
    /// How many candidates there are for the role, deferred low-priority ones included.
    pub(super) available: usize,
    /// The report of the failures that the work was sent back for.
    pub(super) report: Option<PackageId>,
    /// How many candidates were refused, by reason.
    pub(super) refused: BTreeMap<Fate, u64>,
    /// The best refused candidates, best last.
    best_refused: Vec<Key>,
    /// How far their use moves the best eligible candidates.
    pub(super) by_use: Vec<(PackageId, f64)>,
}

/// How candidates are scored.
#[derive(Debug, Default)]
struct Scoring {
    /// The factor of the metadata score when there is a task; without one it counts in full.
    scale: Option<f64>,
    now: Timestamp,
}

/// Who may get a package.
#[derive(Debug, Default)]
struct Audience {
    /// Routing is open: neither groups nor consumers matter.
    open: bool,
    /// The request names a group: it gets its own, global, and referenced packages.
    grouped: bool,
    chosen: HashSet<PackageId>,
    /// What this attempt of the role already got. Every candidate is looked up.
    consumed: foldhash::HashSet<(PackageId, u32)>,
    /// The role sees what its group has for others, too, because it judges or rescues their work.
    refers: bool,
    /// The zone defers low-priority packages.
    urgent_only: bool,
}

/// What outranks the score.
#[derive(Debug, Default)]
enum Tiers {
    #[default]
    None,
    /// Critical packages first, then high, then medium.
    Priority,
    /// Critical packages ranked at least this high, so that no task crowds them out.
    Critical(Key),
}

impl Selection<'_> {
    /// Takes the best eligible candidate.
    pub(super) fn take(&mut self) -> Result<Option<Key>> {
        if self.queue.is_empty() && self.waiting > 0 {
            self.room = self.room.saturating_mul(2);
            let mut best = Best::new(self.room);
            self.each(&mut |candidate, relevance, refusal| {
                let key = self.key(candidate, relevance);
                if refusal.is_none() && self.least_taken.is_none_or(|least| key < least) {
                    best.push(&key);
                }
            })?;
            self.queue = best.ascending();
        }
        let Some(key) = self.queue.pop() else { return Ok(None) };
        // Outside a transaction, candidates may have been added since they were counted.
        self.waiting = self.waiting.saturating_sub(1);
        self.least_taken = Some(self.least_taken.map_or(key, |least| least.min(key)));
        Ok(Some(key))
    }

    /// Lets use move the candidates that the limit admits, and those close behind. What is taken later is compared
    /// by the keys themselves, which stay as they are.
    pub(super) fn order_by_use(&mut self, by_use: &ByUse<'_>, limit: usize) -> Result<()> {
        let behind = self.queue.len().saturating_sub(limit.saturating_add(BEHIND));
        if self.queue.len() > behind {
            self.by_use = by_use.order(&mut self.queue[behind..], self.report)?;
        }
        Ok(())
    }

    /// Takes the best refused candidate, with the reason.
    pub(super) fn take_refused(&mut self) -> Option<(Key, Fate)> {
        let key = self.best_refused.pop()?;
        Some((key, self.audience.refusal(&key.candidate)?))
    }

    /// Whether a package is addressed to others, and offered because the role judges or rescues their work.
    pub(super) fn is_for_reference(&self, key: &Key) -> bool {
        let Candidate { addressed, restricted, .. } = key.candidate;
        restricted && !addressed && !self.audience.open
    }

    /// Whether a planner chose a package for the group.
    pub(super) fn is_chosen(&self, key: &Key) -> bool {
        self.audience.chosen.contains(&key.candidate.id)
    }

    /// The paths of the best packages that this attempt already got.
    pub(super) fn delivered(&self, store: &dyn Store) -> Result<Vec<String>> {
        let is_delivered =
            |key: &&Key| self.audience.refusal(&key.candidate) == Some(Fate::DeliveredAlready);
        let delivered = self.best_refused.iter().rev().filter(is_delivered).take(DELIVERED_SHOWN);
        let ids: Vec<PackageId> = delivered.map(|key| key.candidate.id).collect();
        let packages = store.packages_by_id(&ids)?;
        Ok(packages.into_iter().map(|package| package.path).collect())
    }

    /// A candidate that was taken turned out to be of no use to anybody.
    pub(super) fn discard(&mut self) {
        self.available = self.available.saturating_sub(1);
    }

    /// Explains a candidate, with the terms of its score.
    pub(super) fn explained(&self, key: Key, fate: Fate) -> Explained {
        Explained {
            kind: ItemKind::Package,
            id: ItemId::Number(key.candidate.id.0),
            included: fate.is_in(),
            reason: fate,
            detail: None,
            trust: None,
            score: key.score,
            terms: self.scoring.terms(&key.candidate, key.relevance),
            stale: Vec::new(),
            amended_by: None,
        }
    }

    /// Visits every candidate and its relevance, with the reason if it is refused.
    fn each(&self, visit: &mut dyn FnMut(&Candidate, f64, Option<Fate>)) -> Result<()> {
        let Some(ranking) = &self.ranking else { return Ok(()) };
        ranking.each(&mut |candidate, relevance| {
            visit(candidate, relevance, self.audience.refusal(candidate));
        })
    }

    #[inline]
    fn key(&self, candidate: &Candidate, relevance: f64) -> Key {
        let score = self.scoring.terms(candidate, relevance).sum();
        let mut key = Key { tier: 0, score, relevance, candidate: *candidate };
        key.tier = self.tiers.of(&key);
        if self.report == Some(candidate.id) {
            key.tier = key.tier.max(Priority::Critical as u8);
        }
        key
    }

    /// Whether a candidate may be among the best of many. Of ten thousand packages most share so few words with the
    /// task that nothing else can make up for it, and their keys are never computed.
    #[inline]
    fn may_be_among(&self, best: &Best, candidate: &Candidate, relevance: f64) -> bool {
        let by_score = matches!(self.tiers, Tiers::None) && self.report != Some(candidate.id);
        !by_score || best.has_room_for(relevance + self.scoring.most_known())
    }
}

impl Scoring {
    /// More than everything but the relevance can add to a score.
    #[inline]
    fn most_known(&self) -> f64 {
        self.scale.unwrap_or(1.0).max(0.0) * Metadata::MAX + f64::from(f32::EPSILON)
    }

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
            stale: 0.0,
            used: 0.0,
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
    /// The reason why a candidate is refused, if it is.
    #[inline]
    fn refusal(&self, candidate: &Candidate) -> Option<Fate> {
        let for_group = self.open
            || !self.grouped
            || candidate.same_group
            || candidate.global
            || self.chosen.contains(&candidate.id);
        let for_role = self.open
            || candidate.addressed
            || !candidate.restricted
            || self.refers && (candidate.same_group || !self.grouped);
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
    report: Option<PackageId>,
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
        refers: matches!(Duty::of(&request.role), Duty::Judges | Duty::Rescues),
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
        report,
        room: if request.explain { usize::MAX } else { limit.saturating_add(LEFT_OUT_KEPT) },
        ..Selection::default()
    };
    // Critical packages have reserved slots, up to half of the limit, rounded up.
    let reserving = task.is_some() && zone != Zone::Conservative;
    let mut reserved = Best::new(if reserving { limit.div_ceil(2) } else { 0 });
    let (mut best, mut best_refused) = (Best::new(selection.room), Best::new(selection.room));
    let (mut waiting, mut refused) = (0, BTreeMap::new());
    selection.each(&mut |candidate, relevance, refusal| match refusal {
        Some(fate) => {
            *refused.entry(fate).or_default() += 1;
            if selection.may_be_among(&best_refused, candidate, relevance) {
                best_refused.push(&Key { tier: 0, ..selection.key(candidate, relevance) });
            }
        }
        None => {
            waiting += 1;
            let is_reserved = reserving && candidate.priority == Priority::Critical;
            if is_reserved || selection.may_be_among(&best, candidate, relevance) {
                let key = selection.key(candidate, relevance);
                if is_reserved {
                    reserved.push(&key);
                }
                best.push(&key);
            }
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
    // Deferred low-priority packages are for this role, too.
    selection.available = waiting + refused.get(&Fate::LowPriority).map_or(0, |low| *low as usize);
    (selection.waiting, selection.refused) = (waiting, refused);
    Ok(selection)
}
