//! Two projects in one store: a token sees nothing of the other project.

use handover_model::{PackageId, ProjectId, ReceiptId, SessionId, TokenScope};
use handover_store::{
    ErrorPatterns, Events, Feed, Groups, Packages, Reasonings, ReceiptFilter, Receipts, RunFilter,
    Runs, Sessions, StoreError, Strategies, TextIndex, Tokens,
};
use handover_testkit::Service;

use super::live::Listener;
use super::{bearer, token};
use crate::project;

#[test]
fn a_token_sees_only_its_project() {
    let env = project();
    env.run(["session", "new", "theirs", "--project-id", "other"]).ok();
    env.write("docs/a.md", "# Plan\nsecretplan\n");
    let add = ["package", "add", "docs/a.md", "--kind", "research", "--session", "theirs"];
    env.run(add).ok();
    let in_theirs = |args: &[&str]| env.run(args.iter().chain(&["--session", "theirs"])).ok();
    in_theirs(&["reasoning", "add", "--role", "developer", "--phase", "risks", "secretplan"]);
    in_theirs(&["event", "log", "verdict"]);
    in_theirs(&["error", "resolve", "--message", "secretplan failed", "--solution", "x"]);
    in_theirs(&["assemble", "--role", "developer", "--deliver"]);
    let receipts = env.run(["receipt", "list", "--json"]).ok().json();
    let receipt = receipts["receipts"][0]["id"].as_str().unwrap().to_owned();
    let admin = token(&env, "admin", &[]);
    let service = Service::start(&env, &["--require-token"]);
    let header = bearer(&admin);
    let get = |path: &str| service.send("GET", path, &[("authorization", &header)], "");

    let hidden = [
        "/api/v1/sessions/theirs".to_owned(),
        "/api/v1/sessions/theirs/groups".to_owned(),
        "/api/v1/sessions/theirs/packages".to_owned(),
        "/api/v1/sessions/theirs/reasoning".to_owned(),
        "/api/v1/sessions/theirs/events".to_owned(),
        "/api/v1/sessions/theirs/search?q=secretplan".to_owned(),
        "/api/v1/packages/1?body".to_owned(),
        format!("/api/v1/receipts/{receipt}"),
        "/events?session=theirs".to_owned(),
    ];
    for path in hidden {
        let reply = get(&path).is(404);
        assert!(!reply.body.contains("secretplan"), "{path}");
    }
    for path in ["/api/v1/sessions", "/api/v1/receipts", "/api/v1/errors", "/api/v1/stats", "/"] {
        let reply = get(path).is(200);
        for word in ["theirs", "secretplan", "other", &receipt] {
            assert!(!reply.body.contains(word), "{path}: {}", reply.body);
        }
    }

    let store = super::remote_store(&service.url, Some(admin));
    let theirs = SessionId::new("theirs").unwrap();
    let other = ProjectId::new("other").unwrap();
    let gone = |what: Result<(), StoreError>| {
        assert!(matches!(what, Err(StoreError::NotFound { .. })), "{what:?}");
    };
    gone(store.session(&theirs).map(drop));
    gone(store.session_counts(&theirs).map(drop));
    gone(store.groups(&theirs).map(drop));
    gone(store.packages(&theirs, &Default::default()).map(drop));
    gone(store.candidates(&theirs, None, None).map(drop));
    gone(store.postings(&theirs, &["secretplan".to_owned()]).map(drop));
    gone(store.package(PackageId(1)).map(drop));
    gone(store.package_body(PackageId(1)).map(drop));
    gone(store.packages_by_id(&[PackageId(1)]).map(drop));
    gone(store.package_bodies(&[PackageId(1)]).map(drop));
    gone(store.package_history(PackageId(1)).map(drop));
    gone(store.reasoning(&theirs, &Default::default()).map(drop));
    gone(store.events(&theirs, &Default::default()).map(drop));
    gone(store.errors(&other, &Default::default()).map(drop));
    gone(store.strategies(&other, &Default::default()).map(drop));
    gone(store.receipt(&ReceiptId::new(receipt).unwrap()).map(drop));
    gone(store.purge_session(&theirs).map(drop));
    assert_eq!(store.receipts(&ReceiptFilter::default()).unwrap(), []);
    assert_eq!(store.runs(&RunFilter::default()).unwrap(), []);
    assert!(store.changes(0, 100).unwrap().iter().all(|change| change.project != other));
    assert_eq!(store.tokens().unwrap().len(), 1);
    assert!(store.tokens().unwrap()[0].scope == TokenScope::Admin);

    // Its events do not arrive here.
    let mut listener = Listener::new(&service, "/events", &format!("Authorization: {header}\r\n"));
    in_theirs(&["reasoning", "add", "--role", "developer", "--phase", "risks", "again"]);
    env.run([
        "reasoning",
        "add",
        "--role",
        "developer",
        "--phase",
        "risks",
        "mine",
        "--session",
        "s1",
    ])
    .ok();
    assert_eq!(listener.next().unwrap().data["session"], "s1");

    // A token of the other project gives no access to this one's files.
    let theirs_token = token(&env, "write", &["--project-id", "other"]);
    let header = bearer(&theirs_token);
    let show = service.send("GET", "/api/v1/packages/1", &[("authorization", &header)], "").is(200);
    assert_eq!(show.json()["package"]["file"], "elsewhere");
}
