//! Methods that need more than the owner of one record to authorize.

use handover_model::{
    ErrorPattern, Host, HostSessionId, Receipt, Run, Session, SessionId, Strategy, Timestamp,
    Token, TokenId,
};
use handover_store::{
    ErrorSighting, NewPackage, NewRun, NewSession, NewToken, Opened, ReceiptFilter, RecordKind,
    Registered, Reindexed, Result, RunFilter, Sessions, StoreError, StrategyFilter, Supersede,
};
use handover_text::Clean;

pub(super) use super::notes::*;
use super::{Guarded, Visible};

/// Fails if another project already uses the id.
pub(super) fn open_session(guard: &Guarded<'_>, new: &NewSession) -> Result<Opened<Session>> {
    guard.project_guard(&new.project)?;
    let mut opened = None;
    guard.store.exclusively(&mut |store| {
        let answer = store.open_session(new)?;
        // Checked inside the transaction: a session of another project rolls everything back.
        guard.within(store).project_guard(&answer.record.project)?;
        opened = Some(answer);
        Ok(())
    })?;
    opened.ok_or_else(|| StoreError::not_found(RecordKind::Session, &new.id))
}

/// A superseded package must be visible too: the store's own error would reveal whose it is.
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

/// The id does not identify the project, so it must be among the caller's strategies.
pub(super) fn strategy_helped(guard: &Guarded<'_>, id: &str, now: Timestamp) -> Result<Strategy> {
    if let Some(project) = &guard.access.project {
        let own = guard.store.strategies(project, &StrategyFilter::default())?;
        if !own.iter().any(|strategy| strategy.id == id) {
            return Err(StoreError::not_found(RecordKind::Strategy, id));
        }
    }
    guard.store.strategy_helped(id, now)
}

/// The limit applies to what the caller can see.
pub(super) fn receipts(guard: &Guarded<'_>, filter: &ReceiptFilter) -> Result<Vec<Receipt>> {
    if guard.access.project.is_none() {
        return guard.store.receipts(filter);
    }
    if let Some(session) = &filter.session {
        guard.session_guard(session)?;
        return guard.store.receipts(filter);
    }
    let all = guard.store.receipts(&ReceiptFilter { skip: 0, limit: None, ..filter.clone() })?;
    limited(guard, all, filter.skip, filter.limit)
}

/// The limit applies to what the caller can see.
pub(super) fn runs(guard: &Guarded<'_>, filter: &RunFilter) -> Result<Vec<Run>> {
    if guard.access.project.is_none() {
        return guard.store.runs(filter);
    }
    let all = guard.store.runs(&RunFilter { limit: None, ..filter.clone() })?;
    limited(guard, all, 0, filter.limit)
}

fn limited<T: Visible>(
    guard: &Guarded<'_>,
    all: Vec<T>,
    skip: u32,
    limit: Option<u32>,
) -> Result<Vec<T>> {
    let limit = limit.map_or(usize::MAX, |limit| limit as usize);
    let (mut visible, mut passed) = (Vec::new(), 0);
    for record in all {
        if visible.len() == limit {
            break;
        }
        match record.restrict(guard) {
            Ok(_) if passed < skip => passed += 1,
            Ok(record) => visible.push(record),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(visible)
}

/// The epic must be free for the caller, too: the project that started its last run owns it.
pub(super) fn start_run(guard: &Guarded<'_>, new: &NewRun, fence: u64) -> Result<()> {
    guard.session_guard(&new.session)?;
    guard.epic_guard(&new.epic)?;
    guard.store.start_run(new, fence)
}

/// A conversation that is bound to a session of another project stays there.
pub(super) fn bind_host(
    guard: &Guarded<'_>,
    host: Host,
    conversation: &HostSessionId,
    session: &SessionId,
    now: Timestamp,
) -> Result<()> {
    guard.session_guard(session)?;
    guard.store.exclusively(&mut |store| match store.bound_session(host, conversation)? {
        Some(bound) if !guard.within(store).sees(&bound)? => {
            Err(StoreError::not_found(RecordKind::Session, session))
        }
        Some(_) | None => store.bind_host(host, conversation, session, now),
    })
}

/// An administrator of one project cannot create tokens for others.
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
