//! What can happen to a server and its database: concurrent first starts, other projects, newer formats,
//! foreign tables, silence, and crashes.

use std::collections::BTreeSet;
use std::io::Read;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use handover_model::{Phase, ProjectId, Role, SessionId, Timestamp};
use handover_postgres::{Location, PostgresStore};
use handover_store::{
    Fault, NewReasoning, NewSession, OldStore, Reasonings, Sessions, Store, StoreError,
};
use handover_testkit::OwnPostgres;
use handover_text::{CleanJson, Redactor};

use crate::test_project::TestProject;

fn session(store: &dyn Store, id: &str) -> SessionId {
    let new = NewSession {
        id: SessionId::new(id).unwrap(),
        project: ProjectId::new("p").unwrap(),
        metadata: CleanJson::default(),
        now: Timestamp::from_micros(0),
    };
    store.open_session(&new).unwrap().record.id
}

fn thought(session: &SessionId, content: &str) -> NewReasoning {
    NewReasoning {
        session: session.clone(),
        group: None,
        role: Role::new("developer").unwrap(),
        agent_id: None,
        iteration: 0,
        phase: Phase::Approach,
        confidence: None,
        content: Redactor::default().clean(content),
        references: Vec::new(),
        now: Timestamp::from_micros(0),
        trust: handover_model::Trust::Project,
    }
}

/// Runs SQL in the database, bypassing the store; returns the output.
pub(crate) fn psql(location: &str, sql: &str) -> String {
    let output = std::process::Command::new("psql")
        .args(["-v", "ON_ERROR_STOP=1", "-qAt", location, "-c", sql])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn schema_of(test_project: &TestProject) -> String {
    let hash = blake3::hash(test_project.project.as_str().as_bytes()).to_hex();
    let name: String = test_project.project.as_str().chars().take(32).collect();
    format!("handover_{name}_{}", &hash[..10])
}

#[test]
fn concurrent_first_starts() {
    let test_project = TestProject::fresh();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    PostgresStore::open(&test_project.location, &test_project.project).map(drop)
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    });
    assert!(test_project.open().check().unwrap().iter().all(|check| check.problems.is_empty()));
}

#[test]
fn projects_are_isolated() {
    let (one, two) = (TestProject::fresh(), TestProject::fresh());
    let (mine, theirs) = (one.open(), two.open());
    let session_id = session(&mine, "s1");
    mine.add_reasoning(&thought(&session_id, "mine")).unwrap();
    assert_eq!(theirs.sessions(None).unwrap(), []);
    assert!(matches!(theirs.session(&session_id), Err(StoreError::NotFound { .. })));
    // The same name there is another session, and purging it affects nothing here.
    session(&theirs, "s1");
    theirs.purge_session(&session_id).unwrap();
    assert_eq!(mine.session_counts(&session_id).unwrap().reasoning, 1);
    // Similar names are distinct.
    let upper = ProjectId::new(one.project.as_str().to_uppercase()).unwrap();
    let look_alike = TestProject { location: one.location.clone(), project: upper };
    assert_eq!(look_alike.open().sessions(None).unwrap(), []);
}

#[test]
fn a_newer_format_is_rejected_and_not_touched() {
    let test_project = TestProject::fresh();
    drop(test_project.open());
    let url = handover_testkit::postgres();
    psql(&url, &format!("UPDATE {}.handover_format SET format = 999", schema_of(&test_project)));
    let error = PostgresStore::open(&test_project.location, &test_project.project).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 999, .. }), "{error}");
}

#[test]
fn refuses_a_schema_of_0_1_0_and_leaves_it_alone() {
    let test_project = TestProject::fresh();
    let (url, schema) = (handover_testkit::postgres(), schema_of(&test_project));
    psql(
        &url,
        &format!(
            "CREATE SCHEMA {schema}; SET search_path = {schema};
             CREATE TABLE handover_store (one BIGINT, format BIGINT, project TEXT);
             INSERT INTO handover_store VALUES (1, 6, '{}');",
            test_project.project
        ),
    );
    let error = PostgresStore::open(&test_project.location, &test_project.project).unwrap_err();
    let StoreError::Outdated { store: OldStore::Schema { schema: named, .. }, found: 6 } = error
    else {
        panic!("{error}")
    };
    assert_eq!(named, schema);
    assert_eq!(psql(&url, &format!("SELECT format FROM {schema}.handover_store")), "6\n");
}

#[test]
fn a_foreign_schema_is_rejected() {
    let test_project = TestProject::fresh();
    let (url, schema) = (handover_testkit::postgres(), schema_of(&test_project));
    psql(&url, &format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.theirs (x text)"));
    let error = PostgresStore::open(&test_project.location, &test_project.project).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    psql(&url, &format!("SELECT * FROM {schema}.theirs"));
}

#[test]
fn texts_that_postgres_cannot_store_read_back_unchanged() {
    let store = TestProject::fresh();
    let store = store.open();
    let session = session(&store, "s1");
    for text in ["a\0b", "\u{10FFFD}0", "😀 ümlaut \u{2028}", "'; DROP TABLE session; --"] {
        let added = store.add_reasoning(&thought(&session, text)).unwrap();
        assert_eq!(added.content, text);
    }
}

#[test]
fn a_silent_server_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let location: Location = format!("postgres://u:hunter2@127.0.0.1:{port}/db").parse().unwrap();
    let silent = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // Reads until the client disconnects.
        std::io::copy(&mut stream.by_ref(), &mut std::io::sink()).unwrap();
    });
    let project = ProjectId::new("p").unwrap();
    let error =
        PostgresStore::open_within(&location, &project, Duration::from_millis(300)).unwrap_err();
    assert!(matches!(error, StoreError::Backend { fault: Fault::Unavailable, .. }), "{error}");
    assert!(!format!("{error:?}").contains("hunter2"));
    silent.join().unwrap();
}

#[test]
fn a_server_that_is_not_there_is_reported() {
    let location: Location = "postgres://u:hunter2@127.0.0.1:1/db".parse().unwrap();
    let project = ProjectId::new("p").unwrap();
    let error =
        PostgresStore::open_within(&location, &project, Duration::from_secs(5)).unwrap_err();
    assert!(matches!(error, StoreError::Backend { fault: Fault::Unavailable, .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

#[test]
fn certificates_are_verified() {
    let url = handover_testkit::postgres();
    let (plain, name) = url.split_once("?application_name=").unwrap();
    let project = ProjectId::new(format!("t{}", uuid::Uuid::now_v7().simple())).unwrap();
    let known = format!("{plain}?sslmode=verify-full&sslrootcert=/tmp/{name}/authority.pem");
    let location: Location = known.parse().unwrap();
    let store = PostgresStore::open(&location, &project).unwrap();
    session(&store, "s1");
    PostgresStore::destroy(&location, &project).unwrap();
    // The system's authorities do not know the server, and its certificate is not for `localhost`.
    for (url, word) in [
        (format!("{plain}?sslmode=require"), "certificate"),
        (known.replace("127.0.0.1", "localhost"), "certificate"),
    ] {
        let error = PostgresStore::open(&url.parse().unwrap(), &project).unwrap_err();
        let words = format!("{error:?}");
        assert!(words.to_lowercase().contains(word), "{words}");
    }
}

/// The server cuts connections between and during writes: every write happens exactly once.
#[test]
fn lost_connections_lose_and_repeat_nothing() {
    let test_project = TestProject::fresh();
    let url = handover_testkit::postgres();
    let store = test_project.open();
    let session = session(&store, "s1");
    let schema = schema_of(&test_project);
    let done = AtomicBool::new(false);
    let acknowledged = std::thread::scope(|scope| {
        let cutter = scope.spawn(|| {
            let mut cuts = 0;
            while !done.load(Ordering::Relaxed) {
                let cut = psql(
                    &url,
                    &format!(
                        "SELECT count(pg_terminate_backend(pid)) FROM (
                            SELECT DISTINCT pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
                            WHERE c.relnamespace = to_regnamespace('{schema}')::oid) busy"
                    ),
                );
                cuts += cut.trim().parse::<u32>().unwrap();
            }
            cuts
        });
        let mut acknowledged = 0;
        for n in 0..300 {
            let written = store.add_reasoning(&thought(&session, &format!("thought {n}")));
            written.unwrap_or_else(|error| panic!("{n}: {error:?}"));
            acknowledged += 1;
        }
        done.store(true, Ordering::Relaxed);
        assert!(cutter.join().unwrap() > 0);
        acknowledged
    });
    let kept = store.reasoning(&session, &Default::default()).unwrap();
    let distinct: BTreeSet<&str> = kept.iter().map(|r| r.content.as_str()).collect();
    assert_eq!((kept.len(), distinct.len()), (acknowledged, acknowledged));
}

/// The whole server crashes under load and comes back: clients only notice a delay.
#[test]
fn a_server_killed_under_load_recovers() {
    let server = OwnPostgres::start();
    let location: Location = server.url().parse().unwrap();
    let project = ProjectId::new("p").unwrap();
    let session = session(&PostgresStore::open(&location, &project).unwrap(), "s1");
    let (stop, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    let wait_for = |count| {
        while written.load(Ordering::Relaxed) < count {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let acknowledged: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let (location, project, session) = (&location, &project, &session);
                let (stop, written) = (&stop, &written);
                scope.spawn(move || {
                    let store = PostgresStore::open(location, project).unwrap();
                    let mut mine = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        let text = format!("thought {writer}-{}", mine.len());
                        store.add_reasoning(&thought(session, &text)).unwrap();
                        mine.push(text);
                        written.fetch_add(1, Ordering::Relaxed);
                    }
                    mine
                })
            })
            .collect();
        for round in 1..=3 {
            wait_for(round * 40);
            server.kill();
            server.again();
        }
        wait_for(160);
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let store = PostgresStore::open(&location, &project).unwrap();
    let kept = store.reasoning(&session, &Default::default()).unwrap();
    let distinct: BTreeSet<&str> = kept.iter().map(|r| r.content.as_str()).collect();
    for text in &acknowledged {
        assert!(distinct.contains(text.as_str()), "{text} was acknowledged and is gone");
    }
    assert_eq!(kept.len(), acknowledged.len(), "something was done twice");
    assert!(acknowledged.len() >= 160, "{}", acknowledged.len());
    assert!(store.check().unwrap().iter().all(|check| check.problems.is_empty()));
}
