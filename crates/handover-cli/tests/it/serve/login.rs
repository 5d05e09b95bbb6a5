//! A browser logs in with a one-time link.

use handover_testkit::Service;

use crate::project;

#[test]
fn a_login_link_works_once_and_sets_a_cookie() {
    let env = project();
    let service = {
        super::token(&env, "read", &[]);
        Service::start(&env, &["--require-token"])
    };
    let made = env.run(["token", "link", "--scope", "read", "--json"]).ok().json();
    let link = made["token"]["link"].as_str().unwrap().to_owned();
    let path = link.strip_prefix(&service.url).unwrap();
    let once = path.split_once("once=").unwrap().1;
    // Link previews do not consume it.
    for _ in 0..2 {
        let page = service.get(path).is(200);
        assert!(page.body.contains(once) && page.header("cache-control") == "no-store");
    }
    service.get("/login?once=%22%3E%3Cscript%3E").is(400);
    // The link is not a token.
    let header = super::bearer(once);
    service.send("GET", "/", &[("authorization", &header)], "").is(401);
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let form = format!("once={once}");
    let elsewhere = [kind, ("origin", "http://evil.example")];
    service.send("POST", "/login", &elsewhere, &form).is(403);
    let own = [kind, ("origin", service.url.as_str())];
    let entered = service.send("POST", "/login", &own, &form).is(303);
    assert_eq!(entered.header("location"), "/");
    let cookie = entered.header("set-cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    assert!(!cookie.contains("Secure"), "{cookie}");
    service.send("POST", "/login", &own, &form).is(401);
    let cookie = cookie.split(';').next().unwrap();
    service.send("GET", "/", &[("cookie", cookie)], "").is(200);
    service.send("GET", "/api/v1/sessions", &[("cookie", cookie)], "").is(200);
    let body = "{\"type\": \"verdict\"}";
    let write = [("cookie", cookie), ("content-type", "application/json")];
    service.send("POST", "/api/v1/sessions/s1/events", &write, body).is(403);
}
