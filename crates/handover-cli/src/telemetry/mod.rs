//! What is reported to an OpenTelemetry collector: traces of runs, agents, hooks and gates, metrics and logs.
//!
//! Off unless an endpoint is configured, and then nothing here costs more than a look at the configuration. What the
//! signals look like on the wire, and the outbox, are handover-telemetry's; here is what Handover reports and when it
//! takes the time to send: hooks only leave it in the outbox, except when a conversation pauses anyway.

mod agent;
mod exporter;
mod hook;
mod run_trace;
mod settings;

pub(crate) use agent::Spawned;
pub(crate) use exporter::Exporter;
#[cfg(feature = "service")]
pub(crate) use exporter::serve;
pub(crate) use hook::HookReport;
pub(crate) use run_trace::RunTrace;
pub(crate) use settings::Settings;
