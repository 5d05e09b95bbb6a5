//! Signals as OTLP messages.

use std::collections::BTreeMap;

use handover_model::{SignalKind, Timestamp};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs, SeverityNumber};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource as OtlpResource;
use opentelemetry_proto::tonic::trace::v1::{
    ResourceSpans, ScopeSpans, Span as OtlpSpan, Status as OtlpStatus, span, status,
};
use prost::Message as _;

use crate::signal::{
    Attribute, Instrument, LogLine, Measurement, Severity, Signals, Span, SpanKind, Status, Value,
};

/// Which program reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// `service.name`
    pub service: String,
    /// The version of Handover.
    pub version: String,
    /// The project.
    pub project: Option<String>,
    /// What the user adds in `OTEL_RESOURCE_ATTRIBUTES`.
    pub more: Vec<(String, String)>,
}

/// Signals of one kind, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// What it has.
    pub kind: SignalKind,
    /// The body of the request.
    pub body: Vec<u8>,
}

impl Batch {
    /// One for each kind that there is.
    pub fn of(signals: &Signals, resource: &Resource) -> Vec<Self> {
        let mut batches = Vec::new();
        let mut add = |kind, body| batches.push(Self { kind, body });
        if !signals.spans.is_empty() {
            add(SignalKind::Traces, traces(&signals.spans, resource).encode_to_vec());
        }
        if !signals.measurements.is_empty() {
            add(SignalKind::Metrics, metrics(&signals.measurements, resource).encode_to_vec());
        }
        if !signals.lines.is_empty() {
            add(SignalKind::Logs, logs(&signals.lines, resource).encode_to_vec());
        }
        batches
    }
}

fn traces(spans: &[Span], resource: &Resource) -> ExportTraceServiceRequest {
    let spans = spans.iter().map(|one| OtlpSpan {
        trace_id: one.trace.0.to_vec(),
        span_id: one.id.0.to_vec(),
        parent_span_id: one.parent.map(|parent| parent.0.to_vec()).unwrap_or_default(),
        name: one.name.clone(),
        kind: match one.kind {
            SpanKind::Internal => span::SpanKind::Internal,
            SpanKind::Client => span::SpanKind::Client,
            SpanKind::Server => span::SpanKind::Server,
        } as i32,
        start_time_unix_nano: nanos(one.start),
        end_time_unix_nano: nanos(one.end),
        attributes: attributes(&one.attributes),
        status: Some(OtlpStatus {
            message: String::new(),
            code: match one.status {
                Status::Unset => status::StatusCode::Unset,
                Status::Ok => status::StatusCode::Ok,
                Status::Error => status::StatusCode::Error,
            } as i32,
        }),
        ..OtlpSpan::default()
    });
    let scope_spans = vec![ScopeSpans {
        scope: Some(scope(resource)),
        spans: spans.collect(),
        ..ScopeSpans::default()
    }];
    let resource = Some(of_resource(resource));
    let resource_spans = vec![ResourceSpans { resource, scope_spans, ..ResourceSpans::default() }];
    ExportTraceServiceRequest { resource_spans }
}

fn metrics(measured: &[Measurement], resource: &Resource) -> ExportMetricsServiceRequest {
    let mut by_instrument: BTreeMap<Instrument, Vec<&Measurement>> = BTreeMap::new();
    for one in measured {
        by_instrument.entry(one.instrument).or_default().push(one);
    }
    let metrics = by_instrument.into_iter().map(|(instrument, measured)| Metric {
        name: instrument.name().to_owned(),
        description: instrument.description().to_owned(),
        unit: instrument.unit().to_owned(),
        data: Some(match instrument.bounds() {
            Some(bounds) => histogram(bounds, &measured),
            None => sum(&measured),
        }),
        ..Metric::default()
    });
    let scope_metrics = vec![ScopeMetrics {
        scope: Some(scope(resource)),
        metrics: metrics.collect(),
        ..ScopeMetrics::default()
    }];
    let resource = Some(of_resource(resource));
    let resource_metrics =
        vec![ResourceMetrics { resource, scope_metrics, ..ResourceMetrics::default() }];
    ExportMetricsServiceRequest { resource_metrics }
}

/// Every process reports only what it measured itself: nobody adds it up before the collector does.
const TEMPORALITY: AggregationTemporality = AggregationTemporality::Delta;

fn histogram(bounds: &[f64], measured: &[&Measurement]) -> metric::Data {
    let points = measured.iter().map(|one| {
        let mut buckets = vec![0; bounds.len() + 1];
        buckets[bounds.partition_point(|bound| *bound < one.value)] = 1;
        HistogramDataPoint {
            attributes: attributes(&one.attributes),
            start_time_unix_nano: nanos(one.start),
            time_unix_nano: nanos(one.at),
            count: 1,
            sum: Some(one.value),
            bucket_counts: buckets,
            explicit_bounds: bounds.to_vec(),
            min: Some(one.value),
            max: Some(one.value),
            ..HistogramDataPoint::default()
        }
    });
    metric::Data::Histogram(Histogram {
        data_points: points.collect(),
        aggregation_temporality: TEMPORALITY as i32,
    })
}

fn sum(measured: &[&Measurement]) -> metric::Data {
    let points = measured.iter().map(|one| NumberDataPoint {
        attributes: attributes(&one.attributes),
        start_time_unix_nano: nanos(one.start),
        time_unix_nano: nanos(one.at),
        value: Some(number_data_point::Value::AsDouble(one.value)),
        ..NumberDataPoint::default()
    });
    metric::Data::Sum(Sum {
        data_points: points.collect(),
        aggregation_temporality: TEMPORALITY as i32,
        is_monotonic: true,
    })
}

fn logs(lines: &[LogLine], resource: &Resource) -> ExportLogsServiceRequest {
    let records = lines.iter().map(|line| {
        let (severity, text) = match line.severity {
            Severity::Debug => (SeverityNumber::Debug, "DEBUG"),
            Severity::Info => (SeverityNumber::Info, "INFO"),
            Severity::Warn => (SeverityNumber::Warn, "WARN"),
            Severity::Error => (SeverityNumber::Error, "ERROR"),
        };
        let mut attributes = attributes(&line.attributes);
        attributes.push(key_value("code.namespace", text_value(&line.target)));
        let (trace_id, span_id) = line
            .within
            .map(|(trace, span)| (trace.0.to_vec(), span.0.to_vec()))
            .unwrap_or_default();
        LogRecord {
            time_unix_nano: nanos(line.at),
            observed_time_unix_nano: nanos(line.at),
            severity_number: severity as i32,
            severity_text: text.to_owned(),
            body: Some(AnyValue { value: Some(text_value(&line.message)) }),
            attributes,
            trace_id,
            span_id,
            ..LogRecord::default()
        }
    });
    let scope_logs = vec![ScopeLogs {
        scope: Some(scope(resource)),
        log_records: records.collect(),
        ..ScopeLogs::default()
    }];
    let resource = Some(of_resource(resource));
    let resource_logs = vec![ResourceLogs { resource, scope_logs, ..ResourceLogs::default() }];
    ExportLogsServiceRequest { resource_logs }
}

fn of_resource(resource: &Resource) -> OtlpResource {
    let Resource { service, version, project, more } = resource;
    let mut attributes: Vec<KeyValue> = more
        .iter()
        .filter(|(name, _)| name != "service.name" && name != "service.version")
        .map(|(name, value)| key_value(name, text_value(value)))
        .collect();
    attributes.push(key_value("service.name", text_value(service)));
    attributes.push(key_value("service.version", text_value(version)));
    if let Some(project) = project {
        attributes.push(key_value("handover.project", text_value(project)));
    }
    OtlpResource { attributes, ..OtlpResource::default() }
}

fn scope(resource: &Resource) -> InstrumentationScope {
    InstrumentationScope {
        name: "handover".to_owned(),
        version: resource.version.clone(),
        ..InstrumentationScope::default()
    }
}

fn attributes(attributes: &[Attribute]) -> Vec<KeyValue> {
    let value = |value: &Value| match value {
        Value::Word(word) => text_value(word),
        Value::Id(id) => text_value(id),
        Value::Int(count) => any_value::Value::IntValue(*count),
        Value::Real(number) => any_value::Value::DoubleValue(*number),
    };
    attributes.iter().map(|(name, of)| key_value(name, value(of))).collect()
}

fn key_value(key: &str, value: any_value::Value) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

fn text_value(text: &str) -> any_value::Value {
    any_value::Value::StringValue(text.to_owned())
}

fn nanos(time: Timestamp) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or_default().saturating_mul(1_000)
}
