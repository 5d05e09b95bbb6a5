//! Malformed requests, byte by byte: rejected or ignored, never executed, and the service keeps running.

use std::io::{BufRead, BufReader, Write};

use handover_store::Sessions;

use crate::fixture::{TestService, read_all};

/// The status of the response to a complete request.
fn send(service: &TestService, request: &str) -> u16 {
    let mut stream = service.connect();
    stream.write_all(request.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.split(' ').next());
    status.and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{line:?}"))
}

/// The same for an empty or incomplete request from a client that sends nothing more. None if the
/// connection is simply closed.
fn send_and_hang_up(service: &TestService, request: &[u8]) -> Option<u16> {
    let mut stream = service.connect();
    // The service may close before everything is written.
    let _ = stream.write_all(request);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let response = read_all(stream);
    response.strip_prefix("HTTP/1.1 ")?.split(' ').next()?.parse().ok()
}

#[track_caller]
fn assert_untouched(service: &TestService) {
    let counts = service.contexts.store(None).session_counts(&"s1".parse().unwrap()).unwrap();
    assert_eq!((counts.packages, counts.reasoning, counts.receipts), (0, 0, 0));
    service.get("/health").is(200);
}

#[test]
fn rejects_what_is_not_http() {
    let service = TestService::start();
    for request in [
        &b"\r\n\r\n\r\n\r\n"[..],
        b"hello\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nBad Name: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
        b"GET /\x7f HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"G\xc3\x89T / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"",
    ] {
        let status = send_and_hang_up(&service, request);
        let refused = status.is_none_or(|status| (400..500).contains(&status) || status == 505);
        assert!(refused, "{status:?} for {:?}", String::from_utf8_lossy(request));
    }
    assert_untouched(&service);
}

/// A body of ambiguous length can smuggle in a second request.
#[test]
fn ambiguous_lengths_execute_nothing() {
    let service = TestService::start();
    let body = r#"{"role": "developer", "phase": "risks", "content": "x"}"#;
    let post = |lengths: &str, body: &str| {
        format!(
            "POST /api/v1/sessions/s1/reasoning HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             {lengths}\r\n\r\n{body}"
        )
    };
    for lengths in [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: -1",
        "Content-Length: +55",
        "Content-Length: 5 5",
        "Content-Length: 0x37",
        "Content-Length: 99999999999999999999999999",
        "Transfer-Encoding: identity, chunked, identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip",
        "Transfer-Encoding: \x0bchunked",
    ] {
        let status = send_and_hang_up(&service, post(lengths, body).as_bytes());
        assert!(
            status.is_none_or(|status| (400..500).contains(&status)),
            "{status:?} for {lengths}"
        );
    }
    // Less than announced, and invalid chunks.
    for (lengths, body) in [
        ("Content-Length: 1000", body),
        ("Transfer-Encoding: chunked", "zz\r\nhello\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "ffffffffffffffffff\r\nhello"),
        ("Transfer-Encoding: chunked", "5\r\nhel"),
        ("Content-Length: 0", ""),
    ] {
        let status = send_and_hang_up(&service, post(lengths, body).as_bytes());
        assert!(
            status.is_none_or(|status| (400..500).contains(&status)),
            "{status:?} for {lengths} {body}"
        );
    }
    assert_untouched(&service);
    let right = format!("Content-Length: {}", body.len());
    assert_eq!(send(&service, &post(&right, body)), 200);
}

#[test]
fn paths_cannot_reach_files() {
    let service = TestService::start();
    let root = service.contexts.root(None);
    fs_err::write(root.join("secret.txt"), "the content of a file").unwrap();
    for path in [
        "/../secret.txt",
        "/secret.txt",
        "/assets/../secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/%2e%2e/%2e%2e/secret.txt",
        "//secret.txt",
        "/./secret.txt",
        "/secret.txt%00.css",
        "/.handover/store.db",
        "/api/v1/../../secret.txt",
        "/api/v1/sessions/..%2f..%2fsecret.txt",
        "/packages/..%2fsecret.txt",
        "/receipts/%2e%2e",
        "/runs/%00",
        "/sessions/%ff%fe",
        "/%",
        "/%zz",
    ] {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut stream = service.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let response = read_all(stream);
        assert!(response.starts_with("HTTP/1.1 4"), "{path}: {}", response.lines().next().unwrap());
        assert!(!response.contains("the content of a file") && !response.contains("SQLite format"));
    }
}

#[test]
fn other_methods_change_nothing() {
    let service = TestService::start();
    let paths = [
        "/",
        "/health",
        "/events",
        "/mcp",
        "/login",
        "/api/v1/sessions/s1/events",
        "/api/v1/store",
    ];
    for path in paths {
        for method in
            ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "OPTIONS", "PROPFIND", "get", "X"]
        {
            let request =
                format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
            let status = send(&service, &request);
            assert!((400..500).contains(&status), "{method} {path}: {status}");
        }
    }
    assert_untouched(&service);
}

/// A browser that was redirected here under another name sends that name.
#[test]
fn a_request_names_the_service_in_every_form() {
    let service = TestService::start();
    for (request, expected) in [
        ("GET /api/v1/sessions HTTP/1.1\r\nHost: evil.example\r\n", 403),
        ("GET /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n", 403),
        ("GET /api/v1/sessions HTTP/1.1\r\nHost: localhost.\r\n", 403),
        ("GET /api/v1/sessions HTTP/1.1\r\nHost: evil.example@localhost\r\n", 403),
        ("GET /api/v1/sessions HTTP/1.1\r\nHost: localhost:4747:80\r\n", 403),
        ("GET /api/v1/sessions HTTP/1.1\r\nHost: [::1\r\n", 403),
        ("GET /api/v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\n", 200),
    ] {
        assert_eq!(send(&service, &format!("{request}\r\n")), expected, "{request}");
    }
}
