//! Which requests are admitted: host, origin, token.

use handover_model::{TokenKind, TokenScope};
use handover_store::Tokens;
use serde_json::json;

use crate::fixture::{PROJECT, TestService, bearer};

/// Every kind of route that needs a token.
const PROTECTED: &[&str] = &[
    "/",
    "/sessions",
    "/events",
    "/mcp",
    "/api/v1/sessions",
    "/api/v1/sessions/s1",
    "/api/v1/sessions/s1/groups",
    "/api/v1/sessions/s1/packages",
    "/api/v1/sessions/s1/reasoning",
    "/api/v1/sessions/s1/events",
    "/api/v1/sessions/s1/search?q=x",
    "/api/v1/packages/1",
    "/api/v1/receipts",
    "/api/v1/errors",
    "/api/v1/strategies",
    "/api/v1/runs",
    "/api/v1/status",
    "/api/v1/stats",
];

#[test]
fn local_clients_need_no_token() {
    let service = TestService::start();
    service.get("/api/v1/sessions").is(200);
    service.get("/").is(200);
    let body = json!({"role": "developer", "phase": "risks", "content": "It may hang."});
    service.post("/api/v1/sessions/s1/reasoning", &body).is(200);
}

#[test]
fn a_token_is_required_everywhere_but_for_health_and_login() {
    let service = TestService::requiring_tokens();
    service.get("/health").is(200);
    service.get("/login?once=abc").is(200);
    for path in PROTECTED {
        service.get(path).fails(401, "unauthorized");
    }
}

#[test]
fn wrong_tokens_are_rejected() {
    let service = TestService::requiring_tokens();
    let token = service.token(TokenScope::Read);
    service.get_as(&token, "/api/v1/sessions").is(200);
    let (rest, last) = token.split_at(token.len() - 1);
    let altered = format!("{rest}{}", if last == "0" { "1" } else { "0" });
    let truncated = &token[..token.len() - 10];
    for wrong in ["nonsense", "hnd_", "hnd_a_b", "", &altered, truncated] {
        service.get_as(wrong, "/api/v1/sessions").fails(401, "unauthorized");
    }
    let basic = [("authorization", "Basic dXNlcjpwYXNz")];
    service.send("GET", "/api/v1/sessions", &basic, "").fails(401, "unauthorized");
}

#[test]
fn a_wrong_token_fails_even_where_none_is_required() {
    let service = TestService::start();
    service.get_as("nonsense", "/api/v1/sessions").fails(401, "unauthorized");
}

#[test]
fn tokens_expire_and_can_be_revoked() {
    let service = TestService::requiring_tokens();
    let expiring = service.token_for(TokenScope::Read, Some(PROJECT), TokenKind::Bearer, Some(60));
    let revoked = service.token(TokenScope::Read);
    service.get_as(&expiring, "/api/v1/sessions").is(200);
    service.get_as(&revoked, "/api/v1/sessions").is(200);

    service.contexts.advance(61);
    service.get_as(&expiring, "/api/v1/sessions").fails(401, "unauthorized");

    let store = service.contexts.store(None);
    let id = revoked.split('_').nth(1).unwrap().parse().unwrap();
    assert!(store.end_token(&id, service.contexts.now()).unwrap());
    service.get_as(&revoked, "/api/v1/sessions").fails(401, "unauthorized");
}

#[test]
fn a_login_link_is_not_a_bearer_token() {
    let service = TestService::requiring_tokens();
    let link = service.token_for(TokenScope::Admin, Some(PROJECT), TokenKind::Login, None);
    service.get_as(&link, "/api/v1/sessions").fails(401, "unauthorized");
}

#[test]
fn other_hosts_are_rejected() {
    let service = TestService::with_policy(false, &["team.example"]);
    for host in ["evil.example", "localhost.evil.example", "10.0.0.1"] {
        service.send("GET", "/health", &[("host", host)], "").fails(403, "forbidden");
    }
    for host in ["team.example", "TEAM.example:443", "localhost", "[::1]:80"] {
        service.send("GET", "/health", &[("host", host)], "").is(200);
    }
}

#[test]
fn cross_origin_requests_are_rejected() {
    let service = TestService::start();
    let path = "/api/v1/sessions/s1/events";
    let body = r#"{"type": "verdict"}"#;
    let json = ("content-type", "application/json");
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        let headers = [json, ("origin", origin)];
        service.send("POST", path, &headers, body).fails(403, "forbidden");
        service.send("GET", "/api/v1/sessions", &[headers[1]], "").fails(403, "forbidden");
    }
    let cross_site = [json, ("sec-fetch-site", "cross-site")];
    service.send("POST", path, &cross_site, body).fails(403, "forbidden");
    let own = service.url.clone();
    service.send("POST", path, &[json, ("origin", &own)], body).is(200);
}

#[test]
fn a_cookie_alone_cannot_write() {
    let service = TestService::requiring_tokens();
    let cookie = format!("theme=dark; handover_token={}", service.token(TokenScope::Write));
    let path = "/api/v1/sessions/s1/events";
    let body = r#"{"type": "verdict"}"#;
    let mut headers = vec![("content-type", "application/json"), ("cookie", cookie.as_str())];
    service.send("GET", "/api/v1/sessions", &headers[1..], "").is(200);
    service.send("POST", path, &headers, body).fails(403, "forbidden");
    headers.push(("sec-fetch-site", "same-origin"));
    service.send("POST", path, &headers, body).is(200);
}

#[test]
fn a_bearer_token_wins_over_a_cookie() {
    let service = TestService::requiring_tokens();
    let cookie = format!("handover_token={}", service.token(TokenScope::Read));
    let wrong = bearer("nonsense");
    let headers = [("cookie", cookie.as_str()), ("authorization", &wrong)];
    service.send("GET", "/api/v1/sessions", &headers, "").fails(401, "unauthorized");
}
