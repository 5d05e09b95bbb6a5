//! Browsers log in with a one-time link.

use handover_model::{TokenKind, TokenScope};

use crate::fixture::{PROJECT, TestService};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

fn link(service: &TestService, seconds: i64) -> String {
    service.token_for(TokenScope::Read, Some(PROJECT), TokenKind::Login, Some(seconds))
}

#[test]
fn a_link_works_once_and_sets_a_cookie() {
    let service = TestService::requiring_tokens();
    let once = link(&service, 600);
    // Link previews do no harm.
    for _ in 0..2 {
        let page = service.get(&format!("/login?once={once}")).is(200);
        assert!(page.body.contains(&once));
        assert_eq!(page.header("cache-control"), "no-store");
        assert!(page.header("content-security-policy").contains("default-src 'none'"));
    }
    let form = format!("once={once}");
    let own = [FORM, ("origin", service.url.as_str())];
    let redirect = service.send("POST", "/login", &own, &form).is(303);
    assert_eq!(redirect.header("location"), "/");
    let cookie = redirect.header("set-cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    assert!(!cookie.contains("Secure"), "{cookie}");
    service.send("POST", "/login", &own, &form).fails(401, "unauthorized");

    let cookie = cookie.split(';').next().unwrap();
    service.send("GET", "/", &[("cookie", cookie)], "").is(200);
    service.send("GET", "/api/v1/sessions", &[("cookie", cookie)], "").is(200);
    // The cookie has the scope of the link.
    let write = [("cookie", cookie), ("content-type", "application/json"), own[1]];
    let body = r#"{"type": "verdict"}"#;
    service.send("POST", "/api/v1/sessions/s1/events", &write, body).fails(403, "forbidden");
    service.contexts.advance(31 * 86_400);
    service.send("GET", "/", &[("cookie", cookie)], "").fails(401, "unauthorized");
}

#[test]
fn cookies_of_tls_logins_are_secure() {
    let service = TestService::requiring_tokens();
    let form = format!("once={}", link(&service, 600));
    let origin = service.url.replace("http://", "https://");
    let redirect = service.send("POST", "/login", &[FORM, ("origin", &origin)], &form).is(303);
    assert!(redirect.header("set-cookie").contains("; Secure"), "{redirect:?}");
}

#[test]
fn invalid_links_are_rejected() {
    let service = TestService::requiring_tokens();
    service.get("/login?once=%22%3E%3Cscript%3E").is(400);
    service.get("/login").is(400);
    let origin = ("origin", service.url.as_str());
    let log_in = |form: &str| service.send("POST", "/login", &[FORM, origin], form);
    for form in ["once=", "once=nonsense", "other=1", ""] {
        log_in(form).fails(401, "unauthorized");
    }
    // A bearer token is not a link.
    let token = service.token(TokenScope::Admin);
    log_in(&format!("once={token}")).fails(401, "unauthorized");
    let expired = link(&service, 10);
    service.contexts.advance(11);
    log_in(&format!("once={expired}")).fails(401, "unauthorized");
    let elsewhere = [FORM, ("origin", "http://evil.example")];
    let form = format!("once={}", link(&service, 600));
    service.send("POST", "/login", &elsewhere, &form).fails(403, "forbidden");
}
