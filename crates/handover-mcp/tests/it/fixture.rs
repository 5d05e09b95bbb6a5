//! A server over a SQLite store, called in process.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use handover_mcp::{ContextProvider, Server, answer_http};
use handover_model::{GroupId, SessionId};
use handover_sqlite::SqliteStore;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use crate::contexts::{Contexts, PROJECT};

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
        let mut contexts = Contexts::new();
        // Records are ordered by time.
        contexts.tick = 1;
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
        self.contexts.store(None)
    }

    pub(crate) fn open_session(&self, id: &str) {
        self.contexts.open_session(None, PROJECT, id);
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.contexts.root(None).join(path)
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
