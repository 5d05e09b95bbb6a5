//! Oversized, unauthenticated and slow requests.

use std::io::Write;
use std::time::Duration;

use serde_json::Value;

use crate::fixture::{TestService, has_status, read_all};

fn content_length(bytes: usize) -> [String; 2] {
    [format!("Content-Length: {bytes}"), "Content-Type: application/json".to_owned()]
}

#[test]
fn long_headers_get_431() {
    let service = TestService::start();
    let header = |bytes: usize| [format!("X-Long: {}", "x".repeat(bytes))];
    has_status(&service.raw("GET /health", &header(60_000)), 200);
    for bytes in [66_000, 100_000, 10_000_000] {
        has_status(&service.raw("GET /health", &header(bytes)), 431);
    }
    service.get("/health").is(200);
}

#[test]
fn many_headers_get_431() {
    let service = TestService::start();
    let many = |count: usize| (0..count).map(|n| format!("X-{n}: x")).collect::<Vec<_>>();
    has_status(&service.raw("GET /health", &many(90)), 200);
    has_status(&service.raw("GET /health", &many(101)), 431);
}

#[test]
fn long_uris_get_414() {
    let service = TestService::start();
    let line = |bytes: usize| format!("GET /health?{}", "x".repeat(bytes));
    has_status(&service.raw(&line(16_000), &[]), 200);
    let rejected = service.raw(&line(16_384), &[]);
    has_status(&rejected, 414);
    let body: Value = serde_json::from_str(rejected.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(body["error"]["code"], "too_long");
    has_status(&service.raw(&line(1_000_000), &[]), 431);
}

#[test]
fn large_bodies_get_413_before_they_are_read() {
    let service = TestService::start();
    let post = |path: &str, bytes| service.raw(&format!("POST {path}"), &content_length(bytes));
    has_status(&post("/api/v1/sessions/s1/events", 4 * 1024 * 1024 + 1), 413);
    has_status(&post("/mcp", 4 * 1024 * 1024 + 1), 413);
    has_status(&post("/api/v1/store", 64 * 1024 * 1024 + 1), 413);
    has_status(&post("/login", 4 * 1024 + 1), 413);
}

/// A chunked body does not announce its length.
#[test]
fn large_bodies_without_a_length_are_cut_off() {
    let service = TestService::start();
    let mut stream = service.connect();
    let head = "POST /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    for _ in 0..4 {
        let _ = stream.write_all(chunk.as_bytes());
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    let response = read_all(stream);
    assert!(response.is_empty() || response.starts_with("HTTP/1.1 4"), "{response}");
    service.get("/health").is(200);
}

/// The response arrives although the body never does.
#[test]
fn bodies_of_unauthenticated_clients_are_not_read() {
    let service = TestService::requiring_tokens();
    let wrong = "Authorization: Bearer nonsense".to_owned();
    for path in ["/api/v1/store", "/api/v1/sessions/s1/events", "/mcp", "/runs/x/answers"] {
        let headers = content_length(4_000_000);
        has_status(&service.raw(&format!("POST {path}"), &headers), 401);
        let with_token = [&headers[..], std::slice::from_ref(&wrong)].concat();
        has_status(&service.raw(&format!("POST {path}"), &with_token), 401);
    }
}

/// All at once, because each of them takes as long as the timeout.
#[test]
fn slow_clients_are_disconnected() {
    let service = TestService::start();
    let slowly = |start: &str, drip: &str| {
        let mut stream = service.connect();
        stream.write_all(start.as_bytes()).unwrap();
        let mut writer = stream.try_clone().unwrap();
        let drip = drip.to_owned();
        let writer = std::thread::spawn(move || {
            while writer.write_all(drip.as_bytes()).is_ok() {
                std::thread::sleep(Duration::from_millis(500));
            }
        });
        let reader = std::thread::spawn(move || read_all(stream));
        (reader, writer)
    };
    let host = "HTTP/1.1\r\nHost: localhost\r\n";
    let headers = slowly(&format!("GET /health {host}"), "X-A: b\r\n");
    let length = "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n";
    let body = slowly(&format!("POST /api/v1/sessions/s1/events {host}{length}"), " ");
    let idle = service.connect();
    let mut keep_alive = service.connect();
    write!(keep_alive, "GET /health {host}\r\n").unwrap();

    assert_eq!(read_all(idle), "");
    has_status(&read_all(keep_alive), 200);
    assert_eq!(headers.0.join().unwrap(), "");
    has_status(&body.0.join().unwrap(), 408);
    headers.1.join().unwrap();
    body.1.join().unwrap();
    service.get("/health").is(200);
}
