//! State shared by all requests, and how a request gets its context: authenticated, and with no more
//! rights than its token grants.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use handover_mcp::{RequestContext, RequestError, ToolError};
use handover_model::{ProjectId, SessionId, SessionStatus, TokenKind, TokenScope};
use handover_store::{Store, StoreError};
use tokio::sync::watch;

use crate::access::{Access, Guarded};
use crate::counters::Counters;
use crate::feeds::Feeds;
use crate::policy::{AccessPolicy, Caller};
use crate::projects::ProjectContextProvider;
use crate::rate_limit::RateLimiter;
use crate::shared_pages::SharedPages;
use crate::token;
use crate::transactions::Transactions;

/// Cheap to clone; handlers receive it through axum's `State`.
#[derive(Clone)]
pub(crate) struct ServiceState {
    pub(crate) provider: Arc<dyn ProjectContextProvider>,
    pub(crate) policy: Arc<AccessPolicy>,
    pub(crate) rate_limiter: Arc<RateLimiter>,
    pub(crate) feeds: Arc<Feeds>,
    pub(crate) transactions: Arc<Transactions>,
    pub(crate) shared_pages: Arc<SharedPages>,
    /// What the tokens of forms are derived from; another one after each start.
    form_secret: [u8; 32],
    pub(crate) counters: Arc<Counters>,
}

impl ServiceState {
    /// `shutdown` becomes true when the service shuts down.
    pub(crate) fn new(
        provider: Arc<dyn ProjectContextProvider>,
        policy: AccessPolicy,
        shutdown: watch::Receiver<bool>,
    ) -> Self {
        Self {
            provider,
            policy: Arc::new(policy),
            rate_limiter: Arc::default(),
            feeds: Arc::new(Feeds::new(shutdown)),
            transactions: Arc::default(),
            shared_pages: Arc::default(),
            form_secret: random(),
            counters: Arc::default(),
        }
    }

    /// What the forms of a caller must send back. Other sites can neither read nor guess it.
    pub(crate) fn form_token(&self, caller: &Caller) -> String {
        let of = caller.token.as_deref().unwrap_or_default();
        blake3::keyed_hash(&self.form_secret, of.as_bytes()).to_hex().to_string()
    }

    /// Runs a handler on a blocking thread, in the context and with the rights of a caller.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        caller: Caller,
        need: TokenScope,
        work: impl FnOnce(&RequestContext<'_>) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, RequestError> {
        self.run_with_access(caller, need, |context, _| work(context)).await
    }

    /// [`Self::run`] for handlers that need to know the caller's rights.
    pub(crate) async fn run_with_access<T: Send + 'static>(
        &self,
        caller: Caller,
        need: TokenScope,
        work: impl FnOnce(&RequestContext<'_>, &Access) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, RequestError> {
        let state = self.clone();
        self.run_unrestricted(None, move |own| {
            let access = state.authorize(own, &caller, need)?;
            state.with_access(own, &access, |context| work(context, &access))
        })
        .await
    }

    /// Verifies a caller's token, without opening the store of another project.
    pub(crate) async fn authenticate(&self, caller: &Caller) -> Result<(), RequestError> {
        let (state, caller) = (self.clone(), caller.clone());
        self.run_unrestricted(None, move |own| {
            state.authorize(own, &caller, TokenScope::Read).map(drop)
        })
        .await
    }

    /// Runs internal work with all rights, on the service's own project or another one. Its result must not
    /// reach a caller unchecked.
    pub(crate) async fn run_unrestricted<T: Send + 'static>(
        &self,
        project: Option<ProjectId>,
        work: impl FnOnce(&RequestContext<'_>) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, RequestError> {
        let state = self.clone();
        let span = tracing::Span::current();
        let task = tokio::task::spawn_blocking(move || {
            span.in_scope(|| state.with_context(project.as_ref(), work))
        });
        // The panic is already on standard error; the service keeps running.
        task.await.unwrap_or_else(|_| Err(RequestError::internal("the request handler panicked")))
    }

    /// Runs work on this thread with all rights.
    pub(crate) fn with_context<T>(
        &self,
        project: Option<&ProjectId>,
        work: impl FnOnce(&RequestContext<'_>) -> Result<T, ToolError>,
    ) -> Result<T, RequestError> {
        let (mut work, mut value) = (Some(work), None);
        let mut once = |context: &RequestContext<'_>| {
            if let Some(work) = work.take() {
                value = Some(work(context)?);
            }
            Ok(())
        };
        match project {
            None => self.provider.with_context(&mut once)?,
            Some(project) => self.provider.with_project_context(project, &mut once)?,
        }
        value.ok_or_else(|| RequestError::internal("the request was not executed"))
    }

    /// Narrows the service's own context to that of a caller: their project, guarded by their rights.
    pub(crate) fn with_access<T>(
        &self,
        own: &RequestContext<'_>,
        access: &Access,
        work: impl FnOnce(&RequestContext<'_>) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        match &access.other_project {
            None => guarded(own, own.store, access, work),
            Some(project) => Ok(self.with_context(Some(project), |context| {
                guarded(context, own.store, access, work)
            })?),
        }
    }

    /// The rights of a caller, if they include `need`.
    fn authorize(
        &self,
        own: &RequestContext<'_>,
        caller: &Caller,
        need: TokenScope,
    ) -> Result<Access, ToolError> {
        let access = self.access_of(own, caller)?;
        match access.allows(need) {
            true => Ok(access),
            false => Err(StoreError::Denied { need }.into()),
        }
    }

    /// The rights of a caller, from their token.
    pub(crate) fn access_of(
        &self,
        own: &RequestContext<'_>,
        caller: &Caller,
    ) -> Result<Access, ToolError> {
        match &caller.token {
            None if caller.needs_token => Err(unauthorized("a token is required")),
            None => Ok(Access::LOCAL),
            Some(text) => match token::verify(own.store, text, TokenKind::Bearer, own.now)? {
                Some(token) => {
                    let name = token.name.as_deref().unwrap_or(token.id.as_str());
                    tracing::Span::current().record("token", name);
                    let others = token.project.clone().filter(|project| *project != own.project);
                    Ok(Access {
                        // A project of other machines has only what they shared.
                        private: own.config.learn.share || others.is_some(),
                        scope: token.scope,
                        other_project: others,
                        project: token.project,
                        token: Some(token.id),
                    })
                }
                None => {
                    tracing::warn!(peer = %caller.peer, "wrong token");
                    self.rate_limiter.penalize(caller.peer);
                    Err(unauthorized("the token is invalid, expired or revoked"))
                }
            },
        }
    }
}

/// A secret that lives as long as the process.
fn random() -> [u8; 32] {
    let mut secret = [0; 32];
    if getrandom::fill(&mut secret).is_err() {
        // The standard library has its own source of randomness for hash maps.
        let seed = RandomState::new().hash_one(std::process::id());
        secret = *blake3::hash(&seed.to_le_bytes()).as_bytes();
    }
    secret
}

fn unauthorized(message: &str) -> ToolError {
    ToolError::Request(RequestError {
        code: "unauthorized",
        message: message.to_owned(),
        hint: Some(
            "Send `Authorization: Bearer TOKEN`; create one with `handover token create`."
                .to_owned(),
        ),
    })
}

/// The same context with a store that enforces the caller's rights.
fn guarded<T>(
    context: &RequestContext<'_>,
    tokens: &dyn Store,
    access: &Access,
    work: impl FnOnce(&RequestContext<'_>) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    let store = Guarded::new(context.store, tokens, access);
    let session = match &access.project {
        Some(_) if !context.bound => only_active_session(&store)?,
        Some(_) | None => context.session.clone(),
    };
    work(&RequestContext {
        store: &store,
        redactor: context.redactor,
        config: context.config,
        paths: context.paths,
        checkout: context.checkout.clone(),
        technology: context.technology,
        files: context.files,
        coverage: context.coverage,
        // Nothing checks the rights of what waits there.
        spool: None,
        overrides: context.overrides.clone(),
        project: context.project.clone(),
        session,
        bound: context.bound,
        group: context.group.clone(),
        may_write: access.allows(TokenScope::Write),
        machine: context.machine.clone(),
        receipt: context.receipt.clone(),
        now: context.now,
    })
}

/// The default session among those that the caller can see.
fn only_active_session(store: &dyn Store) -> Result<Result<SessionId, RequestError>, ToolError> {
    let mut active = store.sessions(Some(SessionStatus::Active))?;
    let (code, message) = match active.len() {
        1 => return Ok(Ok(active.remove(0).id)),
        0 => ("no_session", "there is no active session"),
        _ => ("ambiguous_session", "there is more than one active session"),
    };
    let hint = Some("Name one with `session`.".to_owned());
    Ok(Err(RequestError { code, message: message.to_owned(), hint }))
}
