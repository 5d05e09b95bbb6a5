//! The triggers of the feed, and the statements behind them.

use std::path::Path;

use handover_model::{Phase, ReceiptId};
use handover_sqlite::SqliteStore;
use handover_store::conformance::fixture::*;
use handover_store::{
    Events, Feed, Packages, Reasonings, ReceiptStep, Receipts, Sessions, SkillOutputs, Store,
    StoreError,
};

use crate::file::raw;

fn store(folder: &Path) -> SqliteStore {
    SqliteStore::open(&folder.join("store.db")).unwrap()
}

#[test]
fn ids_of_the_feed_are_never_used_twice() {
    let folder = tempfile::tempdir().unwrap();
    let one = store(folder.path());
    let id = session(&one, "s1");
    let last = one.feed_span().unwrap().last;
    assert!(last > 0);
    // As when old entries are dropped.
    raw(&folder.path().join("store.db")).execute("DELETE FROM change", []).unwrap();
    let span = one.feed_span().unwrap();
    assert_eq!((span.first, span.last), (last + 1, last));
    assert!(one.changes(0, 100).unwrap().is_empty());
    one.add_reasoning(&reasoning(&id, Phase::Risks, "x")).unwrap();
    let next = one.changes(last, 100).unwrap();
    assert!(!next.is_empty() && next.iter().all(|change| change.id > last), "{next:?}");
}

#[test]
fn the_feed_is_read_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let id = session(&store, "s1");
    for n in 0..9 {
        store.register_packages(&[package(&id, &format!("{n}.md"), "x")]).unwrap();
    }
    let all = store.changes(0, 1_000).unwrap();
    let mut paged = Vec::new();
    loop {
        let after = paged.last().map_or(0, |change: &handover_model::Change| change.id);
        let page = store.changes(after, 4).unwrap();
        assert!(page.len() <= 4);
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, all);
    assert_eq!(store.changes(u64::MAX, 4).unwrap(), []);
    assert_eq!(store.changes(0, 0).unwrap(), []);
    assert_eq!(store.feed_span().unwrap().last, all.last().unwrap().id);
}

#[test]
fn a_transaction_that_fails_leaves_no_gap_that_a_reader_waits_for() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let id = session(&store, "s1");
    let before = store.feed_span().unwrap();
    let failed = store.exclusively(&mut |store| {
        store.log_event(&event(&id, "verdict", None))?;
        store.put_receipt(&receipt(&id, "r1", &[]))?;
        Err(StoreError::Aborted)
    });
    assert!(failed.is_err());
    assert_eq!(store.feed_span().unwrap(), before);
    store.put_receipt(&receipt(&id, "r1", &[])).unwrap();
    let step = ReceiptStep::Delivered { host: None };
    store.advance_receipt(&ReceiptId::new("r1").unwrap(), &step, at(1)).unwrap();
    let after = store.changes(before.last, 10).unwrap();
    assert_eq!(after.first().map(|change| change.id), Some(before.last + 1));
}

#[test]
fn purging_a_session_leaves_no_row_behind_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(&path).unwrap();
    let (gone, stays) = (session(&store, "gone"), session(&store, "stays"));
    for id in [&gone, &stays] {
        let a = register(&store, package(id, "a.md", "zebra")).id;
        store.put_receipt(&receipt(id, &format!("r_{id}"), &[a])).unwrap();
        store.add_reasoning(&reasoning(id, Phase::Risks, "x")).unwrap();
        store.log_event(&event(id, "verdict", None)).unwrap();
        store.save_skill_output(&skill_output(id, "scan")).unwrap();
    }
    let counts = |connection: &rusqlite::Connection| -> Vec<(String, i64)> {
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
            AND name NOT IN ('change', 'session') ORDER BY name";
        let mut statement = connection.prepare(tables).unwrap();
        let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let names: Vec<String> = names.map(Result::unwrap).collect();
        names
            .into_iter()
            .map(|name| {
                let sql = format!("SELECT count(*) FROM {name}");
                let count = connection.query_row(&sql, [], |row| row.get(0)).unwrap();
                (name, count)
            })
            .collect()
    };
    let before = counts(&raw(&path));
    store.purge_session(&gone).unwrap();
    for ((name, before), (_, after)) in before.into_iter().zip(counts(&raw(&path))) {
        assert_eq!(after * 2, before, "{name}: one of two sessions is gone");
    }
}
