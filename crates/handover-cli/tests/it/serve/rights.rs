//! Tokens: who has access, and who may write.

use handover_testkit::{Reply, Service};
use serde_json::{Value, json};

use super::{bearer, token};
use crate::project;

/// Every route except health.
const READS: &[&str] = &[
    "/",
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

fn writes() -> Vec<(&'static str, Value)> {
    vec![
        ("/api/v1/sessions/s1/packages", json!({"text": "# A\nb", "kind": "research"})),
        (
            "/api/v1/sessions/s1/reasoning",
            json!({"role": "developer", "phase": "risks", "content": "x"}),
        ),
        ("/api/v1/sessions/s1/events", json!({"type": "verdict"})),
        ("/api/v1/sessions/s1/assemble", json!({"role": "developer"})),
        ("/api/v1/sessions/s1/brief", json!({"role": "developer"})),
        ("/api/v1/sessions/s1/debrief", json!({"role": "developer", "text": "x"})),
        ("/api/v1/receipts/r_1", json!({"state": "confirmed"})),
    ]
}

fn post(service: &Service, token: Option<&str>, path: &str, body: &Value) -> Reply {
    let bearer = token.map(bearer).unwrap_or_default();
    let mut headers = vec![("content-type", "application/json")];
    if token.is_some() {
        headers.push(("authorization", &bearer));
    }
    service.send("POST", path, &headers, &body.to_string())
}

fn store(call: Value) -> Value {
    json!({"call": {"within": null, "call": call}})
}

#[test]
fn only_health_works_without_a_token() {
    let env = project();
    let error = env.run(["serve", "--bind", "0.0.0.0", "--port", "0", "--json"]).fails(2).error();
    assert_eq!(error["code"], "no_token");
    let token = token(&env, "read", &[]);
    // All addresses of the machine: this one is reached by its loopback address too.
    let service = Service::start(&env, &["--bind", "0.0.0.0"]);
    let url = service.url.replace("0.0.0.0", "127.0.0.1");
    let service = service.known_as(url);
    service.get("/health").is(200);
    for path in READS {
        service.get(path).is(401);
        service.send("GET", path, &[("authorization", "Bearer nonsense")], "").is(401);
        let (rest, last) = token.split_at(token.len() - 1);
        let wrong = bearer(&format!("{rest}{}", if last == "0" { "1" } else { "0" }));
        service.send("GET", path, &[("authorization", &wrong)], "").is(401);
    }
    for (path, body) in writes() {
        post(&service, None, path, &body).is(401);
    }
    let sessions = store(json!({"method": "sessions", "arguments": {"status": null}}));
    post(&service, None, "/api/v1/store", &sessions).is(401);
    let begin = json!({"begin": {"within": null, "mode": "exclusive"}});
    post(&service, None, "/api/v1/store", &begin).is(401);
    let good = bearer(&token);
    service.send("GET", "/api/v1/sessions", &[("authorization", &good)], "").is(200);
    service.send("GET", "/", &[("authorization", &good)], "").is(200);
}

#[test]
fn a_read_token_cannot_write() {
    let env = project();
    let (reader, writer) = (token(&env, "read", &[]), token(&env, "write", &[]));
    let service = Service::start(&env, &["--require-token"]);
    for (path, body) in writes() {
        let reply = post(&service, Some(&reader), path, &body).is(403);
        assert_eq!(reply.json()["error"]["code"], "forbidden", "{path}");
    }
    let open = json!({"method": "open_session", "arguments": {"new": {
        "id": "s9", "project": "project", "metadata": {}, "now": "2026-11-15T10:00:00Z"}}});
    let denied = post(&service, Some(&reader), "/api/v1/store", &store(open)).is(200).json();
    assert_eq!(denied["failed"]["denied"]["need"], "write", "{denied}");
    let begin = json!({"begin": {"within": null, "mode": "exclusive"}});
    post(&service, Some(&reader), "/api/v1/store", &begin).is(403);
    let purge = json!({"method": "purge_session", "arguments": {"id": "s1"}});
    let denied = post(&service, Some(&writer), "/api/v1/store", &store(purge)).is(200).json();
    assert_eq!(denied["failed"]["denied"]["need"], "admin", "{denied}");
    let tokens = json!({"method": "tokens", "arguments": {}});
    let denied = post(&service, Some(&writer), "/api/v1/store", &store(tokens)).is(200).json();
    assert_eq!(denied["failed"]["denied"]["need"], "admin", "{denied}");
    let counts = env.run(["session", "show", "s1", "--json"]).ok().json();
    assert_eq!(counts["session"]["counts"]["reasoning"], 0);
    let (path, body) = &writes()[1];
    post(&service, Some(&writer), path, body).is(200);
}

#[test]
fn tokens_are_shown_once_and_revoked_immediately() {
    let env = project();
    let secret = token(&env, "read", &["--name", "laptop"]);
    let listed = env.run(["token", "list", "--json"]).ok();
    let half = secret.rsplit('_').next().unwrap();
    assert!(!listed.stdout.contains(half), "{listed}");
    assert_eq!(listed.json()["tokens"][0]["name"], "laptop");
    for file in ["store.db", "store.db-wal"] {
        let bytes = fs_err::read(env.path(".handover").join(file)).unwrap_or_default();
        assert!(!bytes.windows(half.len()).any(|part| part == half.as_bytes()), "{file}");
    }
    // Redaction recognizes it too.
    let redacted = env.run_with(&secret, ["redact"]).ok();
    assert!(!redacted.stdout.contains(half), "{redacted}");
    let service = Service::start(&env, &["--require-token"]);
    let header = bearer(&secret);
    let ask = || service.send("GET", "/api/v1/sessions", &[("authorization", &header)], "");
    ask().is(200);
    let id = listed.json()["tokens"][0]["id"].as_str().unwrap().to_owned();
    env.run(["token", "revoke", &id]).ok();
    ask().is(401);
    assert_eq!(env.run(["token", "list", "--json"]).ok().json()["tokens"], json!([]));
    env.run(["token", "revoke", "nobody"]).fails(2);
    let output = service.stop(&env).ok();
    assert!(!output.stderr.contains(half) && !output.stdout.contains(half), "{output}");
}

#[test]
fn rejects_requests_from_other_origins() {
    let env = project();
    let service = Service::start(&env, &[]);
    service.send("GET", "/api/v1/sessions", &[("host", "evil.example")], "").is(403);
    service.send("GET", "/api/v1/sessions", &[("origin", "http://evil.example")], "").is(403);
    let (path, body) = &writes()[1];
    let headers = [("content-type", "application/json"), ("origin", "http://evil.example")];
    service.send("POST", path, &headers, &body.to_string()).is(403);
    service.post(path, body).is(200);
}
