//! A running service, the stores behind it, and a client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use handover_context::package_file::ProjectPaths;
use handover_context::specialize::Templates;
use handover_context::stack::Stack;
use handover_handoff::Technology;
use handover_mcp::{ContextProvider, RequestContext, RequestError, ToolError};
use handover_model::config::Config;
use handover_model::{
    ProjectId, ReceiptId, SessionId, SessionStatus, Timestamp, TokenKind, TokenScope,
};
use handover_remote::RemoteStore;
use handover_serve::{AccessPolicy, Port, ProjectContextProvider, ServeError, Service, mint};
use handover_sqlite::SqliteStore;
use handover_store::{NewSession, NewToken, Sessions, Tokens};
use handover_text::Redactor;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use ureq::http::{HeaderMap, Request};

/// The service's own project.
pub(crate) const PROJECT: &str = "shop";

/// Opens a store per request. The service's own project is `shop`; others have a folder each.
pub(crate) struct Contexts {
    folder: tempfile::TempDir,
    redactor: Redactor,
    config: Config,
    clock: AtomicI64,
    receipts: AtomicU64,
}

impl Contexts {
    fn new() -> Self {
        let contexts = Self {
            folder: tempfile::tempdir().unwrap(),
            redactor: Redactor::default(),
            config: Config::default(),
            clock: AtomicI64::new(1_800_000_000),
            receipts: AtomicU64::new(1),
        };
        contexts.store(None);
        contexts
    }

    pub(crate) fn root(&self, project: Option<&ProjectId>) -> PathBuf {
        let root = match project {
            None => self.folder.path().join("own"),
            Some(project) => self.folder.path().join("projects").join(project.as_str()),
        };
        fs_err::create_dir_all(root.join(".handover")).unwrap();
        root
    }

    pub(crate) fn file(&self, project: Option<&ProjectId>) -> PathBuf {
        self.root(project).join(".handover/store.db")
    }

    pub(crate) fn store(&self, project: Option<&ProjectId>) -> SqliteStore {
        SqliteStore::open(&self.file(project)).unwrap()
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.load(Ordering::SeqCst) * 1_000_000)
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.clock.fetch_add(seconds, Ordering::SeqCst);
    }

    fn run(
        &self,
        project: Option<&ProjectId>,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        let file = self.file(project);
        if project.is_none() && !file.exists() {
            let message = "there is no store".to_owned();
            return Err(RequestError { code: "no_store", message, hint: None });
        }
        let store = SqliteStore::open(&file).map_err(|error| RequestError {
            code: "store_broken",
            message: error.to_string(),
            hint: None,
        })?;
        let root = self.root(project);
        let paths = ProjectPaths::new(&root, &[]).unwrap();
        let technology =
            Technology { stack: Stack::default(), templates: Templates::load(None, None) };
        let mut active = store.sessions(Some(SessionStatus::Active)).unwrap_or_default();
        let session = match active.len() {
            1 => Ok(active.remove(0).id),
            _ => Err(RequestError {
                code: "no_session",
                message: "no single active session".to_owned(),
                hint: None,
            }),
        };
        let receipt = self.receipts.fetch_add(1, Ordering::SeqCst);
        let context = RequestContext {
            store: &store,
            redactor: &self.redactor,
            config: &self.config,
            paths: &paths,
            checkout: root,
            technology: &technology,
            overrides: Vec::new(),
            project: project.cloned().unwrap_or_else(|| ProjectId::new(PROJECT).unwrap()),
            session,
            bound: false,
            group: None,
            may_write: true,
            machine: "test".to_owned(),
            receipt: ReceiptId::new(format!("r_{receipt}")).unwrap(),
            now: self.now(),
        };
        work(&context).map_err(request_error)
    }
}

/// The codes of the command line, without its hints.
fn request_error(error: ToolError) -> RequestError {
    if let ToolError::Request(error) = error {
        return error;
    }
    RequestError { code: error.code(), message: error.to_string(), hint: None }
}

impl ContextProvider for Contexts {
    fn with_context(
        &self,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        self.run(None, work)
    }
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
        let new = NewSession {
            id: SessionId::new(id).unwrap(),
            project: other.clone().unwrap_or_else(|| ProjectId::new(PROJECT).unwrap()),
            metadata: Redactor::default().clean_json(json!({})),
            now: self.contexts.now(),
        };
        self.contexts.store(other.as_ref()).open_session(&new).unwrap();
    }

    /// A session of another project in the service's own store.
    pub(crate) fn open_foreign_session(&self, project: &str, id: &str) {
        let new = NewSession {
            id: SessionId::new(id).unwrap(),
            project: ProjectId::new(project).unwrap(),
            metadata: Redactor::default().clean_json(json!({})),
            now: self.contexts.now(),
        };
        self.contexts.store(None).open_session(&new).unwrap();
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
