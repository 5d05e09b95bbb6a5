//! A server over a SQLite store, called in process.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use bytes::Bytes;
use handover_context::package_file::ProjectPaths;
use handover_context::specialize::Templates;
use handover_context::stack::Stack;
use handover_handoff::Technology;
use handover_mcp::{ContextProvider, RequestContext, RequestError, Server, ToolError, answer_http};
use handover_model::config::Config;
use handover_model::{GroupId, ProjectId, ReceiptId, SessionId, SessionStatus, Timestamp};
use handover_sqlite::SqliteStore;
use handover_store::{NewSession, Sessions};
use handover_text::Redactor;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

/// Opens a context per request, like the command line does.
pub(crate) struct Contexts {
    folder: tempfile::TempDir,
    redactor: Redactor,
    config: Config,
    /// Seconds, advanced by every request so that records are ordered.
    clock: AtomicI64,
    receipts: AtomicU64,
    /// The session that the server was started for.
    bound: Option<SessionId>,
    group: Option<GroupId>,
    may_write: bool,
}

impl ContextProvider for Contexts {
    fn with_context(
        &self,
        work: &mut dyn FnMut(&RequestContext<'_>) -> Result<(), ToolError>,
    ) -> Result<(), RequestError> {
        let store = SqliteStore::open(&self.file()).map_err(|error| RequestError {
            code: "store_broken",
            message: error.to_string(),
            hint: Some("Run `handover doctor`.".to_owned()),
        })?;
        let paths = ProjectPaths::new(self.folder.path(), &[]).unwrap();
        let technology =
            Technology { stack: Stack::default(), templates: Templates::load(None, None) };
        let mut active = store.sessions(Some(SessionStatus::Active)).unwrap();
        let session = match (&self.bound, active.len()) {
            (Some(bound), _) => Ok(bound.clone()),
            (None, 1) => Ok(active.remove(0).id),
            (None, count) => Err(RequestError {
                code: "no_session",
                message: format!("there are {count} active sessions"),
                hint: Some("Pass `session`.".to_owned()),
            }),
        };
        let seconds = self.clock.fetch_add(1, Ordering::SeqCst);
        let receipt = self.receipts.fetch_add(1, Ordering::SeqCst);
        let context = RequestContext {
            store: &store,
            redactor: &self.redactor,
            config: &self.config,
            paths: &paths,
            checkout: self.folder.path().to_owned(),
            technology: &technology,
            overrides: Vec::new(),
            project: ProjectId::new("shop").unwrap(),
            session,
            bound: self.bound.is_some(),
            group: self.group.clone(),
            may_write: self.may_write,
            machine: "test".to_owned(),
            receipt: ReceiptId::new(format!("r_{receipt}")).unwrap(),
            now: Timestamp::from_micros(seconds * 1_000_000),
        };
        work(&context).map_err(|error| {
            if let ToolError::Request(error) = error {
                return error;
            }
            RequestError { code: error.code(), message: error.to_string(), hint: None }
        })
    }
}

impl Contexts {
    fn file(&self) -> PathBuf {
        self.folder.path().join(".handover/store.db")
    }
}

/// A client of an in-process server.
pub(crate) struct TestServer {
    pub(crate) contexts: Arc<Contexts>,
    runtime: tokio::runtime::Runtime,
}

impl TestServer {
    /// With one session, `s1`.
    pub(crate) fn new() -> Self {
        let server = Self::with(|_| {});
        server.open_session("s1");
        server
    }

    /// With no session and other settings.
    pub(crate) fn with(configure: impl FnOnce(&mut Contexts)) -> Self {
        let mut contexts = Contexts {
            folder: tempfile::tempdir().unwrap(),
            redactor: Redactor::default(),
            config: Config::default(),
            clock: AtomicI64::new(1_800_000_000),
            receipts: AtomicU64::new(1),
            bound: None,
            group: None,
            may_write: true,
        };
        fs_err::create_dir_all(contexts.folder.path().join(".handover")).unwrap();
        configure(&mut contexts);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { contexts: Arc::new(contexts), runtime }
    }

    /// Started for one session and group.
    pub(crate) fn bound(session: &str, group: Option<&str>) -> Self {
        let server = Self::with(|contexts| {
            contexts.bound = SessionId::new(session).ok();
            contexts.group = group.map(|group| GroupId::new(group).unwrap());
        });
        server.open_session(session);
        server
    }

    pub(crate) fn read_only() -> Self {
        let server = Self::with(|contexts| contexts.may_write = false);
        server.open_session("s1");
        server
    }

    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.contexts.file()).unwrap()
    }

    pub(crate) fn open_session(&self, id: &str) {
        let new = NewSession {
            id: SessionId::new(id).unwrap(),
            project: ProjectId::new("shop").unwrap(),
            metadata: Redactor::default().clean_json(json!({})),
            now: Timestamp::from_micros(1_800_000_000_000_000),
        };
        self.store().open_session(&new).unwrap();
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.contexts.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Files that tools have written for a session.
    pub(crate) fn artifacts(&self) -> usize {
        fs_err::read_dir(self.path(".handover/artifacts/s1/context")).map_or(0, Iterator::count)
    }

    /// The answer to one JSON-RPC request.
    pub(crate) fn request(&self, method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = http::Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25")
            .body(Full::new(Bytes::from(message.to_string())))
            .unwrap();
        let contexts: Arc<dyn ContextProvider> = self.contexts.clone();
        let body = self.runtime.block_on(async move {
            let response = answer_http(move || Server::shared(contexts.clone()), request).await;
            response.into_body().collect().await.unwrap().to_bytes()
        });
        serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{error} in {body:?}"))
    }

    #[track_caller]
    pub(crate) fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    #[track_caller]
    pub(crate) fn error(&self, method: &str, params: Value) -> (i64, String) {
        let answer = self.request(method, params);
        let code = answer["error"]["code"].as_i64();
        let message = answer["error"]["message"].as_str().unwrap_or_default().to_owned();
        (code.unwrap_or_else(|| panic!("{method}: {answer}")), message)
    }

    /// The structured answer of a tool that succeeds.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], false, "{tool}: {result}");
        // Clients without structured content read the same as text.
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        text
    }

    /// The message of a tool that fails.
    #[track_caller]
    pub(crate) fn fails(&self, tool: &str, arguments: Value) -> String {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}
