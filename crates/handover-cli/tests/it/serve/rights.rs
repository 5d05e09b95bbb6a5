//! Tokens of the command line. What each may do is tested in handover-serve.

use handover_testkit::Service;
use serde_json::json;

use super::{bearer, token};
use crate::project;

#[test]
fn a_service_for_other_machines_needs_a_token() {
    let env = project();
    let error = env.run(["serve", "--bind", "0.0.0.0", "--port", "0", "--json"]).fails(2).error();
    assert_eq!(error["code"], "no_token");
    let token = token(&env, "read", &[]);
    // All addresses of the machine, its loopback address included.
    let service = Service::start(&env, &["--bind", "0.0.0.0"]);
    let url = service.url.replace("0.0.0.0", "127.0.0.1");
    let service = service.known_as(url);
    service.get("/health").is(200);
    service.get("/api/v1/sessions").is(401);
    let good = bearer(&token);
    service.send("GET", "/api/v1/sessions", &[("authorization", &good)], "").is(200);
    service.send("GET", "/", &[("authorization", &good)], "").is(200);
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
