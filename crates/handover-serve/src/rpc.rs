//! `POST /api/v1/store`: the store itself, for `handover` on other machines.
//!
//! One request is one method of the store, or a step of a transaction (see `transactions`).

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use handover_mcp::{RequestError, ToolError};
use handover_model::{TokenId, TokenScope};
use handover_store::wire::{Mode, Reply, Request};
use handover_store::{Fault, Store, StoreError};
use handover_text::Redactor;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::policy::Caller;
use crate::response::{Response, error_response, json_response};
use crate::state::ServiceState;
use crate::token::mint;
use crate::transactions::{self, Job, failure, reply};

/// Performs one request of the store's protocol.
pub(crate) async fn store(
    State(state): State<ServiceState>,
    Extension(caller): Extension<Caller>,
    body: Bytes,
) -> Response {
    let request: Request<Value> = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => {
            return error_response(&RequestError {
                code: "invalid_input",
                message: format!("the request does not match this version: {error}"),
                hint: Some("Update the older one of the two `handover` programs.".to_owned()),
            });
        }
    };
    match perform(state, caller, request).await {
        Ok(reply) => match serde_json::to_value(reply) {
            Ok(value) => json_response(StatusCode::OK, &value),
            Err(error) => error_response(&RequestError::internal(&error.to_string())),
        },
        Err(error) => error_response(&error),
    }
}

async fn perform(
    state: ServiceState,
    caller: Caller,
    request: Request<Value>,
) -> Result<Reply<Value>, RequestError> {
    let (name, job) = match request {
        Request::Call { within: None, call } => {
            return perform_alone(&state, caller, move |store, redactor| {
                transactions::call(store, redactor, call)
            })
            .await;
        }
        Request::Check => {
            return perform_alone(&state, caller, |store, _| Ok(json!(store.check()?))).await;
        }
        Request::Begin { within: None, mode } => return begin(state, caller, mode).await,
        Request::Call { within: Some(name), call } => (name, Job::Call(call)),
        Request::Begin { within: Some(name), mode } => (name, Job::Begin(mode)),
        Request::End { within, keep } => (within, Job::End { keep }),
    };
    let holder = verified_token(&state, caller).await?;
    Ok(state.transactions.send(&name, holder.as_ref(), job).await)
}

/// The id of the caller's token, which is valid.
async fn verified_token(
    state: &ServiceState,
    caller: Caller,
) -> Result<Option<TokenId>, RequestError> {
    state.run_with_access(caller, TokenScope::Read, |_, access| Ok(access.token.clone())).await
}

/// Work outside a transaction. An error of the store is a reply; a store that cannot be reached is an error
/// of the request.
async fn perform_alone(
    state: &ServiceState,
    caller: Caller,
    work: impl FnOnce(&dyn Store, &Redactor) -> handover_store::Result<Value> + Send + 'static,
) -> Result<Reply<Value>, RequestError> {
    let done = state.run(caller, TokenScope::Read, move |context| {
        match work(context.store, context.redactor) {
            // The connection may be unusable; the context provider must not reuse it.
            Err(error @ StoreError::Backend { fault: Fault::Corrupt | Fault::Io, .. }) => {
                Err(ToolError::Store(error))
            }
            done => Ok(reply(done)),
        }
    });
    done.await
}

/// Begins a transaction; the reply is its name.
async fn begin(
    state: ServiceState,
    caller: Caller,
    mode: Mode,
) -> Result<Reply<Value>, RequestError> {
    let need = match mode {
        Mode::Exclusive => TokenScope::Write,
        Mode::Consistent => TokenScope::Read,
    };
    let access = state.run_with_access(caller, need, |_, access| Ok(access.clone())).await?;
    let name = mint().map_err(|error| RequestError::internal(&error.to_string()))?.text;
    let opened = state.transactions.open(&name, access.token.clone(), access.project.clone());
    let Some(worker) = opened else {
        return Ok(failure(Fault::Busy, "too many transactions are open"));
    };
    let (started, starting) = oneshot::channel();
    let transactions = Arc::clone(&state.transactions);
    // A dedicated thread: idle transactions must not occupy the worker threads of requests.
    std::thread::spawn(move || {
        let mut started = Some(started);
        let outcome = state.with_context(None, |own| {
            state.with_access(own, &access, |context| {
                let ended = worker.run(context.store, context.redactor, mode, &mut started, &name);
                ended.map_err(ToolError::Store)
            })
        });
        transactions.close(&name);
        if let (Err(error), Some(started)) = (outcome, started) {
            let _ = started.send(failure(Fault::Unavailable, &error.message));
        }
    });
    Ok(starting.await.unwrap_or_else(|_| failure(Fault::Unavailable, "it did not begin")))
}
