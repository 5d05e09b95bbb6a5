//! Methods whose rule is more than whose record they are about.

use handover_model::{
    ErrorPattern, Receipt, Run, Session, SessionId, Strategy, Timestamp, Token, TokenId,
};
use handover_store::{
    ErrorSighting, NewPackage, NewSession, NewToken, Opened, ReceiptFilter, RecordKind, Registered,
    Reindexed, Result, RunFilter, Sessions, StoreError, StrategyFilter, Supersede,
};
use handover_text::Clean;

use super::{Guarded, Seen};

/// An id that another project has taken cannot be had.
pub(super) fn open_session(guard: &Guarded<'_>, new: &NewSession) -> Result<Opened<Session>> {
    guard.project_guard(&new.project)?;
    let mut opened = None;
    guard.store.exclusively(&mut |store| {
        let answer = store.open_session(new)?;
        // Seen before it is kept: if it is another's, nothing happened.
        guard.inside(store).project_guard(&answer.record.project)?;
        opened = Some(answer);
        Ok(())
    })?;
    opened.ok_or_else(|| StoreError::not_found(RecordKind::Session, &new.id))
}

/// A package that is to be superseded must be the caller's too: a refusal would tell whose it is.
pub(super) fn register_packages(
    guard: &Guarded<'_>,
    new: &[NewPackage],
) -> Result<Vec<Registered>> {
    guard.sessions_guard(new.iter().map(|new| &new.session))?;
    for new in new {
        if let Supersede::Package(id) = new.supersede {
            guard.package_guard(id)?;
        }
    }
    guard.store.register_packages(new)
}

fn sighting_guard(guard: &Guarded<'_>, sighting: &ErrorSighting) -> Result<()> {
    guard.project_guard(&sighting.project)?;
    guard.sessions_guard(sighting.session.iter())
}

/// Without a session: every session of the caller's project.
pub(super) fn reindex(guard: &Guarded<'_>, session: Option<&SessionId>) -> Result<Reindexed> {
    if let Some(session) = session {
        guard.session_guard(session)?;
    }
    if session.is_some() || guard.access.project.is_none() {
        return guard.store.reindex(session);
    }
    let mut all = Reindexed::default();
    for session in guard.sessions(None)? {
        let one = guard.store.reindex(Some(&session.id))?;
        all.sessions += one.sessions;
        all.packages += one.packages;
    }
    Ok(all)
}

pub(super) fn record_error(guard: &Guarded<'_>, sighting: &ErrorSighting) -> Result<ErrorPattern> {
    sighting_guard(guard, sighting)?;
    guard.store.record_error(sighting)
}

pub(super) fn resolve_error(
    guard: &Guarded<'_>,
    sighting: &ErrorSighting,
    solution: &Clean,
) -> Result<ErrorPattern> {
    sighting_guard(guard, sighting)?;
    guard.store.resolve_error(sighting, solution)
}

/// The id says nothing of the project, so it must be among those of the caller's.
pub(super) fn strategy_helped(guard: &Guarded<'_>, id: &str, now: Timestamp) -> Result<Strategy> {
    if let Some(project) = &guard.access.project {
        let own = guard.store.strategies(project, &StrategyFilter::default())?;
        if !own.iter().any(|strategy| strategy.id == id) {
            return Err(StoreError::not_found(RecordKind::Strategy, id));
        }
    }
    guard.store.strategy_helped(id, now)
}

/// A limit counts what the caller sees.
pub(super) fn receipts(guard: &Guarded<'_>, filter: &ReceiptFilter) -> Result<Vec<Receipt>> {
    if guard.access.project.is_none() {
        return guard.store.receipts(filter);
    }
    if let Some(session) = &filter.session {
        guard.session_guard(session)?;
        return guard.store.receipts(filter);
    }
    let all = guard.store.receipts(&ReceiptFilter { limit: None, ..filter.clone() })?;
    limited(guard, all, filter.limit)
}

/// A limit counts what the caller sees.
pub(super) fn runs(guard: &Guarded<'_>, filter: &RunFilter) -> Result<Vec<Run>> {
    if guard.access.project.is_none() {
        return guard.store.runs(filter);
    }
    let all = guard.store.runs(&RunFilter { limit: None, ..filter.clone() })?;
    limited(guard, all, filter.limit)
}

fn limited<T: Seen>(guard: &Guarded<'_>, all: Vec<T>, limit: Option<u32>) -> Result<Vec<T>> {
    let limit = limit.map_or(usize::MAX, |limit| limit as usize);
    let mut seen = Vec::new();
    for record in all {
        if seen.len() == limit {
            break;
        }
        match record.seen(guard) {
            Ok(record) => seen.push(record),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(seen)
}

/// Whoever administers one project makes no tokens for others.
pub(super) fn create_token(guard: &Guarded<'_>, new: &NewToken) -> Result<Token> {
    match (&guard.access.project, &new.project) {
        (Some(_), None) => Err(StoreError::not_found(RecordKind::Project, "of the whole store")),
        (Some(_), Some(project)) => {
            guard.project_guard(project)?;
            guard.tokens.create_token(new)
        }
        (None, _) => guard.tokens.create_token(new),
    }
}

fn is_own(guard: &Guarded<'_>, token: &Token) -> bool {
    guard.access.project.is_none() || token.project == guard.access.project
}

pub(super) fn token(guard: &Guarded<'_>, id: &TokenId) -> Result<Token> {
    let token = guard.tokens.token(id)?;
    match is_own(guard, &token) {
        true => Ok(token),
        false => Err(StoreError::not_found(RecordKind::Token, id)),
    }
}

pub(super) fn tokens(guard: &Guarded<'_>) -> Result<Vec<Token>> {
    let mut tokens = guard.tokens.tokens()?;
    tokens.retain(|token| is_own(guard, token));
    Ok(tokens)
}

pub(super) fn end_token(guard: &Guarded<'_>, id: &TokenId, now: Timestamp) -> Result<bool> {
    if guard.access.project.is_some() {
        token(guard, id)?;
    }
    guard.tokens.end_token(id, now)
}
