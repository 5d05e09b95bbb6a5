//! Spans, metrics and logs for OpenTelemetry collectors, by OTLP over HTTP.
//!
//! There is no runtime and no background thread here. A command collects [`Signals`], encodes them once ([`Batch`]),
//! and sends them ([`Collector`]) or leaves them in the [`Outbox`], from which a later command sends them. What is
//! measured, when to send and where to is the caller's business; so are clock and environment.
//!
//! Attributes are ids, words of closed sets and numbers. [`Value`] cannot be made of a prompt by accident: text goes
//! through [`Value::id`], which cuts it and drops everything that no id has.

mod collector;
mod encode;
mod outbox;
mod signal;

pub use collector::{Collector, CollectorError, Destinations, Sent};
pub use encode::{Batch, Resource};
pub use outbox::{Outbox, Swept};
pub use signal::{
    Attribute, Instrument, LogLine, Measurement, Severity, Signals, Span, SpanId, SpanKind, Status,
    TraceId, Value, names,
};
