//! Imports of small databases: defaults, damage, and what happens the second time.

use std::cell::RefCell;

use handover_model::{
    Confidence, GroupStatus, PackageKind, Phase, Priority, Scope, SessionId, SessionStatus, Topic,
};
use handover_sqlite::SqliteStore;
use handover_store::{
    ErrorPatterns, Events, Groups, PackageFilter, Packages, Reasonings, Sessions, SkillOutputs,
    Strategies, Versions,
};
use serde_json::json;

use super::*;
use crate::testing::{at, group, role};

type Cells<'a> = &'a [(&'a str, Value)];

/// A database in memory, with the files that its packages refer to.
struct Database {
    folder: tempfile::TempDir,
    store: SqliteStore,
    tables: RefCell<BTreeMap<String, Vec<BTreeMap<String, Value>>>>,
    files: BTreeMap<String, String>,
    project: ProjectId,
    redactor: Redactor,
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn session() -> SessionId {
    SessionId::new("s1").unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

impl Database {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let project = ProjectId::new("p").unwrap();
        let redactor = Redactor::default();
        let tables = RefCell::default();
        Self { folder, store, tables, files: BTreeMap::new(), project, redactor }
    }

    /// With one session, `s1`, that began on the second of May.
    fn with_session() -> Self {
        let database = Self::new();
        database.add(
            "sessions",
            &[("session_id", text("s1")), ("start_time", text("2024-05-02 10:00:00"))],
        );
        database
    }

    fn add(&self, table: &str, cells: Cells<'_>) {
        let row = cells.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        self.tables.borrow_mut().entry(table.to_owned()).or_default().push(row);
    }

    fn import(&self) -> Report {
        let table = |name: &str| {
            let rows = self.tables.borrow().get(name).cloned().unwrap_or_default();
            Table { rows, broken: None }
        };
        self.import_from(&table)
    }

    fn import_from(&self, table: &dyn Fn(&str) -> Table) -> Report {
        let file = |path: &str| self.files.get(path).cloned();
        let source = Source {
            table,
            file: &file,
            project: &self.project,
            redactor: &self.redactor,
            now: at(1_000),
        };
        import(&self.store, &source).unwrap()
    }

    fn packages(&self) -> Vec<handover_model::Package> {
        let filter = PackageFilter { versions: Versions::All, ..PackageFilter::default() };
        let mut all = self.store.packages(&session(), &filter).unwrap();
        all.sort_by_key(|package| package.id);
        all
    }
}

/// What was wrong with the rows, by table and row.
fn damage(report: &Report) -> Vec<String> {
    let line = |one: &Damage| format!("{} {}: {}", one.table, one.row, one.problem);
    report.damaged.iter().map(line).collect()
}

fn added(added: u64) -> Count {
    Count { added, present: 0 }
}

fn present(present: u64) -> Count {
    Count { added: 0, present }
}

#[test]
fn an_empty_database_adds_nothing() {
    let report = Database::new().import();
    let value = serde_json::to_value(&report).unwrap();
    for kind in [
        "sessions",
        "groups",
        "packages",
        "reasoning",
        "skill_outputs",
        "events",
        "errors",
        "strategies",
    ] {
        assert_eq!(value[kind], json!({"added": 0, "present": 0}), "{kind}");
    }
    assert_eq!(value["damaged"], json!([]));
    assert_eq!(value["left_out"], json!({}));
}

#[test]
fn sessions_keep_their_times_status_and_origin() {
    let database = Database::new();
    database.add(
        "sessions",
        &[
            ("session_id", text("s1")),
            ("status", text("completed")),
            ("mode", text("parallel")),
            ("original_requirements", text("use password=correct-horse-battery")),
            ("start_time", text("2024-05-02 10:00:00")),
            ("end_time", text("2024-05-02 12:00:00")),
            ("metadata", text("{\"a\": 1}")),
        ],
    );
    database.add("sessions", &[("session_id", text("s2"))]);
    assert_eq!(database.import().sessions, added(2));
    let first = database.store.session(&session()).unwrap();
    assert_eq!(first.status, SessionStatus::Completed);
    assert_eq!(first.created_at, time("2024-05-02T10:00:00Z"));
    assert_eq!(first.ended_at, Some(time("2024-05-02T12:00:00Z")));
    assert_eq!(
        first.metadata,
        json!({
            "from": "bazinga", "mode": "parallel", "requirements": "use password=[REDACTED-1]",
            "branch": null, "metadata": {"a": 1},
        })
    );
    // Without a time of its own, the time of the import; without a status, open.
    let second = database.store.session(&SessionId::new("s2").unwrap()).unwrap();
    assert_eq!((second.status, second.created_at), (SessionStatus::Active, at(1_000)));
    // The second time, a session that was closed here since stays closed.
    assert_eq!(database.import().sessions, present(2));
}

#[test]
fn a_session_that_ended_without_a_time_ended_when_it_began() {
    let database = Database::new();
    database.add(
        "sessions",
        &[
            ("session_id", text("s1")),
            ("status", text("failed")),
            ("created_at", text("2024-05-02T10:00:00Z")),
        ],
    );
    database.import();
    let session = database.store.session(&session()).unwrap();
    assert_eq!(session.status, SessionStatus::Failed);
    assert_eq!(session.ended_at, Some(time("2024-05-02T10:00:00Z")));
}

#[test]
fn damaged_rows_are_named_and_the_others_imported() {
    let database = Database::with_session();
    database.add("sessions", &[("session_id", text("../x"))]);
    database.add("sessions", &[("session_id", Value::Int(4))]);
    database.add("sessions", &[("session_id", text("s3")), ("status", text("lost"))]);
    database.add("sessions", &[]);
    let package = |cells: Cells<'_>| {
        let mut all = vec![
            ("id", Value::Int(7)),
            ("session_id", text("s1")),
            ("file_path", text("a.md")),
            ("package_type", text("research")),
            ("producer_agent", text("developer")),
        ];
        all.extend(cells.iter().cloned());
        database.add("context_packages", &all);
    };
    package(&[("package_type", text("poetry"))]);
    package(&[("producer_agent", Value::Null)]);
    package(&[("session_id", text("elsewhere"))]);
    package(&[("id", Value::Null)]);
    package(&[("file_path", text(""))]);
    database.add("context_package_consumers", &[("package_id", Value::Int(1))]);
    database.add("context_package_consumers", &[("agent_type", text("developer"))]);
    let report = database.import();
    assert_eq!((report.sessions, report.packages), (added(1), added(0)));
    let rule =
        "only letters, digits, `.`, `_` and `-` are allowed, starting with a letter or a digit";
    assert_eq!(
        damage(&report),
        [
            &format!("sessions ../x: `session_id`: `../x` is not a valid session id: {rule}"),
            "sessions 4: `session_id` is not text",
            "sessions s3: `status`: `lost` is not a session status; use active, completed or failed",
            "sessions ?: `session_id` is missing",
            "context_package_consumers ?: `agent_type` is missing",
            "context_package_consumers ?: `package_id` is missing",
            "context_packages 7: `package_type`: `poetry` is not a package kind; use research, failures, \
             decisions, handoff or investigation",
            "context_packages 7: `producer_agent` is missing",
            "context_packages 7: there is no session `elsewhere`",
            "context_packages ?: `id` is missing",
            "context_packages 7: `file_path` is missing",
        ]
    );
}

#[test]
fn the_rest_of_a_broken_table_is_reported_after_its_good_rows() {
    let database = Database::with_session();
    let broken = |name: &str| Table {
        rows: database.tables.borrow().get(name).cloned().unwrap_or_default(),
        broken: (name == "sessions").then(|| "the page is damaged".to_owned()),
    };
    let report = database.import_from(&broken);
    assert_eq!(report.sessions, added(1));
    assert_eq!(damage(&report), ["sessions the rest of the table: the page is damaged"]);
}

#[test]
fn packages_take_title_and_hash_from_their_file() {
    let mut database = Database::with_session();
    let body = "intro\n# Token rotation \n\nThe key is password=hunter2sEcret now.\n";
    database.files.insert("docs/a.md".to_owned(), body.to_owned());
    database.add(
        "context_packages",
        &[
            ("id", Value::Int(3)),
            ("session_id", text("s1")),
            ("group_id", text("P1")),
            ("file_path", text("docs/a.md")),
            ("package_type", text("decisions")),
            ("producer_agent", text("Tech Lead")),
            ("priority", text("high")),
            ("summary", text(&format!("two\nlines {}", "x ".repeat(600)))),
            ("created_at", text("2024-05-03 08:00:00")),
        ],
    );
    for who in ["developer", "qa_expert", "developer"] {
        database.add(
            "context_package_consumers",
            &[("package_id", text("3")), ("agent_type", text(who))],
        );
    }
    let report = database.import();
    assert_eq!((report.packages, report.without_file), (added(1), 0));
    let package = database.packages().remove(0);
    assert_eq!((package.kind, package.priority), (PackageKind::Decisions, Priority::High));
    assert_eq!((package.group, package.scope), (Some(group("P1")), Scope::Group));
    assert_eq!(
        (package.producer, package.title.as_deref()),
        (role("tech_lead"), Some("Token rotation"))
    );
    assert_eq!(package.consumers, [role("developer"), role("qa_expert")]);
    assert!(package.summary.starts_with("two lines x x") && package.summary.chars().count() <= 400);
    assert_eq!(package.size_bytes, body.len() as u64);
    assert_eq!(package.content_hash, crate::package_file::content_hash(body.as_bytes()));
    assert_eq!(package.created_at, time("2024-05-03T08:00:00Z"));
    let stored = database.store.package_body(package.id).unwrap();
    assert!(stored.contains("password=[REDACTED-1]"), "{stored}");
}

#[test]
fn a_package_without_file_summary_or_group_gets_defaults() {
    let database = Database::with_session();
    database.add(
        "context_packages",
        &[
            ("id", Value::Int(1)),
            ("session_id", text("s1")),
            ("group_id", text("GLOBAL")),
            ("scope", text("group")),
            ("file_path", text("docs/gone.md")),
            ("package_type", text("research")),
            ("producer_agent", text("developer")),
        ],
    );
    let report = database.import();
    assert_eq!((report.packages, report.without_file), (added(1), 1));
    let package = database.packages().remove(0);
    assert_eq!(package.summary, "docs/gone.md");
    assert_eq!((package.group, package.scope), (None, Scope::Global));
    assert_eq!((package.priority, package.title), (Priority::Medium, None));
    // It belongs to the session, so it is as old.
    assert_eq!(package.created_at, time("2024-05-02T10:00:00Z"));
    assert_eq!(package.content_hash, crate::package_file::content_hash(b"docs/gone.md"));
    assert_eq!(database.store.package_body(package.id).unwrap(), "docs/gone.md");
}

#[test]
fn versions_that_return_to_an_earlier_text_are_all_imported_once() {
    let database = Database::with_session();
    for (id, summary, day) in [(1, "A", "03"), (2, "B", "04"), (3, "A", "05")] {
        database.add(
            "context_packages",
            &[
                ("id", Value::Int(id)),
                ("session_id", text("s1")),
                ("file_path", text("a.md")),
                ("package_type", text("research")),
                ("producer_agent", text("developer")),
                ("summary", text(summary)),
                ("created_at", text(&format!("2024-05-{day} 08:00:00"))),
            ],
        );
    }
    assert_eq!(database.import().packages, added(3));
    let versions: Vec<(u32, String)> =
        database.packages().into_iter().map(|p| (p.version, p.summary)).collect();
    assert_eq!(versions, [(1, "A".to_owned()), (2, "B".to_owned()), (3, "A".to_owned())]);
    let again = database.import();
    assert_eq!(again.packages, present(3));
    assert_eq!(database.packages().len(), 3);
}

#[test]
fn groups_refer_to_imported_packages_of_their_session() {
    let database = Database::with_session();
    database.add("sessions", &[("session_id", text("s2"))]);
    for (id, of) in [(10, "s1"), (11, "s2")] {
        database.add(
            "context_packages",
            &[
                ("id", Value::Int(id)),
                ("session_id", text(of)),
                ("file_path", text(&format!("{id}.md"))),
                ("package_type", text("research")),
                ("producer_agent", text("developer")),
            ],
        );
    }
    database.add(
        "task_groups",
        &[
            ("id", text("P1")),
            ("session_id", text("s1")),
            ("name", text("Login")),
            ("status", text("in_progress")),
            ("component_path", text("apps/web")),
            ("specializations", text("[\"react\", \"typescript\"]")),
            ("context_references", text("[10, 11, 99, \"x\"]")),
            ("revision_count", Value::Int(2)),
            ("qa_attempts", Value::Int(-5)),
            ("no_progress_count", Value::Int(1_000_000)),
        ],
    );
    database.add("task_groups", &[("id", text("global")), ("session_id", text("s1"))]);
    let report = database.import();
    assert_eq!(report.groups, added(1));
    assert_eq!(damage(&report), ["task_groups global: a group cannot be called that"]);
    let found = database.store.group(&session(), &group("P1")).unwrap();
    assert_eq!((found.title.as_deref(), found.status), (Some("Login"), GroupStatus::InProgress));
    assert_eq!(found.component.as_deref(), Some("apps/web"));
    assert_eq!(found.specializations, ["react", "typescript"]);
    assert_eq!(found.references, [database.packages()[0].id]);
    assert_eq!(found.counters.get("revision_count"), Some(&2));
    assert_eq!(found.counters.get("qa_attempts"), None);
    assert_eq!(found.counters.get("no_progress_count"), Some(&1_000));
    // Counters are not added up by importing again.
    assert_eq!(database.import().groups, present(1));
    let again = database.store.group(&session(), &group("P1")).unwrap();
    assert_eq!(again.counters, found.counters);
}

#[test]
fn a_group_that_only_a_package_named_is_still_imported() {
    let database = Database::with_session();
    database.add(
        "context_packages",
        &[
            ("id", Value::Int(1)),
            ("session_id", text("s1")),
            ("group_id", text("P1")),
            ("file_path", text("a.md")),
            ("package_type", text("research")),
            ("producer_agent", text("developer")),
        ],
    );
    database.add(
        "task_groups",
        &[("id", text("P1")), ("session_id", text("s1")), ("name", text("Login"))],
    );
    database.add("task_groups", &[("id", text("P2")), ("session_id", text("s1"))]);
    assert_eq!(database.import().groups, added(2));
    let found = database.store.group(&session(), &group("P1")).unwrap();
    assert_eq!(found.title.as_deref(), Some("Login"));
    // Nothing tells whether a group without a title was imported; setting it again changes nothing.
    assert_eq!(database.import().groups, Count { added: 1, present: 1 });
}

fn log<'a>(kind: &'a str, more: Cells<'a>) -> Vec<(&'a str, Value)> {
    let mut cells = vec![
        ("id", Value::Int(5)),
        ("session_id", text("s1")),
        ("log_type", text(kind)),
        ("timestamp", text("2024-05-03 09:00:00")),
    ];
    cells.extend(more.iter().cloned());
    cells
}

#[test]
fn logs_become_reasoning_and_events() {
    let database = Database::with_session();
    let thought: Cells<'_> = &[
        ("agent_type", text("developer")),
        ("agent_id", text("not a valid id")),
        ("group_id", text("P1")),
        ("iteration", Value::Int(2)),
        ("reasoning_phase", text("decisions")),
        ("confidence_level", text("high")),
        ("content", text("token=ghp_0123456789abcdefghijABCDEFGHIJ012345 rotates")),
        ("references_json", text("[\"src/a.rs\"]")),
    ];
    // Twice the same is two thoughts.
    database.add("orchestration_logs", &log("reasoning", thought));
    database.add("orchestration_logs", &log("reasoning", thought));
    database.add(
        "orchestration_logs",
        &log(
            "event",
            &[("event_subtype", text("scope_change")), ("event_payload", text("{\"n\": 1}"))],
        ),
    );
    database.add("orchestration_logs", &log("interaction", &[]));
    database.add("orchestration_logs", &[("session_id", text("s1"))]);
    let report = database.import();
    assert_eq!((report.reasoning, report.events), (added(2), added(1)));
    assert_eq!(report.left_out, BTreeMap::from([("orchestration_logs (interaction)", 2)]));
    let thoughts = database.store.reasoning(&session(), &Default::default()).unwrap();
    let first = &thoughts[0];
    assert_eq!((first.phase, first.confidence), (Phase::Decisions, Some(Confidence::High)));
    assert_eq!((first.iteration, &first.agent_id), (2, &None));
    assert_eq!(first.group, Some(group("P1")));
    assert!(!first.content.contains("ghp_"), "{}", first.content);
    assert_eq!(first.references, ["src/a.rs"]);
    assert_eq!(first.created_at, time("2024-05-03T09:00:00Z"));
    let events = database.store.events(&session(), &Default::default()).unwrap();
    assert_eq!(events[0].kind.as_str(), "scope_change");
    assert_eq!(events[0].payload, json!({"n": 1}));
    let again = database.import();
    assert_eq!((again.reasoning, again.events), (present(2), present(1)));
    assert_eq!(database.store.reasoning(&session(), &Default::default()).unwrap().len(), 2);
}

#[test]
fn events_are_known_by_their_key_or_their_number() {
    let database = Database::with_session();
    let event = |id: Value, key: Value, content: &str| {
        let more: Cells<'_> = &[
            ("id", id),
            ("event_subtype", text("note")),
            ("idempotency_key", key),
            ("content", text(content)),
        ];
        database.add("orchestration_logs", &log("event", more));
    };
    event(Value::Int(1), text("k"), "one");
    event(Value::Int(2), text("k"), "one again");
    event(Value::Int(3), Value::Null, "two");
    event(Value::Null, Value::Null, "three");
    let report = database.import();
    assert_eq!(report.events, Count { added: 2, present: 1 });
    assert_eq!(damage(&report), ["orchestration_logs ?: `id` is missing"]);
    let mut payloads: Vec<String> = database
        .store
        .events(&session(), &Default::default())
        .unwrap()
        .iter()
        .map(|event| event.payload.to_string())
        .collect();
    payloads.sort();
    assert_eq!(payloads, [r#"{"text":"one"}"#, r#"{"text":"two"}"#]);
}

#[test]
fn skill_outputs_are_counted_by_their_content() {
    let database = Database::with_session();
    let output = |data: Value| {
        database.add(
            "skill_outputs",
            &[
                ("id", Value::Int(1)),
                ("session_id", text("s1")),
                ("skill_name", text("lint")),
                ("agent_type", text("QA Expert")),
                ("timestamp", text("2024-05-03 09:00:00")),
                ("output_data", data),
            ],
        );
    };
    output(text("{\"issues\": 3}"));
    output(text("plain words"));
    output(Value::Null);
    let report = database.import();
    assert_eq!(report.skill_outputs, added(2));
    assert_eq!(damage(&report), ["skill_outputs 1: `output_data` is missing"]);
    let mut outputs = database.store.skill_outputs(&session(), &Default::default()).unwrap();
    outputs.sort_by_key(|output| output.id);
    assert_eq!(outputs[0].output, json!({"issues": 3}));
    assert_eq!(outputs[1].output, json!({"text": "plain words"}));
    assert_eq!((&outputs[0].role, outputs[1].iteration), (&Some(role("qa_expert")), 2));
    assert_eq!(database.import().skill_outputs, present(2));
}

fn pattern<'a>(signature: &'a str, more: Cells<'a>) -> Vec<(&'a str, Value)> {
    let mut cells = vec![
        ("pattern_hash", text("h1")),
        ("signature_json", text(signature)),
        ("solution", text("start the server")),
    ];
    cells.extend(more.iter().cloned());
    cells
}

#[test]
fn error_patterns_keep_the_trust_they_have_earned() {
    let database = Database::new();
    let signature = r#"{"error_type": "TypeError", "message_pattern": "x of 12 is undefined", "context_hints": ["B", "a", 7]}"#;
    let more: Cells<'_> = &[
        ("confidence", Value::Real(0.8)),
        ("occurrences", Value::Int(4)),
        ("lang", text("typescript")),
        ("created_at", text("2024-05-01 00:00:00")),
        ("last_seen", text("2024-05-03 00:00:00")),
        ("ttl_days", Value::Int(30)),
    ];
    database.add("error_patterns", &pattern(signature, more));
    assert_eq!(database.import().errors, added(1));
    let errors = |database: &Database| {
        database.store.errors(&database.project, &Default::default()).unwrap()
    };
    let found = errors(&database).remove(0);
    assert_eq!(found.signature.kind, "TypeError");
    assert_eq!(found.signature.message, "x of <n> is undefined");
    assert_eq!(found.signature.hints, ["a", "b"]);
    assert_eq!(found.hash, found.signature.hash());
    assert_eq!((found.confidence.thousandths(), found.occurrences), (800, 4));
    assert_eq!(found.solution.as_deref(), Some("start the server"));
    assert_eq!((found.language.as_deref(), found.ttl_days), (Some("typescript"), 30));
    assert_eq!(found.first_seen, time("2024-05-01T00:00:00Z"));
    assert_eq!(found.last_seen, time("2024-05-03T00:00:00Z"));
    assert_eq!(database.import().errors, present(1));
    assert_eq!(errors(&database), [found]);
}

#[test]
fn error_patterns_have_defaults_and_limits() {
    let database = Database::new();
    let plain = r#"{"error_type": "Unknown", "message_pattern": "boom"}"#;
    database.add("error_patterns", &pattern(plain, &[]));
    let wild = r#"{"message_pattern": "other"}"#;
    let more: Cells<'_> = &[
        ("confidence", Value::Int(7)),
        ("occurrences", Value::Int(-1)),
        ("ttl_days", Value::Int(0)),
        ("last_seen", text("2024-05-03 00:00:00")),
    ];
    database.add("error_patterns", &pattern(wild, more));
    assert_eq!(database.import().errors, added(2));
    let mut found = database.store.errors(&database.project, &Default::default()).unwrap();
    found.sort_by(|a, b| a.signature.message.cmp(&b.signature.message));
    let (plain, wild) = (&found[0], &found[1]);
    assert_eq!((plain.signature.kind.as_str(), plain.confidence.thousandths()), ("error", 500));
    assert_eq!((plain.occurrences, plain.ttl_days), (1, 90));
    assert_eq!((plain.first_seen, plain.last_seen), (at(1_000), at(1_000)));
    assert_eq!((wild.confidence.thousandths(), wild.occurrences, wild.ttl_days), (1_000, 1, 1));
    assert_eq!(wild.first_seen, wild.last_seen);
}

#[test]
fn damaged_error_patterns_are_named() {
    let database = Database::new();
    database.add("error_patterns", &pattern("{", &[]));
    database.add("error_patterns", &pattern("{}", &[]));
    let signature = r#"{"message_pattern": "boom"}"#;
    database.add("error_patterns", &pattern(signature, &[("solution", Value::Null)]));
    database.add("error_patterns", &pattern(signature, &[("confidence", text("high"))]));
    database.add("error_patterns", &pattern(signature, &[("confidence", Value::Real(f64::NAN))]));
    let report = database.import();
    assert_eq!(report.errors, added(0));
    assert_eq!(
        damage(&report),
        [
            "error_patterns h1: `signature_json` is not JSON",
            "error_patterns h1: `signature_json` has no `message_pattern`",
            "error_patterns h1: `solution` is missing",
            "error_patterns h1: `confidence` is not a number",
            "error_patterns h1: `confidence` is not a number",
        ]
    );
}

#[test]
fn strategies_are_known_by_their_words() {
    let database = Database::new();
    let strategy = |insight: &str, topic: &str, helpfulness: i64| {
        database.add(
            "strategies",
            &[
                ("strategy_id", text("x")),
                ("insight", text(insight)),
                ("topic", text(topic)),
                ("helpfulness", Value::Int(helpfulness)),
                ("lang", text("python")),
                ("created_at", text("2024-05-01 00:00:00")),
            ],
        );
    };
    strategy("Use adapters.", "architecture", 3);
    strategy("use  ADAPTERS.", "architecture", 9);
    strategy("Ask first.", "general", -2);
    strategy(&"long ".repeat(300), "implementation", 1);
    database.add("strategies", &[("strategy_id", text("y"))]);
    let report = database.import();
    assert_eq!(report.strategies, Count { added: 3, present: 1 });
    assert_eq!(damage(&report), ["strategies y: `insight` is missing"]);
    let mut found = database.store.strategies(&database.project, &Default::default()).unwrap();
    found.sort_by_key(|strategy| strategy.topic);
    assert!(found[0].insight.chars().count() <= 500, "{}", found[0].insight.len());
    let adapters = &found[1];
    assert_eq!((adapters.insight.as_str(), adapters.helpfulness), ("Use adapters.", 3));
    assert_eq!(adapters.language.as_deref(), Some("python"));
    assert_eq!(adapters.last_seen, time("2024-05-01T00:00:00Z"));
    // Their topic `general` is about how to work.
    assert_eq!((found[2].topic, found[2].helpfulness), (Topic::Methodology, 0));
    assert_eq!(database.import().strategies, present(4));
}

#[test]
fn tables_without_a_counterpart_are_counted() {
    let database = Database::new();
    for table in LEFT_OUT {
        database.add(table, &[]);
    }
    database.add("token_usage", &[]);
    let report = database.import();
    assert_eq!(report.left_out.len(), LEFT_OUT.len());
    assert_eq!((report.left_out["token_usage"], report.left_out["decisions"]), (2, 1));
}

#[test]
fn what_was_imported_can_be_exported() {
    let database = Database::with_session();
    database.add("error_patterns", &pattern(r#"{"message_pattern": "boom"}"#, &[]));
    database.add("strategies", &[("strategy_id", text("x")), ("insight", text("Ask first."))]);
    database.import();
    let mut exported = Vec::new();
    let count = crate::archive::export(&database.store, &database.project, &mut exported).unwrap();
    assert_eq!(count + 1, exported.iter().filter(|byte| **byte == b'\n').count() as u64);
    let copy = SqliteStore::open(&database.folder.path().join("copy.db")).unwrap();
    crate::archive::import(&copy, &mut exported.as_slice(), &database.redactor).unwrap();
    assert_eq!(
        copy.errors(&database.project, &Default::default()).unwrap(),
        database.store.errors(&database.project, &Default::default()).unwrap()
    );
    assert_eq!(
        copy.strategies(&database.project, &Default::default()).unwrap(),
        database.store.strategies(&database.project, &Default::default()).unwrap()
    );
}
