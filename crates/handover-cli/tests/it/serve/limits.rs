//! Clients that send too much, too slowly or nothing at all.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use handover_testkit::Service;
use serde_json::Value;

use super::token;
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

/// The answer to a request with these lines.
fn ask(service: &Service, first: &str, headers: &[String]) -> String {
    let mut stream = connect(service);
    let mut head = format!("{first} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    let _ = write!(stream, "{head}\r\n");
    answer(stream)
}

#[track_caller]
fn is(answer: &str, status: u16) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {answer}");
}

#[test]
fn limits_request_heads() {
    let env = project();
    let service = Service::start(&env, &[]);
    let header = |bytes: usize| [format!("X-Long: {}", "x".repeat(bytes))];
    is(&ask(&service, "GET /health", &header(60_000)), 200);
    for bytes in [66_000, 100_000, 10_000_000] {
        is(&ask(&service, "GET /health", &header(bytes)), 431);
    }
    let many = |count: usize| (0..count).map(|n| format!("X-{n}: x")).collect::<Vec<_>>();
    is(&ask(&service, "GET /health", &many(90)), 200);
    is(&ask(&service, "GET /health", &many(101)), 431);
    let long = |bytes: usize| format!("GET /health?{}", "x".repeat(bytes));
    is(&ask(&service, &long(16_000), &[]), 200);
    let refused = ask(&service, &long(16_384), &[]);
    is(&refused, 414);
    let body: Value = serde_json::from_str(refused.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(body["error"]["code"], "too_long");
    is(&ask(&service, &long(1_000_000), &[]), 431);
    service.get("/health").is(200);
}

/// The answer comes although the body never does.
#[test]
fn reads_no_body_without_a_token() {
    let env = project();
    token(&env, "read", &[]);
    let service = Service::start(&env, &["--require-token"]);
    let much = ["Content-Length: 50000000".to_owned(), "Content-Type: application/json".to_owned()];
    for path in ["/api/v1/store", "/api/v1/sessions/s1/events", "/mcp", "/runs/x/answers"] {
        let wrong = "Authorization: Bearer nonsense".to_owned();
        let length = if path == "/api/v1/store" { &much[0] } else { "Content-Length: 4000000" };
        let headers = [length.to_owned(), much[1].clone()];
        is(&ask(&service, &format!("POST {path}"), &headers), 401);
        is(&ask(&service, &format!("POST {path}"), &[&headers[..], &[wrong]].concat()), 401);
    }
    is(&ask(&service, "POST /login", &much), 413);
}

/// All in parallel, because each takes as long as the service's timeout.
#[test]
fn times_out_slow_clients() {
    let env = project();
    let service = Service::start(&env, &[]);
    let slowly = |start: &str, drop: &str| {
        let mut stream = connect(&service);
        stream.write_all(start.as_bytes()).unwrap();
        let mut writer = stream.try_clone().unwrap();
        let drop = drop.to_owned();
        let writer = std::thread::spawn(move || {
            while writer.write_all(drop.as_bytes()).is_ok() {
                std::thread::sleep(Duration::from_millis(500));
            }
        });
        let reader = std::thread::spawn(move || answer(stream));
        (reader, writer)
    };
    let host = "HTTP/1.1\r\nHost: localhost\r\n";
    let head = slowly(&format!("GET /health {host}"), "X-A: b\r\n");
    let body = "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    let body = slowly(&format!("POST /api/v1/sessions/s1/events {host}{body}"), " ");
    let idle = connect(&service);
    let mut kept = connect(&service);
    write!(kept, "GET /health {host}\r\n").unwrap();
    // The service closes all of them, or this test hangs.
    assert_eq!(answer(idle), "");
    is(&answer(kept), 200);
    assert_eq!(head.0.join().unwrap(), "");
    is(&body.0.join().unwrap(), 408);
    head.1.join().unwrap();
    body.1.join().unwrap();
    service.get("/health").is(200);
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
    assert_eq!(answer(connect(&service)), "", "there is no room");
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
