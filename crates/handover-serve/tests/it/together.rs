//! Many concurrent clients: nothing is lost, nothing happens twice, and every client gets a response.

use std::collections::BTreeSet;
use std::sync::Barrier;

use handover_model::TokenScope;
use handover_store::Sessions;
use serde_json::{Value, json};

use crate::fixture::TestService;

const CLIENTS: usize = 12;
const ROUNDS: usize = 8;

/// The answers of all clients, each of which sends several requests.
fn ask<T: Send>(work: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(CLIENTS);
    std::thread::scope(|scope| {
        let (start, work) = (&start, &work);
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                scope.spawn(move || {
                    start.wait();
                    (0..ROUNDS).map(|round| work(client, round)).collect::<Vec<_>>()
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

fn ids(answers: &[Value], key: &str) -> BTreeSet<String> {
    answers.iter().map(|answer| answer[key].to_string()).collect()
}

#[test]
fn every_package_is_kept_once() {
    let service = TestService::start();
    let saved = ask(|client, round| {
        let text = format!("# Finding {client}-{round}\n\nzebra");
        let body = json!({"text": text, "kind": "research"});
        service.post("/api/v1/sessions/s1/packages", &body).is(200).json()["package"].clone()
    });
    assert_eq!(ids(&saved, "id").len(), CLIENTS * ROUNDS);
    let counts = service.contexts.store(None).session_counts(&"s1".parse().unwrap()).unwrap();
    assert_eq!(counts.packages as usize, CLIENTS * ROUNDS);
    let found = service.get("/api/v1/sessions/s1/search?q=zebra&limit=50").is(200).json();
    assert_eq!(found["results"].as_array().map(Vec::len), Some(50), "{found}");
}

#[test]
fn one_key_is_one_event() {
    let service = TestService::start();
    let logged = ask(|_, round| {
        let body =
            json!({"type": "verdict", "key": format!("key-{round}"), "payload": {"n": round}});
        service.post("/api/v1/sessions/s1/events", &body).is(200).json()["event"].clone()
    });
    let new = logged.iter().filter(|answer| answer["duplicate"] == false).count();
    assert_eq!(new, ROUNDS, "{:?}", logged.first());
    let events = service.get("/api/v1/sessions/s1/events").is(200).json();
    assert_eq!(events["events"].as_array().map(Vec::len), Some(ROUNDS));
}

/// A receipt has one agent: of many concurrent confirmations and failures, all see the same result.
#[test]
fn every_brief_has_its_own_receipt() {
    let service = TestService::start();
    let briefs = ask(|client, _| {
        let body = json!({"role": format!("role_{}", client % 3)});
        service.post("/api/v1/sessions/s1/brief", &body).is(200).json()
    });
    assert_eq!(ids(&briefs, "receipt").len(), CLIENTS * ROUNDS);
    let path = format!("/api/v1/receipts/{}", briefs[0]["receipt"].as_str().unwrap());
    service.post(&path, &json!({"state": "delivered"})).is(200);
    let statuses = ask(|client, _| {
        let state = if client % 2 == 0 { "confirmed" } else { "failed" };
        let body = json!({"state": state, "reason": (client % 2 == 1).then_some("lost")});
        service.post(&path, &body).status
    });
    assert!(statuses.iter().all(|status| matches!(status, 200 | 409)), "{statuses:?}");
    let end = service.get(&path).is(200).json()["receipt"]["state"].clone();
    assert!(end == "confirmed" || end == "failed", "{end}");
}

#[test]
fn a_login_link_works_for_one_of_many() {
    let service = TestService::requiring_tokens();
    let once = service.token_for(
        TokenScope::Read,
        Some(crate::fixture::PROJECT),
        handover_model::TokenKind::Login,
        Some(600),
    );
    let form = format!("once={once}");
    let headers =
        [("content-type", "application/x-www-form-urlencoded"), ("origin", service.url.as_str())];
    let statuses = ask(|_, _| service.send("POST", "/login", &headers, &form).status);
    assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 303 | 401 | 429)), "{statuses:?}");
}

#[test]
fn readers_and_writers_do_not_block_each_other() {
    let service = TestService::start();
    let statuses = ask(|client, round| match client % 4 {
        0 => {
            let body = json!({"role": "developer", "phase": "risks", "content": format!("{client} {round}")});
            service.post("/api/v1/sessions/s1/reasoning", &body).status
        }
        1 => service.get("/sessions/s1").status,
        2 => service.get("/api/v1/sessions/s1/reasoning").status,
        _ => service.get("/health").status,
    });
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    let counts = service.contexts.store(None).session_counts(&"s1".parse().unwrap()).unwrap();
    assert_eq!(counts.reasoning as usize, CLIENTS / 4 * ROUNDS);
}
