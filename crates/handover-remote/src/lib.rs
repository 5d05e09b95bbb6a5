//! The client of a store behind a service on another machine.
//!
//! Every method is one request; all of them are generated from the table of
//! [`store_methods!`](handover_store::store_methods), so traits and requests cannot drift apart. The service
//! holds a transaction for at most ten seconds. Reads are retried when the connection breaks; writes are
//! not, because they may have been committed.

mod address;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use address::{Address, AddressError};

use handover_model::*;
use handover_store::wire::{CallRef, Mode, Reply, Request};
use handover_store::*;
use handover_text::{Clean, CleanJson};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::Agent;
use ureq::http::StatusCode;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// The timeout for connecting.
const CONNECT_TIME: Duration = Duration::from_secs(2);

/// The largest response; ten thousand candidates are a few megabytes.
const ANSWER_BYTES: u64 = 256 * 1024 * 1024;

/// A store behind a service.
pub struct RemoteStore {
    /// Created by the first request, because loading the root certificates of the system takes a while.
    agent: OnceLock<Agent>,
    patience: Duration,
    /// The URL of requests.
    endpoint: String,
    token: Option<String>,
    /// The transaction that this handle belongs to.
    within: Option<String>,
}

/// Does not show the token.
impl std::fmt::Debug for RemoteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteStore").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl RemoteStore {
    /// A handle on the store of a service; sends nothing yet. `patience` is the timeout of every request.
    pub fn new(service: &Address, token: Option<String>, patience: Duration) -> Self {
        let endpoint = format!("{}/api/v1/store", service.as_str());
        Self { agent: OnceLock::new(), patience, endpoint, token, within: None }
    }

    fn agent(&self) -> Result<&Agent> {
        if let Some(agent) = self.agent.get() {
            return Ok(agent);
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT_TIME.min(self.patience)))
            .timeout_global(Some(self.patience))
            // The service is our own; proxies from the environment are for other hosts.
            .proxy(None)
            .user_agent(concat!("handover/", env!("CARGO_PKG_VERSION")));
        if self.endpoint.starts_with("https:") {
            config = config.tls_config(verified()?);
        }
        Ok(self.agent.get_or_init(|| config.build().into()))
    }

    /// Calls one method.
    fn call<T: DeserializeOwned>(&self, asked: CallRef<'_>, repeatable: bool) -> Result<T> {
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
            Err(error) if repeatable => {
                tracing::debug!(%error, "retrying a request to the service");
                self.send(&body)?
            }
            sent => sent?,
        };
        if status != StatusCode::OK {
            return Err(refused(status, &answer));
        }
        match serde_json::from_slice(&answer) {
            Ok(Reply::Done(value)) => Ok(value),
            Ok(Reply::Failed(failure)) => Err(failure.into_error()),
            Err(error) => Err(failed(
                Fault::Refused,
                format!("unexpected response from the service: {error}"),
            )),
        }
    }

    fn send(&self, body: &[u8]) -> Result<(StatusCode, Vec<u8>)> {
        let mut request =
            self.agent()?.post(&self.endpoint).header("content-type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request.send(body).map_err(unreachable)?;
        let answer = response.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec();
        Ok((response.status(), answer.map_err(unreachable)?))
    }

    /// Runs work in a transaction of the service.
    fn transaction(
        &self,
        mode: Mode,
        work: &mut dyn FnMut(&dyn Store) -> Result<()>,
    ) -> Result<()> {
        let begin: Request<()> = Request::Begin { within: self.within.clone(), mode };
        let name: String = self.ask(&begin, false)?;
        let inside = Self {
            agent: self.agent.clone(),
            patience: self.patience,
            endpoint: self.endpoint.clone(),
            token: self.token.clone(),
            within: Some(name.clone()),
        };
        let outcome = work(&inside);
        let end: Request<()> = Request::End { within: name, keep: outcome.is_ok() };
        let ended: Result<Value> = self.ask(&end, false);
        match outcome {
            Ok(()) => ended.map(drop),
            // A transaction that is not ended is rolled back by the service.
            Err(error) => Err(error),
        }
    }
}

fn failed(fault: Fault, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Backend { fault, source: source.into() }
}

/// TLS with the root certificates of the system, or those in `SSL_CERT_FILE`.
fn verified() -> Result<TlsConfig> {
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        let message = "found no root certificates to verify the service with; set SSL_CERT_FILE to a file that contains them";
        return Err(failed(Fault::Unavailable, message));
    }
    let roots: Vec<_> = found.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}

fn unreachable(error: ureq::Error) -> StoreError {
    let source = if let ureq::Error::Io(error) = &error {
        error.get_ref().and_then(|error| error.downcast_ref())
    } else if let ureq::Error::Rustls(error) = &error {
        Some(error)
    } else {
        None
    };
    let message = match source {
        Some(rustls::Error::InvalidCertificate(why)) => format!(
            "cannot verify the certificate of the service: {why}; set SSL_CERT_FILE to trust a private authority"
        ),
        Some(_) | None => format!("the service does not respond: {error}"),
    };
    failed(Fault::Unavailable, message)
}

/// The error in a response of the service.
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
    failed(fault, format!("the service responded with {status}: {message}"))
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
                self.call(CallRef::$name { $($arg),* }, is_repeatable!($right))
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
        self.ask(&check, true)
    }
}

/// Projects are moved on the machine of their store, not through a service.
impl archive::Archive for RemoteStore {
    fn each_record(&self, _: &mut archive::Sink<'_>) -> Result<()> {
        Err(failed(Fault::Refused, "a project cannot be moved through a service"))
    }

    fn put_records(&self, _: &mut archive::Fill<'_>) -> Result<archive::Added> {
        Err(failed(Fault::Refused, "a project cannot be moved through a service"))
    }

    fn replace_record(&self, _: &archive::Record, _: &archive::CleanRecord) -> Result<()> {
        Err(failed(Fault::Refused, "a project cannot be moved through a service"))
    }
}
