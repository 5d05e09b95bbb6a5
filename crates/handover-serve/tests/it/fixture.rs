//! A running service, the stores behind it, and a client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use handover_mcp::{RequestContext, RequestError, ToolError};
use handover_model::{ProjectId, TokenKind, TokenScope};
use handover_remote::RemoteStore;
use handover_serve::{AccessPolicy, Port, ProjectContextProvider, ServeError, Service, mint};
use handover_store::{NewToken, Tokens};
use handover_text::Redactor;
use serde_json::Value;
use tokio::sync::oneshot;
use ureq::http::{HeaderMap, Request};

pub(crate) use crate::contexts::{Contexts, PROJECT};

impl ProjectContextProvider for Contexts {
    fn with_project_context(
        &self,
        project: &ProjectId,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        self.run(Some(project), work)
    }
}

/// A service that shuts down when it is dropped.
pub(crate) struct TestService {
    pub(crate) url: String,
    pub(crate) contexts: Arc<Contexts>,
    agent: ureq::Agent,
    shutdown: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestService {
    /// For local clients, without tokens; with one session `s1`.
    pub(crate) fn start() -> Self {
        let service = Self::with_policy(false, &[]);
        service.open_session(None, "s1");
        service
    }

    /// Requires a token; with one session `s1`.
    pub(crate) fn requiring_tokens() -> Self {
        let service = Self::with_policy(true, &[]);
        service.open_session(None, "s1");
        service
    }

    pub(crate) fn with_policy(token_required: bool, hosts: &[&str]) -> Self {
        let contexts = Arc::new(Contexts::new());
        let bind = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let policy = AccessPolicy { bind, hosts, token_required };
        let service = Service::bind(bind, Port::Exactly(0)).unwrap();
        let url = format!("http://{}", service.address());
        let (shutdown, signal) = oneshot::channel::<()>();
        let provider: Arc<dyn ProjectContextProvider> = contexts.clone();
        let thread = std::thread::spawn(move || {
            let stop = async || {
                let _ = signal.await;
                Ok(())
            };
            service.run_until::<ServeError>(provider, policy, stop, || Ok(())).unwrap();
        });
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_secs(60)))
            .build()
            .into();
        Self { url, contexts, agent, shutdown: Some(shutdown), thread: Some(thread) }
    }

    /// Asks the service to shut down and waits for it.
    pub(crate) fn stop(&mut self) {
        drop(self.shutdown.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn open_session(&self, project: Option<&str>, id: &str) {
        let other = project.map(|project| ProjectId::new(project).unwrap());
        self.contexts.open_session(other.as_ref(), project.unwrap_or(PROJECT), id);
    }

    /// A session of another project in the service's own store.
    pub(crate) fn open_foreign_session(&self, project: &str, id: &str) {
        self.contexts.open_session(None, project, id);
    }

    /// A bearer token for the service's own project.
    pub(crate) fn token(&self, scope: TokenScope) -> String {
        self.token_for(scope, Some(PROJECT), TokenKind::Bearer, None)
    }

    pub(crate) fn token_for(
        &self,
        scope: TokenScope,
        project: Option<&str>,
        kind: TokenKind,
        seconds: Option<i64>,
    ) -> String {
        let minted = mint().unwrap();
        let now = self.contexts.now();
        let new = NewToken {
            id: minted.id,
            name: Some(Redactor::default().clean("laptop")),
            kind,
            scope,
            project: project.map(|project| ProjectId::new(project).unwrap()),
            hash: minted.hash,
            expires_at: seconds.map(|seconds| now.plus_seconds(seconds)),
            now,
        };
        self.contexts.store(None).create_token(&new).unwrap();
        minted.text
    }

    /// The store of this service as another machine sees it.
    pub(crate) fn remote(&self, token: Option<&str>) -> RemoteStore {
        let token = token.map(str::to_owned);
        RemoteStore::new(&self.url.parse().unwrap(), token, Duration::from_secs(30))
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], "")
    }

    pub(crate) fn get_as(&self, token: &str, path: &str) -> Reply {
        self.send("GET", path, &[("authorization", &bearer(token))], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[("content-type", "application/json")], &body.to_string())
    }

    pub(crate) fn post_as(&self, token: &str, path: &str, body: &Value) -> Reply {
        let bearer = bearer(token);
        let headers = [("content-type", "application/json"), ("authorization", &*bearer)];
        self.send("POST", path, &headers, &body.to_string())
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = match body {
            "" => self.agent.run(request.body(()).unwrap()),
            body => self.agent.run(request.body(body).unwrap()),
        }
        .unwrap();
        Reply {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.body_mut().read_to_string().unwrap(),
        }
    }

    /// One request of the store's protocol; the reply of the store.
    #[track_caller]
    pub(crate) fn rpc(&self, token: Option<&str>, request: &Value) -> Value {
        let reply = match token {
            Some(token) => self.post_as(token, "/api/v1/store", request),
            None => self.post("/api/v1/store", request),
        };
        reply.is(200).json()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.url.trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        stream
    }

    /// Sends a request line and headers only, and reads until the connection is closed.
    pub(crate) fn raw(&self, request_line: &str, headers: &[String]) -> String {
        let mut stream = self.connect();
        let mut head =
            format!("{request_line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        // The service may reject it and close before everything is written.
        let _ = write!(stream, "{head}\r\n");
        read_all(stream)
    }
}

impl Drop for TestService {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// Everything until the connection is closed.
pub(crate) fn read_all(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // Unread input resets the connection after the response.
    let _ = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[track_caller]
pub(crate) fn has_status(response: &str, status: u16) {
    assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {response}");
}

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }

    /// The code of an error with this status.
    #[track_caller]
    pub(crate) fn fails(self, status: u16, code: &str) {
        let body = self.is(status).json();
        assert_eq!(body["schema"], 1, "{body}");
        assert_eq!(body["error"]["code"], code, "{body}");
        assert!(!body["error"]["message"].as_str().unwrap().is_empty());
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// One server-sent event.
#[derive(Debug, Default)]
pub(crate) struct SseEvent {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// A client of `/events`.
pub(crate) struct EventClient {
    lines: std::io::Lines<BufReader<TcpStream>>,
}

impl EventClient {
    pub(crate) fn open(service: &TestService, path: &str, headers: &str) -> Self {
        let mut stream = service.connect();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream).lines();
        let status = lines.next().unwrap().unwrap();
        assert!(status.contains(" 200 "), "{status}");
        // Nothing is missed after the opening comment.
        while !lines.next().unwrap().unwrap().starts_with(':') {}
        Self { lines }
    }

    /// The next event; `None` once the stream has ended.
    pub(crate) fn next(&mut self) -> Option<SseEvent> {
        let mut event = SseEvent::default();
        loop {
            let line = self.lines.next()?.ok()?;
            match line.split_once(": ") {
                Some(("id", id)) => event.id = id.to_owned(),
                Some(("event", name)) => event.name = name.to_owned(),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                _ if line.is_empty() && !event.name.is_empty() => return Some(event),
                _ => {}
            }
        }
    }
}
