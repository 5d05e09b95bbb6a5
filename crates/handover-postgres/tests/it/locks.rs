//! The lock of a project, statements that the server rejects, and rows that Handover cannot have written.

use std::error::Error;
use std::sync::mpsc::channel;
use std::time::Duration;

use handover_model::{Phase, ProjectId};
use handover_postgres::{Location, PostgresStore};
use handover_store::conformance::fixture::*;
use handover_store::{
    Fault, Feed, PackageFilter, Packages, ReasoningFilter, Reasonings, Sessions, Store, StoreError,
    TextIndex,
};

use crate::server::{psql, schema_of};
use crate::test_project::TestProject;

fn impatient(test_project: &TestProject) -> PostgresStore {
    PostgresStore::open_within(
        &test_project.location,
        &test_project.project,
        Duration::from_millis(400),
    )
    .unwrap()
}

fn fault_of(error: &StoreError) -> Fault {
    let StoreError::Backend { fault, .. } = error else { panic!("{error:?}") };
    *fault
}

#[test]
fn a_writer_that_waits_too_long_is_busy_and_changes_nothing() {
    let test_project = TestProject::fresh();
    let (holder, other) = (test_project.open(), impatient(&test_project));
    let id = session(&holder, "s1");
    holder
        .exclusively(&mut |_| {
            let error = other.register_packages(&[package(&id, "a.md", "x")]).unwrap_err();
            assert_eq!(fault_of(&error), Fault::Busy);
            Ok(())
        })
        .unwrap();
    assert_eq!(other.session_counts(&id).unwrap().packages, 0);
    assert!(other.register_packages(&[package(&id, "a.md", "x")]).unwrap()[0].created);
}

#[test]
fn projects_do_not_wait_for_each_other() {
    let (one, two) = (TestProject::fresh(), TestProject::fresh());
    let (holder, other) = (one.open(), impatient(&two));
    session(&holder, "s1");
    let work = &mut |_: &dyn Store| {
        session(&other, "s1");
        Ok(())
    };
    holder.exclusively(work).unwrap();
    assert_eq!(other.sessions(None).unwrap().len(), 1);
}

#[test]
fn a_panic_rolls_back_and_releases_the_lock() {
    let test_project = TestProject::fresh();
    let id = session(&test_project.open(), "s1");
    let work = std::panic::AssertUnwindSafe(|| {
        test_project.open().exclusively(&mut |store| {
            store.add_reasoning(&reasoning(&id, Phase::Risks, "x")).unwrap();
            panic!("the caller has a bug")
        })
    });
    std::panic::catch_unwind(work).unwrap_err();
    // The server notices the closed connection with a delay, so this one waits.
    let next = test_project.open();
    next.add_reasoning(&reasoning(&id, Phase::Risks, "y")).unwrap();
    let kept = next.reasoning(&id, &ReasoningFilter::default()).unwrap();
    assert_eq!(kept.iter().map(|entry| entry.content.as_str()).collect::<Vec<_>>(), ["y"]);
}

#[test]
fn callers_work_is_not_retried_after_a_lost_connection() {
    let test_project = TestProject::fresh();
    let url = handover_testkit::postgres();
    let store = test_project.open();
    let id = session(&store, "s1");
    let schema = schema_of(&test_project);
    let mut calls = 0;
    let outcome = store.exclusively(&mut |store| {
        calls += 1;
        store.add_reasoning(&reasoning(&id, Phase::Risks, "lost"))?;
        psql(
            &url,
            &format!(
                "SELECT pg_terminate_backend(pid) FROM (
                    SELECT DISTINCT pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                    WHERE c.relnamespace = to_regnamespace('{schema}')::oid) busy"
            ),
        );
        store.add_reasoning(&reasoning(&id, Phase::Risks, "too late")).map(drop)
    });
    assert_eq!(fault_of(&outcome.unwrap_err()), Fault::Unavailable);
    assert_eq!(calls, 1);
    // The handle reconnects, and nothing of it was kept.
    assert_eq!(store.session_counts(&id).unwrap().reasoning, 0);
    store.add_reasoning(&reasoning(&id, Phase::Risks, "later")).unwrap();
}

#[test]
fn a_waiting_writer_continues_once_the_lock_is_free() {
    let test_project = TestProject::fresh();
    let id = session(&test_project.open(), "s1");
    let (locked, is_locked) = channel();
    std::thread::scope(|scope| {
        let (test_project, id) = (&test_project, &id);
        scope.spawn(move || {
            test_project
                .open()
                .exclusively(&mut |store| {
                    store.add_reasoning(&reasoning(id, Phase::Risks, "first"))?;
                    locked.send(()).unwrap();
                    std::thread::sleep(Duration::from_millis(200));
                    Ok(())
                })
                .unwrap();
        });
        is_locked.recv().unwrap();
        test_project.open().add_reasoning(&reasoning(id, Phase::Risks, "second")).unwrap();
    });
    let kept = test_project.open().reasoning(&id, &ReasoningFilter::default()).unwrap();
    // The newest comes first: the second one was written after the first.
    let contents: Vec<&str> = kept.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(contents, ["second", "first"]);
}

#[test]
fn impossible_rows_are_damage() {
    let test_project = TestProject::fresh();
    let (url, schema) = (handover_testkit::postgres(), schema_of(&test_project));
    let id = session(&test_project.open(), "s1");
    register(&test_project.open(), package(&id, "a.md", "x"));
    for (damage, repair) in [
        ("UPDATE session SET metadata = '{'", "UPDATE session SET metadata = '{}'"),
        ("UPDATE session SET project = ''", "UPDATE session SET project = 'shop'"),
    ] {
        psql(&url, &format!("SET search_path = {schema}; {damage}"));
        let error = test_project.open().sessions(None).unwrap_err();
        assert_eq!(fault_of(&error), Fault::Corrupt, "{damage}");
        psql(&url, &format!("SET search_path = {schema}; {repair}"));
        assert_eq!(test_project.open().sessions(None).unwrap().len(), 1);
    }
    // Not even with the database's help.
    let unchecked = "ALTER TABLE package DROP CONSTRAINT package_version_check";
    psql(
        &url,
        &format!("SET search_path = {schema}; {unchecked}; UPDATE package SET version = -1"),
    );
    let error = test_project.open().packages(&id, &PackageFilter::default()).unwrap_err();
    assert_eq!(fault_of(&error), Fault::Corrupt);
}

#[test]
fn a_sequence_that_was_reset_is_damage_and_not_a_wrong_index() {
    let test_project = TestProject::fresh();
    let (url, schema) = (handover_testkit::postgres(), schema_of(&test_project));
    let store = test_project.open();
    let id = session(&store, "s1");
    for n in 0..3 {
        register(&store, package(&id, &format!("{n}.md"), "zebra"));
    }
    psql(
        &url,
        &format!("SET search_path = {schema}; ALTER TABLE package ALTER COLUMN id RESTART WITH 1"),
    );
    let error = store.register_packages(&[package(&id, "new.md", "zebra")]).unwrap_err();
    assert_eq!(fault_of(&error), Fault::Corrupt);
    assert_eq!(store.postings(&id, &["zebra".to_owned()]).unwrap()[0].count(), 3);
    assert!(store.check().unwrap().iter().all(|check| check.problems.is_empty()));
}

#[test]
fn server_errors_are_classified_and_contain_no_data() {
    let test_project = TestProject::fresh();
    let (url, schema) = (handover_testkit::postgres(), schema_of(&test_project));
    let store = test_project.open();
    let id = session(&store, "s1");
    // Neither the statement nor its values may end up in a message.
    psql(
        &url,
        &format!(
            "SET search_path = {schema}; ALTER TABLE reasoning ADD CHECK (content <> 'classified')"
        ),
    );
    let error = store.add_reasoning(&reasoning(&id, Phase::Risks, "classified")).unwrap_err();
    assert_eq!(fault_of(&error), Fault::Refused);
    let text = format!("{error} {}", error.source().map(ToString::to_string).unwrap_or_default());
    assert!(!text.contains("classified") && !text.contains("INSERT"), "{text}");
    // The handle is still usable.
    store.add_reasoning(&reasoning(&id, Phase::Risks, "public")).unwrap();
    psql(&url, &format!("DROP TABLE {schema}.change CASCADE"));
    assert_eq!(fault_of(&store.changes(0, 1).unwrap_err()), Fault::Refused);
}

#[test]
fn a_user_without_rights_cannot_write() {
    let test_project = TestProject::fresh();
    let (url, schema) = (handover_testkit::postgres(), schema_of(&test_project));
    let id = session(&test_project.open(), "s1");
    let user = format!("reader_{}", test_project.project);
    psql(
        &url,
        &format!(
            "CREATE ROLE {user} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {user};
             GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {user}"
        ),
    );
    let (_, rest) = url.split_once('@').unwrap();
    let location: Location = format!("postgres://{user}@{rest}").parse().unwrap();
    let opened = PostgresStore::open(&location, &test_project.project);
    let outcome = opened.and_then(|reader| {
        assert_eq!(reader.session(&id)?.id, id);
        reader.add_reasoning(&reasoning(&id, Phase::Risks, "x")).map(drop)
    });
    let error = outcome.unwrap_err();
    psql(&url, &format!("DROP OWNED BY {user}; DROP ROLE {user}"));
    assert_eq!(fault_of(&error), Fault::ReadOnly, "{error:?}");
}

#[test]
fn a_database_that_does_not_exist_is_unavailable() {
    let url = handover_testkit::postgres();
    let (before, name) = url.rsplit_once("/postgres").unwrap();
    let location: Location = format!("{before}/no_such_database{name}").parse().unwrap();
    let error = PostgresStore::open(&location, &ProjectId::new("p").unwrap()).unwrap_err();
    assert_eq!(fault_of(&error), Fault::Unavailable);
}
