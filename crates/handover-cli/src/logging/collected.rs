//! Warnings and errors of the libraries, as log lines for a collector.
//!
//! Of the fields only ids, words and numbers are taken: what an error says may quote a file.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use handover_telemetry::{Attribute, LogLine, Severity, Value};
use handover_text::redact_message;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::env;

/// At most so many lines wait to be sent; nobody would read more.
const LINES: usize = 200;

/// No message is longer.
const MESSAGE_CHARS: usize = 200;

/// Fields whose values are ids or words of closed sets.
const IDS: [&str; 14] = [
    "run", "epic", "story", "phase", "role", "host", "event", "receipt", "session", "gate", "code",
    "state", "name", "target",
];

/// Whether anybody takes them.
static WANTED: AtomicBool = AtomicBool::new(false);

static WAITING: Mutex<Vec<LogLine>> = Mutex::new(Vec::new());

/// What was logged since the last time.
pub(crate) fn take() -> Vec<LogLine> {
    WAITING.lock().map(|mut lines| std::mem::take(&mut *lines)).unwrap_or_default()
}

/// Collects warnings and errors.
pub(super) struct LogLayer;

impl LogLayer {
    /// Begins to collect.
    pub(super) fn start() {
        WANTED.store(true, Ordering::Relaxed);
    }
}

impl<S: Subscriber> Layer<S> for LogLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let severity = match *event.metadata().level() {
            Level::ERROR => Severity::Error,
            Level::WARN => Severity::Warn,
            _ => return,
        };
        if !WANTED.load(Ordering::Relaxed) {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let message: String = redact_message(&fields.message).chars().take(MESSAGE_CHARS).collect();
        let line = LogLine {
            at: env::now(),
            severity,
            message,
            target: event.metadata().target().to_owned(),
            attributes: fields.attributes,
            within: None,
        };
        if let Ok(mut lines) = WAITING.lock()
            && lines.len() < LINES
        {
            lines.push(line);
        }
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    attributes: Vec<Attribute>,
}

impl Fields {
    fn text(&mut self, field: &Field, text: &str) {
        if field.name() == "message" {
            text.clone_into(&mut self.message);
        } else if let Some(name) = IDS.iter().find(|name| **name == field.name()) {
            self.attributes.push((name, Value::id(text)));
        }
    }

    fn number(&mut self, field: &Field, value: Value) {
        self.attributes.push((field.name(), value));
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, Value::Int(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.number(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[test]
    fn warnings_are_collected_without_what_errors_say() {
        LogLayer::start();
        let subscriber = tracing_subscriber::registry().with(LogLayer);
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!("nothing to see");
            let error = "cannot read /home/ann/secret-plan.md: Launch on Friday";
            tracing::warn!(%error, host = "claude", status = 503_u64, "hook degraded");
        });
        let lines = take();
        let line = lines.iter().find(|line| line.message == "hook degraded").unwrap();
        assert_eq!(line.severity, Severity::Warn);
        assert_eq!(line.attributes, [("host", Value::id("claude")), ("status", Value::Int(503))]);
        assert!(lines.iter().all(|line| line.message != "nothing to see"));
    }
}
