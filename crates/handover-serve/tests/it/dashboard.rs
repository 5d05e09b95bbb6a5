//! Pages over HTTP: headers, methods, cookies. Their content is tested in handover-web.

use handover_model::TokenScope;
use serde_json::json;

use crate::fixture::TestService;

#[test]
fn pages_carry_security_headers() {
    let service = TestService::start();
    for path in ["/", "/sessions/s1", "/nothing/here"] {
        let page = service.get(path);
        assert!(page.header("content-type").starts_with("text/html"), "{path}");
        assert!(page.header("content-security-policy").contains("default-src 'none'"), "{path}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        assert_eq!(page.header("referrer-policy"), "same-origin");
        assert_eq!(page.header("cache-control"), "no-store");
    }
    service.get("/").is(200);
    service.get("/nothing/here").is(404);
}

#[test]
fn assets_are_cached_forever() {
    let service = TestService::start();
    let page = service.get("/").is(200).body;
    let path = page.split('"').find(|part| part.starts_with("/assets/style.")).unwrap();
    let asset = service.get(path).is(200);
    assert!(asset.header("content-type").starts_with("text/css"));
    assert!(asset.header("cache-control").contains("immutable"));
    service.get("/assets/style.000000000000.css").is(404);
}

#[test]
fn only_get_head_and_post_are_allowed() {
    let service = TestService::start();
    for method in ["DELETE", "PUT", "PATCH"] {
        service.send(method, "/", &[], "").is(405);
    }
    assert_eq!(service.send("HEAD", "/", &[], "").is(200).body, "");
    service.send("POST", "/", &[], "").is(404);
}

#[test]
fn the_theme_is_kept_in_a_cookie() {
    let service = TestService::start();
    let chosen = service.get("/theme?to=dark&back=/sessions").is(303);
    assert_eq!(chosen.header("location"), "/sessions");
    let cookie = chosen.header("set-cookie").split(';').next().unwrap().to_owned();
    let page = service.send("GET", "/", &[("cookie", &cookie)], "").is(200);
    assert!(page.body.contains("data-theme=\"dark\""));
    assert!(service.get("/").body.contains("data-theme=\"auto\""));
}

#[test]
fn query_and_form_are_decoded() {
    let service = TestService::start();
    let page = service.get("/search?q=a%20%3Cb%3E").is(200).body;
    assert!(page.contains("a &lt;b&gt;") && !page.contains("<b>"), "{page}");
}

#[test]
fn the_token_cookie_never_reaches_a_page() {
    let service = TestService::requiring_tokens();
    let token = service.token(TokenScope::Read);
    let cookie = format!("handover_token={token}");
    let page = service.send("GET", "/", &[("cookie", &cookie)], "").is(200);
    assert!(!page.body.contains(&token));
}

#[test]
fn a_visit_after_a_pause_is_remembered() {
    let service = TestService::start();
    let cookies = |cookie: &str| -> Vec<String> {
        let page = service.send("GET", "/", &[("cookie", cookie)], "").is(200);
        let all = page.headers.get_all("set-cookie").iter();
        all.map(|cookie| cookie.to_str().unwrap().split('=').next().unwrap().to_owned()).collect()
    };
    assert_eq!(cookies("a=b"), ["handover_seen"]);
    let back = cookies("handover_seen=2020-01-01T00:00:00Z");
    assert_eq!(back, ["handover_before", "handover_seen"]);
}

/// Pages are shared by those who ask at once, but never across a change.
#[test]
fn a_page_shows_what_was_written_just_before() {
    let service = TestService::requiring_tokens();
    let (one, two) = (service.token(TokenScope::Write), service.token(TokenScope::Read));
    for nth in 0..10 {
        let thought = format!("thought number {nth}");
        for reader in [&one, &two] {
            let page = service.get_as(reader, "/sessions/s1/reasoning").is(200).body;
            assert!(!page.contains(&thought), "{page}");
        }
        let body = json!({"role": "developer", "phase": "risks", "content": thought});
        service.post_as(&one, "/api/v1/sessions/s1/reasoning", &body).is(200);
        for reader in [&one, &two] {
            let page = service.get_as(reader, "/sessions/s1/reasoning").is(200).body;
            assert!(page.contains(&thought), "{page}");
        }
    }
    let forms = |token: &str| {
        service.get_as(token, "/sessions/s1").is(200).body.contains("<form class=\"act\"")
    };
    assert_eq!(
        [forms(&one), forms(&two), forms(&one)],
        [true, false, true],
        "with their own rights"
    );
}

#[test]
fn a_picture_has_its_own_policy() {
    let service = TestService::start();
    let picture = service.get("/sessions/s1/picture.svg").is(200);
    assert_eq!(picture.header("content-type"), "image/svg+xml; charset=utf-8");
    let policy = picture.header("content-security-policy");
    assert_eq!(policy, "default-src 'none'; style-src 'unsafe-inline'");
    assert_eq!(picture.header("x-content-type-options"), "nosniff");
    service.get("/sessions/none/picture.svg").is(404);
    let locked = TestService::requiring_tokens();
    locked.get("/sessions/s1/picture.svg").is(401);
}
