//! `POST /api/v1/store`: the store itself, for `handover` on other machines.
//!
//! One method of the store is one request. A transaction lives here, on a thread and a connection of its
//! own, for at most `limits::TRANSACTION_TIME`: what is not finished by then is undone, because it
//! keeps everybody else from writing.

mod transaction;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use handover_mcp::{Refusal, ToolError};
use handover_model::{TokenId, TokenScope};
use handover_store::wire::{Call, Failure, Reply, Request};
use handover_store::{Fault, Store, StoreError};
use handover_text::Redactor;
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) use transaction::Transactions;

use crate::admit::Caller;
use crate::answer::{Answer, json_answer, refused};
use crate::office::Office;
use transaction::Job;

/// Does what is asked of the store.
pub(crate) async fn store(
    State(office): State<Office>,
    Extension(caller): Extension<Caller>,
    body: Bytes,
) -> Answer {
    let request: Request<Value> = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => {
            return refused(&Refusal {
                code: "invalid_input",
                message: format!("the request is not one of this version: {error}"),
                hint: Some("Update whichever of the two `handover` is older.".to_owned()),
            });
        }
    };
    match perform(office, caller, request).await {
        Ok(reply) => match serde_json::to_value(reply) {
            Ok(value) => json_answer(StatusCode::OK, &value),
            Err(error) => refused(&Refusal::broken(&error.to_string())),
        },
        Err(refusal) => refused(&refusal),
    }
}

async fn perform(
    office: Office,
    caller: Caller,
    request: Request<Value>,
) -> Result<Reply<Value>, Refusal> {
    let within = match request {
        Request::Call { within: None, call } => {
            return alone(&office, caller, move |store, redactor| one(store, redactor, call)).await;
        }
        Request::Check => {
            return alone(&office, caller, |store, _| Ok(json!(store.check()?))).await;
        }
        Request::Begin { within: None, mode } => {
            return transaction::begin(office, caller, mode).await;
        }
        Request::Call { within: Some(name), call } => (name, Job::Call(call)),
        Request::Begin { within: Some(name), mode } => (name, Job::Begin(mode)),
        Request::End { within, keep } => (within, Job::End { keep }),
    };
    let holder = holder(&office, caller).await?;
    let (name, job) = within;
    Ok(office.transactions.ask(&name, holder.as_ref(), job).await)
}

/// The token of a caller, which is good.
async fn holder(office: &Office, caller: Caller) -> Result<Option<TokenId>, Refusal> {
    let look =
        |_: &handover_mcp::Seat<'_>, access: &crate::access::Access| Ok(access.token.clone());
    office.work_as(caller, TokenScope::Read, look).await
}

/// Work outside of a transaction. What the store refuses is an answer; what keeps it from being
/// asked is not.
async fn alone(
    office: &Office,
    caller: Caller,
    work: impl FnOnce(&dyn Store, &Redactor) -> handover_store::Result<Value> + Send + 'static,
) -> Result<Reply<Value>, Refusal> {
    let done = office.work(caller, TokenScope::Read, move |seat| {
        match work(seat.store, seat.redactor) {
            // The connection may be of no more use, which its keeper has to know.
            Err(error @ StoreError::Backend { fault: Fault::Corrupt | Fault::Io, .. }) => {
                Err(ToolError::Store(error))
            }
            done => Ok(reply(done)),
        }
    });
    done.await
}

fn reply(done: handover_store::Result<Value>) -> Reply<Value> {
    match done {
        Ok(value) => Reply::Done(value),
        Err(error) => Reply::Failed(Failure::from(error)),
    }
}

/// One method. Its texts are redacted as they are read, whatever the client did.
fn one(store: &dyn Store, redactor: &Redactor, call: Value) -> handover_store::Result<Value> {
    let call = redactor.reading(|| Call::deserialize(call)).map_err(|error| {
        StoreError::Backend { fault: Fault::Refused, source: error.to_string().into() }
    })?;
    call.perform(store)
}
