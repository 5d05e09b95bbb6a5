//! A client of live events.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use handover_testkit::Service;
use serde_json::Value;

/// One event of the stream.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) id: String,
    pub(super) event: String,
    pub(super) data: Value,
}

/// A client of the event stream.
pub(super) struct Listener {
    lines: std::io::Lines<BufReader<TcpStream>>,
}

impl Listener {
    pub(super) fn new(service: &Service, path: &str, headers: &str) -> Self {
        let address = service.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut lines = BufReader::new(stream).lines();
        let status = lines.next().unwrap().unwrap();
        assert!(status.contains(" 200 "), "{status}");
        let mut listener = Self { lines };
        // After the greeting, no event is missed.
        while !listener.lines.next().unwrap().unwrap().starts_with(':') {}
        listener
    }

    /// The next event; none once the stream has ended.
    pub(super) fn next(&mut self) -> Option<Heard> {
        let mut heard = Heard::default();
        loop {
            let line = self.lines.next()?.unwrap();
            match line.split_once(": ") {
                Some(("id", id)) => heard.id = id.to_owned(),
                Some(("event", event)) => heard.event = event.to_owned(),
                Some(("data", data)) => heard.data = serde_json::from_str(data).unwrap(),
                _ if line.is_empty() && !heard.event.is_empty() => return Some(heard),
                _ => {}
            }
        }
    }
}
