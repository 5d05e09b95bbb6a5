//! Live events over the wire.

use handover_model::{ProjectId, TokenScope};
use serde_json::json;

use crate::fixture::{EventClient, TestService, bearer};

fn think(service: &TestService, session: &str, text: &str) {
    let body = json!({"role": "qa_expert", "phase": "risks", "content": text});
    service.post(&format!("/api/v1/sessions/{session}/reasoning"), &body).is(200);
}

#[test]
fn subscribers_receive_changes_and_resume_where_they_stopped() {
    let service = TestService::start();
    service.open_session(None, "s2");
    let mut all = EventClient::open(&service, "/events", "");
    let mut one = EventClient::open(&service, "/events?session=s2", "");
    think(&service, "s1", "first");
    think(&service, "s2", "second");
    let first = all.next().unwrap();
    assert_eq!((first.name.as_str(), &first.data["session"]), ("reasoning", &"s1".into()));
    assert_eq!((&first.data["detail"], &first.data["project"]), (&"risks".into(), &"shop".into()));
    assert_eq!(all.next().unwrap().data["session"], "s2");
    assert_eq!(one.next().unwrap().data["session"], "s2");
    drop(all);

    think(&service, "s1", "while nobody is subscribed");
    let resume = format!("Last-Event-ID: {}\r\n", first.id);
    let mut resumed = EventClient::open(&service, "/events", &resume);
    assert_eq!(resumed.next().unwrap().data["session"], "s2");
    assert_eq!(resumed.next().unwrap().data["session"], "s1");

    let query = format!("/events?last_event_id={}", first.id);
    let mut by_query = EventClient::open(&service, &query, "");
    assert_eq!(by_query.next().unwrap().data["session"], "s2");
}

#[test]
fn an_unknown_position_resets_the_stream() {
    let service = TestService::start();
    let mut events = EventClient::open(&service, "/events", "Last-Event-ID: 999999\r\n");
    let reset = events.next().unwrap();
    assert_eq!(reset.name, "reset");
    think(&service, "s1", "after the reset");
    assert_eq!(events.next().unwrap().name, "reasoning");
}

#[test]
fn unknown_sessions_and_parameters_are_rejected() {
    let service = TestService::start();
    service.get("/events?session=none").fails(404, "not_found");
    service.get("/events?sesion=s1").fails(400, "invalid_input");
    service.get("/events?last_event_id=x").fails(400, "invalid_input");
}

#[test]
fn each_project_receives_its_own_changes_only() {
    let service = TestService::requiring_tokens();
    let other = service.token_for(
        TokenScope::Write,
        Some("other"),
        handover_model::TokenKind::Bearer,
        None,
    );
    let own = service.token(TokenScope::Write);
    service.open_session(Some("other"), "s1");
    let header = |token: &str| format!("Authorization: {}\r\n", bearer(token));
    let mut of_other = EventClient::open(&service, "/events", &header(&other));
    let mut of_own = EventClient::open(&service, "/events", &header(&own));
    let body = json!({"role": "developer", "phase": "risks", "content": "x"});
    service.post_as(&other, "/api/v1/sessions/s1/reasoning", &body).is(200);
    service.post_as(&own, "/api/v1/sessions/s1/reasoning", &body).is(200);
    let event = of_other.next().unwrap();
    assert_eq!((event.name.as_str(), &event.data["project"]), ("reasoning", &"other".into()));
    assert_eq!(of_own.next().unwrap().data["project"], "shop");
    let id = ProjectId::new("other").unwrap();
    assert!(service.contexts.file(Some(&id)).exists(), "the project has its own store");
}
