//! What became of names: said beside them, kept in the receipt, and a reason to sink.

use handover_context::assemble::{Assembly, ContextRequest};
use handover_model::{Fate, NoteKind, Phase, ReceiptItem, SectionNow, StaleName, Trust};

use crate::notes::{learn, note};
use crate::world::{World, fates, names, package, request};

fn gone(name: &str) -> StaleName {
    StaleName::Gone { name: name.to_owned() }
}

fn renamed(name: &str, to: &str) -> StaleName {
    StaleName::Renamed { name: name.to_owned(), to: to.to_owned() }
}

fn asked() -> ContextRequest {
    ContextRequest {
        task: Some("Change how the payment gateway retries".to_owned()),
        ..request("developer")
    }
}

fn item<'a>(made: &'a Assembly, kind: &str) -> &'a ReceiptItem {
    made.receipt.items.iter().find(|item| item.kind.to_string() == kind).unwrap()
}

#[test]
fn every_kind_of_item_says_what_became_of_its_names() {
    let mut world = World::new();
    world.stale = vec![renamed("src/pay.rs", "src/gateway.rs"), gone("src/old.rs")];
    let mut draft = package("gateway");
    draft.summary = "The payment gateway retries in src/pay.rs twice.".to_owned();
    world.add(draft);
    learn(
        &world,
        NoteKind::Manual,
        "by hand",
        vec![note(&world, "n_1", "Retries of the payment gateway moved to src/old.rs.")],
    );
    world.strategy("Retries of the payment gateway need the key of src/pay.rs", None);
    world.think("developer", Phase::Completion, "The gateway in src/old.rs is done.");
    let made = world.compose(&ContextRequest { reasoning: Some(true), ..asked() });
    for said in [
        "retries in src/pay.rs (renamed to src/gateway.rs) twice.",
        "moved to src/old.rs (no longer exists).",
        "need the key of src/pay.rs (renamed to src/gateway.rs)",
        "The gateway in src/old.rs (no longer exists) is done.",
    ] {
        assert!(made.markdown.contains(said), "{said}\n{}", made.markdown);
    }
    for (kind, stale) in [
        ("package", renamed("src/pay.rs", "src/gateway.rs")),
        ("note", gone("src/old.rs")),
        ("strategy", renamed("src/pay.rs", "src/gateway.rs")),
        ("reasoning", gone("src/old.rs")),
    ] {
        let stale = [stale];
        assert_eq!(item(&made, kind).stale, stale, "{kind}");
        let explained = made.candidates.iter().find(|one| one.kind.to_string() == kind).unwrap();
        assert_eq!(explained.stale, stale, "{kind}");
    }
    assert_eq!(made.packages[0].stale, [renamed("src/pay.rs", "src/gateway.rs")]);
    assert_eq!(made.notes[0].stale, [gone("src/old.rs")]);
}

#[test]
fn without_an_index_nothing_is_claimed() {
    let world = World::new();
    let mut draft = package("gateway");
    draft.summary = "The payment gateway retries in src/pay.rs twice.".to_owned();
    world.add(draft);
    let made = world.compose(&asked());
    assert!(made.markdown.contains("retries in src/pay.rs twice."), "{}", made.markdown);
    assert!(item(&made, "package").stale.is_empty());
    assert!(!item(&made, "package").terms.contains_key("stale"));
}

#[test]
fn what_is_about_things_that_are_gone_sinks_but_not_without_bounds() {
    let mut world = World::new();
    for (name, file) in [("other", "src/pay.rs"), ("first", "src/old.rs")] {
        let mut draft = package(name);
        draft.summary = format!("The payment gateway retries in {file} after a timeout.");
        world.add(draft);
    }
    assert_eq!(names(&world.compose(&asked())), ["first", "other"]);
    world.stale = vec![gone("src/old.rs")];
    let made = world.compose(&asked());
    assert_eq!(names(&made), ["other", "first"]);
    let sunk = &made.packages[1];
    let terms = &made.receipt.items[1].terms;
    assert!(terms["stale"] < 0.0 && terms["stale"] >= -sunk.score, "{terms:?}");
    assert!((terms.values().sum::<f64>() - sunk.score).abs() < 1e-9);
    // A new name is no reason.
    world.stale = vec![renamed("src/old.rs", "src/new.rs")];
    assert_eq!(names(&world.compose(&asked())), ["first", "other"]);
}

#[test]
fn a_reverted_commit_is_left_out() {
    let mut world = World::new();
    let text = "The payment gateway retries after a timeout, since orders were lost.";
    learn(&world, NoteKind::Commit, "1a2b3c4d5e", vec![note(&world, "n_1", text)]);
    assert_eq!(fates(&world.compose(&asked()))["note n_1"], Fate::Fits);
    let (name, by) = ("1a2b3c4d5e".to_owned(), "99aa".to_owned());
    world.stale = vec![StaleName::Reverted { name, by }];
    let made = world.compose(&asked());
    assert_eq!(fates(&made)["note n_1"], Fate::Amended);
    assert!(!made.markdown.contains("orders were lost"));
}

#[test]
fn a_section_that_changed_is_read_anew() {
    let mut world = World::new();
    let text = "The payment gateway retries twice.";
    learn(&world, NoteKind::Doc, "docs/pay.md", vec![note(&world, "n_1", text)]);
    world.section = SectionNow::Changed("The payment gateway never retries.".to_owned());
    let made = world.compose(&asked());
    assert!(made.markdown.contains("> The payment gateway never retries."), "{}", made.markdown);
    assert!(!made.markdown.contains("twice"));
    assert_eq!(item(&made, "note").trust, Trust::Agent);
    world.section = SectionNow::Gone;
    let made = world.compose(&asked());
    assert_eq!(fates(&made)["note n_1"], Fate::FileGone);
    assert!(!made.markdown.contains("twice"));
}
