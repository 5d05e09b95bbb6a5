//! A small OpenTelemetry collector: takes OTLP over HTTP and decodes it with the official types.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tiny_http::{Header, Response, Server};

/// How a collector behaves.
#[derive(Debug, Clone, Copy)]
pub enum Mood {
    /// It takes everything.
    Fine,
    /// It answers with this status.
    Status(u16),
    /// It takes so long for every answer.
    Slow(Duration),
}

/// What a collector received.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// All requests with spans.
    pub traces: Vec<ExportTraceServiceRequest>,
    /// All requests with metrics.
    pub metrics: Vec<ExportMetricsServiceRequest>,
    /// All requests with logs.
    pub logs: Vec<ExportLogsServiceRequest>,
    /// The headers of every request, by their names in lower case.
    pub headers: Vec<Vec<(String, String)>>,
    /// The bodies as they came, to look for what must not be in them.
    pub bodies: Vec<Vec<u8>>,
}

impl Received {
    /// Every span.
    pub fn spans(&self) -> Vec<Span> {
        let resources = self.traces.iter().flat_map(|request| &request.resource_spans);
        let scopes = resources.flat_map(|resource| &resource.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }

    /// Every metric.
    pub fn metrics(&self) -> Vec<Metric> {
        let resources = self.metrics.iter().flat_map(|request| &request.resource_metrics);
        let scopes = resources.flat_map(|resource| &resource.scope_metrics);
        scopes.flat_map(|scope| scope.metrics.clone()).collect()
    }

    /// Every log record.
    pub fn logs(&self) -> Vec<LogRecord> {
        let resources = self.logs.iter().flat_map(|request| &request.resource_logs);
        let scopes = resources.flat_map(|resource| &resource.scope_logs);
        scopes.flat_map(|scope| scope.log_records.clone()).collect()
    }
}

/// An attribute as text; empty if there is none of this name.
pub fn attribute(attributes: &[KeyValue], name: &str) -> String {
    let found = attributes.iter().find(|one| one.key == name);
    match found.and_then(|one| one.value.as_ref()).and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        Some(any_value::Value::DoubleValue(number)) => number.to_string(),
        Some(_) | None => String::new(),
    }
}

/// A collector on loopback, which stops when it is dropped.
pub struct Collector {
    /// Its address, without a path.
    pub endpoint: String,
    server: Arc<Server>,
    received: Arc<Mutex<Received>>,
    mood: Arc<Mutex<Mood>>,
    thread: Option<JoinHandle<()>>,
}

impl Collector {
    /// Starts one.
    pub fn start(mood: Mood) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").unwrap());
        let endpoint = format!("http://{}", server.server_addr());
        let (received, mood) = (Arc::<Mutex<Received>>::default(), Arc::new(Mutex::new(mood)));
        let thread = {
            let (server, received, mood) = (server.clone(), received.clone(), mood.clone());
            std::thread::spawn(move || {
                while let Ok(mut request) = server.recv() {
                    let mut body = Vec::new();
                    request.as_reader().read_to_end(&mut body).unwrap();
                    let mood = *mood.lock().unwrap();
                    let status = match mood {
                        Mood::Fine => 200,
                        Mood::Status(status) => status,
                        Mood::Slow(time) => {
                            std::thread::sleep(time);
                            200
                        }
                    };
                    if status == 200 {
                        let headers = request.headers().iter().map(|one: &Header| {
                            let name = one.field.as_str().as_str().to_ascii_lowercase();
                            (name, one.value.as_str().to_owned())
                        });
                        let headers = headers.collect();
                        take(&mut received.lock().unwrap(), request.url(), headers, body);
                    }
                    let _ =
                        request.respond(Response::from_data(Vec::new()).with_status_code(status));
                }
            })
        };
        Self { endpoint, server, received, mood, thread: Some(thread) }
    }

    /// Behaves like this from now on.
    pub fn becomes(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// What it received so far.
    pub fn received(&self) -> Received {
        self.received.lock().unwrap().clone()
    }
}

fn take(received: &mut Received, path: &str, headers: Vec<(String, String)>, body: Vec<u8>) {
    match path {
        "/v1/traces" => {
            received.traces.push(ExportTraceServiceRequest::decode(&body[..]).unwrap());
        }
        "/v1/metrics" => {
            received.metrics.push(ExportMetricsServiceRequest::decode(&body[..]).unwrap());
        }
        "/v1/logs" => received.logs.push(ExportLogsServiceRequest::decode(&body[..]).unwrap()),
        other => panic!("{other} is not a path of the protocol"),
    }
    received.headers.push(headers);
    received.bodies.push(body);
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
