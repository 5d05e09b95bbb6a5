//! States of a receipt, the spool, and all or nothing.

use std::collections::BTreeMap;

use handover_handoff::{
    Assignment, Debrief, Ending, ErrorNote, HandoffError, HandoffRequest, Handoffs, Prepared, spool,
};
use handover_model::{
    Form, Host, ItemKind, KnownEvent, Phase, Receipt, ReceiptId, ReceiptItem, ReceiptState, Verdict,
};
use handover_store::{
    ErrorFilter, ErrorPatterns, ReasoningFilter, Reasonings, Receipts, Sessions, StoreError,
};
use proptest::prelude::*;

use crate::world::{World, at, group, receipt_id, role, session};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Started,
    Confirmed,
    Failed,
}

impl World {
    /// Whether a step is accepted.
    fn step(&self, name: &str, step: Step, seconds: i64) -> bool {
        let (handoffs, id) = (self.handoffs(), receipt_id(name));
        let taken = match step {
            Step::Started => handoffs.started(&id, Some(Host::CODEX), at(seconds)),
            Step::Confirmed => handoffs.confirmed(&id, Some(Host::CODEX), at(seconds)),
            Step::Failed => handoffs.failed(&id, "no program", at(seconds)),
        };
        if let Err(error) = &taken {
            let wrong = matches!(error, HandoffError::Store(StoreError::WrongState { .. }));
            assert!(wrong, "{error}");
        }
        taken.is_ok()
    }
}

/// The state after a step, and whether the step is accepted.
fn after(state: ReceiptState, step: Step) -> (ReceiptState, bool) {
    use ReceiptState::{Assembled, Confirmed, Delivered, Failed};
    match (state, step) {
        (Assembled, Step::Started) => (Delivered, true),
        // Being seen with it is proof of delivery.
        (Assembled | Delivered, Step::Confirmed) => (Confirmed, true),
        // Starting again, and being seen again, change nothing.
        (Delivered | Confirmed, Step::Started) => (state, true),
        (Confirmed, Step::Confirmed) => (Confirmed, true),
        // Seen late: it failed, and stays so.
        (Failed, Step::Confirmed) => (Failed, true),
        (Failed, Step::Started) => (Failed, false),
        (Assembled | Delivered | Failed, Step::Failed) => (Failed, true),
        (Confirmed, Step::Failed) => (Confirmed, false),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the order of reports, a receipt follows the table and is delivered once.
    #[test]
    fn receipts_follow_the_table(
        steps in prop::collection::vec(prop::sample::select(vec![Step::Started, Step::Confirmed, Step::Failed]), 1..6)
    ) {
        let world = World::new();
        world.package("docs/a.md", "Tokens rotate.");
        world.prepare("1", 1);
        let mut state = ReceiptState::Assembled;
        for (n, step) in steps.iter().enumerate() {
            let (next, accepted) = after(state, *step);
            prop_assert_eq!(world.step("1", *step, 2 + n as i64), accepted, "{:?} in {}", step, state);
            prop_assert_eq!(world.receipt("1").state, next, "{:?} in {}", step, state);
            state = next;
        }
        let receipt = world.receipt("1");
        let was_delivered = receipt.delivered_at.is_some();
        prop_assert_eq!(world.events(KnownEvent::Delivery).len(), usize::from(was_delivered));
        prop_assert_eq!(receipt.confirmed_at.is_some(), state == ReceiptState::Confirmed);
        prop_assert_eq!(receipt.failure.is_some(), state == ReceiptState::Failed);
    }
}

#[test]
fn an_unknown_receipt_is_an_error_of_every_step() {
    let world = World::new();
    let nobody = receipt_id("nobody");
    let handoffs = world.handoffs();
    for result in [
        handoffs.started(&nobody, None, at(1)),
        handoffs.confirmed(&nobody, None, at(1)),
        handoffs.failed(&nobody, "x", at(1)),
        handoffs.relay(&nobody, "x".to_owned()).map(|_| ()),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error, HandoffError::Store(StoreError::NotFound { .. })), "{error}");
    }
}

#[test]
fn without_a_store_no_later_step_is_possible() {
    let world = World::new();
    let prepared = world.prepare("1", 1);
    let broken = Handoffs { store: Err("the store is locked"), ..world.handoffs() };
    let debrief = Debrief { verdict: Some(Verdict::Complete), ..Debrief::default() };
    let ending = Ending::new(&prepared.handoff.assignment, &debrief, at(2));
    for error in [
        broken.started(&receipt_id("1"), None, at(2)).unwrap_err(),
        broken.confirmed(&receipt_id("1"), None, at(2)).unwrap_err(),
        broken.failed(&receipt_id("1"), "x", at(2)).unwrap_err(),
        broken.draft(&world.request("2", 2)).unwrap_err(),
        broken.ended(ending).unwrap_err(),
    ] {
        let HandoffError::Store(StoreError::Backend { source, .. }) = error else {
            panic!("{error}")
        };
        assert_eq!(source.to_string(), "the store is locked");
    }
    // A preview needs none.
    assert!(broken.preview(&world.request("2", 2)).text.contains("Fallback Mode"));
}

fn spooled(world: &World, name: &str, seconds: i64) -> Prepared {
    let broken = Handoffs { store: Err("gone"), ..world.handoffs() };
    let request = HandoffRequest {
        model: Some("opus".to_owned()),
        task: Some("use password=hunter2sEcret".to_owned()),
        ..world.request(name, seconds)
    };
    broken.prepare(&request).unwrap()
}

fn in_file(world: &World, name: &str) -> Receipt {
    let bytes = fs_err::read(world.spool.path().join(format!("r_{name}.json"))).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[test]
fn a_spooled_receipt_is_the_one_that_the_store_gets() {
    let world = World::new();
    let prepared = spooled(&world, "1", 3);
    let written = in_file(&world, "1");
    assert_eq!((written.state, written.created_at), (ReceiptState::Delivered, at(3)));
    assert_eq!((written.tokens, written.model.as_deref()), (prepared.brief.tokens, Some("opus")));
    let imported = spool::import(&world.spool, world.as_store(), &world.redactor);
    assert_eq!((imported.kept, imported.waiting.len()), (1, 0));
    let stored = world.receipt("1");
    assert_eq!((&stored, stored.delivered_at), (&written, Some(at(3))));
    assert!(!stored.text.unwrap().contains("hunter2"));
}

#[test]
fn a_receipt_that_is_there_already_is_not_imported_twice() {
    let world = World::new();
    spooled(&world, "1", 1);
    let file = world.spool.path().join("r_1.json");
    let bytes = fs_err::read(&file).unwrap();
    spool::import(&world.spool, world.as_store(), &world.redactor);
    world.handoffs().confirmed(&receipt_id("1"), None, at(5)).unwrap();
    // The process died between storing the receipt and deleting the file.
    fs_err::write(&file, bytes).unwrap();
    let again = spool::import(&world.spool, world.as_store(), &world.redactor);
    assert_eq!((again.kept, again.waiting.len()), (1, 0));
    assert!(!file.exists());
    assert_eq!(world.receipt("1").state, ReceiptState::Confirmed);
}

#[test]
fn receipts_are_imported_in_order_and_a_bad_one_holds_up_nobody() {
    let world = World::new();
    for (name, seconds) in [("1", 1), ("2", 2), ("3", 3)] {
        spooled(&world, name, seconds);
    }
    fs_err::write(world.spool.path().join("r_2.json"), "[]").unwrap();
    let imported = spool::import(&world.spool, world.as_store(), &world.redactor);
    assert_eq!((imported.kept, imported.waiting.len()), (2, 1));
    assert!(
        world.spool.path().join("r_2.json").exists()
            && !world.spool.path().join("r_3.json").exists()
    );
    assert_eq!(world.prepare("4", 9).handoff.assignment.iteration, 2);
    let nothing = spool::import(&world.spool.inside("none"), world.as_store(), &world.redactor);
    assert_eq!((nothing.kept, nothing.waiting.len()), (0, 0));
}

#[test]
fn a_file_of_the_spool_is_untrusted_text() {
    let world = World::new();
    spooled(&world, "1", 1);
    let mut forged = in_file(&world, "1");
    forged.text = Some("token=ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned());
    forged.host = Some("codex".to_owned());
    forged.items = vec![ReceiptItem {
        kind: ItemKind::Package,
        id: "99".to_owned(),
        version: 1,
        form: Form::Full,
        score: 1.0,
        terms: BTreeMap::new(),
        tokens: 1,
        read_at: None,
        outdated: None,
        used: None,
        trust: handover_model::Trust::Project,
        flags: Vec::new(),
        stale: Vec::new(),
    }];
    fs_err::write(world.spool.path().join("r_1.json"), serde_json::to_vec(&forged).unwrap())
        .unwrap();
    spool::import(&world.spool, world.as_store(), &world.redactor);
    let stored = world.receipt("1");
    assert_eq!((stored.state, stored.host.as_deref()), (ReceiptState::Delivered, Some("codex")));
    assert!(!stored.text.unwrap().contains("ghp_"));
}

#[test]
fn an_ending_is_kept_completely_or_not_at_all() {
    let world = World::new();
    let file = world.paths.root().join("found.md");
    fs_err::write(&file, "# Found\n\n## Summary\nOne lock.\n").unwrap();
    let debrief = Debrief {
        // Nobody ever got this receipt: the last step fails.
        receipt: Some(receipt_id("lost")),
        verdict: Some(Verdict::Complete),
        summary: Some("done".to_owned()),
        reasoning: BTreeMap::from([(Phase::Decisions, "one lock".to_owned())]),
        errors: vec![ErrorNote {
            message: "ENOENT".to_owned(),
            solution: Some("touch".to_owned()),
        }],
        ..Debrief::default()
    };
    let assignment = Assignment {
        receipt: Some(receipt_id("lost")),
        ..Assignment::without_receipt(session(), Some(group()), role("developer"))
    };
    let error = world.handoffs().ended(Ending::new(&assignment, &debrief, at(5))).unwrap_err();
    assert!(matches!(error, HandoffError::Store(StoreError::NotFound { .. })), "{error}");
    assert_eq!(world.store.reasoning(&session(), &ReasoningFilter::default()).unwrap(), []);
    let project = world.store.session(&session()).unwrap().project;
    assert_eq!(world.store.errors(&project, &ErrorFilter::default()).unwrap(), []);
    assert_eq!(
        world.events(KnownEvent::Verdict).len() + world.events(KnownEvent::Debrief).len(),
        0
    );
}

#[test]
fn an_ending_that_is_reported_twice_is_kept_once_as_an_event() {
    let world = World::new();
    let handoff = world.started("developer", "1", 1);
    let debrief = Debrief {
        verdict: Some(Verdict::Complete),
        summary: Some("done".to_owned()),
        ..Debrief::default()
    };
    for seconds in [2, 3] {
        world.handoffs().ended(Ending::new(&handoff.assignment, &debrief, at(seconds))).unwrap();
    }
    assert_eq!(world.events(KnownEvent::Verdict).len(), 1);
    assert_eq!(world.events(KnownEvent::Debrief).len(), 1);
}

#[test]
fn errors_name_what_stands_in_the_way() {
    let other = HandoffError::OtherRole {
        receipt: receipt_id("a"),
        found: role("qa_expert"),
        asked: role("developer"),
    };
    assert_eq!(other.to_string(), "receipt r_a was given to role `qa_expert`, not `developer`");
    let overridden =
        HandoffError::Overridden { key: "guard.mode".to_owned(), source_name: "a flag".to_owned() };
    assert_eq!(overridden.to_string(), "`guard.mode` cannot be overridden by a flag");
    let world = World::new();
    let id: ReceiptId = world.prepare("1", 1).brief.receipt.id;
    assert!(world.store.receipt(&id).is_ok());
}
