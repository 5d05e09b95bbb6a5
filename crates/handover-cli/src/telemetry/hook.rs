//! Hooks as spans: each event with the answer that it got, and each subagent from its brief to its end.
//!
//! A host waits for its hooks, so this happens after the answer, and nearly always ends in the outbox.

use std::time::{Duration, Instant};

use handover_hosts::{Checkpoint, HookCall, HookEvent};
use handover_model::{Receipt, Timestamp};
use handover_telemetry::{
    Attribute, Batch, Instrument, Signals, Span, SpanId, SpanKind, Status, TraceId, Value, names,
};

use super::agent::{about, brief, measured, seconds};
use super::exporter::keep;
use super::settings::Settings;
use crate::env;
use crate::logging;

/// The most that a hook spends on sending, once its host has the answer.
const MOST: Duration = Duration::from_millis(500);

/// What of the deadline must be left.
const MARGIN: Duration = Duration::from_secs(1);

/// One event of a host, and what was made of it.
pub(crate) struct HookReport<'a> {
    pub(crate) host: &'a str,
    pub(crate) event: &'a HookEvent,
    /// Unknown if the hook failed before it was read.
    pub(crate) call: Option<&'a HookCall>,
    /// What the host got as an answer; the code of the error if that was nothing.
    pub(crate) action: Result<&'static str, &'static str>,
    /// Until the answer.
    pub(crate) took: Duration,
    pub(crate) now: Timestamp,
    /// Receipts whose agents got their brief.
    pub(crate) delivered: Vec<Receipt>,
    /// Receipts whose agents have ended.
    pub(crate) ended: Vec<Receipt>,
}

impl HookReport<'_> {
    /// Leaves it in the outbox. Where a conversation pauses anyway, what waits there is sent, within the deadline.
    pub(crate) fn file(&self, settings: &Settings, started: Instant, deadline: Duration) {
        let mut signals = self.signals();
        signals.lines = logging::take_collected();
        keep(settings, &Batch::of(&signals, &settings.resource));
        let left = deadline.saturating_sub(started.elapsed()).saturating_sub(MARGIN);
        if self.is_pause() && left > Duration::from_millis(50) {
            let most = left.min(MOST);
            settings.sweep(&settings.collector(most), most);
        }
    }

    /// Whether nobody is in a hurry now.
    fn is_pause(&self) -> bool {
        matches!(
            self.event,
            HookEvent::SubagentStopping(_)
                | HookEvent::SubagentFinished(_)
                | HookEvent::Checkpoint { at: Checkpoint::SessionEnd, .. }
        )
    }

    fn conversation(&self) -> Option<&str> {
        Some(self.call?.conversation.as_ref()?.as_str())
    }

    /// The hooks of one conversation are one trace.
    fn trace(&self, unique: &str) -> TraceId {
        match self.conversation() {
            Some(conversation) => TraceId::of("conversation", conversation),
            None => TraceId::of("hook", unique),
        }
    }

    fn signals(&self) -> Signals {
        let unique = env::unique();
        let end = self.now;
        let micros = i64::try_from(self.took.as_micros()).unwrap_or(i64::MAX);
        let start = Timestamp::from_micros(end.as_micros().saturating_sub(micros));
        let (word, error) = match self.action {
            Ok(action) => (action, None),
            Err(code) => ("proceed", Some(code)),
        };
        let plain: Vec<Attribute> = vec![
            (names::HOST, Value::id(self.host)),
            (names::EVENT, self.event.label().into()),
            (names::ACTION, word.into()),
        ];
        let mut plain_with_error = plain.clone();
        plain_with_error.extend(error.map(|code| (names::ERROR, code.into())));
        let mut attributes = plain_with_error.clone();
        if let Some(conversation) = self.conversation() {
            attributes.push((names::CONVERSATION, Value::id(conversation)));
        }
        if let Some(agent) = self.call.and_then(|call| call.agent.as_ref()) {
            attributes.push((names::AGENT_ID, Value::id(agent.id.as_str())));
        }
        let subject = self.delivered.first().or_else(|| self.ended.first());
        attributes.extend(subject.map(brief).unwrap_or_default());
        let trace = self.trace(&unique);
        let span = Span {
            trace,
            id: SpanId::of("hook", &unique),
            parent: subject.map(|receipt| SpanId::of("receipt", receipt.id.as_str())),
            name: format!("hook {}", self.event.label()),
            kind: SpanKind::Server,
            start,
            end,
            attributes,
            status: if error.is_some() { Status::Error } else { Status::Unset },
        };
        let took = self.took.as_secs_f64();
        let mut signals = Signals {
            measurements: vec![measured(
                Instrument::HookDuration,
                took,
                (start, end),
                plain_with_error,
            )],
            ..Signals::default()
        };
        for receipt in &self.delivered {
            let attributes = about(self.host, receipt.role.as_str());
            let tokens = receipt.tokens as f64;
            signals.measurements.push(measured(
                Instrument::BriefTokens,
                tokens,
                (start, end),
                attributes,
            ));
        }
        for receipt in &self.ended {
            signals.extend(self.subagent(receipt, trace));
        }
        signals.spans.push(span);
        signals
    }

    /// A subagent, from its brief to its end.
    fn subagent(&self, receipt: &Receipt, trace: TraceId) -> Signals {
        let role = receipt.role.as_str();
        let start = receipt.delivered_at.unwrap_or(receipt.created_at).min(self.now);
        let mut attributes = about(self.host, role);
        attributes.extend(brief(receipt));
        if let Some(model) = &receipt.model {
            attributes.push((names::REQUEST_MODEL, Value::id(model)));
        }
        if let Some(conversation) = self.conversation() {
            attributes.push((names::CONVERSATION, Value::id(conversation)));
        }
        let span = Span {
            trace,
            id: SpanId::of("receipt", receipt.id.as_str()),
            parent: None,
            name: format!("invoke_agent {role}"),
            kind: SpanKind::Client,
            start,
            end: self.now,
            attributes,
            status: Status::Unset,
        };
        let worked = seconds(start, self.now);
        let duration = measured(
            Instrument::OperationDuration,
            worked,
            (start, self.now),
            about(self.host, role),
        );
        Signals { spans: vec![span], measurements: vec![duration], lines: Vec::new() }
    }
}
