//! A service that plays a script: one reply per request, and a record of all requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use handover_remote::RemoteStore;
use serde_json::{Value, json};

/// What the service does with one connection.
pub(crate) enum Play {
    /// Responds with a status and a body.
    Reply(u16, String),
    /// Sends these bytes as they are, then closes.
    Raw(Vec<u8>),
    /// Reads the request and closes without responding.
    HangUp,
    /// Reads the request and never responds.
    Silence,
}

impl Play {
    /// The reply of a store that succeeded.
    pub(crate) fn done(value: &Value) -> Self {
        Self::Reply(200, json!({"done": value}).to_string())
    }

    /// An error of the service itself.
    pub(crate) fn error(status: u16, code: &str) -> Self {
        let error =
            json!({"schema": 1, "error": {"code": code, "message": "not now", "hint": null}});
        Self::Reply(status, error.to_string())
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct RecordedRequest {
    /// The request line and headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) struct Service {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<RecordedRequest>>>,
    /// Holds the connections that were never answered; they stay open until then.
    thread: Option<JoinHandle<Vec<TcpStream>>>,
}

impl Service {
    /// Serves one connection for each step.
    pub(crate) fn playing(script: Vec<Play>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<RecordedRequest>>> = Arc::default();
        let seen = Arc::clone(&asked);
        let thread = std::thread::spawn(move || {
            let mut silent = Vec::new();
            for play in script {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
                seen.lock().unwrap().push(read(&stream));
                match play {
                    Play::Reply(status, body) => {
                        let length = body.len();
                        let head = format!(
                            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
                        );
                        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
                    }
                    Play::Raw(bytes) => stream.write_all(&bytes).unwrap(),
                    Play::HangUp => {}
                    Play::Silence => silent.push(stream),
                }
            }
            silent
        });
        Self { url, asked, thread: Some(thread) }
    }

    pub(crate) fn store(&self) -> RemoteStore {
        self.store_within(None, Duration::from_secs(20))
    }

    pub(crate) fn store_within(&self, token: Option<&str>, patience: Duration) -> RemoteStore {
        RemoteStore::new(&self.url.parse().unwrap(), token.map(str::to_owned), patience)
    }

    /// Waits for the end of the script and returns the requests.
    pub(crate) fn finish(mut self) -> Vec<RecordedRequest> {
        self.thread.take().unwrap().join().unwrap();
        self.asked.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> RecordedRequest {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "the head ends early: {head}");
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.trim().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    RecordedRequest { head, body: serde_json::from_slice(&body).unwrap() }
}
