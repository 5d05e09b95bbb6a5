//! Which packages may go in, and in which order.
//!
//! A session may have a hundred thousand: what is kept of each is its key, and the best are taken
//! from a heap as long as there is room. Terms are worked out for those that are told about.

use std::collections::{BinaryHeap, HashSet};

use handover_model::{Fate, ItemKind, PackageId, Priority, Routing, Timestamp, Zone};
use handover_store::{Candidate, Result};

use super::{Explained, ItemId, Request, Setting, Terms};
use crate::rank::{Metadata, relevance};
use crate::search::referenced;

/// The outcome of the selection.
#[derive(Debug, Default)]
pub(super) struct Selection {
    candidates: Vec<Candidate>,
    /// How relevant each candidate is to the task, if there is one.
    relevance: Option<Vec<f64>>,
    prior: f64,
    now: Timestamp,
    /// Those that may go in, best first.
    pub(super) queue: BinaryHeap<Key>,
    /// How many may go in.
    pub(super) available: usize,
    /// Those that may not.
    pub(super) refused: Vec<(Key, Fate)>,
}

/// What decides about the order: greater is better.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// Comes before the score.
    tier: u8,
    score: f64,
    created_at: Timestamp,
    /// Position among the candidates, which are in the order of their ids.
    position: u32,
}

impl Ord for Key {
    /// Ties: newer first, then by id.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.tier
            .cmp(&other.tier)
            .then(self.score.total_cmp(&other.score))
            .then(self.created_at.cmp(&other.created_at))
            .then(self.position.cmp(&other.position))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

impl Selection {
    /// The package of a key.
    pub(super) fn id(&self, key: Key) -> PackageId {
        self.candidates[key.position as usize].id
    }

    /// What became of a package, with the terms of its score.
    pub(super) fn explained(&self, key: Key, fate: Fate) -> Explained {
        let position = key.position as usize;
        let candidate = &self.candidates[position];
        Explained {
            kind: ItemKind::Package,
            id: ItemId::Number(candidate.id.0),
            included: matches!(fate, Fate::Fits | Fate::FitsShortened | Fate::FitsAsPath),
            reason: fate,
            score: key.score,
            terms: self.terms(position),
        }
    }

    /// The terms of a candidate's score.
    fn terms(&self, position: usize) -> Terms {
        let known = Metadata::of(&self.candidates[position], self.now);
        let (known, task) = match &self.relevance {
            None => (known, 0.0),
            Some(relevance) => (known.scaled(self.prior / Metadata::MAX), relevance[position]),
        };
        Terms {
            priority: known.priority,
            same_group: known.same_group,
            addressed: known.addressed,
            recency: known.recency,
            task,
        }
    }
}

pub(super) fn select(
    setting: Setting<'_>,
    request: &Request,
    zone: Zone,
    limit: usize,
) -> Result<Selection> {
    let store = setting.store;
    let group = request.group.as_ref();
    let candidates = store.candidates(&request.session, group, Some(&request.role))?;
    let referenced = match group {
        Some(group) => referenced(store, &request.session, group)?,
        None => HashSet::new(),
    };
    let consumed: HashSet<(PackageId, u32)> = store
        .consumed(&request.session, group, &request.role, request.iteration, request.now)?
        .into_iter()
        .collect();
    let task = request.task.as_deref().filter(|task| !task.trim().is_empty());
    let relevance = match task {
        Some(task) => {
            let clean = setting.redactor.clean(task);
            let weights = &setting.config.weights;
            Some(relevance(store, &request.session, clean.as_str(), &candidates, weights)?)
        }
        None => None,
    };
    let open = setting.config.routing == Routing::Open;
    let (prior, now) = (setting.config.prior, request.now);
    let mut selection = Selection { candidates, relevance, prior, now, ..Selection::default() };
    let mut kept = Vec::new();
    for (position, candidate) in (0..).zip(&selection.candidates) {
        let for_group = open
            || group.is_none()
            || candidate.same_group
            || candidate.global
            || referenced.contains(&candidate.id);
        let for_role = open || candidate.addressed || !candidate.restricted;
        let refusal = if !for_group {
            Some(Fate::AnotherGroup)
        } else if !for_role {
            Some(Fate::AddressedToOthers)
        } else if consumed.contains(&(candidate.id, candidate.version)) {
            Some(Fate::DeliveredAlready)
        } else {
            None
        };
        let score = selection.terms(position as usize).sum();
        let key = Key { tier: 0, score, created_at: candidate.created_at, position };
        match refusal {
            Some(fate) => selection.refused.push((key, fate)),
            None => kept.push(key),
        }
    }
    selection.available = kept.len();
    if zone == Zone::Conservative {
        ladder(&mut selection, &mut kept);
    } else if task.is_some() {
        reserve_for_critical(&selection, &mut kept, limit);
    }
    selection.queue = BinaryHeap::from(kept);
    Ok(selection)
}

/// Critical packages first, then high, then medium; low ones wait for better times.
fn ladder(selection: &mut Selection, kept: &mut Vec<Key>) {
    for key in kept.iter_mut() {
        key.tier = selection.candidates[key.position as usize].priority as u8;
    }
    let low = kept.extract_if(.., |key| key.tier == Priority::Low as u8);
    selection.refused.extend(low.map(|key| (key, Fate::LowPriority)));
}

/// Up to half of the limit, rounded up, is for critical packages, so that no task crowds them out.
fn reserve_for_critical(selection: &Selection, kept: &mut [Key], limit: usize) {
    let critical =
        |key: &Key| selection.candidates[key.position as usize].priority == Priority::Critical;
    let share = limit.div_ceil(2);
    let mut best: Vec<Key> = kept.iter().copied().filter(critical).collect();
    if best.len() > share {
        best.select_nth_unstable_by(share, |a, b| b.cmp(a));
        best.truncate(share);
    }
    let Some(least) = best.into_iter().min() else { return };
    for key in kept {
        key.tier = u8::from(critical(key) && *key >= least);
    }
}
