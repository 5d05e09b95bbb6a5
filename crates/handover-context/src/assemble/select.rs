//! Which packages may go in, and in which order.

use std::collections::{HashMap, HashSet};

use handover_model::{PackageId, Priority, Routing, Zone};
use handover_store::{Candidate, Result};

use super::{Explained, Request, Setting, Terms};
use crate::rank::{Metadata, relevance};
use crate::search::referenced;

/// The outcome of the selection.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Those that may go in, in the order in which they are tried.
    pub(super) ranked: Vec<Ranked>,
    /// How many may go in.
    pub(super) available: usize,
    /// Those that may not, with the reason, best first.
    pub(super) refused: Vec<Explained>,
}

/// A candidate with its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked {
    pub(super) candidate: Candidate,
    pub(super) score: f64,
    pub(super) terms: Terms,
}

impl Ranked {
    pub(super) fn explained(&self, included: bool, reason: &'static str) -> Explained {
        Explained {
            kind: handover_model::ItemKind::Package,
            id: self.candidate.id,
            included,
            reason,
            score: self.score,
            terms: self.terms,
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
    let all = store.candidates(&request.session, group, Some(&request.role))?;
    let referenced = match group {
        Some(group) => referenced(store, &request.session, group)?,
        None => HashSet::new(),
    };
    let consumed: HashSet<(PackageId, u32)> = store
        .consumed(&request.session, group, &request.role, request.iteration, request.now)?
        .into_iter()
        .collect();
    let task = request.task.as_deref().filter(|task| !task.trim().is_empty());
    let relevant: Option<HashMap<PackageId, f64>> = match task {
        Some(task) => {
            let clean = setting.redactor.clean(task);
            let ranked = relevance(store, &request.session, clean.as_str(), usize::MAX)?;
            Some(ranked.into_iter().collect())
        }
        None => None,
    };
    let mut selection = Selection::default();
    for candidate in all {
        let ranked = rank(candidate, relevant.as_ref(), setting.config.prior, request);
        let open = setting.config.routing == Routing::Open;
        let for_group = open
            || group.is_none()
            || candidate.same_group
            || candidate.global
            || referenced.contains(&candidate.id);
        let for_role = open || candidate.addressed || !candidate.restricted;
        let refusal = if !for_group {
            Some("another group")
        } else if !for_role {
            Some("addressed to others")
        } else if consumed.contains(&(candidate.id, candidate.version)) {
            Some("delivered already")
        } else {
            None
        };
        match refusal {
            Some(reason) => selection.refused.push(ranked.explained(false, reason)),
            None => selection.ranked.push(ranked),
        }
    }
    selection.available = selection.ranked.len();
    selection.ranked.sort_by(by_score);
    selection.refused.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
    match zone {
        Zone::Conservative => ladder(&mut selection),
        Zone::Normal | Zone::SoftWarning | Zone::WrapUp | Zone::Emergency => {
            if task.is_some() {
                reserve_for_critical(&mut selection.ranked, limit);
            }
        }
    }
    Ok(selection)
}

fn rank(
    candidate: Candidate,
    relevant: Option<&HashMap<PackageId, f64>>,
    prior: f64,
    request: &Request,
) -> Ranked {
    let known = Metadata::of(&candidate, request.now);
    let (known, task) = match relevant {
        None => (known, 0.0),
        Some(scores) => {
            (known.scaled(prior / Metadata::MAX), scores.get(&candidate.id).copied().unwrap_or(0.0))
        }
    };
    let terms = Terms {
        priority: known.priority,
        same_group: known.same_group,
        addressed: known.addressed,
        recency: known.recency,
        task,
    };
    Ranked { candidate, score: known.score() + task, terms }
}

/// Best first; ties newer first, then by id.
fn by_score(a: &Ranked, b: &Ranked) -> std::cmp::Ordering {
    b.score
        .total_cmp(&a.score)
        .then(b.candidate.created_at.cmp(&a.candidate.created_at))
        .then(b.candidate.id.cmp(&a.candidate.id))
}

/// Critical packages first, then high, then medium; low ones wait for better times.
fn ladder(selection: &mut Selection) {
    let (kept, low): (Vec<Ranked>, Vec<Ranked>) = std::mem::take(&mut selection.ranked)
        .into_iter()
        .partition(|ranked| ranked.candidate.priority > Priority::Low);
    selection
        .refused
        .extend(low.iter().map(|ranked| ranked.explained(false, "low priority in this zone")));
    selection.ranked = kept;
    selection.ranked.sort_by(|a, b| {
        b.candidate.priority.cmp(&a.candidate.priority).then_with(|| by_score(a, b))
    });
}

/// Up to half of the limit, rounded up, is for critical packages, so that no task crowds them out.
fn reserve_for_critical(ranked: &mut Vec<Ranked>, limit: usize) {
    let share = limit.div_ceil(2);
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for item in ranked.drain(..) {
        if item.candidate.priority == Priority::Critical && first.len() < share {
            first.push(item);
        } else {
            rest.push(item);
        }
    }
    first.extend(rest);
    *ranked = first;
}
