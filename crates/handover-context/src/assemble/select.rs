//! Which packages may go in, and in which order.
//!
//! A session may have a hundred thousand: only the best are kept, as many as an assembly looks at, and
//! should they run out, the next best are looked for. Terms are worked out for those that are told
//! about.

use std::collections::{BTreeMap, HashSet};

use handover_model::{Fate, ItemKind, PackageId, Priority, Routing, Timestamp, Zone};
use handover_store::{Candidate, Result};

use super::{Explained, ItemId, LEFT_OUT_KEPT, Request, Setting, Terms};
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
    audience: Audience,
    tiers: Tiers,
    /// The best of those that may go in and were not taken, best last.
    queue: Vec<Key>,
    /// How many the queue had at first.
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
    /// The next best that may go in.
    pub(super) fn take(&mut self) -> Option<Key> {
        if self.queue.is_empty() && self.waiting > 0 {
            self.room = self.room.saturating_mul(2);
            let mut best = Best::new(self.room);
            for position in 0..self.candidates.len() {
                let key = self.key(position);
                if self.least_taken.is_none_or(|least| key < least)
                    && self.refusal(position).is_none()
                {
                    best.push(key);
                }
            }
            self.queue = best.ascending();
        }
        let key = self.queue.pop()?;
        self.waiting -= 1;
        self.least_taken = Some(self.least_taken.map_or(key, |least| least.min(key)));
        Some(key)
    }

    /// Puts back the one that was taken last.
    pub(super) fn put_back(&mut self, key: Key) {
        self.waiting += 1;
        self.queue.push(key);
    }

    /// The next best of those that may not, and why.
    pub(super) fn take_refused(&mut self) -> Option<(Key, Fate)> {
        let key = self.best_refused.pop()?;
        Some((key, self.refusal(key.position as usize)?))
    }

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

    #[inline]
    fn key(&self, position: usize) -> Key {
        let Candidate { priority, created_at, .. } = self.candidates[position];
        let score = self.terms(position).sum();
        let key = Key { tier: 0, score, created_at, position: position as u32 };
        let tier = match self.tiers {
            Tiers::None => 0,
            Tiers::Priority => priority as u8,
            Tiers::Critical(least) => u8::from(priority == Priority::Critical && key >= least),
        };
        Key { tier, ..key }
    }

    /// Why a candidate may not go in.
    #[inline]
    fn refusal(&self, position: usize) -> Option<Fate> {
        let (candidate, audience) = (&self.candidates[position], &self.audience);
        let for_group = audience.open
            || !audience.grouped
            || candidate.same_group
            || candidate.global
            || audience.chosen.contains(&candidate.id);
        let for_role = audience.open || candidate.addressed || !candidate.restricted;
        if !for_group {
            Some(Fate::AnotherGroup)
        } else if !for_role {
            Some(Fate::AddressedToOthers)
        } else if audience.consumed.contains(&(candidate.id, candidate.version)) {
            Some(Fate::DeliveredAlready)
        } else if audience.urgent_only && candidate.priority == Priority::Low {
            Some(Fate::LowPriority)
        } else {
            None
        }
    }

    /// The least of the critical packages that have a place reserved: up to half of the limit,
    /// rounded up.
    fn least_reserved(&self, limit: usize) -> Option<Key> {
        let mut best = Best::new(limit.div_ceil(2));
        for (position, candidate) in self.candidates.iter().enumerate() {
            if candidate.priority == Priority::Critical && self.refusal(position).is_none() {
                best.push(self.key(position));
            }
        }
        best.ascending().first().copied()
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
    let audience = Audience {
        open: setting.config.routing == Routing::Open,
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
    let task = request.task.as_deref().filter(|task| !task.trim().is_empty());
    let relevance = match task {
        Some(task) => {
            let clean = setting.redactor.clean(task);
            let weights = &setting.config.weights;
            Some(relevance(store, &request.session, clean.as_str(), &candidates, weights)?)
        }
        None => None,
    };
    let (prior, now) = (setting.config.prior, request.now);
    let mut selection =
        Selection { candidates, relevance, prior, now, audience, ..Selection::default() };
    if zone == Zone::Conservative {
        selection.tiers = Tiers::Priority;
    } else if task.is_some()
        && let Some(least) = selection.least_reserved(limit)
    {
        selection.tiers = Tiers::Critical(least);
    }
    selection.room = if request.explain { usize::MAX } else { limit.saturating_add(LEFT_OUT_KEPT) };
    let (mut best, mut best_refused) = (Best::new(selection.room), Best::new(selection.room));
    for position in 0..selection.candidates.len() {
        let key = selection.key(position);
        match selection.refusal(position) {
            Some(fate) => {
                // Those are for this role; they only have to wait.
                selection.available += usize::from(fate == Fate::LowPriority);
                *selection.refused.entry(fate).or_default() += 1;
                best_refused.push(Key { tier: 0, ..key });
            }
            None => {
                selection.available += 1;
                selection.waiting += 1;
                best.push(key);
            }
        }
    }
    selection.queue = best.ascending();
    selection.best_refused = best_refused.ascending();
    Ok(selection)
}

/// The greatest of those that were pushed.
struct Best {
    room: usize,
    /// Not much more than there is room for.
    kept: Vec<Key>,
    /// What is less is not among the greatest.
    least: Option<Key>,
}

impl Best {
    fn new(room: usize) -> Self {
        Self { room, kept: Vec::new(), least: None }
    }

    fn push(&mut self, key: Key) {
        if self.least.is_some_and(|least| key < least) {
            return;
        }
        self.kept.push(key);
        // Seldom, so that a key costs the same however many there is room for.
        if self.kept.len() > self.room.saturating_mul(2) {
            self.drop_others();
        }
    }

    fn drop_others(&mut self) {
        if self.kept.len() > self.room {
            self.kept.select_nth_unstable_by(self.room, |a, b| b.cmp(a));
            self.kept.truncate(self.room);
            self.least = self.kept.iter().min().copied();
        }
    }

    fn ascending(mut self) -> Vec<Key> {
        self.drop_others();
        self.kept.sort_unstable();
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_those_of_a_sorted_list() {
        let scores = (0..997_u32).map(|n| f64::from(n * 7_919 % 101));
        let keys: Vec<Key> = (0..)
            .zip(scores)
            .map(|(position, score)| Key {
                tier: 0,
                score,
                created_at: Timestamp::default(),
                position,
            })
            .collect();
        let mut sorted = keys.clone();
        sorted.sort();
        for room in [0, 1, 2, 53, 996, 997, 998, usize::MAX] {
            let mut best = Best::new(room);
            keys.iter().for_each(|key| best.push(*key));
            assert_eq!(best.ascending(), sorted[997 - room.min(997)..], "{room}");
        }
    }
}
