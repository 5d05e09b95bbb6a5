//! `handover serve`: a real process on its own port.

mod answers;
mod api;
mod basics;
mod limits;
mod live;
mod login;
mod mcp;
mod neighbours;
mod remote;
mod rights;
mod tls;

use std::time::Duration;

use handover_remote::RemoteStore;
use handover_testkit::TestEnv;

/// The store of a service, as another machine has it.
fn remote_store(url: &str, token: Option<String>) -> RemoteStore {
    RemoteStore::new(&url.parse().unwrap(), token, Duration::from_secs(30))
}

/// A token with a scope, and with further arguments.
fn token(env: &TestEnv, scope: &str, more: &[&str]) -> String {
    let args = ["token", "create", "--scope", scope, "--json"];
    let made = env.run(args.iter().chain(more)).ok().json();
    made["token"]["token"].as_str().unwrap().to_owned()
}

/// The authorization header for a token.
fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}
