//! Cases of [`Receipts`](crate::Receipts).

use handover_model::learn::{UseTallies, UseTally};
use handover_model::{ItemKind, PackageId, ProjectId, ReceiptId, ReceiptItem, ReceiptState, Use};

use super::Backend;
use super::fixture::*;
use crate::{ItemSums, ItemUse, NewReceipt, ReceiptFilter, ReceiptStep, ReceiptSums, StoreError};

fn delivered() -> ReceiptStep {
    ReceiptStep::Delivered { host: Some(clean("claude")) }
}

fn id(text: &str) -> ReceiptId {
    ReceiptId::new(text).unwrap()
}

/// Everything that was written reads back.
pub fn reads_back_completely(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let a = register(&*store, package(&session, "a.md", "a")).id;
    let new = receipt(&session, "r1", &[a]);
    store.put_receipt(&new).unwrap();
    let kept = store.receipt(&new.id).unwrap();
    assert_eq!(kept.state, ReceiptState::Assembled);
    assert_eq!((&kept.items, &kept.sections), (&new.items, &new.sections));
    assert_eq!((&kept.left_out, &kept.left_out_counts), (&new.left_out, &new.left_out_counts));
    assert_eq!((&kept.redactions, kept.tokens), (&new.redactions, 180));
    assert_eq!((&kept.trimmed, &kept.provided), (&new.trimmed, &new.provided));
    assert_eq!(kept.text.as_deref(), Some("## Context"));
    assert_eq!(kept.task.as_deref(), Some("Rotate the tokens."));
    assert_eq!(store.receipt(&id("r1")).unwrap(), kept);
    assert!(matches!(store.receipt(&id("none")), Err(StoreError::NotFound { .. })));
}

/// The items of every receipt of the session, and of no other.
pub fn lists_the_items_of_all_receipts(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = (session(&*store, "s1"), session(&*store, "s2"));
    let a = register(&*store, package(&one, "a.md", "a")).id;
    let b = register(&*store, package(&one, "b.md", "b")).id;
    store.put_receipt(&receipt(&one, "r2", &[b, a])).unwrap();
    store.put_receipt(&receipt(&one, "r1", &[a])).unwrap();
    store.put_receipt(&receipt(&two, "r3", &[])).unwrap();
    store.mark_read(&id("r2"), a, at(9)).unwrap();
    let seen: Vec<_> = store
        .handed(&one)
        .unwrap()
        .into_iter()
        .map(|handed| (handed.receipt.to_string(), handed.item, handed.read_at))
        .collect();
    let row = |receipt: &str, item: PackageId, read| (receipt.to_owned(), item.to_string(), read);
    assert_eq!(seen, [row("r1", a, None), row("r2", b, None), row("r2", a, Some(at(9)))]);
    let all = store.handed(&one).unwrap();
    let by = |names: &[&str]| {
        let ids: Vec<ReceiptId> = names.iter().map(|name| id(name)).collect();
        store.handed_by(&one, &ids).unwrap()
    };
    assert_eq!(by(&["r2", "r1", "r2", "none"]), all);
    assert_eq!(by(&["r2"]), all[1..]);
    assert_eq!(store.handed_by(&two, &[id("r1")]).unwrap(), [], "of another session");
}

/// assembled → delivered → confirmed; a step back is rejected; repeating a step changes nothing.
pub fn steps_are_ordered(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    store.put_receipt(&receipt(&session, "r1", &[])).unwrap();
    assert!(matches!(
        store.advance_receipt(&id("r1"), &ReceiptStep::Confirmed, at(1)),
        Err(StoreError::WrongState { from: ReceiptState::Assembled, .. })
    ));
    let receipt1 = store.advance_receipt(&id("r1"), &delivered(), at(2)).unwrap();
    assert_eq!((receipt1.state, receipt1.delivered_at), (ReceiptState::Delivered, Some(at(2))));
    let again = store.advance_receipt(&id("r1"), &delivered(), at(3)).unwrap();
    assert_eq!(again, receipt1);
    let receipt1 = store.advance_receipt(&id("r1"), &ReceiptStep::Confirmed, at(4)).unwrap();
    assert_eq!((receipt1.confirmed_at, receipt1.host.as_deref()), (Some(at(4)), Some("claude")));
    let fail = ReceiptStep::Failed { reason: clean("password=correct-horse") };
    assert!(store.advance_receipt(&id("r1"), &fail, at(5)).is_err());

    store.put_receipt(&receipt(&session, "r2", &[])).unwrap();
    let failed = store.advance_receipt(&id("r2"), &fail, at(5)).unwrap();
    assert_eq!(failed.failure.as_deref(), Some("password=[REDACTED-1]"));
    assert!(store.advance_receipt(&id("r2"), &delivered(), at(6)).is_err());
}

/// Assembling consumes nothing, delivery does, and a failure undoes it.
pub fn only_delivery_consumes(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let a = register(&*store, package(&session, "a.md", "a")).id;
    store.put_receipt(&receipt(&session, "r1", &[a])).unwrap();
    let consumed = || store.consumed(&session, None, &role("developer"), 0, at(9)).unwrap();
    assert_eq!(consumed(), []);
    assert_eq!(store.package_deliveries(a).unwrap(), []);
    store.advance_receipt(&id("r1"), &delivered(), at(2)).unwrap();
    assert_eq!(consumed(), [(a, 1)]);
    let delivery = &store.package_deliveries(a).unwrap()[0];
    assert_eq!((&delivery.receipt, delivery.delivered_at), (&id("r1"), at(2)));
    store
        .advance_receipt(&id("r1"), &ReceiptStep::Failed { reason: clean("died") }, at(3))
        .unwrap();
    assert_eq!(consumed(), []);
}

/// A retry, another role and another group each get everything again.
pub fn consumption_is_per_group_role_and_iteration(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let a = register(&*store, package(&session, "a.md", "a")).id;
    let mut new = receipt(&session, "r1", &[a]);
    new.group = Some(group_id("P1"));
    new.iteration = 1;
    store.put_receipt(&new).unwrap();
    store.advance_receipt(&id("r1"), &delivered(), at(1)).unwrap();
    let p1 = group_id("P1");
    let consumed = |group, r: &str, iteration| {
        store.consumed(&session, group, &role(r), iteration, at(9)).unwrap().len()
    };
    assert_eq!(consumed(Some(&p1), "developer", 1), 1);
    assert_eq!(consumed(Some(&p1), "developer", 0), 0);
    assert_eq!(consumed(Some(&p1), "qa_expert", 1), 0);
    assert_eq!(consumed(None, "developer", 1), 0);
    assert!(store.consumed(&session_id("nobody"), None, &role("developer"), 0, at(0)).is_err());
}

/// The first opening of the file counts.
pub fn reading_is_noted_once(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let a = register(&*store, package(&session, "a.md", "a")).id;
    store.put_receipt(&receipt(&session, "r1", &[a])).unwrap();
    store.advance_receipt(&id("r1"), &delivered(), at(1)).unwrap();
    store.mark_read(&id("r1"), a, at(5)).unwrap();
    let receipt1 = store.mark_read(&id("r1"), a, at(6)).unwrap();
    assert_eq!(receipt1.items[0].read_at, Some(at(5)));
    assert_eq!(store.package_deliveries(a).unwrap()[0].read_at, Some(at(5)));
    assert!(store.mark_read(&id("r1"), PackageId(4711), at(6)).is_err());
    assert!(store.mark_read(&id("none"), a, at(6)).is_err());
}

/// What became of items is kept beside them; other items stay as they are.
pub fn use_is_kept_per_item(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let a = register(&*store, package(&session, "a.md", "a")).id;
    let b = register(&*store, package(&session, "b.md", "b")).id;
    let c = register(&*store, package(&session, "c.md", "c")).id;
    store.put_receipt(&receipt(&session, "r1", &[a, b, c])).unwrap();
    store.put_receipt(&receipt(&session, "r2", &[a])).unwrap();
    let used = |receipt: &str| -> Vec<Option<Use>> {
        store.receipt(&id(receipt)).unwrap().items.into_iter().map(|item| item.used).collect()
    };
    assert_eq!(used("r1"), [None, None, None]);
    let of = |package: PackageId, used| ItemUse {
        kind: ItemKind::Package,
        item: package.to_string(),
        used,
    };
    let unknown = ItemUse { kind: ItemKind::Note, ..of(b, Use::Named) };
    store.mark_used(&id("r1"), &[of(a, Use::Opened), of(c, Use::Unused), unknown]).unwrap();
    assert_eq!(used("r1"), [Some(Use::Opened), None, Some(Use::Unused)]);
    store.mark_used(&id("r1"), &[of(b, Use::Echoed), of(c, Use::Named)]).unwrap();
    assert_eq!(used("r1"), [Some(Use::Opened), Some(Use::Echoed), Some(Use::Named)]);
    assert_eq!(used("r2"), [None]);
    assert!(store.mark_used(&id("none"), &[]).is_err());
}

/// What was judged is tallied per item and for the kind, once for each receipt, fading from the time of the receipt; what
/// is purged counts no more, and a rebuilt index has the same tallies.
pub fn uses_are_tallied(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = (session(&*store, "s1"), session(&*store, "s2"));
    let project = store.session(&one).unwrap().project;
    let a = register(&*store, package(&one, "a.md", "a")).id;
    let b = register(&*store, package(&one, "b.md", "b")).id;
    let month = 30 * 86_400;
    for (session, name, seconds) in [(&one, "r1", 0), (&one, "r2", month), (&two, "r3", month)] {
        store
            .put_receipt(&NewReceipt { now: at(seconds), ..receipt(session, name, &[a, b]) })
            .unwrap();
    }
    let of = |package: PackageId, used| ItemUse {
        kind: ItemKind::Package,
        item: package.to_string(),
        used,
    };
    let tallies = || {
        let asked = [a.to_string(), b.to_string(), "4711".to_owned()];
        let found = store.use_tallies(&project, ItemKind::Package, &asked).unwrap();
        let numbers = |tally: UseTally| {
            assert_eq!(tally.at, at(month));
            [tally.used, tally.judged].map(|number| (number * 1e6).round() / 1e6)
        };
        assert_eq!(found.items[2], None);
        (found.of_kind.map(numbers), [found.items[0].map(numbers), found.items[1].map(numbers)])
    };
    let nothing = store.use_tallies(&project, ItemKind::Package, &[a.to_string()]).unwrap();
    assert_eq!(nothing, UseTallies { of_kind: None, items: vec![None] });
    store.mark_used(&id("r2"), &[of(a, Use::Unused), of(b, Use::Unused)]).unwrap();
    store.mark_used(&id("r1"), &[of(a, Use::Opened), of(PackageId(9), Use::Opened)]).unwrap();
    // An older brief counts half.
    assert_eq!(tallies(), (Some([0.5, 2.5]), [Some([0.5, 1.5]), Some([0.0, 1.0])]));
    // Judged again, it moves; a further word for the same changes nothing.
    store.mark_used(&id("r2"), &[of(a, Use::Echoed)]).unwrap();
    store.mark_used(&id("r2"), &[of(a, Use::Opened)]).unwrap();
    assert_eq!(tallies(), (Some([1.5, 2.5]), [Some([1.5, 1.5]), Some([0.0, 1.0])]));
    store.mark_used(&id("r3"), &[of(b, Use::Named)]).unwrap();
    let before = tallies();
    assert_eq!(before, (Some([2.5, 3.5]), [Some([1.5, 1.5]), Some([1.0, 2.0])]));
    store.reindex(None).unwrap();
    assert_eq!(tallies(), before);
    store.purge_session(&two).unwrap();
    assert_eq!(tallies(), (Some([1.5, 2.5]), [Some([1.5, 1.5]), Some([0.0, 1.0])]));
    let notes = store.use_tallies(&project, ItemKind::Note, &[]).unwrap();
    assert_eq!(notes, UseTallies::default());
}

/// All sessions or one; by group and role; newest first.
pub fn listings(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = (session(&*store, "s1"), session(&*store, "s2"));
    for (session, name, seconds) in [(&one, "r1", 1), (&two, "r2", 2), (&one, "r3", 3)] {
        let mut new = receipt(session, name, &[]);
        new.now = at(seconds);
        new.role = role(if seconds == 3 { "qa_expert" } else { "developer" });
        new.group = (seconds == 3).then(|| group_id("P1"));
        store.put_receipt(&new).unwrap();
    }
    let ids = |filter: ReceiptFilter| -> Vec<String> {
        store.receipts(&filter).unwrap().into_iter().map(|r| r.id.to_string()).collect()
    };
    assert_eq!(ids(ReceiptFilter::default()), ["r3", "r2", "r1"]);
    let of = |session| ReceiptFilter { session: Some(session), ..Default::default() };
    assert_eq!(ids(of(one.clone())), ["r3", "r1"]);
    assert_eq!(ids(ReceiptFilter { role: Some(role("developer")), ..of(one) }), ["r1"]);
    let group = ReceiptFilter { group: Some(group_id("P1")), ..Default::default() };
    assert_eq!(ids(group), ["r3"]);
    assert_eq!(ids(ReceiptFilter { limit: Some(1), ..Default::default() }), ["r3"]);
    let page = |skip, limit| ReceiptFilter { skip, limit, ..Default::default() };
    assert_eq!(ids(page(1, Some(1))), ["r2"]);
    assert_eq!(ids(page(2, None)), ["r1"]);
    assert!(ids(page(3, Some(9))).is_empty());
    let made = |since: Option<i64>, until: Option<i64>| ReceiptFilter {
        since: since.map(at),
        until: until.map(at),
        ..Default::default()
    };
    assert_eq!(ids(made(Some(2), None)), ["r3", "r2"]);
    assert_eq!(ids(made(None, Some(2))), ["r2", "r1"]);
    assert_eq!(ids(made(Some(2), Some(2))), ["r2"]);
    let long = "é".repeat(500);
    let new = NewReceipt { task: Some(clean(&long)), now: at(4), ..receipt(&two, "r4", &[]) };
    store.put_receipt(&new).unwrap();
    let listed = store.receipts(&ReceiptFilter::default()).unwrap();
    assert_eq!(listed[0].task.as_deref(), Some("é".repeat(200).as_str()), "only its beginning");
    assert_eq!(store.receipt(&id("r4")).unwrap().task, Some(long));
}

/// Sums of a period, of one project; a note without tokens belongs to the item before it.
pub fn sums_of_a_period(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let project = store.session(&session).unwrap().project;
    let a = register(&*store, package(&session, "a.md", "a")).id;
    let b = register(&*store, package(&session, "b.md", "b")).id;
    for (name, seconds) in [("r1", 1), ("r2", 10), ("r3", 20), ("r4", 30)] {
        let mut new = NewReceipt { now: at(seconds), ..receipt(&session, name, &[a, b]) };
        let item = new.items[0].clone();
        let other = |kind, id: &str, tokens| ReceiptItem {
            kind,
            id: id.to_owned(),
            tokens,
            ..item.clone()
        };
        new.items.push(other(ItemKind::Note, "n1", 7));
        new.items.push(other(ItemKind::Note, "n2", 0));
        new.items.push(other(ItemKind::Note, "n3", 0));
        new.items.push(other(ItemKind::Error, "e1", 11));
        store.put_receipt(&new).unwrap();
    }
    for name in ["r1", "r2", "r3"] {
        store.advance_receipt(&id(name), &delivered(), at(40)).unwrap();
    }
    store.advance_receipt(&id("r3"), &ReceiptStep::Confirmed, at(41)).unwrap();
    let of = |kind, item: &str, used| ItemUse { kind, item: item.to_owned(), used };
    for name in ["r1", "r2"] {
        let uses = [
            of(ItemKind::Package, &a.to_string(), Use::Unused),
            of(ItemKind::Package, &b.to_string(), Use::Named),
            of(ItemKind::Note, "n1", Use::Unused),
            of(ItemKind::Note, "n2", Use::Echoed),
            of(ItemKind::Note, "n3", Use::Opened),
        ];
        store.mark_used(&id(name), &uses).unwrap();
    }
    let sums = store.receipt_sums(&project, at(10)).unwrap();
    let by_state = [ReceiptState::Assembled, ReceiptState::Delivered, ReceiptState::Confirmed];
    assert_eq!(sums.by_state, by_state.map(|state| (state, 1)).into());
    assert_eq!((sums.delivered(), sums.tokens), (2, 360));
    assert_eq!(sums.redactions, [("jwt".to_owned(), 6)].into());
    let items = store.item_sums(&project, at(10)).unwrap();
    assert_eq!(items, ItemSums { errors: 2, judged: 1, tokens: 89, used_tokens: 48 });
    let all = store.item_sums(&project, at(0)).unwrap();
    assert_eq!(all, ItemSums { errors: 3, judged: 2, tokens: 178, used_tokens: 96 });
    let nobody = ProjectId::new("nobody").unwrap();
    assert_eq!(store.receipt_sums(&nobody, at(0)).unwrap(), ReceiptSums::default());
    assert_eq!(store.item_sums(&nobody, at(0)).unwrap(), ItemSums::default());
    let only = ReceiptFilter { state: Some(ReceiptState::Confirmed), ..Default::default() };
    let only = store.receipts(&only).unwrap();
    assert_eq!(only.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["r3"]);
}

/// A claim lasts a minute; after that its process is presumed dead.
pub fn a_claim_holds_for_a_while(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let a = register(&*store, package(&session, "a.md", "a")).id;
    let mut new = receipt(&session, "r1", &[a]);
    new.claim = true;
    store.put_receipt(&new).unwrap();
    let consumed =
        |seconds| store.consumed(&session, None, &role("developer"), 0, at(seconds)).unwrap();
    assert_eq!(consumed(59), [(a, 1)]);
    assert_eq!(consumed(60), []);
    store.advance_receipt(&id("r1"), &delivered(), at(61)).unwrap();
    assert_eq!(consumed(600), [(a, 1)]);
}

/// A receipt that was assembled earlier goes to one agent only, and counts as an attempt once it was delivered.
pub fn only_one_agent_gets_a_receipt(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let attempts =
        |seconds| store.deliveries(&session, None, &role("developer"), at(seconds)).unwrap();
    store.put_receipt(&receipt(&session, "r1", &[])).unwrap();
    store.claim_receipt(&id("r1"), at(0)).unwrap();
    let again = store.claim_receipt(&id("r1"), at(59));
    assert!(matches!(again, Err(StoreError::Claimed { .. })));
    store.claim_receipt(&id("r1"), at(60)).unwrap();
    assert_eq!((attempts(119), attempts(120)), (1, 0), "a claim counts while it is live");
    store.advance_receipt(&id("r1"), &delivered(), at(61)).unwrap();
    let late = store.claim_receipt(&id("r1"), at(600));
    assert!(matches!(late, Err(StoreError::WrongState { from: ReceiptState::Delivered, .. })));
    assert_eq!(attempts(600), 1);
    let other = store.deliveries(&session, Some(&group_id("P1")), &role("developer"), at(0));
    assert_eq!(other.unwrap(), 0);
    assert!(store.claim_receipt(&id("none"), at(0)).is_err());
}
