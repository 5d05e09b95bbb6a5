//! `handover mcp`, driven as a process with raw lines.

mod faults;
mod generations;
mod programs;
mod resources;
mod tools;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use handover_testkit::TestEnv;
use serde_json::{Value, json};

/// Which generation of the protocol a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    /// 2025-11-25: a handshake first.
    Handshake,
    /// 2026-07-28: every request says everything.
    Inline,
}

pub(crate) const BOTH: [Generation; 2] = [Generation::Handshake, Generation::Inline];

/// A client that has all the time in the world and believes nothing.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    stderr: Option<JoinHandle<String>>,
    generation: Generation,
    last_id: u64,
}

impl Client {
    /// A server that has been greeted.
    pub(crate) fn new(env: &TestEnv, generation: Generation) -> Self {
        Self::with(env, generation, &[])
    }

    /// The same with arguments.
    pub(crate) fn with(env: &TestEnv, generation: Generation, args: &[&str]) -> Self {
        let mut client = Self::silent(env.command().arg("mcp").args(args), generation);
        if generation == Generation::Handshake {
            client.greet("2025-11-25");
        }
        client
    }

    /// A server that has heard nothing yet.
    pub(crate) fn silent(command: &mut Command, generation: Generation) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                // Nothing but the protocol may come here.
                let value = serde_json::from_str(&line.unwrap()).expect("a line of JSON");
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, stderr: Some(stderr), generation, last_id: 0 }
    }

    /// The handshake; the answer to it.
    pub(crate) fn greet(&mut self, version: &str) -> Value {
        let info = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params}));
        let answer = self.answer(id);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    /// What every request of the new generation says about itself.
    pub(crate) fn meta(version: &str) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        })
    }

    /// Sends a request and returns its number.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        if self.generation == Generation::Inline {
            params["_meta"] = Self::meta("2026-07-28");
        }
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// The result of a request that must work.
    #[track_caller]
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The error of a request that must not work.
    #[track_caller]
    pub(crate) fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        let answer = self.request(method, params);
        let code = answer["error"]["code"].as_i64();
        let message = answer["error"]["message"].as_str().unwrap_or_default().to_owned();
        (code.unwrap_or_else(|| panic!("{method}: {answer}")), message)
    }

    /// What a tool answers; it must not be an error.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], false, "{tool}: {result}");
        // Clients that know no structured content read the same as text.
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        text
    }

    /// What a tool says when it refuses.
    #[track_caller]
    pub(crate) fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.result("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The answer to a request; what comes before it is not asked for.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let line = self.line();
            if line["id"] == id {
                return line;
            }
            assert!(line["id"].is_null(), "nobody asked for {line}");
        }
    }

    /// The next line.
    #[track_caller]
    pub(crate) fn line(&mut self) -> Value {
        self.lines.recv_timeout(Duration::from_secs(120)).expect("an answer")
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(&message.to_string());
    }

    pub(crate) fn send_raw(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// Leaves, and returns the exit code and what was said on standard error.
    pub(crate) fn leave(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        self.wait()
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        (code, self.stderr.take().unwrap().join().unwrap())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
