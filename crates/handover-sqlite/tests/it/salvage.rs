//! Repair after damage anywhere: what comes back was there before, what does not is named, and the new store
//! is sound.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use handover_model::{Phase, ReceiptId};
use handover_sqlite::{Repaired, SqliteStore};
use handover_store::conformance::fixture::*;
use handover_store::{
    ErrorFilter, ErrorPatterns, EventFilter, Events, PackageFilter, Packages, ReasoningFilter,
    Reasonings, Receipts, Sessions, Store, StoreError, TextIndex, Versions,
};

use crate::file::raw;

/// A store with a few records of each kind, on several pages of the file.
struct Filled {
    folder: tempfile::TempDir,
    path: PathBuf,
}

/// Every record of a store by its name, as text.
type Contents = BTreeMap<String, String>;

impl Filled {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store = SqliteStore::open(&path).unwrap();
        for n in 0..6 {
            let id = session(&store, &format!("s{n}"));
            for version in 0..2 {
                let body = format!("zebra {n} {version} {}", "stripes ".repeat(300));
                store.register_packages(&[package(&id, "a.md", &body)]).unwrap();
            }
            store.add_reasoning(&reasoning(&id, Phase::Risks, &format!("risk {n}"))).unwrap();
            store.log_event(&event(&id, "verdict", None)).unwrap();
            store.put_receipt(&receipt(&id, &format!("r{n}"), &[])).unwrap();
            store.resolve_error(&sighting(&format!("error {n}x")), &clean("turn it off")).unwrap();
        }
        drop(store);
        Self { folder, path }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Repairs a damaged copy of the file; the attempt has a number.
    fn salvage(
        &self,
        number: usize,
        damaged: &[u8],
        copy: Option<&Path>,
    ) -> (Repaired, SqliteStore) {
        let (broken, new) =
            (self.at(&format!("{number}.broken")), self.at(&format!("{number}.db")));
        fs_err::write(&broken, damaged).unwrap();
        let scratch = self.at(&format!("{number}.scratch"));
        let repaired = handover_sqlite::salvage(&broken, copy, &new, &scratch).unwrap();
        (repaired, SqliteStore::open(&new).unwrap())
    }
}

fn contents(store: &SqliteStore) -> Contents {
    let mut contents = Contents::new();
    for session in store.sessions(None).unwrap() {
        let id = &session.id;
        contents.insert(format!("session {id}"), format!("{session:?}"));
        let all = PackageFilter { versions: Versions::All, ..PackageFilter::default() };
        for package in store.packages(id, &all).unwrap() {
            let body = store.package_body(package.id).unwrap();
            contents.insert(format!("package {}", package.id), body);
        }
        for entry in store.reasoning(id, &ReasoningFilter::default()).unwrap() {
            contents.insert(format!("reasoning {}", entry.id), entry.content);
        }
        for event in store.events(id, &EventFilter::default()).unwrap() {
            contents.insert(format!("event {}", event.id), event.payload.to_string());
        }
    }
    for receipt in store.receipts(&Default::default()).unwrap() {
        contents.insert(format!("receipt {}", receipt.id), receipt.prompt_hash);
    }
    for pattern in store.errors(&project(), &ErrorFilter::default()).unwrap() {
        contents.insert(format!("error {}", pattern.hash), pattern.signature.message);
        if let Some(solution) = pattern.solution {
            contents.insert(format!("solution of {}", pattern.hash), solution);
        }
    }
    contents
}

/// Whether a record stands in for one that was lost.
fn is_stand_in(name: &str, text: &str) -> bool {
    name.starts_with("session recovered-") || text.contains("was lost with a damaged store")
}

#[track_caller]
fn assert_sound(store: &SqliteStore, what: &str) {
    for check in store.check().unwrap() {
        assert_eq!(check.problems, [""; 0], "{what}: {}", check.part);
    }
}

/// A page of zeros, of noise, or of another page, in the place of each one in turn.
#[test]
fn any_lost_page_costs_only_what_was_on_it() {
    let filled = Filled::new();
    let whole = fs_err::read(&filled.path).unwrap();
    let before = contents(&SqliteStore::open(&filled.path).unwrap());
    let pages = whole.len() / 4096;
    assert!(pages > 20, "{pages}");
    let (mut lost_something, mut costly) = (0, Vec::new());
    for page in 1..pages {
        let mut damaged = whole.clone();
        let place = page * 4096..(page + 1) * 4096;
        match page % 3 {
            0 => damaged[place].fill(0),
            1 => damaged[place].fill(0xA5),
            _ => damaged.copy_within(4096 * (pages - page)..4096 * (pages - page + 1), place.start),
        }
        let (repaired, store) = filled.salvage(page, &damaged, None);
        assert_sound(&store, &format!("page {page}"));
        let after = contents(&store);
        for (name, text) in &after {
            let known = before.get(name) == Some(text) || is_stand_in(name, text);
            assert!(known, "page {page}: {name} is {text}, not {:?}", before.get(name));
        }
        let missing: Vec<_> =
            before.iter().filter(|(name, text)| after.get(*name) != Some(text)).collect();
        if !missing.is_empty() {
            lost_something += 1;
            // A page of another table may be read as one of this: nothing is wrong with it but its content.
            let is_noticed = !repaired.lost.is_empty() || page % 3 == 2;
            assert!(is_noticed, "page {page}: {:?} without a word", missing[0].0);
        }
        if missing.len() > before.len() / 2 {
            costly.push(page);
        }
    }
    assert!(lost_something > 3, "the damage hit nothing");
    // Without the page that says where the tables are, only a copy helps.
    assert!(costly.len() <= pages / 10, "{costly:?} of {pages}");
}

#[test]
fn with_a_good_copy_nothing_is_lost() {
    let filled = Filled::new();
    let copy = filled.at("copy.db");
    let store = SqliteStore::open(&filled.path).unwrap();
    store.back_up(&copy).unwrap();
    let before = contents(&store);
    drop(store);
    let whole = fs_err::read(&filled.path).unwrap();
    for (number, damaged) in [
        whole[..whole.len() / 2].to_vec(),
        whole[..100].to_vec(),
        vec![0; whole.len()],
        Vec::new(),
        whole.iter().map(|byte| byte ^ 0x11).collect(),
    ]
    .into_iter()
    .enumerate()
    {
        let (repaired, store) = filled.salvage(number, &damaged, Some(&copy));
        assert_sound(&store, &format!("case {number}"));
        assert_eq!(contents(&store), before, "case {number}");
        assert!(repaired.from_copy > 0, "case {number}: {repaired:?}");
    }
    // Nothing is taken from the copy that the store has itself.
    let (repaired, store) = filled.salvage(9, &whole, Some(&copy));
    assert_eq!((repaired.from_copy, repaired.lost.len()), (0, 0));
    assert_eq!(contents(&store), before);
}

/// Records whose parents nobody has keep their place behind stand-ins.
#[test]
fn what_refers_to_something_lost_is_kept() {
    let filled = Filled::new();
    let connection = raw(&filled.path);
    connection
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             DELETE FROM session WHERE id = 's1';
             DELETE FROM package_body WHERE package = 5;
             DELETE FROM package WHERE id = 1;",
        )
        .unwrap();
    drop(connection);
    let damaged = fs_err::read(&filled.path).unwrap();
    let (repaired, store) = filled.salvage(0, &damaged, None);
    assert_sound(&store, "stand-ins");
    assert_eq!(repaired.lost, ["package 1", "the text of package 5"]);
    let recovered = session_id("recovered-2");
    let stand_in = store.session(&recovered).unwrap();
    assert_eq!((stand_in.project, stand_in.status.as_str()), (project(), "completed"));
    let thoughts = store.reasoning(&recovered, &ReasoningFilter::default()).unwrap();
    assert_eq!(thoughts[0].content, "risk 1");
    assert_eq!(store.receipt(&ReceiptId::new("r1").unwrap()).unwrap().session, recovered);
    // The second version of a package whose first is gone is the only one now.
    let latest = store.packages(&session_id("s0"), &PackageFilter::default()).unwrap();
    assert_eq!((latest.len(), latest[0].id.0, latest[0].supersedes), (1, 2, None));
    // And all of it can be found.
    assert_eq!(store.postings(&recovered, &["zebra".to_owned()]).unwrap()[0].count(), 1);
}

#[test]
fn a_repaired_store_replaces_a_missing_one_and_one_that_nobody_can_open() {
    let filled = Filled::new();
    let copy = filled.at("copy.db");
    let before = {
        let store = SqliteStore::open(&filled.path).unwrap();
        store.back_up(&copy).unwrap();
        contents(&store)
    };
    for (number, damage) in
        [None, Some("x".repeat(9_000)), Some(String::new())].into_iter().enumerate()
    {
        let (_, repaired) = filled.salvage(number, &[], Some(&copy));
        drop(repaired);
        fs_err::remove_file(&filled.path).unwrap();
        // A log that belongs to the former file must not be applied to the new one.
        fs_err::write(filled.at("store.db-wal"), "not a log").unwrap();
        if let Some(damage) = damage {
            fs_err::write(&filled.path, damage).unwrap();
        }
        handover_sqlite::replace(&filled.path, &filled.at(&format!("{number}.db")), &|| true)
            .unwrap();
        let store = SqliteStore::open(&filled.path).unwrap();
        assert_sound(&store, &format!("case {number}"));
        assert_eq!(contents(&store), before, "case {number}");
    }
}

#[test]
fn a_copy_is_replaced_as_a_whole_and_private() {
    use std::os::unix::fs::PermissionsExt;
    let filled = Filled::new();
    let copy = filled.at("copy.db");
    let store = SqliteStore::open(&filled.path).unwrap();
    fs_err::write(&copy, "an older copy").unwrap();
    // What a power failure may have left.
    fs_err::write(filled.at("copy.db.new"), "half a copy").unwrap();
    store.back_up(&copy).unwrap();
    assert!(!filled.at("copy.db.new").exists());
    assert_eq!(fs_err::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let first = contents(&SqliteStore::open(&copy).unwrap());
    assert_eq!(first, contents(&store));
    // A later copy has what was written since; what is in a log only counts, too.
    store.add_reasoning(&reasoning(&session_id("s0"), Phase::Risks, "later")).unwrap();
    store.back_up(&copy).unwrap();
    assert_eq!(contents(&SqliteStore::open(&copy).unwrap()).len(), first.len() + 1);
    let error = store.back_up(&filled.at("no/folder/copy.db")).unwrap_err();
    assert!(matches!(error, StoreError::Backend { .. }), "{error}");
}

#[test]
fn copies_are_made_while_others_write() {
    let filled = Filled::new();
    let id = session_id("s0");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let store = SqliteStore::open(&filled.path).unwrap();
            for n in 0..60 {
                let mut both = |store: &dyn Store| {
                    store.add_reasoning(&reasoning(&id, Phase::Risks, &format!("new {n}")))?;
                    store.log_event(&event(&id, "built", None)).map(drop)
                };
                store.exclusively(&mut both).unwrap();
            }
        });
        let mut copies = 0;
        while !writer.is_finished() || copies == 0 {
            let copy = filled.at("copy.db");
            SqliteStore::open(&filled.path).unwrap().back_up(&copy).unwrap();
            let copy = SqliteStore::open(&copy).unwrap();
            assert_sound(&copy, "a copy");
            // Both halves of each transaction, or none.
            let thoughts = copy.reasoning(&id, &ReasoningFilter::default()).unwrap().len();
            assert_eq!(copy.events(&id, &EventFilter::default()).unwrap().len(), thoughts);
            drop(copy);
            for end in ["", "-wal", "-shm"] {
                let _ = fs_err::remove_file(filled.at(&format!("copy.db{end}")));
            }
            copies += 1;
        }
    });
}
