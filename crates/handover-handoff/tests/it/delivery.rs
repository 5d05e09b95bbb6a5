//! The second step: delivered, confirmed, failed, and what is logged about it.

use handover_model::{Host, KnownEvent, Phase, ReceiptState};
use handover_store::{NewReasoning, Reasonings, StoreError};

use crate::world::{World, at, group, receipt_id, role, session};

#[test]
fn a_delivery_is_logged_once() {
    let world = World::new();
    world.package("docs/oauth.md", "Tokens rotate.");
    world.prepare("1", 1);
    for _ in 0..2 {
        world.handoffs().started(&receipt_id("1"), Some(Host::CODEX), at(2)).unwrap();
    }
    let receipt = world.receipt("1");
    assert_eq!((receipt.state, receipt.host.as_deref()), (ReceiptState::Delivered, Some("codex")));
    assert_eq!(receipt.delivered_at, Some(at(2)));
    let events = world.events(KnownEvent::Delivery);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["packages"], serde_json::json!(["1"]));
    assert_eq!(events[0]["role"], "developer");
}

#[test]
fn an_agent_that_was_seen_first_is_delivered_by_that() {
    let world = World::new();
    world.prepare("1", 1);
    world.handoffs().confirmed(&receipt_id("1"), Some(Host::CLAUDE), at(2)).unwrap();
    assert_eq!(world.receipt("1").state, ReceiptState::Confirmed);
    assert_eq!(world.receipt("1").host.as_deref(), Some("claude"));
    assert_eq!(world.events(KnownEvent::Delivery).len(), 1);
    // Its start is noted late, and its conversation is seen again.
    world.handoffs().started(&receipt_id("1"), Some(Host::CLAUDE), at(3)).unwrap();
    world.handoffs().confirmed(&receipt_id("1"), None, at(4)).unwrap();
    let receipt = world.receipt("1");
    assert_eq!((receipt.delivered_at, receipt.confirmed_at), (Some(at(2)), Some(at(2))));
    assert_eq!(world.events(KnownEvent::Delivery).len(), 1);
}

#[test]
fn a_failed_handoff_frees_its_packages() {
    let world = World::new();
    world.package("docs/oauth.md", "Tokens rotate.");
    let first = world.prepare("1", 1).handoff;
    world.handoffs().not_started(&first, "password=hunter2-and-more is wrong", at(2));
    let receipt = world.receipt("1");
    assert_eq!(receipt.state, ReceiptState::Failed);
    let failure = receipt.failure.unwrap();
    assert!(!failure.contains("hunter2"), "{failure}");
    // It was no attempt, so the next one is the first.
    assert_eq!(world.prepare("2", 3).handoff.assignment.iteration, 0);
    assert_eq!(world.packages_in("2"), ["1"]);
    // What failed can be neither delivered nor confirmed.
    let late = world.handoffs().started(&receipt_id("1"), None, at(4)).unwrap_err();
    assert!(
        matches!(late, handover_handoff::HandoffError::Store(StoreError::WrongState { .. })),
        "{late}"
    );
    world.handoffs().confirmed(&receipt_id("1"), None, at(4)).unwrap();
    assert_eq!(world.receipt("1").state, ReceiptState::Failed);
}

#[test]
fn reasoning_that_is_handed_over_is_logged_by_its_source() {
    let world = World::new();
    let think = |who: &str, phase, content: &str| {
        world
            .store
            .add_reasoning(&NewReasoning {
                session: session(),
                group: Some(group()),
                role: role(who),
                agent_id: None,
                iteration: 0,
                phase,
                confidence: None,
                content: world.redactor.clean(content),
                references: Vec::new(),
                now: at(1),
                trust: handover_model::Trust::Project,
            })
            .unwrap();
    };
    think("developer", Phase::Decisions, "one lock");
    think("developer", Phase::Completion, "done");
    think("qa_expert", Phase::Completion, "it holds");
    think("orchestrator", Phase::Completion, "not for a tech lead");
    world.started("tech_lead", "1", 2);
    let mut handed: Vec<(String, String, u64)> = world
        .events(KnownEvent::ReasoningHandoff)
        .iter()
        .map(|event| {
            let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
            assert_eq!(text("receipt"), "r_1");
            (text("from"), text("to"), event["length"].as_u64().unwrap())
        })
        .collect();
    handed.sort();
    let to = || "tech_lead".to_owned();
    assert_eq!(handed, [("developer".to_owned(), to(), 12), ("qa_expert".to_owned(), to(), 8)]);
}
