//! What every request shares, and how it gets to work on the store: as a known caller, with no more
//! rights than they have.

use std::sync::Arc;

use handover_mcp::{Refusal, Seat, ToolError};
use handover_model::{ProjectId, SessionId, SessionStatus, TokenKind, TokenScope};
use handover_store::{Store, StoreError};
use tokio::sync::watch;

use crate::access::{Access, Guarded};
use crate::admit::{Caller, Rules};
use crate::house::House;
use crate::live::Feeds;
use crate::rate::Rate;
use crate::rpc::Transactions;
use crate::token;

/// What every request shares.
#[derive(Clone)]
pub(crate) struct Office {
    pub(crate) house: Arc<dyn House>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) rate: Arc<Rate>,
    pub(crate) feeds: Arc<Feeds>,
    pub(crate) transactions: Arc<Transactions>,
}

impl Office {
    /// `ended` becomes true when the service ends.
    pub(crate) fn new(house: Arc<dyn House>, rules: Rules, ended: watch::Receiver<bool>) -> Self {
        Self {
            house,
            rules: Arc::new(rules),
            rate: Arc::default(),
            feeds: Arc::new(Feeds::new(ended)),
            transactions: Arc::default(),
        }
    }

    /// Works for a caller on a thread that may wait: the store is synchronous.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        caller: Caller,
        need: TokenScope,
        work: impl FnOnce(&Seat<'_>) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.work_as(caller, need, |seat, _| work(seat)).await
    }

    /// The same for work that has to know whom it is for.
    pub(crate) async fn work_as<T: Send + 'static>(
        &self,
        caller: Caller,
        need: TokenScope,
        work: impl FnOnce(&Seat<'_>, &Access) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let office = self.clone();
        self.unguarded(None, move |own| {
            let access = office.allowed(own, &caller, need)?;
            office.settle(own, &access, |seat| work(seat, &access))
        })
        .await
    }

    /// Whether a caller may be heard at all; no store of another project is looked into for that.
    pub(crate) async fn hear(&self, caller: &Caller) -> Result<(), Refusal> {
        let (office, caller) = (self.clone(), caller.clone());
        self.unguarded(None, move |own| office.allowed(own, &caller, TokenScope::Read).map(drop))
            .await
    }

    /// Works with all rights, for the service's own project or another one: for what nobody asked for,
    /// and what tells nobody anything.
    pub(crate) async fn unguarded<T: Send + 'static>(
        &self,
        project: Option<ProjectId>,
        work: impl FnOnce(&Seat<'_>) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let office = self.clone();
        let task = tokio::task::spawn_blocking(move || office.sit(project.as_ref(), work));
        // A panic has told standard error already; the service goes on.
        task.await.unwrap_or_else(|_| Err(Refusal::broken("the request failed in Handover itself")))
    }

    /// Works on this thread, with all rights.
    pub(crate) fn sit<T>(
        &self,
        project: Option<&ProjectId>,
        work: impl FnOnce(&Seat<'_>) -> Result<T, ToolError>,
    ) -> Result<T, Refusal> {
        let (mut work, mut value) = (Some(work), None);
        let mut once = |seat: &Seat<'_>| {
            if let Some(work) = work.take() {
                value = Some(work(seat)?);
            }
            Ok(())
        };
        match project {
            None => self.house.sit(&mut once)?,
            Some(project) => self.house.sit_for(project, &mut once)?,
        }
        value.ok_or_else(|| Refusal::broken("nothing was done"))
    }

    /// From the service's own seat to the one of a caller, at which they see what is theirs.
    pub(crate) fn settle<T>(
        &self,
        own: &Seat<'_>,
        access: &Access,
        work: impl FnOnce(&Seat<'_>) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        match &access.elsewhere {
            None => as_caller(own, own.store, access, work),
            Some(project) => {
                Ok(self.sit(Some(project), |seat| as_caller(seat, own.store, access, work))?)
            }
        }
    }

    /// The rights of a caller, if what they need is among them.
    fn allowed(
        &self,
        own: &Seat<'_>,
        caller: &Caller,
        need: TokenScope,
    ) -> Result<Access, ToolError> {
        let access = self.access(own, caller)?;
        match access.allows(need) {
            true => Ok(access),
            false => Err(StoreError::Denied { need }.into()),
        }
    }

    /// The rights of a caller.
    pub(crate) fn access(&self, own: &Seat<'_>, caller: &Caller) -> Result<Access, ToolError> {
        match &caller.token {
            None if caller.needs_token => Err(unauthorized("a token is needed")),
            None => Ok(Access::LOCAL),
            Some(text) => match token::known(own.store, text, TokenKind::Bearer, own.now)? {
                Some(token) => Ok(Access {
                    scope: token.scope,
                    elsewhere: token.project.clone().filter(|project| *project != own.project),
                    project: token.project,
                    token: Some(token.id),
                }),
                None => {
                    self.rate.punish(caller.peer);
                    Err(unauthorized("the token is not valid, or not any more"))
                }
            },
        }
    }
}

fn unauthorized(message: &str) -> ToolError {
    ToolError::Refused(Refusal {
        code: "unauthorized",
        message: message.to_owned(),
        hint: Some(
            "Send `Authorization: Bearer TOKEN`; `handover token create` makes one.".to_owned(),
        ),
    })
}

/// A seat at which a caller sees what is theirs.
fn as_caller<T>(
    seat: &Seat<'_>,
    tokens: &dyn Store,
    access: &Access,
    work: impl FnOnce(&Seat<'_>) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    let store = Guarded::new(seat.store, tokens, access);
    let session = match &access.project {
        Some(_) if !seat.bound => only_active(&store)?,
        Some(_) | None => seat.session.clone(),
    };
    work(&Seat {
        store: &store,
        redactor: seat.redactor,
        config: seat.config,
        places: seat.places,
        checkout: seat.checkout.clone(),
        technology: seat.technology,
        overrides: seat.overrides.clone(),
        project: seat.project.clone(),
        session,
        bound: seat.bound,
        group: seat.group.clone(),
        may_write: access.allows(TokenScope::Write),
        machine: seat.machine.clone(),
        receipt: seat.receipt.clone(),
        now: seat.now,
    })
}

/// The session that is meant if none is named.
fn only_active(store: &dyn Store) -> Result<Result<SessionId, Refusal>, ToolError> {
    let mut active = store.sessions(Some(SessionStatus::Active))?;
    let (code, message) = match active.len() {
        1 => return Ok(Ok(active.remove(0).id)),
        0 => ("no_session", "there is no active session"),
        _ => ("ambiguous_session", "there is more than one active session"),
    };
    let hint = Some("Name one with `session`.".to_owned());
    Ok(Err(Refusal { code, message: message.to_owned(), hint }))
}
