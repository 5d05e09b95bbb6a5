//! The service: requests to a running one, whose store is a real one.
//!
//! The first line of an input is method and target, the rest the body.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use handover_mcp::{RequestContext, RequestError, ToolError};
use handover_model::ProjectId;
use handover_serve::{AccessPolicy, Port, ProjectContextProvider, ServeError, Service};
use serde_json::{Value, json};

#[path = "../../../crates/handover-mcp/tests/it/contexts.rs"]
mod contexts;

use contexts::{Contexts, PROJECT};

/// After this many requests the store is replaced, so that it stays small.
const REQUESTS: usize = 10_000;

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

/// What a client may send: any target and any body.
pub(super) fn http(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (line, body) = (&data[..at], data.get(at + 1..).unwrap_or_default());
    let (method, target) = match line.strip_prefix(b"GET ") {
        Some(target) => ("GET", target),
        None => ("POST", line.strip_prefix(b"POST ").unwrap_or(line)),
    };
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    if running.as_ref().is_none_or(|running| running.requests >= REQUESTS) {
        drop(running.take());
        *running = Some(Running::start());
    }
    let service = running.as_mut().expect("it is running");
    service.requests += 1;
    let target = visible(target);
    let Some((status, answer)) = service.send(method, &target, body) else { return };
    assert!(status != 500, "{method} {target}: {answer}");
    // The root of the API is a page like any other that does not exist.
    let path = target.split(['?', '#']).next().unwrap_or_default();
    if path.starts_with("/api/v1/") && path != "/api/v1/" && !answer.is_empty() {
        let document: Value = serde_json::from_str(&answer).expect("an answer in JSON");
        // A transaction would hold the store's lock until it expires.
        if target.starts_with("/api/v1/store")
            && let Some(name) = document["done"].as_str()
        {
            let end = json!({"end": {"within": name, "keep": false}}).to_string();
            let _ = service.send("POST", "/api/v1/store", end.as_bytes());
        }
    }
}

/// A target that HTTP allows: everything else would end at the first check.
fn visible(target: &[u8]) -> String {
    let rest = target.strip_prefix(b"/").unwrap_or(target);
    let mut text = "/".to_owned();
    for byte in rest {
        match byte {
            b'!'..=b'~' => text.push(char::from(*byte)),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

struct Running {
    address: SocketAddr,
    requests: usize,
    shutdown: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProjectContextProvider for Contexts {
    fn with_project_context(
        &self,
        project: &ProjectId,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        self.run(Some(project), work)
    }
}

impl Running {
    fn start() -> Self {
        let contexts = Contexts::new();
        contexts.open_session(None, PROJECT, "s1");
        let bind = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let service = Service::bind(bind, Port::Exactly(0)).expect("a free port");
        let address = service.address();
        let policy = AccessPolicy { bind, hosts: Vec::new(), token_required: false };
        let (shutdown, signal) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let stop = async || {
                let _ = signal.await;
                Ok(())
            };
            let _ = service.run_until::<ServeError>(Arc::new(contexts), policy, stop, || Ok(()));
        });
        Self { address, requests: 0, shutdown: Some(shutdown), thread: Some(thread) }
    }

    /// Status and body of the answer; an endless one has no body. `None` if the connection was closed.
    fn send(&self, method: &str, target: &str, body: &[u8]) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        let _ = stream.set_read_timeout(Some(Duration::from_secs(15)));
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).ok()?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut length = 0;
        loop {
            line.clear();
            reader.read_line(&mut line).ok()?;
            let field = line.trim_end().to_ascii_lowercase();
            if let Some(value) = field.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if field.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).ok()?;
        Some((status, String::from_utf8(answer).expect("an answer in UTF-8")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.shutdown.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
