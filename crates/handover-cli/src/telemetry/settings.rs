//! Whether anything is reported, what, and to whom: by the configuration, and by the variables that all OpenTelemetry
//! programs share.

use std::time::Duration;

use handover_model::SignalKind;
use handover_telemetry::{Collector, CollectorError, Destinations, Outbox, Resource};

use crate::app::App;
use crate::brought::waiting_in;
use crate::config::Source;
use crate::env;
use crate::logging;
use crate::project::Project;

/// Where the outbox is, below `.handover/`.
const OUTBOX: &str = "telemetry";

/// The most that a request may take, unless a variable says otherwise.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Nothing waits longer for a collector, whatever a variable says.
const LONGEST: Duration = Duration::from_secs(10);

/// What is needed to report.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    destinations: Destinations,
    headers: Vec<(String, String)>,
    timeout: Duration,
    pub(crate) resource: Resource,
    pub(crate) outbox: Outbox,
    project: Project,
}

impl Settings {
    /// None if nothing is to be reported. What is configured wrongly is a line in the log, never a failure.
    pub(crate) fn of(app: &App) -> Option<Self> {
        let loaded = app.loaded_config().ok()?;
        let telemetry = &loaded.config.telemetry;
        let is_ours = !matches!(loaded.source("telemetry.endpoint"), Source::ProjectFile(_));
        let found = Found::of(telemetry.endpoint.as_deref(), is_ours, &env::var)?;
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "telemetry is off");
                return None;
            }
        };
        let mut destinations = found.destinations;
        for kind in SignalKind::ALL.iter().filter(|kind| !telemetry.signals.contains(kind)) {
            destinations.drop_kind(*kind);
        }
        if destinations == Destinations::default() {
            return None;
        }
        let project = app.project().ok()?.clone();
        if destinations.of(SignalKind::Logs).is_some() {
            logging::collect_warnings();
        }
        Some(Self {
            destinations,
            headers: found.headers,
            timeout: found.timeout,
            resource: Resource {
                service: found.service,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                project: app.project_id().ok().map(|id| id.to_string()),
                more: found.more,
            },
            outbox: Outbox::new(project.folder().inside(OUTBOX)),
            project,
        })
    }

    /// Sends what waits in the outbox, in at most so much time, unless the collector failed a moment ago. What a
    /// checkout brought is not ours to send. Returns whether more may be there.
    pub(crate) fn sweep(&self, collector: &Collector, most: Duration) -> bool {
        let now = env::now();
        if self.outbox.is_paused(now) || waiting_in(&self.project, OUTBOX, |_| true).is_err() {
            return false;
        }
        let swept = self.outbox.sweep(collector, now, most);
        tracing::debug!(?swept, "telemetry was sent");
        swept.is_ok_and(|swept| swept.sent + swept.refused > 0 && swept.failed.is_none())
    }

    /// The collector, with at most so much time for a request.
    pub(crate) fn collector(&self, most: Duration) -> Collector {
        Collector::new(self.destinations.clone(), self.headers.clone(), self.timeout.min(most))
    }

    /// The time that a request may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// What configuration and variables say.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    destinations: Destinations,
    headers: Vec<(String, String)>,
    timeout: Duration,
    service: String,
    more: Vec<(String, String)>,
}

impl Found {
    /// None if nobody names a collector. `is_ours` is whether the endpoint is the user's own and not that of a project:
    /// the keys in the user's headers are only for collectors of the user's.
    fn of(
        endpoint: Option<&str>,
        is_ours: bool,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Result<Self, CollectorError>> {
        let named = |kind: SignalKind, what: &str| {
            var(&format!("OTEL_EXPORTER_OTLP_{}_{what}", kind.as_str().to_uppercase()))
        };
        let of_variable = match endpoint {
            Some(_) => None,
            None => var("OTEL_EXPORTER_OTLP_ENDPOINT"),
        };
        let single: Vec<(SignalKind, String)> = match endpoint {
            Some(_) => Vec::new(),
            None => SignalKind::ALL
                .iter()
                .filter_map(|kind| Some((*kind, named(*kind, "ENDPOINT")?)))
                .collect(),
        };
        if endpoint.is_none() && of_variable.is_none() && single.is_empty() {
            return None;
        }
        if var("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return None;
        }
        Some(Self::with(endpoint.or(of_variable.as_deref()), &single, is_ours, var))
    }

    fn with(
        endpoint: Option<&str>,
        single: &[(SignalKind, String)],
        is_ours: bool,
        var: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, CollectorError> {
        if let Some(protocol) =
            var("OTEL_EXPORTER_OTLP_PROTOCOL").filter(|protocol| protocol != "http/protobuf")
        {
            return Err(CollectorError::Protocol(protocol.chars().take(40).collect()));
        }
        let mut destinations = match endpoint {
            Some(endpoint) => Destinations::below(endpoint)?,
            None => Destinations::default(),
        };
        for (kind, endpoint) in single {
            destinations.set(*kind, endpoint)?;
        }
        for kind in SignalKind::ALL {
            let name = format!("OTEL_{}_EXPORTER", kind.as_str().to_uppercase());
            if var(&name).is_some_and(|exporter| exporter == "none") {
                destinations.drop_kind(*kind);
            }
        }
        let headers = match var("OTEL_EXPORTER_OTLP_HEADERS").filter(|_| is_ours) {
            Some(text) => Collector::parse_headers(&text)?,
            None => Vec::new(),
        };
        let timeout = var("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|text| text.parse().ok());
        let timeout = timeout.map_or(TIMEOUT, Duration::from_millis).min(LONGEST);
        let pairs = var("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let pairs = pairs.split(',').filter_map(|pair| pair.split_once('='));
        let more: Vec<(String, String)> =
            pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
        let of_attributes = more.iter().find(|(name, _)| name == "service.name");
        let service = var("OTEL_SERVICE_NAME")
            .or_else(|| of_attributes.map(|(_, value)| value.clone()))
            .unwrap_or_else(|| "handover".to_owned());
        Ok(Self { destinations, headers, timeout, service, more })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        endpoint: Option<&str>,
        is_ours: bool,
        vars: &[(&str, &str)],
    ) -> Option<Result<Found, CollectorError>> {
        let var = |name: &str| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Found::of(endpoint, is_ours, &var)
    }

    #[test]
    fn nothing_is_reported_unless_somebody_names_a_collector() {
        assert_eq!(found(None, true, &[]), None);
        assert_eq!(found(None, true, &[("OTEL_SERVICE_NAME", "x")]), None);
        let off = [("OTEL_SDK_DISABLED", "true"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1")];
        assert_eq!(found(None, true, &off), None);
        assert_eq!(found(Some("http://c:1"), true, &off[..1]), None);
    }

    #[test]
    fn the_configuration_wins_over_variables_of_other_programs() {
        let vars = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://theirs:1")];
        let ours = found(Some("http://ours:2/"), true, &vars).unwrap().unwrap();
        assert_eq!(ours.destinations.of(SignalKind::Traces), Some("http://ours:2/v1/traces"));
        let theirs = found(None, true, &vars).unwrap().unwrap();
        assert_eq!(theirs.destinations.of(SignalKind::Logs), Some("http://theirs:1/v1/logs"));
        let one = [("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m:3/path")];
        let one = found(None, true, &one).unwrap().unwrap();
        assert_eq!(one.destinations.of(SignalKind::Metrics), Some("http://m:3/path"));
        assert_eq!(one.destinations.of(SignalKind::Traces), None);
    }

    #[test]
    fn keys_never_go_to_a_collector_that_a_project_names() {
        let vars = [("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20secret")];
        let ours = found(Some("http://c:1"), true, &vars).unwrap().unwrap();
        assert_eq!(ours.headers, [("authorization".to_owned(), "Bearer secret".to_owned())]);
        assert_eq!(found(Some("http://c:1"), false, &vars).unwrap().unwrap().headers, []);
    }

    #[test]
    fn what_is_not_spoken_is_said() {
        let grpc = [("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
        assert!(found(Some("http://c:1"), true, &grpc).unwrap().is_err());
        assert!(found(Some("c:1"), true, &[]).unwrap().is_err());
        let none = [("OTEL_LOGS_EXPORTER", "none"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "99999999")];
        let none = found(Some("http://c:1"), true, &none).unwrap().unwrap();
        assert_eq!((none.destinations.of(SignalKind::Logs), none.timeout), (None, LONGEST));
    }
}
