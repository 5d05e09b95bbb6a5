//! What every request shares, and how it gets to work on the store: as a known caller, with no more
//! rights than they have.

use std::path::PathBuf;
use std::sync::Arc;

use handover_context::package_file::Places;
use handover_context::specialize::Templates;
use handover_context::stack::Stack;
use handover_mcp::{Desk, Refusal, Seat, Technology, ToolError};
use handover_model::{SessionId, SessionStatus, Timestamp, TokenKind, TokenScope};
use handover_store::{Store, StoreError};
use tokio::sync::watch;

use crate::access::{Access, Guarded};
use crate::admit::{Caller, Rules};
use crate::live::Live;
use crate::rate::Rate;
use crate::rpc::Transactions;
use crate::token;

/// What every request shares.
#[derive(Clone)]
pub(crate) struct Office {
    pub(crate) desk: Arc<dyn Desk>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) rate: Arc<Rate>,
    pub(crate) live: Arc<Live>,
    pub(crate) transactions: Arc<Transactions>,
}

impl Office {
    /// `ended` becomes true when the service ends.
    pub(crate) fn new(desk: Arc<dyn Desk>, rules: Rules, ended: watch::Receiver<bool>) -> Self {
        let live = Arc::new(Live::new(ended));
        Self {
            desk,
            rules: Arc::new(rules),
            rate: Arc::default(),
            live,
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
        self.unguarded(move |seat| {
            let access = office.access(seat.store, &caller, seat.now)?;
            if !access.allows(need) {
                return Err(StoreError::Denied { need }.into());
            }
            as_caller(seat, &access, |seat| work(seat, &access))
        })
        .await
    }

    /// Whether a caller may be heard at all.
    pub(crate) async fn hear(&self, caller: &Caller) -> Result<(), Refusal> {
        self.work(caller.clone(), TokenScope::Read, |_| Ok(())).await
    }

    /// Works with all rights: for what nobody asked for, and what tells nobody anything.
    pub(crate) async fn unguarded<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Seat<'_>) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let desk = Arc::clone(&self.desk);
        let task = tokio::task::spawn_blocking(move || desk.as_ref().work(work));
        // A panic has told standard error already; the service goes on.
        task.await.unwrap_or_else(|_| Err(Refusal::broken("the request failed in Handover itself")))
    }

    /// The rights of a caller.
    pub(crate) fn access(
        &self,
        store: &dyn Store,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<Access, ToolError> {
        match &caller.token {
            None if caller.needs_token => Err(unauthorized("a token is needed")),
            None => Ok(Access::LOCAL),
            Some(text) => match token::known(store, text, TokenKind::Bearer, now)? {
                Some(token) => {
                    Ok(Access { scope: token.scope, project: token.project, token: Some(token.id) })
                }
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

/// A seat at which a caller sees what is theirs. The files of this machine are those of one project;
/// callers of another one have none here.
pub(crate) fn as_caller<T>(
    seat: &Seat<'_>,
    access: &Access,
    work: impl FnOnce(&Seat<'_>) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    let store = Guarded::new(seat.store, access);
    let project = access.project.clone().unwrap_or_else(|| seat.project.clone());
    let at_home = project == seat.project;
    let nowhere = Places::nowhere();
    let nothing = || Technology { stack: Stack::default(), templates: Templates::load(None, None) };
    let session = match &access.project {
        Some(_) if !seat.bound => only_active(&store)?,
        Some(_) | None => seat.session.clone(),
    };
    work(&Seat {
        store: &store,
        redactor: seat.redactor,
        config: seat.config,
        places: if at_home { seat.places } else { &nowhere },
        checkout: if at_home { seat.checkout.clone() } else { PathBuf::from(nowhere.root()) },
        technology: if at_home { seat.technology } else { &nothing },
        project,
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
