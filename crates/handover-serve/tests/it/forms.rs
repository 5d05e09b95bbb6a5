//! The dashboard's forms over HTTP: rights, tokens of forms, origins, and what the log says.

use handover_model::{SessionStatus, TokenScope};
use handover_store::{OperationFilter, Operations, Sessions};

use crate::fixture::{Reply, TestService, bearer};

const CLOSE: &str = "what=session&id=s1&do=close&back=/sessions/s1";

fn form_token(page: &str) -> String {
    let (_, field) = page.split_once("name=\"token\" value=\"").unwrap();
    field.split_once('"').unwrap().0.to_owned()
}

fn send(service: &TestService, headers: &[(&str, &str)], body: &str) -> Reply {
    let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
    all.extend_from_slice(headers);
    service.send("POST", "/changes", &all, body)
}

fn status(service: &TestService) -> SessionStatus {
    service.contexts.store(None).session(&"s1".parse().unwrap()).unwrap().status
}

#[test]
fn a_form_needs_the_right_to_write_and_its_own_token() {
    let service = TestService::requiring_tokens();
    let (reads, writes) = (service.token(TokenScope::Read), service.token(TokenScope::Write));
    let page = |token: &str| service.get_as(token, "/sessions/s1").is(200).body;
    assert!(!page(&reads).contains("method=\"post\""));
    let ours = form_token(&page(&writes));
    let others = form_token(&page(&service.token(TokenScope::Write)));
    assert_ne!(ours, others, "each caller has its own");
    send(&service, &[], &format!("{CLOSE}&token={ours}")).is(401);
    let (reader, writer) = (bearer(&reads), bearer(&writes));
    send(&service, &[("authorization", &reader)], &format!("{CLOSE}&token={ours}")).is(403);
    for token in ["", "x", &others] {
        let body = format!("{CLOSE}&token={token}");
        send(&service, &[("authorization", &writer)], &body).is(403);
    }
    let cookie = format!("handover_token={writes}");
    let body = format!("{CLOSE}&token={ours}");
    let elsewhere = [("cookie", &*cookie), ("origin", "http://evil.example")];
    send(&service, &elsewhere, &body).is(403);
    send(&service, &[("cookie", &cookie)], &body).is(403);
    assert_eq!(status(&service), SessionStatus::Active);

    let same = [("cookie", &*cookie), ("sec-fetch-site", "same-origin")];
    let done = send(&service, &same, &body).is(303);
    assert!(done.header("location").starts_with("/sessions/s1?done=op_"));
    assert_eq!(status(&service), SessionStatus::Completed);
    let store = service.contexts.store(None);
    let log = store.operations(&"shop".parse().unwrap(), &OperationFilter::default()).unwrap();
    let author = log[0].author.clone().unwrap();
    assert!(author.starts_with("dashboard, token "), "{author}");
    assert!(!author.contains(&writes), "the secret of the token is not in the log");
}

#[test]
fn records_of_other_projects_cannot_be_changed() {
    let service = TestService::requiring_tokens();
    service.open_foreign_session("other", "theirs");
    let writes = service.token(TokenScope::Write);
    let ours = form_token(&service.get_as(&writes, "/sessions/s1").is(200).body);
    let body = format!("what=session&id=theirs&do=close&token={ours}");
    send(&service, &[("authorization", &bearer(&writes))], &body).is(404);
    let store = service.contexts.store(None);
    let theirs = store.session(&"theirs".parse().unwrap()).unwrap();
    assert_eq!(theirs.status, SessionStatus::Active);
}

#[test]
fn on_this_machine_a_form_needs_its_token_too() {
    let service = TestService::start();
    let ours = form_token(&service.get("/sessions/s1").is(200).body);
    send(&service, &[], CLOSE).is(403);
    send(&service, &[("sec-fetch-site", "cross-site")], &format!("{CLOSE}&token={ours}")).is(403);
    send(&service, &[], &format!("{CLOSE}&token={ours}")).is(303);
    assert_eq!(status(&service), SessionStatus::Completed);
}
