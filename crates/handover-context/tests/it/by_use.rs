//! Learning from use: what agents used before comes first, within bounds, and only where it may.

use std::collections::BTreeMap;

use handover_context::assemble::{Assembly, ContextRequest};
use handover_model::learn::{USE_BOUND, is_held_out};
use handover_model::{
    Form, ItemKind, NoteKind, Priority, ReceiptId, ReceiptItem, Trust, Use, UseLearning,
};
use handover_store::{ItemUse, Receipts};

use crate::notes::{learn, note};
use crate::world::{World, day, package, request, role, session};

const TASK: &str = "Change how the payment gateway retries";

/// A request whose brief is not held out, or one whose brief is.
fn asked(held_out: bool) -> ContextRequest {
    let is =
        |iteration: &u32| is_held_out(&session(), None, &role("developer"), *iteration) == held_out;
    let iteration = (0..200).find(is).unwrap();
    let task = Some(TASK.to_owned());
    ContextRequest { task, iteration, explain: true, ..request("developer") }
}

/// Records that agents got an item so many times, used it so many times, and were seen each time.
fn used(world: &World, kind: ItemKind, id: &str, used: usize, of: usize) {
    let template = world.compose(&request("developer")).receipt;
    for n in 0..of {
        let item = ReceiptItem {
            kind,
            id: id.to_owned(),
            version: 1,
            form: Form::Full,
            score: 1.0,
            terms: BTreeMap::new(),
            tokens: 10,
            read_at: None,
            trust: Trust::Project,
            flags: Vec::new(),
            stale: Vec::new(),
            outdated: None,
            used: None,
        };
        let mut receipt = template.clone();
        receipt.id = ReceiptId::new(format!("r_{kind}_{id}_{n}")).unwrap();
        (receipt.items, receipt.claim, receipt.now) = (vec![item], false, day(1));
        world.store.put_receipt(&receipt).unwrap();
        let verdict = if n < used { Use::Echoed } else { Use::Unused };
        let judged = ItemUse { kind, item: id.to_owned(), used: verdict };
        world.store.mark_used(&receipt.id, &[judged]).unwrap();
    }
}

/// Enough of something else that was used about half of the time.
fn enough(world: &World, kind: ItemKind) {
    used(world, kind, "9999", 40, 80);
}

fn order(made: &Assembly) -> Vec<i64> {
    made.packages.iter().map(|package| package.id.0).collect()
}

/// Two packages that say the same about the task; the newer one comes first.
fn alike(world: &World) -> (i64, i64) {
    let add = |name: &str, created| {
        let mut draft = package(name);
        draft.summary = format!("The payment gateway retries twice, says {name}.");
        draft.created = created;
        world.add(draft).0
    };
    (add("older", 0), add("newer", 0))
}

#[test]
fn what_agents_used_comes_first_and_says_why() {
    let world = World::new();
    let (older, newer) = alike(&world);
    assert_eq!(order(&world.compose(&asked(false))), [newer, older]);
    used(&world, ItemKind::Package, &older.to_string(), 12, 12);
    used(&world, ItemKind::Package, &newer.to_string(), 0, 12);
    enough(&world, ItemKind::Package);
    let made = world.compose(&asked(false));
    assert_eq!(order(&made), [older, newer]);
    assert_eq!(made.receipt.provided.use_learning, Some(UseLearning::Applied));
    for (id, sign) in [(older, 1.0), (newer, -1.0)] {
        let item = made.receipt.items.iter().find(|item| item.id == id.to_string()).unwrap();
        let moved = item.terms["use"];
        assert!(moved * sign > 0.0, "{moved}");
        assert!(moved.abs() <= (item.score - moved) * USE_BOUND + 1e-9, "{item:?}");
        assert!((item.terms.values().sum::<f64>() - item.score).abs() < 1e-9, "{item:?}");
        let explained = made.candidates.iter().find(|one| one.id.to_string() == id.to_string());
        assert_eq!(explained.unwrap().terms.used, moved);
    }
    let again = world.compose(&asked(false));
    assert_eq!((again.markdown, again.receipt.items), (made.markdown, made.receipt.items));
}

#[test]
fn it_counts_only_with_a_task_enough_to_go_by_and_the_users_consent() {
    let mut world = World::new();
    let (older, newer) = alike(&world);
    let before = world.compose(&asked(false));
    let held_out_before = world.compose(&asked(true));
    used(&world, ItemKind::Package, &older.to_string(), 12, 12);
    used(&world, ItemKind::Package, &newer.to_string(), 0, 12);
    let unmoved = |made: Assembly, before: &Assembly| {
        assert_eq!(order(&made), [newer, older]);
        assert!(made.candidates.iter().all(|one| one.terms.used == 0.0));
        assert_eq!(made.markdown, before.markdown);
        made.receipt.provided.use_learning
    };
    // 24 of 100.
    assert_eq!(unmoved(world.compose(&asked(false)), &before), None);
    enough(&world, ItemKind::Package);
    let held_out = unmoved(world.compose(&asked(true)), &held_out_before);
    assert_eq!(held_out, Some(UseLearning::HeldOut));
    let taskless = ContextRequest { task: None, ..asked(false) };
    assert_eq!(world.compose(&taskless).receipt.provided.use_learning, None);
    // What was seen two months ago is a quarter of it.
    let later = ContextRequest { now: day(61), ..asked(false) };
    assert_eq!(world.compose(&later).receipt.provided.use_learning, None);
    world.config.learn_from_use = false;
    assert_eq!(unmoved(world.compose(&asked(false)), &before), None);
}

#[test]
fn what_is_critical_keeps_its_place() {
    let world = World::new();
    let mut critical = package("rule");
    critical.summary = "The payment gateway retries never on Sundays.".to_owned();
    critical.priority = Priority::Critical;
    let critical = world.add(critical).0;
    let (older, newer) = alike(&world);
    used(&world, ItemKind::Package, &critical.to_string(), 0, 40);
    used(&world, ItemKind::Package, &older.to_string(), 40, 40);
    used(&world, ItemKind::Package, &newer.to_string(), 40, 40);
    for limit in [1, 2, 3] {
        let made = world.compose(&ContextRequest { limit: Some(limit), ..asked(false) });
        assert_eq!(made.receipt.provided.use_learning, Some(UseLearning::Applied));
        assert_eq!(order(&made)[0], critical, "{limit}");
        assert!(made.packages[0].terms.used >= 0.0);
    }
}

#[test]
fn what_is_just_behind_the_limit_gets_its_chance_but_nothing_far_behind_does() {
    let world = World::new();
    let (older, newer) = alike(&world);
    let mut far = package("garden");
    far.summary = "Tulips, daffodils, and how the gateway to the garden is painted.".to_owned();
    let far = world.add(far).0;
    used(&world, ItemKind::Package, &older.to_string(), 60, 60);
    used(&world, ItemKind::Package, &newer.to_string(), 0, 60);
    used(&world, ItemKind::Package, &far.to_string(), 60, 60);
    let one = |request| order(&world.compose(&ContextRequest { limit: Some(1), ..request }));
    assert_eq!(one(asked(true)), [newer]);
    assert_eq!(one(asked(false)), [older]);
}

#[test]
fn notes_move_alike() {
    let world = World::new();
    let texts = [
        ("n_1", "The payment gateway retries twice, with the idempotency key."),
        ("n_2", "The payment gateway retries once more after a timeout of the bank."),
    ];
    for (id, text) in texts {
        learn(&world, NoteKind::Doc, &format!("docs/{id}.md"), vec![note(&world, id, text)]);
    }
    let order = |made: &Assembly| -> Vec<String> {
        made.notes.iter().map(|note| note.id.to_string()).collect()
    };
    let before = order(&world.compose(&asked(false)));
    assert_eq!(before.len(), 2);
    used(&world, ItemKind::Note, &before[1], 20, 20);
    used(&world, ItemKind::Note, &before[0], 0, 20);
    enough(&world, ItemKind::Note);
    let made = world.compose(&asked(false));
    let item = |id: &str| made.receipt.items.iter().find(|item| item.id == id).unwrap();
    assert!(item(&before[1]).terms["use"] > 0.0 && item(&before[0]).terms["use"] < 0.0);
    let sum = |id: &str| item(id).terms.values().sum::<f64>();
    assert!((sum(&before[0]) - item(&before[0]).score).abs() < 1e-9);
    let gap = |made: &Assembly| {
        let score = |id: &str| made.notes.iter().find(|one| one.id.as_str() == id).unwrap().score;
        score(&before[1]) / score(&before[0])
    };
    let unmoved = world.compose(&asked(true));
    assert_eq!(unmoved.receipt.provided.use_learning, Some(UseLearning::HeldOut));
    assert!(gap(&made) > gap(&unmoved) * 1.2, "{} {}", gap(&made), gap(&unmoved));
}
