//! A text index that does not match its packages is detected, rejected if it cannot be read, and rebuilt.
//! The same damage as in the tests of the embedded store, applied to the server's tables.

use handover_model::SessionId;
use handover_store::conformance::fixture::*;
use handover_store::{
    CheckedPart, IndexError, IndexPart, NewPackage, Packages, Store, StoreError, TextIndex,
};

use crate::server::{psql, schema_of};
use crate::test_project::TestProject;

struct Indexed {
    test_project: TestProject,
    session: SessionId,
}

impl Indexed {
    /// A hundred packages about zebras, most of them in the postings.
    fn new() -> Self {
        let test_project = TestProject::fresh();
        let store = test_project.open();
        let session = session(&store, "s1");
        let packages: Vec<NewPackage> =
            (0..100).map(|n| package(&session, &format!("{n}.md"), "zebra stripes")).collect();
        for batch in packages.chunks(70) {
            store.register_packages(batch).unwrap();
        }
        Self { test_project, session }
    }

    fn damage(&self, sql: &str) {
        let schema = schema_of(&self.test_project);
        psql(&handover_testkit::postgres(), &format!("SET search_path = {schema}; {sql}"));
    }

    fn problems(&self) -> Vec<String> {
        let checks = self.test_project.open().check().unwrap();
        let index = checks.into_iter().find(|check| check.part == CheckedPart::TextIndex);
        index.unwrap().problems
    }

    fn zebras(&self) -> Result<usize, StoreError> {
        Ok(self.test_project.open().postings(&self.session, &["zebra".to_owned()])?[0].count())
    }
}

#[test]
fn every_difference_is_found_and_repaired() {
    let indexed = Indexed::new();
    assert_eq!(indexed.problems(), [""; 0]);
    for (damage, problem) in [
        ("DELETE FROM package_terms WHERE package = 7", "package 7 has no terms"),
        (
            "DELETE FROM posting_page WHERE term = 'zebra'",
            "pages of postings differ, the first for `zebra`",
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
            "UPDATE candidate_sheet SET candidates = '\\x0100' WHERE sheet = 0",
            "candidates of the text index are damaged",
        ),
        (
            "UPDATE package_terms SET terms = '\\x01ff' WHERE package = 3",
            "terms of the text index are damaged",
        ),
    ] {
        indexed.damage(damage);
        let problems = indexed.problems();
        assert!(problems.iter().any(|found| found.contains(problem)), "{damage}: {problems:?}");
        indexed.test_project.open().reindex(None).unwrap();
        assert_eq!(indexed.problems(), [""; 0], "{damage}");
    }
}

#[test]
fn another_version_is_refused_until_the_index_is_rebuilt() {
    let indexed = Indexed::new();
    for (table, column, part) in [
        ("package_terms", "terms", IndexPart::Terms),
        ("posting_page", "postings", IndexPart::Postings),
        ("candidate_sheet", "candidates", IndexPart::Candidates),
    ] {
        indexed.damage(&format!("UPDATE {table} SET {column} = '\\x07' || substr({column}, 2)"));
        let found = match part {
            IndexPart::Candidates => {
                indexed.test_project.open().candidates(&indexed.session, None, None).map(drop)
            }
            IndexPart::Postings | IndexPart::Terms => indexed.zebras().map(drop),
        };
        let error = found.unwrap_err();
        let expected = IndexError::Version { part, found: 7 };
        assert!(matches!(error, StoreError::Index(found) if found == expected), "{error}");
        indexed.test_project.open().reindex(Some(&indexed.session)).unwrap();
        assert_eq!(indexed.zebras().unwrap(), 100);
    }
}

#[test]
fn a_thousand_packages_in_one_call_are_all_found() {
    let test_project = TestProject::fresh();
    let store = test_project.open();
    let session = session(&store, "s1");
    let packages: Vec<NewPackage> = (0..1_200)
        .map(|n| package(&session, &format!("{n}.md"), &format!("zebra number{n}")))
        .collect();
    let registered = store.register_packages(&packages).unwrap();
    assert_eq!(registered.len(), 1_200);
    assert!(registered.windows(2).all(|pair| pair[0].package.id < pair[1].package.id));
    let terms = ["zebra".to_owned(), "number777".to_owned()];
    let found = store.postings(&session, &terms).unwrap();
    assert_eq!((found[0].count(), found[1].count()), (1_200, 1));
    assert_eq!(store.candidates(&session, None, None).unwrap().len(), 1_200);
    // Twice the same file in one call: the second supersedes the first.
    let twice = [package(&session, "x.md", "one"), package(&session, "x.md", "two")];
    let versions = store.register_packages(&twice).unwrap();
    assert_eq!((versions[0].package.version, versions[1].package.version), (1, 2));
    assert!(store.check().unwrap().iter().all(|check| check.problems.is_empty()));
}
