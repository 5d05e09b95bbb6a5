//! What is reported to an OpenTelemetry collector.

use serde::{Deserialize, Serialize};

use crate::SignalKind;

/// `[telemetry]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TelemetryConfig {
    /// The address of the collector, for OTLP over HTTP. Nothing is reported without one.
    pub endpoint: Option<String>,
    /// What is reported.
    pub signals: Vec<SignalKind>,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self { endpoint: None, signals: SignalKind::ALL.to_vec() }
    }
}
