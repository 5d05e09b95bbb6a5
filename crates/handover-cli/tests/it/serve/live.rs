//! Live events, read off the wire.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use handover_testkit::Service;
use serde_json::Value;

use crate::project;

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

#[test]
fn listeners_get_changes_and_resume() {
    let env = project();
    env.run(["session", "new", "s2"]).ok();
    let service = Service::start(&env, &[]);
    let mut all = Listener::new(&service, "/events", "");
    let mut one = Listener::new(&service, "/events?session=s2", "");
    let think = |session: &str, text: &str| {
        let args = ["reasoning", "add", "--role", "qa_expert", "--phase", "risks", text];
        env.run(args.iter().chain(&["--session", session])).ok();
    };
    think("s1", "first");
    think("s2", "second");
    let first = all.next().unwrap();
    assert_eq!((first.event.as_str(), &first.data["session"]), ("reasoning", &"s1".into()));
    assert_eq!(first.data["detail"], "risks");
    assert_eq!(all.next().unwrap().data["session"], "s2");
    assert_eq!(one.next().unwrap().data["session"], "s2");
    drop(all);
    think("s1", "while nobody listens");
    let again = format!("Last-Event-ID: {}\r\n", first.id);
    let mut back = Listener::new(&service, "/events", &again);
    assert_eq!(back.next().unwrap().data["session"], "s2");
    let missed = back.next().unwrap();
    assert_eq!(missed.data["session"], "s1");
    env.run(["assemble", "--role", "developer", "--session", "s1", "--deliver"]).ok();
    let received: Vec<(String, Value)> =
        (0..2).map(|_| back.next().unwrap()).map(|h| (h.event, h.data["detail"].clone())).collect();
    let receipt = |state: &str| ("receipt".to_owned(), Value::from(state));
    assert!(received.contains(&receipt("assembled")), "{received:?}");
    // An id from another store causes a reset.
    let mut lost = Listener::new(&service, "/events", "Last-Event-ID: 999999\r\n");
    assert_eq!(lost.next().unwrap().event, "reset");
}

#[test]
fn announces_its_shutdown_to_listeners() {
    let env = project();
    let service = Service::start(&env, &[]);
    let mut listener = Listener::new(&service, "/events", "");
    service.stop(&env).ok();
    let end = listener.next().unwrap();
    assert_eq!((end.event.as_str(), &end.data["reason"]), ("end", &"shutdown".into()));
    assert!(listener.next().is_none());
}
