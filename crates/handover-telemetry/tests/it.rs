//! What is encoded, sent and kept, against a collector that decodes it with the official types.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::time::{Duration, Instant};

use handover_files::Folder;
use handover_model::{SignalKind, Timestamp};
use handover_telemetry::{
    Batch, Collector, Destinations, Instrument, LogLine, Measurement, Outbox, Resource, Sent,
    Severity, Signals, Span, SpanId, SpanKind, Status, TraceId, Value, names,
};
use handover_testkit::{Collector as Receiver, Mood, attribute};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::{span, status};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + seconds * 1_000_000)
}

fn resource() -> Resource {
    Resource {
        service: "handover".to_owned(),
        version: "1.2.3".to_owned(),
        project: Some("shop".to_owned()),
        more: vec![("team".to_owned(), "a".to_owned())],
    }
}

fn signals() -> Signals {
    let trace = TraceId::of("run", "r1");
    Signals {
        spans: vec![Span {
            trace,
            id: SpanId::of("story", "1-1-a"),
            parent: Some(SpanId::of("run", "r1")),
            name: "invoke_agent developer".to_owned(),
            kind: SpanKind::Client,
            start: at(0),
            end: at(2),
            attributes: vec![
                (names::OPERATION, "invoke_agent".into()),
                (names::INPUT_TOKENS, 7_u64.into()),
                (names::COST, 0.25.into()),
                (names::STORY, Value::id("1-1-a")),
            ],
            status: Status::Error,
        }],
        measurements: vec![
            measured(Instrument::HookDuration, 0.03),
            measured(Instrument::HookDuration, 99.0),
            measured(Instrument::Cost, 0.5),
        ],
        lines: vec![LogLine {
            at: at(1),
            severity: Severity::Warn,
            message: "gates failed".to_owned(),
            target: "handover_engine".to_owned(),
            attributes: vec![(names::FAILURES, 3_u64.into())],
            within: Some((trace, SpanId::of("story", "1-1-a"))),
        }],
    }
}

fn measured(instrument: Instrument, value: f64) -> Measurement {
    let attributes = vec![(names::HOST, "claude".into())];
    Measurement { instrument, value, start: at(0), at: at(2), attributes }
}

fn collector(endpoint: &str, timeout: Duration) -> Collector {
    let headers = vec![("authorization".to_owned(), "Bearer key".to_owned())];
    Collector::new(Destinations::below(endpoint).unwrap(), headers, timeout)
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_collector_understands_every_signal() {
    let receiver = Receiver::start(Mood::Fine);
    let collector = collector(&receiver.endpoint, SECOND);
    for batch in Batch::of(&signals(), &resource()) {
        assert_eq!(collector.send(&batch), Sent::Accepted);
    }
    let received = receiver.received();
    let span = &received.spans()[0];
    assert_eq!((span.trace_id.len(), span.span_id.len(), span.parent_span_id.len()), (16, 8, 8));
    assert_eq!(span.kind, span::SpanKind::Client as i32);
    assert_eq!(span.end_time_unix_nano - span.start_time_unix_nano, 2_000_000_000);
    assert_eq!(span.status.as_ref().unwrap().code, status::StatusCode::Error as i32);
    assert_eq!(attribute(&span.attributes, "gen_ai.usage.input_tokens"), "7");
    assert_eq!(attribute(&span.attributes, "handover.cost_usd"), "0.25");
    let about = received.traces[0].resource_spans[0].resource.as_ref().unwrap();
    assert_eq!(attribute(&about.attributes, "service.name"), "handover");
    assert_eq!(attribute(&about.attributes, "team"), "a");

    let metrics = received.metrics();
    let durations = metrics.iter().find(|one| one.name == "handover.hook.duration").unwrap();
    let Some(Data::Histogram(histogram)) = &durations.data else { panic!("{durations:?}") };
    assert_eq!(histogram.data_points.len(), 2);
    for (point, bucket) in histogram.data_points.iter().zip([5, 12]) {
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!(point.bucket_counts[bucket], 1, "{point:?}");
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), point.count);
    }
    let cost = metrics.iter().find(|one| one.name == "handover.agent.cost").unwrap();
    assert!(matches!(&cost.data, Some(Data::Sum(sum)) if sum.is_monotonic));

    let line = &received.logs()[0];
    assert_eq!((line.severity_text.as_str(), &line.trace_id), ("WARN", &span.trace_id));
    assert_eq!(line.span_id, span.span_id);
    let key = ("authorization".to_owned(), "Bearer key".to_owned());
    assert!(received.headers.iter().all(|headers| headers.contains(&key)));
}

#[test]
fn what_a_collector_will_never_take_is_distinguished_from_what_it_may_take_later() {
    let receiver = Receiver::start(Mood::Status(400));
    let sent = |endpoint: &str, timeout| {
        collector(endpoint, timeout).send(&Batch::of(&signals(), &resource())[0])
    };
    assert_eq!(sent(&receiver.endpoint, SECOND), Sent::Refused(400));
    receiver.becomes(Mood::Status(503));
    assert!(matches!(sent(&receiver.endpoint, SECOND), Sent::Later(_)));
    receiver.becomes(Mood::Status(302));
    assert_eq!(sent(&receiver.endpoint, SECOND), Sent::Refused(302), "nothing follows it");
    receiver.becomes(Mood::Slow(Duration::from_secs(3)));
    let begin = Instant::now();
    let slow = sent(&receiver.endpoint, Duration::from_millis(200));
    assert!(matches!(slow, Sent::Later(_)));
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert!(matches!(sent("http://127.0.0.1:1", SECOND), Sent::Later(_)));
}

#[test]
fn what_cannot_be_sent_waits_in_order_and_is_sent_once() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::new(Folder::at(folder.path().join("telemetry")));
    assert!(outbox.is_empty());
    for name in ["b", "a", "c"] {
        outbox.keep(name, &Batch::of(&signals(), &resource())).unwrap();
    }
    assert_eq!(outbox.len(), 9);
    let absent = collector("http://127.0.0.1:1", SECOND);
    let swept = outbox.sweep(&absent, at(0), SECOND).unwrap();
    assert!(swept.failed.is_some() && swept.sent == 0);
    assert_eq!(outbox.len(), 9, "nothing is lost");
    assert!(outbox.is_paused(at(59)) && !outbox.is_paused(at(61)));
    assert!(!outbox.is_paused(at(-1_000)), "a clock that was set back does not silence it");
    let receiver = Receiver::start(Mood::Fine);
    let fine = collector(&receiver.endpoint, SECOND);
    let swept = outbox.sweep(&fine, at(61), Duration::from_secs(10)).unwrap();
    assert_eq!((swept.sent, swept.refused, swept.failed), (9, 0, None));
    assert!(outbox.is_empty() && !outbox.is_paused(at(0)));
    assert_eq!(outbox.sweep(&fine, at(61), SECOND).unwrap().sent, 0);
    assert_eq!(receiver.received().spans().len(), 3);
}

#[test]
fn the_outbox_is_bounded_and_ignores_what_is_not_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::new(Folder::at(folder.path().join("telemetry")));
    let batch = |bytes| Batch { kind: SignalKind::Traces, body: vec![0; bytes] };
    outbox.keep("00", &[batch(5 * 1024 * 1024)]).unwrap();
    assert_eq!(outbox.len(), 0, "too large to be one");
    for n in 0..12 {
        outbox.keep(&format!("{n:02}"), &[batch(1024 * 1024)]).unwrap();
    }
    assert_eq!(outbox.len(), 8);
    assert!(!folder.path().join("telemetry/03.traces").exists(), "the oldest go");
    assert!(folder.path().join("telemetry/11.traces").exists());
    for n in 0..600 {
        outbox.keep(&format!("x{n:03}"), &[batch(1)]).unwrap();
    }
    assert_eq!(outbox.len(), 500);
    fs_err::write(folder.path().join("telemetry/notes.txt"), "mine").unwrap();
    assert_eq!(outbox.len(), 500);
}
