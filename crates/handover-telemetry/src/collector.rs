//! Sends batches to a collector, in as much time as there is.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use handover_model::SignalKind;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::encode::Batch;

/// What cannot be a collector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollectorError {
    /// Not a URL that can be sent to.
    #[error("`{0}` is not an http:// or https:// address")]
    Address(String),
    /// Not a list of headers.
    #[error("a header is not `name=value`")]
    Header,
    /// Something else than what is spoken here.
    #[error("the protocol `{0}` is not spoken; only http/protobuf is")]
    Protocol(String),
}

/// Where each kind of signal goes; none is not sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Destinations {
    /// For spans.
    pub traces: Option<String>,
    /// For measurements.
    pub metrics: Option<String>,
    /// For log lines.
    pub logs: Option<String>,
}

impl Destinations {
    /// All kinds below one address, as the protocol has them.
    pub fn below(endpoint: &str) -> Result<Self, CollectorError> {
        let endpoint = address(endpoint)?;
        let of = |kind: SignalKind| Some(format!("{endpoint}/v1/{}", kind.as_str()));
        Ok(Self {
            traces: of(SignalKind::Traces),
            metrics: of(SignalKind::Metrics),
            logs: of(SignalKind::Logs),
        })
    }

    /// Sets the exact address of one kind.
    pub fn set(&mut self, kind: SignalKind, endpoint: &str) -> Result<(), CollectorError> {
        *self.place(kind) = Some(address(endpoint)?.to_owned());
        Ok(())
    }

    /// Sends none of a kind.
    pub fn drop_kind(&mut self, kind: SignalKind) {
        *self.place(kind) = None;
    }

    fn place(&mut self, kind: SignalKind) -> &mut Option<String> {
        match kind {
            SignalKind::Traces => &mut self.traces,
            SignalKind::Metrics => &mut self.metrics,
            SignalKind::Logs => &mut self.logs,
        }
    }

    /// Where a kind goes.
    pub fn of(&self, kind: SignalKind) -> Option<&str> {
        match kind {
            SignalKind::Traces => self.traces.as_deref(),
            SignalKind::Metrics => self.metrics.as_deref(),
            SignalKind::Logs => self.logs.as_deref(),
        }
    }
}

fn address(endpoint: &str) -> Result<&str, CollectorError> {
    let endpoint = endpoint.trim().trim_end_matches('/');
    let rest = endpoint.strip_prefix("https://").or_else(|| endpoint.strip_prefix("http://"));
    let is_plain = |rest: &str| {
        !rest.is_empty() && rest.chars().all(|c| !c.is_whitespace() && !c.is_control())
    };
    match rest {
        Some(rest) if is_plain(rest) && !rest.starts_with('/') => Ok(endpoint),
        Some(_) | None => Err(CollectorError::Address(endpoint.chars().take(200).collect())),
    }
}

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The collector has it.
    Accepted,
    /// The collector will never take it.
    Refused(u16),
    /// It may take it later.
    Later(String),
}

/// A collector that speaks OTLP over HTTP.
pub struct Collector {
    destinations: Destinations,
    headers: Vec<(String, String)>,
    timeout: Duration,
    /// Made by the first request, because loading the root certificates of the system takes a while.
    agent: OnceLock<Agent>,
}

/// Does not show the headers: they hold keys.
impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Collector")
            .field("destinations", &self.destinations)
            .finish_non_exhaustive()
    }
}

impl Collector {
    /// Sends nothing yet. `timeout` holds for every request, connecting included.
    pub fn new(
        destinations: Destinations,
        headers: Vec<(String, String)>,
        timeout: Duration,
    ) -> Self {
        Self { destinations, headers, timeout, agent: OnceLock::new() }
    }

    /// Whether a kind of signal goes anywhere.
    pub fn takes(&self, kind: SignalKind) -> bool {
        self.destinations.of(kind).is_some()
    }

    /// Headers as `OTEL_EXPORTER_OTLP_HEADERS` has them: `name=value`, separated by commas, with `%20` and the like.
    pub fn parse_headers(text: &str) -> Result<Vec<(String, String)>, CollectorError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let header = |part: &str| {
            let (name, value) = part.split_once('=').ok_or(CollectorError::Header)?;
            let (name, value) = (name.trim().to_ascii_lowercase(), decoded(value.trim()));
            let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            let is_sound = !name.is_empty()
                && name.chars().all(is_name)
                && value.chars().all(|c| !c.is_control());
            if is_sound { Ok((name, value)) } else { Err(CollectorError::Header) }
        };
        parts.map(header).collect()
    }

    /// Sends a batch, once.
    pub fn send(&self, batch: &Batch) -> Sent {
        let Some(url) = self.destinations.of(batch.kind) else { return Sent::Accepted };
        let agent = match self.agent(url) {
            Ok(agent) => agent,
            Err(reason) => return Sent::Later(reason),
        };
        let mut request = agent.post(url).header("content-type", "application/x-protobuf");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        match request.send(&batch.body[..]) {
            Ok(response) => match response.status().as_u16() {
                200..=299 => Sent::Accepted,
                // What the protocol calls retryable.
                status @ (429 | 502 | 503 | 504) => Sent::Later(format!("HTTP status {status}")),
                status => Sent::Refused(status),
            },
            Err(error) => Sent::Later(error.to_string()),
        }
    }

    fn agent(&self, url: &str) -> Result<&Agent, String> {
        if let Some(agent) = self.agent.get() {
            return Ok(agent);
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A collector that moved is configured anew: headers must not follow it elsewhere.
            .max_redirects(0)
            .timeout_global(Some(self.timeout))
            .proxy(None)
            .user_agent(concat!("handover/", env!("CARGO_PKG_VERSION")));
        if url.starts_with("https:") {
            config = config.tls_config(verified()?);
        }
        Ok(self.agent.get_or_init(|| config.build().into()))
    }
}

/// TLS with the root certificates of the system, or those in `SSL_CERT_FILE`.
fn verified() -> Result<TlsConfig, String> {
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        return Err("there are no root certificates to verify the collector with".to_owned());
    }
    let roots: Vec<_> = found.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}

/// `%20` and the like; what is none stays.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_urls_without_surprises() {
        let all = Destinations::below(" http://localhost:4318/ ").unwrap();
        assert_eq!(all.of(SignalKind::Logs), Some("http://localhost:4318/v1/logs"));
        let mut some = Destinations::default();
        some.set(SignalKind::Traces, "https://otel.example/custom").unwrap();
        assert_eq!(some.of(SignalKind::Traces), Some("https://otel.example/custom"));
        assert_eq!(some.of(SignalKind::Metrics), None);
        for bad in
            ["", "localhost:4318", "ftp://x", "http://", "https:///x", "http://a b", "file:///etc"]
        {
            assert!(Destinations::below(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn headers_are_decoded_and_cannot_smuggle_others() {
        let parsed = Collector::parse_headers("Authorization=Bearer%20abc, x-team = a=b").unwrap();
        assert_eq!(parsed[0], ("authorization".to_owned(), "Bearer abc".to_owned()));
        assert_eq!(parsed[1], ("x-team".to_owned(), "a=b".to_owned()));
        assert_eq!(Collector::parse_headers("").unwrap(), []);
        for bad in ["novalue", "=x", "a b=c", "x=a%0d%0aevil: 1", "x=\u{7f}"] {
            assert_eq!(Collector::parse_headers(bad), Err(CollectorError::Header), "{bad}");
        }
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }
}
