//! Results that carry their owner and can be filtered after the call.

use std::collections::HashSet;

use handover_model::{Change, HostVersion, Package, Receipt, Run, Session, SessionId, Ticket};
use handover_store::{FeedSpan, RecordKind, Result, StoreError};

use super::Guarded;

/// Restricts a result to what the caller may see.
pub(super) trait Visible: Sized {
    fn restrict(self, guard: &Guarded<'_>) -> Result<Self>;
}

impl Visible for Session {
    fn restrict(self, guard: &Guarded<'_>) -> Result<Self> {
        match guard.is_own(&self.project) {
            true => Ok(self),
            false => Err(StoreError::not_found(RecordKind::Session, self.id)),
        }
    }
}

impl Visible for Vec<Session> {
    fn restrict(mut self, guard: &Guarded<'_>) -> Result<Self> {
        self.retain(|session| guard.is_own(&session.project));
        Ok(self)
    }
}

impl Visible for Package {
    fn restrict(self, guard: &Guarded<'_>) -> Result<Self> {
        match guard.sees(&self.session)? {
            true => Ok(self),
            false => Err(StoreError::not_found(RecordKind::Package, self.id)),
        }
    }
}

/// All or nothing: they were requested by id.
impl Visible for Vec<Package> {
    fn restrict(self, guard: &Guarded<'_>) -> Result<Self> {
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

impl Visible for Receipt {
    fn restrict(self, guard: &Guarded<'_>) -> Result<Self> {
        match guard.sees(&self.session)? {
            true => super::notes::without_private_text(guard, self),
            false => Err(StoreError::not_found(RecordKind::Receipt, self.id)),
        }
    }
}

impl Visible for Run {
    fn restrict(self, guard: &Guarded<'_>) -> Result<Self> {
        match guard.sees(&self.session)? {
            true => Ok(self),
            false => Err(StoreError::not_found(RecordKind::Run, self.id)),
        }
    }
}

impl Visible for Option<SessionId> {
    fn restrict(self, guard: &Guarded<'_>) -> Result<Self> {
        match self {
            Some(session) if guard.sees(&session)? => Ok(Some(session)),
            Some(_) | None => Ok(None),
        }
    }
}

impl Visible for Option<Ticket> {
    fn restrict(self, guard: &Guarded<'_>) -> Result<Self> {
        let tickets: Vec<Ticket> = self.into_iter().collect();
        Ok(tickets.restrict(guard)?.pop())
    }
}

impl Visible for Vec<Ticket> {
    fn restrict(self, guard: &Guarded<'_>) -> Result<Self> {
        let mut visible = Self::new();
        for ticket in self {
            match guard.receipt_guard(&ticket.receipt) {
                Ok(()) => visible.push(ticket),
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(visible)
    }
}

impl Visible for Vec<Change> {
    fn restrict(mut self, guard: &Guarded<'_>) -> Result<Self> {
        self.retain(|change| guard.is_own(&change.project));
        Ok(self)
    }
}

/// Belongs to machines, not to projects.
impl Visible for Vec<HostVersion> {
    fn restrict(self, _: &Guarded<'_>) -> Result<Self> {
        Ok(self)
    }
}

/// A growing number reveals activity, but nothing about it.
impl Visible for FeedSpan {
    fn restrict(self, _: &Guarded<'_>) -> Result<Self> {
        Ok(self)
    }
}

impl Visible for () {
    fn restrict(self, _: &Guarded<'_>) -> Result<Self> {
        Ok(self)
    }
}
