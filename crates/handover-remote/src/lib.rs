//! A store that is behind a service on another machine.
//!
//! Every method is one request; all of them are made out of the table of
//! [`store_methods!`](handover_store::store_methods), so what the traits say and what is sent cannot drift
//! apart. A transaction is held by the service, for ten seconds at most. What only reads is asked again if
//! the connection broke; what writes is not, because it may have happened.

use std::time::Duration;

use handover_model::*;
use handover_store::wire::{Asked, Finding, Mode, Reply, Request};
use handover_store::*;
use handover_text::Clean;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Agent;
use ureq::http::StatusCode;

/// How long a service may take to answer the phone.
const CONNECT_TIME: Duration = Duration::from_secs(2);

/// The largest answer; ten thousand candidates are a few megabytes.
const ANSWER_BYTES: u64 = 256 * 1024 * 1024;

/// A store behind a service.
pub struct RemoteStore {
    agent: Agent,
    /// Where requests go.
    endpoint: String,
    token: Option<String>,
    /// The transaction that this handle works in.
    within: Option<String>,
}

/// Never shows the token.
impl std::fmt::Debug for RemoteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteStore").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl RemoteStore {
    /// A handle on the store of a service, such as `http://127.0.0.1:4747`. Nothing is sent yet. No
    /// request takes longer than `patience`.
    pub fn new(url: &str, token: Option<String>, patience: Duration) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT_TIME.min(patience)))
            .timeout_global(Some(patience))
            // A proxy is for strangers; this is our own service.
            .proxy(None)
            .user_agent(concat!("handover/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        let endpoint = format!("{}/api/v1/store", url.trim_end_matches('/'));
        Self { agent, endpoint, token, within: None }
    }

    /// One method.
    fn call<T: DeserializeOwned>(&self, asked: Asked<'_>, repeatable: bool) -> Result<T> {
        let request = Request::Call { within: self.within.clone(), call: asked };
        self.ask(&request, repeatable && self.within.is_none())
    }

    fn ask<C: Serialize, T: DeserializeOwned>(
        &self,
        request: &Request<C>,
        repeatable: bool,
    ) -> Result<T> {
        let body = serde_json::to_vec(request).map_err(|error| failed(Fault::Refused, error))?;
        let (status, answer) = match self.send(&body) {
            Err(_) if repeatable => self.send(&body)?,
            sent => sent?,
        };
        if status != StatusCode::OK {
            return Err(refused(status, &answer));
        }
        match serde_json::from_slice(&answer) {
            Ok(Reply::Done(value)) => Ok(value),
            Ok(Reply::Failed(failure)) => Err(failure.into()),
            Err(error) => {
                Err(failed(Fault::Refused, format!("the service speaks otherwise: {error}")))
            }
        }
    }

    fn send(&self, body: &[u8]) -> Result<(StatusCode, Vec<u8>)> {
        let mut request =
            self.agent.post(&self.endpoint).header("content-type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request.send(body).map_err(unreachable)?;
        let answer = response.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec();
        Ok((response.status(), answer.map_err(unreachable)?))
    }

    /// Work in a transaction of the service.
    fn transaction(
        &self,
        mode: Mode,
        work: &mut dyn FnMut(&dyn Store) -> Result<()>,
    ) -> Result<()> {
        let begin: Request<()> = Request::Begin { within: self.within.clone(), mode };
        let name: String = self.ask(&begin, false)?;
        let inside = Self {
            agent: self.agent.clone(),
            endpoint: self.endpoint.clone(),
            token: self.token.clone(),
            within: Some(name.clone()),
        };
        let outcome = work(&inside);
        let end: Request<()> = Request::End { within: name, keep: outcome.is_ok() };
        let ended: Result<Value> = self.ask(&end, false);
        match outcome {
            Ok(()) => ended.map(drop),
            // What is not ended here is undone there by itself.
            Err(error) => Err(error),
        }
    }
}

fn failed(fault: Fault, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Backend { fault, source: source.into() }
}

fn unreachable(error: ureq::Error) -> StoreError {
    failed(Fault::Unavailable, format!("the service does not answer: {error}"))
}

/// What the service says when it does not do what it is asked.
fn refused(status: StatusCode, answer: &[u8]) -> StoreError {
    let value: Value = serde_json::from_slice(answer).unwrap_or_default();
    let error = &value["error"];
    let message = error["message"].as_str().unwrap_or("no reason given");
    let fault = match error["code"].as_str() {
        Some("store_busy" | "too_many") => Fault::Busy,
        Some("store_full") => Fault::Full,
        Some("store_damaged") => Fault::Corrupt,
        Some(_) | None => Fault::Unavailable,
    };
    failed(fault, format!("the service answers {status}: {message}"))
}

macro_rules! taken {
    (by $ty:ty) => { &$ty };
    (val $ty:ty) => { $ty };
    (opt $ty:ty) => { Option<&$ty> };
    (text $ty:ty) => { &str };
    (list $ty:ty) => { &[$ty] };
}

macro_rules! is_repeatable {
    (read) => {
        true
    };
    ($right:ident) => {
        false
    };
}

macro_rules! remote {
    ($($trait:ident {
        $($right:ident $name:ident($($arg:ident: $kind:ident $ty:ty),*) -> $ret:ty, $guard:ident($($what:expr)?);)+
    })+) => {
        $(impl $trait for RemoteStore {
            $(fn $name(&self, $($arg: taken!($kind $ty)),*) -> Result<$ret> {
                self.call(Asked::$name { $($arg),* }, is_repeatable!($right))
            })+
        })+
    };
}

handover_store::store_methods!(remote);

impl Store for RemoteStore {
    fn exclusively(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        self.transaction(Mode::Exclusive, work)
    }

    fn consistently(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        self.transaction(Mode::Consistent, work)
    }

    fn check(&self) -> Result<Vec<Check>> {
        let check: Request<()> = Request::Check;
        let found: Vec<Finding> = self.ask(&check, true)?;
        // Names are words of the program; one that this version does not know is still a finding.
        const NAMES: [&str; 3] = ["integrity", "references", "text index"];
        let known = |name: &str| NAMES.into_iter().find(|known| *known == name);
        let checks = found.into_iter().map(|found| Check {
            name: known(&found.name).unwrap_or("store"),
            problems: found.problems,
        });
        Ok(checks.collect())
    }
}
