//! Whole projects between the embedded and the shared store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use handover_context::archive::{CopyError, copy, export, import};
use handover_model::{
    Action, AgentId, Amendment, AmendmentDecision, BriefDelivery, CounterName, EpicId, EventType,
    GroupId, Host, HostSessionId, ItemKind, ItemRef, JournalKind, LockOwner, NoteState,
    OperationId, PackageId, Phase, ProjectId, ReasoningId, ReceiptId, RecordState, Role, RunId,
    SessionId, SkillName, ToolUseId, Topic, Verdict,
};
use handover_sqlite::SqliteStore;
use handover_store::archive::{Digest, KINDS};
use handover_store::conformance::fixture::{note_id, unit};
use handover_store::*;
use handover_text::Redactor;
use serde_json::json;

use crate::agree::{at, fill};
use crate::test_project::TestProject;

/// One record of every kind, including a purged session.
fn fill_all(store: &dyn Store) {
    let session = SessionId::new("s1").unwrap();
    fill(store, &session, 150, 50);
    let r = Redactor::default();
    let (role, group) = (Role::new("developer").unwrap(), GroupId::new("P1").unwrap());
    let gone = SessionId::new("gone").unwrap();
    fill(store, &gone, 3, 20);
    store.purge_session(&gone).unwrap();
    let mut update = GroupUpdate::new(session.clone(), group.clone(), at(1));
    update.title = Some(r.clean("a \0 title"));
    update.references = Some(vec![PackageId(1)]);
    update.count = vec![CounterName::new("revisions").unwrap(); 3];
    store.set_group(&update).unwrap();
    store
        .add_reasoning(&NewReasoning {
            session: session.clone(),
            group: Some(group.clone()),
            role: role.clone(),
            agent_id: Some(AgentId::new("a1").unwrap()),
            iteration: 2,
            phase: Phase::Risks,
            confidence: Some(handover_model::Confidence::High),
            content: r.clean("password=correct-horse\nüber 😀"),
            references: vec![r.clean("x")],
            now: at(5),
            trust: handover_model::Trust::Project,
        })
        .unwrap();
    store
        .add_verdict(&NewVerdict {
            session: session.clone(),
            group: Some(group.clone()),
            role: role.clone(),
            agent_id: None,
            iteration: 1,
            receipt: Some(ReceiptId::new("r_1").unwrap()),
            verdict: Verdict::Failed,
            summary: Some(r.clean("password=correct-horse fails")),
            findings: vec![r.clean("src/a.rs:1: off by one")],
            now: at(6),
            trust: handover_model::Trust::Project,
        })
        .unwrap();
    for _ in 0..2 {
        store
            .save_skill_output(&NewSkillOutput {
                session: session.clone(),
                skill: SkillName::new("scan").unwrap(),
                role: None,
                group: None,
                output: r.clean_json(json!({"z": 1.1, "a": [null, 1e300, "\u{0}"]})),
                now: at(6),
            })
            .unwrap();
    }
    let sighting = ErrorSighting {
        project: ProjectId::new("p").unwrap(),
        signature: CleanSignature::new(None, "TypeError: x", &["h".to_owned()], &r),
        language: Some(r.clean("rust")),
        ttl_days: 9,
        session: Some(session.clone()),
        group: Some(group.clone()),
        role: Some(role.clone()),
        command: Some(r.clean("make")),
        now: at(7),
        trust: handover_model::Trust::Project,
    };
    store.resolve_error(&sighting, &r.clean("do it right")).unwrap();
    let project = ProjectId::new("p").unwrap();
    let units = [unit("docs/a.md", &["Prices are cents", "Floats are banned"])];
    store.learn_notes(&project, &units, at(3)).unwrap();
    let (id, reason) = (note_id("docs/a.md", "Prices are cents"), r.clean("no longer"));
    store.set_note_state(&project, &id, NoteState::Retired, Some(&reason), at(4)).unwrap();
    store
        .learn_strategies(&[NewStrategy {
            project: ProjectId::new("p").unwrap(),
            topic: Topic::Architecture,
            insight: r.clean("insight"),
            language: None,
            framework: Some(r.clean("axum")),
            source: ReasoningId(1),
            now: at(8),
            trust: handover_model::Trust::Project,
        }])
        .unwrap();
    let hash = sighting.signature.signature().hash();
    store.set_error_state(&project, &hash, RecordState::Retired, Some(&reason)).unwrap();
    store.set_package_state(&[PackageId(3)], RecordState::Retired, Some(&reason)).unwrap();
    let item = |id: &str| ItemRef { kind: ItemKind::Note, id: id.to_owned() };
    store
        .decide_amendment(&Amendment {
            project: project.clone(),
            earlier: item("doc-1"),
            later: item("doc-2"),
            decision: AmendmentDecision::Rejected,
            decided_at: at(8),
        })
        .unwrap();
    store
        .log_operation(&NewOperation {
            id: OperationId::new("op_1").unwrap(),
            project,
            session: Some(session.clone()),
            action: Action::Retire,
            changes: r.clean_json(json!([{"of": "package", "id": 3, "before": {"state": "live"},
                "after": {"state": "retired", "reason": "no longer"}}])),
            undoes: None,
            trust: handover_model::Trust::Person,
            author: Some(r.clean("dashboard")),
            now: at(8),
        })
        .unwrap();
    store
        .log_event(&NewEvent {
            session: session.clone(),
            group: None,
            kind: EventType::new("delivery").unwrap(),
            payload: r.clean_json(json!({"b": 1, "a": 2})),
            key: Some(EventKey::new("k", &r)),
            now: at(9),
        })
        .unwrap();
    let receipt = ReceiptId::new("r_1").unwrap();
    store
        .put_receipt(&NewReceipt {
            id: receipt.clone(),
            session: session.clone(),
            group: Some(group),
            role,
            iteration: 1,
            model: Some(r.clean("m")),
            tokenizer: "claude".to_owned(),
            zone: handover_model::Zone::Normal,
            tokens: 7,
            prompt_hash: "h".to_owned(),
            sections: vec![],
            items: vec![handover_model::ReceiptItem {
                kind: handover_model::ItemKind::Package,
                id: "1".to_owned(),
                version: 1,
                form: handover_model::Form::Full,
                score: 0.1 + 0.2,
                terms: BTreeMap::from([("t".to_owned(), 1.0 / 3.0)]),
                tokens: 3,
                read_at: None,
                outdated: None,
                used: None,
                trust: handover_model::Trust::Project,
                flags: Vec::new(),
                stale: Vec::new(),
            }],
            left_out: vec![],
            left_out_counts: BTreeMap::new(),
            redactions: BTreeMap::from([("jwt".to_owned(), 1)]),
            trimmed: vec![],
            provided: handover_model::Provided {
                context: handover_model::Provision::Present,
                specialization: handover_model::Provision::Present,
                use_learning: None,
            },
            task: Some(r.clean("task")),
            text: Some(r.clean("text")),
            claim: true,
            now: at(10),
        })
        .unwrap();
    let conversation = HostSessionId::new("c1").unwrap();
    store.bind_host(Host::CLAUDE, &conversation, &session, at(11)).unwrap();
    store.note_host_version(Host::CLAUDE, &r.clean("1.2"), true, at(11)).unwrap();
    store
        .open_ticket(&NewTicket {
            receipt,
            host: Host::CLAUDE,
            host_session: conversation,
            agent_type: r.clean("developer"),
            task_hash: "t".to_owned(),
            task: Some(r.clean("Refresh tokens")),
            way: BriefDelivery::Rewrite,
            name: Some(r.clean("alice")),
            tool_use: ToolUseId::new("toolu_1").ok(),
            agent: AgentId::new("a1").ok(),
            now: at(11),
        })
        .unwrap();
    let owner = LockOwner { host: "h".to_owned(), pid: 1, started: None, boot: None };
    let (epic, run) = (EpicId::new("1").unwrap(), RunId::new("run1").unwrap());
    let claim = LockClaim { epic: epic.clone(), owner, until: at(99), over: None, now: at(12) };
    let fence = store.lock_epic(&claim).unwrap();
    store.start_run(&NewRun { id: run.clone(), epic, session, now: at(12) }, fence).unwrap();
    let entry = NewJournalEntry {
        seq: 1,
        kind: JournalKind::Intent,
        entry: r.clean_json(json!({"do": "it"})),
        state: None,
        until: at(99),
        now: at(12),
    };
    store.append_journal(&run, &entry, fence).unwrap();
}

fn file(path: &Path) -> SqliteStore {
    SqliteStore::open(path).unwrap()
}

fn exported(store: &dyn Store) -> Vec<u8> {
    let mut bytes = Vec::new();
    export(store, &ProjectId::new("p").unwrap(), &mut bytes).unwrap();
    bytes
}

#[test]
fn a_round_trip_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (one, three) = (file(&folder.path().join("1.db")), file(&folder.path().join("3.db")));
    let test_project = TestProject::fresh();
    let two = test_project.open();
    fill_all(&one);
    let before = Digest::of(&one).unwrap();
    let kinds: BTreeSet<&str> = before.kinds.iter().map(|(name, ..)| *name).collect();
    let missing: Vec<_> =
        KINDS.iter().map(|k| k.name).filter(|name| !kinds.contains(name)).collect();
    assert_eq!(missing, [""; 0], "the test has one of everything");

    let copied = copy(&one, &two).unwrap();
    assert_eq!((copied.present, &copied.digest), (0, &before));
    let back = copy(&two, &three).unwrap();
    assert_eq!(back.digest, before);
    assert_eq!(Digest::of(&one).unwrap(), before, "what was copied from has changed");
    for store in [&two as &dyn Store, &three] {
        let problems: Vec<_> =
            store.check().unwrap().into_iter().flat_map(|c| c.problems).collect();
        assert_eq!(problems, [""; 0]);
        assert_eq!(exported(store), exported(&one));
    }
    // Doing it again adds nothing; numbering continues.
    assert_eq!(copy(&one, &two).unwrap().added, 0);
    let session = SessionId::new("s2").unwrap();
    for store in [&one as &dyn Store, &two, &three] {
        fill(store, &session, 3, 20);
    }
    assert_eq!(exported(&two), exported(&one));
    assert_eq!(exported(&three), exported(&one));
    // What has been added is copied too.
    fill(&one, &SessionId::new("s3").unwrap(), 2, 20);
    assert!(copy(&one, &two).unwrap().added > 0);
}

#[test]
fn different_projects_are_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let one = file(&folder.path().join("1.db"));
    let test_project = TestProject::fresh();
    let two = test_project.open();
    let (s1, s2) = (SessionId::new("s1").unwrap(), SessionId::new("s2").unwrap());
    fill(&one, &s1, 5, 20);
    fill(&two, &s2, 5, 20);
    let before = Digest::of(&two).unwrap();
    assert!(matches!(copy(&one, &two), Err(CopyError::Store(StoreError::Differs { .. }))));
    assert_eq!(Digest::of(&two).unwrap(), before);
    // A store with additional records is rejected as well.
    let more = TestProject::fresh();
    let three = more.open();
    copy(&two, &three).unwrap();
    fill(&three, &s1, 2, 20);
    let before = Digest::of(&three).unwrap();
    assert!(matches!(copy(&two, &three), Err(CopyError::Other { .. })));
    assert_eq!(Digest::of(&three).unwrap(), before);
}

/// An export as an import leaves it: every text is of the lowest class, and receipts still say what was delivered.
fn untrusted(export: &[u8]) -> Vec<u8> {
    let classes = ["agent", "project", "person"].map(|class| format!("\"trust\":\"{class}\""));
    let line = |line: &str| {
        let delivered = line.starts_with("{\"kind\":\"receipt_item\"");
        let kept = classes
            .iter()
            .filter(|_| !delivered)
            .fold(line.to_owned(), |line, class| line.replace(class, "\"trust\":\"outside\""));
        kept + "\n"
    };
    let text = str::from_utf8(export).unwrap();
    text.lines().map(line).collect::<String>().into_bytes()
}

#[test]
fn an_export_can_be_imported_by_either_backend() {
    let folder = tempfile::tempdir().unwrap();
    let one = file(&folder.path().join("1.db"));
    fill_all(&one);
    let bytes = exported(&one);
    let untrusted = untrusted(&bytes);
    let test_project = TestProject::fresh();
    let (two, three) = (test_project.open(), file(&folder.path().join("3.db")));
    for store in [&two as &dyn Store, &three] {
        let added = import(store, &mut bytes.as_slice(), &Redactor::default()).unwrap();
        assert!(added.added > 400 && added.present == 0, "{added:?}");
        // What comes from another store is trusted least.
        assert_eq!(exported(store), untrusted);
        assert_eq!(import(store, &mut bytes.as_slice(), &Redactor::default()).unwrap().added, 0);
        let problems: Vec<_> =
            store.check().unwrap().into_iter().flat_map(|c| c.problems).collect();
        assert_eq!(problems, [""; 0]);
    }
}

#[test]
fn the_list_matches_the_tables() {
    let test_project = TestProject::fresh();
    drop(test_project.open());
    let said = crate::server::psql(
        &handover_testkit::postgres(),
        &format!(
            "SELECT table_name, column_name, is_nullable FROM information_schema.columns
             WHERE table_schema = '{}'",
            crate::server::schema_of(&test_project)
        ),
    );
    let mut tables: BTreeMap<String, BTreeSet<(String, bool)>> = BTreeMap::new();
    for line in said.lines() {
        let [table, column, optional] = line.split('|').collect::<Vec<_>>()[..] else { panic!() };
        tables.entry(table.to_owned()).or_default().insert((column.to_owned(), optional == "YES"));
    }
    let index = [
        "candidate_sheet",
        "package_terms",
        "posting_page",
        "fresh_package",
        "note_page",
        "note_index",
        "item_use",
    ];
    let ours = ["handover_format", "write_token", "run_helper", "run_job", "change", "token"];
    for ours in ours.iter().chain(&index) {
        assert!(tables.remove(*ours).is_some());
    }
    let listed = KINDS.iter().map(|kind| {
        let columns = kind.columns.iter().map(|c| (c.name.to_owned(), c.optional)).collect();
        (kind.name.to_owned(), columns)
    });
    assert_eq!(tables, listed.collect());
}
