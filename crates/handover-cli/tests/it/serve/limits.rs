//! Limits of the process. Those of requests are tested in handover-serve.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use handover_testkit::Service;

use crate::project;

/// A raw connection.
fn connect(service: &Service) -> TcpStream {
    let stream = TcpStream::connect(service.url.trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream
}

/// Reads everything until the connection ends.
fn answer(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // Unread data resets the connection after the response.
    let _ = stream.read_to_end(&mut text);
    String::from_utf8(text).unwrap()
}

/// The answer on a new connection.
fn ask(service: &Service, path: &str) -> String {
    let mut stream = connect(service);
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    answer(stream)
}

/// A hundred connections with half a request each, of a service that has room for a hundred.
fn half_open(service: &Service, start: &str) -> Vec<TcpStream> {
    let mut open: Vec<TcpStream> = (0..100).map(|_| connect(service)).collect();
    for stream in &mut open {
        stream.write_all(start.as_bytes()).unwrap();
    }
    open
}

#[test]
fn half_a_request_keeps_nobody_out() {
    let env = project();
    let service = Service::with_files(&env, 200);
    for start in [
        "GET /health HTTP/1.1\r\nHost: local",
        "POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{",
        "",
    ] {
        let held = half_open(&service, start);
        // Each on a connection of its own: one that is kept open is idle between requests, and may be evicted.
        for _ in 0..20 {
            assert!(ask(&service, "/api/v1/sessions").starts_with("HTTP/1.1 200"), "{start}");
        }
        drop(held);
    }
}

/// Connections are refused before they exhaust the file handles that the store needs.
#[test]
fn idle_connections_release_store_files() {
    let env = project();
    let service = Service::with_files(&env, 200);
    let mut idle: Vec<TcpStream> = (0..100).map(|_| connect(&service)).collect();
    // A response to the last one shows that all are connected.
    let mut last = idle.pop().unwrap();
    write!(last, "GET /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut start = [0; 12];
    last.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    // The one that was idle longest makes room, without an answer.
    assert!(ask(&service, "/health").starts_with("HTTP/1.1 200"));
    assert_eq!(answer(idle.remove(0)), "");
    drop((idle, last));
    let freed = || {
        TcpStream::connect(service.url.trim_start_matches("http://")).is_ok_and(|mut stream| {
            let _ = stream
                .write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            answer(stream).starts_with("HTTP/1.1 200")
        })
    };
    assert!((0..100).any(|_| freed() || {
        std::thread::sleep(Duration::from_millis(50));
        false
    }));
}

/// glibc reserves 64 MiB of address space for every thread with its own arena, and
/// hardly ever returns memory from it.
#[test]
#[cfg(target_env = "gnu")]
fn limits_memory_arenas() {
    let env = project();
    let service = Service::start(&env, &[]);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| (0..20).for_each(|_| _ = service.get("/api/v1/sessions").is(200)));
        }
    });
    let status = fs_err::read_to_string(format!("/proc/{}/status", service.pid())).unwrap();
    let field = |name: &str| -> u64 {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    assert!(field("Threads:") > 8, "{status}");
    assert!(field("VmSize:") < 8 * 64 * 1024, "{status}");
}
