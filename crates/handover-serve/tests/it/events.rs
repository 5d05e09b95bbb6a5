//! Live events over the wire.

use std::time::{Duration, Instant};

use handover_model::{ProjectId, TokenScope};
use handover_store::conformance::fixture::{event, session_id};
use handover_store::{Feed, Store};
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
fn the_highest_position_is_unknown_too() {
    let service = TestService::start();
    let path = format!("/events?last_event_id={}", u64::MAX);
    assert_eq!(EventClient::open(&service, &path, "").next().unwrap().name, "reset");
    let header = format!("Last-Event-ID: {}\r\n", u64::MAX);
    assert_eq!(EventClient::open(&service, "/events", &header).next().unwrap().name, "reset");
}

/// Events of a session, all in one transaction.
fn log(service: &TestService, session: &str, count: usize) {
    let store = service.contexts.store(None);
    let new = event(&session_id(session), "built", None);
    let mut work = |store: &dyn Store| (0..count).try_for_each(|_| store.log_event(&new).map(drop));
    store.exclusively(&mut work).unwrap();
}

/// Reconnects until nothing is missing; returns the ids of all changes received.
fn catch_up(service: &TestService, path: &str, from: u64) -> Vec<u64> {
    let last = service.contexts.store(None).feed_span().unwrap().last;
    let (mut position, mut received) = (from, Vec::new());
    while position < last {
        let header = format!("Last-Event-ID: {position}\r\n");
        let mut events = EventClient::open(service, path, &header);
        while position < last {
            let Some(event) = events.next() else { break };
            position = event.id.parse().unwrap();
            if event.name == "end" {
                assert_eq!(event.data["reason"], "more");
                break;
            }
            assert_eq!(event.data["id"], position);
            received.push(position);
        }
    }
    received
}

/// The other subscriber is already past what this one has missed.
#[test]
fn a_subscriber_that_fell_far_behind_catches_up_completely() {
    let service = TestService::start();
    service.open_session(None, "s2");
    let from = service.contexts.store(None).feed_span().unwrap().last;
    let mut other = EventClient::open(&service, "/events", "");
    log(&service, "s1", 2_500);
    let first = other.next().unwrap().data["id"].as_u64().unwrap();
    for n in first + 1..first + 2_500 {
        assert_eq!(other.next().unwrap().data["id"], n);
    }
    let all: Vec<u64> = (from + 1..=from + 2_500).collect();
    assert_eq!(catch_up(&service, "/events", from), all);
    // None of it is for a subscriber of the other session, who still reaches the end.
    log(&service, "s2", 1);
    assert_eq!(catch_up(&service, "/events?session=s2", from), [from + 2_501]);
}

#[test]
fn unknown_sessions_and_parameters_are_rejected() {
    let service = TestService::start();
    service.get("/events?session=none").fails(404, "not_found");
    service.get("/events?sesion=s1").fails(400, "invalid_input");
    for id in ["x", "-1", "1.5", "18446744073709551616"] {
        service.get(&format!("/events?last_event_id={id}")).fails(400, "invalid_input");
    }
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

/// What an open page does. Machines that run tests are busy, so the fastest of some rounds counts.
#[test]
fn two_hundred_listeners_hear_of_a_change_within_a_second() {
    let service = TestService::start();
    let mut listeners: Vec<EventClient> =
        (0..200).map(|_| EventClient::open(&service, "/events", "")).collect();
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        think(&service, "s1", "to everybody");
        for listener in &mut listeners {
            assert_eq!(listener.next().unwrap().name, "reasoning");
        }
        fastest = fastest.min(start.elapsed());
    }
    assert!(fastest < Duration::from_secs(1), "{fastest:?}");
}
