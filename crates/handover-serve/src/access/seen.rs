//! Results that tell by themselves whose they are.

use std::collections::HashSet;

use handover_model::{Change, HostVersion, Package, Receipt, Run, Session, SessionId, Ticket};
use handover_store::{FeedSpan, RecordKind, Result, StoreError};

use super::Guarded;

/// What is left of a result for a caller.
pub(super) trait Seen: Sized {
    fn seen(self, guard: &Guarded<'_>) -> Result<Self>;
}

impl Seen for Session {
    fn seen(self, guard: &Guarded<'_>) -> Result<Self> {
        match guard.is_own(&self.project) {
            true => Ok(self),
            false => Err(StoreError::not_found(RecordKind::Session, self.id)),
        }
    }
}

impl Seen for Vec<Session> {
    fn seen(mut self, guard: &Guarded<'_>) -> Result<Self> {
        self.retain(|session| guard.is_own(&session.project));
        Ok(self)
    }
}

impl Seen for Package {
    fn seen(self, guard: &Guarded<'_>) -> Result<Self> {
        match guard.sees(&self.session)? {
            true => Ok(self),
            false => Err(StoreError::not_found(RecordKind::Package, self.id)),
        }
    }
}

/// All of them or none: they were asked for by name.
impl Seen for Vec<Package> {
    fn seen(self, guard: &Guarded<'_>) -> Result<Self> {
        let mut own = HashSet::new();
        for package in &self {
            if !own.contains(&package.session) {
                if !guard.sees(&package.session)? {
                    return Err(StoreError::not_found(RecordKind::Package, package.id));
                }
                own.insert(&package.session);
            }
        }
        Ok(self)
    }
}

impl Seen for Receipt {
    fn seen(self, guard: &Guarded<'_>) -> Result<Self> {
        match guard.sees(&self.session)? {
            true => Ok(self),
            false => Err(StoreError::not_found(RecordKind::Receipt, self.id)),
        }
    }
}

impl Seen for Run {
    fn seen(self, guard: &Guarded<'_>) -> Result<Self> {
        match guard.sees(&self.session)? {
            true => Ok(self),
            false => Err(StoreError::not_found(RecordKind::Run, self.id)),
        }
    }
}

impl Seen for Option<SessionId> {
    fn seen(self, guard: &Guarded<'_>) -> Result<Self> {
        match self {
            Some(session) if guard.sees(&session)? => Ok(Some(session)),
            Some(_) | None => Ok(None),
        }
    }
}

impl Seen for Option<Ticket> {
    fn seen(self, guard: &Guarded<'_>) -> Result<Self> {
        let tickets: Vec<Ticket> = self.into_iter().collect();
        Ok(tickets.seen(guard)?.pop())
    }
}

impl Seen for Vec<Ticket> {
    fn seen(self, guard: &Guarded<'_>) -> Result<Self> {
        let mut seen = Self::new();
        for ticket in self {
            match guard.receipt_guard(&ticket.receipt) {
                Ok(()) => seen.push(ticket),
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(seen)
    }
}

impl Seen for Vec<Change> {
    fn seen(mut self, guard: &Guarded<'_>) -> Result<Self> {
        self.retain(|change| guard.is_own(&change.project));
        Ok(self)
    }
}

/// Of machines, not of projects.
impl Seen for Vec<HostVersion> {
    fn seen(self, _: &Guarded<'_>) -> Result<Self> {
        Ok(self)
    }
}

/// A number that grows tells that something happens somewhere, and nothing else.
impl Seen for FeedSpan {
    fn seen(self, _: &Guarded<'_>) -> Result<Self> {
        Ok(self)
    }
}

impl Seen for () {
    fn seen(self, _: &Guarded<'_>) -> Result<Self> {
        Ok(self)
    }
}
