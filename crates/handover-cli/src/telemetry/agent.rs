//! Agents as spans and measurements.

use handover_agents::Outcome;
use handover_engine::stats::use_of;
use handover_hosts::{HookHost, Registry};
use handover_model::{Host, Receipt, Timestamp, Verdict};
use handover_telemetry::{
    Attribute, Instrument, Measurement, Signals, Span, SpanId, SpanKind, Status, TraceId, Value,
    names,
};

/// Who makes the models of an agent program; what is not known is left to the program's name.
pub(super) fn provider(host: &str) -> Value {
    let known = Host::new(host).ok().and_then(|name| Registry::built_in().find(name).ok());
    known.and_then(HookHost::provider).map_or_else(|| Value::id(host), Value::from)
}

/// What everything about an agent says.
pub(super) fn about(host: &str, role: &str) -> Vec<Attribute> {
    vec![
        (names::OPERATION, "invoke_agent".into()),
        (names::PROVIDER, provider(host)),
        (names::AGENT_NAME, Value::id(role)),
        (names::HOST, Value::id(host)),
    ]
}

/// What a receipt says about the brief of an agent: how much it got, and how much of that it used.
pub(super) fn brief(receipt: &Receipt) -> Vec<Attribute> {
    let mut attributes: Vec<Attribute> = vec![
        (names::RECEIPT, Value::id(receipt.id.as_str())),
        (names::SESSION, Value::id(receipt.session.as_str())),
        (names::BRIEF_TOKENS, receipt.tokens.into()),
        (names::BRIEF_ITEMS, (receipt.items.len() as u64).into()),
        (names::ATTEMPT, receipt.iteration.into()),
    ];
    if let Some(group) = &receipt.group {
        attributes.push((names::GROUP, Value::id(group.as_str())));
    }
    if let Some(uses) = use_of(receipt) {
        attributes.push((names::USED_TOKENS, uses.used_tokens.into()));
    }
    attributes
}

pub(super) fn measured(
    instrument: Instrument,
    value: f64,
    (start, at): (Timestamp, Timestamp),
    attributes: Vec<Attribute>,
) -> Measurement {
    Measurement { instrument, value, start, at, attributes }
}

pub(super) fn seconds(start: Timestamp, end: Timestamp) -> f64 {
    (end.as_micros() - start.as_micros()).max(0) as f64 / 1e6
}

/// An agent that `handover spawn` started.
pub(crate) struct Spawned<'a> {
    pub(crate) host: Host,
    pub(crate) receipt: &'a Receipt,
    pub(crate) outcome: &'a Outcome,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
}

impl Spawned<'_> {
    /// One span, and what was measured.
    pub(crate) fn signals(&self) -> Signals {
        let Self { receipt, outcome, start, end, .. } = self;
        let (host, role) = (self.host.to_string(), receipt.role.as_str());
        let mut attributes = about(&host, role);
        attributes.extend(brief(receipt));
        let report = &outcome.report;
        let usage = report.usage;
        attributes.push((names::INPUT_TOKENS, usage.input.into()));
        attributes.push((names::OUTPUT_TOKENS, usage.output.into()));
        attributes.push((names::CACHED_TOKENS, usage.cached_input.into()));
        let texts = [
            (names::REQUEST_MODEL, &receipt.model),
            (names::RESPONSE_MODEL, &report.model),
            (names::CONVERSATION, &report.host_session),
        ];
        let known = texts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
        attributes.extend(known.map(|(name, text)| (name, Value::id(text))));
        if let Some(turns) = report.turns {
            attributes.push((names::TURNS, turns.into()));
        }
        if let Some(cost) = report.cost_usd {
            attributes.push((names::COST, cost.into()));
        }
        if let Some(verdict) = self.verdict {
            attributes.push((names::VERDICT, verdict.as_str().into()));
        }
        let failure = outcome.failure.as_ref().map(|failure| failure.class.as_str());
        attributes.extend(failure.map(|class| (names::ERROR, class.into())));
        let span = Span {
            trace: TraceId::of("receipt", receipt.id.as_str()),
            id: SpanId::of("receipt", receipt.id.as_str()),
            parent: None,
            name: format!("invoke_agent {role}"),
            kind: SpanKind::Client,
            start: *start,
            end: *end,
            attributes,
            status: if failure.is_some() { Status::Error } else { Status::Ok },
        };
        Signals { spans: vec![span], measurements: self.measurements(failure), lines: Vec::new() }
    }

    fn measurements(&self, failure: Option<&'static str>) -> Vec<Measurement> {
        let Self { receipt, outcome, start, end, .. } = self;
        let (host, role) = (self.host.to_string(), receipt.role.as_str());
        let with = |more: Option<Attribute>| {
            let mut attributes = about(&host, role);
            attributes.extend(more);
            attributes
        };
        let time = (*start, *end);
        let error = failure.map(|class| (names::ERROR, class.into()));
        let duration = outcome.duration.as_secs_f64();
        let mut all = vec![
            measured(Instrument::OperationDuration, duration, time, with(error)),
            measured(Instrument::BriefTokens, receipt.tokens as f64, time, with(None)),
        ];
        let usage = outcome.report.usage;
        for (kind, tokens) in [("input", usage.input), ("output", usage.output)] {
            let kind = Some((names::TOKEN_TYPE, kind.into()));
            all.push(measured(Instrument::TokenUsage, tokens as f64, time, with(kind)));
        }
        if let Some(cost) = outcome.report.cost_usd {
            all.push(measured(Instrument::Cost, cost, time, with(None)));
        }
        let verdict = self.verdict.map_or("none", Verdict::as_str);
        let verdict = Some((names::VERDICT, verdict.into()));
        all.push(measured(Instrument::Verdicts, 1.0, time, with(verdict)));
        all
    }
}
