//! A text index that does not match its packages is found, refused where it cannot be read, and rebuilt.

use std::path::PathBuf;

use handover_model::{
    GroupId, PackageId, PackageKind, Priority, ProjectId, Role, Scope, SessionId, Timestamp,
};
use handover_sqlite::SqliteStore;
use handover_store::{
    CheckedPart, Column, IndexError, IndexPart, NewPackage, NewSession, PackageFilter, Packages,
    Sessions, Store, StoreError, Supersede, TextIndex,
};
use handover_text::{CleanJson, Redactor, words};
use proptest::prelude::*;

use crate::file::raw;

fn package(session: &SessionId, n: i64, summary: &str, body: &str) -> NewPackage {
    let redactor = Redactor::default();
    NewPackage {
        session: session.clone(),
        group: None,
        scope: Scope::Global,
        kind: PackageKind::Research,
        path: format!("{n}.md"),
        title: None,
        summary: redactor.clean(summary),
        files: Vec::new(),
        body: redactor.clean(body),
        producer: Role::new("developer").unwrap(),
        consumers: Vec::new(),
        priority: Priority::High,
        iteration: None,
        size_bytes: 7,
        tokens: 2,
        content_hash: n.to_string(),
        supersede: Supersede::SamePath,
        created_at: Timestamp::from_micros(n),
        trust: handover_model::Trust::Project,
    }
}

struct Indexed {
    _folder: tempfile::TempDir,
    path: PathBuf,
    session: SessionId,
}

impl Indexed {
    /// A hundred packages about zebras, most of them in the postings.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store = SqliteStore::open(&path).unwrap();
        let session = SessionId::new("s1").unwrap();
        let new = NewSession {
            id: session.clone(),
            project: ProjectId::new("p").unwrap(),
            metadata: CleanJson::default(),
            now: Timestamp::from_micros(0),
        };
        store.open_session(&new).unwrap();
        let packages: Vec<NewPackage> =
            (0..100).map(|n| package(&session, n, "about zebras", "striped")).collect();
        for batch in packages.chunks(70) {
            store.register_packages(batch).unwrap();
        }
        Self { _folder: folder, path, session }
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.path).unwrap()
    }

    fn damage(&self, sql: &str) {
        assert!(raw(&self.path).execute(sql, []).unwrap() > 0, "{sql}");
    }

    fn problems(&self) -> Vec<String> {
        let checks = self.store().check().unwrap();
        let index = checks.into_iter().find(|check| check.part == CheckedPart::TextIndex);
        index.unwrap().problems
    }

    fn zebras(&self) -> Result<usize, StoreError> {
        Ok(self.store().postings(&self.session, &["zebra".to_owned()])?[0].count())
    }
}

#[test]
fn a_sound_index_has_no_problems() {
    let indexed = Indexed::new();
    assert_eq!(indexed.problems(), [""; 0]);
    assert_eq!(indexed.zebras().unwrap(), 100);
}

#[test]
fn every_difference_is_found_and_repaired() {
    for (damage, problem) in [
        ("DELETE FROM package_terms WHERE package = 7", "package 7 has no terms"),
        (
            "DELETE FROM posting_page WHERE term = 'zebra'",
            "1 pages of postings differ, the first for `zebra`",
        ),
        ("DELETE FROM candidate_sheet WHERE sheet = 0", "package 1 is not a candidate"),
        (
            "UPDATE package_body SET body = 'spotted' WHERE package = 9",
            "the terms of package 9 are not those of its text",
        ),
        (
            "UPDATE package SET priority = 'low' WHERE id = 9",
            "the candidate of package 9 is out of date",
        ),
        (
            "UPDATE package SET superseded_by = 10 WHERE id = 9",
            "package 9 should not be in the index",
        ),
        (
            "UPDATE candidate_sheet SET candidates = x'0100' WHERE sheet = 2",
            "candidates of the text index are damaged",
        ),
        (
            "UPDATE package_terms SET terms = x'01ff' WHERE package = 3",
            "terms of the text index are damaged",
        ),
    ] {
        let indexed = Indexed::new();
        indexed.damage(damage);
        let problems = indexed.problems();
        assert!(problems.iter().any(|found| found.contains(problem)), "{damage}: {problems:?}");
        indexed.store().reindex(None).unwrap();
        assert_eq!(indexed.problems(), [""; 0], "{damage}");
    }
}

#[test]
fn another_version_is_refused_until_the_index_is_rebuilt() {
    let indexed = Indexed::new();
    // The terms first: a search reads those of fresh packages, and a rebuilt index has none.
    let tables = [
        ("package_terms", "terms", IndexPart::Terms),
        ("posting_page", "postings", IndexPart::Postings),
        ("candidate_sheet", "candidates", IndexPart::Candidates),
    ];
    for (table, column, part) in tables {
        indexed.damage(&format!(
            "UPDATE {table} SET {column} = CAST(x'07' || substr({column}, 2) AS BLOB)"
        ));
        let found = match part {
            IndexPart::Candidates => {
                indexed.store().candidates(&indexed.session, None, None).map(drop)
            }
            IndexPart::Postings | IndexPart::Terms => indexed.zebras().map(drop),
        };
        let error = found.unwrap_err();
        let expected = IndexError::Version { part, found: 7 };
        assert!(matches!(error, StoreError::Index(found) if found == expected), "{error}");
        indexed.store().reindex(Some(&indexed.session)).unwrap();
        assert_eq!(indexed.zebras().unwrap(), 100);
    }
}

/// A registration: path, group, words of summary and body, time.
type Registered = (i64, u8, Vec<u8>, i64);

fn registrations() -> impl Strategy<Value = Vec<Vec<Registered>>> {
    let one = (0..40_i64, 0..3_u8, proptest::collection::vec(0..12_u8, 0..6), 0..6_i64);
    proptest::collection::vec(proptest::collection::vec(one, 1..40), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is registered and superseded in whatever order: the index holds the words of the latest
    /// versions, and rebuilding it changes nothing.
    #[test]
    fn the_index_is_that_of_the_latest_texts(batches in registrations()) {
        let indexed = Indexed::new();
        let (store, session) = (indexed.store(), &indexed.session);
        let mut count = 1_000;
        for batch in &batches {
            let new: Vec<NewPackage> = batch
                .iter()
                .map(|(path, group, words, time)| {
                    count += 1;
                    let words: Vec<String> = words.iter().map(|n| format!("word{n}")).collect();
                    let mut new = package(session, *path, &words.join(" "), &words.join(" "));
                    new.group = (*group > 0).then(|| GroupId::new(format!("P{group}")).unwrap());
                    new.created_at = Timestamp::from_micros(*time);
                    new.content_hash = count.to_string();
                    new
                })
                .collect();
            store.register_packages(&new).unwrap();
        }
        prop_assert_eq!(indexed.problems(), [""; 0]);

        let latest = store.packages(session, &PackageFilter::default()).unwrap();
        let mut ids: Vec<_> = latest.iter().map(|package| package.id).collect();
        ids.sort();
        let candidates = store.candidates(session, None, None).unwrap();
        prop_assert_eq!(candidates.iter().map(|c| c.id).collect::<Vec<_>>(), ids);
        let terms: Vec<String> = (0..12).flat_map(|n| words::terms(&format!("word{n}"))).collect();
        let lists = store.postings(session, &terms).unwrap();
        for (term, list) in terms.iter().zip(&lists) {
            let mut expected: Vec<(PackageId, u8)> = latest
                .iter()
                .map(|package| {
                    let body = store.package_body(package.id).unwrap();
                    let often = words::terms(&body).iter().filter(|word| *word == term).count();
                    (package.id, often as u8)
                })
                .filter(|(_, often)| *often > 0)
                .collect();
            expected.sort();
            let body = Column::Body as usize;
            let found: Vec<(PackageId, u8)> = list
                .list()
                .iter()
                .map(|posting| (posting.package, posting.counts[body]))
                .filter(|(_, often)| *often > 0)
                .collect();
            prop_assert_eq!(found, expected, "{}", term);
        }
        store.reindex(None).unwrap();
        prop_assert_eq!(store.postings(session, &terms).unwrap(), lists);
        prop_assert_eq!(store.candidates(session, None, None).unwrap(), candidates);
    }
}
