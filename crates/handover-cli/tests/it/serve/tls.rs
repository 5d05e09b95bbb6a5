//! A service behind TLS, and tokens that stay secret in transit.

use handover_testkit::{Service, TestEnv, TlsProxy};

use super::token;
use crate::{empty, project};

fn client(url: &str, token: &str) -> TestEnv {
    let mut env = empty();
    env.set("HANDOVER_STORE", url);
    env.set("HANDOVER_TOKEN", token);
    env
}

#[test]
fn connects_over_tls() {
    let host = project();
    let token = token(&host, "write", &[]);
    let service = Service::start(&host, &["--require-token"]);
    let proxy = TlsProxy::start(&service.url, "localhost");
    let mut env = client(&proxy.url, &token);
    env.set("SSL_CERT_FILE", &proxy.authority().display().to_string());
    env.run(["init"]).ok();
    env.write("docs/oauth.md", "# OAuth\nTokens live ten minutes.\n");
    env.run(["package", "add", "docs/oauth.md", "--kind", "research"]).ok();
    // A transaction is several requests.
    let block = env.run(["assemble", "--role", "developer", "--deliver", "--json"]).ok().json();
    assert_eq!((&block["degraded"], &block["available"]), (&false.into(), &1.into()));
    assert!(host.run(["search", "oauth"]).ok().stdout.contains("docs/oauth.md"));
    assert!(env.run(["doctor"]).ok().stdout.contains(&proxy.url));
}

#[test]
fn rejects_untrusted_certificates() {
    let host = project();
    let token = token(&host, "write", &[]);
    let service = Service::start(&host, &["--require-token"]);
    let (own, others) =
        (TlsProxy::start(&service.url, "localhost"), TlsProxy::start(&service.url, "else.example"));
    // An unknown authority, a wrong authority, a wrong host name.
    for (asked, trusted) in [(&own, None), (&own, Some(&others)), (&others, Some(&others))] {
        let mut env = client(&asked.url, &token);
        if let Some(trusted) = trusted {
            env.set("SSL_CERT_FILE", &trusted.authority().display().to_string());
        }
        env.run(["init"]).ok();
        let refused = env.run(["session", "list", "--json"]).fails(5);
        let error = refused.error();
        assert_eq!(error["code"], "store_unavailable");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("SSL_CERT_FILE"), "{message}");
        assert!(!refused.to_string().contains(&token), "{refused}");
        // A waiting agent continues without context.
        let block = env.run(["assemble", "--role", "developer", "--json"]).ok().json();
        assert_eq!(block["degraded"], true);
    }
}

#[test]
fn never_sends_a_token_unencrypted_to_another_machine() {
    let mut env = client("http://handover.invalid:4747", "hnd_0123456789ab_secret");
    let error = env.run(["init", "--json"]).fails(2).error();
    assert_eq!(error["code"], "token_in_the_clear");
    assert!(error["message"].as_str().unwrap().contains("handover.invalid"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("https://"), "{error}");
    let error = env.run(["session", "list", "--json"]).fails(2).error();
    assert_eq!(error["code"], "token_in_the_clear");
    // With an explicit opt-in for private networks, the connection is attempted.
    env.set("HANDOVER_STORE_ALLOW_HTTP", "true");
    let error = env.run(["session", "list", "--json"]).fails(5).error();
    assert_eq!(error["code"], "store_unavailable", "{error}");
}

/// A checkout can come from anyone: it can name a store, but not get the user's token.
#[test]
fn a_project_cannot_redirect_the_token() {
    let mut env = project();
    env.set("HANDOVER_TOKEN", "hnd_0123456789ab_secret");
    let (evil, project_file) = ("http://127.0.0.1:9", ".handover/config.toml");
    let config =
        format!("[store]\nlocation = \"{evil}\"\nservices = [\"{evil}\"]\nallow_http = true\n");
    env.write(project_file, &config);
    let refused = env.run(["session", "list", "--json"]).fails(2);
    assert_eq!(refused.error()["code"], "token_not_meant");
    let warned = env.run(["session", "list"]).fails(2).stderr;
    assert!(warned.contains("`store.services` is ignored here"), "{warned}");
    assert!(!refused.to_string().contains("secret"), "{refused}");
    // If the user approves the service, in either way, the connection is attempted.
    env.set("HANDOVER_STORE_SERVICES", &format!("[\"{evil}/\"]"));
    assert_eq!(
        env.run(["session", "list", "--json"]).fails(5).error()["code"],
        "store_unavailable"
    );
    env.set("HANDOVER_STORE_SERVICES", "[]");
    env.set("HANDOVER_STORE", evil);
    assert_eq!(
        env.run(["session", "list", "--json"]).fails(5).error()["code"],
        "store_unavailable"
    );
}

#[test]
fn rejects_secrets_in_addresses() {
    let mut env = project();
    for url in ["https://ann:hunter2@team.example", "https://team.example?token=hunter2"] {
        env.set("HANDOVER_STORE", url);
        let refused = env.run(["session", "list", "--json"]).fails(2);
        assert_eq!(refused.error()["code"], "invalid_config");
        let shown = env.run(["config", "show"]).ok();
        for output in [refused, shown] {
            assert!(!output.to_string().contains("hunter2"), "{output}");
        }
    }
}
