//! Round trips of arbitrary text.

use std::collections::BTreeMap;

use handover_model::{
    GroupId, PackageKind, Phase, Priority, ProjectId, Role, Scope, SessionId, SkillName, Timestamp,
};
use handover_sqlite::SqliteStore;
use handover_store::{
    CleanSignature, ErrorPatterns, ErrorSighting, NewPackage, NewReasoning, NewSession,
    NewSkillOutput, Packages, Reasonings, Sessions, SkillOutputs, Store, Supersede,
};
use handover_text::Redactor;
use proptest::prelude::*;
use serde_json::json;

use super::{ArchiveError, export, import};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + seconds)
}

fn project() -> ProjectId {
    ProjectId::new("p").unwrap()
}

fn exported(store: &dyn Store) -> Vec<u8> {
    let mut bytes = Vec::new();
    export(store, &project(), &mut bytes).unwrap();
    bytes
}

fn store(folder: &tempfile::TempDir, name: &str) -> SqliteStore {
    SqliteStore::open(&folder.path().join(name)).unwrap()
}

fn fill(store: &SqliteStore, texts: &[String], numbers: &[f64]) {
    let r = Redactor::default();
    let session = SessionId::new("s1").unwrap();
    let metadata = texts.iter().map(|text| (text.clone(), json!(text))).collect();
    let metadata = r.clean_json(serde_json::Value::Object(metadata));
    let new = NewSession { id: session.clone(), project: project(), metadata, now: at(0) };
    store.open_session(&new).unwrap();
    for (n, text) in texts.iter().enumerate() {
        let role = Role::new("developer").unwrap();
        let group = n.is_multiple_of(2).then(|| GroupId::new("P1").unwrap());
        store
            .add_reasoning(&NewReasoning {
                session: session.clone(),
                group: group.clone(),
                role: role.clone(),
                agent_id: None,
                iteration: n as u32,
                phase: Phase::Approach,
                confidence: None,
                content: r.clean(text),
                references: vec![r.clean(text)],
                now: at(n as i64),
                trust: handover_model::Trust::Project,
            })
            .unwrap();
        store
            .save_skill_output(&NewSkillOutput {
                session: session.clone(),
                skill: SkillName::new("scan").unwrap(),
                role: None,
                group: None,
                output: r.clean_json(json!({"numbers": numbers, "text": text})),
                now: at(n as i64),
            })
            .unwrap();
        store
            .record_error(&ErrorSighting {
                project: project(),
                signature: CleanSignature::new(None, text, std::slice::from_ref(text), &r),
                language: None,
                ttl_days: 90,
                session: None,
                group: None,
                role: None,
                command: Some(r.clean(text)),
                now: at(n as i64),
                trust: handover_model::Trust::Project,
            })
            .unwrap();
        store
            .register_packages(&[NewPackage {
                session: session.clone(),
                group,
                scope: Scope::Group,
                kind: PackageKind::Research,
                path: format!("{}.md", n / 2),
                title: Some(r.clean(text)),
                summary: r.clean(text),
                files: vec![r.clean(text)],
                body: r.clean(text),
                producer: role.clone(),
                consumers: vec![role],
                priority: Priority::High,
                iteration: None,
                size_bytes: text.len() as u64,
                tokens: 1,
                content_hash: n.to_string(),
                supersede: Supersede::SamePath,
                created_at: at(n as i64),
                trust: handover_model::Trust::Project,
            }])
            .unwrap();
    }
}

/// Arbitrary text, and text that looks like a secret.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "(password|token|secret|key)[=: ]{1,2}['\"]?[a-zA-Z0-9+/]{6,40}['\"]?",
        "postgres://[a-z]{3}:[a-z0-9]{8,16}@[a-z]{3}/[a-z]{2}",
        "(ghp_|sk-ant-|AKIA)[A-Za-z0-9]{16,40} [a-z ]{0,20}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_export_that_is_imported_exports_the_same(
        texts in proptest::collection::vec(text(), 1..6),
        numbers in proptest::collection::vec(proptest::num::f64::NORMAL, 0..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (store(&folder, "1.db"), store(&folder, "2.db"));
        fill(&one, &texts, &numbers);
        let bytes = exported(&one);
        import(&two, &mut bytes.as_slice(), &Redactor::default()).unwrap();
        let again = exported(&two);
        // Nobody vouches for what was imported.
        let expected = String::from_utf8(bytes).unwrap();
        let expected = expected.replace(r#""trust":"project""#, r#""trust":"outside""#);
        prop_assert_eq!(expected, String::from_utf8(again).unwrap());
    }
}

fn refused(lines: &[&str]) -> ArchiveError {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, "1.db");
    let error = import(&store, &mut lines.join("\n").as_bytes(), &Redactor::default()).unwrap_err();
    assert_eq!(store.sessions(None).unwrap(), [], "something was imported");
    error
}

const HEADER: &str = r#"{"handover":"export","version":1,"project":"p"}"#;
const SESSION: &str = r#"{"kind":"session","key":1,"id":"s1","project":"p","status":"active","metadata":{},"created_at":0}"#;

#[test]
fn rejects_invalid_lines_by_number() {
    assert!(matches!(refused(&[]), ArchiveError::Header));
    assert!(matches!(refused(&["{\"kind\":\"session\"}"]), ArchiveError::Header));
    let newer = HEADER.replace(":1", ":7");
    assert!(matches!(refused(&[&newer, SESSION]), ArchiveError::Newer { found: 7 }));
    let group = r#"{"kind":"task_group","session":1,"id":"P1","status":"pending","specializations":[],"created_at":0}"#;
    for bad in [
        "nonsense",
        "[]",
        r#"{"kind":"nothing"}"#,
        &group.replace("P1", "../.."),
        &group.replace("pending", "wondering"),
        &group.replace("[]", "{}"),
        &group.replace("\"session\":1", "\"session\":\"1\""),
        &group.replace("\"created_at\"", "\"made\""),
        &group.replace(",\"created_at\":0", ""),
    ] {
        let error = refused(&[HEADER, SESSION, bad]);
        assert!(matches!(error, ArchiveError::Line { line: 3, .. }), "{bad}: {error:?}");
    }
    let error = refused(&[HEADER, SESSION, group, SESSION]);
    assert!(matches!(error, ArchiveError::Order { line: 4, .. }), "{error:?}");
    // A group of a session that does not exist.
    assert!(matches!(refused(&[HEADER, group]), ArchiveError::Record { line: 2, .. }));
}

#[test]
fn redacts_imported_text() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, "1.db");
    let session = SESSION.replace("{}", r#"{"password":"correct-horse"}"#);
    let thought = r#"{"kind":"reasoning","id":1,"session":1,"role":"developer","iteration":0,"phase":"risks","content":"password=correct-horse","refs":[],"created_at":0}"#;
    let text = [HEADER, &session, thought].join("\n");
    import(&store, &mut text.as_bytes(), &Redactor::default()).unwrap();
    let kept = String::from_utf8(exported(&store)).unwrap();
    assert!(!kept.contains("correct-horse"), "{kept}");
    let counts: BTreeMap<_, _> =
        [("reasoning", kept.matches("\"kind\":\"reasoning\"").count())].into();
    assert_eq!(counts["reasoning"], 1);
}

#[test]
fn an_export_starts_with_its_header_and_counts_its_records() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, "1.db");
    fill(&store, &["one".to_owned(), "two".to_owned()], &[]);
    let mut bytes = Vec::new();
    let count = export(&store, &project(), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.lines().next(), Some(HEADER));
    assert_eq!(text.lines().count() as u64, count + 1);
    let kind = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["kind"].as_str().unwrap().to_owned()
    };
    let kinds: Vec<String> = text.lines().skip(1).map(kind).collect();
    let of = |name: &str| kinds.iter().filter(|kind| *kind == name).count();
    assert_eq!((of("session"), of("reasoning"), of("skill_output")), (1, 2, 2));
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_of_the_file() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, "1.db");
    fill(&store, &["one".to_owned()], &[]);
    for room in [0, HEADER.len() + 1, 200] {
        let error = export(&store, &project(), &mut Full(room)).unwrap_err();
        assert!(matches!(error, ArchiveError::Io(_)), "{room}: {error:?}");
    }
}

#[test]
fn importing_twice_adds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (store(&folder, "1.db"), store(&folder, "2.db"));
    fill(&one, &["one".to_owned(), "two".to_owned()], &[1.5]);
    let bytes = exported(&one);
    let first = import(&two, &mut bytes.as_slice(), &Redactor::default()).unwrap();
    let second = import(&two, &mut bytes.as_slice(), &Redactor::default()).unwrap();
    assert_eq!((first.present, second.added), (0, 0));
    assert_eq!(second.present, first.added);
}

#[test]
fn blank_lines_are_skipped_and_bytes_must_be_text() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, "1.db");
    let text = format!("{HEADER}\n\n  \n{SESSION}\n\n");
    import(&store, &mut text.as_bytes(), &Redactor::default()).unwrap();
    assert_eq!(store.sessions(None).unwrap().len(), 1);
    let mut bytes = format!("{HEADER}\n").into_bytes();
    bytes.extend([0xff, b'\n']);
    let error = import(&store, &mut bytes.as_slice(), &Redactor::default()).unwrap_err();
    assert_eq!(error.to_string(), "line 2: it is not UTF-8");
}

#[test]
fn errors_say_where_and_what() {
    let newer = refused(&[&HEADER.replace(":1", ":7")]);
    assert_eq!(newer.to_string(), "the file has format 7; this version supports formats up to 1");
    let json = refused(&[HEADER, "nonsense"]).to_string();
    assert!(json.starts_with("line 2: it is not JSON ("), "{json}");
    let error = ArchiveError::Order { line: 4, kind: "session" };
    assert_eq!(error.to_string(), "line 4: a `session` record is out of order");
    assert_eq!(ArchiveError::TooLong { line: 2 }.to_string(), "line 2 is longer than 64 MiB");
    let unknown = HEADER.replace("export", "import");
    assert!(matches!(refused(&[&unknown]), ArchiveError::Header));
    let more = HEADER.replace("}", ",\"x\":1}");
    assert!(matches!(refused(&[&more]), ArchiveError::Header));
}
